"""The controls: by mouse, by keyboard and by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import Qt as QtText
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QSlider, QVBoxLayout, QWidget

from tequio_client.app.theme.look import has_focus_ring
from tequio_client.app.theme.style import TextStyle
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import BREAK, Columns, ElidedLabel, Label, WrappedLabel
from tequio_client.app.widgets.buttons import Button, NavButton, Segmented, Switch
from tequio_client.app.widgets.cards import CopyLine
from tequio_client.app.widgets.indicators import Chip
from tequio_client.app.widgets.inputs import NumberBox, SettingRow, SliderRow, WeekGrid
from tequio_client.app.widgets.messages import Banner, EmptyState, Toast
from tequio_client.ipc.preferences import WHOLE_WEEK
from tests.support.app_language import speak
from tests.support.window_contents import spoken_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QAbstractButton
    from pytestqt.qtbot import QtBot

    from tequio_client.app.language import Language

pytestmark = pytest.mark.usefixtures("theme", "language")
ALL_DAY = WHOLE_WEEK[0]
DIRECTIONS = (Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft)


def _shown(qtbot: QtBot, widget: QWidget, width: int = 0, height: int = 0) -> None:
    qtbot.addWidget(widget)
    if width:
        widget.resize(width, height or widget.sizeHint().height())
    widget.show()


def _active(qtbot: QtBot, widget: QWidget) -> None:
    _shown(qtbot, widget)
    widget.activateWindow()
    qtbot.waitUntil(widget.isActiveWindow)


def test_a_switch_turns_by_mouse_and_by_space(qtbot: QtBot) -> None:
    switch = Switch("Pause for games")
    _shown(qtbot, switch)
    with qtbot.waitSignal(switch.toggled):
        qtbot.mouseClick(switch, Qt.MouseButton.LeftButton)
    assert switch.isChecked()
    qtbot.waitUntil(lambda: switch.place == 1.0)
    qtbot.keyClick(switch, Qt.Key.Key_Space)
    assert not switch.isChecked()
    assert switch.accessibleName() == "Pause for games"
    assert switch.grab().toImage() != Switch("x").grab().toImage()


def test_a_segment_is_chosen_by_mouse_and_arrow_keys(qtbot: QtBot) -> None:
    row = Segmented("Time", {"day": "24 h", "week": "7 d", "all": "All"})
    _active(qtbot, row)
    segments = [child for child in row.children() if isinstance(child, QWidget)]
    with qtbot.waitSignal(row.chosen) as signal:
        qtbot.mouseClick(segments[1], Qt.MouseButton.LeftButton)
    assert signal.args == ["week"]
    segments[1].setFocus()
    qtbot.waitUntil(segments[1].hasFocus)
    with qtbot.waitSignal(row.chosen) as signal:
        qtbot.keyClick(segments[1], Qt.Key.Key_Right)
    assert signal.args == ["all"]
    assert row.selected == "all"
    with qtbot.assertNotEmitted(row.chosen):
        row.select("day")


def test_a_slider_says_its_value_in_words_and_tells_only_of_the_hand(qtbot: QtBot) -> None:
    row = SliderRow("Temperature", 40, 110, lambda value: f"{value} °C", "Rests to stay below")
    _shown(qtbot, row, 300)
    with qtbot.assertNotEmitted(row.chosen):
        row.set_value(80)
    assert row.words.text() == "80 °C"
    row.set_step(5)
    slider = next(child for child in row.children() if child.inherits("QSlider"))
    assert isinstance(slider, QWidget)
    with qtbot.waitSignal(row.chosen) as signal:
        qtbot.keyClick(slider, Qt.Key.Key_Right)
    assert signal.args == [85]
    assert (slider.accessibleName(), slider.accessibleDescription()) == ("Temperature", "85 °C")


def test_a_slider_that_is_dragged_chooses_a_multiple_of_its_step(qtbot: QtBot) -> None:
    row = SliderRow("Share", 5, 100, lambda value: f"{value} %")
    _shown(qtbot, row, 300)
    row.round_to(5)
    slider = row.findChild(QSlider)
    assert isinstance(slider, QSlider)
    slider.setSliderDown(True)
    slider.setSliderPosition(62)
    assert row.words.text() == "60 %"
    with qtbot.waitSignal(row.chosen) as signal:
        slider.setSliderDown(False)
    assert signal.args == [60]
    assert (slider.value(), slider.sliderPosition()) == (60, 60)


@pytest.mark.parametrize(
    ("code", "typed", "number", "shown"),
    [
        ("en", "2.5", 2.5, "2.5 Mbit/s"),
        ("en", "2,5", 2.5, "2.5 Mbit/s"),
        ("en", "1,234", 1_234, "1234.0 Mbit/s"),
        ("en", "1,234.5", 1_234.5, "1234.5 Mbit/s"),
        ("en", "12,345,678", 12_345_678, "12345678.0 Mbit/s"),
        ("en", "0,300", 7, "7.0 Mbit/s"),
        ("en", "1,23", 7, "7.0 Mbit/s"),
        ("de", "2.5", 2.5, "2,5 Mbit/s"),
        ("de", "2,5", 2.5, "2,5 Mbit/s"),
        ("de", "1.234", 1_234, "1234,0 Mbit/s"),
        ("fr", "2.5", 2.5, "2,5 Mbit/s"),
        ("fr", "1 234.5", 1_234.5, "1234,5 Mbit/s"),
    ],
)
def test_a_fraction_may_begin_with_either_mark(
    qtbot: QtBot, language: Language, code: str, typed: str, number: float, shown: str
) -> None:
    speak(language, code)
    box = NumberBox("Upload", 0, 1e9, "Mbit/s", places=1)
    _active(qtbot, box)
    box.set_number(7)
    box.setFocus()
    box.selectAll()
    qtbot.keyClicks(box.lineEdit(), typed)
    qtbot.keyClick(box.lineEdit(), Qt.Key.Key_Return)
    assert (box.value(), box.text()) == (number, shown)


@pytest.mark.parametrize("code", ["en", "de", "fr"])
def test_a_number_is_shortened_from_its_end(qtbot: QtBot, language: Language, code: str) -> None:
    speak(language, code)
    for places, last in ((1, 3), (0, 1)):  # keys that delete the last digit before the mark
        box = NumberBox("Upload", 0, 1e9, "Mbit/s", places=places)
        _active(qtbot, box)
        box.set_number(1_234)
        box.setFocus()
        box.lineEdit().setCursorPosition(len(box.text()) - len(box.suffix()))
        for _ in range(last):
            qtbot.keyClick(box.lineEdit(), Qt.Key.Key_Backspace)
        qtbot.keyClick(box.lineEdit(), Qt.Key.Key_Return)
        assert box.value() == 123


def test_the_week_is_drawn_with_the_mouse(qtbot: QtBot) -> None:
    grid = WeekGrid("Hours in which to lend")
    _shown(qtbot, grid, 660)
    start, end = _hour(grid, 0, 9), _hour(grid, 0, 16)
    with qtbot.waitSignal(grid.chosen) as signal:
        qtbot.mousePress(grid, Qt.MouseButton.LeftButton, pos=start)
        for hour in range(10, 17):
            qtbot.mouseMove(grid, _hour(grid, 0, hour))
        qtbot.mouseRelease(grid, Qt.MouseButton.LeftButton, pos=end)
    assert signal.args is not None
    assert signal.args[0][0] == ALL_DAY & ~(0xFF << 9)
    assert signal.args[0][1:] == WHOLE_WEEK[1:]


def test_the_week_is_drawn_with_the_keyboard(qtbot: QtBot) -> None:
    grid = WeekGrid("Hours")
    _shown(qtbot, grid, 660)
    qtbot.keyClick(grid, Qt.Key.Key_Down)
    with qtbot.waitSignal(grid.chosen):
        qtbot.keyClick(grid, Qt.Key.Key_Space)
    assert "Tuesday 0" in grid.accessibleDescription()
    assert "does not lend" in grid.accessibleDescription()
    for _ in range(2):
        qtbot.keyClick(grid, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert grid.week[1] == ALL_DAY & ~0b111
    qtbot.keyClick(grid, Qt.Key.Key_Left)
    qtbot.keyClick(grid, Qt.Key.Key_Left)
    qtbot.keyClick(grid, Qt.Key.Key_Left)
    assert "23" in grid.accessibleDescription()


def test_a_week_that_is_being_drawn_is_not_taken_from_the_hand(qtbot: QtBot) -> None:
    grid = WeekGrid("Hours")
    _shown(qtbot, grid, 660)
    qtbot.mousePress(grid, Qt.MouseButton.LeftButton, pos=_hour(grid, 3, 3))
    grid.set_week((0,) * 7)
    assert grid.week[0] == ALL_DAY
    qtbot.mouseRelease(grid, Qt.MouseButton.LeftButton, pos=_hour(grid, 3, 3))
    grid.set_week((0,) * 7)
    assert grid.week == (0,) * 7


def test_of_two_nav_buttons_one_is_checked(qtbot: QtBot) -> None:
    bar = QWidget()
    column, one, other = QVBoxLayout(bar), NavButton("Home", "house"), NavButton("Runs", "play")
    column.addWidget(one)
    column.addWidget(other)
    _shown(qtbot, bar)
    one.setChecked(True)
    qtbot.mouseClick(other, Qt.MouseButton.LeftButton)
    assert (one.isChecked(), other.isChecked()) == (False, True)


@pytest.mark.parametrize("kind", ["plain", "primary", "quiet", "danger"])
def test_the_keyboards_place_can_be_seen(qtbot: QtBot, kind: str) -> None:
    frame = QWidget()
    column = QVBoxLayout(frame)
    button, other = Button("Do it", kind, "play"), Button("Other")
    column.addWidget(button)
    column.addWidget(other)
    _active(qtbot, frame)
    other.setFocus()
    away = button.grab().toImage()
    window = frame.windowHandle()
    QTest.keyClick(window, Qt.Key.Key_Backtab)
    qtbot.waitUntil(button.hasFocus)
    assert button.grab().toImage() != away
    QTest.mouseClick(window, Qt.MouseButton.LeftButton, pos=frame.rect().bottomRight())
    assert button.hasFocus()
    assert not has_focus_ring(button)


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space])
@pytest.mark.parametrize(
    "button", [lambda: Button("Do it"), lambda: NavButton("Home", "house"), lambda: Switch("On")]
)
def test_enter_and_space_use_a_button(
    qtbot: QtBot, button: Callable[[], QAbstractButton], key: Qt.Key
) -> None:
    made = button()
    _active(qtbot, made)
    with qtbot.waitSignal(made.clicked):
        qtbot.keyClick(made, key)


def test_a_toast_goes_when_it_was_read(qtbot: QtBot) -> None:
    parent = QWidget()
    _shown(qtbot, parent, 600, 400)
    toast = Toast(parent)
    toast.open("Saved", "Undo")
    assert toast.isVisible()
    assert toast.accessibleName() == "Saved"
    assert parent.rect().contains(toast.geometry())
    parent.resize(300, 300)
    qtbot.waitUntil(lambda: parent.rect().contains(toast.geometry()))
    qtbot.mouseClick(toast.button, Qt.MouseButton.LeftButton)
    assert not toast.isVisible()


def test_a_banner_says_its_words_and_shows_a_button_only_with_a_word(qtbot: QtBot) -> None:
    banner = Banner("info", "All is well")
    _shown(qtbot, banner, 500)
    assert not banner.button.isVisible()
    banner.show_words("error", "The disk is full", "Open Settings")
    assert banner.button.isVisible()
    assert banner.accessibleName() == "The disk is full"
    assert banner.property("level") == "error"


def test_an_empty_state_says_what_will_come(qtbot: QtBot) -> None:
    empty = EmptyState("trophy", "Not ranked yet", "After your first round.", "Contribute")
    _shown(qtbot, empty, 300, 300)
    assert empty.button.isVisible()
    empty.show_words("No ranking now", "The ledger does not answer.")
    assert empty.words.text() == "The ledger does not answer."


def test_a_chip_grows_with_its_words(qtbot: QtBot) -> None:
    chip = Chip("ok", "check", "ok")
    _shown(qtbot, chip)
    before = chip.sizeHint().width()
    chip.set_label("a longer word", "check", "warn")
    assert chip.sizeHint().width() > before
    assert chip.accessibleName() == "a longer word"


def test_a_line_that_is_cut_has_its_whole_text_in_the_tool_tip(qtbot: QtBot) -> None:
    line = ElidedLabel("a name that is far too long for its place", TextStyle.BODY)
    _shown(qtbot, line, 90, 20)
    line.grab()
    assert line.toolTip() == "a name that is far too long for its place"
    line.resize(600, 20)
    line.grab()
    assert line.toolTip() == ""


@pytest.mark.parametrize(
    "said",
    [
        "it says <img src='file:////elsewhere/share/x.png'> and much more than fits",
        "it says &lt;b&gt; and much more than fits",
        "<?xml version='1.0'?> and much more than fits",
    ],
)
def test_a_tool_tip_of_what_others_said_is_never_markup(qtbot: QtBot, said: str) -> None:
    line = ElidedLabel(said, TextStyle.BODY)
    _shown(qtbot, line, 90, 20)
    line.grab()
    assert "and much more than fits" in line.toolTip()
    assert not QtText.mightBeRichText(line.toolTip())
    row = SettingRow("Name", "", None)
    qtbot.addWidget(row)
    row.mark_stopping("Stops lending now", said)
    assert not QtText.mightBeRichText(row.chip.toolTip())


def test_a_screen_reader_reads_a_long_name_without_its_break_points(qtbot: QtBot) -> None:
    line, copied, other = WrappedLabel(), CopyLine("Run", is_for_machine=True), WrappedLabel()
    for widget in (line, copied, other):
        qtbot.addWidget(widget)
    (shown,) = copied.findChildren(WrappedLabel)
    other.setAccessibleName("Name of the run")
    for name in ("nova", "W" * 40, "V" * 40, "nova", "W" * 40, ""):
        line.setText(name)
        other.setText(name)
        copied.show_text(name)
        assert (BREAK in QLabel.text(line)) == (len(name) == 40)
        assert spoken_name(line) == name
        assert spoken_name(shown) == (name or figures.ABSENT)
        assert spoken_name(other) == "Name of the run"


def test_text_from_the_network_is_never_markup(qtbot: QtBot) -> None:
    text = Label("<h1>run</h1>")
    _shown(qtbot, text)
    assert text.sizeHint().height() < 30


def test_columns_fold_where_their_parts_do_not_fit(qtbot: QtBot) -> None:
    columns, parts = Columns(folded=2), [QWidget() for _ in range(4)]
    for part in parts:
        part.setMinimumSize(100, 20)
    columns.set_parts(parts)
    frame = QWidget()
    columns.setParent(frame)
    _shown(qtbot, frame, 600, 300)
    columns.resize(500, 100)
    assert columns.columns == 4
    columns.resize(300, 100)
    assert columns.columns == 2
    columns.resize(120, 200)
    assert columns.columns == 1
    assert columns.minimumSizeHint().width() == 100
    parts[0].setMinimumWidth(110)
    columns.resize(500, 100)
    assert columns.columns == 4


@pytest.mark.parametrize(
    "direction", [Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft]
)
def test_widgets_draw_in_both_directions(qtbot: QtBot, direction: Qt.LayoutDirection) -> None:
    for widget in (
        NavButton("Home", "house"),
        Chip("ok", "check"),
        Switch("x"),
        ElidedLabel("words"),
    ):
        widget.setLayoutDirection(direction)
        _shown(qtbot, widget, 160, 40)
        image = widget.grab().toImage()
        colours = {image.pixel(x, y) for x in range(image.width()) for y in range(image.height())}
        assert len(colours) > 2


def _hour(grid: WeekGrid, day: int, hour: int) -> QPoint:
    """The middle of an hour's cell, reckoned from the right: names take their room on the left."""
    cell = (grid.width() - 40) / 24
    x, y = 40 + (hour + 0.5) * cell, 20 + (day + 0.5) * (grid.height() - 22) / 7
    return QPoint(round(x), round(y))
