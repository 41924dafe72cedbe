"""Every dialog by keyboard: where it begins, Enter, Escape, Tab there and back, and names.

`tests.support.app_dialogs` lists them; a dialog that it lacks fails the first test. The steps of
the first run are walked in the same way.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QCheckBox,
    QComboBox,
    QDialog,
    QLineEdit,
    QPlainTextEdit,
    QWidget,
)

import tequio_client.app
from tequio_client.app.first_run.first_run import FirstRun
from tequio_client.app.keys.account import AccountDialog
from tequio_client.app.keys.dialogs import KeyDialog, QuestionDialog
from tests.support.app_dialogs import DIALOGS, ShownDialog
from tests.support.app_language import LONG, speak
from tests.support.first_run_pictures import STEP_PICTURES, FirstRunSetup, first_run_setup
from tests.support.window_contents import controls, is_cut, is_cut_button, labels, name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytestqt.qtbot import QtBot

    from tequio_client.app.language import Language
    from tequio_client.app.theme.look import Theme

pytestmark = pytest.mark.usefixtures("theme", "language")
BASES = {QuestionDialog, KeyDialog, AccountDialog}
"""Classes that others build on."""
TURNS = 60
"""More presses of Tab than any dialog has controls."""
every_dialog = pytest.mark.parametrize("name", DIALOGS)


@pytest.fixture
def place(qapp: QApplication, theme: Theme) -> Iterator[FirstRunSetup]:
    with first_run_setup(qapp, theme) as made:
        yield made
        made.desk.close()


def opened(place: FirstRunSetup, qtbot: QtBot, name: str) -> ShownDialog:
    """The dialog in front, when it has come to rest."""
    shown = DIALOGS[name](place)
    qtbot.addWidget(shown.dialog)
    shown.dialog.show()
    shown.dialog.activateWindow()
    qtbot.waitUntil(shown.dialog.isActiveWindow)
    place.until(lambda: True)
    return shown


def test_no_dialog_is_left_out(place: FirstRunSetup, qtbot: QtBot) -> None:
    for module in pkgutil.walk_packages(tequio_client.app.__path__, "tequio_client.app."):
        if not module.name.endswith((".session.windows", ".session.macos")):
            importlib.import_module(module.name)
    known = {type(opened(place, qtbot, name).dialog) for name in DIALOGS}
    ours = {
        one for one in subclasses(QDialog) if one.__module__.startswith("tequio_client.app.")
    } - BASES
    assert ours <= known


def subclasses(kind: type) -> set[type]:
    """Every class below that one."""
    below: list[type] = kind.__subclasses__()
    return set(below).union(*map(subclasses, below))


@every_dialog
def test_it_begins_where_the_user_goes_on(place: FirstRunSetup, qtbot: QtBot, name: str) -> None:
    dialog, forward, is_safe = opened(place, qtbot, name)
    focus = dialog.focusWidget()
    assert focus is not None
    if is_safe:
        assert isinstance(dialog, QuestionDialog)
        assert focus is dialog.leave
        return
    own = fields(dialog)
    first = [*filter(is_empty, own), *([forward] if forward.isEnabled() else own)]
    assert focus is first[0], name_of(focus)


def fields(dialog: QWidget) -> list[QWidget]:
    """The fields to fill in or to tick, in reading order."""
    kinds = (QLineEdit, QPlainTextEdit, QCheckBox)
    own = [one for one in controls(dialog) if isinstance(one, kinds) and is_own(one)]
    writable = [one for one in own if isinstance(one, QCheckBox) or not one.isReadOnly()]
    return sorted(writable, key=lambda one: position(one, dialog))


def is_empty(field: QWidget) -> bool:
    """True if the user has to do something here before the dialog leads on."""
    if isinstance(field, QLineEdit):
        return not field.text()
    if isinstance(field, QPlainTextEdit):
        return not field.toPlainText()
    return isinstance(field, QCheckBox) and not field.isChecked()


def is_own(widget: QWidget) -> bool:
    """False for a part of another control, such as the arrow in a line."""
    return not isinstance(widget.parent(), (QAbstractSpinBox, QComboBox, QLineEdit))


def position(widget: QWidget, dialog: QWidget) -> tuple[int, int]:
    """Row by row from the top, as the eye goes: parts of one row have centres near each other."""
    centre = widget.mapTo(dialog, widget.rect().center())
    return centre.y() // 12, centre.x()


@every_dialog
def test_enter_in_a_field_leads_on(place: FirstRunSetup, qtbot: QtBot, name: str) -> None:
    dialog, forward, is_safe = opened(place, qtbot, name)
    lines = [one for one in fields(dialog) if isinstance(one, QLineEdit)]
    if is_safe:
        return
    pressed: list[str] = []
    forward.clicked.disconnect()
    forward.clicked.connect(lambda: pressed.append(name))
    forward.setEnabled(True)
    start = lines[0] if lines else forward
    start.setFocus()
    qtbot.keyClick(start, Qt.Key.Key_Return)
    assert pressed == [name]


@every_dialog
def test_escape_closes_it(place: FirstRunSetup, qtbot: QtBot, name: str) -> None:
    dialog = opened(place, qtbot, name).dialog
    focus = dialog.focusWidget()
    assert focus is not None
    ends: list[int] = []
    dialog.finished.connect(ends.append)
    qtbot.keyClick(focus, Qt.Key.Key_Escape)
    assert ends == [QDialog.DialogCode.Rejected.value]


@every_dialog
def test_tab_goes_to_every_control_in_reading_order_and_back(
    place: FirstRunSetup, qtbot: QtBot, name: str
) -> None:
    dialog = opened(place, qtbot, name).dialog
    there = walk(dialog, qtbot, Qt.Key.Key_Tab)
    back = walk(dialog, qtbot, Qt.Key.Key_Backtab)
    wanted = [one for one in controls(dialog) if one.isEnabled() and is_own(one)]
    assert [name_of(one) for one in wanted if one not in there and not is_other(one)] == []
    assert [name_of(one) for one in from_top(there, dialog)] == [
        name_of(one) for one in sorted(there, key=lambda one: position(one, dialog))
    ]
    assert from_top(back[::-1], dialog) == from_top(there, dialog)


def walk(dialog: QWidget, qtbot: QtBot, key: Qt.Key) -> list[QWidget]:
    """The controls that the key leads to, until it comes round."""
    reached: list[QWidget] = []
    for _ in range(TURNS):
        focus = dialog.focusWidget()
        assert focus is not None
        if focus in reached[:-1]:
            break
        if focus not in reached:  # the parts of a date are reached by Tab, too
            reached.append(focus)
        qtbot.keyClick(focus, key)
    return reached


def from_top(circle: list[QWidget], dialog: QWidget) -> list[QWidget]:
    """The same circle, begun at its topmost control."""
    first = circle.index(min(circle, key=lambda one: position(one, dialog)))
    return [*circle[first:], *circle[:first]]


def is_other(widget: QWidget) -> bool:
    """True for the choices of a group besides the chosen one: arrow keys lead to them."""
    return isinstance(widget, QAbstractButton) and widget.autoExclusive() and not widget.isChecked()


@every_dialog
def test_every_control_has_a_name_and_every_text_its_room(
    place: FirstRunSetup, qtbot: QtBot, language: Language, name: str
) -> None:
    for spoken in LONG:
        speak(language, spoken)
        dialog = opened(place, qtbot, name).dialog
        assert [one for one in controls(dialog) if is_own(one) and not name_of(one)] == []
        assert [label.text() for label in labels(dialog) if is_cut(label)] == [], spoken
        assert [name_of(one) for one in controls(dialog) if is_cut_button(one)] == [], spoken
        dialog.close()


@pytest.mark.parametrize("make", STEP_PICTURES)
def test_each_step_of_the_first_run_is_walked_there_and_back(
    place: FirstRunSetup, qtbot: QtBot, make: Callable[[FirstRunSetup], QWidget]
) -> None:
    step = make(place)
    assert isinstance(step, FirstRun)
    qtbot.addWidget(step)
    step.hide()
    step.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen, on=False)
    step.show()
    step.activateWindow()
    qtbot.waitUntil(step.isActiveWindow)
    place.until(lambda: True)
    assert step.focusWidget() not in (None, step.leave)
    there = walk(step, qtbot, Qt.Key.Key_Tab)
    back = walk(step, qtbot, Qt.Key.Key_Backtab)
    wanted = [one for one in controls(step) if one.isEnabled() and is_own(one)]
    assert [name_of(one) for one in wanted if not name_of(one)] == []
    assert [name_of(one) for one in wanted if one not in there and not is_other(one)] == []
    assert from_top(back[::-1], step) == from_top(there, step)
    assert [name_of(one) for one in from_top(there, step)] == [
        name_of(one) for one in sorted(there, key=lambda one: position(one, step))
    ]
