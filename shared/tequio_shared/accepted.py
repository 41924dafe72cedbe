"""The accepted set of a closed round: what the next head is made of.

Worker and auditor take it from the round that they have folded and compute the same head from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_shared.head import set_root

if TYPE_CHECKING:
    from tequio_shared.contribution import Expected
    from tequio_shared.ids import ContributionId, Digest, HeadHash, PeerKey
    from tequio_shared.round import RoundView


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedWork:
    """One accepted contribution: whose, its id and header, and its payload's root."""

    trainer: PeerKey
    id: ContributionId
    header: bytes
    payload_root: Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedSet:
    """All that a closed round accepted, and what the round demanded of it."""

    index: int
    """Log index of round.close."""
    expected: Expected
    set_root: Digest
    works: tuple[AcceptedWork, ...]

    @property
    def round(self) -> int:
        """Number of the round."""
        return self.expected.round

    @property
    def parent(self) -> HeadHash:
        """The head that the round started from."""
        return self.expected.base_head

    @property
    def k(self) -> int:
        """Entries per chunk in the round."""
        return self.expected.shape.k


def accepted_set(index: int, closed: RoundView) -> AcceptedSet:
    """What the round accepted, once its round.close, at that log index, was applied."""
    works = tuple(
        AcceptedWork(
            trainer=one.header.trainer,
            id=one.id,
            header=one.header.pack(),
            payload_root=one.header.payload_root,
        )
        for one in closed.accepted().values()
    )
    return AcceptedSet(
        index=index,
        expected=closed.expected(),
        set_root=set_root([work.id for work in works]),
        works=works,
    )
