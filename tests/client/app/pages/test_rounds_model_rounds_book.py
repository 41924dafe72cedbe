"""The rounds reader: pages, filters, and reading again when the worker's points change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from tequio_client.app.pages.rounds_model import ROUNDS_PAGE, RoundsReader
from tequio_client.ipc import control
from tequio_client.ipc.facts import MAX_ROWS
from tequio_client.ipc.points import AskPoints, PointsReply, PointsRow
from tests.support import app_worker_answers

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.app.model import AppModel
    from tequio_client.ipc.control import Question
    from tests.support.app_worker import ScriptedWorker


@pytest.fixture
def book(model: AppModel) -> RoundsReader:
    return RoundsReader(model)


def test_the_first_page_is_the_newest(book: RoundsReader) -> None:
    assert book.pending is None
    book.reload()
    assert book.rows == app_worker_answers.ROWS[:ROUNDS_PAGE]
    assert book.has_more


def test_reading_on_goes_to_the_end_and_no_further(
    book: RoundsReader, worker: ScriptedWorker
) -> None:
    book.reload()
    while book.has_more:
        book.read_older()
    assert book.rows == app_worker_answers.ROWS
    asked = len(worker.received)
    book.read_older()
    assert len(worker.received) == asked


def test_a_change_of_the_book_reads_all_anew_that_was_read(
    book: RoundsReader, worker: ScriptedWorker
) -> None:
    book.reload()
    for _ in range(6):
        book.read_older()
    shown = len(book.rows or ())
    assert shown == 7 * ROUNDS_PAGE
    changed = [replace(row, state="verified", size=99) for row in app_worker_answers.ROWS]
    extra = replace(
        changed[shown - 2], number=changed[shown - 2].number + 1
    )  # found by catching up
    changed.insert(shown - 2, extra)
    worker.replies[AskPoints] = _answers(changed)
    book.reload()
    assert extra in (book.rows or ())
    assert all(row.size == 99 for row in book.rows or ())
    assert (book.rows or ())[-1].number <= app_worker_answers.ROWS[shown - 1].number
    assert book.has_more
    book.read_older()
    numbers = [row.number for row in book.rows or ()]
    assert numbers == sorted(set(numbers), reverse=True)


def test_a_change_while_reading_is_not_forgotten(
    book: RoundsReader, worker: ScriptedWorker
) -> None:
    worker.replies.pop(AskPoints)
    book.reload()
    book.reload()
    assert _asked(worker) == 1
    worker.replies[AskPoints] = app_worker_answers.points
    _answer(worker, 1, PointsReply(rows=app_worker_answers.ROWS[5:9]))
    assert _asked(worker) == 2
    assert book.rows == app_worker_answers.ROWS[:ROUNDS_PAGE]


def test_filters_are_asked_of_the_worker(book: RoundsReader, worker: ScriptedWorker) -> None:
    book.reload()
    book.set_filter(app_worker_answers.OTHER, "cpu")
    rows = book.rows or ()
    assert rows
    assert {(row.run, row.device) for row in rows} == {(app_worker_answers.OTHER, "cpu")}
    last = worker.last(control.AskQuestion)
    assert isinstance(last, control.AskQuestion)
    assert last.question == AskPoints(run=app_worker_answers.OTHER, device="cpu", limit=ROUNDS_PAGE)


def test_an_answer_to_an_older_filter_is_passed_over(
    book: RoundsReader, worker: ScriptedWorker
) -> None:
    worker.replies.pop(AskPoints)
    book.reload()
    book.set_filter("", "cpu")
    _answer(worker, 1, PointsReply(rows=app_worker_answers.ROWS[:4]))
    assert book.rows is None
    _answer(worker, 2, PointsReply(rows=app_worker_answers.ROWS[7:8]))
    assert book.rows == app_worker_answers.ROWS[7:8]


def test_names_that_were_seen_stay_known(book: RoundsReader) -> None:
    book.reload()
    assert book.runs == {app_worker_answers.OURS: "nova-350m"}
    assert book.devices == ("cpu", "cuda:0")
    book.set_filter("", "cpu")
    assert book.devices == ("cpu", "cuda:0")


def test_a_refusal_is_told_and_leaves_what_was_read(
    book: RoundsReader, worker: ScriptedWorker
) -> None:
    book.reload()
    worker.replies[AskPoints] = "the book cannot be read"
    book.read_older()
    assert book.problem == "the book cannot be read"
    assert book.rows == app_worker_answers.ROWS[:ROUNDS_PAGE]
    assert book.pending is None
    worker.replies[AskPoints] = app_worker_answers.points
    book.reload()
    assert book.problem == ""


def test_no_page_is_longer_than_the_worker_allows(
    book: RoundsReader, worker: ScriptedWorker
) -> None:
    book.reload()
    while book.has_more:
        book.read_older()
    book.reload()
    limits = [
        one.question.limit
        for one in worker.received
        if isinstance(one, control.AskQuestion) and isinstance(one.question, AskPoints)
    ]
    assert max(limits) == MAX_ROWS
    assert book.rows == app_worker_answers.ROWS


def _answers(rows: list[PointsRow]) -> Callable[[Question], PointsReply]:
    def answer(question: Question) -> PointsReply:
        assert isinstance(question, AskPoints)
        fitting = [row for row in rows if question.before is None or row.number < question.before]
        has_more = len(fitting) > question.limit
        return PointsReply(rows=tuple(fitting[: question.limit]), has_more=has_more)

    return answer


def _asked(worker: ScriptedWorker) -> int:
    return sum(isinstance(one, control.AskQuestion) for one in worker.received)


def _answer(worker: ScriptedWorker, number: int, reply: PointsReply) -> None:
    worker.send(control.QuestionAnswer(id=number, reply=reply))
