"""Several lines in one chart, intervals on one scale, dates on one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QLabel

from tequio_client.app.theme.look import current_tokens
from tequio_client.app.widgets.indicators import TRACK, IntervalBar, Milestones
from tequio_client.app.widgets.race_chart import RaceChart, RaceLine, axis_ends_and_step

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget
    from pytestqt.qtbot import QtBot

pytestmark = pytest.mark.usefixtures("theme", "language")
FAST = RaceLine(name="fast", points=((10, 9.0), (20, 5.0), (30, 3.0)), place=0)
SLOW = RaceLine(name="slow", points=((10, 9.5), (20, 7.0)), place=1)


@pytest.fixture
def chart(qtbot: QtBot) -> RaceChart:
    made = RaceChart("Loss")
    made.set_empty_text("Nothing yet")
    qtbot.addWidget(made)
    made.resize(420, 220)
    made.show()
    return made


def test_without_a_line_it_says_why(chart: RaceChart) -> None:
    chart.set_lines([RaceLine(name="none", points=())], "")
    assert chart.accessibleDescription() == "Nothing yet"
    chart.set_empty_text("On its way")
    assert chart.accessibleDescription() == "On its way"
    assert not chart.grab().isNull()


def test_each_line_has_its_colour(chart: RaceChart) -> None:
    chart.set_lines([FAST, SLOW], "fast leads")
    assert chart.accessibleDescription() == "fast leads"
    seen = _colours(chart)
    assert {current_tokens().accent, current_tokens().accent2} <= seen


def test_the_mouse_chooses_the_nearest_step(chart: RaceChart, qtbot: QtBot) -> None:
    chart.set_lines([FAST, SLOW], "fast leads")
    before = chart.grab().toImage()
    qtbot.mouseMove(chart, QPoint(chart.width() - 60, 90))
    assert chart.selected == 2
    assert chart.accessibleDescription() == "Round 30, fast 3.000", "the slow one is not there yet"
    assert chart.grab().toImage() != before


def test_the_keyboard_goes_from_step_to_step(chart: RaceChart, qtbot: QtBot) -> None:
    chart.set_lines([FAST, SLOW], "fast leads")
    for key, said in (
        (Qt.Key.Key_Home, "Round 10, fast 9.000, slow 9.500"),
        (Qt.Key.Key_Right, "Round 20, fast 5.000, slow 7.000"),
        (Qt.Key.Key_End, "Round 30, fast 3.000"),
        (Qt.Key.Key_Right, "Round 30, fast 3.000"),
    ):
        qtbot.keyClick(chart, key)
        assert chart.accessibleDescription() == said


def test_one_round_alone_can_be_drawn(chart: RaceChart) -> None:
    chart.set_lines([RaceLine(name="one", points=((1, 4.0),))], "one: 4.0")
    assert current_tokens().accent in _colours(chart)


def test_names_of_lines_that_end_together_stand_apart(chart: RaceChart) -> None:
    twins = [
        RaceLine(name=name, points=((1, 4.0), (9, 3.0)), place=at) for at, name in enumerate("abc")
    ]
    chart.set_lines(twins, "all the same")
    assert current_tokens().warn in _colours(chart), "its line is hidden, its name has a dot"


@pytest.mark.parametrize(
    ("lowest", "highest", "axis"),
    [
        (3.0, 9.5, (2.0, 10.0, 2.0)),
        (2.61, 2.68, (2.6, 2.68, 0.02)),
        (4.0, 4.0, (4.0, 4.1, 0.1)),
        (0.0, 0.0, (0.0, 0.025, 0.025)),
    ],
)
def test_an_axis_holds_its_values_in_round_steps(
    lowest: float, highest: float, axis: tuple[float, float, float]
) -> None:
    assert axis_ends_and_step(lowest, highest, 4) == pytest.approx(axis)


@pytest.mark.parametrize(
    "direction", [Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft]
)
def test_an_interval_stands_where_its_scale_says(
    qtbot: QtBot, direction: Qt.LayoutDirection
) -> None:
    bar = IntervalBar()
    qtbot.addWidget(bar)
    bar.setLayoutDirection(direction)
    bar.resize(112, 22)
    bar.show_interval((2.0, 3.0, 4.0), (0.0, 10.0), is_ours=True)
    bar.show()
    is_mirrored = direction is Qt.LayoutDirection.RightToLeft
    assert bar.place(3.0) == (112 - 36 if is_mirrored else 36)
    seen = bar.grab().toImage()
    assert seen.pixelColor(round(bar.place(3.0)), 11) == QColor(current_tokens().text_accent)
    assert seen.pixelColor(round(bar.place(2.1)), 11) == QColor(current_tokens().accent)
    assert seen.pixelColor(round(bar.place(9.0)), 11) != QColor(current_tokens().accent)


def test_dates_that_are_over_are_filled(qtbot: QtBot) -> None:
    made = Milestones(("Start", "Deadline", "Result"))
    qtbot.addWidget(made)
    made.resize(360, 80)
    made.show_dates(("1 Nov", "9 Nov", "20 Nov"), 1.5, "Start: 1 Nov", is_over=False)
    made.show()
    assert made.accessibleName() == "Start: 1 Nov"
    seen = made.grab().toImage()
    dates = [one for one in made.findChildren(QLabel) if one.text().endswith("Nov")]
    spots = sorted(label.geometry().center().x() for label in dates)
    inks = [seen.pixelColor(x, TRACK // 2).name() for x in spots]
    assert inks == [current_tokens().accent, current_tokens().accent, current_tokens().card]
    made.show_dates(("1 Nov", "9 Nov", "20 Nov"), -1.0, "Start: 1 Nov", is_over=False)
    assert made.grab().toImage().pixelColor(spots[0], TRACK // 2).name() == current_tokens().card


def _colours(widget: QWidget) -> set[str]:
    seen = widget.grab().toImage()
    return {seen.pixelColor(x, y).name() for x in range(seen.width()) for y in range(seen.height())}
