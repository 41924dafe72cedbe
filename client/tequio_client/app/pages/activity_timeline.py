"""What happened, in sentences: all of it, rounds, or what wanted attention; and a search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QLineEdit, QSizePolicy

from tequio_client.app import words
from tequio_client.app.pages.events_book import EventsBook
from tequio_client.app.pages.events_list import EventsList
from tequio_client.app.pages.events_rows import Line, with_days
from tequio_client.app.theme.icons import icon
from tequio_client.app.theme.look import tokens
from tequio_client.app.widgets.card import Card
from tequio_client.app.widgets.columns import Columns
from tequio_client.app.widgets.empty_state import EmptyState
from tequio_client.app.widgets.segmented import Segmented
from tequio_client.link.texts import Event

if TYPE_CHECKING:
    from PySide6.QtCore import QEvent

    from tequio_client.app.pages.page import Means
    from tequio_client.link.questions import ActivityRow
    from tequio_client.link.snapshot import Snapshot

ALL, ROUNDS, ATTENTION = "all", "rounds", "attention"
OF_ROUNDS = {code for code in Event if code.startswith(("round-", "head-", "points-"))}
LEVELS = ("warning", "error")
NEAR = 400
"""Pixels before the end at which older events are read."""
MINUTE_MS = 60_000
SEARCH = 190


class Timeline(Card):
    """The timeline."""

    def __init__(self, means: Means) -> None:
        super().__init__()
        self._means, self._minute = means, 0
        self._said: dict[int, str] = {}
        self.book = EventsBook(means.model, self)
        self.kind = Segmented(
            self.tr("Events to show"),
            {ALL: self.tr("All"), ROUNDS: self.tr("Rounds"), ATTENTION: self.tr("Attention")},
        )
        self.search = SearchField(self.tr("Search in events"))
        self.list = EventsList(self.tr("Events"), means.now_ms)
        self.empty = EmptyState("history", "", "")
        head = Columns(gap=10)
        head.hold((self.kind, self.search), shares=(0, 1))
        policy = QSizePolicy.Policy
        self.setSizePolicy(policy.Expanding, policy.Expanding)
        self.body.addWidget(head)
        self.body.addWidget(self.list, 1)
        self.body.addWidget(self.empty, 1)
        self.kind.chosen.connect(self._show)
        self.search.textChanged.connect(self._show)
        self.book.changed.connect(self._show)
        bar = self.list.verticalScrollBar()
        bar.valueChanged.connect(self._read_on)
        bar.rangeChanged.connect(self._read_on)
        self._show()

    def show_snapshot(self, snapshot: Snapshot | None) -> None:
        """Read what is new; say the times anew each minute."""
        if snapshot is None:
            self.book.forget()
        else:
            self.book.follow(snapshot.activity)
        minute = self._means.now_ms() // MINUTE_MS
        if minute != self._minute:
            self._minute = minute
            self._show()
            self.list.viewport().update()

    @property
    def lines(self) -> tuple[Line, ...]:
        """What is shown."""
        return self.list.rows.lines

    def _show(self, _news: object = None) -> None:
        events = [self._line(row) for row in self.book.rows or () if self._is_wanted(row)]
        self.list.show_lines(with_days(events, self._means.now_ms()))
        self.list.setVisible(bool(events))
        self.empty.setVisible(not events)
        if not events:
            self._explain()
        self._read_on()

    def _line(self, row: ActivityRow) -> Line:
        return Line(words=self._say(row), at_ms=row.at_ms, number=row.number, level=row.level)

    def _say(self, row: ActivityRow) -> str:
        said = self._said.get(row.number)
        if said is None:
            said = self._said[row.number] = words.event(row)
        return said

    def _is_wanted(self, row: ActivityRow) -> bool:
        match self.kind.choice:
            case "rounds":
                is_kind = row.code in OF_ROUNDS
            case "attention":
                is_kind = row.level in LEVELS
            case _:
                is_kind = True
        text = self.search.text().strip().casefold()
        return is_kind and (not text or text in self._say(row).casefold())

    def _explain(self) -> None:
        if self.book.rows is None and not self.book.problem:
            self.empty.show_words(
                self.tr("Looking"), self.tr("What happened lately is being read.")
            )
        elif not self.book.rows and self.book.problem:
            self.empty.show_words(self.tr("Couldn't load the events"), self.book.problem)
        elif self.book.has_more:
            self.empty.show_words(self.tr("Looking"), self.tr("Older events are being read."))
        elif self.book.rows:
            self.empty.show_words(
                self.tr("None of these"), self.tr("No event fits the filter and the search.")
            )
        else:
            self.empty.show_words(
                self.tr("Nothing happened yet"),
                self.tr("What this computer does for the swarm will stand here in sentences."),
            )

    def _read_on(self, *_: int) -> None:
        bar = self.list.verticalScrollBar()
        is_near = self.list.isHidden() or bar.maximum() - bar.value() < NEAR
        if self.isVisible() and is_near and not self.book.problem:
            self.book.read_on()


class SearchField(QLineEdit):
    """A field to type what is looked for."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setPlaceholderText(name)
        self.setClearButtonEnabled(True)
        self.setMinimumWidth(SEARCH)
        self._action = self.addAction(
            icon("search", tokens().text_sub, 16), QLineEdit.ActionPosition.LeadingPosition
        )

    def changeEvent(self, event: QEvent) -> None:
        """Take the new colours."""
        super().changeEvent(event)
        if event.type() is event.Type.StyleChange and hasattr(self, "_action"):
            self._action.setIcon(icon("search", tokens().text_sub, 16))
