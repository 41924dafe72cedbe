"""Widgets that the app paints itself: they show their values, to screen readers too."""

from __future__ import annotations

from math import cos, radians, sin
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor

from tequio_client.app.theme.look import current_tokens
from tequio_client.app.widgets.cards import POINTS, STAT_WIDTH, WHO, RankingTable, StatCard
from tequio_client.app.widgets.charts import ChartData, PointsChart
from tequio_client.app.widgets.indicators import Meter, PercentRing, ProgressBar
from tequio_client.ipc.points import RankRow
from tequio_shared.ids import to_text
from tequio_shared.round.points import GFLOP_PER_POINT
from tests.support.window_contents import is_elided

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget
    from pytestqt.qtbot import QtBot

pytestmark = pytest.mark.usefixtures("theme", "language")
DIRECTIONS = (Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft)
WEEK = ChartData(
    values=(30_000, 0, 50_000, 90_000, 20_000),
    labels=("1 Nov", "2 Nov", "3 Nov", "4 Nov", "5 Nov"),
    summary="19 points in 5 days",
)


@pytest.fixture
def chart(qtbot: QtBot) -> PointsChart:
    made = PointsChart("Points", "Nothing yet")
    qtbot.addWidget(made)
    made.resize(420, 220)
    made.show()
    return made


def test_an_empty_chart_says_why(chart: PointsChart) -> None:
    assert chart.accessibleDescription() == "Nothing yet"
    chart.set_data(ChartData(values=(0, 0), labels=("a", "b"), summary="0 points"))
    assert chart.accessibleDescription() == "Nothing yet"


def test_a_chart_tells_its_summary_to_who_cannot_see_it(chart: PointsChart) -> None:
    chart.set_data(WEEK)
    assert chart.accessibleName() == "Points"
    assert chart.accessibleDescription() == "19 points in 5 days"


def test_the_mouse_chooses_the_nearest_step(chart: PointsChart, qtbot: QtBot) -> None:
    chart.set_data(WEEK)
    before = chart.grab().toImage()
    qtbot.mouseMove(chart, QPoint(chart.width() - 12, 50))
    assert chart.selected == 4
    assert chart.accessibleDescription() == "5 Nov: 2.00"
    assert chart.grab().toImage() != before


def test_the_arrow_keys_choose_a_step(chart: PointsChart, qtbot: QtBot) -> None:
    chart.set_data(WEEK)
    for key, step in (
        (Qt.Key.Key_Home, 0),
        (Qt.Key.Key_Left, 0),
        (Qt.Key.Key_Right, 1),
        (Qt.Key.Key_End, 4),
        (Qt.Key.Key_Right, 4),
    ):
        qtbot.keyClick(chart, key)
        assert chart.selected == step


def test_keys_on_an_empty_chart_do_nothing(chart: PointsChart, qtbot: QtBot) -> None:
    qtbot.keyClick(chart, Qt.Key.Key_Right)
    assert chart.selected is None


def test_a_new_plot_forgets_the_chosen_step(chart: PointsChart, qtbot: QtBot) -> None:
    chart.set_data(WEEK)
    qtbot.keyClick(chart, Qt.Key.Key_Home)
    chart.set_data(ChartData(values=(10_000,), labels=("x",), summary="one"))
    assert chart.selected is None
    chart.grab()  # a single day is drawn too


@pytest.mark.parametrize(("percent", "part"), [(0, 0.0), (25, 0.25), (64, 0.64), (100, 1.0)])
def test_a_ring_is_filled_as_far_as_it_says(qtbot: QtBot, percent: int, part: float) -> None:
    ring = PercentRing("Round")
    qtbot.addWidget(ring)
    ring.show_percent(percent)
    image, track = ring.grab().toImage(), QColor(current_tokens().track)
    filled = total = 0
    for degrees in range(0, 360, 5):
        point = _on_ring(degrees)
        total += 1
        filled += image.pixelColor(point) != track
    assert filled / total == pytest.approx(part, abs=0.06)
    assert ring.accessibleName() == f"Round: {percent}%"


