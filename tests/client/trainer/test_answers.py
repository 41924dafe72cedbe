"""A trainer process has a head answer questions as `tequio score` would, and can be interrupted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from tequio_client.ipc import trainer
from tequio_client.tokenizers import ByteTokenizer
from tequio_client.trainer import choices, device, evaluate, head_tasks, likelihood, prepared
from tequio_client.trainer.likelihood import ScoredModel, ScoringDevice
from tequio_client.trainer.main import TaskQueue, TaskReplacedError, TrainerActivity
from tequio_client.trainer.task_context import TaskContext
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.multiple_choice import ChoiceTotals
from tequio_shared.round.manifest import Tokenizer
from tests.client.trainer.small_run import SEQUENCE
from tests.support.small_tasks import small_task

if TYPE_CHECKING:
    from tequio_client.trainer.prepared import PreparedModel
    from tests.client.trainer.conftest import Child
    from tests.client.trainer.small_run import SmallRun

TASK = small_task(50)


@pytest.fixture
def asked(run: SmallRun, tmp_path: Path) -> trainer.AnswerQuestions:
    file = tmp_path / "words.task"
    file.write_bytes(TASK.encode())
    return trainer.AnswerQuestions(
        command=1, round=0, weights=run.weights, task=str(file), first=0, count=256
    )


def totals(run: SmallRun, first: int, count: int) -> ChoiceTotals:
    """Count the answers of the first head as `tequio score` does."""
    run.origin.model.load(run.origin.master, run.origin.layout)
    scored = ScoredModel(
        folder=Path(run.weights),
        model=run.origin.model,
        tokenizer=ByteTokenizer(separator=run.corpus.separator),
        context=SEQUENCE,
    )
    questions = TASK.questions[first : first + count]
    scorer = ScoringDevice(device=device.open_device("cpu"))
    return ChoiceTotals.of(
        questions, list(choices.answer_questions(scored, questions, SEQUENCE, scorer))
    )


def test_a_trainer_process_counts_what_a_score_counts(
    child: Child, run: SmallRun, asked: trainer.AnswerQuestions
) -> None:
    child.send(run.prepare(4_000))
    while child.until(trainer.TrainerReady).command != 4_000:
        pass
    for command, first, count in ((4_001, 0, 256), (4_002, 40, 4)):
        child.send(msgspec.structs.replace(asked, command=command, first=first, count=count))
        report = child.until(trainer.QuestionsAnswered)
        due = totals(run, first, count)
        assert report.command == command
        assert report.unread == due.unread
        for name, figure in msgspec.structs.asdict(report.counts).items():
            assert figure == getattr(due, name), name
    assert report.counts.asked == 4


def test_a_question_that_the_task_does_not_have_is_named(
    child: Child, run: SmallRun, asked: trainer.AnswerQuestions
) -> None:
    child.send(run.prepare(4_100))
    while child.until(trainer.TrainerReady).command != 4_100:
        pass
    child.send(msgspec.structs.replace(asked, command=4_101, first=50))
    while not isinstance(report := child.next(), trainer.Failed):
        pass
    assert (report.code, report.reason) == (
        "input",
        "the task has 50 questions, and none at 50",
    )


@pytest.fixture(scope="module")
def setup(run: SmallRun) -> PreparedModel:
    return prepared.prepare_model(run.prepare(1))


def context(setup: PreparedModel, task: trainer.AnswerQuestions) -> TaskContext:
    return TaskContext(
        setup=setup,
        queue=TaskQueue(),
        task=task,
        report=lambda _: None,
        activity=TrainerActivity(),
    )


def test_an_interrupted_slice_goes_on_with_the_questions_that_were_not_answered(
    setup: PreparedModel, asked: trainer.AnswerQuestions, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches: list[int] = []
    row_losses = likelihood.row_losses

    def counted(scored: ScoredModel, rows: object, scorer: ScoringDevice) -> object:
        batches.append(1)
        return row_losses(scored, rows, scorer)  # type: ignore[arg-type] # as it was called

    def check(self: TaskContext) -> None:
        del self
        if len(batches) == 3:
            raise TaskReplacedError("a duty")

    monkeypatch.setattr(likelihood, "row_losses", counted)
    monkeypatch.setattr(TaskContext, "check", lambda _: None)
    whole = head_tasks.answer_questions(asked, context(setup, asked))
    needed = len(batches)
    assert needed > 3, "else it is not interrupted"
    batches.clear()
    setup.unfinished.choice_losses("another task")
    monkeypatch.setattr(TaskContext, "check", check)
    with pytest.raises(TaskReplacedError):
        head_tasks.answer_questions(asked, context(setup, asked))
    monkeypatch.setattr(TaskContext, "check", lambda _: None)
    again = head_tasks.answer_questions(
        msgspec.structs.replace(asked, command=9), context(setup, asked)
    )
    assert again.counts == whole.counts
    assert len(batches) < 3 + needed, "groups before the interruption were not answered again"


def test_another_file_than_a_task_is_refused(
    setup: PreparedModel, asked: trainer.AnswerQuestions, tmp_path: Path
) -> None:
    (tmp_path / "words.task").write_bytes(b"{}")
    with pytest.raises(MalformedError, match="ChoiceTask"):
        head_tasks.answer_questions(asked, context(setup, asked))


def test_a_run_whose_texts_are_encoded_by_code_answers_nothing(setup: PreparedModel) -> None:
    own = msgspec.structs.replace(
        setup.manifest, tokenizer=Tokenizer(kind="plugin", file="x", vocab_size=256)
    )
    with pytest.raises(UserFacingError, match="does not run the code that encodes"):
        evaluate.scored_model(replace(setup, manifest=own), "weights")
