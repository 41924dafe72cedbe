"""A file of choices that survives anything: written whole or not at all, and never lost unread.

What cannot be read is kept aside under another name before it is replaced, and so is what a newer
program has written: this version would drop what it does not know.
"""

from __future__ import annotations

import os
import shutil
from enum import StrEnum
from typing import TYPE_CHECKING, Generic, TypeVar

from tequio_client import files
from tequio_shared.errors import MalformedError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

T = TypeVar("T")
MOST_BYTES = 1 << 16


class Found(StrEnum):
    """How the file was found."""

    WELL = "well"
    ABSENT = "absent"
    DAMAGED = "damaged"
    NEWER = "newer"


class KeptFile(Generic[T]):
    """One file; whoever changes its value owns this."""

    def __init__(
        self, path: Path, *, decode: Callable[[bytes], T], encode: Callable[[T], bytes]
    ) -> None:
        """`decode` raises MalformedError, `encode` nothing."""
        self.path = path
        self._decode, self._encode = decode, encode

    def read(self, version_of: Callable[[T], int], version: int) -> tuple[T | None, Found]:
        """What it says, if it can be read, and how it was found."""
        try:
            with self.path.open("rb") as file:
                value = self._decode(file.read(MOST_BYTES + 1))
        except FileNotFoundError:
            return None, Found.ABSENT
        except (OSError, MalformedError):
            self._keep_aside(Found.DAMAGED)
            return None, Found.DAMAGED
        if version_of(value) > version:
            self._keep_aside(Found.NEWER)
            return value, Found.NEWER
        return value, Found.WELL

    def write(self, value: T) -> None:
        """Let the file say that; raises OSError, and then it says what it said before."""
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        files.write_private(self.path, self._encode(value))

    def aside(self, found: Found) -> Path:
        """Where it is kept when it was found so."""
        return self.path.with_name(f"{self.path.name}.{found}")

    def _keep_aside(self, found: Found) -> None:
        """Give it a second name, which takes no room; a copy where the disk knows no such thing."""
        aside = self.aside(found)
        try:
            aside.unlink(missing_ok=True)
            try:
                os.link(self.path, aside)
            except OSError:
                shutil.copy2(self.path, aside)
        except OSError:
            return  # it will be replaced only once something is chosen
