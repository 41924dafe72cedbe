"""Badges on the Points page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QDesktopServices

from tequio_client.app.pages.badges import BadgesCard
from tequio_client.ipc.control import BadgeRow
from tequio_shared.badges import Badge

if TYPE_CHECKING:
    from PySide6.QtCore import QUrl
    from pytestqt.qtbot import QtBot

pytestmark = pytest.mark.usefixtures("language", "theme")


def test_every_badge_has_words_and_opens_its_entry(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def open_url(url: QUrl) -> bool:
        opened.append(url.toString())
        return True

    monkeypatch.setattr(QDesktopServices, "openUrl", open_url)
    card = BadgesCard()
    qtbot.addWidget(card)
    rows = tuple(BadgeRow(badge=str(one), entry=at) for at, one in enumerate(Badge, 10))
    card.show_badges(rows, "https://ledger.example/")
    assert len(card.buttons) == len(Badge)
    assert all(one.text() and one.toolTip() for one in card.buttons)
    card.buttons[0].click()
    assert opened == ["https://ledger.example/entries/10"]


def test_the_card_is_hidden_without_badges_that_it_knows(qtbot: QtBot) -> None:
    card = BadgesCard()
    qtbot.addWidget(card)
    card.show_badges((), "https://ledger.example")
    assert card.isHidden()
    first = BadgeRow(badge="first-round", entry=7)
    for rows, shown in (((first, BadgeRow(badge="of-2031", entry=9)), 1), ((first,), 1), ((), 0)):
        card.show_badges(rows, "https://ledger.example")
        assert (len(card.buttons), card.isHidden()) == (shown, not shown)
