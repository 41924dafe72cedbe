"""Every task of a trainer rests between blocks; the clock is the test's, and no rest takes time."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from tequio_client.ipc import trainer
from tequio_client.trainer import pacing, prepared, tasks
from tequio_client.trainer.main import TaskQueue, TaskReplacedError, TrainerActivity
from tequio_client.trainer.pacing import FULL_PACE, Pacing
from tequio_client.trainer.task_context import TaskContext
from tests.client.trainer.small_run import CONFIG, KEYS, small_run
from tests.support.small_tasks import small_task

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tequio_client.trainer.main import ModelTask
    from tequio_client.trainer.prepared import PreparedModel
    from tests.client.trainer.small_run import SmallRun

SHARE = 10
OWN_PACE, DUTY = 9.0, 1.0
"""Seconds of rest for each second of computing: at that share, and of a duty."""
STEPS = 4
WIDE = json.dumps({**json.loads(CONFIG), "hidden_size": 256}).encode()


class FakeTime:
    """A clock that only sleeping and computing move; each block that was computed took a second."""

    def __init__(self) -> None:
        self.now_s = 1_000.0
        self.slept_s = 0.0
        self.blocks = 0
        self.on_sleep: Callable[[], None] = lambda: None

    def perf_counter(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds
        self.slept_s += seconds
        self.on_sleep()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeTime:
    fake, rest = FakeTime(), Pacing.rest

    def counted(self: Pacing, is_over: Callable[[], bool] = lambda: False) -> None:
        if self is not FULL_PACE:
            fake.now_s += 1
            fake.blocks += 1
        rest(self, is_over)

    monkeypatch.setattr(pacing, "time", fake)
    monkeypatch.setattr(Pacing, "rest", counted)
    return fake


def test_computing_takes_its_share_of_the_time(clock: FakeTime) -> None:
    paced = Pacing(lambda: 25)
    paced.begin()
    for _ in range(4):
        paced.rest()
    assert clock.slept_s == pytest.approx(12)


def test_a_higher_share_shortens_the_rest_under_way(clock: FakeTime) -> None:
    share = [10]
    paced = Pacing(lambda: share[0])
    paced.begin()
    clock.on_sleep = lambda: share.__setitem__(0, 50)
    paced.rest()
    assert clock.slept_s == pytest.approx(1)


def test_what_must_end_does_not_wait_for_its_rest(clock: FakeTime) -> None:
    paced = Pacing(lambda: 10)
    paced.begin()
    paced.rest(lambda: clock.slept_s > 0.5)
    assert clock.slept_s == pytest.approx(0.6)


def test_each_thread_rests_for_what_it_computed_itself(clock: FakeTime) -> None:
    paced = Pacing(lambda: 50)
    paced.begin()
    clock.now_s += 100

    def compute() -> None:
        for _ in range(3):
            paced.rest()

    thread = threading.Thread(target=compute)
    thread.start()
    thread.join()
    assert clock.slept_s == pytest.approx(2), "from its first call on"


def test_what_a_thread_waited_for_the_first_one_is_not_its_computing(clock: FakeTime) -> None:
    paced = Pacing(lambda: 50)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(paced.rest).result()
        clock.now_s += 100
        paced.begin()
        pool.submit(paced.rest).result()
    assert clock.slept_s == pytest.approx(1)


@pytest.fixture(scope="module")
def model(run: SmallRun) -> PreparedModel:
    return prepared.prepare_model(run.prepare(1))


def perform(
    model: PreparedModel, task: ModelTask, share_percent: int = SHARE
) -> trainer.CommandReport:
    """Have the model do it, as the trainer's loop does."""
    limited = model.with_limits(replace(model.prepare, share_percent=share_percent))
    queue = TaskQueue()
    queue.put(limited.prepare)
    queue.put(task)
    context = TaskContext(
        setup=limited, queue=queue, task=task, report=lambda _: None, activity=TrainerActivity()
    )
    return tasks.run(context)


def train(
    model: PreparedModel, run: SmallRun, folder: Path, slot: int = 0
) -> tuple[trainer.Train, str]:
    """A contribution that was made at full pace, and its header."""
    outs = {out: str(folder / f"{out}-{slot}") for out in ("payload_out", "feedback_out")}
    outs["delta_out"] = str(folder / f"delta-{slot}")
    task = run.train(1, "", trainer=KEYS[slot], windows=((8 * slot, 8),), **outs)
    report = perform(model, task, share_percent=100)
    assert isinstance(report, trainer.Trained)
    return task, report.header


def test_training_rests_as_chosen_and_encoding_as_a_duty(
    clock: FakeTime, model: PreparedModel, run: SmallRun, tmp_path: Path
) -> None:
    outs = {out: str(tmp_path / out) for out in ("payload_out", "feedback_out", "delta_out")}
    perform(model, run.train(1, "", **outs))
    encoding = clock.blocks - STEPS
    assert encoding > 0
    assert clock.slept_s == pytest.approx(OWN_PACE * STEPS + DUTY * encoding)


