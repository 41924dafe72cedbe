"""Judging a competition with this computer: whether to, what it takes, and how far it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout

from tequio_client.app.pages import judging_words as words
from tequio_client.app.widgets.button import Button
from tequio_client.app.widgets.card import Card
from tequio_client.app.widgets.chip import Chip
from tequio_client.app.widgets.text import Paragraph

if TYPE_CHECKING:
    from tequio_client.link.competitions import CompetitionRow
    from tequio_client.link.snapshot import JudgingShown


GOING = ("offered", "opened", "drawn", "waiting")
"""Parts in which something is left to be done."""


class JudgingCard(Card):
    """Our part as a judge; hidden where there is nothing to say."""

    wanted = Signal(bool)
    """To judge from now on, or no more."""

    def __init__(self) -> None:
        super().__init__(self.tr("Judging"))
        self._is_on = False
        self.state, self.about, self.cost = Chip(), Paragraph(), Paragraph("", tone="sub")
        self.button = Button(self.tr("Offer to judge"), picture="scale")
        self.button.clicked.connect(lambda: self.wanted.emit(not self._is_on))
        row = QHBoxLayout()
        row.addWidget(self.button)
        row.addStretch(1)
        row.addWidget(self.state)
        self.body.setSpacing(10)
        self.body.addWidget(self.about)
        self.body.addWidget(self.cost)
        self.body.addLayout(row)

    def show_row(self, row: CompetitionRow, now: JudgingShown | None, *, is_on: bool) -> None:
        """Show our part in that competition; `now` is what is being scored."""
        self._is_on = is_on
        here = now if now is not None and now.competition == row.competition else None
        is_open = row.phase == "open"
        self.setVisible(bool(row.part) or is_open)
        self.state.show_as(*words.state(row, here, is_on=is_on))
        self.about.setText(words.about(row, here, is_on=is_on))
        can_offer = is_open and not row.part and not row.bar and not is_on
        self.cost.setText(words.cost(row) if can_offer else "")
        self.cost.setVisible(can_offer)
        self.button.setText(self._button(row))
        can_go_on = row.part in GOING or (is_open and not row.bar)
        self.button.setVisible(can_go_on)

    def _button(self, row: CompetitionRow) -> str:
        if self._is_on:
            return self.tr("Stop judging")
        return self.tr("Resume judging") if row.part else self.tr("Offer to judge")
