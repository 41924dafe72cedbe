"""One round as everybody sees it: a fold over the log's entries, with nothing else to go by.

Rules: a RoundView holds only what roster, manifest and the round's entries say; it never looks at
a clock; the `apply` methods raise RefusedError for a statement that does not follow, which then has
changed nothing. Coordinator, workers and auditors run this same code on the same entries, so they
agree.

Theory: `round.roster` fixes who takes part before anything random exists. Members then state the
head that they hold, and reveal a secret that they committed to earlier (`head.attest`). When
ceil(2/3) of the slots state one head, `round.open` names it and the beacon made of the revealed
secrets; committee, Bloom keys and windows follow from it. Trainers commit (`work.commit`), the
coordinator ends the training phase (`round.witness`), elected witnesses send their proofs, and
`round.close` or `round.void` states what follows from those.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from tequio_shared import election
from tequio_shared.contribution import (
    Header,
    contribution_id,
)
from tequio_shared.documents import TRAINER, WITNESS, Result
from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.ids import (
    Digest,
    PeerKey,
    from_text,
    sha256,
    to_text,
)
from tequio_shared.round_state import Commitment, Head, NextHead, Phase, RoundState, attested_roots
from tequio_shared.statements.rounds import (
    HeadAttest,
    HeadPromote,
    RoundClose,
    RoundOpen,
    RoundWitness,
    WitnessProof,
    WorkCommit,
)

if TYPE_CHECKING:
    from tequio_shared.proof import Seen

__all__ = ["Commitment", "Head", "MemberBody", "NextHead", "Phase", "RoundView", "is_trainer"]

MemberBody: TypeAlias = HeadAttest | WorkCommit | WitnessProof
"""What members say in a round."""


@dataclass(slots=True, kw_only=True)
class RoundView(RoundState):
    """A round as a fold; only the `apply` methods change it."""

    # --- statements of members

    def apply(self, index: int, author: PeerKey, body: MemberBody, at_ms: int) -> None:
        """Apply a member's statement; raises RefusedError unless the round takes it now."""
        slot = self.slot_of.get(author)
        if slot is None:
            raise RefusedError("not-in-round", f"not in the roster of round {self.number}")
        match body:
            case HeadAttest():
                self._check_attest(slot, author, body)
                self.attests[slot] = body
            case WorkCommit():
                header = self._checked_header(slot, author, body)
                name = contribution_id(from_text(body.header, None))
                self.commitments[slot] = Commitment(
                    index=index, header=header, id=name, at_ms=at_ms
                )
            case WitnessProof():
                self.proofs[slot] = self._checked_proof(slot, body)

    # --- statements of the coordinator

    def apply_promotion(self, body: HeadPromote) -> Head:
        """Take head.promote; raises RefusedError unless a quorum stated exactly this head."""
        agreed = self.agreed_head()
        if self.next_head is None:
            raise RefusedError("wrong-head", "the run's head is canonical already")
        if agreed is None or body != self.promotion(agreed):
            raise RefusedError("wrong-head", f"no quorum of round {self.number} states this head")
        self.head, self.next_head = agreed, None
        return agreed

    def apply_open(self, body: RoundOpen) -> None:
        """Take round.open; raises RefusedError unless it follows from roster and attestations."""
        if self.phase is not Phase.ATTEST or self.next_head is not None:
            raise RefusedError("not-in-round", f"round {self.number} cannot open now")
        agreed = self.agreed_head()
        if agreed is None or agreed != self.head:
            raise RefusedError("wrong-head", f"no quorum of round {self.number} holds its head")
        if body != self.opening(body.opened):
            raise RefusedError("wrong-open", f"round.open {self.number} is not what follows")
        self.open, self.phase = body, Phase.TRAIN
        run = self.manifest.run_id
        beacon, roster = Digest(from_text(body.beacon)), Digest(from_text(body.roster))
        self.seed = election.seed(self.net, run, self.number, beacon, roster)
        keys = self.roster.keys
        candidates = {slot: keys[slot] for slot in self.roster.slots_of(WITNESS)}
        self.elected = election.committee(self.seed, candidates)

    def apply_witness(self, body: RoundWitness) -> None:
        """Take round.witness: training is over, these commitments count."""
        if self.phase is not Phase.TRAIN:
            raise RefusedError("not-in-round", f"round {self.number} is not training")
        if body.commits != len(self.commitments):
            raise RefusedError("wrong-witness", f"round.witness counts {body.commits} commitments")
        self.phase, self.is_judged = Phase.WITNESS, True

    def apply_close(self, body: RoundClose, result: Result) -> NextHead:
        """Take round.close; raises RefusedError unless the result is what the proofs say."""
        if self.phase is not Phase.WITNESS:
            raise RefusedError("not-in-round", f"round {self.number} has no witness phase yet")
        if not self.has_quorum() or len(result.slots) != len(self.roster.members):
            raise RefusedError("wrong-close", f"round {self.number} lacks proofs or result rows")
        times = {slot: row.ms for slot, row in enumerate(result.slots)}
        if result != self.result(times) or body != self.closing(result):
            raise RefusedError("wrong-close", f"round.close {self.number} is not what follows")
        if self.head is None or not body.accepted:
            raise RefusedError("wrong-close", f"round {self.number} accepted nothing")
        self.phase = Phase.OVER
        return NextHead(
            round=self.number, parent=self.head.hash, set_root=Digest(from_text(body.set_root))
        )

    def apply_void(self) -> None:
        """Take round.void: nothing of this round counts."""
        if self.phase is Phase.OVER:
            raise RefusedError("not-in-round", f"round {self.number} is over")
        self.phase = Phase.OVER

    # --- private

    def _check_attest(self, slot: int, author: PeerKey, body: HeadAttest) -> None:
        if self.phase is not Phase.ATTEST:
            raise RefusedError("too-late", f"round {self.number} is already open")
        if slot in self.attests:
            raise RefusedError("already-said", f"a head was stated for round {self.number} before")
        expected = self.expected_head(*attested_roots(body))
        if from_text(body.head) != expected.hash:
            raise RefusedError("wrong-head", "the head is not made of these roots and this set")
        settled = self.settled_head()
        if settled is not None and expected != settled:
            raise RefusedError("wrong-head", f"the head is {to_text(settled.hash)} already")
        if self.commits and sha256(from_text(body.reveal)) != self.commits[author]:
            raise RefusedError("wrong-reveal", "the secret is not the one committed to before")

    def _checked_header(self, slot: int, author: PeerKey, body: WorkCommit) -> Header:
        if self.phase is not Phase.TRAIN:
            raise RefusedError("too-late", f"round {self.number} does not take commitments now")
        if slot in self.commitments:
            raise RefusedError("already-said", f"a second commitment for round {self.number}")
        header = _header(body)
        broken = self.broken_rule(author, header)
        if broken:
            raise RefusedError(f"header-{broken}", f"the header breaks rule `{broken}`")
        if any(header.payload_root == one.header.payload_root for one in self.commitments.values()):
            raise RefusedError("duplicate-payload", "an earlier commitment has the same payload")
        return header

    def _checked_proof(self, slot: int, body: WitnessProof) -> Seen:
        if self.phase is not Phase.WITNESS:
            raise RefusedError("too-late", f"round {self.number} does not take proofs now")
        if slot not in self.elected:
            raise RefusedError("wrong-role", f"not elected as witness of round {self.number}")
        if slot in self.proofs:
            raise RefusedError("already-said", f"a second proof for round {self.number}")
        return self.read_proof(body)


def is_trainer(view: RoundView, key: PeerKey) -> bool:
    """Whether the key has windows in this round."""
    slot = view.slot_of.get(key)
    return slot is not None and TRAINER in view.roster.members[slot].roles and slot in view.trainers


def _header(body: WorkCommit) -> Header:
    try:
        return Header.parse(from_text(body.header, None))
    except MalformedError as err:
        raise RefusedError("malformed", str(err)) from err
