"""The competitions in a list, one row each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from tequio_client.app.pages import competition_words as words
from tequio_client.app.pages.competition_time import OVER, Stage, dates, moment
from tequio_client.app.pages.run_choices import BETWEEN
from tequio_client.app.theme.fonts import Type
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.chip import Chip
from tequio_client.app.widgets.choice_row import ChoiceRow, renewed
from tequio_client.app.widgets.progress import RoundBar
from tequio_client.app.widgets.text import Line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tequio_client.link.competitions import CompetitionRow


class CompetitionChoices(QWidget):
    """The list; `looked_at` tells the competition that the user wants to see."""

    looked_at = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[str, CompetitionChoice] = {}
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(8)
        self.setAccessibleName(self.tr("Competitions"))

    def show_rows(self, rows: Sequence[CompetitionRow], now_ms: int, *, seen: str) -> None:
        """Show these, and `seen` as the one that is looked at."""
        if [row.competition for row in rows] != list(self.rows):
            names = [row.competition for row in rows]
            self.rows = renewed(self._column, self.rows, names, self._new)
        for row in rows:
            self.rows[row.competition].show_row(row, now_ms)
        if seen in self.rows:
            self.rows[seen].setChecked(True)

    def _new(self, name: str) -> CompetitionChoice:
        made = CompetitionChoice()
        made.clicked.connect(lambda: self.looked_at.emit(name))
        return made


class CompetitionChoice(ChoiceRow):
    """One competition."""

    def __init__(self) -> None:
        super().__init__()
        self.name, self.facts = Line("", Type.STRONG), Line("", Type.CAPTION, "sub")
        self.stage, self.bar = Chip(), RoundBar(self.tr("Way to the result"), 4)
        head = QHBoxLayout()
        head.setSpacing(6)
        head.addWidget(self.name, 1)
        head.addWidget(self.stage)
        self.body.addLayout(head)
        self.body.addWidget(self.facts)
        self.body.addWidget(self.bar)
        self.settle()

    def show_row(self, row: CompetitionRow, now_ms: int) -> None:
        """Show that competition."""
        now = moment(row, now_ms)
        self.name.setText(row.name)
        words.show_stage(self.stage, now.stage)
        facts = self._facts(row, now_ms)
        self.facts.setText(BETWEEN.join(facts))
        self.bar.show_part(now.done / (len(dates(row)) - 1))
        self.bar.setVisible(now.stage not in OVER)
        self.setAccessibleName(", ".join([row.name, self.stage.words, *facts]))

    def _facts(self, row: CompetitionRow, now_ms: int) -> list[str]:
        entered = self.tr("%n entrant(s)", "", len(row.entrants))
        now = moment(row, now_ms)
        if now.stage is Stage.ENDED:
            return [entered]
        countdown, to = words.until(now, now_ms)
        if countdown:
            return [f"{countdown} {to}", entered]
        best = ", ".join(one.name for one in row.entrants if one.rank == 1)
        if best:
            return [self.tr("First place: {names}").format(names=best), entered]
        return [figures.day(row.result_ms), entered]
