"""Idle time and the full screen, by the X server of this session.

Under Wayland the X server knows only the windows that go through it. Most games do; a window that
does not is invisible to it, so that there "nothing fills the screen" is not known.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeVar

from tequio_client.app.session.programs import name_of
from tequio_client.app.session.x11 import TIMEOUT_S, Display, GoneError
from tequio_client.system.errors import AbsentError, UnknownError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

T = TypeVar("T")


class Server:
    """The display of the environment; connects anew after any trouble."""

    def __init__(self, environ: Mapping[str, str], timeout_s: float = TIMEOUT_S) -> None:
        self._environ, self._timeout_s = environ, timeout_s
        self._display: Display | None = None

    def ask(self, question: Callable[[Display], T]) -> T:
        """Ask it; raises AbsentError, UnknownError."""
        if self._display is None:
            name = self._environ.get("DISPLAY", "")
            if not name:
                raise AbsentError("this session has no DISPLAY")
            self._display = Display(name, self._environ, self._timeout_s)
        try:
            return question(self._display)
        except GoneError:
            raise
        except UnknownError:
            self.close()
            raise

    def close(self) -> None:
        """Hang up."""
        if self._display is not None:
            self._display.close()
            self._display = None


class X11Idle:
    """Seconds since the last input."""

    source = "x11"

    def __init__(self, server: Server) -> None:
        self._server = server

    def read(self) -> float:
        """See Probe."""
        return self._server.ask(Display.idle_s)

    def close(self) -> None:
        """Hang up."""
        self._server.close()


class X11Fullscreen:
    """The program whose window fills the screen, or an empty name."""

    def __init__(self, server: Server, *, sees_all: bool) -> None:
        """`sees_all`: whether every window of the session is the X server's."""
        self._server, self._sees_all = server, sees_all
        self.source = "x11" if sees_all else "xwayland"

    def read(self) -> str:
        """See Probe."""
        program = self._server.ask(_fullscreen)
        if not program and not self._sees_all:
            raise UnknownError("windows that Wayland draws by itself cannot be seen")
        return program

    def close(self) -> None:
        """Hang up."""
        self._server.close()


def _fullscreen(display: Display) -> str:
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
        classes = display.read(active[0], "WM_CLASS").words()
    except GoneError:
        return ""  # it was closed while we asked
    if pids and pids[0] == os.getpid():
        return ""
    return (name_of(pids[0]) if pids else "") or (classes or ["?"])[-1]
