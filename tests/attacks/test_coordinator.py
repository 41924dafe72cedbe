"""A coordinator that favours somebody. Layer: coord (the fold that everybody replays)."""

from __future__ import annotations

from functools import partial

import pytest

from tequio_shared.errors import RefusedError
from tequio_shared.ids import Digest, digest_from_text, sha256
from tequio_shared.network.coordination import decide
from tequio_shared.network.run import RunView
from tequio_shared.network.run_states import RunState, VoidReason
from tequio_shared.round.round import RoundView
from tequio_shared.statements.runs import RoundOpen, RoundRoster, RoundVoid, RoundWitness
from tests.support.attack_table import attack
from tests.support.attackers_round import round_of, swarm_in
from tests.support.memory_swarm import Swarm
from tests.support.volunteers import FailureRates, StatementDraft


def refuse(swarm: Swarm, body: RoundVoid | RoundWitness | RoundOpen, code: str) -> None:
    with pytest.raises(RefusedError) as refused:
        swarm.log_statement(swarm.coordinator, StatementDraft(body, round_of(swarm).number))
    assert refused.value.code == code


@attack("Q6", layer="coord", ends="refused as `wrong-void`: a phase lasts its time")
@attack("Q6", layer="coord", ends="refused as `wrong-void`: each phase lasts its time")
@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (RunState.WARMUP, VoidReason.NO_HEAD_QUORUM),
        (RunState.ROUND_TRAIN, VoidReason.NO_COMMITMENTS),
        (RunState.ROUND_WITNESS, VoidReason.NO_PROOF_QUORUM),
    ],
)
def test_a_round_cannot_be_voided_because_its_committee_is_not_liked(
    state: RunState, reason: VoidReason
) -> None:
    swarm = swarm_in(state)
    refuse(swarm, RoundVoid(reason=int(reason)), "wrong-void")
    times = swarm.manifest.rounds
    swarm.now_ms += max(times.attest, times.train_limit, times.witness)
    swarm.log_statement(
        swarm.coordinator, StatementDraft(RoundVoid(reason=int(reason)), round_of(swarm).number)
    )
    assert swarm.view.state is RunState.WAITING_FOR_MEMBERS


@attack("Q6", layer="coord", ends="refused as `wrong-witness` before the deadline")
def test_training_cannot_end_once_the_favourite_has_committed() -> None:
    swarm = swarm_in(RunState.ROUND_TRAIN, logged=1)
    refuse(swarm, swarm.witnessing(round_of(swarm)), "wrong-witness")


def test_a_round_cannot_close_before_slower_witnesses_had_their_grace() -> None:
    swarm = swarm_in(RunState.ROUND_WITNESS, logged=4)
    current = round_of(swarm)
    assert current.has_quorum()
    assert len(current.proofs) < len(current.elected)
    result = current.result(current.measured_ms())
    swarm.blobs[name_of_result(current)] = result.encode()
    swarm.view.witnessed_ms = swarm.now_ms
    with pytest.raises(RefusedError, match="still waits for its witnesses"):
        swarm.log_statement(
            swarm.coordinator, StatementDraft(current.closing(result), current.number)
        )


def name_of_result(current: RoundView) -> Digest:

    return digest_from_text(current.closing(current.result(current.measured_ms())).result)


def test_a_round_cannot_open_in_the_past_so_that_its_deadline_is_over() -> None:
    swarm = swarm_in(RunState.WARMUP, logged=4)
    current = round_of(swarm)
    if swarm.view.next_head is not None:
        assert swarm.coordinate()  # the promotion
    early = current.opening(swarm.now_ms - swarm.manifest.rounds.train_limit)
    refuse(swarm, early, "wrong-open")


@attack("Q6", layer="coord", ends="refused as `clock-skew`: its signed time moves forward")
@pytest.mark.parametrize("reader", ["whole", "light"])
def test_a_coordinator_cannot_turn_its_clock_back_to_choose_who_is_in_a_roster(
    reader: str,
) -> None:
    swarm = swarm_in(RunState.ROUND_WITNESS)
    while swarm.view.state is not RunState.WAITING_FOR_MEMBERS:
        assert swarm.step()
    view: RunView = swarm.view
    last_ms = view.coordinator_ms
    body, document = planned(swarm)
    if reader == "light":
        view = RunView.light(swarm.net, swarm.manifest, head=view.head, next_head=view.next_head)
        view.coordinator_ms = last_ms
    swarm.blobs[sha256(document)] = document
    for ts, refused in ((last_ms - 1, True), (last_ms, False)):
        swarm.now_ms = ts
        said = StatementDraft(body, swarm.view.number + 1)
        entry = swarm.sign(swarm.coordinator, said, swarm.manifest.run_id)
        taking = partial(view.apply, len(swarm.entries), entry.statement, 0)
        if refused:
            with pytest.raises(RefusedError, match="signed at") as caught:
                taking(swarm.blobs.__getitem__)
            assert caught.value.code == "clock-skew"
        else:
            taking(swarm.blobs.__getitem__)


def planned(swarm: Swarm) -> tuple[RoundRoster, bytes]:
    """The roster that is due, and its document."""
    for _ in range(100):
        swarm.watch.update(swarm.view, swarm.now_ms)
        step = decide(swarm.view, swarm.watch, swarm.now_ms, swarm.coordinator.prove)
        if step is not None and isinstance(step.body, RoundRoster) and step.document:
            return step.body, step.document
        swarm.now_ms += 1_000
    raise AssertionError("no roster is due")


@attack("A3", layer="coord", ends="a light reader reaches the same state as a full one")
@attack("A3", layer="coord", ends="a light reader reaches the full reader's state")
def test_a_light_reader_refuses_the_same_and_takes_a_member_that_left_into_account() -> None:
    swarm = Swarm(seed=9)
    for at in range(5):
        swarm.volunteer(f"v{at}", FailureRates(leaving=10))
    swarm.run_rounds(6)
    start = next(at for at, one in enumerate(swarm.entries) if one.statement.type == "round.close")
    whole = swarm.replay(swarm.entries[: start + 1])
    light = RunView.light(swarm.net, swarm.manifest, head=whole.head, next_head=whole.next_head)
    for index, entry in enumerate(swarm.entries[start + 1 :], start + 1):
        if entry.statement.run is not None:
            light.apply(index, entry.statement, 0, swarm.blobs.__getitem__)
    assert light.state is swarm.view.state
