"""Input, lock and full screen on macOS; bounds and owners of windows need no extra permission."""

from __future__ import annotations

import ctypes
import os
import plistlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tequio_client.platform.dbus import NoAnswerError
from tequio_client.platform.system import macos_framework

_ORDINARY = 0
_LOCK, _ON_CONSOLE = "CGSSessionScreenIsLocked", "kCGSSessionOnConsoleKey"
_ROOT = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenBounds:
    """A rectangle in points, from the upper left corner."""

    x: float
    y: float
    width: float
    height: float


class MacInterface(Protocol):
    """The macOS calls in use; each raises AbsentError or NoAnswerError."""

    def idle_s(self) -> float:
        """Since the last input of this login."""

    def session(self) -> Mapping[str, object]:
        """The window server's dictionary about this login."""

    def console_owner(self) -> int:
        """User id of the login on the screen; root's: nobody is logged in there."""

    def windows(self) -> Sequence[Mapping[str, object]]:
        """The windows on the screens, the front one first."""

    def displays(self) -> Sequence[ScreenBounds]:
        """The screens."""


class MacProbe:
    source = "coregraphics"

    def __init__(self, mac: MacInterface) -> None:
        self._mac = mac


class MacIdle(MacProbe):
    def read(self) -> float:
        idle_s = self._mac.idle_s()
        if not 0 <= idle_s < float("inf"):
            raise NoAnswerError(f"{idle_s} s without input")
        return idle_s


class MacLock(MacProbe):
    def read(self) -> bool:
        """False without the key, which exists only while the session is locked."""
        return bool(self._mac.session().get(_LOCK, False))


class MacOtherUser(MacProbe):
    """True if another user's login is on the screen, locked or not."""

    def read(self) -> bool:
        is_front = bool(self._mac.session().get(_ON_CONSOLE, True))
        return not is_front and self._mac.console_owner() != _ROOT


class MacFullscreen(MacProbe):
    """The program whose front window covers a screen."""

    def read(self) -> str:
        ordinary = (one for one in self._mac.windows() if one.get("kCGWindowLayer") == _ORDINARY)
        front = next(ordinary, None)
        if front is None or front.get("kCGWindowOwnerPID") == os.getpid():
            return ""
        bounds, displays = _bounds(front.get("kCGWindowBounds")), self._mac.displays()
        if bounds is not None and any(_fills_all_but_the_top(bounds, one) for one in displays):
            raise NoAnswerError("nobody knows whether a window below the notch is full screen")
        if bounds not in displays:
            return ""
        return str(front.get("kCGWindowOwnerName") or "?")[:256]


def _fills_all_but_the_top(window: ScreenBounds, screen: ScreenBounds) -> bool:
    """As a full screen below a notch does, and a maximised window where the Dock hides."""
    below = window.y - screen.y
    return below > 0 and window == ScreenBounds(
        x=screen.x, y=screen.y + below, width=screen.width, height=screen.height - below
    )


def _bounds(value: object) -> ScreenBounds | None:
    if not isinstance(value, dict):
        return None
    sides = [value.get(name) for name in ("X", "Y", "Width", "Height")]
    numbers = [float(side) for side in sides if isinstance(side, int | float)]
    if len(numbers) != len(sides):
        return None
    return ScreenBounds(x=numbers[0], y=numbers[1], width=numbers[2], height=numbers[3])


# Core Foundation's dictionaries are serialised as property lists and parsed here, which needs fewer
# calls than reading them field by field.
_COMBINED_SESSION, _ANY_INPUT = 0, 0xFFFFFFFF
_ON_SCREEN, _NO_DESKTOP = 1, 16
_BINARY_LIST = 200
_SCREENS = 16
_UTF8 = 0x08000100
_LEVEL_ON = 255
_KIND = b"PreventUserIdleSystemSleep"


class _CgRect(ctypes.Structure):
    _fields_ = [  # type: ignore[mutable-override]  # typeshed's declaration is wider
        ("x", ctypes.c_double),
        ("y", ctypes.c_double),
        ("width", ctypes.c_double),
        ("height", ctypes.c_double),
    ]


