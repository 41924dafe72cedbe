"""Closing the window never makes the app unreachable."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QLocale, QObject, Qt, Signal

from tequio_client.app import notifications
from tequio_client.app.notifications import MOST_NOTICES, NoticeStrip
from tequio_client.app.presence import WindowController
from tequio_client.app.settings_file import SettingsStore
from tequio_client.app.window import AppWindow
from tests.support.app_language import PseudoLocale
from tests.support.app_scenes import NOW_MS, SCENES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from tequio_client.app.language import Language
    from tequio_client.app.model import AppModel
    from tequio_client.app.theme.look import Theme
    from tests.support.app_worker import ScriptedWorker


class PaperPanel(QObject):
    """The part of a desktop panel that matters here: present or absent."""

    availability_changed = Signal(bool)

    def __init__(self, *, is_available: bool) -> None:
        super().__init__()
        self.is_available = is_available


@pytest.fixture
def present(
    model: AppModel, worker: ScriptedWorker, theme: Theme, language: Language, tmp_path: Path
) -> Iterator[Callable[[PaperPanel], WindowController]]:
    made: list[WindowController] = []

    def beside(panel: PaperPanel) -> WindowController:
        book = SettingsStore(tmp_path)
        presence = WindowController(
            lambda: AppWindow(model, theme, lambda: NOW_MS),
            panel,  # type: ignore[arg-type]  # it has what matters of a tray
            book,
            panel_ms=20,
        )
        made.append(presence)
        worker.send_snapshot(SCENES["lending"])
        return presence

    yield beside
    for presence in made:
        window = presence.window
        presence.close_window()
        window.deleteLater()


def test_closing_hides_the_window_beside_a_panel(
    present: Callable[[PaperPanel], WindowController], qtbot: QtBot
) -> None:
    presence = present(PaperPanel(is_available=True))
    presence.open()
    with qtbot.waitSignal(presence.hidden):
        presence.window.close()
    assert presence.window.isHidden()
    presence.open("home")
    assert presence.window.isVisible()


def test_closing_minimises_the_window_without_a_panel(
    present: Callable[[PaperPanel], WindowController], qtbot: QtBot
) -> None:
    presence = present(PaperPanel(is_available=False))
    presence.open()
    with qtbot.waitSignal(presence.minimised):
        presence.window.close()
    assert presence.window.isMinimized()
    assert not presence.window.isHidden()
    presence.open()
    assert not presence.window.isMinimized()


def test_a_hidden_window_comes_back_when_the_panel_goes(
    present: Callable[[PaperPanel], WindowController],
) -> None:
    panel = PaperPanel(is_available=True)
    presence = present(panel)
    presence.open()
    presence.window.close()
    panel.is_available = False
    panel.availability_changed.emit(False)  # noqa: FBT003 - a signal
    assert not presence.window.isHidden()
    assert presence.window.isMinimized()


def test_a_start_without_a_window_shows_one_when_no_panel_comes(
    present: Callable[[PaperPanel], WindowController], qtbot: QtBot
) -> None:
    presence = present(PaperPanel(is_available=False))
    with qtbot.waitSignal(presence.minimised), qtbot.waitSignal(presence.window_created):
        presence.wait_for_panel()
    assert presence.window.isMinimized()


def test_a_window_that_was_never_seen_comes_when_the_panel_goes(
    present: Callable[[PaperPanel], WindowController], qtbot: QtBot
) -> None:
    panel = PaperPanel(is_available=True)
    presence = present(panel)
    panel.is_available = False
    with qtbot.waitSignal(presence.window_created):
        panel.availability_changed.emit(False)  # noqa: FBT003 - a signal
    assert presence.window.isMinimized()


def test_a_start_without_a_window_shows_none_beside_a_panel(
    present: Callable[[PaperPanel], WindowController], qtbot: QtBot
) -> None:
    presence = present(PaperPanel(is_available=True))
    presence.wait_for_panel()
    with qtbot.assertNotEmitted(presence.window_created, wait=100):
        pass


def test_leaving_closes_for_good_and_remembers_the_place(
    present: Callable[[PaperPanel], WindowController], tmp_path: Path
) -> None:
    presence = present(PaperPanel(is_available=True))
    presence.open()
    presence.window.resize(780, 560)
    presence.close_window()
    assert presence.window.isHidden()
    again = present(PaperPanel(is_available=True))
    assert (again.window.width(), again.window.height()) == (780, 560)
    assert SettingsStore(tmp_path).settings.page == "home"


def test_a_place_that_makes_no_sense_is_passed_over(
    present: Callable[[PaperPanel], WindowController], tmp_path: Path
) -> None:
    SettingsStore(tmp_path).change(geometry="no base64 at all!", page="of another version")
    presence = present(PaperPanel(is_available=True))
    presence.open()
    assert presence.window.page_name == "home"


def test_ctrl_q_quits(present: Callable[[PaperPanel], WindowController], qtbot: QtBot) -> None:
    presence = present(PaperPanel(is_available=True))
    presence.open()
    with qtbot.waitActive(presence.window):
        presence.window.activateWindow()
    with qtbot.waitSignal(presence.quit_requested):
        qtbot.keyClick(presence.window, Qt.Key.Key_Q, Qt.KeyboardModifier.ControlModifier)


def shown(notices: NoticeStrip) -> list[str]:
    return [banner.words.text() for banner in notices.banners.values()]


def test_a_notice_is_said_once_until_it_is_dismissed(
    theme: Theme, language: Language, qtbot: QtBot
) -> None:
    notices = NoticeStrip()
    qtbot.addWidget(notices)
    assert notices.isHidden()
    notices.add("damaged", "/somewhere/ana/app.json.damaged")
    notices.add("damaged", "/somewhere/ana/app.json.damaged")
    assert len(notices.banners) == 1
    assert "/somewhere/ana/app.json.damaged" in shown(notices)[0]
    notices.dismiss("damaged", "/somewhere/ana/app.json.damaged")
    assert not notices.banners
    assert notices.isHidden()
    for number in range(MOST_NOTICES + 2):
        notices.add("unsaved", str(number))
    assert len(notices.banners) == MOST_NOTICES


def test_a_notice_of_success_goes_by_itself(
    theme: Theme, language: Language, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notifications, "PASSING_MS", 50)
    notices = NoticeStrip()
    qtbot.addWidget(notices)
    notices.add("unsaved", "one")
    notices.add("joined", "demo")
    assert shown(notices)[1] == "You joined demo."
    qtbot.waitUntil(lambda: len(shown(notices)) == 1)
    assert "one" in shown(notices)[0], "what the user has to know stays"


def test_notices_are_said_in_the_language_that_is_spoken(
    theme: Theme, language: Language, qtbot: QtBot
) -> None:
    notices = NoticeStrip()
    qtbot.addWidget(notices)
    notices.add("no-tray")
    english = shown(notices)
    language.apply(QLocale("en_US"), PseudoLocale())
    qtbot.waitUntil(lambda: shown(notices) != english)
