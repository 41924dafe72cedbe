"""Parts of a competition's view: its phases, who takes part, the draw, and what was said."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from tequio_shared.errors import RefusedError

if TYPE_CHECKING:
    from tequio_shared.competition_rules import Submission
    from tequio_shared.ids import Digest, PeerKey, RunId
    from tequio_shared.key_share import KeyShare


class Phase(StrEnum):
    """Where a competition stands; each ends when the statement that begins the next is logged."""

    OPEN = "open"  # keys enter, submit, and offer to evaluate
    CLOSED = "closed"  # who offered opens the secret
    DRAWN = "drawn"  # custodians show their shares
    REVEALED = "revealed"  # texts and draw are known: evaluators commit, show, are challenged
    DECIDED = "decided"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """An entry of the log, and when it says that it was said (ms)."""

    index: int
    ts: int

    def check_within(self, first: int, last: int | None) -> None:
        """Raise RefusedError unless it was said between these times (ms), both included."""
        if self.ts < first:
            raise RefusedError("too-early", f"signed at {self.ts} ms, before {first} ms")
        if last is not None and self.ts > last:
            raise RefusedError("too-late", f"signed at {self.ts} ms, after {last} ms")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrant:
    """Who takes part under a name; `submission` is the one that counts so far."""

    name: str
    author: PeerKey
    entered: Mark
    side: RunId | None
    submission: Submission | None = None
    submitted: Mark | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """Somebody's offer to evaluate; `secret` once it is opened."""

    offered: Mark
    commit: Digest
    secret: bytes | None = None
    opened: Mark | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A share of the key that its custodian showed."""

    shown: Mark
    share: KeyShare


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """What follows from the beacon: the key, which documents are scored, and who scores them."""

    key: bytes
    beacon: Digest
    documents: tuple[int, ...]
    """Numbers in the sealed set, from 0, ascending."""
    evaluators: tuple[PeerKey, ...]
    """In the order of the lot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """A drawn evaluator's commitment to its scores of one entrant."""

    said: Mark
    commit: Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A drawn evaluator's word on one entrant."""

    said: Mark
    entrant: str
    evaluator: PeerKey
    scores: Digest
    """Name of the `Evaluation`."""
    millibits: int
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Challenge:
    """Somebody got another number."""

    said: Mark
    author: PeerKey
    entrant: str
    evaluator: PeerKey
    document: int
    millibits: int
