"""Points over time: each span, drawn in few steps, with sums that lose nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QDate, QDateTime, Qt, QTime
from PySide6.QtWidgets import QRadioButton

from tequio_client.app.pages import points
from tequio_client.app.pages.page import LIST_INTERVAL_MS, PageContext
from tequio_client.app.pages.points import MAX_STEPS, PointsPage, fold_series
from tequio_client.app.widgets import figures
from tequio_client.ipc import control
from tequio_client.ipc.points import AskSeries, PointsSeries
from tests.support.app_clock import AppClock
from tests.support.app_pages import open_page, show_snapshot
from tests.support.app_scenes import NOW_MS

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from tests.support.app_worker import ScriptedWorker

pytestmark = pytest.mark.usefixtures("theme", "language")
DAY_MS = 86_400_000


@pytest.fixture
def page(context: PageContext, qtbot: QtBot) -> PointsPage:
    return open_page(PointsPage(context), qtbot)


@pytest.mark.parametrize("span", ["day", "week", "month", "all"])
def test_each_span_is_asked_for_and_said(
    page: PointsPage, worker: ScriptedWorker, qtbot: QtBot, span: str
) -> None:
    show_snapshot(page, worker)
    words = {"day": "24 h", "week": "7 days", "month": "30 days", "all": "All"}
    segments = page.range.span.findChildren(QRadioButton)
    wanted = next(one for one in segments if one.text() == words[span])
    qtbot.mouseClick(wanted, Qt.MouseButton.LeftButton)
    question = points.series_question_for(span, NOW_MS)
    last = worker.last(control.AskQuestion)
    assert isinstance(last, control.AskQuestion)
    assert last.question == question
    reply = worker.replies[AskSeries](question)  # type: ignore[operator]  # it is a function
    assert isinstance(reply, PointsSeries)
    exact = sum(reply.verified)
    assert page.range.sum.text() == f"{figures.short_points(exact)} points in this time"
    assert page.range.worth.text() == figures.comparison(exact)
    assert page.range.chart.accessibleDescription().startswith(page.range.sum.text())


def test_a_day_ends_now_and_others_begin_at_midnight() -> None:
    day = points.series_question_for("day", NOW_MS)
    assert NOW_MS - day.since_ms < DAY_MS <= NOW_MS - day.since_ms + day.step_ms
    for span, days in (("week", 6), ("month", 29)):
        first = QDateTime.fromMSecsSinceEpoch(points.series_question_for(span, NOW_MS).since_ms)
        assert (first.time().hour(), first.time().minute()) == (0, 0)
        assert first.date().daysTo(QDateTime.fromMSecsSinceEpoch(NOW_MS).date()) == days
    assert points.series_question_for("all", NOW_MS).since_ms == 0


def test_a_long_series_is_drawn_in_few_steps_and_loses_nothing() -> None:
    series = PointsSeries(since_ms=0, step_ms=DAY_MS, verified=tuple(range(1_000)))
    step_ms, sums = fold_series(series)
    assert len(sums) <= MAX_STEPS
    assert sum(sums) == sum(series.verified)
    assert step_ms == 9 * DAY_MS
    assert fold_series(replace(series, verified=())) == (DAY_MS, ())


def test_a_day_after_the_clock_change_is_called_by_its_own_name(page: PointsPage) -> None:
    midnight = QDateTime(QDate(2026, 11, 10), QTime(0, 0)).toMSecsSinceEpoch()
    since_ms = midnight - 3_600_000
    page.range.show_series(PointsSeries(since_ms=since_ms, step_ms=DAY_MS, verified=(10_000,)))
    most = f"most at {figures.day(midnight)}: 1.00"
    assert page.range.chart.accessibleDescription().endswith(most)


def test_another_hour_is_asked_for_anew(
    page: PointsPage, worker: ScriptedWorker, clock: AppClock
) -> None:
    show_snapshot(page, worker)
    page.range.span.select("day")
    show_snapshot(page, worker)
    asked = _series_asked(worker)
    show_snapshot(page, worker)
    assert _series_asked(worker) == asked
    clock.ms += 3_600_000
    show_snapshot(page, worker)
    assert _series_asked(worker) == asked + 1


@pytest.mark.parametrize("is_reload", [False, True])
def test_a_series_that_was_refused_is_asked_for_again(
    page: PointsPage, worker: ScriptedWorker, clock: AppClock, *, is_reload: bool
) -> None:
    answer, worker.replies[AskSeries] = worker.replies[AskSeries], "the store is busy"
    show_snapshot(page, worker)
    page.refresh()
    assert _series_asked(worker) == 1
    assert page.range.chart.accessibleDescription() == "The store is busy."
    worker.replies[AskSeries] = answer
    if is_reload:
        page.reload()
    else:
        clock.ms += LIST_INTERVAL_MS
        page.refresh()
    assert page.range.chart.accessibleDescription().startswith(page.range.sum.text() + ";")


def test_points_that_cannot_be_read_are_not_those_of_another_span(
    page: PointsPage, worker: ScriptedWorker
) -> None:
    show_snapshot(page, worker)
    worker.replies[AskSeries] = "the store is busy"
    page.range.span.select("day")
    page.range.chosen.emit("day")
    assert page.range.sum.text() == page.range.worth.text() == ""
    assert page.range.chart.accessibleDescription() == "The store is busy."


def _series_asked(worker: ScriptedWorker) -> int:
    return sum(
        isinstance(one, control.AskQuestion) and isinstance(one.question, AskSeries)
        for one in worker.received
    )
