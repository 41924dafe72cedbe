"""A service on a bus: `python -m tests.support.bus_service NAME DESCRIPTION`, for private_bus.

It prints `ready`, then the name of every called method. Each line of its input is a signal to send;
it ends when its input ends.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from typing import Any

from jeepney import (
    DBusAddress,
    HeaderFields,
    MessageType,
    new_error,
    new_method_return,
    new_signal,
)
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import DBusConnection, Proxy, open_dbus_connection

UNKNOWN = "org.freedesktop.DBus.Error.UnknownMethod"


def main(name: str, described: dict[str, Any]) -> None:
    connection = open_dbus_connection()
    Proxy(message_bus, connection).RequestName(name)
    threading.Thread(target=_signals, args=(connection,), daemon=True).start()
    _print_line("ready")
    while True:
        message = connection.receive()
        if message.header.message_type is MessageType.method_call:
            member = message.header.fields[HeaderFields.member]
            _print_line(member)
            if not described["hangs"]:
                connection.send(_answer(message, member, described))


def _answer(message: Any, member: str, described: dict[str, Any]) -> Any:  # noqa: ANN401 - untyped
    if member == "Get":
        found = described["properties"].get(message.body[1])
        if not found:
            return new_error(message, UNKNOWN)
        signature, value = found
        body = tuple(value) if signature.startswith("(") else value
        return new_method_return(message, "v", ((signature, body),))
    if member == "GetAll":
        every = {name: tuple(one) for name, one in described["properties"].items()}
        return new_method_return(message, "a{sv}", (every,))
    if member not in described["methods"]:
        return new_error(message, UNKNOWN)
    signature, value = described["methods"][member]
    return new_method_return(message, signature, () if not signature else (_tupled(value),))


def _tupled(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Structures of D-Bus are tuples; lists of lists from JSON are lists of structures."""
    if isinstance(value, list):
        return [tuple(one) if isinstance(one, list) else one for one in value]
    return value


def _signals(connection: DBusConnection) -> None:
    for line in sys.stdin:
        path, interface, member, signature, value = json.loads(line)
        emitter = DBusAddress(path, interface=interface)
        body = tuple(value) if isinstance(value, list) and signature[0] not in "a(" else (value,)
        connection.send(new_signal(emitter, member, signature, body))
    os._exit(0)


def _print_line(word: str) -> None:
    sys.stdout.write(word + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]))
