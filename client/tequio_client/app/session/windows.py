"""Input, lock and full screen on Windows."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tequio_client.app.session.programs import name_of
from tequio_client.system.errors import UnknownError

if TYPE_CHECKING:
    from collections.abc import Callable

_WRAP = 1 << 32
_LOCKED, _UNLOCKED = 0, 1
_BUSY, _DIRECT3D, _PRESENTATION = 2, 3, 4
_SHELL = {"Progman", "WorkerW", "Shell_TrayWnd", "XamlExplorerHostIslandWindow",
          "ForegroundStaging", "MultitaskingViewFrame"}  # fmt: skip
Rectangle = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The window in front; rectangles as left, top, right, bottom."""

    pid: int
    kind: str
    at: Rectangle
    screen: Rectangle


class Calls(Protocol):
    """The calls of Windows that are needed here; each raises AbsentError, OSError."""

    def input_ms(self) -> int:
        """Count of milliseconds at the last input of keyboard or mouse."""

    def now_ms(self) -> int:
        """The same count now; it begins again after 49.7 days."""

    def gamepads(self) -> tuple[int, ...]:
        """A number for each gamepad that is connected; it changes with every input."""

    def lock_flags(self) -> int:
        """The lock of this session as Windows says it."""

    def notification_state(self) -> int:
        """Whether Windows would show a notification now."""

    def front(self) -> Window | None:
        """The window in front, if there is one."""


class WindowsIdle:
    """Seconds since the last input of keyboard, mouse or gamepad."""

    source = "user32"

    def __init__(self, calls: Calls, clock: Callable[[], float] = time.monotonic) -> None:
        self._calls, self._clock = calls, clock
        self._pads: tuple[int, ...] | None = None
        self._moved_s: float | None = None

    def read(self) -> float:
        """See Probe."""
        idle_s = ((self._calls.now_ms() - self._calls.input_ms()) % _WRAP) / 1_000
        pads = self._calls.gamepads()
        if self._pads is not None and pads != self._pads:
            self._moved_s = self._clock()
        self._pads = pads
        return idle_s if self._moved_s is None else min(idle_s, self._clock() - self._moved_s)


class WindowsLock:
    """Whether the session is locked."""

    source = "wtsapi32"

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def read(self) -> bool:
        """See Probe."""
        flags = self._calls.lock_flags()
        if flags not in (_LOCKED, _UNLOCKED):
            raise UnknownError(f"Windows says {flags} for its lock")
        return flags == _LOCKED


class WindowsFullscreen:
    """The program that fills a screen, by Windows' word or by the size of its window."""

    source = "shell32"

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def read(self) -> str:
        """See Probe."""
        is_busy = self._calls.notification_state() in (_BUSY, _DIRECT3D, _PRESENTATION)
        front = self._calls.front()
        if front is None or front.pid == os.getpid() or front.kind in _SHELL:
            return "?" if is_busy and front is None else ""
        if is_busy or front.at == front.screen:
            return name_of(front.pid) or front.kind or "?"
        return ""
