"""The runs to choose from, one row each, above them the choice that the program makes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from tequio_client.app.pages import run_fit
from tequio_client.app.pages.run_needs import show_fit
from tequio_client.app.theme.fonts import Type
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.chip import Chip
from tequio_client.app.widgets.choice_row import ChoiceRow, renewed
from tequio_client.app.widgets.progress import RoundBar
from tequio_client.app.widgets.stat_card import Tile
from tequio_client.app.widgets.text import Line

if TYPE_CHECKING:
    from tequio_client.app.pages.run_fit import Room
    from tequio_client.link.questions import RunRow

BETWEEN = "  ·  "
ANY = ""
"""The name of the choice that is left to the program."""


class RunChoices(QWidget):
    """The list; `looked_at` tells the run (or `ANY`) that the user wants to see."""

    looked_at = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.any = AnyRow()
        self.any.clicked.connect(lambda: self.looked_at.emit(ANY))
        self.rows: dict[str, RunChoice] = {}
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(8)
        self._column.addWidget(self.any)
        self.setAccessibleName(self.tr("Runs to choose from"))

    def show_rows(self, rows: tuple[RunRow, ...], there: Room | None, ours: str, run: str) -> None:
        """Show these; `ours` is the run that we are in, `run` the one that was chosen."""
        if [row.run for row in rows] != list(self.rows):
            names = [row.run for row in rows]
            self.rows = renewed(self._column, self.rows, names, self._new, self.any)
        for row in rows:
            self.rows[row.run].show_run(row, there, is_ours=row.run == ours, is_run=row.run == run)
        self.any.show_choice(is_chosen=run == ANY)

    def look_at(self, run: str) -> None:
        """Show that one as the one that is seen."""
        self.rows.get(run, self.any).setChecked(True)

    def _new(self, run: str) -> RunChoice:
        made = RunChoice()
        made.clicked.connect(lambda: self.looked_at.emit(run))
        return made


class RunChoice(ChoiceRow):
    """One run."""

    def __init__(self) -> None:
        super().__init__()
        self.name, self.facts = Line("", Type.STRONG), Line("", Type.CAPTION, "sub")
        self.place, self.fit = Chip(), Chip()
        self.bar = RoundBar(self.tr("Rounds done"), 4)
        head = QHBoxLayout()
        head.setSpacing(6)
        head.addWidget(self.name, 1)
        head.addWidget(self.place)
        head.addWidget(self.fit)
        self.body.addLayout(head)
        self.body.addWidget(self.facts)
        self.body.addWidget(self.bar)
        self.settle()

    def show_run(self, run: RunRow, there: Room | None, *, is_ours: bool, is_run: bool) -> None:
        """Show that run."""
        self.name.setText(run.name)
        self.facts.setText(BETWEEN.join(self._facts(run)))
        self.bar.setVisible(bool(run.rounds))
        self.bar.show_part(run.round / run.rounds if run.rounds else 0.0)
        self._show_place(run, is_ours=is_ours, is_run=is_run)
        self.fit.setVisible(run.is_open)
        unknown = run_fit.Fit.UNKNOWN
        show_fit(self.fit, unknown if there is None else run_fit.overall(run_fit.needs(run, there)))
        shown = [part for part in (self.place, self.fit) if not part.isHidden()]
        chips = [part.words for part in shown]
        self.setAccessibleName(", ".join([run.name, *chips, *self._facts(run)]))

    def _show_place(self, run: RunRow, *, is_ours: bool, is_run: bool) -> None:
        words = ("", "", "")
        if is_ours:
            words = (self.tr("Yours"), "cpu", "accent")
        elif not run.is_open:
            words = (self.tr("Ended"), "flag", "")
        elif is_run:
            words = (self.tr("Chosen"), "check", "accent")
        elif run_fit.is_full(run):
            words = (self.tr("Full"), "users", "warn")
        self.place.show_as(*words)
        self.place.setVisible(bool(words[0]))

    def _facts(self, run: RunRow) -> list[str]:
        number, rounds = figures.count(run.round), figures.count(run.rounds)
        of_all = self.tr("Round {number} of {rounds}").format(number=number, rounds=rounds)
        alone = self.tr("Round {number}").format(number=number)
        of_most = self.tr("{members} of {most} members").format(
            members=figures.count(run.members), most=figures.count(run.most_members)
        )
        members = self.tr("%n member(s)", "", run.members)
        rounds_done = of_all if run.rounds else alone
        if not run.is_open:
            return [rounds_done]
        return [rounds_done, of_most if run.most_members else members]


class AnyRow(ChoiceRow):
    """The choice that is left to the program."""

    def __init__(self) -> None:
        super().__init__()
        row, words = QHBoxLayout(), QVBoxLayout()
        self.chip = Chip(self.tr("Chosen"), "check", "accent")
        name, note = self.tr("Choose for me"), self.tr("A run that fits, with places free")
        words.setSpacing(2)
        words.addWidget(Line(name, Type.STRONG))
        words.addWidget(Line(note, Type.CAPTION, "sub"))
        row.setSpacing(12)
        row.addWidget(Tile("sparkles"))
        row.addLayout(words, 1)
        row.addWidget(self.chip)
        self.body.addLayout(row)
        self._name = f"{name}, {note}"
        self.settle()
        self.show_choice(is_chosen=False)

    def show_choice(self, *, is_chosen: bool) -> None:
        """Show whether it was chosen."""
        self.chip.setVisible(is_chosen)
        chosen = f"{self._name}, {self.chip.words}"
        self.setAccessibleName(chosen if is_chosen else self._name)
