"""Small files of sysfs and procfs: one value each, absent or unreadable at any time."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def text(file: Path) -> str:
    """The content without the white space around it; empty when there is none to be had."""
    try:
        return file.read_bytes().decode("utf-8", "replace").strip()
    except OSError:
        return ""


def number(file: Path) -> int | None:
    """The whole number in it, if it holds one."""
    try:
        return int(text(file), 0)
    except ValueError:
        return None


def scaled(file: Path, unit: float) -> float | None:
    """The number in it, times the unit, if it is not negative."""
    value = number(file)
    return None if value is None or value < 0 else value * unit


def inside(folder: Path, pattern: str) -> list[Path]:
    """What the folder holds by that pattern, in order; nothing when it is not there."""
    try:
        return sorted(folder.glob(pattern))
    except OSError:
        return []
