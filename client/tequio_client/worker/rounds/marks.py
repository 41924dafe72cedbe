"""Marks of witness proofs: made of what this worker has read, and checked in others' proofs.

A witness marks a piece of each contribution that it vouches for (`tequio_shared.round.marks`). When
the round has closed, it looks at some marks of the other witnesses, drawn by itself, and reports a
wrong one with the piece that shows it. A witness that read nothing has none right, so a few looks
find it; they cost the same in a round of any size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from secrets import SystemRandom

import structlog
import trio

from tequio_client.worker.rounds.statements import RunContext
from tequio_shared import vrf
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import ContributionId, Digest, PeerKey, from_text
from tequio_shared.log import merkle
from tequio_shared.round import marks
from tequio_shared.round.evidence import UnreadEvidence, find_unread
from tequio_shared.round.round import RoundView
from tequio_shared.statements.runs import RoundClose, RoundOpen, WitnessProof
from tequio_shared.statements.statement import Statement

log = structlog.get_logger(__name__)

LOOKS = 64
"""Marks of others that a witness checks in a round: at most 64 pieces are read."""


class UnreadableError(Exception):
    """A piece of the contribution in this slot is not here, or damaged."""

    def __init__(self, slot: int) -> None:
        super().__init__(f"the contribution of slot {slot} cannot be read")
        self.slot = slot


@dataclass(frozen=True, slots=True)
class _Said:
    """A proof in the log, at this index."""

    index: int
    author: PeerKey
    body: WitnessProof


class ProofMarks:
    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._said: list[_Said] = []  # of the round in progress

    async def apply(self, index: int, statement: Statement, current: RoundView) -> None:
        """Follow the log: remember the proofs of others, and check them when the round closes."""
        match statement.body:
            case RoundOpen():
                self._said.clear()
            case WitnessProof() as body if statement.author != self._context.key:
                self._said.append(_Said(index, statement.author, body))
            case RoundClose() if current.slot_of.get(self._context.key) in current.elected:
                await self._check(current)

    async def make(
        self, current: RoundView, vouched: Mapping[int, ContributionId], vrf_proof: bytes
    ) -> tuple[dict[int, ContributionId], bytes]:
        """Marks of a proof that vouches for these, less those that can no longer be read."""
        lot, left = vrf.output(vrf_proof), dict(vouched)
        while True:
            make = partial(
                marks.make_marks, lot, left, current.pieces, partial(self._read, current)
            )
            try:
                return left, await trio.to_thread.run_sync(make)
            except UnreadableError as err:
                log.warning("no word on a contribution", round=current.number, why=str(err))
                del left[err.slot]

    async def _check(self, current: RoundView) -> None:
        """Look at some marks of the closed round, and report the wrong ones."""
        for said, shown in await trio.to_thread.run_sync(self._find_wrong, current):
            self._context.reports.report_unread(said.author, current.number, said.index, shown)

    def _find_wrong(self, current: RoundView) -> list[tuple[_Said, UnreadEvidence]]:
        looks = [
            (said, order)
            for said in self._said
            for order in range(len(from_text(said.body.marks, None)) // marks.MARK_BYTES)
        ]
        chosen = SystemRandom().sample(looks, min(len(looks), LOOKS))
        shown = ((said, self._evidence(current, said.body, order)) for said, order in chosen)
        return [(said, wrong) for said, wrong in shown if wrong is not None]

    def _evidence(
        self, current: RoundView, body: WitnessProof, order: int
    ) -> UnreadEvidence | None:
        """Evidence that the mark of that number is wrong; None if it is right, or not known."""
        try:
            return find_unread(current, body, order, partial(self._read, current), self._leaves)
        except UnreadableError:
            return None

    def _leaves(self, root: Digest) -> Sequence[bytes]:
        tree = self._context.store.tree(root)
        return () if tree is None else tree.leaves

    def _read(self, current: RoundView, slot: int, piece: int) -> bytes:
        """Read a piece of a contribution; raises UnreadableError unless it is here and sound."""
        root = current.commitments[slot].header.payload_root
        try:
            records, leaves = self._context.store.read_pieces(root, piece, 1), self._leaves(root)
        except UserFacingError as err:  # of the disk
            raise UnreadableError(slot) from err
        if records is None or [merkle.leaf_hash(records)] != list(leaves[piece : piece + 1]):
            raise UnreadableError(slot)
        return records
