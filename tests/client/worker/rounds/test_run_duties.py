"""The deeds with real store, outbox, feedback and trainer process: what they leave and say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest
import trio

from tequio_client import files
from tequio_client.ipc import trainer as link
from tequio_client.worker.rounds import duties
from tequio_client.worker.rounds.feedback import ErrorFeedback, open_payloads
from tequio_client.worker.rounds.workdir import TrainerWorkdir
from tequio_client.worker.store.store import Store
from tequio_shared.errors import PeerError
from tequio_shared.head.contribution import ContributionHeader, payload_seal
from tequio_shared.ids import from_text, to_text
from tequio_shared.keys import Signer
from tequio_shared.round import fold
from tequio_shared.round.manifest import WindowRules
from tequio_shared.statements.runs import (
    HeadAttest,
    HeadPromote,
    RoundClose,
    RoundOpen,
    RoundWitness,
    WitnessProof,
    WorkCommit,
)
from tests.client.worker.rounds.test_duties import stopped
from tests.client.worker.rounds.test_feedback import root_of, store_feedback
from tests.support.attackers_peers import until
from tests.support.duty_runner_setup import DutyRunnerSetup
from tests.support.memory_log import MemoryLog
from tests.support.synthetic_trainer import BROKEN, GAIN, PAPER_RANKS, STARTS_OVER
from tests.support.tiny_run import tiny_manifest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


pytestmark = pytest.mark.trio


async def test_training_leaves_payload_and_feedback_and_commits(tmp_path: Path) -> None:
    desk = DutyRunnerSetup(tmp_path, stopped(RoundOpen))
    with trio.fail_after(120):
        async with desk.open() as deeds:
            await desk.hold_head(deeds)
            await deeds.perform(duties.TrainDuty(1), desk.swarm.view)
            assert duties.TrainDuty(1) in deeds.statements.answered
            assert deeds.tally.rounds_trained == 1
        (body,) = desk.logged(WorkCommit)
        assert isinstance(body, WorkCommit)
        header = ContributionHeader.parse(from_text(body.header, None))
        assert not desk.round.broken_rule(desk.swarm.members[0].key, header)
        store = Store(tmp_path / "store", quota_bytes=1 << 30)
        payload = store.tree_path(header.payload_root).read_bytes()
        assert body.seal == to_text(payload_seal(header.trainer, [payload]))
        assert body.feedback == ""
        assert ErrorFeedback(tmp_path / "feedback", header.run_id).open_header == header
        assert desk.withheld == {header.payload_root}, "until the log is read"
        assert open_payloads(tmp_path / "feedback") == desk.withheld, "as after a restart"
        await deeds.settle(1, None)
        assert not desk.withheld
        assert not open_payloads(tmp_path / "feedback")
        assert [one.statement.body for one in desk.announcer.announced] == [body]


def has_opened(desk: DutyRunnerSetup) -> bool:
    return desk.round.open is not None


async def test_bytes_that_every_witness_would_refuse_are_not_committed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = DutyRunnerSetup(tmp_path, stopped(RoundOpen))
    monkeypatch.setenv(BROKEN, "1")
    with trio.fail_after(120):
        async with desk.open() as deeds:
            await desk.hold_head(deeds)
            with pytest.raises(PeerError, match="not committed: the trainer's payload breaks the"):
                await deeds.perform(duties.TrainDuty(1), desk.swarm.view)
            assert deeds.tally.rounds_trained == 0
        assert desk.logged(WorkCommit) == []
        feedback = ErrorFeedback(tmp_path / "feedback", desk.swarm.manifest.run_id)
        assert feedback.open_header is None, "it is not committed after a restart, either"
        monkeypatch.delenv(BROKEN)
        async with desk.open() as deeds:
            await desk.hold_head(deeds)
            await deeds.perform(duties.TrainDuty(1), desk.swarm.view)
        assert len(desk.logged(WorkCommit)) == 1


async def test_what_was_trained_while_others_attest_is_committed_to_once_the_round_is_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PAPER_RANKS, "2")
    swarm, guest = stopped(HeadAttest), Signer(bytes([9]) * 32).key
    desk = DutyRunnerSetup(tmp_path, swarm, rank_owners={1: guest})
    payload = tmp_path / "work" / "payload-1"
    with trio.fail_after(120):
        async with desk.open() as deeds, trio.open_nursery() as nursery:
            await desk.hold_head(deeds)
            nursery.start_soon(deeds.perform, duties.TrainDuty(1), swarm.view)
            await until(payload.exists, 60)
            await trio.sleep(0.2)  # longer than a commitment would take
            assert not has_opened(desk)
            assert not desk.logged(WorkCommit)
            desk.rank_owners.clear()  # its guest leaves, and gets its part all the same
            while not has_opened(desk):
                assert swarm.step()
            deeds.record_opening()
        (body,) = desk.logged(WorkCommit)
        assert isinstance(body, WorkCommit)
        assert body.parts == ((to_text(guest), 500),)


@pytest.mark.parametrize("code", ["", "wrong-feedback", "header-base"])
async def test_a_commitment_names_what_it_started_from_and_starts_over_if_that_is_refused(
    tmp_path: Path, code: str
) -> None:
    desk = DutyRunnerSetup(tmp_path, stopped(RoundOpen))
    run = desk.swarm.manifest.run_id
    feedback = ErrorFeedback(tmp_path / "feedback", run)
    store_feedback(feedback, tmp_path, 1)
    feedback.settle(1, root_of(1))  # as if it came from an earlier round
    if code:
        desk.log.refusals["work.commit"] = code
    with trio.fail_after(120):
        async with desk.open() as deeds:
            await desk.hold_head(deeds)
            await deeds.perform(duties.TrainDuty(1), desk.swarm.view)
    again = ErrorFeedback(tmp_path / "feedback", run)
    assert again.open_start == root_of(1)
    assert (again.path is None) == (code == "wrong-feedback")
    if not code:
        (body,) = desk.logged(WorkCommit)
        assert isinstance(body, WorkCommit)
        assert body.feedback == to_text(root_of(1))


async def test_a_feedback_that_the_trainer_left_out_is_not_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = DutyRunnerSetup(tmp_path, stopped(RoundOpen))
    feedback = ErrorFeedback(tmp_path / "feedback", desk.swarm.manifest.run_id)
    store_feedback(feedback, tmp_path, 1)
    feedback.settle(1, root_of(1))  # as if it came from an earlier round
    monkeypatch.setenv(STARTS_OVER, "1")
    with trio.fail_after(120):
        async with desk.open() as deeds:
            await desk.hold_head(deeds)
            await deeds.perform(duties.TrainDuty(1), desk.swarm.view)
    (body,) = desk.logged(WorkCommit)
    assert isinstance(body, WorkCommit)
    assert body.feedback == ""
    assert ErrorFeedback(tmp_path / "feedback", desk.swarm.manifest.run_id).start == root_of(1)


async def test_who_comes_back_says_the_same_again_without_training(tmp_path: Path) -> None:
    desk = DutyRunnerSetup(tmp_path, stopped(RoundOpen))
    with trio.fail_after(120):
        for _ in range(2):
            async with desk.open() as deeds:
                await desk.hold_head(deeds)
                await deeds.perform(duties.TrainDuty(1), desk.swarm.view)
                assert duties.TrainDuty(1) in deeds.statements.answered
        assert deeds.tally.rounds_trained == 0
        assert len(desk.logged(WorkCommit)) == 1


async def test_what_was_trained_and_not_said_is_said_without_training(tmp_path: Path) -> None:
    desk = DutyRunnerSetup(tmp_path, stopped(RoundOpen))
    with trio.fail_after(120):
        async with desk.open() as deeds:
            await desk.hold_head(deeds)
            await deeds.perform(duties.TrainDuty(1), desk.swarm.view)
        (tmp_path / "outbox.sqlite").unlink()
        (body,), desk.log = desk.logged(WorkCommit), MemoryLog.founded()
        async with desk.open() as deeds:
            await desk.hold_head(deeds)
            await deeds.perform(duties.TrainDuty(1), desk.swarm.view)
            assert deeds.tally.rounds_trained == 0
        assert desk.logged(WorkCommit) == [body]


async def test_a_witness_vouches_for_what_is_here_and_says_it_once(tmp_path: Path) -> None:
    desk = DutyRunnerSetup(tmp_path, stopped(RoundWitness))
    with trio.fail_after(120):
        for _ in range(2):
            async with desk.open() as deeds:
                await deeds.perform(duties.ProveDuty(1), desk.swarm.view)
                assert duties.ProveDuty(1) in deeds.statements.answered
    (body,) = desk.logged(WitnessProof)
    assert isinstance(body, WitnessProof)
    assert body.count == len(desk.round.commitments) == 3


@pytest.mark.parametrize("is_emptied", [False, True])
async def test_a_witness_screens_with_its_own_pseudo_gradient_while_it_is_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_emptied: bool
) -> None:
    """The working folder of a child that takes too much is emptied."""
    asked: list[link.Command] = []
    send = TrainerWorkdir.ask

    async def ask(
        workdir: TrainerWorkdir, make: Callable[[int], link.Command], answer: type[link.Report]
    ) -> link.Report:
        asked.append(make(0))
        return await send(workdir, make, answer)

    monkeypatch.setattr(TrainerWorkdir, "ask", ask)
    desk = DutyRunnerSetup(tmp_path, stopped(RoundWitness))
    with trio.fail_after(120):
        async with desk.open() as deeds:
            await desk.hold_head(deeds)
            await deeds.perform(duties.TrainDuty(1), desk.swarm.view)
            if is_emptied:
                files.empty_folder(tmp_path / "work")
            await deeds.perform(duties.ProveDuty(1), desk.swarm.view)
    (screen,) = (one for one in asked if isinstance(one, link.Screen))
    own = str(tmp_path / "work" / "delta-1"), desk.round.slot_of[desk.swarm.members[0].key]
    assert (screen.own_delta, screen.own_slot) == ((None, None) if is_emptied else own)


@pytest.mark.parametrize(("late_ms", "measured"), [(0, True), (50_000, False)])
async def test_a_witness_states_the_gains_of_others_as_long_as_there_is_time(
    tmp_path: Path,
    late_ms: int,
    measured: bool,  # noqa: FBT001 - a row of the table
) -> None:
    rules = WindowRules(samples=1_000, tokens=64_000, first=300, most=300)
    manifest = msgspec.structs.replace(tiny_manifest(most=3), windows=rules)
    desk = DutyRunnerSetup(tmp_path, stopped(RoundWitness, rules=manifest))
    desk.swarm.now_ms += late_ms
    with trio.fail_after(120):
        async with desk.open() as deeds:
            await deeds.perform(duties.ProveDuty(1), desk.swarm.view)
    (body,) = desk.logged(WitnessProof)
    assert isinstance(body, WitnessProof)
    own = desk.round.slot_of[desk.swarm.members[0].key]
    others = sorted(desk.round.gains.windows.keys() - {own})
    assert len(others) == 2
    assert body.gains == (tuple((slot, GAIN) for slot in others) if measured else ())
    assert fold.read_proof(desk.round, body).vouched == {0, 1, 2}


async def test_a_closed_round_leads_to_the_head_that_everybody_computes(tmp_path: Path) -> None:
    swarm = stopped(RoundClose)
    desk = DutyRunnerSetup(tmp_path, swarm)
    closed = desk.round.accepted_set(len(swarm.entries) - 1)
    with trio.fail_after(120):
        async with desk.open() as deeds:
            await desk.hold_head(deeds)
            await deeds.perform(duties.AdvanceDuty(closed), desk.swarm.view)
            held = deeds.heads.held
    while not isinstance(swarm.entries[-1].statement.body, HeadPromote):
        assert swarm.step()
    assert held == swarm.view.head
