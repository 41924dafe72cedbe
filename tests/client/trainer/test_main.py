"""A real trainer process, driven over pipes as the worker drives it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pytest

from tequio_client.ipc import trainer
from tequio_shared.head.contribution import ContributionHeader, RecordShape, payload_root
from tequio_shared.head.head import WEIGHT_UNIT
from tequio_shared.ids import from_text, to_text
from tests.client.trainer.conftest import INTERPRETED, Child
from tests.support.timing_slack import allowed_s

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.client.trainer.small_run import SmallRun

MEMORY_MB = 450


@pytest.fixture(scope="module")
def child() -> Iterator[Child]:
    """A trainer that Python starts, as a worker does: it enters its sandbox before torch loads."""
    one = Child(INTERPRETED)
    yield one
    one.end()


@pytest.fixture(scope="module")
def prepared(child: Child, run: SmallRun) -> Child:
    child.send(run.prepare(1))
    assert child.until(trainer.TrainerReady).command == 1
    return child


def test_training_leaves_the_contribution_that_the_report_names(
    prepared: Child, run: SmallRun
) -> None:
    task = run.train(10, "first")
    prepared.send(task)
    trained = prepared.until(trainer.Trained)
    header = ContributionHeader.parse(from_text(trained.header, 216))
    payload = Path(task.payload_out).read_bytes()
    shape = RecordShape(algorithm="sparseloco", k=256, bits=2)
    assert (trained.command, trained.windows, trained.steps) == (10, 8, 4)
    assert header.payload_root == payload_root(payload, shape)
    assert (header.window_count, header.tokens) == (8, 8 * run.manifest.windows.tokens)
    assert to_text(header.base_head) == run.head
    assert trained.loss_last < trained.loss_first
    assert Path(task.feedback_out).stat().st_size == 2 * run.origin.layout.elements
    assert not list(run.folder.glob(".*.part"))


def test_a_finished_command_sent_again_gets_the_same_answer_without_work(
    prepared: Child, run: SmallRun
) -> None:
    task = run.train(20, "again")
    prepared.send(task)
    first = prepared.until(trainer.Trained)
    Path(task.payload_out).unlink()
    prepared.send(task)
    assert prepared.until(trainer.Trained) == first
    assert not Path(task.payload_out).exists()


def test_the_same_head_and_windows_give_the_same_bytes(prepared: Child, run: SmallRun) -> None:
    one, other = run.train(30, "one"), run.train(31, "other")
    reports = []
    for task in (one, other):
        prepared.send(task)
        reports.append(prepared.until(trainer.Trained))
    assert reports[0].contribution == reports[1].contribution
    assert Path(one.payload_out).read_bytes() == Path(other.payload_out).read_bytes()


def test_a_newer_task_replaces_the_one_in_work(prepared: Child, run: SmallRun) -> None:
    prepared.send(run.train(40, "dropped", windows=((0, 60_000),)))
    while not (
        isinstance(report := prepared.next(), trainer.TrainerHeartbeat) and report.command == 40
    ):
        pass
    prepared.send(trainer.Rest(command=41))
    assert prepared.until(trainer.Resting).command == 41
    assert not (run.folder / "dropped.payload").exists()


def test_a_training_that_must_finish_hands_in_what_it_has(prepared: Child, run: SmallRun) -> None:
    # 4 steps of 15,000 windows each would take minutes; a step of one window takes milliseconds.
    prepared.send(run.prepare(49, share_percent=1))
    prepared.until(trainer.TrainerReady)
    prepared.send(run.train(50, "finish", windows=((0, 400),)))
    prepared.send(trainer.Finish(command=50))
    trained = prepared.until(trainer.Trained)
    assert (trained.command, trained.steps, trained.windows) == (50, 1, 100)
    header = ContributionHeader.parse(from_text(trained.header, 216))
    assert (header.inner_steps, header.window_count) == (1, 100)
    prepared.send(run.prepare(51))
    assert prepared.until(trainer.TrainerReady).command == 51


def test_time_ends_training_too(prepared: Child, run: SmallRun) -> None:
    prepared.send(run.train(60, "late", windows=((0, 400),), stop_after_ms=1))
    assert prepared.until(trainer.Trained).steps == 1


def test_a_head_advances_to_the_roots_it_reports(prepared: Child, run: SmallRun) -> None:
    members = []
    for number in range(2):
        task = run.train(70 + number, f"member{number}", windows=((8 * number, 8),))
        prepared.send(task)
        header = prepared.until(trainer.Trained).header
        members.append(trainer.Contribution(header=header, payload=task.payload_out))
    out = run.folder / "head-1.weights"
    prepared.send(
        trainer.Advance(
            command=75,
            round=1,
            run=run.run,
            parent=run.head,
            k=256,
            weights=run.weights,
            weights_out=str(out),
            contributions=tuple(members),
        )
    )
    advanced = prepared.until(trainer.AdvanceReport)
    before, after = (np.fromfile(path, "<i4") * WEIGHT_UNIT for path in (run.weights, out))
    assert len(advanced.kept) == 2
    assert 0 < np.abs(after - before).max() < 1
    prepared.send(run.evaluate(76))
    prepared.send(run.evaluate(77, weights=str(out), round=1, prompt="milpa", sample_tokens=8))
    scores = [prepared.until(trainer.Evaluated)]
    if scores[0].command == 76:
        scores.append(prepared.until(trainer.Evaluated))
    assert scores[-1].bits_per_byte < 8.2
    assert scores[-1].sample


def test_what_cannot_be_done_is_told_with_the_reason(prepared: Child, run: SmallRun) -> None:
    prepared.send(run.train(80, "missing", weights="/nowhere"))
    while not isinstance(report := prepared.next(), trainer.Failed):
        pass
    assert (report.command, report.code, report.fatal) == (80, "input", False)
    prepared.send_line(b'{"type":"dance"}\n')
    while not isinstance(report := prepared.next(), trainer.Failed):
        pass
    assert (report.command, report.code) == (0, "malformed")


def test_infinite_weights_send_nothing(prepared: Child, tmp_path: Path, run: SmallRun) -> None:
    inner = msgspec.structs.replace(run.manifest.inner, lr_e9=2**53 - 1, decay_e6=2**53 - 1)
    manifest = msgspec.structs.replace(run.manifest, inner=inner)
    (tmp_path / "manifest.json").write_bytes(manifest.encode())
    prepared.send(run.prepare(89, manifest=str(tmp_path / "manifest.json")))
    prepared.until(trainer.TrainerReady)
    prepared.send(run.train(90, "wild", windows=((0, 64),)))
    while not isinstance(report := prepared.next(), trainer.Failed):
        pass
    assert report.code == "non_finite"
    assert not (run.folder / "wild.payload").exists()


def test_an_unprepared_trainer_can_rest_and_says_why_it_cannot_train(run: SmallRun) -> None:
    child = Child()
    child.send(trainer.Rest(command=1))
    assert child.until(trainer.Resting).command == 1
    child.send(run.train(2, "unprepared"))
    while not isinstance(report := child.next(), trainer.Failed):
        pass
    assert report.code == "unprepared"
    child.send(trainer.Quit(command=3))
    assert child.process.wait(5) == 0
    child.end()


def test_the_trainer_is_light(prepared: Child) -> None:
    alive = prepared.until(trainer.TrainerHeartbeat)
    assert alive.resident_mb < MEMORY_MB


def test_the_end_of_input_ends_the_process_even_in_the_middle_of_work(run: SmallRun) -> None:
    child = Child()
    child.send(run.prepare(1))
    child.until(trainer.TrainerReady)
    child.send(run.train(2, "orphan", windows=((0, 60_000),)))
    while not (
        isinstance(report := child.next(), trainer.TrainerHeartbeat) and report.command == 2
    ):
        pass
    begun = time.monotonic()
    assert child.end() == 0
    assert time.monotonic() - begun < allowed_s(2)
    assert not (run.folder / "orphan.payload").exists()


def test_a_head_measured_in_parts_is_measured_as_a_whole(prepared: Child, run: SmallRun) -> None:
    prepared.send(run.evaluate(1_000))
    whole = prepared.until(trainer.Evaluated)
    assert whole.bits_per_byte == pytest.approx(whole.millibits / 1_000 / whole.text_bytes)
    sums = [0, 0, 0, 0]
    while sums[0] < whole.documents:
        prepared.send(run.evaluate(1_001 + sums[0], max_tokens=500, first_document=sums[0]))
        part = prepared.until(trainer.Evaluated)
        assert part.documents > 0
        found = (part.documents, part.millibits, part.tokens, part.text_bytes)
        sums = [one + more for one, more in zip(sums, found, strict=True)]
    assert sums == [whole.documents, pytest.approx(whole.millibits, abs=whole.documents), *sums[2:]]
    assert sums[2:] == [whole.tokens, whole.text_bytes]
