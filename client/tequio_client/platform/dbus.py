"""D-Bus calls with deadlines; a call never starts a service.

`Bus` is a blocking connection for one thread, opened at first use and dropped after any error.
`AsyncBus` queues calls and never blocks its caller.
"""

from __future__ import annotations

import queue
import select
import socket
import subprocess
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from jeepney import (
    DBusAddress,
    DBusErrorResponse,
    HeaderFields,
    MatchRule,
    Message,
    MessageFlag,
    MessageType,
    new_method_call,
)
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import DBusConnection, open_dbus_connection
from jeepney.wrappers import Properties, unwrap_msg

from tequio_shared.errors import TequioError

TIMEOUT_S = 2.0
"""Deadline for connecting, and for the rest of a message that has begun."""
MAX_PENDING_CALLS = 64
"""Limit of outstanding answers; beyond it the oldest is given up."""
DBUS_TIMEOUT_S = 1.0
PROGRAM_TIMEOUT_S = 3.0
_PREFIX = "org.freedesktop.DBus.Error."
_NOT_THERE = {
    _PREFIX + name
    for name in ("ServiceUnknown", "NameHasNoOwner", "UnknownObject", "UnknownInterface",
                 "UnknownMethod", "UnknownProperty")
}  # fmt: skip

T = TypeVar("T")
Body: TypeAlias = tuple[object, ...]
ProgramRunner: TypeAlias = Callable[[Sequence[str]], bytes]
"""Runs a system program and returns its output; raises AbsentError, NoAnswerError."""


@dataclass(frozen=True, slots=True)
class _Call:
    method: str
    signature: str
    body: Body
    on_answer: Callable[[Body], None] | None


class AsyncBus:
    """A lasting connection that never blocks its caller; `on_signal` gets signals by name and body.

    One thread sends the calls and receives answers and signals; it sleeps while there is nothing to
    do. A service that shows something for us reports back to the connection that asked, so calls
    and signals share one. Qt's own D-Bus does not serve from Python: it cannot send an unsigned
    number.

    jeepney's `DBusRouter` (io.threading, 0.9) was tried instead of this loop and does not serve:
    when the bus ends the connection, its receiver thread dies with an unhandled traceback and
    nothing reports it, so the next call is lost instead of made on a new connection; its
    connections never close the two descriptors of their pipe; and a call blocks until its answer.
    """

    def __init__(self, which: str, of: BusAddress, on_signal: Callable[[str, Body], None]) -> None:
        self._which, self._of, self._on_signal = which, of, on_signal
        self._calls: queue.SimpleQueue[_Call | None] = queue.SimpleQueue()
        self._waker, self._bell = socket.socketpair()
        self._thread: threading.Thread | None = None
        self._due: dict[int, Callable[[Body], None]] = {}  # owned by the thread

    def call(
        self,
        method: str,
        signature: str,
        body: Body,
        on_answer: Callable[[Body], None] | None = None,
    ) -> None:
        """Queue a call and return at once; without a bus or a service it is lost."""
        if self._thread is None or not self._thread.is_alive():
            self._calls = queue.SimpleQueue()
            self._thread = threading.Thread(target=self._serve, daemon=True)
            self._thread.start()
        self._calls.put(_Call(method, signature, body, on_answer))
        self._ring()

    def close(self) -> None:
        """Close the connection, after sending queued calls; waits a moment for that."""
        if self._thread is not None:
            self._calls.put(None)
            self._ring()
            self._thread.join(TIMEOUT_S)
        self._waker.close()
        self._bell.close()

    def _ring(self) -> None:
        with suppress(OSError):
            self._waker.send(b"!")

    def _serve(self) -> None:
        with suppress(OSError, KeyError, ValueError, RuntimeError):  # no bus, or it ended
            connection = open_dbus_connection(self._which, auth_timeout=TIMEOUT_S)
            try:
                rule = MatchRule(type="signal", interface=self._of.interface, path=self._of.path)
                connection.send_and_get_reply(message_bus.AddMatch(rule), timeout=TIMEOUT_S)
                while self._serve_once(connection):
                    pass
            finally:
                connection.close()

    def _serve_once(self, connection: DBusConnection) -> bool:
        """Wait for the next event and handle it; False: close the connection."""
        ready, _, _ = select.select([connection.sock, self._bell], [], [])
        if self._bell in ready:
            self._bell.recv(64)
            while not self._calls.empty():
                call = self._calls.get()
                if call is None:
                    return False
                self._send(connection, call)
        if connection.sock in ready:
            self._handle(connection.receive(timeout=TIMEOUT_S))
            with suppress(TimeoutError):
                while True:
                    self._handle(connection.receive(timeout=0))
        return True

    def _send(self, connection: DBusConnection, call: _Call) -> None:
        message = new_method_call(_at(self._of), call.method, call.signature or None, call.body)
        if call.on_answer is None:
            message.header.flags |= MessageFlag.no_reply_expected
        serial = next(connection.outgoing_serial)
        connection.send(message, serial=serial)
        if call.on_answer is not None:
            self._due[serial] = call.on_answer
            while len(self._due) > MAX_PENDING_CALLS:
                self._due.pop(next(iter(self._due)))

    def _handle(self, message: Message) -> None:
        fields, kind = message.header.fields, message.header.message_type
        on_answer = self._due.pop(fields.get(HeaderFields.reply_serial, -1), None)
        if kind is MessageType.method_return and on_answer is not None:
            on_answer(tuple(message.body))
        elif (
            kind is MessageType.signal and fields.get(HeaderFields.interface) == self._of.interface
        ):
            self._on_signal(str(fields.get(HeaderFields.member, "")), tuple(message.body))


