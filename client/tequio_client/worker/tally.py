"""What a fetch has brought so far, and the report that it becomes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import trio

from tequio_shared.errors import PeerError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tequio_shared.ids import Digest, PeerKey


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchReport:
    """What a fetch did: verified bytes by source, sources that lied and how, and the time.

    `copied_bytes` are those that were taken from trees that were here already.
    """

    name: Digest
    bytes_by_source: Mapping[PeerKey, int]
    bad_sources: Mapping[PeerKey, str]
    copied_bytes: int
    seconds: float


class FetchFailedError(PeerError):
    """Nobody gave all of it in time; `report` says what came. What came is kept."""

    def __init__(self, message: str, report: FetchReport) -> None:
        super().__init__(message)
        self.report = report


@dataclass(slots=True)
class Tally:
    """One fetch under way; written by whoever works for it, all in one thread."""

    name: Digest
    started: float = field(default_factory=trio.current_time)
    by_source: dict[PeerKey, int] = field(default_factory=dict)
    bad: dict[PeerKey, str] = field(default_factory=dict)
    asked: set[PeerKey] = field(default_factory=set)
    copied_bytes: int = 0
    is_done: bool = False

    @property
    def seconds(self) -> float:
        """Time since the beginning."""
        return trio.current_time() - self.started

    def add(self, peer: PeerKey, size_bytes: int) -> None:
        """Count verified bytes."""
        self.by_source[peer] = self.by_source.get(peer, 0) + size_bytes

    def report(self) -> FetchReport:
        """Say how it stands."""
        return FetchReport(
            name=self.name,
            bytes_by_source=dict(self.by_source),
            bad_sources=dict(self.bad),
            copied_bytes=self.copied_bytes,
            seconds=self.seconds,
        )
