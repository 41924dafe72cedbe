"""The window: reachable by keyboard and by ear, in any language, and light."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from psutil import Process
from PySide6.QtCore import QEvent, QLocale, QObject, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from tequio_client.app.pages import PAGES
from tequio_client.app.pages.home import HomePage
from tequio_client.app.pages.page import Page
from tequio_client.app.pages.settings import SettingsPage
from tequio_client.app.presence import fit_on_screen
from tequio_client.app.theme.look import Appearance
from tequio_client.app.widgets.scrolling import room_on_screen
from tequio_client.app.window import AppWindow
from tequio_client.app.worker_texts import shown_state
from tequio_client.ipc import control
from tequio_client.ipc.runs import AskRuns
from tequio_client.ipc.snapshot import LendingState
from tests.support.app_language import LONG, PseudoLocale, pseudo, speak
from tests.support.app_program import own
from tests.support.app_scenes import NOW_MS, SCENES
from tests.support.window_contents import (
    controls,
    has_words,
    is_cut,
    labels,
    name_of,
    settle,
    texts,
)

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from tequio_client.app.language import Language
    from tequio_client.app.model import AppModel
    from tequio_client.app.theme.look import Theme
    from tests.support.app_worker import ScriptedWorker

pytestmark = pytest.mark.usefixtures("theme", "language")
HEAVY = {"torch", "numpy", "trio", "libp2p", "httpx", "sqlalchemy", "transformers", "nacl"}
PRINT_LOADED = """
import sys
import tequio_client.app.window
print(*{name.partition(".")[0] for name in sys.modules})
"""
CONTROL = Qt.KeyboardModifier.ControlModifier
NAMES = ("Tequio", "nova-350m", "RTX 4070", "CUDA driver")
"""Texts that are the same in every language, and details that other programs gave."""


@pytest.fixture
def window(model: AppModel, theme: Theme, qtbot: QtBot) -> AppWindow:
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)  # the one before it
    made = AppWindow(model, theme, lambda: NOW_MS)
    qtbot.addWidget(made)
    made.show()
    return made


class ShownWindows(QObject):
    """Types of all widgets that were shown as windows."""

    def __init__(self) -> None:
        super().__init__()
        self.kinds: list[str] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802  # Qt's name
        """Note it, and let it pass."""
        if event.type() is QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
            self.kinds.append(type(watched).__name__)
        return False


def test_no_part_of_a_page_comes_up_as_a_window_of_its_own(
    model: AppModel, theme: Theme, worker: ScriptedWorker, qapp: QApplication, tmp_path: Path
) -> None:
    shown = ShownWindows()
    qapp.installEventFilter(shown)
    window = AppWindow(model, theme, lambda: NOW_MS, own=own(tmp_path))
    window.show()
    for scene in SCENES.values():
        worker.send_snapshot(scene)
        for entry in PAGES:
            window.open_page(entry.name)
            window.page.refresh()
    assert isinstance(window.page, SettingsPage)
    window.page.search.setText("a")
    qapp.removeEventFilter(shown)
    window.close()
    window.deleteLater()
    assert set(shown.kinds) == {"AppWindow"}


def test_the_window_needs_nothing_heavy() -> None:
    command = [sys.executable, "-c", PRINT_LOADED]
    shown = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert set(shown.stdout.split()) & HEAVY == set()


@pytest.mark.parametrize("scene", SCENES)
def test_every_control_has_a_name(window: AppWindow, worker: ScriptedWorker, scene: str) -> None:
    worker.send_snapshot(SCENES[scene])
    nameless = [one for one in controls(window) if not name_of(one)]
    assert nameless == []


def test_the_keyboard_reaches_every_control_that_is_shown(
    window: AppWindow, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    worker.send_snapshot(SCENES["lending"])
    window.page.refresh()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    reached: list[QWidget] = []
    for _ in range(40):
        focus = window.focusWidget()
        qtbot.keyClick(focus, Qt.Key.Key_Tab)
        focus = window.focusWidget()
        assert focus is not None
        if focus in reached:
            break
        reached.append(focus)
    assert {name_of(one) for one in controls(window) if one.isEnabled()} <= set(
        map(name_of, reached)
    )


def test_pages_are_made_when_they_are_opened(window: AppWindow, qtbot: QtBot) -> None:
    first = window.page
    window.open_page("settings/network")
    assert (window.page_name, window.page.location) == ("settings", "network")
    window.open_page(PAGES[0].name)
    assert window.page is first
    with qtbot.waitSignal(window.action_requested) as signal:
        window.open_page("first-run")
    assert signal.args == ["first-run"]
    assert window.page is first


def test_another_language_is_spoken_at_once(
    window: AppWindow, worker: ScriptedWorker, language: Language
) -> None:
    worker.send_snapshot(SCENES["lending"])
    language.choose("es")
    settle()
    worker.send_snapshot(SCENES["lending"])
    assert "Inicio" in texts(window)
    language.choose("en")
    settle()
    assert "Home" in texts(window)
    assert "Inicio" not in texts(window)


def test_another_language_leaves_the_keyboard_where_it_is(
    model: AppModel,
    theme: Theme,
    worker: ScriptedWorker,
    language: Language,
    tmp_path: Path,
    qtbot: QtBot,
) -> None:
    made = AppWindow(model, theme, lambda: NOW_MS, own=own(tmp_path))
    qtbot.addWidget(made)
    made.show()
    worker.send_snapshot(SCENES["lending"])
    for place in ("storage", "advanced", "appearance"):
        made.open_page(f"settings/{place}")
    row = _settings(made).section_of("appearance").rows["language"]
    assert row.control is not None
    row.control.setFocus()
    language.choose("es")
    settle()
    now = _settings(made).section_of("appearance").rows["language"].control
    assert now is not row.control
    assert made.focusWidget() is now


def _settings(window: AppWindow) -> SettingsPage:
    assert isinstance(window.page, SettingsPage)
    return window.page


@pytest.mark.parametrize("scene", SCENES)
def test_every_text_is_translated(
    window: AppWindow, worker: ScriptedWorker, language: Language, scene: str
) -> None:
    language.apply(QLocale("en_US"), PseudoLocale())
    settle()
    worker.send_snapshot(SCENES[scene])
    window.page.refresh()
    plain = {text for text in texts(window) if has_words(text) and "[" not in text}
    assert {text for text in plain if not text.startswith(NAMES)} == set()


@pytest.mark.parametrize("spoken", LONG)
@pytest.mark.parametrize("scene", SCENES)
def test_longer_texts_have_their_room(
    window: AppWindow, worker: ScriptedWorker, language: Language, scene: str, spoken: str
) -> None:
    speak(language, spoken)
    settle()
    for width in (window.minimumWidth(), window.width()):
        window.resize(width, window.height())
        worker.send_snapshot(SCENES[scene])
        window.page.refresh()
        settle()
        content = window.page.widget()
        assert content is not None
        assert content.width() <= window.page.viewport().width()
        cut = [label.text() for label in labels(window) if is_cut(label)]
        assert cut == []


def test_right_to_left_the_side_bar_stands_on_the_right(
    window: AppWindow, worker: ScriptedWorker, language: Language
) -> None:
    language.apply(QLocale("ar"), PseudoLocale())
    settle()
    worker.send_snapshot(SCENES["lending"])
    window.grab()
    page = window.page.mapTo(window, window.page.rect().topLeft())
    assert page.x() == 0


def test_a_change_of_look_reaches_what_is_open(
    window: AppWindow, worker: ScriptedWorker, theme: Theme
) -> None:
    worker.send_snapshot(SCENES["lending"])
    dark = window.grab().toImage()
    theme.choose(Appearance.LIGHT)
    light = window.grab().toImage()
    theme.choose(Appearance.DARK)
    assert light.pixelColor(400, 710).lightness() > 200
    assert dark.pixelColor(400, 710).lightness() < 50
    assert window.grab().toImage().pixelColor(400, 710) == dark.pixelColor(400, 710)


def test_a_pseudo_text_keeps_the_places_of_values() -> None:
    assert pseudo("{time} left") == "[{time} ĺéfţ····]"
    assert pseudo("%n round(s)").startswith("[%n ")
    assert pseudo("") == ""


def test_keys_open_pages_read_again_and_help(
    window: AppWindow, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    worker.send_snapshot(SCENES["lending"])
    for number, entry in enumerate(PAGES, 1):
        QTest.keyClick(window, Qt.Key(Qt.Key.Key_0 + number), CONTROL)
        assert window.page_name == entry.name
    QTest.keyClick(window, Qt.Key.Key_2, CONTROL)
    worker.received.clear()
    QTest.keyClick(window, Qt.Key.Key_F5)
    assert [one.question for one in worker.received if isinstance(one, control.AskQuestion)] == [
        AskRuns()
    ]
    QTest.keyClick(window, Qt.Key.Key_F1)
    assert window.help.isVisible()
    assert window.help.focusWidget() is window.help.close_button
    window.help.close()


def test_pages_are_freed_while_hidden_and_come_back_where_they_were(
    window: AppWindow, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    worker.send_snapshot(SCENES["lending"])
    window.open_page("activity")
    window.page.restore_location("health")
    place = window.page.location
    window.hide()
    window._release()  # noqa: SLF001 - as after some seconds
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    assert window.centralWidget() is None
    assert window.findChildren(Page) == []
    assert not [one for one in Process().open_files() if "lucide" in one.path]
    worker.send_snapshot(SCENES["waiting"])
    window.show()
    assert (window.page_name, window.page.location) == ("activity", place)
    window.hide()
    window._release()  # noqa: SLF001 - as above
    window.open_page("points")
    window.show()
    assert window.page_name == "points"
    window.release_later()
    window._release()  # noqa: SLF001 - too late: it is shown again
    assert window.page.isVisible()


def test_home_and_the_side_bar_say_the_same_and_not_twice(
    window: AppWindow, worker: ScriptedWorker, model: AppModel
) -> None:
    worker.send_snapshot(SCENES["paused"])
    home, chip = window.page, window._side.chip  # noqa: SLF001 - what people see
    assert isinstance(home, HomePage)
    home.refresh()
    assert chip.accessibleName() == f"{home.header.title.text()}: {home.header.reason.text()}"
    assert not chip._reason.isVisible()  # noqa: SLF001 - as above
    model.contribute()
    home.refresh()
    assert home.header.title.text() == "Starting…"
    assert chip.accessibleName().startswith("Starting…")
    worker.gone.emit("The worker has ended.")
    assert chip.accessibleName() == "Attention: The worker has ended."
    window.open_page("points")
    assert chip._reason.isVisible()  # noqa: SLF001 - as above


def test_a_dead_network_is_not_shown_as_lending(
    window: AppWindow, model: AppModel, worker: ScriptedWorker
) -> None:
    lending = SCENES["ledger-away"]
    assert lending.status is not None
    worker.send_snapshot(lending)
    home = window.page
    assert isinstance(home, HomePage)
    home.refresh()
    assert home.header.title.text() == "Lending"
    worker.send_snapshot(replace(lending, status=replace(lending.status, peers=0)))
    home.refresh()
    assert home.header.title.text() == "No connection"
    assert "Work goes on" not in home.banner.words.text()
    worker.send_snapshot(replace(lending, status=None))
    assert shown_state(model) is LendingState.WAITING


def test_a_window_is_never_larger_than_its_screen(window: AppWindow) -> None:
    window.setMinimumSize(9_000, 8_000)
    window.resize(10_000, 9_000)
    window.move(5_000, 5_000)
    fit_on_screen(window)
    assert room_on_screen(window).contains(window.frameGeometry())
