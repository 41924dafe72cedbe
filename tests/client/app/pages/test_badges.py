"""Badges on the Points page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QDesktopServices

from tequio_client.app.pages.badges import BadgesCard
from tequio_client.ipc.account import AccountReply, BadgeRow
from tequio_shared.badges import DAY_MS, Badge
from tests.support.window_contents import labels

if TYPE_CHECKING:
    from PySide6.QtCore import QUrl
    from pytestqt.qtbot import QtBot

pytestmark = pytest.mark.usefixtures("language", "theme")


DAY = 20_000
NOON_MS = DAY * DAY_MS + DAY_MS // 2


def account(*badges: BadgeRow, **fields: int) -> AccountReply:
    return AccountReply(key="K" * 43, badges=badges, **fields)  # type: ignore[arg-type] # numbers


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
    card.show_account(account(*rows), "https://ledger.example/", NOON_MS)
    assert len(card.buttons) == len(Badge)
    assert all(one.text() and one.toolTip() for one in card.buttons)
    card.buttons[0].click()
    assert opened == ["https://ledger.example/entries/10"]


def test_a_newcomer_sees_the_first_badge_to_earn(qtbot: QtBot) -> None:
    card = BadgesCard()
    qtbot.addWidget(card)
    assert card.isHidden()
    card.show_account(account(), "https://ledger.example", NOON_MS)
    shown = [one.text() for one in labels(card)]
    assert shown == ["Badges", "Next badge: First round, 0 of 1"]
    card.show_account(account(accepted=1), "https://ledger.example", NOON_MS)
    assert card.streak.isVisible()


def test_a_badge_that_the_card_does_not_know_is_left_out(qtbot: QtBot) -> None:
    card = BadgesCard()
    qtbot.addWidget(card)
    first = BadgeRow(badge="first-round", entry=7)
    for rows, shown in (((first, BadgeRow(badge="of-2031", entry=9)), 1), ((first,), 1), ((), 0)):
        card.show_account(account(*rows), "https://ledger.example", NOON_MS)
        assert (len(card.buttons), card.note.isVisible()) == (shown, bool(shown))


@pytest.mark.parametrize(
    ("day", "days", "words"),
    [
        (DAY, 12, "Current streak: 12 days in a row with accepted work."),
        (DAY, 1, "Current streak: 1 day in a row with accepted work."),
        (DAY - 1, 12, "12 days in a row with accepted work. No accepted work today (UTC) yet."),
        (DAY - 2, 12, "No streak: no work was accepted lately."),
        (0, 0, "No streak: no work was accepted lately."),
    ],
)
def test_a_streak_goes_on_until_a_day_is_missing(
    qtbot: QtBot, day: int, days: int, words: str
) -> None:
    card = BadgesCard()
    qtbot.addWidget(card)
    first = BadgeRow(badge="first-round", entry=7)
    streak = account(first, accepted=60, streak_day=day, streak_days=days)
    card.show_account(streak, "https://l", NOON_MS)
    assert card.streak.isVisible()
    assert card.streak.text().endswith(words)


@pytest.mark.parametrize(
    ("earned", "fields", "words"),
    [
        ((), {}, "Next badge: First round, 0 of 1"),
        (
            ("first-round",),
            {"accepted": 60, "streak_day": DAY, "streak_days": 12},
            "Next badge: 100 rounds, 60 of 100",
        ),
        (
            ("first-round",),
            {"accepted": 30, "streak_day": DAY, "streak_days": 12},
            "Next badge: 30 days in a row, 12 of 30",
        ),
        (
            ("first-round", "hundred-rounds", "month"),
            {"own_gflop": 400_000_000},
            "Next badge: 1 EFLOP, 40,000 of 100,000",
        ),
        (("first-round", "hundred-rounds", "month", "exaflop"), {}, ""),
    ],
)
def test_the_nearest_badge_is_named(
    qtbot: QtBot, earned: tuple[str, ...], fields: dict[str, int], words: str
) -> None:
    card = BadgesCard()
    qtbot.addWidget(card)
    rows = tuple(BadgeRow(badge=one, entry=7) for one in earned)
    card.show_account(account(*rows, **fields), "https://l", NOON_MS)
    assert card.next.text() == words
