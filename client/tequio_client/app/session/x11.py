"""Idle time and full screen from an X server, in its own protocol and without its library.

Xlib ends the whole process when the server hangs up, and waits without limit when it does not
answer; here every answer has a deadline and every problem is an exception. Only displays of this
computer are queried: idle time on another one says nothing about this user.
"""

from __future__ import annotations

import os
import platform
import re
import socket
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import psutil

from tequio_client.app.session.programs import program_name
from tequio_client.platform.dbus import AbsentError, NoAnswerError
from tequio_client.platform.system import unix_socket

TIMEOUT_S = 1.0
_NAME = re.compile(r"(?:unix)?:([0-9]{1,5})(?:\.([0-9]{1,3}))?")
_COOKIE = b"MIT-MAGIC-COOKIE-1"
_LOCAL, _WILD = 256, 65_535
_INTERN_ATOM, _GET_PROPERTY, _QUERY_EXTENSION = 16, 20, 98
_QUERY_INFO = 1
_ERROR, _REPLY, _GENERIC_EVENT = 0, 1, 35
_UNIT = 32
_MOST_BYTES = 1 << 20


class WindowGoneError(NoAnswerError):
    """The server refused: the window does not exist any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowProperty:
    format: int
    content: bytes

    def numbers(self) -> tuple[int, ...]:
        """The 32-bit numbers; empty for another format."""
        count = len(self.content) // 4 if self.format == 32 else 0  # noqa: PLR2004 - bits
        return struct.unpack(f"<{count}I", self.content[: 4 * count])

    def texts(self) -> list[str]:
        """The texts; empty for another format."""
        if self.format != 8:  # noqa: PLR2004 - bits
            return []
        return [word.decode("utf-8", "replace") for word in self.content.split(b"\0") if word]


class X11Display:
    """One connection; `name` as in DISPLAY. Use it from one thread only."""

    def __init__(self, name: str, environ: Mapping[str, str], timeout_s: float = TIMEOUT_S) -> None:
        """Raises AbsentError, NoAnswerError."""
        found = _NAME.fullmatch(name)
        if found is None:
            raise AbsentError(f"the display {name!r} is not on this computer")
        self._sequence = 0
        self._atoms: dict[str, int] = {}
        self._saver: int | None = None
        self._socket = _connected(found[1], timeout_s)
        try:
            self.root = self._set_up(_cookie(found[1], environ), int(found[2] or 0))
        except OSError as err:
            self.close()
            raise NoAnswerError(f"the display {name} did not answer: {err}") from err
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._socket.close()

    def idle_s(self) -> float:
        """Since the last input; raises AbsentError, NoAnswerError."""
        if self._saver is None:
            name = b"MIT-SCREEN-SAVER"
            reply = self._ask(_QUERY_EXTENSION, 0, struct.pack("<HH", len(name), 0) + name)
            if not reply[8]:
                raise AbsentError("the X server has no screen saver extension")
            self._saver = reply[9]
        reply = self._ask(self._saver, _QUERY_INFO, struct.pack("<I", self.root))
        return float(struct.unpack_from("<I", reply, 16)[0]) / 1_000

    def atom(self, name: str) -> int:
        if name not in self._atoms:
            text = name.encode()
            reply = self._ask(_INTERN_ATOM, 0, struct.pack("<HH", len(text), 0) + text)
            self._atoms[name] = struct.unpack_from("<I", reply, 8)[0]
        return self._atoms[name]

    def read(self, window: int, name: str) -> WindowProperty:
        """A property of a window, empty if it is not set; raises WindowGoneError, NoAnswerError."""
        body = struct.pack("<IIIII", window, self.atom(name), 0, 0, 1_024)
        reply = self._ask(_GET_PROPERTY, 0, body)
        bits, count = reply[1], struct.unpack_from("<I", reply, 16)[0]
        return WindowProperty(format=bits, content=reply[_UNIT : _UNIT + count * bits // 8])

    def _ask(self, opcode: int, minor: int, body: bytes) -> bytes:
        body += bytes(-len(body) % 4)
        try:
            self._socket.sendall(struct.pack("<BBH", opcode, minor, 1 + len(body) // 4) + body)
            self._sequence = (self._sequence + 1) & 0xFFFF
            return self._reply()
        except OSError as err:
            self.close()
            raise NoAnswerError(f"the X server did not answer: {err}") from err

    def _reply(self) -> bytes:
        while True:
            unit = self._receive(_UNIT)
            kind, sequence = unit[0], struct.unpack_from("<H", unit, 2)[0]
            if kind in (_REPLY, _GENERIC_EVENT):
                length = 4 * struct.unpack_from("<I", unit, 4)[0]
                if length > _MOST_BYTES:
                    raise OSError(f"an answer of {length} bytes")
                unit += self._receive(length)
            if sequence == self._sequence and kind == _REPLY:
                return unit
            if sequence == self._sequence and kind == _ERROR:
                raise WindowGoneError(f"the X server refused with error {unit[1]}")

    def _set_up(self, cookie: bytes, screen: int) -> int:
        name = _COOKIE if cookie else b""
        lengths = struct.pack("<BxHHHH2x", ord("l"), 11, 0, len(name), len(cookie))
        padded = b"".join(part + bytes(-len(part) % 4) for part in (name, cookie))
        self._socket.sendall(lengths + padded)
        head = self._receive(8)
        content = self._receive(4 * struct.unpack_from("<H", head, 6)[0])
        if head[0] != 1:
            why = content[: head[1]].decode("latin-1").strip() or "no reason given"
            raise NoAnswerError(f"the X server turned us away: {why}")
        roots = list(_roots(content))
        if screen >= len(roots):
            raise NoAnswerError(f"the X server has no screen {screen}")
        return roots[screen]

    def _receive(self, size: int) -> bytes:
        received = b""
        while len(received) < size:
            more = self._socket.recv(size - len(received))
            if not more:
                raise ConnectionResetError("it hung up")
            received += more
        return received


def _connected(number: str, timeout_s: float) -> socket.socket:
    path = f"/tmp/.X11-unix/X{number}"  # noqa: S108 - where X servers have their sockets
    for address in ("\0" + path, path):
        connection = unix_socket()
        connection.settimeout(timeout_s)
        try:
            connection.connect(address)
        except OSError:
            connection.close()
        else:
            return connection
    raise AbsentError(f"no X server at display :{number}")


def _roots(content: bytes) -> Iterator[int]:
    vendor, screens, formats = struct.unpack_from("<H2xBB", content, 16)
    at = 32 + vendor + -vendor % 4 + 8 * formats
    for _ in range(screens):
        yield struct.unpack_from("<I", content, at)[0]
        depths = content[at + 39]
        at += 40
        for _ in range(depths):
            at += 8 + 24 * struct.unpack_from("<H", content, at + 2)[0]


def _cookie(number: str, environ: Mapping[str, str]) -> bytes:
    """The display's secret from the user's own authority file; empty: none."""
    file = Path(environ.get("XAUTHORITY") or Path(environ.get("HOME", "/")) / ".Xauthority")
    try:
        entries = list(_entries(file.read_bytes()))
    except (OSError, struct.error):
        return b""
    here = platform.node().encode()
    fitting = [
        (family == _LOCAL and address == here, secret)
        for family, address, display, name, secret in entries
        if name == _COOKIE and display in (number.encode(), b"") and family in (_LOCAL, _WILD)
    ]
    return max(fitting, default=(False, b""), key=lambda entry: entry[0])[1]


def _entries(content: bytes) -> Iterator[tuple[int, bytes, bytes, bytes, bytes]]:
    at = 0
    while at < len(content):
        (family,) = struct.unpack_from(">H", content, at)
        at += 2
        fields = []
        for _ in range(4):
            (length,) = struct.unpack_from(">H", content, at)
            fields.append(content[at + 2 : at + 2 + length])
            at += 2 + length
        yield family, fields[0], fields[1], fields[2], fields[3]


T = TypeVar("T")


class X11Server:
    """The display of the environment; reconnects after any error."""

    def __init__(self, environ: Mapping[str, str], timeout_s: float = TIMEOUT_S) -> None:
        self._environ, self._timeout_s = environ, timeout_s
        self._display: X11Display | None = None

    def query(self, question: Callable[[X11Display], T]) -> T:
        """Run a query; raises AbsentError, NoAnswerError."""
        if self._display is None:
            name = self._environ.get("DISPLAY", "")
            if not name:
                raise AbsentError("this session has no DISPLAY")
            self._display = X11Display(name, self._environ, self._timeout_s)
        try:
            return question(self._display)
        except WindowGoneError:
            raise
        except NoAnswerError:
            self.close()
            raise

    def close(self) -> None:
        if self._display is not None:
            self._display.close()
            self._display = None


class X11Idle:
    source = "x11"

    def __init__(self, server: X11Server) -> None:
        self._server = server

    def read(self) -> float:
        return self._server.query(X11Display.idle_s)

    def close(self) -> None:
        self._server.close()


class X11Fullscreen:
    """The program whose window fills the screen; empty: none.

    Under Wayland the X server knows only the windows that use it. Most games do, but "nothing fills
    the screen" is never certain there, so the answer is unknown instead.
    """

    def __init__(self, server: X11Server, *, sees_all: bool) -> None:
        """`sees_all`: every window of the session belongs to the X server."""
        self._server, self._sees_all = server, sees_all
        self.source = "x11" if sees_all else "xwayland"

    def read(self) -> str:
        program = self._server.query(_fullscreen)
        if not program and not self._sees_all:
            raise NoAnswerError("windows that Wayland draws by itself cannot be seen")
        return program

    def close(self) -> None:
        self._server.close()


def _fullscreen(display: X11Display) -> str:
    if not display.read(display.root, "_NET_SUPPORTING_WM_CHECK").numbers():
        raise AbsentError("no window manager that tells which window is active")
    active = display.read(display.root, "_NET_ACTIVE_WINDOW").numbers()
    if not active or not active[0]:
        return ""
    try:
        states = display.read(active[0], "_NET_WM_STATE").numbers()
        if display.atom("_NET_WM_STATE_FULLSCREEN") not in states:
            return ""
        pids = display.read(active[0], "_NET_WM_PID").numbers()
        classes = display.read(active[0], "WM_CLASS").texts()
    except WindowGoneError:
        return ""  # it was closed while we asked
    if pids and pids[0] == os.getpid():
        return ""
    return (_own_program(pids[0]) if pids else "") or (classes or ["?"])[-1]


def _own_program(pid: int) -> str:
    """The name of this user's program with that process id; empty: unknown, or another user's."""
    # A window of a sandbox (Flatpak) has an id from the sandbox, which is another process here.
    try:
        is_own = psutil.Process(pid).username() == psutil.Process().username()
    except (psutil.Error, KeyError, ValueError, OSError):
        return ""
    return program_name(pid) if is_own else ""
