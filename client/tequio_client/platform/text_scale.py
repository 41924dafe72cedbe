"""The text size that people set in their system, where Qt does not follow it by itself.

On X11 Qt does: desktops put the text size into Xft.dpi, and Qt scales everything by that. On
Windows and Wayland Qt follows the scale of the screen only. See docs/decisions/0112.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tequio_client.platform.dbus import (
    AbsentError,
    Bus,
    BusAddress,
    NoAnswerError,
    checked_value,
)

VARIABLE = "QT_SCALE_FACTOR"
_CHOSEN = (VARIABLE, "QT_FONT_DPI", "QT_SCREEN_SCALE_FACTORS", "QT_WAYLAND_FORCE_DPI")
"""Variables with which people choose a scale for Qt themselves."""
LEAST, MOST = 0.75, 2.25
"""The largest text size of Windows; beyond it windows do not fit on common screens."""
PORTAL = BusAddress(
    "org.freedesktop.portal.Desktop",
    "/org/freedesktop/portal/desktop",
    "org.freedesktop.portal.Settings",
)
_SETTING = ("org.gnome.desktop.interface", "text-scaling-factor")
_KEY, _VALUE = r"Software\Microsoft\Accessibility", "TextScaleFactor"


@contextmanager
def followed() -> Iterator[None]:
    """Let a QApplication made in this block follow the system's text size.

    Qt reads its variable once, then. Afterwards it is taken back: other programs that are started
    from here have their own way to follow, and a restarted app reads the setting again.
    """
    factor = _system_factor()
    if factor == 1.0:
        yield
        return
    os.environ[VARIABLE] = f"{max(LEAST, min(MOST, factor)):g}"
    try:
        yield
    finally:
        del os.environ[VARIABLE]


def _system_factor() -> float:
    """1 where the system has no such setting, Qt follows it, or a variable chooses the scale."""
    if any(os.environ.get(name) for name in _CHOSEN):
        return 1.0
    try:
        if sys.platform == "win32" and "QT_QPA_PLATFORM" not in os.environ:
            return windows_factor()
        if sys.platform == "linux" and _is_wayland():
            return portal_factor(Bus("SESSION"))
    except (AbsentError, NoAnswerError):
        pass
    return 1.0


def windows_factor() -> float:
    """Settings, Accessibility, Text size; raises AbsentError where it was never changed."""
    if sys.platform == "win32":
        import winreg  # noqa: PLC0415 - exists on Windows only

        try:
            with winreg.OpenKey(winreg.HKEY_CURRENT_USER, _KEY) as key:
                return int(winreg.QueryValueEx(key, _VALUE)[0]) / 100
        except (OSError, ValueError, TypeError) as err:
            raise AbsentError(f"{_VALUE}: {err}") from err
    raise AbsentError(f"{_VALUE} only exists on Windows")


def portal_factor(bus: Bus) -> float:
    """The text size of a desktop, by its portal; raises AbsentError, NoAnswerError."""
    try:
        # Its successor ReadOne, without the second variant, is missing in portals before 1.17.
        body = bus.call(PORTAL, "Read", "ss", _SETTING)
        variant = checked_value(body, tuple, is_variant=True)
        return checked_value((variant,), float, is_variant=True)
    finally:
        bus.close()


def _is_wayland() -> bool:
    """Return whether Qt will use Wayland; its own order of choice, seen with Qt 6.11."""
    if named := os.environ.get("QT_QPA_PLATFORM"):
        return named.startswith("wayland")
    return "WAYLAND_DISPLAY" in os.environ or os.environ.get("XDG_SESSION_TYPE") == "wayland"
