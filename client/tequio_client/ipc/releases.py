"""Reports, as JSON lines, of the program that fetches releases to the app that started it."""

from __future__ import annotations

import msgspec

from tequio_shared import encoding


class _Event(msgspec.Struct, frozen=True, tag_field="event", tag=str.lower):
    pass


class Offer(_Event, frozen=True, tag="offer"):
    """Parts to be fetched; sizes in bytes, of what is not on this computer yet."""

    version: str
    installed: str
    """The version that asks."""
    accelerator: str = ""
    """Kind of device of the runtime on offer; empty if none is needed."""
    app_bytes: int = 0
    runtime_bytes: int = 0
    disk_bytes: int = 0
    was_skipped: bool = False
    """The version failed here, or the user went back from it."""

    @property
    def download_bytes(self) -> int:
        return self.app_bytes + self.runtime_bytes

    @property
    def is_update(self) -> bool:
        return self.version != self.installed


class Fetching(_Event, frozen=True, tag="fetching"):
    part: str
    done: int
    total: int


class Installed(_Event, frozen=True, tag="installed"):
    """Success: an update starts with the next start of the app."""

    version: str
    is_update: bool = False


class Downloaded(_Event, frozen=True, tag="downloaded"):
    """All bytes are on this computer, checked; nothing was tried out or installed yet."""

    version: str


class ReleaseFailed(_Event, frozen=True, tag="failed"):
    reason: str
    is_alarm: bool = False
    """Somebody may be giving this user other packages than everybody else."""


ReleaseEvent = Offer | Fetching | Downloaded | Installed | ReleaseFailed


def encode(event: ReleaseEvent) -> bytes:
    return msgspec.json.encode(event) + b"\n"


def decode(line: bytes) -> ReleaseEvent:
    """Raises MalformedError."""
    event: ReleaseEvent = encoding.read(line, ReleaseEvent)
    return event
