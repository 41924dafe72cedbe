"""System libraries of Windows and macOS, loaded by ctypes."""

from __future__ import annotations

import ctypes
import sys

from tequio_client.platform.dbus import AbsentError


def windows_library(name: str) -> ctypes.CDLL:
    """Load a system library of Windows; raises AbsentError."""
    if sys.platform == "win32":
        try:
            return ctypes.WinDLL(name, use_last_error=True)
        except OSError as err:
            raise AbsentError(f"{name}: {err}") from err
    raise AbsentError(f"{name} only exists on Windows")


def macos_framework(name: str) -> ctypes.CDLL:
    """Load a system framework of macOS; raises AbsentError."""
    if sys.platform == "darwin":
        try:
            return ctypes.CDLL(f"/System/Library/Frameworks/{name}.framework/{name}")
        except OSError as err:
            raise AbsentError(f"{name}: {err}") from err
    raise AbsentError(f"{name} only exists on macOS")
