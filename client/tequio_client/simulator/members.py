"""A simulated peer: what it knows and holds, and the statements that it makes for its duties.

Which duty is next is decided by the worker's own `worker.rounds.duties`. Here are the bodies that
a trainer and its measurements would give, or those of a liar.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET

from tequio_client.simulator.lies import LieKind
from tequio_client.worker.lending.needs import MAX_HEADS
from tequio_client.worker.rounds import duties
from tequio_client.worker.rounds.duties import Duty, FollowDuty, MemberState
from tequio_client.worker.rounds.statements import MAX_ANSWERED, REASON_STOPPED
from tequio_shared.head.chain import AcceptedSet, Head
from tequio_shared.head.contribution import ALGORITHM_CODES, ContributionHeader
from tequio_shared.ids import (
    ZERO_DIGEST,
    ContributionId,
    Digest,
    HeadHash,
    PeerKey,
    digest_from_text,
    sha256,
    to_text,
)
from tequio_shared.limits import SKETCH_NUMBERS
from tequio_shared.network.full_run import FullRunView
from tequio_shared.network.standing import EXCLUDED
from tequio_shared.round.marks import marks_bytes
from tequio_shared.round.proof import RejectionReason
from tequio_shared.round.round import RoundView
from tequio_shared.statements.network import MemberLeave, MemberReady, Role
from tequio_shared.statements.runs import (
    AuditFigures,
    AuditReport,
    HeadAttest,
    HeadMeasure,
    WitnessProof,
    WorkCommit,
)

if TYPE_CHECKING:
    from tequio_client.simulator.hosts import Session, SimulatedHost
    from tequio_client.simulator.ledger import SimulatedKey

HONEST_FIGURE, FALSE_FIGURE = 100, 12_000
"""Distance of honest work, and of work not done, that an auditor reports; in 1/10000."""
_SAME_SKETCH, _OTHER_SKETCH = 9_990, 1_000
_NEGATIVE_OF_HONEST, _NEGATIVE_OF_IDLE = 0.05, 0.5
"""Odds that the gain of a contribution is negative, where the measure is clear."""
_GAIN = 5_000


def advance_head(closed: AcceptedSet) -> Head:
    """The head after that round; its roots stand for weights that nobody computes here."""
    return Head.of(
        closed.expected.run_id,
        closed.round,
        parent=closed.parent,
        set_root=closed.set_root,
        weights_root=sha256(b"simulated weights", closed.parent, closed.set_root),
        aux_root=ZERO_DIGEST,
    )


def step_root(head: Head) -> Digest:
    """Root of the step that made the head; it stands for a step that nobody computes here."""
    return sha256(b"simulated step", head.hash)


@dataclass(slots=True, kw_only=True)
class SimulatedMember:
    """One peer; the simulation alone changes it."""

    key: PeerKey
    signer: SimulatedKey
    host: SimulatedHost
    lie: LieKind
    sessions: Iterator[Session]
    roles: tuple[Role, ...]
    """Offered in each round, as `tequio worker --role` has them."""
    is_cell: bool
    is_light: bool
    """True if it follows steps of heads, and fetches no contributions."""
    seq: int = 0
    last: Digest = ZERO_DIGEST
    is_on: bool = False
    is_registered: bool = False
    pause_reason: str = ""
    held: Head | None = None
    step: Digest | None = None
    """Root of the step that made the held head, if it is here."""
    ready_index: int | None = None
    left_at: int = -1
    answered: deque[Duty] = field(default_factory=lambda: deque(maxlen=MAX_ANSWERED))
    duty: Duty | None = None
    begun_ms: int = 0
    """Beginning of the duty."""
    started: int = 0
    """Duties begun or ended so far: an event for an older one means nothing."""
    measured_ms: Counter[int] = field(default_factory=Counter)
    """Time spent on measuring the head of each round: what is done stays done."""
    on_ms: int = 0
    down: int = 0
    """Bytes fetched from peers."""
    trained: int = 0
    """Tokens, also in audits."""
    committed: int = 0

    def next_duty(
        self, view: FullRunView, closed: Mapping[HeadHash, AcceptedSet], now_ms: int
    ) -> Duty:
        """The duty that the worker would have now."""
        record = view.accounts.standings.records.get(self.key)
        is_out = record is not None and record.standing in EXCLUDED
        head, step = view.head, view.step
        state = MemberState(
            key=self.key,
            held=self.held,
            closed=closed,
            steps={head.parent: FollowDuty(head, step)} if head and step else {},
            answered=self.answered,
            ready_index=self.ready_index,
            left_at=self.left_at,
            is_light=self.is_light,
            removed_at=record.since if record is not None and is_out else -1,
            idle_reason="quarantined"
            if record is not None and is_out and now_ms < max(record.until, 1)
            else "",
            pause_reason=self.pause_reason,
            is_replay_costlier=self._is_replay_costlier,
            has_weights=self._has_weights,
        )
        return duties.next_duty(view, state)

    def _is_replay_costlier(self, goal: Head) -> bool:
        is_far = self.held is not None and goal.round > self.held.round + 1
        return is_far and not self.is_light

    def _has_weights(self, head: Head) -> bool:
        return self.held is not None and 0 <= self.held.round - head.round < MAX_HEADS

    def ready(self, held: Head) -> MemberReady:
        return MemberReady(head=to_text(held.hash), roles=self.roles)

    def leave(self) -> MemberLeave:
        return MemberLeave(reason=REASON_STOPPED)

    def attest(self, current: RoundView, held: Head) -> HeadAttest:
        return HeadAttest(
            head=to_text(held.hash),
            weights_root=to_text(held.weights_root),
            aux_root=to_text(held.aux_root),
            step_root=UNSET if self.step is None else to_text(self.step),
            vrf=to_text(self.signer.prove(current.lot_input)),
        )

    def commit(self, current: RoundView, windows: int, copy: bytes = b"") -> WorkCommit:
        """Commit to a contribution over the first `windows` windows; `copy` makes another one."""
        assert current.head is not None  # noqa: S101 - for types
        slot, manifest = current.slot_of[self.key], current.manifest
        name = sha256(b"simulated payload", self.key, current.number.to_bytes(8, "big"), copy)
        header = ContributionHeader(
            algorithm=ALGORITHM_CODES[manifest.algorithm.name],
            bits=manifest.algorithm.bits,
            k=current.k,
            inner_steps=min(manifest.inner.steps, manifest.algorithm.max_inner_steps),
            chunk_count=current.chunks,
            round=current.number,
            window_first=current.assignment[slot][0][0],
            window_count=windows,
            tokens=windows * manifest.windows.tokens,
            run_id=manifest.run_id,
            base_head=current.head.hash,
            trainer=self.key,
            payload_root=name,
        )
        return WorkCommit(header=to_text(header.pack()), seal=to_text(name), feedback="")

    def audit(
        self, view: FullRunView, current: RoundView, kinds: Mapping[PeerKey, LieKind]
    ) -> AuditReport:
        """Report on the contribution that this member's order names."""
        order = current.orders[current.slot_of[self.key]]
        case = view.accounts.audits.cases[ContributionId(digest_from_text(order.contribution))]
        lie, trainer = self.lie, kinds[case.trainer]
        is_false = lie.repeats and self._finds(case.id, trainer)
        far = FALSE_FIGURE if is_false or lie.accuses else HONEST_FIGURE
        figures = AuditFigures(hidden=far, other=far, rounding=20, leaves=30)
        return AuditReport(
            contribution=order.contribution,
            figures=UNSET if lie.repeats and not trainer.opens else figures,
            cosine=9_300,
            sketch=(0,) * SKETCH_NUMBERS,
            checked=tuple(
                # Only who repeats the training sees that an earlier sketch is not of it.
                _OTHER_SKETCH if lie.repeats and not kinds[vote.auditor].repeats else _SAME_SKETCH
                for vote in case.votes[: len(order.earlier)]
            ),
        )

    def _finds(self, contribution: ContributionId, trainer: LieKind) -> bool:
        # By the contribution: what one honest auditor finds, the others find too.
        draw = int.from_bytes(sha256(b"found", contribution)[:4], "big") / 2**32
        return draw < trainer.found

    def prove(
        self, current: RoundView, arrived: list[int], kinds: Mapping[PeerKey, LieKind]
    ) -> WitnessProof:
        """Vouch for the contributions that have arrived; a liar vouches for all, or for none."""
        ids = {slot: one.id for slot, one in current.commitments.items()}
        seen = set(ids) if not self.lie.checks else set(arrived) & ids.keys()
        vouched = {} if self.lie.slanders else {slot: ids[slot] for slot in seen}
        refused = dict.fromkeys(seen, RejectionReason.NORM) if self.lie.slanders else {}
        lot = self.signer.prove(current.audit_lot_input)
        # Nobody checks the marks: there are no payloads to read.
        body = current.proof_of(vouched, refused, lot, bytes(marks_bytes(len(vouched))))
        gains = tuple(self._gains(current, vouched.keys(), kinds))
        return msgspec.structs.replace(body, gains=gains)

    def _gains(
        self, current: RoundView, vouched: Collection[int], kinds: Mapping[PeerKey, LieKind]
    ) -> Iterator[tuple[int, int]]:
        keys = current.roster.keys
        for slot in sorted(current.gains.windows.keys()):
            if slot in vouched and keys[slot] != self.key:
                lie = kinds[keys[slot]]
                odds = _NEGATIVE_OF_HONEST if lie.work else _NEGATIVE_OF_IDLE
                draw = Random(f"{current.number} {slot}").random()  # noqa: S311 - same for all witnesses
                yield slot, -_GAIN if draw < odds else _GAIN

    def measure(self, head: Head, tokens: int) -> HeadMeasure:
        return HeadMeasure(
            head=to_text(head.hash), millibits=1_000 * tokens, size_bytes=tokens, tokens=tokens
        )
