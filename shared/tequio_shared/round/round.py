"""One round as every reader sees it: the state that its entries in the log make.

Rules: a RoundView holds only what roster, manifest and the round's entries state, and never reads a
clock; `round/fold.py` alone changes it. Coordinator, workers and auditors run this same code on the
same entries, so they agree.

Theory: `round.roster` fixes the members, and the seed of their lots. Members then attest the head
that they hold, and draw their lots (`head.attest`). When ceil(2/3) of the slots attest one head,
`round.open` names it and the digest of the lots; committee and Bloom keys follow from these.
Trainers commit (`work.commit`), the
coordinator ends the training phase (`round.witness`), elected witnesses send their proofs, and
`round.close` or `round.void` states what follows from them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from msgspec import UNSET, UnsetType

from tequio_shared import vrf
from tequio_shared.errors import RefusedError
from tequio_shared.head.chain import AcceptedSet, AcceptedWork, Head, NextHead
from tequio_shared.head.contribution import (
    ContributionHeader,
    ExpectedContribution,
    RecordShape,
    WindowAssignment,
    broken_header,
)
from tequio_shared.head.head import set_root
from tequio_shared.ids import (
    ZERO_DIGEST,
    ContributionId,
    Digest,
    NetworkId,
    PeerKey,
    digest_from_text,
    from_text,
    sha256,
    to_text,
)
from tequio_shared.round import assignment as round_assignment
from tequio_shared.round import audits, lots, proof
from tequio_shared.round.assignment import Ranges
from tequio_shared.round.documents import (
    TRAINER,
    WITNESS,
    AuditOrder,
    Roster,
    RoundResult,
    SlotResult,
)
from tequio_shared.round.gain import NO_SAMPLE, GainSample
from tequio_shared.round.points import given_gflop, witness_gflop
from tequio_shared.round.proof import MEASURED, RejectionReason, Verdict, WitnessFindings
from tequio_shared.statements.runs import (
    AuditReport,
    HeadAttest,
    HeadPromote,
    RoundClose,
    RoundOpen,
    WitnessProof,
)

if TYPE_CHECKING:
    from tequio_shared.round.manifest import Manifest


class RoundPhase(Enum):
    """Phase of a round, from its roster to its end."""

    ATTEST = "attest"
    TRAIN = "train"
    WITNESS = "witness"
    OVER = "over"


@dataclass(frozen=True, slots=True, kw_only=True)
class Commitment:
    """A trainer's commitment as logged; `at_ms` is the reader's time of arrival."""

    index: int
    header: ContributionHeader
    id: ContributionId
    seal: Digest
    feedback: Digest  # that training started with; ZERO_DIGEST: zeros
    at_ms: int
    parts: tuple[tuple[PeerKey, int], ...] = ()  # of its points for other keys, in 1/1000


@dataclass(slots=True, kw_only=True)
class RoundView:
    """The log's content about one round, and what follows from it."""

    net: NetworkId
    manifest: Manifest
    number: int
    roster: Roster
    roster_index: int  # log index of round.roster
    head: Head | None  # the promoted one; None before the first promotion
    next_head: NextHead | None  # set while a closed round (or run.open) still awaits its head
    lot_seed: bytes  # the coordinator's output, from which all lots of the round are drawn
    check_proof: vrf.CheckProof = vrf.verify
    phase: RoundPhase = RoundPhase.ATTEST
    is_judged: bool = False  # the witness phase began
    draw_seed: bytes = b""  # the coordinator's output in round.witness
    attests: dict[int, HeadAttest] = field(default_factory=dict)
    lots: dict[int, bytes] = field(default_factory=dict)  # by slot that attested
    open: RoundOpen | None = None
    commitments: dict[int, Commitment] = field(default_factory=dict)
    proofs: dict[int, WitnessFindings] = field(default_factory=dict)
    gains: GainSample = NO_SAMPLE  # what the witnesses measure, once the witness phase began
    audit_lots: dict[int, bytes] = field(default_factory=dict)  # by slot that sent a proof
    orders: dict[int, AuditOrder] = field(init=False)  # by slot of the auditor
    reports: dict[int, tuple[int, AuditReport]] = field(default_factory=dict)
    """Log index and audit, by slot of the auditor."""
    # What the round still waits for, by slot: so a statement costs the same in a large round.
    without_lot: set[int] = field(init=False)
    without_work: set[int] = field(init=False)
    without_report: set[int] = field(init=False)
    without_proof: set[int] = field(init=False)
    votes: Counter[str] = field(init=False)  # by head, of slots with the role witness
    slot_of: dict[PeerKey, int] = field(init=False)
    assignment: dict[int, Ranges] = field(init=False)
    chunks: int = field(init=False)  # of 4096 elements
    elected: tuple[int, ...] = ()
    seed: Digest = ZERO_DIGEST
    _expected: ExpectedContribution | None = field(init=False, default=None, compare=False)
    _verdicts: tuple[tuple[int, int], proof.Verdicts] | None = field(
        init=False, default=None, compare=False
    )
    """With the numbers of commitments and proofs that they are of."""

    def __post_init__(self) -> None:
        self.slot_of = {key: slot for slot, key in self.roster.keys.items()}
        self.assignment = self.roster.assignment
        self.orders = {order.slot: order for order in self.roster.audits}
        witnesses = set(self.roster.slots_of(WITNESS))
        self.without_lot = witnesses - self.lots.keys()
        self.without_work = self.assignment.keys() - self.commitments.keys()
        self.without_report = self.orders.keys() - self.reports.keys()
        self.without_proof = set(self.elected) - self.proofs.keys()
        attests = self.attests.items()
        self.votes = Counter(one.head for slot, one in attests if slot in witnesses)
        self.chunks = self.manifest.chunks

    @property
    def lot_input(self) -> bytes:
        """Input of every member's verifiable random function in this round."""
        return lots.lot_input(self.net, self.manifest.run_id, self.number, self.lot_seed)

    @property
    def audit_lot_input(self) -> bytes:
        """Input of every witness's verifiable random function, once the commitments are fixed."""
        return audits.lot_input(self.net, self.manifest.run_id, self.number, self.draw_seed)

    @property
    def draw_input(self) -> bytes:
        """Input of the coordinator's function at the end of training."""
        ids = {slot: one.id for slot, one in self.commitments.items()}
        return lots.draw_input(self.net, self.manifest.run_id, self.number, ids)

    def expected_head(self, weights_root: Digest, aux_root: Digest) -> Head:
        """Head that these roots would make, after the last closed round."""
        made = self.next_head or self.head
        if made is None:
            raise RefusedError("no-head", "the run has neither a head nor a pending one")
        return Head.of(
            self.manifest.run_id,
            made.round,
            parent=made.parent,
            set_root=made.set_root,
            weights_root=weights_root,
            aux_root=aux_root,
        )

    def settled_head(self) -> Head | None:
        """Head that is no longer put to a vote: the promoted one, or the manifest's head 0."""
        if self.next_head is None:
            return self.head
        if self.next_head.round:
            return None
        model = self.manifest.model
        return self.expected_head(
            digest_from_text(model.weights_root), digest_from_text(model.aux_root)
        )

    def agreed_head(self) -> Head | None:
        """Head that ceil(2/3) of the slots with the role witness attest, if there is one.

        Newcomers have that role only where there are too few others, so they cannot stop a run.
        """
        voters = len(self.roster.slots_of(WITNESS))
        # At most one head can have two thirds, so the most common one is enough.
        for text, count in self.votes.most_common(1):
            # At least one vote: a roster without witnesses must not promote a head by itself.
            if count >= max(round_assignment.quorum(voters), 1):
                attest = next(one for one in self.attests.values() if one.head == text)
                return self.expected_head(*attested_roots(attest))
        return None

    def _agreed_step(self, head: str) -> str | UnsetType:
        """Root of the step that most witnesses name who attest that head; of equals the least.

        A wrong one harms nobody: the weights that it gives have another root than the head's.
        """
        said = (self.attests[slot].step_root for slot in self.holders(head))
        named = Counter(one for one in said if one is not UNSET)
        return min(named, key=lambda one: (-named[one], one), default=UNSET)

    def holders(self, head: str) -> dict[int, bytes]:
        """Lots of the slots with the role witness that attest this head."""
        return {
            slot: self.lots[slot]
            for slot in self.roster.slots_of(WITNESS)
            if slot in self.attests and self.attests[slot].head == head
        }

    def committee(self, head: str) -> tuple[int, ...]:
        """Slots that would be elected if the round opened with this head now, ascending."""
        seats = lots.seat_count(len(self.roster.slots_of(WITNESS)))
        return lots.committee(self.holders(head), seats)

    def promotion(self, head: Head) -> HeadPromote:
        return HeadPromote(
            head=to_text(head.hash),
            parent=to_text(head.parent),
            set_root=to_text(head.set_root),
            weights_root=to_text(head.weights_root),
            aux_root=to_text(head.aux_root),
            step_root=self._agreed_step(to_text(head.hash)),
            attests=sum(one.head == to_text(head.hash) for one in self.attests.values()),
        )

    @property
    def k(self) -> int:
        """Values kept per chunk in this round."""
        return self.shape.k

    @property
    def is_training(self) -> bool:
        """False of the rounds after the last training, in which members only attest and audit."""
        return bool(self.assignment)

    @property
    def trainers(self) -> tuple[int, ...]:
        """Slots with windows to train."""
        return tuple(self.assignment)

    @property
    def shape(self) -> RecordShape:
        return self.manifest.record_shape(len(self.assignment))

    @property
    def pieces(self) -> int:
        """Pieces of each contribution's payload (docs/protocol.md, 11.3)."""
        return self.shape.count_pieces(self.chunks)

    def expected(self) -> ExpectedContribution:
        """Requirements on every contribution of the round; needs a promoted head."""
        if self.head is None:
            raise RefusedError("no-head", "the round has no head")
        if self._expected is None or self._expected.base_head != self.head.hash:
            self._expected = self._make_expected(self.head)
        return self._expected

    def _make_expected(self, head: Head) -> ExpectedContribution:
        keys = self.roster.keys
        return ExpectedContribution(
            shape=self.shape,
            chunks=self.chunks,
            run_id=self.manifest.run_id,
            round=self.number,
            base_head=head.hash,
            assigned={
                keys[slot]: WindowAssignment(
                    first=ranges[0][0], count=round_assignment.count_windows(ranges)
                )
                for slot, ranges in self.assignment.items()
            },
            window_tokens=self.manifest.windows.tokens,
            max_inner_steps=self.manifest.algorithm.max_inner_steps,
        )

    def opening(self, opened_ms: int) -> RoundOpen:
        """Body of round.open at that time; needs a promoted head."""
        if self.head is None:
            raise RefusedError("no-head", "a round cannot open before its head is promoted")
        elected = self.committee(to_text(self.head.hash))
        train_by = opened_ms + self.roster.train_ms
        return RoundOpen(
            head=to_text(self.head.hash),
            roster=to_text(self.roster.digest),
            # Of the seated alone: else silence would steer the next seed at the price of no seat.
            lots=to_text(lots.lots_digest({slot: self.lots[slot] for slot in elected})),
            k=self.k,
            opened=opened_ms,
            train_by=train_by,
            close_by=train_by + self.manifest.rounds.witness,
        )

    def verdicts(self) -> proof.Verdicts:
        """Verdict and reason by committed slot, from the proofs so far."""
        counted = len(self.commitments), len(self.proofs)
        if self._verdicts is None or self._verdicts[0] != counted:
            verdicts = proof.verdicts(self.elected, self.proofs, self.commitments)
            self._verdicts = counted, verdicts
        return self._verdicts[1]

    def count_accusers(self, slot: int, reason: RejectionReason) -> int:
        """Number of other witnesses that give that reason against the slot."""
        return sum(
            seen.rejected.get(slot) == reason
            for witness, seen in self.proofs.items()
            if witness != slot
        )

    def accepted(self) -> dict[int, Commitment]:
        return {
            slot: self.commitments[slot]
            for slot, (verdict, _) in self.verdicts().items()
            if verdict is Verdict.ACCEPTED
        }

    def auditable(self) -> dict[int, Commitment]:
        """Contributions of which audits are drawn: accepted, or refused over a measure alone."""
        return {
            slot: self.commitments[slot]
            for slot, (verdict, reason) in self.verdicts().items()
            if verdict is Verdict.ACCEPTED or reason in MEASURED
        }

    def accepted_set(self, index: int) -> AcceptedSet:
        """Accepted set of the round, whose round.close at that log index was applied."""
        works = tuple(
            AcceptedWork(
                trainer=one.header.trainer,
                id=one.id,
                header=one.header.pack(),
                payload_root=one.header.payload_root,
                seal=one.seal,
            )
            for one in self.accepted().values()
        )
        return AcceptedSet(
            index=index,
            expected=self.expected(),
            set_root=set_root([work.id for work in works]),
            works=works,
        )

    def has_quorum(self) -> bool:
        """Return whether ceil(2/3) of the elected have sent their proofs."""
        return proof.has_quorum(self.elected, self.proofs)

    def measured_ms(self) -> dict[int, int]:
        """Time from round.open to each commitment's arrival here, at least 1 ms."""
        opened = self.open.opened if self.open else 0
        # At least 1: 0 means no commitment, and a clock set back must not make time negative.
        return {slot: max(one.at_ms - opened, 1) for slot, one in self.commitments.items()}

    def result(self, measured_ms: Mapping[int, int]) -> RoundResult:
        """Result document from the proofs so far and the coordinator's times."""
        verdicts = self.verdicts()
        earned = {
            slot: self.manifest.gflop(one.header.tokens) for slot, one in self.accepted().items()
        }
        audited = {
            slot: self.manifest.gflop(self.orders[slot].tokens)
            for slot, (_, report) in self.reports.items()
            if not report.declines
        }
        given = {
            slot: given_gflop(earned[slot], one.parts)
            for slot, one in self.accepted().items()
            if one.parts
        }
        witness = witness_gflop(
            sum(earned.values()), self.manifest.witness_share_bp, len(self.elected)
        )

        # Sending a proof is not enough: vouching blindly must not pay.
        paid = {s for s, seen in self.proofs.items() if proof.earns(s, seen, verdicts)}

        def row(slot: int) -> SlotResult:
            without = Verdict.AUDITED if slot in audited else Verdict.SILENT
            verdict, reason = verdicts.get(slot, (without, RejectionReason.NONE))
            one = self.commitments.get(slot)
            done = one.header.window_count if one and verdict is Verdict.ACCEPTED else 0
            away = given.get(slot, ())
            whole = earned.get(slot, 0) + audited.get(slot, 0)
            return SlotResult(
                contribution=to_text(one.id) if one else "",
                verdict=int(verdict),
                reason=int(reason),
                windows=done,
                ms=measured_ms[slot] if one else 0,
                trainer_gflop=whole - sum(gflop for _, gflop in away),
                witness_gflop=witness if slot in paid else 0,
                given=tuple((to_text(key), gflop) for key, gflop in away) or UNSET,
            )

        return RoundResult(slots=tuple(row(slot) for slot in range(len(self.roster.members))))

    def closing(self, result: RoundResult) -> RoundClose:
        ids = [one.id for one in self.accepted().values()]
        return RoundClose(
            set_root=to_text(set_root(ids)),
            accepted=len(ids),
            proofs=len(self.proofs),
            result=to_text(sha256(result.encode())),
        )

    def is_silent(self, slot: int) -> bool:
        """Return whether the slot owed the round a statement and sent none."""
        if self.open is None:
            return slot not in self.attests
        # Before the witness phase an elected witness has had nothing to answer.
        owes = slot in self.assignment or (self.is_judged and slot in self.elected)
        # An audit that is declined does not count as work.
        has_audited = slot in self.reports and not self.reports[slot][1].declines
        said = slot in self.commitments or slot in self.proofs or has_audited
        return owes and not said

    def unfinished(self, accepted: Mapping[int, Commitment]) -> Ranges:
        """Windows of this round that nobody trained: they return to the queue."""
        left: list[round_assignment.Range] = []
        for slot, ranges in self.assignment.items():
            one = accepted.get(slot)
            done = one.header.window_count if one else 0
            left += round_assignment.split_windows(ranges, done)[1]
        return round_assignment.merge_ranges(left)

    def broken_rule(self, author: PeerKey, header: ContributionHeader) -> str:
        """First rule of docs/protocol.md (validity) that a member's header breaks, or ''."""
        broken = next(broken_header(header, self.expected()), "")
        # A header names its trainer; under another key it would be a copied contribution.
        return broken or ("" if header.trainer == author else "trainer")

    def proof_of(
        self,
        vouched: Mapping[int, ContributionId],
        rejected: Mapping[int, RejectionReason],
        vrf_proof: bytes,
        marks: bytes,
    ) -> WitnessProof:
        """Proof of a witness that checked these; `vrf_proof` is its for `audit_lot_input`.

        `marks` are of those that it vouches for. Raises RefusedError before the head is promoted.
        """
        if self.head is None:
            raise RefusedError("no-head", "the round has no head")
        return proof.make_proof(
            seed=self.seed,
            slots=len(self.roster.members),
            trainers=len(self.assignment),
            vouched=vouched,
            rejected=rejected,
            head=self.head.hash,
            vrf=vrf_proof,
            marks=marks,
        )


def attested_roots(attest: HeadAttest) -> tuple[Digest, Digest]:
    return Digest(from_text(attest.weights_root)), Digest(from_text(attest.aux_root))


def is_trainer(view: RoundView, key: PeerKey) -> bool:
    slot = view.slot_of.get(key)
    if slot is None or slot not in view.assignment:
        return False
    return TRAINER in view.roster.members[slot].roles
