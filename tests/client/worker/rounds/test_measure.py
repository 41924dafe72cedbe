"""Measuring heads, called away and back in later lives: what is measured, kept and said."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pytest
import trio

from tequio_client.worker.rounds import duties, measure
from tequio_client.worker.rounds.statements import MAX_ANSWERED
from tequio_client.worker.swarm.transfer import Exchange
from tequio_shared.errors import RefusedError
from tequio_shared.ids import to_text
from tequio_shared.multiple_choice import MeasuredTask
from tequio_shared.network.run import first_head
from tequio_shared.round.manifest import MeasureRules
from tequio_shared.round.measures import perplexity
from tequio_shared.statements.runs import HeadMeasure, RoundOpen, Sample, TaskCounts
from tests.client.worker.rounds.test_duties import stopped
from tests.support.duty_runner_setup import DutyRunnerSetup
from tests.support.small_tasks import small_task
from tests.support.synthetic_trainer import DIARY, UNWRITTEN
from tests.support.tiny_run import tiny_manifest

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_client.worker.rounds.run import DutyRunner
    from tequio_shared.round.manifest import Manifest


pytestmark = pytest.mark.trio


@pytest.fixture
def diary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in which the scripted trainer records each measured slice, one per line."""
    path = tmp_path / "diary"
    monkeypatch.setenv(DIARY, str(path))
    return path


