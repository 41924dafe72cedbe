"""Small files of sysfs and procfs: one value each, absent or unreadable at any time."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


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