class CtypesMac:
    def __init__(self) -> None:
        self._graphics = macos_framework("CoreGraphics")
        self._core = _core()
        graphics = self._graphics
        graphics.CGEventSourceSecondsSinceLastEventType.restype = ctypes.c_double
        graphics.CGEventSourceSecondsSinceLastEventType.argtypes = (ctypes.c_int32, ctypes.c_uint32)
        graphics.CGSessionCopyCurrentDictionary.restype = ctypes.c_void_p
        graphics.CGWindowListCopyWindowInfo.restype = ctypes.c_void_p
        graphics.CGWindowListCopyWindowInfo.argtypes = (ctypes.c_uint32, ctypes.c_uint32)
        graphics.CGDisplayBounds.restype = _CgRect
        graphics.CGDisplayBounds.argtypes = (ctypes.c_uint32,)

    def idle_s(self) -> float:
        call = self._graphics.CGEventSourceSecondsSinceLastEventType
        return float(call(_COMBINED_SESSION, _ANY_INPUT))

    def session(self) -> Mapping[str, object]:
        value = self._read(self._graphics.CGSessionCopyCurrentDictionary())
        return value if isinstance(value, dict) else {}

    def console_owner(self) -> int:
        return Path("/dev/console").stat().st_uid

    def windows(self) -> Sequence[Mapping[str, object]]:
        call = self._graphics.CGWindowListCopyWindowInfo
        value = self._read(call(_ON_SCREEN | _NO_DESKTOP, 0))
        return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []

    def displays(self) -> Sequence[ScreenBounds]:
        ids, count = (ctypes.c_uint32 * _SCREENS)(), ctypes.c_uint32()
        if self._graphics.CGGetActiveDisplayList(_SCREENS, ids, ctypes.byref(count)):
            raise NoAnswerError("CGGetActiveDisplayList failed")
        found = (self._graphics.CGDisplayBounds(number) for number in ids[: count.value])
        return [ScreenBounds(x=one.x, y=one.y, width=one.width, height=one.height) for one in found]

    def _read(self, thing: int | None) -> object:
        """Consume a Core Foundation object and return its value; raises NoAnswerError."""
        if not thing:
            raise NoAnswerError("the window server returned nothing")
        try:
            data = self._core.CFPropertyListCreateData(None, thing, _BINARY_LIST, 0, None)
        finally:
            self._core.CFRelease(thing)
        if not data:
            raise NoAnswerError("the window server returned unreadable data")
        try:
            size = self._core.CFDataGetLength(data)
            content = ctypes.string_at(self._core.CFDataGetBytePtr(data), size)
        finally:
            self._core.CFRelease(data)
        value: object = plistlib.loads(content)
        return value


class MacInhibitor:
    """An IOKit assertion."""

    def __init__(self, why: str) -> None:
        self._why = why
        self._id: ctypes.c_uint32 | None = None

    def hold(self) -> None:
        if self._id is not None:
            return
        core, number = _core(), ctypes.c_uint32()
        texts = [
            core.CFStringCreateWithCString(None, text, _UTF8)
            for text in (_KIND, self._why.encode())
        ]
        make = macos_framework("IOKit").IOPMAssertionCreateWithName
        make.argtypes = (ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_void_p)
        failed = make(texts[0], _LEVEL_ON, texts[1], ctypes.byref(number))
        for text in texts:
            core.CFRelease(text)
        if failed:
            raise NoAnswerError(f"IOPMAssertionCreateWithName failed with {failed}")
        self._id = number

    def release(self) -> None:
        number, self._id = self._id, None
        if number is not None:
            macos_framework("IOKit").IOPMAssertionRelease(number)


def _core() -> ctypes.CDLL:
    core = macos_framework("CoreFoundation")
    pointer = ctypes.c_void_p
    core.CFPropertyListCreateData.restype = pointer
    core.CFPropertyListCreateData.argtypes = (
        pointer, pointer, ctypes.c_long, ctypes.c_ulong, pointer,
    )  # fmt: skip
    core.CFDataGetLength.restype, core.CFDataGetLength.argtypes = ctypes.c_long, (pointer,)
    core.CFDataGetBytePtr.restype, core.CFDataGetBytePtr.argtypes = pointer, (pointer,)
    core.CFStringCreateWithCString.restype = pointer
    core.CFStringCreateWithCString.argtypes = (pointer, ctypes.c_char_p, ctypes.c_uint32)
    core.CFRelease.restype, core.CFRelease.argtypes = None, (pointer,)
    return core
