"""What the entries of one round say, and what follows from them: reads only.

Rules: nothing here looks at a clock or changes anything; `round.RoundView` takes the entries.
Whoever holds the same entries reads the same heads, beacon, verdicts and result from them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Self

from tequio_shared import election, points, proof, windows
from tequio_shared.contribution import (
    Assignment,
    Expected,
    Header,
    RecordShape,
    broken_header,
    k_for_trainers,
)
from tequio_shared.documents import WITNESS, Result, Roster, SlotResult
from tequio_shared.errors import RefusedError
from tequio_shared.head import head_hash, set_root
from tequio_shared.ids import (
    ZERO_DIGEST,
    ContributionId,
    Digest,
    HeadHash,
    NetworkId,
    PeerKey,
    RunId,
    digest_from_text,
    from_text,
    sha256,
    to_text,
)
from tequio_shared.proof import Reason, Seen, Verdict
from tequio_shared.statements.rounds import (
    HeadAttest,
    HeadPromote,
    RoundClose,
    RoundOpen,
    WitnessProof,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tequio_shared.manifest import Manifest
    from tequio_shared.windows import Ranges


class Phase(Enum):
    """Where a round stands."""

    ATTEST = "attest"
    TRAIN = "train"
    WITNESS = "witness"
    OVER = "over"


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """A canonical head and what its hash is made of (docs/protocol.md, head)."""

    hash: HeadHash
    round: int
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
        """The head of round `made` that those make; its hash follows from them."""
        return cls(
            hash=head_hash(run, made, parent, set_root, weights_root, aux_root),
            round=made,
            parent=parent,
            set_root=set_root,
            weights_root=weights_root,
            aux_root=aux_root,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NextHead:
    """A head that members still have to compute and state: what is fixed about it already."""

    round: int
    parent: HeadHash
    set_root: Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Commitment:
    """A trainer's commitment as logged; `at_ms` is when the reader got it."""

    index: int
    header: Header
    id: ContributionId
    at_ms: int


