"""A lasting D-Bus connection that never blocks its caller: calls are queued, answers come back.

One thread sends the calls and receives answers and signals; it sleeps while there is nothing to
do. A service that shows something for us reports back to the connection that asked, so calls and
signals share one. Qt's own D-Bus cannot be used from Python for this: it has no way to send an
unsigned number.

jeepney's `DBusRouter` (io.threading, 0.9) was tried in place of this loop and does not serve: when
the bus ends the connection, its receiver thread dies with an unhandled traceback and nobody
learns of it, so that the next call is lost instead of made on a new connection; its connections
never close the two descriptors of their pipe; and a call blocks until its answer.
"""

from __future__ import annotations

import queue
import select
import socket
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jeepney import (
    DBusAddress,
    HeaderFields,
    MatchRule,
    Message,
    MessageFlag,
    MessageType,
    new_method_call,
)
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import DBusConnection, open_dbus_connection

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.system.dbus import Address

TIMEOUT_S = 2.0
"""For connecting, and for the rest of a message that has begun."""
MOST_WAITING = 64
"""Answers that may be due; the oldest is waited for no more."""

Body = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class _Call:
    to: Address
    method: str
    signature: str
    body: Body
    on_answer: Callable[[Body], None] | None


class BusTalk:
    """One connection: `hear` is called from its thread with each signal's name and body."""

    def __init__(self, which: str, of: Address, hear: Callable[[str, Body], None]) -> None:
        self._which, self._of, self._hear = which, of, hear
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
        """Call, now or never: without a bus or a service it is lost. Returns at once."""
        if self._thread is None or not self._thread.is_alive():
            self._calls = queue.SimpleQueue()
            self._thread = threading.Thread(target=self._serve, daemon=True)
            self._thread.start()
        self._calls.put(_Call(self._of, method, signature, body, on_answer))
        self._ring()

    def close(self) -> None:
        """Hang up; what was called before is sent first. Waits for that a moment."""
        if self._thread is not None:
            self._calls.put(None)
            self._ring()
            self._thread.join(TIMEOUT_S)
        self._waker.close()
        self._bell.close()

    def _ring(self) -> None:
        with suppress(OSError):
            self._waker.send(b"!")

    # --- in the thread

    def _serve(self) -> None:
        with suppress(OSError, KeyError, ValueError, RuntimeError):  # there is no bus, or no more
            connection = open_dbus_connection(self._which, auth_timeout=TIMEOUT_S)
            try:
                self._listen(connection)
                while self._serve_once(connection):
                    pass
            finally:
                connection.close()

    def _listen(self, connection: DBusConnection) -> None:
        rule = MatchRule(type="signal", interface=self._of.interface, path=self._of.path)
        connection.send_and_get_reply(message_bus.AddMatch(rule), timeout=TIMEOUT_S)

    def _serve_once(self, connection: DBusConnection) -> bool:
        """Wait for something and do it; False: hang up."""
        ready, _, _ = select.select([connection.sock, self._bell], [], [])
        if self._bell in ready:
            self._bell.recv(64)
            while not self._calls.empty():
                call = self._calls.get()
                if call is None:
                    return False
                self._send(connection, call)
        if connection.sock in ready:
            self._take(connection.receive(timeout=TIMEOUT_S))
            with suppress(TimeoutError):
                while True:
                    self._take(connection.receive(timeout=0))
        return True

    def _send(self, connection: DBusConnection, call: _Call) -> None:
        address = DBusAddress(call.to.path, call.to.name, call.to.interface)
        message = new_method_call(address, call.method, call.signature or None, call.body)
        if call.on_answer is None:
            message.header.flags |= MessageFlag.no_reply_expected
        serial = next(connection.outgoing_serial)
        connection.send(message, serial=serial)
        if call.on_answer is not None:
            self._due[serial] = call.on_answer
            while len(self._due) > MOST_WAITING:
                self._due.pop(next(iter(self._due)))

    def _take(self, message: Message) -> None:
        fields, kind = message.header.fields, message.header.message_type
        on_answer = self._due.pop(fields.get(HeaderFields.reply_serial, -1), None)
        if kind is MessageType.method_return and on_answer is not None:
            on_answer(tuple(message.body))
        elif (
            kind is MessageType.signal and fields.get(HeaderFields.interface) == self._of.interface
        ):
            self._hear(str(fields.get(HeaderFields.member, "")), tuple(message.body))
