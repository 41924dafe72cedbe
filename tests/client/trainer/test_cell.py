"""Cells of real processes: they train as one device does, and end when a rank is lost.

A start takes seconds for each rank, so tests that leave a cell whole take over that of the test
before. They are ordered for it: those of one division follow each other, larger cells come first.
"""

from __future__ import annotations

import itertools
import json
import signal
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import psutil
import pytest

from tequio_client.ipc import trainer
from tequio_shared.round.manifest import Algorithm, InnerParams
from tests.client.trainer.conftest import Child
from tests.client.trainer.small_run import CONFIG, DISTRO, FOUR_LAYERS, SmallRun, small_run
from tests.support.audit_limits import WARN, exceeded
from tests.support.cell_ranks import cell_of, other_ranks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from tequio_client.ipc.cell import Division

TOLERANCE = 1e-4
"""Of the relative L2 distance of pseudo-gradients. Ranks add up the same numbers in another order,
so a sum differs in its last bits (6e-8 each); four steps of Muon make 5e-6 of that. A part of a
batch that is lost or counted twice makes more than 0.1."""
SPARSELOCO = Algorithm(k=256)
DIVISIONS: tuple[Division, ...] = ("none", "shard", "pipeline", "tensor")
MANY: dict[Division, int] = {"none": 4, "shard": 3, "pipeline": 4, "tensor": 4}
NUMBERS = itertools.count(1)
"""Of commands: a trainer repeats its answer to a number that it knows."""
FOUR_HEADS = json.dumps({**json.loads(FOUR_LAYERS), "num_key_value_heads": 4}).encode()
"""A part of layers and of heads for each of four ranks."""
WINDOWS = ((0, 40),)
"""Ten windows of two samples in each step: no multiple of three or four ranks."""
SLOW = """
import runpy, sys, time
from tequio_client.trainer import codecs, tasks
encode = codecs.encode
def slowly(*arguments, **options):
    time.sleep(3)
    return encode(*arguments, **options)
codecs.encode = slowly
sys.argv = ["trainer", "console"]
from tequio_client.trainer import main
from tequio_client.ipc import cell
import os
main.main("console", place=cell.decode_place(os.environ[cell.VARIABLE]))
"""
"""Rank 0, outside the sandbox, with an encoding that takes three seconds."""


class Cells:
    """A trainer on one device, or the latest cell of a division, which outlive a test."""

    def __init__(self, division: Division = "none") -> None:
        self._division = division
        self._running = ExitStack()
        self._child: Child | None = None
        self._ranks = 0

    @contextmanager
    def of(self, ranks: int) -> Iterator[Child]:
        """The cell with that number of ranks, or a new one; it ends when the test fails."""
        child = self._child
        if child is None or ranks != self._ranks or child.process.poll() is not None:
            child = self._start(ranks)
        child.allow()
        try:
            yield child
        except BaseException:
            self.end()
            raise

    def _start(self, ranks: int) -> Child:
        self.end()
        if ranks == 1:
            child = Child()
            self._running.callback(child.end)
        else:
            child = self._running.enter_context(cell_of(ranks, division=self._division))
        self._child, self._ranks = child, ranks
        return child

    def end(self) -> None:
        """End what runs."""
        self._child = None
        self._running.close()


@pytest.fixture(scope="module")
def device() -> Iterator[Cells]:
    """One device by itself."""
    one = Cells()
    yield one
    one.end()


@pytest.fixture(scope="module", params=DIVISIONS)
def division(request: pytest.FixtureRequest) -> Division:
    chosen: Division = request.param
    return chosen


@pytest.fixture(scope="module")
def cells(division: Division) -> Iterator[Cells]:
    """Cells of that division."""
    divided = Cells(division)
    yield divided
    divided.end()


def contribute(child: Child, run: SmallRun, name: str) -> tuple[trainer.Train, trainer.Trained]:
    """Prepare and train."""
    child.send(run.prepare(next(NUMBERS)))
    child.until(trainer.TrainerReady)
    task = run.train(next(NUMBERS), name, windows=WINDOWS)
    child.send(task)
    return task, child.until(trainer.Trained)


def delta(task: trainer.Train) -> NDArray[np.float32]:
    return np.fromfile(task.delta_out, "<f4")