@dataclass(slots=True, kw_only=True)
class RoundState:
    """What the log says about one round so far; `RoundView` alone writes it."""

    net: NetworkId
    manifest: Manifest
    number: int
    roster: Roster
    roster_index: int  # log index of round.roster
    head: Head | None  # the promoted one; None before the first promotion
    next_head: NextHead | None  # set when a closed round (or run.open) still awaits its head
    commits: Mapping[PeerKey, Digest] = field(default_factory=dict)  # at the roster; none if light
    phase: Phase = Phase.ATTEST
    is_judged: bool = False  # the witness phase began
    attests: dict[int, HeadAttest] = field(default_factory=dict)
    open: RoundOpen | None = None
    commitments: dict[int, Commitment] = field(default_factory=dict)
    proofs: dict[int, Seen] = field(default_factory=dict)
    slot_of: dict[PeerKey, int] = field(init=False)
    assignment: dict[int, Ranges] = field(init=False)
    chunks: int = field(init=False)  # of 4096 elements
    elected: tuple[int, ...] = ()
    seed: Digest = ZERO_DIGEST

    def __post_init__(self) -> None:
        self.slot_of = {key: slot for slot, key in self.roster.keys.items()}
        self.assignment = self.roster.assignment
        self.chunks = self.manifest.chunks

    # --- heads

    def expected_head(self, weights_root: Digest, aux_root: Digest) -> Head:
        """The head that those roots would make, after the last closed round."""
        if self.next_head is None:
            if self.head is None:
                raise RefusedError("no-head", "the run has neither a head nor a pending one")
            parent, members, made = self.head.parent, self.head.set_root, self.head.round
        else:
            parent, members = self.next_head.parent, self.next_head.set_root
            made = self.next_head.round
        return Head.of(
            self.manifest.run_id,
            made,
            parent=parent,
            set_root=members,
            weights_root=weights_root,
            aux_root=aux_root,
        )

    def settled_head(self) -> Head | None:
        """The head that is no longer up to a vote: the promoted one, or the manifest's head 0."""
        if self.next_head is None:
            return self.head
        if self.next_head.round:
            return None
        model = self.manifest.model
        return self.expected_head(
            digest_from_text(model.weights_root), digest_from_text(model.aux_root)
        )

    def agreed_head(self) -> Head | None:
        """The head that ceil(2/3) of the slots with the role witness state, if there is one.

        Newcomers, who have that role only where there are too few others, cannot stop a run.
        """
        voters = self.roster.slots_of(WITNESS)
        votes = Counter(self.attests[slot].head for slot in voters if slot in self.attests)
        for text, count in votes.most_common(1):
            if count >= max(election.quorum(len(voters)), 1):
                attest = next(one for one in self.attests.values() if one.head == text)
                return self.expected_head(*attested_roots(attest))
        return None

    def beacon(self) -> Digest:
        """The beacon from the secrets revealed so far, by ascending slot."""
        reveals = [from_text(attest.reveal) for _, attest in sorted(self.attests.items())]
        return election.beacon(self.manifest.run_id, self.number, reveals)

    def promotion(self, head: Head) -> HeadPromote:
        """The statement body that makes this head canonical."""
        return HeadPromote(
            head=to_text(head.hash),
            parent=to_text(head.parent),
            set_root=to_text(head.set_root),
            weights_root=to_text(head.weights_root),
            aux_root=to_text(head.aux_root),
            attests=sum(one.head == to_text(head.hash) for one in self.attests.values()),
        )

    # --- the round's constants

    @property
    def k(self) -> int:
        """Entries per chunk in this round."""
        return self.manifest.algorithm.k or k_for_trainers(len(self.trainers))

    @property
    def trainers(self) -> tuple[int, ...]:
        """Slots with windows to train."""
        return tuple(self.assignment)

    @property
    def shape(self) -> RecordShape:
        """The records of this round's contributions."""
        algorithm = self.manifest.algorithm
        return RecordShape(algorithm=algorithm.name, k=self.k, bits=algorithm.bits)

    def expected(self) -> Expected:
        """What the round demands of every contribution; needs a promoted head."""
        if self.head is None:
            raise RefusedError("no-head", "the round has no head")
        keys = self.roster.keys
        return Expected(
            shape=self.shape,
            chunks=self.chunks,
            run_id=self.manifest.run_id,
            round=self.number,
            base_head=self.head.hash,
            assigned={
                keys[slot]: Assignment(first=ranges[0][0], count=windows.total(ranges))
                for slot, ranges in self.assignment.items()
            },
            window_tokens=self.manifest.windows.tokens,
            max_inner_steps=self.manifest.algorithm.max_inner_steps,
        )

    def opening(self, opened_ms: int) -> RoundOpen:
        """The round.open body if it opened now; needs a promoted head."""
        if self.head is None:
            raise RefusedError("no-head", "a round cannot open before its head is promoted")
        train_by = opened_ms + self.roster.train_ms
        return RoundOpen(
            head=to_text(self.head.hash),
            roster=to_text(sha256(self.roster.encode())),
            beacon=to_text(self.beacon()),
            k=self.k,
            opened=opened_ms,
            train_by=train_by,
            close_by=train_by + self.manifest.rounds.witness,
        )

    # --- the outcome

    def verdicts(self) -> dict[int, tuple[Verdict, Reason]]:
        """Verdict and reason by committed slot, from the proofs so far."""
        return proof.verdicts(self.elected, self.proofs, self.commitments)

    def accusers(self, slot: int, reason: Reason) -> int:
        """How many witnesses other than the slot itself give that reason against it."""
        return sum(
            seen.rejected.get(slot) == reason
            for witness, seen in self.proofs.items()
            if witness != slot
        )

    def accepted(self) -> dict[int, Commitment]:
        """Accepted commitments by slot."""
        return {
            slot: self.commitments[slot]
            for slot, (verdict, _) in self.verdicts().items()
            if verdict is Verdict.ACCEPTED
        }

    def has_quorum(self) -> bool:
        """Whether ceil(2/3) of the elected have sent their proofs."""
        return proof.has_quorum(self.elected, self.proofs)

    def measured_ms(self) -> dict[int, int]:
        """Time from round.open to each commitment's arrival here, at least 1 ms."""
        opened = self.open.opened if self.open else 0
        return {slot: max(one.at_ms - opened, 1) for slot, one in self.commitments.items()}

    def result(self, measured_ms: Mapping[int, int]) -> Result:
        """The result document from the proofs so far and the coordinator's times."""
        verdicts = self.verdicts()
        earned = {
            slot: self.manifest.micropoints(one.header.tokens)
            for slot, one in self.accepted().items()
        }
        witness = points.witness_micropoints(
            sum(earned.values()), self.manifest.witness_share_bp, len(self.elected)
        )

        paid = {s for s, seen in self.proofs.items() if proof.earns(s, seen, verdicts)}

        def row(slot: int) -> SlotResult:
            verdict, reason = verdicts.get(slot, (Verdict.SILENT, Reason.NONE))
            one = self.commitments.get(slot)
            done = one.header.window_count if one and verdict is Verdict.ACCEPTED else 0
            return SlotResult(
                contribution=to_text(one.id) if one else "",
                verdict=int(verdict),
                reason=int(reason),
                windows=done,
                ms=measured_ms[slot] if one else 0,
                trainer_micropoints=earned.get(slot, 0),
                witness_micropoints=witness if slot in paid else 0,
            )

        return Result(slots=tuple(row(slot) for slot in range(len(self.roster.members))))

    def closing(self, result: Result) -> RoundClose:
        """The round.close body for that result."""
        ids = [one.id for one in self.accepted().values()]
        return RoundClose(
            set_root=to_text(set_root(ids)),
            accepted=len(ids),
            proofs=len(self.proofs),
            result=to_text(sha256(result.encode())),
        )

    def is_silent(self, slot: int) -> bool:
        """Whether the slot owed this round something and said nothing of it."""
        if self.open is None:
            return slot not in self.attests
        owes = slot in self.trainers or (self.is_judged and slot in self.elected)
        return owes and slot not in self.commitments and slot not in self.proofs

    def unfinished(self, accepted: Mapping[int, Commitment]) -> Ranges:
        """Windows of this round that nobody trained: they go back in the queue."""
        left: list[windows.Range] = []
        for slot, ranges in self.assignment.items():
            one = accepted.get(slot)
            left += windows.left_over(ranges, one.header.window_count if one else 0)
        return windows.merge(left)

    # --- judging a statement

    def broken_rule(self, author: PeerKey, header: Header) -> str:
        """The first rule of docs/protocol.md (validity) that a member's header breaks, or ''."""
        broken = next(broken_header(header, self.expected()), "")
        return broken or ("" if header.trainer == author else "trainer")

    def read_proof(self, body: WitnessProof) -> Seen:
        """Read an elected witness's proof; raises RefusedError with the rule that it breaks."""
        if self.head is None:
            raise RefusedError("no-head", "the round has no head")
        return proof.check(
            body,
            seed=self.seed,
            slots=len(self.roster.members),
            trainers=len(self.trainers),
            commitments={slot: one.id for slot, one in self.commitments.items()},
            head=self.head.hash,
        )


def attested_roots(attest: HeadAttest) -> tuple[Digest, Digest]:
    """The weights root and the aux root that a member states."""
    return Digest(from_text(attest.weights_root)), Digest(from_text(attest.aux_root))