async def called_away(
    desk: DutyRunnerSetup,
    deeds: DutyRunner,
    asked: duties.MeasureDuty,
    diary: Path,
    many: int,
    kind: str = "evaluate",
) -> None:
    """Cancel the measurement once `many` slices have begun."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(deeds.perform, asked, desk.swarm.view)
        while len(slices(diary, kind)) < many:  # noqa: ASYNC110 - another process writes it
            await trio.sleep(0.01)
        nursery.cancel_scope.cancel()


def slices(diary: Path, kind: str = "evaluate") -> list[int]:
    """The first document, or question, of each slice that the trainer measured, or answered."""
    if not diary.exists():
        return []
    lines = [line.split() for line in diary.read_text().splitlines()]
    return [int(number) for what, number in lines if what == kind]


async def test_what_was_measured_before_a_duty_came_is_not_measured_again(
    tmp_path: Path, diary: Path
) -> None:
    desk = DutyRunnerSetup(tmp_path, stopped(RoundOpen))
    asked = duties.MeasureDuty(first_head(desk.swarm.manifest), is_drawn=True)
    with trio.fail_after(120):
        async with desk.open() as deeds:
            await desk.hold_head(deeds)
            await called_away(desk, deeds, asked, diary, 3)
            assert not deeds.statements.answered
            await deeds.perform(asked, desk.swarm.view)
            assert asked in deeds.statements.answered
            assert deeds.measuring.bits_per_byte == pytest.approx(3.0)
    assert slices(diary) == [0, 1, 2, 2, 3]
    (body,) = desk.logged(HeadMeasure)
    assert isinstance(body, HeadMeasure)
    assert deeds.measuring.perplexity == perplexity(body)
    assert body == HeadMeasure(
        head=to_text(asked.head.hash),
        millibits=98_304_000,
        size_bytes=32_768,
        tokens=16_384,
        sample=Sample(prompt="Words", text=" of document 0"),
    )


async def test_weights_stay_while_a_measure_of_them_waits_for_more_urgent_duties(
    tmp_path: Path, diary: Path
) -> None:
    desk = DutyRunnerSetup(tmp_path, stopped(RoundOpen), held_out_documents=1)
    asked = duties.MeasureDuty(first_head(desk.swarm.manifest), is_drawn=True)
    weights = asked.head.weights_root
    with trio.fail_after(120):
        async with desk.open() as deeds:
            assert desk.store is not None
            await called_away(desk, deeds, asked, diary, 1)
            deeds.measuring.release_except([asked.head])
            desk.store.remove(weights)
            await deeds.perform(asked, desk.swarm.view)
            assert desk.store.has_tree(weights)
            desk.store.remove(weights)
            assert not desk.store.has_tree(weights), "it is measured"


async def test_weights_of_a_head_that_nobody_asks_for_any_more_may_go(
    tmp_path: Path, diary: Path
) -> None:
    desk = DutyRunnerSetup(tmp_path, stopped(RoundOpen), held_out_documents=1)
    asked = duties.MeasureDuty(first_head(desk.swarm.manifest), is_drawn=True)
    with trio.fail_after(120):
        async with desk.open() as deeds:
            assert desk.store is not None
            await called_away(desk, deeds, asked, diary, 1)
            deeds.measuring.release_except([])
            desk.store.remove(asked.head.weights_root)
            assert not desk.store.has_tree(asked.head.weights_root)


async def test_damaged_weights_of_an_old_head_are_not_measured(tmp_path: Path) -> None:
    desk = DutyRunnerSetup(tmp_path, stopped(RoundOpen), held_out_documents=1)
    asked = duties.MeasureDuty(first_head(desk.swarm.manifest), is_drawn=True)
    with trio.fail_after(120):
        async with desk.open() as deeds:
            assert desk.store is not None
            file = desk.store.tree_path(asked.head.weights_root)
            file.chmod(0o644)
            file.write_bytes(bytes([file.read_bytes()[0] ^ 1]) + file.read_bytes()[1:])
            with pytest.raises(RefusedError, match="are damaged"):
                await deeds.perform(asked, desk.swarm.view)
            assert asked in deeds.statements.answered
    assert not desk.logged(HeadMeasure)


async def test_a_head_that_writes_nothing_is_measured_all_the_same(tmp_path: Path) -> None:
    desk = DutyRunnerSetup(tmp_path, stopped(RoundOpen), held_out_documents=1)
    head = replace(first_head(desk.swarm.manifest), round=UNWRITTEN)
    with trio.fail_after(120):
        async with desk.open() as deeds:
            await deeds.perform(duties.MeasureDuty(head, is_drawn=True), desk.swarm.view)
    (body,) = desk.logged(HeadMeasure)
    assert isinstance(body, HeadMeasure)
    assert body.tokens == 4_096
    assert body.sample is msgspec.UNSET


async def test_who_comes_back_says_what_it_measured_before_and_measures_nothing(
    tmp_path: Path, diary: Path
) -> None:
    desk = DutyRunnerSetup(tmp_path, stopped(RoundOpen), held_out_documents=1)
    asked = duties.MeasureDuty(first_head(desk.swarm.manifest), is_drawn=True)
    with trio.fail_after(120):
        for _ in range(2):
            async with desk.open() as deeds:
                await deeds.perform(asked, desk.swarm.view)
                assert asked in deeds.statements.answered
    assert len(slices(diary)) == 1
    assert len(desk.logged(HeadMeasure)) == 1


async def test_a_measure_that_failed_is_remembered_for_as_long_as_it_is_asked_for(
    tmp_path: Path,
) -> None:
    desk = DutyRunnerSetup(tmp_path, stopped(RoundOpen), held_out_documents=0)
    asked = duties.MeasureDuty(first_head(desk.swarm.manifest), is_drawn=True)
    with trio.fail_after(120):
        async with desk.open() as deeds:
            with pytest.raises(RefusedError):
                await deeds.perform(asked, desk.swarm.view)
            for _ in range(MAX_ANSWERED):
                await deeds.perform(duties.LeaveDuty(1), desk.swarm.view)
            assert asked in deeds.statements.answered


async def test_what_cannot_be_measured_is_not_tried_again(tmp_path: Path) -> None:
    desk = DutyRunnerSetup(tmp_path, stopped(RoundOpen), held_out_documents=0)
    asked = duties.MeasureDuty(first_head(desk.swarm.manifest), is_drawn=True)
    with trio.fail_after(120):
        async with desk.open() as deeds:
            await desk.hold_head(deeds)
            with pytest.raises(RefusedError, match="no held-out text"):
                await deeds.perform(asked, desk.swarm.view)
            assert asked in deeds.statements.answered
    assert not desk.logged(HeadMeasure)


TASKS = small_task(600, name="long"), small_task(3, name="short")


def with_tasks(**changes: object) -> Manifest:
    """Rules of a run with two tasks; keywords change what they say of the second."""
    described = [MeasuredTask.of(task.encode()) for task in TASKS]
    described[1] = msgspec.structs.replace(described[1], **changes)
    rules = MeasureRules(every=1, tasks=tuple(described))
    return msgspec.structs.replace(tiny_manifest(), measure=rules)


def drawn_for(desk: DutyRunnerSetup) -> duties.MeasureDuty:
    return duties.MeasureDuty(first_head(desk.swarm.manifest), is_drawn=True)


async def test_a_drawn_member_answers_the_tasks_and_goes_on_where_a_duty_called_it_away(
    tmp_path: Path, diary: Path
) -> None:
    desk = DutyRunnerSetup(tmp_path, stopped(RoundOpen, rules=with_tasks()), held_out_documents=1)
    asked = drawn_for(desk)
    with trio.fail_after(120):
        async with desk.open() as deeds:
            assert desk.store is not None
            for task in TASKS:
                desk.store.put_blob(task.encode())
            await called_away(desk, deeds, asked, diary, 2, "answer")
            assert not desk.logged(HeadMeasure)
            await deeds.perform(asked, desk.swarm.view)
    assert slices(diary) == [0], "the text was not measured again"
    assert slices(diary, "answer") == [0, 256, 256, 512, 0]
    (body,) = desk.logged(HeadMeasure)
    assert isinstance(body, HeadMeasure)
    assert body.tasks == (
        TaskCounts(asked=600, right=300, right_normed=300, close=3, close_normed=0),
        TaskCounts(asked=3, right=2, right_normed=1, close=1, close_normed=0),
    )
    assert body.sample is not msgspec.UNSET


async def test_a_member_that_is_not_drawn_answers_no_tasks(tmp_path: Path, diary: Path) -> None:
    desk = DutyRunnerSetup(tmp_path, stopped(RoundOpen, rules=with_tasks()), held_out_documents=1)
    with trio.fail_after(120):
        async with desk.open() as deeds:
            await deeds.perform(
                duties.MeasureDuty(first_head(desk.swarm.manifest)), desk.swarm.view
            )
            assert deeds.measuring.bits_per_byte is not None
    assert not slices(diary, "answer")


async def test_a_task_that_cannot_be_answered_leaves_the_text_measured(
    tmp_path: Path, diary: Path
) -> None:
    desk = DutyRunnerSetup(tmp_path, stopped(RoundOpen, rules=with_tasks()), held_out_documents=1)
    head = replace(first_head(desk.swarm.manifest), round=UNWRITTEN)
    with trio.fail_after(120):
        async with desk.open() as deeds:
            assert desk.store is not None
            for task in TASKS:
                desk.store.put_blob(task.encode())
            await deeds.perform(duties.MeasureDuty(head, is_drawn=True), desk.swarm.view)
    (body,) = desk.logged(HeadMeasure)
    assert isinstance(body, HeadMeasure)
    assert (body.tokens, body.tasks) == (4_096, msgspec.UNSET)
    assert slices(diary, "answer") == [0]


@pytest.mark.parametrize("changes", [{"questions": 2}, {"chance_e6": 100}, {"name": "other"}])
async def test_a_file_that_the_manifest_describes_wrongly_is_not_answered(
    tmp_path: Path, diary: Path, changes: dict[str, object]
) -> None:
    rules = with_tasks(**changes)
    desk = DutyRunnerSetup(tmp_path, stopped(RoundOpen, rules=rules), held_out_documents=1)
    with trio.fail_after(120):
        async with desk.open() as deeds:
            assert desk.store is not None
            for task in TASKS:
                desk.store.put_blob(task.encode())
            await deeds.perform(drawn_for(desk), desk.swarm.view)
    (body,) = desk.logged(HeadMeasure)
    assert isinstance(body, HeadMeasure)
    assert body.tasks is msgspec.UNSET
    assert not slices(diary, "answer")


async def test_a_file_that_nobody_has_is_not_waited_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = trio.Event()

    async def fetch_blob(*_: object) -> bytes:  # nobody answers
        waiting.set()
        await trio.sleep_forever()
        raise AssertionError("cancelled")

    monkeypatch.setattr(measure, "TASKS_TIMEOUT_S", 0.3)
    monkeypatch.setattr(Exchange, "fetch_blob", fetch_blob)
    desk = DutyRunnerSetup(tmp_path, stopped(RoundOpen, rules=with_tasks()), held_out_documents=1)
    asked = drawn_for(desk)
    with trio.fail_after(120):
        async with desk.open() as deeds:
            async with trio.open_nursery() as nursery:  # a duty calls it away while it waits
                nursery.start_soon(deeds.perform, asked, desk.swarm.view)
                await waiting.wait()
                nursery.cancel_scope.cancel()
            monkeypatch.setattr(measure, "TASKS_TIMEOUT_S", 3_600.0)
            await deeds.perform(asked, desk.swarm.view)
    (body,) = desk.logged(HeadMeasure)
    assert isinstance(body, HeadMeasure)
    assert body.tasks is msgspec.UNSET
