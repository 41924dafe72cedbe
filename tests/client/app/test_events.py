"""Events that were read, joined to what was known, and the lines of their list."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QDate, QDateTime, QModelIndex, Qt, QTime

from tequio_client.app.pages.events_book import PAGE, EventsBook
from tequio_client.app.pages.events_list import EventsList
from tequio_client.app.pages.events_rows import EventsRows, Line, with_days
from tequio_client.link.questions import Activity, ActivityRow, AskActivity
from tequio_client.link.texts import Event
from tests.support import app_books
from tests.support.app_scenes import NOW_MS

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

    from tequio_client.app.model import Model
    from tequio_client.link.questions import Question
    from tests.support.app_worker import ScriptedWorker

pytestmark = pytest.mark.usefixtures("look", "language")


def test_a_gap_between_old_and_new_begins_the_list_anew(
    model: Model, worker: ScriptedWorker
) -> None:
    book = EventsBook(model)
    book.follow(310)
    many = tuple(_event(number, NOW_MS) for number in range(310 + 3 * PAGE, 310, -1))
    worker.replies[AskActivity] = _book((*many, *app_books.HAPPENED))
    book.follow(310 + 3 * PAGE)
    assert book.rows == many[:PAGE]
    while book.has_more:
        book.read_on()
    assert book.rows == (*many, *app_books.HAPPENED)


def test_lines_that_stay_are_not_made_anew() -> None:
    rows = EventsRows(lambda: NOW_MS)
    old = _lines(3, 2, 1)
    assert rows.show_lines(old) == -1
    resets: list[None] = []
    rows.modelReset.connect(lambda: resets.append(None))
    assert rows.show_lines(old) == 0
    assert rows.show_lines(_lines(5, 4, 3, 2, 1)) == 2
    assert rows.show_lines(_lines(5, 4, 3, 2, 1, 0)) == 0
    assert resets == []
    assert rows.lines == _lines(5, 4, 3, 2, 1, 0)
    assert rows.rowCount() == len(rows.lines)
    assert rows.show_lines(_lines(5, 3)) == -1
    assert resets == [None]


def test_a_day_of_old_events_below_is_added_below() -> None:
    rows = EventsRows(lambda: NOW_MS)
    yesterday = Line(words="x", at_ms=NOW_MS - 86_400_000, number=1, level="info")
    today = Line(words="y", at_ms=NOW_MS, number=2, level="info")
    rows.show_lines(with_days([today], NOW_MS))
    assert rows.show_lines(with_days([today, yesterday], NOW_MS)) == 0
    assert [line.words for line in rows.lines] == ["Today", "y", "Yesterday", "x"]


def test_the_name_of_a_day_is_not_chosen_by_the_keyboard() -> None:
    rows = EventsRows(lambda: NOW_MS)
    rows.show_lines(_lines(1))
    assert not rows.flags(rows.index(0, 0)) & Qt.ItemFlag.ItemIsSelectable
    assert rows.flags(rows.index(1, 0)) & Qt.ItemFlag.ItemIsSelectable
    assert rows.rowCount(rows.index(0, 0)) == 0
    assert rows.rowCount(QModelIndex()) == 2


def test_a_long_sentence_has_the_lines_that_it_needs(qtbot: QtBot) -> None:
    view = EventsList("events", lambda: NOW_MS)
    qtbot.addWidget(view)
    view.resize(420, 500)
    view.show()
    short = Line(words="short", at_ms=NOW_MS, number=2, level="info")
    long = replace_words(short, "a sentence of many words " * 12)
    view.show_lines((short, long))
    heights = [view.sizeHintForIndex(view.rows.index(at, 0)).height() for at in (0, 1)]
    assert heights[1] > 3 * heights[0]


def replace_words(line: Line, words: str) -> Line:
    return Line(words=words, at_ms=line.at_ms, number=line.number, level=line.level)


def _event(number: int, at_ms: int) -> ActivityRow:
    values: dict[str, str | int | float] = {"run": "nova-350m"}
    return ActivityRow(number=number, at_ms=at_ms, code=Event.JOINED_RUN, values=values)


def _lines(*numbers: int) -> tuple[Line, ...]:
    noon = QDateTime(QDate(2026, 11, 21), QTime(12, 0)).toMSecsSinceEpoch()
    events = [Line(words=str(one), at_ms=noon + one, number=one, level="info") for one in numbers]
    return with_days(events, noon)


def _book(rows: tuple[ActivityRow, ...]) -> Callable[[Question], Activity]:
    def answer(question: Question) -> Activity:
        assert isinstance(question, AskActivity)
        fitting = [row for row in rows if question.before is None or row.number < question.before]
        has_more = len(fitting) > question.limit
        return Activity(rows=tuple(fitting[: question.limit]), has_more=has_more)

    return answer
