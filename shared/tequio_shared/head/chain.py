"""The chain of heads: each canonical head, and the accepted set from which the next follows.

Values that the log fixes; `head.py` has the arithmetic (docs/protocol.md, head).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from tequio_shared.errors import RefusedError
from tequio_shared.head.contribution import ExpectedContribution
from tequio_shared.head.head import head_hash
from tequio_shared.ids import (
    ContributionId,
    Digest,
    HeadHash,
    Natural,
    PeerKey,
    RunId,
    digest_from_text,
    to_text,
)
from tequio_shared.statements.runs import HeadPromote, RunRollback


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """A canonical head and what its hash is made of (docs/protocol.md, head)."""

    hash: HeadHash
    round: Natural
    parent: HeadHash
    set_root: Digest
    weights_root: Digest
    aux_root: Digest

    @classmethod
    def of(
        cls,
        run: RunId,
        made: int,
        *,
        parent: HeadHash,
        set_root: Digest,
        weights_root: Digest,
        aux_root: Digest,
    ) -> Self:
        """Head of round `made` with these parts; its hash follows from them."""
        return cls(
            hash=head_hash(run, made, parent, set_root, weights_root, aux_root),
            round=made,
            parent=parent,
            set_root=set_root,
            weights_root=weights_root,
            aux_root=aux_root,
        )


def stated_head(run: RunId, made: int, body: HeadPromote | RunRollback) -> Head:
    """Head of round `made` as stated; raises RefusedError if its hash is not that of its parts."""
    head = Head.of(
        run,
        made,
        parent=HeadHash(digest_from_text(body.parent)),
        set_root=digest_from_text(body.set_root),
        weights_root=digest_from_text(body.weights_root),
        aux_root=digest_from_text(body.aux_root),
    )
    if body.head != to_text(head.hash):
        raise RefusedError("wrong-head", "the head does not match its parent, set and roots")
    return head


@dataclass(frozen=True, slots=True, kw_only=True)
class NextHead:
    """A head that members still have to compute and attest: the parts that are fixed already."""

    round: int
    parent: HeadHash
    set_root: Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedWork:
    """One accepted contribution: its trainer, id, header and seal, and its payload's root."""

    trainer: PeerKey
    id: ContributionId
    header: bytes
    payload_root: Digest
    seal: Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedSet:
    """All accepted contributions of a closed round, from which the next head is computed."""

    index: int
    """Log index of round.close."""
    expected: ExpectedContribution
    set_root: Digest
    works: tuple[AcceptedWork, ...]

    @property
    def round(self) -> int:
        return self.expected.round

    @property
    def parent(self) -> HeadHash:
        """The head that the round started from."""
        return self.expected.base_head

    @property
    def k(self) -> int:
        """Entries per chunk in the round."""
        return self.expected.shape.k
