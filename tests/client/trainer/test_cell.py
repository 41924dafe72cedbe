"""Cells of real processes: they train as one device does, and end when a rank is lost."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import psutil
import pytest

from tequio_client.ipc import trainer
from tequio_client.trainer.audit import WARN, exceeded
from tequio_shared.round.manifest import Algorithm, InnerParams
from tests.client.trainer.conftest import Child
from tests.client.trainer.small_run import CONFIG, DISTRO, FOUR_LAYERS, SmallRun, small_run
from tests.support.cell_ranks import cell_of, other_ranks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tequio_client.ipc.cell import Division

TOLERANCE = 1e-4
"""Of the relative L2 distance of pseudo-gradients. Ranks add up the same numbers in another order,
so a sum differs in its last bits (6e-8 each); four steps of Muon make 5e-6 of that. A part of a
batch that is lost or counted twice makes more than 0.1."""
SPARSELOCO = Algorithm(k=256)
FOUR_HEADS = json.dumps({**json.loads(FOUR_LAYERS), "num_key_value_heads": 4}).encode()
"""A part of layers and of heads for each of four ranks."""
WINDOWS = ((0, 40),)
"""Ten windows of two samples in each step: no multiple of four ranks."""
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


def contribute(child: Child, run: SmallRun, name: str) -> tuple[trainer.Train, trainer.Trained]:
    """Prepare and train."""
    child.send(run.prepare(1))
    child.until(trainer.TrainerReady)
    task = run.train(2, name, windows=WINDOWS)
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
            command=7,
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


@pytest.mark.parametrize(
    ("ranks", "algorithm", "division"),
    [
        (2, SPARSELOCO, "none"),
        (4, SPARSELOCO, "none"),
        (2, DISTRO, "none"),
        (2, SPARSELOCO, "shard"),
        (3, SPARSELOCO, "shard"),
        (2, SPARSELOCO, "pipeline"),
        (4, SPARSELOCO, "pipeline"),
        (2, SPARSELOCO, "tensor"),
        (4, SPARSELOCO, "tensor"),
    ],
)
def test_ranks_train_what_one_device_trains_and_an_audit_on_one_device_is_clear(
    tmp_path: Path, ranks: int, algorithm: Algorithm, division: Division
) -> None:
    config = {"pipeline": FOUR_LAYERS, "tensor": FOUR_HEADS}.get(division, CONFIG)
    steps = InnerParams(steps=min(algorithm.max_inner_steps, 4))
    run = small_run(tmp_path, algorithm=algorithm, inner=steps, config=config)
    with cell_of(ranks, division=division) as cell:
        mine, made = contribute(cell, run, f"cell{ranks}")
        head = advanced(cell, run, mine, made.header)
    one = Child()
    alone, reference = contribute(one, run, "alone")
    assert (made.steps, made.windows) == (reference.steps, reference.windows)
    assert made.loss_first == pytest.approx(reference.loss_first, rel=1e-5)
    assert made.loss_last == pytest.approx(reference.loss_last, rel=1e-4)
    assert distance(delta(mine), delta(alone)) < TOLERANCE
    assert advanced(one, run, mine, made.header) == head
    one.send(run.audit(9, mine, made.header))
    figures = one.until(trainer.Audited).figures
    assert figures.hidden is not None
    assert exceeded(figures, WARN) == ()
    one.end()


def test_a_cell_audits_the_work_of_one_device(run: SmallRun) -> None:
    one = Child()
    task, made = contribute(one, run, "plain")
    one.end()
    with cell_of(2) as cell:
        cell.send(run.prepare(1))
        cell.send(run.audit(9, task, made.header))
        assert exceeded(cell.until(trainer.Audited).figures, WARN) == ()


def await_doing(cell: Child, what: str) -> None:
    while True:
        report = cell.next()
        if isinstance(report, trainer.TrainerHeartbeat) and report.doing == what:
            return


def test_a_replaced_task_and_one_that_must_finish_leave_the_cell_whole(run: SmallRun) -> None:
    with cell_of(2) as cell:
        cell.send(run.prepare(1))
        cell.send(run.train(3, "dropped", windows=((0, 60_000),)))
        await_doing(cell, "training")
        cell.send(trainer.Rest(command=4))
        assert cell.until(trainer.Resting).command == 4
        ranks = other_ranks(cell)
        # The share's pause leaves time to be asked to finish, and new limits reach every rank.
        cell.send(run.prepare(5, share_percent=1))
        cell.send(run.train(6, "finished", windows=((0, 400),)))
        cell.send(trainer.Finish(command=6))
        done = cell.until(trainer.Trained)
        assert (done.command, done.steps, done.windows) == (6, 1, 100)
        cell.send(run.prepare(8))
        task = run.train(9, "whole", windows=WINDOWS)
        cell.send(task)
        assert cell.until(trainer.Trained).steps == 4
        assert other_ranks(cell) == ranks


@pytest.mark.parametrize("division", ["shard", "pipeline", "tensor"])
def test_a_divided_model_is_measured_and_trained_again_and_a_task_replaced(
    run: SmallRun, division: Division
) -> None:
    one = Child()
    one.send(run.prepare(1))
    one.send(run.evaluate(2))
    expected = one.until(trainer.Evaluated).millibits
    one.end()
    with cell_of(2, division=division) as cell:
        cell.send(run.prepare(1))
        cell.send(run.train(3, "dropped", windows=((0, 8_000),)))
        await_doing(cell, "training")
        cell.send(trainer.Rest(command=4))
        assert cell.until(trainer.Resting).command == 4
        cell.send(run.evaluate(5))
        assert cell.until(trainer.Evaluated).millibits == expected
        cell.send(run.train(6, "again", windows=WINDOWS))
        assert cell.until(trainer.Trained).steps == 4


def test_a_model_with_fewer_layers_than_ranks_is_refused_and_leaves_the_pipeline_whole(
    tmp_path: Path,
) -> None:
    run, other = small_run(tmp_path / "one"), small_run(tmp_path / "other", config=FOUR_LAYERS)
    with cell_of(3, division="pipeline") as cell:
        cell.send(run.prepare(1))
        report = failed(cell)
        assert (report.code, report.fatal) == ("model", False)
        assert "has 2 for 3 ranks: start the cell with fewer ranks" in report.reason
        cell.send(other.prepare(2))
        work = cell.until(trainer.TrainerReady).rank_work
        # Every trained weight is one rank's.
        assert sum(work) == other.manifest.model.parameters
        assert len(work) == 3
        cell.send(other.train(3, "another", windows=WINDOWS))
        assert cell.until(trainer.Trained).steps == 4


def test_a_rank_that_is_killed_before_the_first_step_ends_the_cell(run: SmallRun) -> None:
    with cell_of(2) as cell:
        cell.send(run.prepare(1))
        cell.until(trainer.TrainerReady)
        other_ranks(cell)[0].send_signal(signal.SIGKILL)
        cell.send(run.train(2, "unstarted", windows=((0, 60_000),)))
        report = failed(cell)
        assert (report.code, report.fatal) == ("cell", True)
    assert not (run.folder / "unstarted.payload").exists()


@pytest.mark.parametrize("division", ["none", "shard", "pipeline", "tensor"])
def test_a_rank_that_is_killed_in_the_middle_ends_the_cell_and_the_next_trains(
    tmp_path: Path, division: Division
) -> None:
    run = small_run(tmp_path, config=FOUR_HEADS)
    with cell_of(4, division=division) as cell:
        cell.send(run.prepare(1))
        cell.until(trainer.TrainerReady)
        cell.send(run.train(2, "broken", windows=((0, 60_000),)))
        await_doing(cell, "training")
        ranks = other_ranks(cell)
        ranks[1].send_signal(signal.SIGKILL)
        report = failed(cell)
        assert (report.command, report.code, report.fatal) == (2, "cell", True)
        cell.process.wait(10)
    _, alive = psutil.wait_procs(ranks, timeout=10)
    assert not alive, "the other ranks end with it"
    with cell_of(2, division=division) as cell:
        assert contribute(cell, run, "after")[1].steps == 4


def test_a_rank_that_is_killed_while_the_first_encodes_ends_the_cell(run: SmallRun) -> None:
    with cell_of(2, ("-c", SLOW)) as cell:
        cell.send(run.prepare(1))
        cell.until(trainer.TrainerReady)
        cell.send(run.train(2, "unsent", windows=WINDOWS))
        await_doing(cell, "encoding")
        other_ranks(cell)[0].send_signal(signal.SIGKILL)
        assert failed(cell).code == "cell"
    assert not (run.folder / "unsent.payload").exists()


def test_ranks_end_with_the_first_one(run: SmallRun) -> None:
    with cell_of(2) as cell:
        cell.send(run.prepare(1))
        cell.until(trainer.TrainerReady)
        ranks = other_ranks(cell)
        begun = time.monotonic()
        cell.process.kill()
        _, alive = psutil.wait_procs(ranks, timeout=10)
    assert ranks
    assert not alive, time.monotonic() - begun


def test_a_model_that_cannot_be_built_is_refused_and_leaves_the_cell_whole(run: SmallRun) -> None:
    broken = run.folder / "broken.json"
    broken.write_text("{}")
    with cell_of(2) as cell:
        cell.send(run.prepare(1, config=str(broken)))
        report = failed(cell)
        assert (report.code, report.fatal) == ("model", False)
        cell.send(run.prepare(2))
        cell.until(trainer.TrainerReady)
        cell.send(run.train(3, "good", windows=WINDOWS))
        assert cell.until(trainer.Trained).steps == 4


def test_the_work_of_a_cell_is_repeatable_to_the_bit(run: SmallRun) -> None:
    payloads = []
    with cell_of(2) as cell:
        for number in (2, 3):
            cell.send(run.prepare(1))
            task = run.train(number, f"twice{number}", windows=WINDOWS)
            cell.send(task)
            cell.until(trainer.Trained)
            payloads.append(Path(task.payload_out).read_bytes())
    assert payloads[0] == payloads[1]
