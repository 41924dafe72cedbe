"""Idle time under Wayland by `ext-idle-notify-v1`: KDE, Sway, Hyprland and others.

The compositor reports when input stops for a while and when it resumes, never which key. We speak
the few messages of the protocol ourselves. Time counts from the arrival of the report, so apart
from the compositor's coarse timers the result never exceeds the true idle time.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from tequio_client.platform.dbus import AbsentError, NoAnswerError
from tequio_client.platform.system import unix_socket

QUIET_S = 5.0
"""The shortest period without input that we ask the compositor to report."""
TIMEOUT_S = 1.0
_DISPLAY, _REGISTRY, _CALLBACK, _SEAT, _NOTIFIER, _NOTIFICATION = range(1, 7)
_SEAT_NAME, _NOTIFIER_NAME = "wl_seat", "ext_idle_notifier_v1"
_INPUT_ONLY = 2
"""From this version on, films do not count as input."""
_MOST_BYTES = 1 << 20


class WaylandIdle:
    """Connects on the first read, and again after any error."""

    source = "ext-idle-notify"

    def __init__(
        self,
        environ: Mapping[str, str],
        *,
        timeout_s: float = TIMEOUT_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._environ, self._timeout_s, self._clock = environ, timeout_s, clock
        self._socket: socket.socket | None = None
        self._left = b""
        self._idle_since_s: float | None = None

    def read(self) -> float:
        if self._socket is None:
            self._connect()
        try:
            self._receive()
        except OSError as err:
            self.close()
            raise NoAnswerError(f"the compositor hung up: {err}") from err
        if self._idle_since_s is None:
            return 0.0
        return self._clock() - self._idle_since_s

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _connect(self) -> None:
        self._left, self._idle_since_s = b"", None
        self._socket = _connected(self._environ, self._timeout_s)
        try:
            names = self._globals()
            if _NOTIFIER_NAME not in names or _SEAT_NAME not in names:
                self.close()
                raise AbsentError("this compositor does not tell how long nobody was there")
            version = min(names[_NOTIFIER_NAME][1], _INPUT_ONLY)
            self._bind(names[_SEAT_NAME][0], _SEAT_NAME, 1, _SEAT)
            self._bind(names[_NOTIFIER_NAME][0], _NOTIFIER_NAME, version, _NOTIFIER)
            wanted = struct.pack("<III", _NOTIFICATION, int(QUIET_S * 1_000), _SEAT)
            self._send(_NOTIFIER, version, wanted)  # the newer request has the number 2
        except OSError as err:
            self.close()
            raise NoAnswerError(f"the compositor did not answer: {err}") from err

    def _globals(self) -> dict[str, tuple[int, int]]:
        """The compositor's interfaces, each with its number and version."""
        self._send(_DISPLAY, 1, struct.pack("<I", _REGISTRY))
        self._send(_DISPLAY, 0, struct.pack("<I", _CALLBACK))
        offered: dict[str, tuple[int, int]] = {}
        deadline_s = self._clock() + self._timeout_s
        while self._clock() < deadline_s:
            for sender, event, body in self._messages():
                if (sender, event) == (_REGISTRY, 0):
                    (name,), (text, rest) = struct.unpack_from("<I", body), _text(body[4:])
                    offered.setdefault(text, (name, struct.unpack_from("<I", rest)[0]))
                elif sender == _CALLBACK:
                    return offered
        raise TimeoutError("it did not list what it offers")

    def _receive(self) -> None:
        connection = self._connection()
        connection.settimeout(0)
        try:
            with contextlib.suppress(BlockingIOError):
                while True:
                    for sender, event, body in self._messages():
                        self._handle(sender, event, body)
        finally:
            if self._socket is not None:
                connection.settimeout(self._timeout_s)

    def _handle(self, sender: int, event: int, body: bytes) -> None:
        if sender == _DISPLAY and event == 0:
            raise ConnectionError(_text(body[8:])[0])
        if sender == _NOTIFICATION:
            self._idle_since_s = self._clock() - QUIET_S if event == 0 else None

    def _bind(self, name: int, interface: str, version: int, as_object: int) -> None:
        text = interface.encode() + b"\0"
        body = struct.pack("<II", name, len(text)) + text + bytes(-len(text) % 4)
        self._send(_REGISTRY, 0, body + struct.pack("<II", version, as_object))

    def _send(self, to: int, request: int, body: bytes) -> None:
        self._connection().sendall(struct.pack("<II", to, (8 + len(body)) << 16 | request) + body)

    def _messages(self) -> Iterator[tuple[int, int, bytes]]:
        more = self._connection().recv(65_536)
        if not more or len(self._left) > _MOST_BYTES:
            raise ConnectionError("it hung up")
        self._left += more
        while len(self._left) >= 8:  # noqa: PLR2004 - a message's head
            sender, word = struct.unpack_from("<II", self._left)
            size = word >> 16
            if size < 8:  # noqa: PLR2004 - as above
                raise ConnectionError("it does not speak Wayland")
            if len(self._left) < size:
                return
            body, self._left = self._left[8:size], self._left[size:]
            yield sender, word & 0xFFFF, body

    def _connection(self) -> socket.socket:
        if self._socket is None:
            raise ConnectionError("not connected")
        return self._socket


def _connected(environ: Mapping[str, str], timeout_s: float) -> socket.socket:
    name = environ.get("WAYLAND_DISPLAY", "")
    if not name:
        raise AbsentError("this session has no WAYLAND_DISPLAY")
    path = Path(environ.get("XDG_RUNTIME_DIR", "/")) / name
    connection = unix_socket()
    connection.settimeout(timeout_s)
    try:
        connection.connect(str(path))
    except OSError as err:
        connection.close()
        raise AbsentError(f"no compositor at {path}: {err}") from err
    return connection


def _text(content: bytes) -> tuple[str, bytes]:
    """The string at the start, and the rest."""
    try:
        (length,) = struct.unpack_from("<I", content)
    except struct.error as err:
        raise ConnectionError("it does not speak Wayland") from err
    end = 4 + length
    return content[4 : end - 1].decode("utf-8", "replace"), content[end + -length % 4 :]