class AbsentError(TequioError):
    """The service, library or device does not exist here; another source may know."""


class NoAnswerError(TequioError):
    """The service exists, but gave no credible answer."""


@dataclass(frozen=True, slots=True)
class BusAddress:
    name: str
    path: str
    interface: str

    @classmethod
    def of_service(cls, name: str) -> BusAddress:
        """The address of a service whose object and interface repeat its name, as usual."""
        return cls(name, f"/{name.replace('.', '/')}", name)


class Bus:
    """A connection to a bus: `SESSION`, `SYSTEM` or an address."""

    def __init__(self, which: str, timeout_s: float = DBUS_TIMEOUT_S) -> None:
        self._which, self._timeout_s = which, timeout_s
        self._connection: DBusConnection | None = None

    def call(
        self, to: BusAddress, method: str, signature: str | None = None, body: Body = ()
    ) -> Body:
        """Call a method and return its answer; raises AbsentError, NoAnswerError."""
        message = new_method_call(_at(to), method, signature, body)
        return self._ask(message, f"{to.interface}.{method}")

    def read(self, to: BusAddress, name: str, kind: type[T]) -> T:
        """Read a property of that type; raises AbsentError, NoAnswerError."""
        message = Properties(_at(to)).get(name)
        return checked_value(self._ask(message, f"{to.interface}.{name}"), kind, is_variant=True)

    def listen(self, to: BusAddress, on_signal: Callable[[str, Body], None]) -> None:
        """Call `on_signal` with name and body of every signal; ends only by raising."""
        connection = self._connected()
        rule = MatchRule(type="signal", interface=to.interface, path=to.path)
        try:
            connection.send_and_get_reply(message_bus.AddMatch(rule), timeout=self._timeout_s)
            while True:
                message = connection.receive()
                fields = message.header.fields
                if message.header.message_type is MessageType.signal and rule.matches(message):
                    on_signal(str(fields.get(HeaderFields.member, "")), tuple(message.body))
        except (OSError, ValueError) as err:
            raise AbsentError(f"the bus closed the connection: {err}") from err
        finally:
            self.close()

    def interrupt(self) -> None:
        """Make `listen`, in another thread, raise."""
        connection = self._connection
        if connection is not None:
            with suppress(OSError):
                connection.sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _ask(self, message: Message, what: str) -> Body:
        connection = self._connected()
        message.header.flags = MessageFlag.no_auto_start
        try:
            reply = connection.send_and_get_reply(message, timeout=self._timeout_s)
            return tuple(unwrap_msg(reply))
        except DBusErrorResponse as err:
            kind = AbsentError if err.name in _NOT_THERE else NoAnswerError
            raise kind(f"{what}: {err.name.removeprefix(_PREFIX)}") from err
        except TimeoutError as err:
            self.close()  # a late answer must not be mistaken for the next one
            raise NoAnswerError(f"{what}: no answer in {self._timeout_s:g} s") from err
        except (OSError, ValueError) as err:
            self.close()
            raise NoAnswerError(f"{what}: {err}") from err

    def _connected(self) -> DBusConnection:
        if self._connection is None:
            try:
                self._connection = open_dbus_connection(self._which, auth_timeout=self._timeout_s)
            except KeyError as err:
                raise AbsentError("no session bus: its address is unknown") from err
            except (OSError, ValueError, RuntimeError) as err:
                raise AbsentError(f"no {self._which.lower()} bus: {err}") from err
        return self._connection


def checked_value(body: Body, kind: type[T], *, is_variant: bool = False) -> T:
    """Check that an answer is one value of that type; raises NoAnswerError."""
    value = body[0] if len(body) == 1 else body
    if is_variant and isinstance(value, tuple) and len(value) == 2:  # noqa: PLR2004 - signature, value
        value = value[1]
    if not isinstance(value, kind) or (kind is not bool and isinstance(value, bool)):
        raise NoAnswerError(f"answered {str(value)[:40]!r} instead of {kind.__name__}")
    return value


def _at(to: BusAddress) -> DBusAddress:
    return DBusAddress(to.path, to.name, to.interface)


def run_program(command: Sequence[str]) -> bytes:
    """Run a system program, given by its full path, for a few seconds at most."""
    try:
        done = subprocess.run(command, capture_output=True, check=True, timeout=PROGRAM_TIMEOUT_S)  # noqa: S603 - callers name fixed programs
    except FileNotFoundError as err:
        raise AbsentError(f"{command[0]} is not installed") from err
    except (OSError, subprocess.SubprocessError) as err:
        raise NoAnswerError(f"{command[0]}: {err}") from err
    return done.stdout
