"""Activity: the timeline in sentences, its filters, and live news."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QRadioButton

from tequio_client.app.pages.activity import ActivityPage
from tequio_client.app.pages.events import EVENTS_PAGE, ROUND_EVENTS
from tequio_client.app.pages.page import PageContext
from tequio_client.ipc.points import ActivityReply, ActivityRow, AskActivity
from tequio_client.ipc.texts import ActivityEvent
from tests.support import app_worker_answers
from tests.support.app_clock import AppClock
from tests.support.app_pages import open_page, show_snapshot
from tests.support.app_scenes import LENDING, NOW_MS
from tests.support.window_contents import settle

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

    from tequio_client.ipc.control import Question
    from tests.support.app_worker import ScriptedWorker

pytestmark = pytest.mark.usefixtures("theme", "language")


@pytest.fixture
def page(context: PageContext, qtbot: QtBot) -> ActivityPage:
    return open_page(ActivityPage(context), qtbot)


def test_before_the_answer_it_says_that_it_looks(
    page: ActivityPage, worker: ScriptedWorker
) -> None:
    worker.replies.pop(AskActivity)
    show_snapshot(page, worker)
    assert page.timeline.empty.isVisible()
    assert page.timeline.empty.words.text() == "Reading recent events."


def test_events_stand_below_the_names_of_their_days(
    page: ActivityPage, worker: ScriptedWorker
) -> None:
    show_snapshot(page, worker)
    lines = page.timeline.list.rows.lines
    days = [line.words for line in lines if line.is_day]
    assert days == ["Today", "Yesterday"]
    numbers = [line.number for line in lines if not line.is_day]
    assert numbers == [row.number for row in app_worker_answers.HAPPENED[: len(numbers)]]
    assert lines[1].words.startswith("nova-350m, round 1,841: 11.0 points for repeating")


def test_a_line_says_level_words_and_when(page: ActivityPage, worker: ScriptedWorker) -> None:
    show_snapshot(page, worker)
    lines = page.timeline.list.rows.lines
    warning = next(at for at, line in enumerate(lines) if line.level == "warning")
    index = page.timeline.list.rows.index(warning, 0)
    spoken = str(index.data(Qt.ItemDataRole.AccessibleTextRole))
    assert spoken.startswith("Attention: The network cannot be reached.")
    assert spoken.endswith(" · 23 min ago")
    assert str(index.data(Qt.ItemDataRole.ToolTipRole)).startswith("Sat 21 Nov 2026, ")


def test_scrolling_down_reads_on_to_the_first_event(
    page: ActivityPage, worker: ScriptedWorker
) -> None:
    show_snapshot(page, worker)
    bar = page.timeline.list.verticalScrollBar()
    for _ in range(len(app_worker_answers.HAPPENED) // EVENTS_PAGE + 1):
        settle()
        bar.setValue(bar.maximum())
    numbers = [line.number for line in page.timeline.list.rows.lines if not line.is_day]
    assert numbers == [row.number for row in app_worker_answers.HAPPENED]


@pytest.mark.parametrize(
    ("kind", "fits"),
    [
        ("Rounds", lambda row: row.code in ROUND_EVENTS),
        ("Attention", lambda row: row.level in ("warning", "error")),
        ("All", lambda _: True),
    ],
)
def test_a_filter_shows_what_fits_of_all_that_happened(
    page: ActivityPage,
    worker: ScriptedWorker,
    qtbot: QtBot,
    kind: str,
    fits: Callable[[ActivityRow], bool],
) -> None:
    show_snapshot(page, worker)
    segments = page.timeline.kind.findChildren(QRadioButton)
    wanted = next(one for one in segments if one.text() == kind)
    qtbot.mouseClick(wanted, Qt.MouseButton.LeftButton)
    bar = page.timeline.list.verticalScrollBar()
    for _ in range(5):
        settle()
        bar.setValue(bar.maximum())
    numbers = [line.number for line in page.timeline.list.rows.lines if not line.is_day]
    assert numbers == [row.number for row in app_worker_answers.HAPPENED if fits(row)]


def test_a_search_reads_on_by_itself_until_it_has_found(
    page: ActivityPage, worker: ScriptedWorker
) -> None:
    show_snapshot(page, worker)
    page.timeline.search.setText("  round 1,550: ")
    for _ in range(5):
        settle()
    (found,) = [line for line in page.timeline.list.rows.lines if not line.is_day]
    assert "round 1,550:" in found.words


def test_a_search_without_a_result_says_so(page: ActivityPage, worker: ScriptedWorker) -> None:
    show_snapshot(page, worker)
    page.timeline.search.setText("no such thing")
    for _ in range(5):
        settle()
    assert page.timeline.empty.words.text() == "No event fits the filter and the search."
    page.timeline.search.clear()
    assert page.timeline.list.isVisible()


def test_what_is_new_appears_above_at_once(page: ActivityPage, worker: ScriptedWorker) -> None:
    show_snapshot(page, worker)
    new = _event(311, NOW_MS)
    worker.replies[AskActivity] = app_worker_answers.activity_with(new)
    show_snapshot(page, worker)
    assert page.timeline.list.rows.lines[1].number == 310, "nothing was said to be new"
    show_snapshot(page, worker, replace(LENDING, activity=311))
    assert page.timeline.list.rows.lines[1].number == 311
    assert page.timeline.list.rows.lines[2].number == 310


def test_who_reads_further_down_is_not_moved_by_news(
    page: ActivityPage, worker: ScriptedWorker
) -> None:
    show_snapshot(page, worker)
    settle()
    view = page.timeline.list
    view.verticalScrollBar().setValue(700)
    seen = view.indexAt(view.viewport().rect().center()).data()
    new = [_event(number, NOW_MS) for number in (313, 312, 311)]
    worker.replies[AskActivity] = app_worker_answers.activity_with(*new)
    show_snapshot(page, worker, replace(LENDING, activity=313))
    settle()
    assert view.indexAt(view.viewport().rect().center()).data() == seen


def test_an_empty_book_says_what_will_stand_here(
    page: ActivityPage, worker: ScriptedWorker
) -> None:
    worker.replies[AskActivity] = ActivityReply(rows=())
    show_snapshot(page, worker, replace(LENDING, activity=0))
    assert "will be listed here" in page.timeline.empty.words.text()


def test_events_that_cannot_be_had_are_asked_for_again(
    page: ActivityPage, worker: ScriptedWorker
) -> None:
    worker.replies[AskActivity] = "the event book cannot be read"
    show_snapshot(page, worker)
    assert page.timeline.empty.words.text() == "the event book cannot be read"
    worker.replies[AskActivity] = app_worker_answers.activity
    show_snapshot(page, worker)
    assert page.timeline.list.isVisible()


def test_times_go_on_while_nothing_happens(
    page: ActivityPage, worker: ScriptedWorker, clock: AppClock
) -> None:
    show_snapshot(page, worker)
    clock.ms += 36 * 3_600_000
    show_snapshot(page, worker)
    assert next(line.words for line in page.timeline.list.rows.lines if line.is_day) != "Today"


def test_older_events_that_cannot_be_had_are_not_asked_for_without_end(
    page: ActivityPage, worker: ScriptedWorker
) -> None:
    def newest(question: Question) -> ActivityReply | str:
        assert isinstance(question, AskActivity)
        return app_worker_answers.activity(question) if question.before is None else "no worker now"

    worker.replies[AskActivity] = newest
    show_snapshot(page, worker)
    page.timeline.search.setText("round 1,550:")
    asked = worker.times_asked(AskActivity)
    page.timeline.search.setText("round 1,551:")
    assert worker.times_asked(AskActivity) == asked
    worker.replies[AskActivity] = app_worker_answers.activity
    show_snapshot(page, worker)
    assert [line.number for line in page.timeline.list.rows.lines if not line.is_day] == [20]


def test_an_event_can_be_copied_from_the_keyboard(
    page: ActivityPage, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    show_snapshot(page, worker)
    view = page.timeline.list
    view.setCurrentIndex(view.rows.index(1, 0))
    qtbot.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text().endswith("another volunteer's work of round 1,833.")


def test_a_worker_that_is_gone_leaves_what_was_read(
    page: ActivityPage, worker: ScriptedWorker
) -> None:
    show_snapshot(page, worker)
    worker.gone.emit("The worker ended five times")
    page.refresh()
    assert page.banner.words.text() == "The worker ended five times"
    assert page.timeline.list.isVisible()
    asked = worker.times_asked(AskActivity)
    show_snapshot(page, worker)
    assert worker.times_asked(AskActivity) == asked + 1, "the next worker may have another book"


def _event(number: int, at_ms: int) -> ActivityRow:
    values: dict[str, str | int | float] = {"run": "nova-350m"}
    return ActivityRow(number=number, at_ms=at_ms, code=ActivityEvent.JOINED_RUN, values=values)
