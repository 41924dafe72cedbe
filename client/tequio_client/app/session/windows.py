"""Input, lock and full screen on Windows, by ctypes."""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from tequio_client.app.session.programs import program_name
from tequio_client.platform.dbus import AbsentError, NoAnswerError
from tequio_client.platform.system import windows_library

_WRAP = 1 << 32
_LOCKED, _UNLOCKED = 0, 1
_ACTIVE = 0  # a session with a user at its screen, here or by remote desktop
_AWAY, _BUSY, _DIRECT3D, _PRESENTATION = 1, 2, 3, 4
_SHELL = {"Progman", "WorkerW", "Shell_TrayWnd", "XamlExplorerHostIslandWindow",
          "ForegroundStaging", "MultitaskingViewFrame"}  # fmt: skip
THIS_SESSION = 0xFFFFFFFF
Rectangle = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontWindow:
    """The front window; rectangles as left, top, right, bottom."""

    pid: int
    window_class: str
    bounds: Rectangle
    screen: Rectangle


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowsSession:
    """State and lock of a session, in Windows' own codes."""

    state: int
    lock: int


class Gamepad(NamedTuple):
    """Buttons, triggers and sticks of a gamepad, in XInput's order and units."""

    buttons: int = 0
    left_trigger: int = 0
    right_trigger: int = 0
    left_x: int = 0
    left_y: int = 0
    right_x: int = 0
    right_y: int = 0

    def held(self) -> Gamepad:
        """Values within their dead zones are 0: there a pad flickers that nobody touches."""
        axes = zip(self, _DEAD_ZONES, strict=True)
        return Gamepad(*(value if abs(value) > zone else 0 for value, zone in axes))


_DEAD_ZONES = Gamepad(0, 30, 30, 7849, 7849, 8689, 8689)
"""As in XInput.h."""


class WindowsInterface(Protocol):
    """The Windows calls in use; each raises AbsentError or OSError."""

    def input_ms(self) -> int:
        """Tick count, in milliseconds, at the last input of keyboard or mouse."""

    def now_ms(self) -> int:
        """The current tick count, which wraps after 49.7 days."""

    def gamepads(self) -> tuple[Gamepad, ...]:
        """The state of each connected gamepad."""

    def session(self, number: int = THIS_SESSION) -> WindowsSession:
        """A session's state."""

    def session_states(self) -> Mapping[int, int]:
        """States of the sessions that this user may query, by their numbers."""

    def console(self) -> int:
        """Number of the session at the computer's own screen."""

    def notification_state(self) -> int:
        """The state in SHQueryUserNotificationState's code."""

    def front(self) -> FrontWindow | None:
        """None: no window is in front."""


