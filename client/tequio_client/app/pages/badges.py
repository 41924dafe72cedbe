"""The badges of this computer's key, each with the way to the log entry that proves it."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

from tequio_client.app.theme.style import TextStyle
from tequio_client.app.widgets.base import Card, Columns, Label, caption, fill
from tequio_client.app.widgets.buttons import Button
from tequio_client.ipc.control import BadgeRow
from tequio_shared.badges import BADGE_DAYS, BADGE_ROUNDS, Badge

GAP, FOLDED = 8, 2


class BadgeText(NamedTuple):
    title: str
    picture: str
    note: str


class BadgesCard(Card):
    """Lists badges as buttons that open the ledger's page of the entry; hidden without any."""

    def __init__(self) -> None:
        super().__init__()
        self.buttons: tuple[Button, ...] = ()
        self._rows: tuple[BadgeRow, ...] = ()
        self._ledger = ""
        self._places = Columns()
        title = Label(self.tr("Badges"), TextStyle.HEADING)
        note = caption(self.tr("Facts of the log. Each opens the entry that proves it."))
        fill(self.body, title, note, self._places)
        self.hide()

    def show_badges(self, rows: tuple[BadgeRow, ...], ledger: str) -> None:
        self._ledger = ledger.rstrip("/")
        if rows == self._rows:
            return
        self._rows = rows
        self.buttons = tuple(button for row in rows if (button := self._button(row)) is not None)
        places = Columns(folded=FOLDED, gap=GAP)
        places.set_parts(self.buttons)
        self.body.replaceWidget(self._places, places)
        self._places.deleteLater()
        self._places = places
        self.setVisible(bool(self.buttons))

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
                self.tr("A month of days"),
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
