"""A child process of a worker that runs a test's script, and starts quickly."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

COUNTED = """
import json, os, pathlib, signal, sys, time
lives = pathlib.Path(sys.argv[1])
life = len(lives.read_text()) if lives.exists() else 0
lives.write_text("x" * (life + 1))
"""
"""Precedes every script: `life` is how often the child was started before."""


def scripted(folder: Path, script: str) -> list[str]:
    """The command that runs the script; it may be run repeatedly."""
    file = folder / "child.py"
    file.write_text(COUNTED + script)
    return [sys.executable, "-S", str(file), str(folder / "lives")]


def lives(folder: Path) -> int:
    """How often the child was started."""
    file = folder / "lives"
    return len(file.read_text()) if file.exists() else 0
