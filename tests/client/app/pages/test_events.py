"""Events that were read, joined to what was known, and the lines of their list."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QDate, QDateTime, QModelIndex, Qt, QTime
from PySide6.QtGui import QAccessible

from tequio_client.app.pages.events import (
    EVENTS_PAGE,
    EventsList,
    EventsReader,
    EventsRows,
    TimelineLine,
    group_by_day,
)
from tequio_client.ipc.points import ActivityRow, AskActivity
from tequio_client.ipc.texts import ActivityEvent
from tests.support import app_worker_answers
from tests.support.app_scenes import NOW_MS

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from tequio_client.app.model import AppModel
    from tests.support.app_worker import ScriptedWorker

pytestmark = pytest.mark.usefixtures("theme", "language")


def test_a_gap_between_old_and_new_begins_the_list_anew(
    model: AppModel, worker: ScriptedWorker
) -> None:
    book = EventsReader(model)
    book.follow(310)
    many = tuple(_event(number, NOW_MS) for number in range(310 + 3 * EVENTS_PAGE, 310, -1))
    worker.replies[AskActivity] = app_worker_answers.activity_with(*many)
    book.follow(310 + 3 * EVENTS_PAGE)
    assert book.rows == many[:EVENTS_PAGE]
    while book.has_more:
        book.read_older()
    assert book.rows == (*many, *app_worker_answers.HAPPENED)


@pytest.fixture
def rows(model: AppModel) -> EventsRows:
    return EventsRows(lambda: NOW_MS, model)


def test_lines_that_stay_are_not_made_anew(rows: EventsRows) -> None:
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


def test_a_day_of_old_events_below_is_added_below(rows: EventsRows) -> None:
    yesterday = TimelineLine(words="x", at_ms=NOW_MS - 86_400_000, number=1, level="info")
    today = TimelineLine(words="y", at_ms=NOW_MS, number=2, level="info")
    rows.show_lines(group_by_day([today], NOW_MS))
    assert rows.show_lines(group_by_day([today, yesterday], NOW_MS)) == 0
    assert [line.words for line in rows.lines] == ["Today", "y", "Yesterday", "x"]


def test_the_name_of_a_day_is_not_chosen_by_the_keyboard(rows: EventsRows) -> None:
    rows.show_lines(_lines(1))
    assert not rows.flags(rows.index(0, 0)) & Qt.ItemFlag.ItemIsSelectable
    assert rows.flags(rows.index(1, 0)) & Qt.ItemFlag.ItemIsSelectable
    assert rows.rowCount(rows.index(0, 0)) == 0
    assert rows.rowCount(QModelIndex()) == 2


@pytest.mark.parametrize("words", ["a sentence of many words " * 12, "W" * 200])
def test_a_long_text_has_the_lines_that_it_needs(words: str, qtbot: QtBot) -> None:
    view = EventsList("events", lambda: NOW_MS)
    qtbot.addWidget(view)
    view.resize(420, 500)
    view.show()
    short = TimelineLine(words="short", at_ms=NOW_MS, number=2, level="info")
    long = replace_words(short, words)
    view.show_lines((short, long))
    heights = [view.sizeHintForIndex(view.rows.index(at, 0)).height() for at in (0, 1)]
    assert heights[1] > 3 * heights[0]
    spoken = QAccessible.queryAccessibleInterface(view).child(1).text(QAccessible.Text.Name)
    assert spoken == f"{words}, {view.rows.when(long)}"


def replace_words(line: TimelineLine, words: str) -> TimelineLine:
    return TimelineLine(words=words, at_ms=line.at_ms, number=line.number, level=line.level)


def _event(number: int, at_ms: int) -> ActivityRow:
    values: dict[str, str | int | float] = {"run": "nova-350m"}
    return ActivityRow(number=number, at_ms=at_ms, code=ActivityEvent.JOINED_RUN, values=values)


def _lines(*numbers: int) -> tuple[TimelineLine, ...]:
    noon = QDateTime(QDate(2026, 11, 21), QTime(12, 0)).toMSecsSinceEpoch()
    events = [
        TimelineLine(words=str(one), at_ms=noon + one, number=one, level="info") for one in numbers
    ]
    return group_by_day(events, noon)
