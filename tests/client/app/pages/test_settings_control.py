"""The parts that settings are made of: by mouse, by keyboard, by name, and at rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QAccessible, QWheelEvent
from PySide6.QtWidgets import QApplication, QSlider, QWidget

from tequio_client.app.keys.inputs import ProtectionPanel
from tequio_client.app.session.programs import running_programs
from tequio_client.app.widgets.buttons import ChoiceCards, Dropdown, Switch
from tequio_client.app.widgets.cards import SectionEntry, SectionList
from tequio_client.app.widgets.charts import Sparkline
from tequio_client.app.widgets.inputs import NumberBox, SettingRow, SliderRow
from tequio_client.app.widgets.messages import UndoToast

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

pytestmark = pytest.mark.usefixtures("theme", "language")
W = TypeVar("W", bound=QWidget)


def test_a_number_tells_only_of_the_hand(qtbot: QtBot) -> None:
    box = _shown(qtbot, NumberBox("Quota", 0, 500, "GB", nothing="No limit"))
    with qtbot.assertNotEmitted(box.chosen):
        box.set_number(40)
    assert box.text() == "40 GB"
    with qtbot.waitSignal(box.chosen) as signal:
        qtbot.keyClick(box, Qt.Key.Key_Up)
    assert signal.args == [41.0]
    box.set_number(0)
    assert box.text() == "No limit"


def test_the_wheel_scrolls_the_page_and_no_control(qtbot: QtBot) -> None:
    box = _shown(qtbot, NumberBox("Quota", 0, 500, "GB"))
    choices = _shown(qtbot, Dropdown("Language", {"en": "English", "es": "Español"}))
    row = _shown(qtbot, SliderRow("Share", 1, 20, str))
    slider = row.findChild(QSlider)
    assert isinstance(slider, QSlider)
    box.set_number(40)
    row.set_value(7)
    for control in (box, choices, slider):
        event = _wheel(control)
        QApplication.sendEvent(control, event)
        assert not event.isAccepted()
    assert (box.value(), choices.selected, slider.value()) == (40, "en", 7)


def test_a_dropdown_tells_only_of_the_hand(qtbot: QtBot) -> None:
    choices = _shown(qtbot, Dropdown("Language", {"": "System", "en": "English"}))
    with qtbot.assertNotEmitted(choices.chosen):
        choices.select("en")
        choices.select("xx")
    assert choices.selected == "en"
    with qtbot.waitSignal(choices.chosen) as signal:
        qtbot.keyClick(choices, Qt.Key.Key_Up)
    assert signal.args == [""]


def test_of_cards_one_is_chosen_or_none(qtbot: QtBot) -> None:
    cards = ChoiceCards("Preset", {"a": ("Gentle", "Rarely."), "b": ("Max", "Often.")})
    _shown(qtbot, cards, 400)
    cards.select("b")
    assert [card.isChecked() for card in cards.cards.values()] == [False, True]
    with qtbot.waitSignal(cards.chosen) as signal:
        qtbot.keyClick(cards.cards["a"], Qt.Key.Key_Space)
    assert signal.args == ["a"]
    cards.select("")
    assert not any(card.isChecked() for card in cards.cards.values())
    assert cards.cards["a"].accessibleDescription() == "Rarely."


def test_choices_that_exclude_each_other_are_radio_buttons_to_a_screen_reader(
    qtbot: QtBot,
) -> None:
    cards = _shown(qtbot, ChoiceCards("Preset", {"a": ("Gentle", ""), "b": ("Max", "")}))
    entries = [SectionEntry(name, name, "info") for name in "ab"]
    page = _shown(qtbot, QWidget())
    sections = SectionList("Sections", "Search", entries, page)
    panel = _shown(qtbot, ProtectionPanel())
    for chosen in ("", "a"):
        cards.select(chosen)
        sections.select(chosen)
        buttons = (*cards.cards.values(), *sections.buttons.values(), *panel.rows.values())
        found = {QAccessible.queryAccessibleInterface(button).role() for button in buttons}
        assert found == {QAccessible.Role.RadioButton}


def test_arrow_keys_choose_among_cards_and_tab_comes_to_the_chosen_one(qtbot: QtBot) -> None:
    cards = _shown(qtbot, ChoiceCards("Preset", {"a": ("Gentle", ""), "b": ("Max", "")}), 600)
    gentle, most = cards.cards.values()
    cards.select("a")
    cards.activateWindow()
    qtbot.waitUntil(cards.isActiveWindow)
    gentle.setFocus()
    chosen_by_key: list[str] = []
    cards.chosen.connect(chosen_by_key.append)
    qtbot.keyClick(gentle, Qt.Key.Key_Right)
    assert chosen_by_key == ["b"]
    assert [card.isChecked() for card in (gentle, most)] == [False, True]
    tab = Qt.FocusPolicy.TabFocus
    for chosen, reached in (("a", [True, False]), ("b", [False, True]), ("", [True, True])):
        cards.select(chosen)
        assert [bool(card.focusPolicy() & tab) for card in (gentle, most)] == reached


def test_a_narrow_card_is_taller(qtbot: QtBot) -> None:
    cards = ChoiceCards("Preset", {"a": ("Gentle", "Lends rarely and only at night. " * 4)})
    _shown(qtbot, cards, 500)
    card = cards.cards["a"]
    assert card.heightForWidth(160) > card.heightForWidth(420)


def test_a_setting_puts_its_control_below_where_there_is_no_room(qtbot: QtBot) -> None:
    row = SettingRow("Pause for games", "Nothing is lent beside a game.", Switch("Pause"))
    _shown(qtbot, row, 600)
    assert row.control is not None
    beside = row.control.mapTo(row, QPoint(0, 0))
    assert beside.x() > 500
    row.resize(230, row.heightForWidth(230))
    QApplication.processEvents()
    below = row.control.mapTo(row, QPoint(0, 0))
    assert (below.x() < 100, below.y() > beside.y()) == (True, True)


def test_a_sparkline_leaves_gaps_and_grows_with_what_it_shows(qtbot: QtBot) -> None:
    line = _shown(qtbot, Sparkline(6), 120)
    empty = line.grab().toImage()
    line.show_values((0.1, 0.2, None, 0.4, 5.0), top=1.0)
    assert list(line.values) == [0.1, 0.2, None, 0.4, 5.0]
    assert line.grab().toImage() != empty
    line.show_values(range(20), top=1.0)
    assert list(line.values) == [14, 15, 16, 17, 18, 19]
    line.show_values((None, None), top=0.0)
    line.grab()


def test_a_change_is_taken_back_once(qtbot: QtBot) -> None:
    undone: list[str] = []
    parent = _shown(qtbot, QWidget(), 600)
    toast = UndoToast(parent)
    toast.open_with_undo("Gentle holds now.", lambda: undone.append("first"))
    toast.open_with_undo("Max holds now.", lambda: undone.append("second"))
    qtbot.mouseClick(toast.button, Qt.MouseButton.LeftButton)
    toast.button.click()
    assert undone == ["second"]


def test_the_programs_that_run_are_named_once_and_sorted() -> None:
    found = running_programs()
    assert list(found) == sorted(found, key=str.casefold)
    assert len({name.casefold() for name in found}) == len(found)


def _shown(qtbot: QtBot, widget: W, width: int = 240) -> W:
    qtbot.addWidget(widget)
    widget.resize(width, max(widget.sizeHint().height(), 40))
    widget.show()
    return widget


def _wheel(widget: QWidget) -> QWheelEvent:
    at = QPointF(widget.rect().center())
    return QWheelEvent(
        at,
        widget.mapToGlobal(at),
        QPoint(0, 120),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,  # noqa: FBT003  # Qt's own
    )
