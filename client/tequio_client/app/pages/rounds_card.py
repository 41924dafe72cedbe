"""The rounds with their filters, or what stands there without any."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from tequio_client.app.pages.rounds_table import RoundsTable
from tequio_client.app.theme.fonts import Type
from tequio_client.app.widgets.card import Card
from tequio_client.app.widgets.columns import Columns
from tequio_client.app.widgets.dropdown import Dropdown
from tequio_client.app.widgets.empty_state import EmptyState
from tequio_client.app.widgets.text import Line, Paragraph

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.app.pages.rounds_book import RoundsBook

ANY = ""
EMPTY = 220


class RoundsCard(Card):
    """The card; `narrowed` tells run and device of the filters, `again` that to ask anew is due."""

    narrowed = Signal(str, str)
    again = Signal()

    def __init__(self, name_device: Callable[[str], str]) -> None:
        super().__init__()
        self._name_device = name_device
        self.run = Dropdown(self.tr("Run"), {ANY: self.tr("All runs")})
        self.device = Dropdown(self.tr("Device"), {ANY: self.tr("All devices")})
        for one in (self.run, self.device):
            one.chosen.connect(self._narrow)
        self.table = RoundsTable(self.tr("Rounds"), name_device)
        self.empty = EmptyState("coins", "", "", self.tr("Try again"))
        self.empty.setMinimumHeight(EMPTY)
        self.empty.button.clicked.connect(self.again)
        self.foot = Paragraph("", Type.CAPTION, "sub")
        self.body.addWidget(self._head())
        for part in (self.table, self.empty, self.foot):
            self.body.addWidget(part)
        self._say_empty(self.tr("Looking"), self.tr("The rounds of this key are being read."))
        self.table.hide()
        self.foot.hide()

    def show_book(self, book: RoundsBook) -> None:
        """Show what was read so far."""
        _offer(self.run, book.runs)
        _offer(self.device, {one: self._name_device(one) for one in book.devices})
        self.run.choose(book.run)
        self.device.choose(book.device)
        rows = book.rows or ()
        self.table.rows.show_rows(rows)
        self.table.setVisible(bool(rows))
        self.empty.setVisible(not rows)
        self.foot.setVisible(bool(rows) and bool(book.problem or book.has_more))
        self.foot.setText(book.problem or self.tr("Older rounds are read as you scroll."))
        if not rows:
            self._explain(book)

    def _explain(self, book: RoundsBook) -> None:
        self.empty.button.setVisible(bool(book.problem))
        if book.problem:
            self._say_empty(self.tr("Couldn't load the rounds"), book.problem)
        elif book.rows is None:
            self._say_empty(self.tr("Looking"), self.tr("The rounds of this key are being read."))
        elif book.run or book.device:
            words = self.tr("No round of that run was worked in on that device.")
            self._say_empty(self.tr("None of these"), words)
        else:
            words = self.tr(
                "Each round that this computer takes part in will stand here, with what it gave "
                "and the proof."
            )
            self._say_empty(self.tr("No round yet"), words)

    def _say_empty(self, heading: str, words: str) -> None:
        self.empty.show_words(heading, words)
        self.empty.button.setVisible(self.empty.button.isVisibleTo(self.empty))

    def _narrow(self, _name: str) -> None:
        self.narrowed.emit(self.run.choice, self.device.choice)

    def _head(self) -> QWidget:
        made, filters = Columns(gap=10), QWidget()
        row = QHBoxLayout(filters)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(10)
        row.addWidget(self.run)
        row.addWidget(self.device)
        row.addStretch(1)
        made.hold((Line(self.tr("Rounds"), Type.HEADING), filters), shares=(1, 0))
        return made


def _offer(choice: Dropdown, names: dict[str, str]) -> None:
    """Offer these too; what is offered stays."""
    for key, words in names.items():
        at = choice.findData(key)
        if at < 0:
            choice.addItem(words, key)
        elif choice.itemText(at) != words:
            choice.setItemText(at, words)
