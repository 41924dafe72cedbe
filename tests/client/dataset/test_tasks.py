"""`tequio data tasks`: questions become a file that its hash names."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from tequio_client.dataset.cli import data
from tequio_shared.ids import sha256, to_text
from tequio_shared.multiple_choice import ChoiceTask

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

ROWS = [
    {"context": f"{number} and one are", "choices": [str(number), str(number + 1)], "right": 1}
    for number in range(30)
]


def _lines(folder: Path, rows: list[dict[str, object]] = ROWS) -> Path:
    path = folder / "questions.jsonl"
    path.write_text("\n\n".join(map(json.dumps, rows)))
    return path


def _run(*asked: object) -> Result:
    return CliRunner().invoke(data, ["tasks", *map(str, asked)])


def test_lines_become_a_task_with_its_hash(tmp_path: Path) -> None:
    result = _run(tmp_path / "out", "sums", "--lines", _lines(tmp_path))
    assert result.exit_code == 0, result.output
    raw = (tmp_path / "out" / "sums.task").read_bytes()
    assert f"sums: 30 questions, chance 50.0%, hash {to_text(sha256(raw))}" in result.output
    task = ChoiceTask.parse(raw)
    assert task.source == "questions.jsonl"
    assert task.questions[3].requests == (("3 and one are", " 3"), ("3 and one are", " 4"))
    assert task.questions[9].characters == (1, 2)  # the blank before a choice does not count
    assert task.questions[9].right == 1


def test_fewer_questions_are_drawn_the_same_way_each_time(tmp_path: Path) -> None:
    lines = _lines(tmp_path)
    for name in ("one", "two"):
        assert _run(tmp_path / name, "sums", "--lines", lines, "--questions", 7).exit_code == 0
    one, two = ((tmp_path / name / "sums.task").read_bytes() for name in ("one", "two"))
    assert one == two
    assert len(ChoiceTask.parse(one).questions) == 7


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"context": "a", "choices": ["b"], "right": 0}, "length >= 2"),
        ({"context": "a", "choices": ["b", "c"], "right": 2}, "the last one is 1"),
        ({"context": "a", "choices": ["b", ""], "right": 0}, "length >= 1"),
        ({"context": "a", "choices": ["b", "c"], "answer": 0}, "unknown field `answer`"),
    ],
)
def test_a_wrong_line_is_told_by_its_number(
    row: dict[str, object], told: str, tmp_path: Path
) -> None:
    result = _run(tmp_path / "out", "sums", "--lines", _lines(tmp_path, [ROWS[0], row]))
    assert result.exit_code == 1
    assert "line 3 is not a question" in result.output
    assert told in result.output


def test_what_is_no_task_is_told(tmp_path: Path) -> None:
    lines, empty = _lines(tmp_path), tmp_path / "empty.jsonl"
    empty.write_text("")
    asked = tmp_path / "out"
    assert "cannot read" in _run(asked, "sums", "--lines", tmp_path / "none").output
    assert "no task can be made of empty.jsonl" in _run(asked, "sums", "--lines", empty).output
    assert "no task can be made" in _run(asked, "../sums", "--lines", lines).output
    assert "single NAME" in _run(asked, "sums", "more", "--lines", lines).output
    assert "no --shots" in _run(asked, "sums", "--lines", lines, "--shots", 2).output


def test_a_missing_harness_is_told_with_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "lm_eval", None)
    result = _run(tmp_path / "out", "arc_easy")
    assert result.exit_code == 1
    assert "docs/scoring.md says how to install it" in result.output
