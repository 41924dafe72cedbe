"""Notices of organisers on the Home page: plain, dismissible, and kept dismissed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt

from tequio_client.app.pages.organiser_notices import MOST_DISMISSED, OrganiserNotices
from tequio_client.app.settings_file import SettingsStore
from tequio_client.ipc.snapshot import CurrentRoundView, LedgerView
from tests.support.app_scenes import SCENES

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

pytestmark = pytest.mark.usefixtures("theme", "language")


def told() -> CurrentRoundView:
    current = SCENES["told"].round
    assert current is not None
    return current


def shown(qtbot: QtBot, settings: SettingsStore | None = None) -> OrganiserNotices:
    made = OrganiserNotices(settings)
    qtbot.addWidget(made)
    made.show()
    made.show_notices(LedgerView(), told())
    return made


def dismiss(notices: OrganiserNotices, qtbot: QtBot) -> None:
    qtbot.mouseClick(notices.announcement.button, Qt.MouseButton.LeftButton)


def test_without_notices_nothing_is_shown(qtbot: QtBot) -> None:
    notices = shown(qtbot)
    for current in (None, replace(told(), announcement="", pause_reason="")):
        notices.show_notices(LedgerView(), current)
        assert not notices.isVisible()


def test_both_say_who_tells_what(qtbot: QtBot) -> None:
    notices = shown(qtbot)
    words = notices.announcement.words.text()
    assert words.startswith("From the organisers of nova-350m: The next part")
    assert "is paused by its organisers: The seeds" in notices.pause.words.text()
    assert notices.pause.isVisible()
    assert not notices.pause.button.isVisible()


def test_a_link_or_markup_in_it_is_text(qtbot: QtBot) -> None:
    notices = shown(qtbot)
    notices.show_notices(
        LedgerView(), replace(told(), announcement="<a href='https://a.example'>now</a>")
    )
    label = notices.announcement.words
    assert label.textFormat() is Qt.TextFormat.PlainText
    assert "<a href='https://a.example'>now</a>" in label.text()


def test_a_dismissed_announcement_stays_dismissed_and_the_next_one_is_shown(
    qtbot: QtBot, tmp_path: Path
) -> None:
    notices = shown(qtbot, SettingsStore(tmp_path))
    dismiss(notices, qtbot)
    assert not notices.announcement.isVisible()
    assert notices.isVisible(), "the pause goes on"
    notices.show_notices(LedgerView(), told())
    assert not notices.announcement.isVisible()
    again = shown(qtbot, SettingsStore(tmp_path))
    assert not again.announcement.isVisible(), "also after a restart of the app"
    again.show_notices(LedgerView(), replace(told(), pause_reason=""))
    assert not again.isVisible()
    again.show_notices(LedgerView(), replace(told(), announcement_entry=91_205))
    assert again.announcement.isVisible()


def test_only_the_last_ones_are_remembered(qtbot: QtBot, tmp_path: Path) -> None:
    settings = SettingsStore(tmp_path)
    notices = shown(qtbot, settings)
    for entry in range(MOST_DISMISSED + 3):
        notices.show_notices(LedgerView(), replace(told(), announcement_entry=entry))
        dismiss(notices, qtbot)
    assert len(settings.settings.notices_read) == MOST_DISMISSED


def test_an_announcement_to_the_network_is_shown_outside_a_run_until_it_is_dismissed(
    qtbot: QtBot, tmp_path: Path
) -> None:
    settings, ledger = SettingsStore(tmp_path), SCENES["told"].ledger
    notices = shown(qtbot, settings)
    notices.show_notices(ledger, None)
    words = notices.network.words.text()
    assert words.startswith("From the organisers of this network: The ledger moves")
    assert notices.network.isVisible()
    assert not notices.announcement.isVisible()
    qtbot.mouseClick(notices.network.button, Qt.MouseButton.LeftButton)
    assert not notices.isVisible()
    again = shown(qtbot, SettingsStore(tmp_path))
    again.show_notices(ledger, None)
    assert not again.isVisible(), "also after a restart of the app"
    again.show_notices(replace(ledger, announcement_entry=91_300), None)
    assert again.network.isVisible()
    again.show_notices(replace(ledger, announcement=""), None)
    assert not again.isVisible(), "it was taken back"
