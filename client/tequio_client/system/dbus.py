"""Calls on a D-Bus, each with a deadline; nothing is ever started by asking.

One connection per owner, opened when it is first needed and given up after any trouble. Not for
use from several threads: every source has its own.
"""

from __future__ import annotations

import contextlib
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

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

from tequio_client.system.errors import AbsentError, UnknownError

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
TIMEOUT_S = 1.0
_PREFIX = "org.freedesktop.DBus.Error."
_NOT_THERE = {
    _PREFIX + name
    for name in ("ServiceUnknown", "NameHasNoOwner", "UnknownObject", "UnknownInterface",
                 "UnknownMethod", "UnknownProperty")
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Address:
    """Who is called: bus name, object, interface."""

    name: str
    path: str
    interface: str


class Bus:
    """One connection to a bus: `SESSION`, `SYSTEM` or an address."""

    def __init__(self, which: str, timeout_s: float = TIMEOUT_S) -> None:
        self._which, self._timeout_s = which, timeout_s
        self._connection: DBusConnection | None = None

    def call(
        self, to: Address, method: str, signature: str | None = None, body: tuple[object, ...] = ()
    ) -> tuple[object, ...]:
        """Call a method and return what it answers; raises AbsentError, UnknownError."""
        message = new_method_call(_at(to), method, signature, body)
        return self._ask(message, f"{to.interface}.{method}")

    def read(self, to: Address, name: str, kind: type[T]) -> T:
        """Read a property of that type; raises AbsentError, UnknownError."""
        message = Properties(_at(to)).get(name)
        return checked(self._ask(message, f"{to.interface}.{name}"), kind, is_variant=True)

    def listen(self, to: Address, hear: Callable[[str, tuple[object, ...]], None]) -> None:
        """Call `hear` with name and body of every signal; returns never but by raising."""
        connection = self._connected()
        rule = MatchRule(type="signal", interface=to.interface, path=to.path)
        try:
            connection.send_and_get_reply(message_bus.AddMatch(rule), timeout=self._timeout_s)
            while True:
                message = connection.receive()
                fields = message.header.fields
                if message.header.message_type is MessageType.signal and rule.matches(message):
                    hear(str(fields.get(HeaderFields.member, "")), tuple(message.body))
        except (OSError, ValueError) as err:
            raise AbsentError(f"the bus hung up: {err}") from err
        finally:
            self.close()

    def interrupt(self) -> None:
        """Let `listen`, in another thread, end by raising."""
        connection = self._connection
        if connection is not None:
            with contextlib.suppress(OSError):
                connection.sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Hang up."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _ask(self, message: Message, what: str) -> tuple[object, ...]:
        connection = self._connected()
        message.header.flags = MessageFlag.no_auto_start
        try:
            reply = connection.send_and_get_reply(message, timeout=self._timeout_s)
            return tuple(unwrap_msg(reply))
        except DBusErrorResponse as err:
            kind = AbsentError if err.name in _NOT_THERE else UnknownError
            raise kind(f"{what}: {err.name.removeprefix(_PREFIX)}") from err
        except TimeoutError as err:
            self.close()  # a late answer must not be taken for the next one
            raise UnknownError(f"{what}: no answer in {self._timeout_s:g} s") from err
        except (OSError, ValueError) as err:
            self.close()
            raise UnknownError(f"{what}: {err}") from err

    def _connected(self) -> DBusConnection:
        if self._connection is None:
            try:
                self._connection = open_dbus_connection(self._which, auth_timeout=self._timeout_s)
            except KeyError as err:
                raise AbsentError("no session bus: its address is not known") from err
            except (OSError, ValueError, RuntimeError) as err:
                raise AbsentError(f"no {self._which.lower()} bus: {err}") from err
        return self._connection


def checked(body: tuple[object, ...], kind: type[T], *, is_variant: bool = False) -> T:
    """The one value of an answer, if it has that type; raises UnknownError."""
    value = body[0] if len(body) == 1 else body
    if is_variant and isinstance(value, tuple) and len(value) == 2:  # noqa: PLR2004 - signature, value
        value = value[1]
    if not isinstance(value, kind) or (kind is not bool and isinstance(value, bool)):
        raise UnknownError(f"answered {str(value)[:40]!r} where a {kind.__name__} is due")
    return value


def _at(to: Address) -> DBusAddress:
    return DBusAddress(to.path, to.name, to.interface)
