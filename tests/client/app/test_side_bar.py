"""The window's side bar: the state is read, and each page reached, in low windows, too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QScrollArea, QWidget

from tequio_client.app.side_bar import SideBar, StateReason
from tequio_client.app.theme import style
from tequio_client.app.window import AppWindow
from tests.support.app_language import LONG, speak
from tests.support.app_scenes import NOW_MS, SCENES
from tests.support.window_contents import is_cut, labels, settle

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from tequio_client.app.language import Language
    from tequio_client.app.model import AppModel
    from tequio_client.app.theme.look import Theme
    from tests.support.app_worker import ScriptedWorker

pytestmark = pytest.mark.usefixtures("theme", "language")
LOW = (911, 443)
"""Of a screen of 1366 x 768 at 150 %, without the panel and the title bar."""


@pytest.fixture
def window(model: AppModel, theme: Theme, qtbot: QtBot) -> AppWindow:
    made = AppWindow(model, theme, lambda: NOW_MS)
    qtbot.addWidget(made)
    made.show()
    return made


def test_the_state_stands_at_the_foot_of_every_page(
    window: AppWindow, worker: ScriptedWorker
) -> None:
    worker.send_snapshot(SCENES["waiting"])
    names = [child.accessibleName() for child in window.findChildren(QWidget)]
    assert "Waiting: A game is running (Hollow Knight). Resumes 60 s after it closes." in names


def test_a_low_window_shows_the_beginning_of_a_long_reason(
    window: AppWindow, worker: ScriptedWorker, language: Language
) -> None:
    speak(language, "pseudo")
    window.resize(*style.LEAST_WINDOW)
    window.open_page("settings")
    worker.send_snapshot(SCENES["lending"])
    settle()
    (reason,) = window.findChildren(StateReason)
    reason.setText(reason.text() * 3)
    settle()
    assert reason.lines
    assert len(reason.lines) * reason.fontMetrics().lineSpacing() <= reason.height()
    assert reason.text().startswith(" ".join(reason.lines)[:-1])
    assert reason.lines[-1].endswith("\u2026")
    assert reason.toolTip() == reason.text()
    window.resize(style.WINDOW[0], 2 * style.WINDOW[1])
    settle()
    assert reason.lines == ()
    assert reason.toolTip() == ""


@pytest.mark.parametrize("spoken", LONG)
def test_on_a_low_screen_the_pages_scroll_and_the_state_is_read(
    window: AppWindow, worker: ScriptedWorker, language: Language, spoken: str
) -> None:
    speak(language, spoken)
    window.open_page("settings")
    worker.send_snapshot(SCENES["waiting"])
    settle()
    (side,) = window.findChildren(SideBar)
    window.setMinimumSize(0, 0)
    window.resize(*LOW)
    settle()
    assert [one.text() for one in labels(side) if is_cut(one)] == []
    assert all(one.height() >= one.fontMetrics().height() for one in labels(side))
    assert all(one.height() == one.sizeHint().height() for one in side.buttons.values())
    assert _is_in_view(side.buttons["settings"], side.pages)


def test_the_keyboard_brings_the_pages_of_a_low_window_into_view(
    window: AppWindow, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    window.setMinimumSize(0, 0)
    window.resize(*LOW)
    worker.send_snapshot(SCENES["lending"])
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    window.open_page("settings")
    settle()
    (side,) = window.findChildren(SideBar)
    last, bar = side.buttons["settings"], side.pages.verticalScrollBar()
    last.setFocus()
    QTest.keyClick(window.windowHandle(), Qt.Key.Key_Tab)
    bar.setValue(0)
    assert not _is_in_view(last, side.pages)
    QTest.keyClick(window.windowHandle(), Qt.Key.Key_Backtab)
    assert window.focusWidget() is last
    assert _is_in_view(last, side.pages)


def _is_in_view(part: QWidget, scroll: QScrollArea) -> bool:
    place = QRect(part.mapTo(scroll.viewport(), QPoint(0, 0)), part.size())
    return scroll.viewport().rect().contains(place)