def test_a_volunteers_whole_time_has_no_rests(
    clock: FakeTime, model: PreparedModel, run: SmallRun, tmp_path: Path
) -> None:
    train(model, run, tmp_path)
    assert clock.blocks > STEPS
    assert clock.slept_s == 0


def evaluate(run: SmallRun, _folder: Path) -> ModelTask:
    return run.evaluate(1, prompt="milpa", sample_tokens=8)


def carry_on(run: SmallRun, _folder: Path) -> ModelTask:
    return trainer.Continue(
        command=1, round=0, weights=run.weights, shards=run.held_out, document=0
    )


def answer_questions(run: SmallRun, folder: Path) -> ModelTask:
    (folder / "words.task").write_bytes(small_task(8).encode())
    return trainer.AnswerQuestions(
        command=1,
        round=0,
        weights=run.weights,
        task=str(folder / "words.task"),
        first=0,
        count=8,
    )


@pytest.mark.parametrize("make", [evaluate, carry_on, answer_questions])
def test_showing_what_a_head_can_do_rests_as_chosen(
    clock: FakeTime,
    model: PreparedModel,
    run: SmallRun,
    tmp_path: Path,
    make: Callable[[SmallRun, Path], ModelTask],
) -> None:
    perform(model, make(run, tmp_path))
    assert clock.blocks > 1
    assert clock.slept_s == pytest.approx(OWN_PACE * clock.blocks)


Works = list[tuple[trainer.Train, str]]


def screen(run: SmallRun, works: Works) -> ModelTask:
    one = run.audit(1, *works[0]).audited
    others = tuple(replace(one, slot=slot, trainer=KEYS[slot]) for slot in range(4))
    return trainer.Screen(command=1, round=1, run=run.run, head=run.head, k=256, candidates=others)


def gains(run: SmallRun, works: Works) -> ModelTask:
    slot = trainer.MeasuredSlot(slot=0, payload=works[0][0].payload_out, windows=(0, 1))
    return trainer.MeasureGains(
        command=1,
        round=1,
        weights=run.weights,
        k=256,
        shards=run.shards,
        slots=(slot,),
        control=(9, 10),
        stop_after_ms=60_000,
    )


def next_head(run: SmallRun, works: Works) -> ModelTask:
    members = [
        trainer.Contribution(header=header, payload=task.payload_out) for task, header in works
    ]
    return trainer.Advance(
        command=1,
        round=1,
        run=run.run,
        parent=run.head,
        k=256,
        weights=run.weights,
        weights_out=f"{works[0][0].payload_out}.head",
        contributions=tuple(members),
    )


@pytest.mark.parametrize("make", [screen, gains])
def test_what_other_members_wait_for_rests_for_half_of_the_time_at_most(
    clock: FakeTime,
    model: PreparedModel,
    run: SmallRun,
    tmp_path: Path,
    make: Callable[[SmallRun, Works], ModelTask],
) -> None:
    works = [train(model, run, tmp_path, slot) for slot in range(2)]
    before = clock.blocks
    perform(model, make(run, works))
    assert 0 < clock.slept_s <= DUTY * (clock.blocks - before)


def test_the_next_head_rests_as_a_duty(clock: FakeTime, tmp_path: Path) -> None:
    run = small_run(tmp_path / "run", config=WIDE)
    model = prepared.prepare_model(run.prepare(1))
    works = [train(model, run, tmp_path, slot) for slot in range(2)]
    before = clock.blocks
    perform(model, next_head(run, works))
    assert run.origin.layout.chunks > 64, "more than one block"
    assert 0 < clock.slept_s <= DUTY * (clock.blocks - before)


def test_an_audit_trains_as_chosen_and_compares_as_a_duty(
    clock: FakeTime, model: PreparedModel, run: SmallRun, tmp_path: Path
) -> None:
    task, header = train(model, run, tmp_path)
    before = clock.blocks
    perform(model, run.audit(1, task, header))
    comparing = clock.blocks - before - STEPS
    assert comparing > 0
    assert clock.slept_s == pytest.approx(OWN_PACE * STEPS + DUTY * comparing)


def test_a_rest_ends_as_soon_as_another_task_is_wanted(
    clock: FakeTime, model: PreparedModel, run: SmallRun
) -> None:
    limited = model.with_limits(replace(model.prepare, share_percent=SHARE))
    queue, task = TaskQueue(), run.evaluate(1)
    queue.put(limited.prepare)
    queue.put(task)
    context = TaskContext(
        setup=limited, queue=queue, task=task, report=lambda _: None, activity=TrainerActivity()
    )
    clock.on_sleep = lambda: queue.put(trainer.Rest(command=2))
    with pytest.raises(TaskReplacedError):
        context.check()
    assert clock.slept_s == pytest.approx(pacing.POLL_S)
