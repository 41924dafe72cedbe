"""Points over time, for a day, a week, a month or all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QDateTime, QTime, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from tequio_client.app.theme.fonts import Type
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.area_chart import AreaChart, Plot
from tequio_client.app.widgets.card import Card
from tequio_client.app.widgets.columns import Columns
from tequio_client.app.widgets.segmented import Segmented
from tequio_client.app.widgets.text import Line, Text
from tequio_client.link.questions import AskSeries

if TYPE_CHECKING:
    from tequio_client.link.questions import Series

HOUR_MS, DAY_MS = 3_600_000, 86_400_000
DAY, WEEK, MONTH, ALL = "day", "week", "month", "all"
STEPS = {DAY: HOUR_MS, WEEK: 6 * HOUR_MS, MONTH: DAY_MS, ALL: DAY_MS}
DAYS = {WEEK: 7, MONTH: 30}
MOST_STEPS = 120
"""More are drawn together: a curve of thousands of points says no more."""
CHART = 170


def question(span: str, now_ms: int, run: str = "", device: str = "") -> AskSeries:
    """What to ask for a span that ends now; days begin at midnight by the local clock."""
    if span == ALL:
        since_ms = 0
    elif span == DAY:
        since_ms = now_ms - now_ms % HOUR_MS - 23 * HOUR_MS
    else:
        today = QDateTime.fromMSecsSinceEpoch(now_ms).date()
        first = QDateTime(today.addDays(1 - DAYS[span]), QTime(0, 0))
        since_ms = first.toMSecsSinceEpoch()
    return AskSeries(since_ms=since_ms, step_ms=STEPS[span], run=run, device=device)


def folded(series: Series) -> tuple[int, tuple[int, ...]]:
    """The step and the sums of a series in at most `MOST_STEPS` steps."""
    values = series.verified
    every = max(-(-len(values) // MOST_STEPS), 1)
    sums = tuple(sum(values[at : at + every]) for at in range(0, len(values), every))
    return series.step_ms * every, sums


class PointsRange(Card):
    """The chart; `chosen` tells the span that the user wants."""

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        name = self.tr("Verified points over time")
        self.span = Segmented(
            self.tr("Time span"),
            {
                DAY: self.tr("24 h"),
                WEEK: self.tr("7 days"),
                MONTH: self.tr("30 days"),
                ALL: self.tr("All"),
            },
        )
        self.span.choose(MONTH)
        self.span.chosen.connect(self.chosen)
        self.sum = Text("", Type.CAPTION, "sub")
        self.chart = AreaChart(
            name,
            self.tr("No points were verified in this time."),
            lambda micropoints: figures.points(int(micropoints)),
            lambda micropoints: figures.exact_points(int(micropoints)),
        )
        self.chart.setFixedHeight(CHART)
        head, words = Columns(gap=10), QWidget()
        column = QVBoxLayout(words)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(Line(name, Type.HEADING))
        column.addWidget(self.sum)
        head.hold((words, self.span), shares=(1, 0))
        self.body.addWidget(head)
        self.body.addWidget(self.chart)

    def show_series(self, series: Series) -> None:
        """Show these sums."""
        step_ms, sums = folded(series)
        labels = tuple(self._label(series.since_ms + at * step_ms) for at in range(len(sums)))
        total = figures.exact_points(sum(sums))
        summary = self.tr("{total} points in this time").format(total=total)
        self.sum.setText(summary)
        if any(sums):
            peak = max(range(len(sums)), key=sums.__getitem__)
            most = self.tr("{summary}; most at {when}: {points}")
            points = figures.exact_points(sums[peak])
            summary = most.format(summary=summary, when=labels[peak], points=points)
        values = tuple(float(points) for points in sums)
        self.chart.show_plot(Plot(values=values, labels=labels, summary=summary))

    def _label(self, at_ms: int) -> str:
        match self.span.choice:
            case "day":
                return figures.clock(at_ms)
            case "week":
                return figures.weekday(at_ms)
        return figures.day(at_ms)
