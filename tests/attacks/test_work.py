"""A volunteer who wants points without work. Layers: gate (the header), coord, pts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pytest

from tequio_shared.errors import RefusedError
from tequio_shared.head.contribution import ContributionHeader
from tequio_shared.ids import ZERO_DIGEST, Digest, HeadHash, RunId, from_text, sha256, to_text
from tequio_shared.network.run_states import RunState
from tequio_shared.round.proof import RejectionReason, Verdict
from tequio_shared.statements.runs import WorkCommit
from tests.support.attack_table import attack
from tests.support.attackers_round import (
    FrontRunner,
    Judge,
    LateCommitter,
    outcome,
    round_of,
    swarm_of,
)
from tests.support.commitments import commitment
from tests.support.memory_swarm import Swarm
from tests.support.volunteers import FailureRates, StatementDraft, Volunteer

if TYPE_CHECKING:
    from tequio_shared.round.round import RoundView

OTHER = sha256(b"something else")


class SecondCommitter:
    """A trainer whose turn to commit comes after another member's commitment."""

    def __init__(self) -> None:
        self.swarm = Swarm(seed=4)
        for at in range(4):
            self.swarm.volunteer(f"v{at}", FailureRates())
        while not (self.swarm.view.state is RunState.ROUND_TRAIN and self.round.commitments):
            assert self.swarm.step()
        self.volunteer, said = next(
            (one, said)
            for one in self.swarm.volunteers
            if (said := one.duty(self.swarm.view)) and isinstance(said.body, WorkCommit)
        )
        assert isinstance(said.body, WorkCommit)
        self.header = ContributionHeader.parse(from_text(said.body.header, None))

    def wait_for_training(self) -> None:
        """Step to the next round's training, until this member is to commit."""
        last = self.round.number
        while True:
            said = self.volunteer.duty(self.swarm.view)
            if self.round.number > last and said and isinstance(said.body, WorkCommit):
                self.header = ContributionHeader.parse(from_text(said.body.header, None))
                return
            assert self.swarm.step()

    @property
    def round(self) -> RoundView:
        """The round under way."""
        assert self.swarm.view.round is not None
        return self.swarm.view.round

    def commit(
        self,
        header: ContributionHeader,
        who: Volunteer | None = None,
        feedback: Digest = ZERO_DIGEST,
    ) -> None:
        """Log a commitment to that header; raises RefusedError."""
        said = StatementDraft(commitment(header, feedback=feedback), self.round.number)
        author = (who or self.volunteer).signer
        self.swarm.log_statement(author, said)


LIES: dict[str, dict[str, object]] = {
    "header-magic": {"magic": b"TQC2"},
    "header-version": {"version": 2},
    "header-shape": {"chunk_count": 2**32 - 1},
    "header-flags": {"flags": 1},
    "header-run": {"run_id": RunId(OTHER)},
    "header-round": {"round": 2**64 - 1},
    "header-base": {"base_head": HeadHash(OTHER)},
    "header-trainer": {"trainer": OTHER},
    "header-windows": {"window_first": 2**64 - 1},
    "header-tokens": {"tokens": 2**62},
    "header-steps": {"inner_steps": 0},
}


@attack("W13", layer="coord", ends="refused with the name of the broken rule")
@pytest.mark.parametrize("code", LIES)
def test_a_header_that_claims_another_thing_than_was_assigned_is_refused(code: str) -> None:
    cheat = SecondCommitter()
    with pytest.raises(RefusedError) as refused:
        cheat.commit(replace(cheat.header, **LIES[code]))  # type: ignore[arg-type]  # lies
    assert refused.value.code == code


@pytest.mark.parametrize(
    "lie",
    [{"window_count": 0}, {"window_count": 2**32 - 1}, {"k": 65_535}, {"bits": 255}],
)
def test_sizes_nobody_was_given_are_refused(lie: dict[str, int]) -> None:
    cheat = SecondCommitter()
    with pytest.raises(RefusedError, match="breaks rule"):
        cheat.commit(replace(cheat.header, **lie))  # type: ignore[arg-type]  # lies


@attack("W21", layer="gate", ends="its seal is wrong, and the author's commitment is accepted")
def test_a_root_seen_in_gossip_and_committed_to_first_gains_nothing() -> None:
    swarm = swarm_of(15, *[Judge] * 3, LateCommitter, FrontRunner)
    author, cheat = swarm.volunteers[-2:]
    assert isinstance(cheat, FrontRunner)
    cheat.victim = author
    swarm.run_rounds(1)
    view = round_of(swarm)
    mine, theirs = (view.commitments[view.slot_of[one.key]] for one in (cheat, author))
    assert mine.header.payload_root == theirs.header.payload_root
    assert mine.index < theirs.index
    assert outcome(swarm, cheat) == (Verdict.REJECTED, RejectionReason.SEAL)
    assert outcome(swarm, author) == (Verdict.ACCEPTED, RejectionReason.NONE)
    accounts = swarm.view.accounts
    assert accounts.earned[cheat.key].trainer == 0 < accounts.earned[author.key].trainer
    # The word of witnesses about bytes convicts nobody.
    assert swarm.standings.of(cheat.key) is swarm.standings.of(author.key)


@attack("W22", layer="coord", ends="refused as `wrong-feedback`")
def test_work_may_start_from_zeros_or_from_what_the_last_accepted_left() -> None:
    one = SecondCommitter()
    left = sha256(b"feedback after the first round")

    def refused(feedback: Digest) -> str:
        with pytest.raises(RefusedError) as refusal:
            one.commit(one.header, feedback=feedback)
        return refusal.value.code

    assert refused(OTHER) == refused(left) == "wrong-feedback"
    one.commit(replace(one.header, feedback_root=left))
    one.wait_for_training()
    assert refused(OTHER) == "wrong-feedback"
    one.commit(replace(one.header, feedback_root=OTHER), feedback=left)
    one.wait_for_training()
    assert refused(left) == "wrong-feedback"
    one.commit(one.header)  # from zeros; it leaves none
    one.wait_for_training()
    assert refused(OTHER) == "wrong-feedback"
    one.commit(one.header)


def test_thirty_two_zero_bytes_are_no_feedback_to_start_from() -> None:
    one = SecondCommitter()
    body = msgspec.structs.replace(commitment(one.header), feedback=to_text(ZERO_DIGEST))
    with pytest.raises(RefusedError) as refusal:
        one.swarm.log_statement(one.volunteer.signer, StatementDraft(body, one.round.number))
    assert refusal.value.code == "wrong-feedback"


def test_a_second_commitment_of_one_key_is_refused() -> None:
    cheat = SecondCommitter()
    cheat.commit(cheat.header)
    with pytest.raises(RefusedError) as refused:
        cheat.commit(replace(cheat.header, payload_root=OTHER))
    assert refused.value.code == "already-said"


@attack("P1", layer="pts", ends="without effect on any point")
def test_the_loss_that_a_trainer_claims_changes_no_point() -> None:
    earned = []
    for loss in (0, -(2**31), 2**31 - 1):
        cheat = SecondCommitter()
        cheat.commit(replace(cheat.header, claimed_loss_last_q16=loss))
        cheat.swarm.run_rounds(1)
        accounts = cheat.swarm.view.accounts
        earned.append({key: one.trainer for key, one in accounts.earned.items()})
    assert earned[0] == earned[1] == earned[2]
    assert any(earned[0].values())
