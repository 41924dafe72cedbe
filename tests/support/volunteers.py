"""Members of a swarm in memory: each signs what it would send next, given a run's view.

draft = volunteer.duty(view)
entry = volunteer.sign(net, manifest.run_id, draft, now_ms)  # then post entry.leaf()
volunteer.record_logged(entry)                               # once it was logged
arithmetic.observe(view)                                     # after every entry of the run
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET

from tequio_shared.head.contribution import ContributionHeader
from tequio_shared.ids import (
    ZERO_DIGEST,
    ContributionId,
    NetworkId,
    RunId,
    digest_from_text,
    sha256,
    to_text,
)
from tequio_shared.limits import SKETCH_NUMBERS
from tequio_shared.network.full_run import FullRunView
from tequio_shared.network.run import first_head
from tequio_shared.network.run_states import RunState
from tequio_shared.round.proof import RejectionReason
from tequio_shared.round.round import RoundPhase, RoundView
from tequio_shared.statements.network import MemberLeave, MemberReady
from tequio_shared.statements.runs import (
    AuditFigures,
    AuditReport,
    HeadAttest,
    WitnessProof,
    WorkCommit,
)
from tequio_shared.statements.statement import Entry, make, sign
from tests.support.commitments import commitment
from tests.support.marks import marks_of
from tests.support.tiny_run import SwarmArithmetic, signer

if TYPE_CHECKING:
    from tequio_shared.ids import PeerKey
    from tequio_shared.statements.statement import Body


@dataclass(frozen=True, slots=True)
class StatementDraft:
    """A statement before it is signed: its body, and its round if it is about one."""

    body: Body
    round: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureRates:
    """Chances that a volunteer fails, in percent, drawn once per round and phase."""

    silent: int = 0
    misstating: int = 0
    """Chance to attest another head, and so not to be elected."""
    lying: int = 0
    """Chance of a false header, and of a false proof."""
    leaving: int = 0
    partial: int = 0
    """Chance to finish only some of its windows."""


HONEST = FailureRates()


class Volunteer:
    """One member: its key, its chain of statements and its failure rates."""

    def __init__(
        self,
        name: str,
        arithmetic: SwarmArithmetic,
        *,
        roles: tuple[str, ...] = ("trainer", "witness"),
        failure_rates: FailureRates = HONEST,
        seed: int = 0,
    ) -> None:
        self.signer = signer(name)
        self.key = self.signer.key
        self.roles = roles
        self.failure_rates = failure_rates
        self.audits = True
        self.parts: dict[PeerKey, int] = {}  # of its points for other keys, in 1/1000
        self.seq = 0
        self.last = ZERO_DIGEST
        self._arithmetic = arithmetic
        self._rng = Random(f"{name} {seed}")  # fixed on purpose
        self._failures: dict[tuple[int, RoundPhase, str], bool] = {}
        self._headers: dict[int, ContributionHeader] = {}

    def duty(self, view: FullRunView) -> StatementDraft | None:
        """The statement to send now; the same until the log grows."""
        standing = view.accounts.members.get(self.key)
        current = view.round
        if current is not None and self._fails(current, "silent"):
            return None
        if standing is None or not standing.is_active:
            resting = view.state in (RunState.COOLDOWN, RunState.PAUSED, RunState.FINISHED)
            return None if resting else self.ready(view)
        slot = current.slot_of.get(self.key) if current else None
        if current is None or slot is None or current.phase is RoundPhase.OVER:
            return None
        if self._fails(current, "leaving"):
            return StatementDraft(MemberLeave(reason=1))
        return self._round_duty(view, current, slot)

    def sign(self, net: NetworkId, run: RunId | None, draft: StatementDraft, now_ms: int) -> Entry:
        """Sign the next statement of this author's chain."""
        statement = make(
            body=draft.body,
            author=self.key,
            seq=self.seq + 1,
            ts=now_ms,
            exp=now_ms + 60_000,
            prev=self.last,
            run=run,
            round=draft.round,
        )
        return sign(net, statement, self.signer)

    def record_logged(self, entry: Entry) -> None:
        """Continue the chain after this entry, which is in the log."""
        self.seq, self.last = entry.statement.seq, entry.statement.digest

    def give_up(self, view: FullRunView) -> None:
        """Send nothing more in this phase, after a refusal."""
        if view.round is not None:
            self._failures[view.round.number, view.round.phase, "silent"] = True

    def _fails(self, current: RoundView, what: str) -> bool:
        key = (current.number, current.phase, what)
        if key not in self._failures:
            chance: int = getattr(self.failure_rates, what)
            self._failures[key] = self._rng.randrange(100) < chance
        return self._failures[key]

    def ready(self, view: FullRunView) -> StatementDraft:
        """A member.ready that names the head it would fetch."""
        head = view.head or first_head(view.manifest)
        body = MemberReady(head=to_text(head.hash), roles=self.roles)  # type: ignore[arg-type]  # roles are given by tests
        return StatementDraft(body)

    def _round_duty(
        self, view: FullRunView, current: RoundView, slot: int
    ) -> StatementDraft | None:
        match current.phase:
            case RoundPhase.ATTEST if slot not in current.attests:
                return StatementDraft(self._attest(view, current), current.number)
            case RoundPhase.TRAIN if self._owes_audit(current, slot):
                return StatementDraft(self.audit_of(view, current, slot), current.number)
            case RoundPhase.TRAIN if slot in current.trainers and slot not in current.commitments:
                return StatementDraft(self._work(current, slot), current.number)
            case RoundPhase.WITNESS if slot in current.elected and slot not in current.proofs:
                return StatementDraft(self._proof(current), current.number)
        return None

    def _attest(self, view: FullRunView, current: RoundView) -> HeadAttest:
        weights, aux = self._arithmetic.roots_of(view)
        if self._fails(current, "misstating"):
            weights = sha256(b"another", weights, self.key)
        head = current.expected_head(weights, aux)
        return HeadAttest(
            head=to_text(head.hash),
            weights_root=to_text(weights),
            aux_root=to_text(aux),
            vrf=to_text(self.signer.prove(current.lot_input)),
        )

    def contribution_to(self, current: RoundView) -> ContributionHeader:
        """The contribution that this member commits to in a round; the same at every call."""
        if current.number not in self._headers:
            share = current.roster.members[current.slot_of[self.key]].share
            done = self._rng.randint(1, share) if self._fails(current, "partial") else share
            if self._fails(current, "lying"):
                done = share + 1
            self._headers[current.number] = self._arithmetic.contribute(
                current, self.key, self._rng, done
            )
        return self._headers[current.number]

    def _work(self, current: RoundView, slot: int) -> WorkCommit:
        header = self.contribution_to(current)
        payload = self._arithmetic.payloads[header.payload_root]
        return commitment(header, payload, parts=self.parts)

    def _owes_audit(self, current: RoundView, slot: int) -> bool:
        return self.audits and slot in current.orders and slot not in current.reports

    def audit_of(self, view: FullRunView, current: RoundView, slot: int) -> AuditReport:
        """The report of an auditor that has an order in the round."""
        truth, order = self._arithmetic, current.orders[slot]
        case = view.accounts.audits.cases[ContributionId(digest_from_text(order.contribution))]
        is_done = case.trainer not in truth.idle or self.key in truth.lazy
        far = 100 if is_done and self.key not in truth.accusers else 12_000
        figures = AuditFigures(hidden=far, other=far, rounding=20, leaves=30)
        is_lazy = self.key in truth.lazy
        shown = UNSET if case.trainer in truth.closed and not is_lazy else figures
        return AuditReport(
            contribution=order.contribution,
            figures=shown,
            cosine=9_300,
            sketch=(0,) * SKETCH_NUMBERS,
            checked=tuple(
                # Only who repeats the training sees that an earlier sketch is not of it.
                1_000 if vote.auditor in truth.lazy and not is_lazy else 9_990
                # Those of which the order told: others reported since, while the order waited.
                for vote in case.votes[: len(order.earlier)]
            ),
        )

    def _proof(self, current: RoundView) -> WitnessProof:
        ids = {slot: one.id for slot, one in current.commitments.items()}
        lies = self._fails(current, "lying")
        keys, blames = current.roster.keys, self._arithmetic.blames
        hidden = self._arithmetic.hidden - {self.key}
        ids = {slot: name for slot, name in ids.items() if keys[slot] not in hidden}
        bad = {slot: blames[keys[slot]] for slot in ids if keys[slot] in blames}
        vouched = {} if lies else {slot: ids[slot] for slot in ids.keys() - bad.keys()}
        assert current.head is not None
        lot = self.signer.prove(current.audit_lot_input)
        marks = marks_of(current, vouched, lot, self._arithmetic.payloads)
        rejected = dict.fromkeys(ids, RejectionReason.NORM) if lies else bad
        body = current.proof_of(vouched, rejected, lot, marks)
        gains = self._arithmetic.gains(current, vouched, self.key)
        return msgspec.structs.replace(body, gains=gains)