def distance(one: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    return float(np.linalg.norm(one - other) / np.linalg.norm(other))


def advanced(child: Child, run: SmallRun, task: trainer.Train, header: str) -> str:
    """Head after a round that accepts this alone."""
    child.send(
        trainer.Advance(
            command=next(NUMBERS),
            round=1,
            run=run.run,
            parent=run.head,
            k=task.k,
            weights=run.weights,
            weights_out=str(run.folder / "next.weights"),
            contributions=(trainer.Contribution(header=header, payload=task.payload_out),),
        )
    )
    return child.until(trainer.AdvanceReport).head


def failed(child: Child) -> trainer.Failed:
    while not isinstance(report := child.next(), trainer.Failed):
        assert not isinstance(report, trainer.Trained), "trained, although a rank is gone"
    return report


def await_doing(cell: Child, what: str, command: int) -> None:
    while True:
        report = cell.next()
        if not isinstance(report, trainer.TrainerHeartbeat):
            continue
        if (report.command, report.doing) == (command, what):
            return


def check_it_trains_as_one_device(run: SmallRun, cells: Cells, ranks: int, device: Cells) -> None:
    with cells.of(ranks) as cell:
        mine, made = contribute(cell, run, f"cell{ranks}")
        head = advanced(cell, run, mine, made.header)
    with device.of(1) as one:
        alone, reference = contribute(one, run, "alone")
        assert (made.steps, made.windows) == (reference.steps, reference.windows)
        assert made.loss_first == pytest.approx(reference.loss_first, rel=1e-5)
        assert made.loss_last == pytest.approx(reference.loss_last, rel=1e-4)
        assert distance(delta(mine), delta(alone)) < TOLERANCE
        assert advanced(one, run, mine, made.header) == head
        one.send(run.audit(next(NUMBERS), mine, made.header))
        figures = one.until(trainer.Audited).figures
        assert figures.hidden is not None
        assert exceeded(figures, WARN) == ()


def run_of(path: Path, division: Division, algorithm: Algorithm = SPARSELOCO) -> SmallRun:
    """A run whose model can be divided so."""
    config = {"pipeline": FOUR_LAYERS, "tensor": FOUR_HEADS}.get(division, CONFIG)
    steps = InnerParams(steps=min(algorithm.max_inner_steps, 4))
    return small_run(path, algorithm=algorithm, inner=steps, config=config)


def test_many_ranks_train_what_one_device_trains_and_an_audit_on_one_device_is_clear(
    tmp_path: Path, division: Division, cells: Cells, device: Cells
) -> None:
    check_it_trains_as_one_device(run_of(tmp_path, division), cells, MANY[division], device)


@pytest.mark.parametrize("division", ["pipeline"], indirect=True)
def test_a_model_with_fewer_layers_than_ranks_is_refused_and_leaves_the_pipeline_whole(
    tmp_path: Path, cells: Cells
) -> None:
    run, other = small_run(tmp_path / "one"), small_run(tmp_path / "other", config=FOUR_LAYERS)
    with cells.of(MANY["pipeline"]) as cell:
        cell.send(run.prepare(next(NUMBERS)))
        report = failed(cell)
        assert (report.code, report.fatal) == ("model", False)
        assert "has 2 for 4 ranks: start the cell with fewer ranks" in report.reason
        cell.send(other.prepare(next(NUMBERS)))
        work = cell.until(trainer.TrainerReady).rank_work
        # Every trained weight is one rank's.
        assert sum(work) == other.manifest.model.parameters
        assert len(work) == MANY["pipeline"]
        cell.send(other.train(next(NUMBERS), "another", windows=WINDOWS))
        assert cell.until(trainer.Trained).steps == 4


def test_a_rank_that_is_killed_in_the_middle_ends_the_cell_and_the_next_trains(
    tmp_path: Path, division: Division, cells: Cells
) -> None:
    run = small_run(tmp_path, config=FOUR_HEADS)
    with cells.of(MANY[division]) as cell:
        cell.send(run.prepare(next(NUMBERS)))
        cell.until(trainer.TrainerReady)
        task = run.train(next(NUMBERS), "broken", windows=((0, 60_000),))
        cell.send(task)
        await_doing(cell, "training", task.command)
        ranks = other_ranks(cell)
        ranks[1].send_signal(signal.SIGKILL)
        report = failed(cell)
        assert (report.command, report.code, report.fatal) == (task.command, "cell", True)
        cell.process.wait(10)
    _, alive = psutil.wait_procs(ranks, timeout=10)
    assert not alive, "the other ranks end with it"
    with cells.of(2) as cell:
        assert contribute(cell, run, "after")[1].steps == 4


def test_two_ranks_train_what_one_device_trains_and_an_audit_on_one_device_is_clear(
    tmp_path: Path, division: Division, cells: Cells, device: Cells
) -> None:
    check_it_trains_as_one_device(run_of(tmp_path, division), cells, 2, device)


def test_a_model_is_measured_and_trained_again_and_a_task_replaced(
    run: SmallRun, cells: Cells, device: Cells
) -> None:
    with device.of(1) as one:
        one.send(run.prepare(next(NUMBERS)))
        one.send(run.evaluate(next(NUMBERS)))
        expected = one.until(trainer.Evaluated).millibits
    with cells.of(2) as cell:
        cell.send(run.prepare(next(NUMBERS)))
        task = run.train(next(NUMBERS), "dropped", windows=((0, 8_000),))
        cell.send(task)
        await_doing(cell, "training", task.command)
        cell.send(rest := trainer.Rest(command=next(NUMBERS)))
        assert cell.until(trainer.Resting).command == rest.command
        cell.send(run.evaluate(next(NUMBERS)))
        assert cell.until(trainer.Evaluated).millibits == expected
        cell.send(run.train(next(NUMBERS), "again", windows=WINDOWS))
        assert cell.until(trainer.Trained).steps == 4


WHOLE = pytest.mark.parametrize("division", ["none"], indirect=True)
"""Of ranks that have the whole model each."""


@WHOLE
def test_two_ranks_train_by_distro_what_one_device_trains(
    tmp_path: Path, division: Division, cells: Cells, device: Cells
) -> None:
    check_it_trains_as_one_device(run_of(tmp_path, division, DISTRO), cells, 2, device)


@WHOLE
def test_a_cell_audits_the_work_of_one_device(run: SmallRun, cells: Cells, device: Cells) -> None:
    with device.of(1) as one:
        task, made = contribute(one, run, "plain")
    with cells.of(2) as cell:
        cell.send(run.prepare(next(NUMBERS)))
        cell.send(run.audit(next(NUMBERS), task, made.header))
        assert exceeded(cell.until(trainer.Audited).figures, WARN) == ()


@WHOLE
def test_a_replaced_task_and_one_that_must_finish_leave_the_cell_whole(
    run: SmallRun, cells: Cells
) -> None:
    with cells.of(2) as cell:
        cell.send(run.prepare(next(NUMBERS)))
        dropped = run.train(next(NUMBERS), "dropped", windows=((0, 60_000),))
        cell.send(dropped)
        await_doing(cell, "training", dropped.command)
        cell.send(rest := trainer.Rest(command=next(NUMBERS)))
        assert cell.until(trainer.Resting).command == rest.command
        ranks = other_ranks(cell)
        # The share's pause leaves time to be asked to finish, and new limits reach every rank.
        cell.send(run.prepare(next(NUMBERS), share_percent=1))
        task = run.train(next(NUMBERS), "finished", windows=((0, 400),))
        cell.send(task)
        cell.send(trainer.Finish(command=task.command))
        done = cell.until(trainer.Trained)
        assert (done.command, done.steps, done.windows) == (task.command, 1, 100)
        cell.send(run.prepare(next(NUMBERS)))
        cell.send(run.train(next(NUMBERS), "whole", windows=WINDOWS))
        assert cell.until(trainer.Trained).steps == 4
        assert other_ranks(cell) == ranks


@WHOLE
def test_a_model_that_cannot_be_built_is_refused_and_leaves_the_cell_whole(
    run: SmallRun, cells: Cells
) -> None:
    broken = run.folder / "broken.json"
    broken.write_text("{}")
    with cells.of(2) as cell:
        cell.send(run.prepare(next(NUMBERS), config=str(broken)))
        report = failed(cell)
        assert (report.code, report.fatal) == ("model", False)
        cell.send(run.prepare(next(NUMBERS)))
        cell.until(trainer.TrainerReady)
        cell.send(run.train(next(NUMBERS), "good", windows=WINDOWS))
        assert cell.until(trainer.Trained).steps == 4


@WHOLE
def test_the_work_of_a_cell_is_repeatable_to_the_bit(run: SmallRun, cells: Cells) -> None:
    with cells.of(2) as cell:
        tasks = [contribute(cell, run, f"twice{number}")[0] for number in range(2)]
    one, other = (Path(task.payload_out).read_bytes() for task in tasks)
    assert one == other


@WHOLE
def test_a_rank_that_is_killed_before_the_first_step_ends_the_cell(
    run: SmallRun, cells: Cells
) -> None:
    with cells.of(2) as cell:
        cell.send(run.prepare(next(NUMBERS)))
        cell.until(trainer.TrainerReady)
        other_ranks(cell)[0].send_signal(signal.SIGKILL)
        cell.send(run.train(next(NUMBERS), "unstarted", windows=((0, 60_000),)))
        report = failed(cell)
        assert (report.code, report.fatal) == ("cell", True)
    assert not (run.folder / "unstarted.payload").exists()


def test_a_rank_that_is_killed_while_the_first_encodes_ends_the_cell(run: SmallRun) -> None:
    with cell_of(2, ("-c", SLOW)) as cell:
        cell.send(run.prepare(1))
        cell.until(trainer.TrainerReady)
        cell.send(run.train(2, "unsent", windows=WINDOWS))
        await_doing(cell, "encoding", 2)
        other_ranks(cell)[0].send_signal(signal.SIGKILL)
        assert failed(cell).code == "cell"
    assert not (run.folder / "unsent.payload").exists()


@pytest.mark.parametrize("division", ["shard"], indirect=True)
def test_ranks_end_with_the_first_one(run: SmallRun, cells: Cells) -> None:
    with cells.of(2) as cell:
        cell.send(run.prepare(next(NUMBERS)))
        cell.until(trainer.TrainerReady)
        ranks = other_ranks(cell)
        begun = time.monotonic()
        cell.process.kill()
        _, alive = psutil.wait_procs(ranks, timeout=10)
    assert ranks
    assert not alive, time.monotonic() - begun