class WindowsIdle:
    """Since the last input of keyboard, mouse or gamepad."""

    source = "user32"

    def __init__(
        self, calls: WindowsInterface, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._calls, self._clock = calls, clock
        self._pads: tuple[Gamepad, ...] | None = None
        self._moved_s: float | None = None

    def read(self) -> float:
        idle_s = ((self._calls.now_ms() - self._calls.input_ms()) % _WRAP) / 1_000
        pads = tuple(one.held() for one in self._calls.gamepads())
        if self._pads is not None and pads != self._pads:
            self._moved_s = self._clock()
        self._pads = pads
        return idle_s if self._moved_s is None else min(idle_s, self._clock() - self._moved_s)


class WindowsLock:
    source = "wtsapi32"

    def __init__(self, calls: WindowsInterface) -> None:
        self._calls = calls

    def read(self) -> bool:
        lock = self._calls.session().lock
        if lock not in (_LOCKED, _UNLOCKED):
            raise NoAnswerError(f"Windows says {lock} for its lock")
        return lock == _LOCKED


class WindowsOtherUser:
    """True if this session was switched away and another one is in use."""

    source = "wtsapi32"

    def __init__(self, calls: WindowsInterface) -> None:
        self._calls = calls

    def read(self) -> bool:
        calls = self._calls
        if calls.session().state == _ACTIVE:
            return False
        states = calls.session_states()
        if calls.console() not in states:
            raise NoAnswerError("Windows does not tell who is at the screen")
        active = [number for number, state in states.items() if state == _ACTIVE]
        return any(calls.session(number).lock != _LOCKED for number in active)


class WindowsFullscreen:
    """The program that fills a screen, by Windows' own state or by the size of its window."""

    source = "shell32"

    def __init__(self, calls: WindowsInterface) -> None:
        self._calls = calls

    def read(self) -> str:
        state = self._calls.notification_state()
        if state == _AWAY:  # in front is the lock screen or the screen saver
            return ""
        is_busy = state in (_BUSY, _DIRECT3D, _PRESENTATION)
        front = self._calls.front()
        if front is None or front.pid == os.getpid() or front.window_class in _SHELL:
            return "?" if is_busy and front is None else ""
        if is_busy or front.bounds == front.screen:
            return program_name(front.pid) or front.window_class or "?"
        return ""


# Structures and numbers are those of the Windows headers, for 64 bits.
_PADS = 4
_NEAREST_SCREEN = 2
_SESSION_INFO = 25  # WTSSessionInfoEx
_SYSTEM_REQUIRED, _CONTINUOUS = 0x1, 0x80000000


class _LastInput(ctypes.Structure):
    _fields_ = [  # type: ignore[mutable-override]  # typeshed's declaration is wider
        ("size", ctypes.c_uint32),
        ("at_ms", ctypes.c_uint32),
    ]


class _Rect(ctypes.Structure):
    _fields_ = [  # type: ignore[mutable-override]  # as above
        ("left", ctypes.c_int32),
        ("top", ctypes.c_int32),
        ("right", ctypes.c_int32),
        ("bottom", ctypes.c_int32),
    ]

    def edges(self) -> Rectangle:
        return self.left, self.top, self.right, self.bottom


class _Monitor(ctypes.Structure):
    _fields_ = [  # type: ignore[mutable-override]  # as above
        ("size", ctypes.c_uint32),
        ("whole", _Rect),
        ("work", _Rect),
        ("flags", ctypes.c_uint32),
    ]


class _Pad(ctypes.Structure):
    _fields_ = [  # type: ignore[mutable-override]  # as above
        ("packet", ctypes.c_uint32),
        ("buttons", ctypes.c_uint16),
        ("triggers", ctypes.c_uint8 * 2),
        ("sticks", ctypes.c_int16 * 4),
    ]


class _SessionInfo(ctypes.Structure):
    _fields_ = [  # type: ignore[mutable-override]  # as above
        ("level", ctypes.c_uint32),
        ("padding", ctypes.c_uint32),
        ("session", ctypes.c_uint32),
        ("state", ctypes.c_int32),
        ("flags", ctypes.c_int32),
    ]


class _ListedSession(ctypes.Structure):
    _fields_ = [  # type: ignore[mutable-override]  # as above
        ("session", ctypes.c_uint32),
        ("name", ctypes.c_void_p),
        ("state", ctypes.c_int32),
    ]


class CtypesWindows:
    def __init__(self) -> None:
        self._user32 = windows_library("user32")
        self._kernel32 = windows_library("kernel32")
        self._shell32 = windows_library("shell32")
        self._wtsapi32 = windows_library("wtsapi32")
        self._user32.GetForegroundWindow.restype = ctypes.c_void_p
        self._user32.MonitorFromWindow.restype = ctypes.c_void_p
        self._kernel32.GetTickCount.restype = ctypes.c_uint32
        self._kernel32.WTSGetActiveConsoleSessionId.restype = ctypes.c_uint32
        try:
            self._xinput: ctypes.CDLL | None = windows_library("xinput1_4")
        except AbsentError:
            self._xinput = None

    def input_ms(self) -> int:
        last = _LastInput(size=ctypes.sizeof(_LastInput))
        if not self._user32.GetLastInputInfo(ctypes.byref(last)):
            raise OSError("GetLastInputInfo failed")
        return int(last.at_ms)

    def now_ms(self) -> int:
        return int(self._kernel32.GetTickCount())

    def gamepads(self) -> tuple[Gamepad, ...]:
        found = []
        for number in range(_PADS if self._xinput else 0):
            pad = _Pad()
            if self._xinput and self._xinput.XInputGetState(number, ctypes.byref(pad)) == 0:
                found.append(Gamepad(pad.buttons, *pad.triggers, *pad.sticks))
        return tuple(found)

    def session(self, number: int = THIS_SESSION) -> WindowsSession:
        info, size = ctypes.POINTER(_SessionInfo)(), ctypes.c_uint32()
        if not self._wtsapi32.WTSQuerySessionInformationW(
            None, number, _SESSION_INFO, ctypes.byref(info), ctypes.byref(size)
        ):
            raise OSError("WTSQuerySessionInformation failed")
        try:
            return WindowsSession(state=info.contents.state, lock=info.contents.flags)
        finally:
            self._wtsapi32.WTSFreeMemory(info)

    def session_states(self) -> Mapping[int, int]:
        listed, count = ctypes.POINTER(_ListedSession)(), ctypes.c_uint32()
        if not self._wtsapi32.WTSEnumerateSessionsW(
            None, 0, 1, ctypes.byref(listed), ctypes.byref(count)
        ):
            raise OSError("WTSEnumerateSessions failed")
        try:
            return {one.session: one.state for one in listed[: count.value]}
        finally:
            self._wtsapi32.WTSFreeMemory(listed)

    def console(self) -> int:
        return int(self._kernel32.WTSGetActiveConsoleSessionId())

    def notification_state(self) -> int:
        state = ctypes.c_int32()
        if self._shell32.SHQueryUserNotificationState(ctypes.byref(state)):
            raise OSError("SHQueryUserNotificationState failed")
        return state.value

    def front(self) -> FrontWindow | None:
        handle = ctypes.c_void_p(self._user32.GetForegroundWindow())
        if not handle.value:
            return None
        pid, at, kind = ctypes.c_uint32(), _Rect(), ctypes.create_unicode_buffer(256)
        screen = _Monitor(size=ctypes.sizeof(_Monitor))
        self._user32.GetWindowThreadProcessId(handle, ctypes.byref(pid))
        self._user32.GetClassNameW(handle, kind, len(kind))
        monitor = ctypes.c_void_p(self._user32.MonitorFromWindow(handle, _NEAREST_SCREEN))
        if not self._user32.GetWindowRect(handle, ctypes.byref(at)):
            return None  # it was closed while we asked
        if not self._user32.GetMonitorInfoW(monitor, ctypes.byref(screen)):
            return None
        return FrontWindow(
            pid=pid.value, window_class=kind.value, bounds=at.edges(), screen=screen.whole.edges()
        )


class WindowsInhibitor:
    """SetThreadExecutionState, which holds for the calling thread."""

    def hold(self) -> None:
        _set_execution_state(_CONTINUOUS | _SYSTEM_REQUIRED)

    def release(self) -> None:
        _set_execution_state(_CONTINUOUS)


def _set_execution_state(flags: int) -> None:
    windows_library("kernel32").SetThreadExecutionState(ctypes.c_uint32(flags))
