"""The badges of this computer's key, each with its proof; its streak, and the next badge."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from tequio_client.app.theme.style import TextStyle
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import (
    Card,
    Columns,
    Label,
    WrappedLabel,
    caption,
    fill,
    holding,
    vbox,
)
from tequio_client.app.widgets.buttons import Button
from tequio_client.ipc.account import AccountReply, BadgeRow
from tequio_shared.badges import BADGE_DAYS, BADGE_ROUNDS, DAY_MS, Badge, current_streak, next_badge

GAP, FOLDED = 12, 3


class BadgeText(NamedTuple):
    title: str
    picture: str
    note: str


class BadgesCard(Card):
    """Lists badges as buttons that open the ledger's page of the entry, and names the next one.

    Hidden while the account is unknown.
    """

    def __init__(self) -> None:
        super().__init__()
        self.buttons: tuple[Button, ...] = ()
        self._rows: tuple[BadgeRow, ...] = ()
        self._ledger = ""
        self._places = Columns()
        title = Label(self.tr("Badges"), TextStyle.HEADING)
        self.note = caption(self.tr("Each badge opens the entry of the public log that proves it."))
        self.streak, self.next = WrappedLabel(""), caption()
        fill(self.body, title, self.note, self._places, self.streak, self.next)
        self.hide()

    def show_account(self, account: AccountReply, ledger: str, now_ms: int) -> None:
        """Show the badges, the streak and the next badge; to a newcomer only the last."""
        self._show_badges(account.badges, ledger)
        for part in (self.note, self._places):
            part.setVisible(bool(self.buttons))
        self.streak.setVisible(bool(account.accepted))
        days = current_streak(account.streak_day, account.streak_days, now_ms)
        is_today = account.streak_day >= now_ms // DAY_MS
        words = self.tr("Current streak: %n day(s) in a row with accepted work.", "", days)
        if days and not is_today:
            words += " " + self.tr("No accepted work today (UTC) yet.")
        self.streak.setText(words if days else self.tr("No streak: no work was accepted lately."))
        self.next.setText(self._next_words(account, days))
        self.next.setVisible(bool(self.next.text()))
        self.show()

    def _next_words(self, account: AccountReply, days: int) -> str:
        earned = {row.badge for row in account.badges}
        found = next_badge(earned, account.accepted, days, account.own_gflop)
        if found is None:
            return ""
        amount = figures.short_points if found.badge == Badge.EXAFLOP else figures.count
        return self.tr("Next badge: {badge}, {reached} of {needed}").format(
            badge=self._texts()[found.badge].title,
            reached=amount(found.reached),
            needed=amount(found.needed),
        )

    def _show_badges(self, rows: tuple[BadgeRow, ...], ledger: str) -> None:
        self._ledger = ledger.rstrip("/")
        if rows == self._rows:
            return
        self._rows = rows
        self.buttons = tuple(button for row in rows if (button := self._button(row)) is not None)
        places = Columns(folded=FOLDED, gap=GAP)
        parts = [holding(vbox(one, caption(one.toolTip()), None)) for one in self.buttons]
        parts += [QWidget() for _ in range(-len(parts) % FOLDED)]  # so that none is wider
        places.set_parts(parts)
        self.body.replaceWidget(self._places, places)
        self._places.deleteLater()
        self._places = places

    def _button(self, row: BadgeRow) -> Button | None:
        text = self._texts().get(row.badge)
        if text is None:  # of a newer ledger
            return None
        made = Button(text.title, picture=text.picture)
        made.setToolTip(text.note)
        made.setAccessibleDescription(text.note)
        made.clicked.connect(partial(self._open, row.entry))
        return made

    def _open(self, entry: int) -> None:
        QDesktopServices.openUrl(QUrl(f"{self._ledger}/entries/{entry}"))

    def _texts(self) -> dict[str, BadgeText]:
        return {
            Badge.FIRST_ROUND: BadgeText(
                self.tr("First round"),
                "sprout",
                self.tr("A round accepted work of this key for the first time."),
            ),
            Badge.HUNDRED_ROUNDS: BadgeText(
                self.tr("{n} rounds").format(n=BADGE_ROUNDS),
                "medal",
                self.tr("{n} rounds accepted work of this key.").format(n=BADGE_ROUNDS),
            ),
            Badge.MONTH: BadgeText(
                self.tr("{n} days in a row").format(n=BADGE_DAYS),
                "calendar-check",
                self.tr("Work was accepted on {n} days in a row.").format(n=BADGE_DAYS),
            ),
            Badge.EXAFLOP: BadgeText(
                self.tr("1 EFLOP"),
                "atom",
                self.tr("This key did 10^18 calculations, which are 100,000 points."),
            ),
            Badge.AUDIT: BadgeText(
                self.tr("First audit"),
                "search-check",
                self.tr("This key repeated another volunteer's work to check it."),
            ),
            Badge.MEASURE: BadgeText(
                self.tr("Measured a model"),
                "ruler",
                self.tr("This key measured how good a model is, on text that nobody trains on."),
            ),
            Badge.JUDGE: BadgeText(
                self.tr("Judged a competition"),
                "scale",
                self.tr("This key scored a model in a competition."),
            ),
        }
