"""The system's own interfaces: libraries loaded by ctypes, and the small files of sysfs and procfs.

Such a file holds one value, and may be absent or unreadable at any time.
"""

from __future__ import annotations

import ctypes
import socket
import sys
from pathlib import Path

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


def unix_socket() -> socket.socket:
    """A new socket for a path; raises AbsentError on Windows."""
    if sys.platform == "win32":
        raise AbsentError("Windows has no such sockets")
    return socket.socket(socket.AF_UNIX)


def read_text(file: Path) -> str:
    """The content without surrounding white space; "" if it cannot be read."""
    try:
        return file.read_bytes().decode("utf-8", "replace").strip()
    except OSError:
        return ""


def read_int(file: Path) -> int | None:
    """The integer in the file; None if there is none."""
    try:
        return int(read_text(file), 0)
    except ValueError:
        return None


def read_scaled(file: Path, unit: float) -> float | None:
    """The number in the file times the unit; None if it is missing or negative."""
    value = read_int(file)
    return None if value is None or value < 0 else value * unit


def matching(folder: Path, pattern: str) -> list[Path]:
    """Matching entries of the folder, in order; empty if it does not exist."""
    try:
        return sorted(folder.glob(pattern))
    except OSError:
        return []
