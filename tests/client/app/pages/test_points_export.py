"""The export: every round, every GFLOP, all of the file or none of it."""

from __future__ import annotations

import csv
from datetime import datetime
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from tequio_client.app.pages.points import CSV_COLUMNS, PointsExport, csv_lines
from tequio_client.ipc import control
from tequio_client.ipc.facts import MAX_ROWS
from tequio_client.ipc.points import AskPoints, PointsReply
from tests.support import app_worker_answers

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_client.app.model import AppModel
    from tequio_client.ipc.control import Question
    from tests.support.app_worker import ScriptedWorker


@pytest.fixture
def export(model: AppModel) -> PointsExport:
    return PointsExport(model)


@pytest.fixture
def done(export: PointsExport) -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []
    export.done.connect(lambda path, count: found.append((path, count)))
    return found


@pytest.fixture
def failed(export: PointsExport) -> list[str]:
    found: list[str] = []
    export.failed.connect(found.append)
    return found


def test_every_round_is_written_as_it_is(
    export: PointsExport, done: list[tuple[str, int]], tmp_path: Path, worker: ScriptedWorker
) -> None:
    path = tmp_path / "points.csv"
    export.start(path)
    assert done == [(str(path), len(app_worker_answers.ROWS))]
    rows = _read(path)
    assert len(rows) == len(app_worker_answers.ROWS)
    assert [int(row["number"]) for row in rows] == [row.number for row in app_worker_answers.ROWS]
    total = sum(row.gflop for row in app_worker_answers.ROWS)
    assert sum(int(row["gflop"]) for row in rows) == total
    for written, row in zip(rows, app_worker_answers.ROWS, strict=True):
        trained, witnessed = written["trained_gflop"], written["witnessed_gflop"]
        assert (int(trained), int(witnessed)) == (row.trained, row.witnessed)
        assert float(written["energy_j"]) == row.energy_j
    pages = [one for one in worker.received if isinstance(one, control.AskQuestion)]
    assert len(pages) == -(-len(app_worker_answers.ROWS) // MAX_ROWS)


def test_times_are_iso_and_utc_to_the_millisecond(tmp_path: Path, export: PointsExport) -> None:
    path = tmp_path / "points.csv"
    export.start(path)
    for written, row in zip(_read(path), app_worker_answers.ROWS, strict=True):
        at = datetime.fromisoformat(written["time"])
        assert at.utcoffset() is not None
        assert round(at.timestamp() * 1_000) == row.at_ms


def test_only_what_was_checked_is_called_checked() -> None:
    checked, pending = app_worker_answers.ROWS[10], app_worker_answers.ROWS[0]
    rejected = next(row for row in app_worker_answers.ROWS if row.state == "rejected")
    unproven = replace(checked, size=None)
    table = csv_lines([checked, pending, rejected, unproven]).decode().splitlines()
    at = list(CSV_COLUMNS).index("proof_checked")
    assert [row[at] for row in csv.reader(table)] == ["yes", "no", "no", "no"]


@pytest.mark.parametrize("name", ["=1+1", "+x", "-x", "@SUM(A1)", "\t=x"])
def test_a_name_is_never_a_formula(name: str) -> None:
    line = csv_lines([replace(app_worker_answers.ROWS[0], run_name=name)]).decode()
    at = list(CSV_COLUMNS).index("run_name")
    assert next(csv.reader([line]))[at] == f"'{name}"


def test_commas_and_quotes_in_names_stay_in_their_column() -> None:
    name = 'a, "b"; c'
    line = csv_lines([replace(app_worker_answers.ROWS[0], run_name=name)]).decode()
    cells = next(csv.reader([line]))
    assert cells[list(CSV_COLUMNS).index("run_name")] == name
    assert len(cells) == len(CSV_COLUMNS)


def test_a_time_beyond_all_calendars_is_written_all_the_same() -> None:
    line = csv_lines([replace(app_worker_answers.ROWS[0], at_ms=2**53 - 1)]).decode()
    assert f"{2**53 - 1} ms after 1970" in line


def test_a_refusal_half_way_leaves_the_old_file(
    export: PointsExport, failed: list[str], tmp_path: Path, worker: ScriptedWorker
) -> None:
    path = tmp_path / "points.csv"
    path.write_text("what was here")

    def once(question: Question) -> PointsReply | str:
        assert isinstance(question, AskPoints)
        return (
            app_worker_answers.points(question) if question.before is None else "the worker is gone"
        )

    worker.replies[AskPoints] = once
    export.start(path)
    assert failed == [
        f"{path} was not written: the worker is gone. Choose another place, or try again."
    ]
    assert path.read_text() == "what was here"
    assert [one.name for one in tmp_path.iterdir()] == ["points.csv"]


def test_a_place_that_cannot_be_written_is_told(
    export: PointsExport, failed: list[str], tmp_path: Path, worker: ScriptedWorker
) -> None:
    export.start(tmp_path / "absent" / "points.csv")
    assert len(failed) == 1
    assert failed[0].startswith(str(tmp_path / "absent" / "points.csv"))
    assert not worker.received, "nothing is asked for that cannot be written"


def test_a_worker_that_goes_away_ends_the_export(
    export: PointsExport, failed: list[str], tmp_path: Path, worker: ScriptedWorker
) -> None:
    worker.replies.pop(AskPoints)
    export.start(tmp_path / "points.csv")
    assert not failed
    worker.gone.emit("The worker was killed.")
    assert failed[0].endswith("The worker was killed. Choose another place, or try again.")
    assert [one.name for one in tmp_path.iterdir()] == []


def test_after_a_failure_another_export_works(
    export: PointsExport, failed: list[str], done: list[tuple[str, int]], tmp_path: Path
) -> None:
    export.start(tmp_path / "absent" / "points.csv")
    export.start(tmp_path / "points.csv")
    assert (len(failed), len(done)) == (1, 1)


def test_a_second_export_waits_for_the_first_to_end(
    export: PointsExport, worker: ScriptedWorker, tmp_path: Path
) -> None:
    worker.replies.pop(AskPoints)
    export.start(tmp_path / "one.csv")
    export.start(tmp_path / "two.csv")
    worker.send(control.QuestionAnswer(id=1, reply=PointsReply(rows=app_worker_answers.ROWS[:3])))
    assert [one.name for one in tmp_path.iterdir()] == ["one.csv"]


def test_an_empty_book_gives_the_heading(
    export: PointsExport, worker: ScriptedWorker, tmp_path: Path
) -> None:
    worker.replies[AskPoints] = app_worker_answers.no_points
    export.start(tmp_path / "points.csv")
    assert (tmp_path / "points.csv").read_text().strip() == ",".join(CSV_COLUMNS)


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