def test_a_ring_that_nobody_knows_is_empty_and_says_so(qtbot: QtBot) -> None:
    ring = PercentRing("Round")
    qtbot.addWidget(ring)
    assert ring.accessibleName() == "Round: –"
    assert ring.grab().toImage().pixelColor(_on_ring(5)) == QColor(current_tokens().track)


@pytest.mark.parametrize("direction", list(DIRECTIONS))
def test_a_bar_is_filled_from_where_lines_begin(
    qtbot: QtBot, direction: Qt.LayoutDirection
) -> None:
    bar = ProgressBar("Run")
    qtbot.addWidget(bar)
    bar.setLayoutDirection(direction)
    bar.resize(200, 8)
    bar.set_share(0.5)
    image, track = bar.grab().toImage(), QColor(current_tokens().track)
    start, end = (10, 190) if direction is Qt.LayoutDirection.LeftToRight else (190, 10)
    assert image.pixelColor(start, 4) != track
    assert image.pixelColor(end, 4) == track
    bar.set_share(7.0)
    assert bar.share == 1.0


def test_a_meter_warns_before_its_limit_and_has_no_bar_without_one(qtbot: QtBot) -> None:
    meter = Meter("This month")
    _open_widget(qtbot, meter, 200)
    meter.show_use("94 of 100 GB", 0.94)
    bar = meter.findChild(ProgressBar)
    assert bar is not None
    assert bar.isVisible()
    assert bar.grab().toImage().pixelColor(20, 2) == QColor(current_tokens().warn)
    meter.show_use("94 GB", None)
    assert not bar.isVisible()
    assert meter.accessibleName() == "This month: 94 GB"


def test_a_stat_card_says_its_exact_figure(qtbot: QtBot) -> None:
    card = StatCard("Total points", "layers")
    _open_widget(qtbot, card, 200)
    card.show_figure("18,930", "Every proof checked here", "18,930.4021 points")
    assert card.figure.text() == "18,930"
    assert card.toolTip() == "18,930.4021 points"
    assert card.accessibleName() == "Total points: 18,930.4021 points"


@pytest.mark.parametrize(
    ("whole", "shown"),
    [(9_999_999, "9,999,999"), (12_399_999, "12.3M"), (999_999_999, "999M"), (10**10, "10.0B")],
)
def test_great_points_fit_their_card_and_are_never_rounded_up(
    whole: int, shown: str, qtbot: QtBot
) -> None:
    card = StatCard("Total points", "layers")
    _open_widget(qtbot, card, STAT_WIDTH)
    card.show_points(whole * GFLOP_PER_POINT, "Every proof checked here")
    assert card.figure.text() == shown
    assert not is_elided(card.figure)
    assert card.toolTip().startswith(f"{whole:,} points\n")


def test_the_ranking_shows_our_own_row_among_the_others(qtbot: QtBot) -> None:
    table = RankingTable("Ranking")
    _open_widget(qtbot, table, 320)
    keys, names = [to_text(bytes([at]) * 32) for at in range(3)], ("", "Bruno", "Ana")
    rows = tuple(
        RankRow(rank=45 + at, key=keys[at], name=names[at], gflop=at * 10**7, is_ours=at == 1)
        for at in range(3)
    )
    table.rows.replace(rows)
    model = table.model()
    shown = [model.index(row, WHO).data() for row in range(3)]
    assert shown == [f"{keys[0][:10]}…", "Bruno (you)", "Ana"]
    assert model.index(2, POINTS).data() == "2,000"
    assert model.index(0, WHO).data(Qt.ItemDataRole.ToolTipRole) == keys[0]
    image = table.grab().toImage()
    own = table.visualRect(model.index(1, POINTS)).topLeft() + table.viewport().pos()
    assert image.pixelColor(own + QPoint(2, 4)) == QColor(current_tokens().accent_soft)


def _open_widget(qtbot: QtBot, widget: QWidget, width: int) -> None:
    qtbot.addWidget(widget)
    widget.resize(width, max(widget.sizeHint().height(), 40))
    widget.show()


def _on_ring(degrees: int) -> QPoint:
    """The middle of the ring's stroke, clockwise from the top."""
    turn = radians(degrees)
    return QPoint(round(46 + 41 * sin(turn)), round(46 - 41 * cos(turn)))
