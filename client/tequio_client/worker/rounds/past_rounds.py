"""The last closed rounds: what an audit of one of their contributions has to know, and its files.

Rules. A round is recorded when the view closes it, so a worker that joined later, or was restarted,
lacks the older ones. The weights of each round's base head and its accepted payloads are pinned in
the store, whether they are here already or still arrive. Where the storage limit has no room, the
oldest rounds lose their pins first: this worker can then not audit them once they are evicted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import structlog

from tequio_client.worker.lending.needs import WORKING_HEADS, WORKING_ROUNDS
from tequio_client.worker.rounds.catch_up import payload_ref
from tequio_client.worker.store.store import Store
from tequio_client.worker.store.trees import TreeRef, head_refs
from tequio_shared.head.chain import Head
from tequio_shared.head.contribution import ContributionHeader, RecordShape
from tequio_shared.ids import ContributionId, Digest, PeerKey
from tequio_shared.limits import REVIEW_ROUNDS
from tequio_shared.round.assignment import Ranges
from tequio_shared.round.manifest import Manifest
from tequio_shared.round.round import RoundView

log = structlog.get_logger(__name__)

PAST_ROUNDS = REVIEW_ROUNDS + 1
"""The last audit of a contribution of round t is due in round t + 6, when t is the sixth last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PastWork:
    """A contribution of a closed round that may be audited, and the round's part in it."""

    round: int
    base: Head
    """The head that its training started from."""
    shape: RecordShape
    slot: int
    id: ContributionId
    trainer: PeerKey
    header: ContributionHeader
    seal: Digest
    feedback: Digest
    """Root of the error feedback that it started with; ZERO_DIGEST: zeros."""
    windows: Ranges
    """All windows that the trainer was assigned."""
    payload: TreeRef

    @property
    def k(self) -> int:
        return self.shape.k


@dataclass(frozen=True, slots=True, kw_only=True)
class _PastRound:
    number: int
    works: Mapping[ContributionId, PastWork]
    content: Mapping[Digest, int]  # sizes in bytes of base weights and payloads, by root
    payload_bytes: int  # of all payloads


class PastRounds:
    """The closed rounds that this worker saw, at most `PAST_ROUNDS`, and their pins."""

    def __init__(self, manifest: Manifest, store: Store) -> None:
        self._manifest = manifest
        self._store = store
        self._rounds: deque[_PastRound] = deque()  # oldest first
        self._pinned: deque[_PastRound] = deque()  # the last of these

    def record(self, closed: RoundView) -> None:
        """Record a round that the view has just closed; one that is known changes nothing.

        Costs time in the number of its accepted contributions.
        """
        base = closed.head
        if base is None or (self._rounds and closed.number <= self._rounds[-1].number):
            return
        works = {one.id: one for one in _works(closed, base)}
        weights = head_refs(self._manifest, base)[0]
        payloads = {one.payload.root: one.payload.size_bytes for one in works.values()}
        past = _PastRound(
            number=closed.number,
            works=works,
            content={weights.root: weights.size_bytes, **payloads},
            payload_bytes=sum(payloads.values()),
        )
        self._rounds.append(past)
        self._pinned.append(past)
        for root in past.content:
            self._store.pin(root)
        while len(self._rounds) > PAST_ROUNDS:
            gone = self._rounds.popleft()
            if self._pinned[0] is gone:
                self._unpin_oldest()
        while self._pinned and not self._has_room(past.payload_bytes):
            log.info("past round not kept: no room", round=self._pinned[0].number)
            self._unpin_oldest()

    def find(self, number: int, name: ContributionId) -> PastWork | None:
        """The accepted contribution with that id, if the round is one of those recorded."""
        past = next((one for one in self._rounds if one.number == number), None)
        return None if past is None else past.works.get(name)

    def works(self, number: int) -> tuple[PastWork, ...]:
        """All accepted contributions of a recorded round, in the order of their slots."""
        past = next((one for one in self._rounds if one.number == number), None)
        return () if past is None else tuple(past.works.values())

    def weights_path(self, work: PastWork) -> Path | None:
        """Master copy of the head that it started from; None if it is not here."""
        root = work.base.weights_root
        return self._store.tree_path(root) if self._store.has_tree(root) else None

    def release(self) -> None:
        """Unpin everything, when the run has ended."""
        while self._pinned:
            self._unpin_oldest()

    def _unpin_oldest(self) -> None:
        for root in self._pinned.popleft().content:
            self._store.unpin(root)

    def _has_room(self, payload_bytes: int) -> bool:
        # By the sizes of what is wanted, not of what is here: the rest may arrive at any time, and
        # a store that is full of pins would stop the worker at its next head.
        wanted: dict[Digest, int] = {}
        for past in self._pinned:
            wanted |= past.content  # consecutive rounds share their base after a void one
        manifest = self._manifest
        frozen = sum(one.size_bytes for one in manifest.frozen.files) if manifest.frozen else 0
        head = manifest.weights_bytes + manifest.aux_bytes
        working = WORKING_HEADS * head + WORKING_ROUNDS * payload_bytes + frozen
        return sum(wanted.values()) + working <= self._store.quota_bytes


def _works(closed: RoundView, base: Head) -> list[PastWork]:
    return [
        PastWork(
            round=closed.number,
            base=base,
            shape=closed.shape,
            slot=slot,
            id=one.id,
            trainer=one.header.trainer,
            header=one.header,
            seal=one.seal,
            feedback=one.feedback,
            windows=closed.assignment[slot],
            payload=payload_ref(one.header.payload_root, closed.chunks, closed.shape),
        )
        for slot, one in sorted(closed.auditable().items())
    ]
