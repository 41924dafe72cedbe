"""`tequio score --task` and lm-evaluation-harness count the same right answers.

With its own package, on tasks of local questions that the harness itself turns into requests: the
task file is built from them. Where the package is missing, these tests say so (docs/scoring.md).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tequio_client.dataset import tasks
from tequio_client.trainer import choices, device, likelihood
from tequio_shared.errors import UserFacingError
from tequio_shared.multiple_choice import ChoiceTask, ChoiceTotals
from tests.support import lm_eval_harness, model_folders

if TYPE_CHECKING:
    from pathlib import Path

lm_eval_harness.require()
pytestmark = pytest.mark.filterwarnings("ignore")

CONTEXT = model_folders.CONTEXT
COUNT = 200
WORDS = model_folders.library_texts(1, shortest=3_000)[0].split()


def _rows() -> list[dict[str, object]]:
    """Questions about which word of a source file comes next."""

    def word(at: int) -> str:
        return WORDS[at % len(WORDS)][:12]

    return [
        {
            "begin": " ".join(word(number + back) for back in range(1 + number % 5)),
            "options": [word(7 * number + 3 * at + 11) + "x" * at for at in range(2 + number % 3)],
            "right": number % 2,
        }
        for number in range(COUNT)
    ]


KINDS: dict[str, dict[str, Any]] = {
    "one context": {
        "doc_to_text": "{{begin}}",
        "doc_to_target": "{{right}}",
        "doc_to_choice": "options",
    },
    "two examples": {
        "doc_to_text": "{{begin[:8]}}",
        "doc_to_target": "{{right}}",
        "doc_to_choice": "options",
        "num_fewshot": 2,
        "fewshot_delimiter": " ",
        "fewshot_split": "test",
    },
    "a context for each choice": {
        "doc_to_text": "right",
        "doc_to_target": "begin",
        "doc_to_choice": "options",
    },
    "no context": {
        "doc_to_text": "",
        "doc_to_target": "{{right}}",
        "doc_to_choice": "options",
        "target_delimiter": "",
    },
}


def _config(kind: str, tmp_path: Path) -> dict[str, Any]:
    lines = tmp_path / "rows.jsonl"
    lines.write_text("\n".join(map(json.dumps, _rows())))
    return {
        "task": "words",
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(lines)}},
        "test_split": "test",
        "output_type": "multiple_choice",
        "metric_list": [{"metric": "acc"}, {"metric": "acc_norm"}],
    } | KINDS[kind]


def _task(config: dict[str, Any]) -> ChoiceTask:
    library = pytest.importorskip("lm_eval.tasks")
    (found,) = library.TaskManager().load([config])["tasks"].values()
    return tasks.harness_task(found, None)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("model", model_folders.KINDS)
def test_right_answers_are_those_of_lm_evaluation_harness(
    model: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    folder = model_folders.KINDS[model](tmp_path / model)
    config = _config(kind, tmp_path)
    theirs = lm_eval_harness.results(folder, config)
    task = _task(config)
    scored = likelihood.open_model(folder, tokenizer=None, prefix=None)
    means = likelihood.ScoringDevice(device=device.open_device("cpu"))
    losses = list(choices.answer_questions(scored, task.questions, CONTEXT, means))
    ours = ChoiceTotals.of(task.questions, losses)
    assert (ours.asked, ours.unread) == (COUNT, 0)
    assert theirs["acc"] * COUNT == pytest.approx(ours.right)
    assert theirs["acc_norm"] * COUNT == pytest.approx(ours.right_normed)
    assert 0 < ours.right < COUNT


def test_equal_requests_are_equal_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    config = _config("two examples", tmp_path)
    first, again = _task(config), _task(config)
    assert first.encode() == again.encode()
    assert first.source.endswith("2 examples")
    assert ChoiceTask.parse(first.encode()) == first


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"output_type": "generate_until"}, "a task of the kind generate_until"),
        ({"doc_to_target": "{{[0, 1]}}"}, "no single right choice"),
    ],
)
def test_a_task_without_a_single_right_choice_is_refused(
    changes: dict[str, str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    with pytest.raises(UserFacingError, match=told):
        _task(_config("one context", tmp_path) | {"metric_list": [{"metric": "acc"}]} | changes)


def test_a_name_that_the_harness_does_not_know_is_told() -> None:
    with pytest.raises(UserFacingError, match="cannot load no-such-task-here"):
        list(tasks.harness_tasks("no-such-task-here", None))
