"""Step 5: for which run; the program chooses unless somebody wants to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from tequio_client.app.first_run.step import Kit, Step
from tequio_client.app.pages.run_fit import Fit, is_full, needs, overall, room
from tequio_client.app.theme.fonts import Type
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.banner import Banner
from tequio_client.app.widgets.chip import Chip
from tequio_client.app.widgets.choice_row import ChoiceRow
from tequio_client.app.widgets.text import Line, Paragraph
from tequio_client.link.preferences import with_preset
from tequio_client.link.questions import AskRuns, Runs

if TYPE_CHECKING:
    from tequio_client.link.questions import Question, Reply, RunRow

QUESTION = AskRuns()
ANY = ""


class RunStep(Step):
    """One row for the program's choice, and one for each open run."""

    def __init__(self, kit: Kit) -> None:
        super().__init__(
            kit,
            self.tr("What would you like to train?"),
            self.tr("A run is one model that many train together. You can change it at any time."),
        )
        self.away = Banner()
        self.away.hide()
        self.away.button.clicked.connect(self.enter)
        self.rows: dict[str, ChoiceRow] = {}
        self._list = QVBoxLayout()
        self._list.setSpacing(10)
        holder = QWidget()
        holder.setLayout(self._list)
        self._list.setContentsMargins(0, 0, 0, 0)
        self.body.addWidget(self.away)
        self.body.addWidget(holder)
        self.body.addStretch(1)
        self._shown: tuple[RunRow, ...] | None = None
        kit.means.model.replied.connect(self._take)
        kit.means.model.refused.connect(self._miss)
        self._show(())

    def enter(self) -> None:
        """Ask for the runs, anew."""
        self.away.hide()
        self.kit.means.model.ask(QUESTION)
        known = self.kit.means.model.reply(QUESTION)
        if isinstance(known, Runs):
            self._show(known.rows)

    def _take(self, question: Question, reply: Reply) -> None:
        if question == QUESTION and isinstance(reply, Runs):
            self.away.hide()
            self._show(reply.rows)

    def _miss(self, question: Question, _: str) -> None:
        if question != QUESTION:
            return
        self.away.show_words(
            "info",
            self.tr(
                "The ledger does not answer now, so there is no list. Go on: the run that fits "
                "this computer best is joined when it does."
            ),
            self.tr("Try again"),
        )
        self.away.show()

    def _show(self, rows: tuple[RunRow, ...]) -> None:
        found = tuple(row for row in rows if row.is_open)
        if found == self._shown:
            return
        self._shown = found
        had_keyboard = any(row.hasFocus() for row in self.rows.values())
        while (item := self._list.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.setParent(None)
                old.deleteLater()
        self.rows = {ANY: self._any()} | {row.run: self._row(row) for row in found}
        for run, row in self.rows.items():
            row.settle()
            row.setChecked(run == self._chosen())
            row.clicked.connect(lambda _=False, run=run: self._choose(run))
            self._list.addWidget(row)
        if had_keyboard:
            self.rows[self._chosen()].setFocus()

    def _choose(self, run: str) -> None:
        self.kit.book.change(run=run)
        self.changed.emit()

    def _chosen(self) -> str:
        run = self.kit.book.draft.run
        return run if run in self.rows else ANY

    def _any(self) -> ChoiceRow:
        made = ChoiceRow()
        head = self.tr("Choose for me")
        note = self.tr("The open run that fits this computer and needs it most.")
        made.setAccessibleName(f"{head}: {note}")
        made.body.addLayout(_head(head, Chip(self.tr("Recommended"), "sparkles", "accent")))
        made.body.addWidget(Paragraph(note, tone="sub"))
        return made

    def _row(self, run: RunRow) -> ChoiceRow:
        made, fit = ChoiceRow(), self._fit(run)
        note = self._needs(run)
        made.setAccessibleName(f"{run.name}: {fit.words}. {note}")
        made.body.addLayout(_head(run.name, fit))
        made.body.addWidget(Paragraph(note, tone="sub"))
        return made

    def _fit(self, run: RunRow) -> Chip:
        snapshot, model = self.kit.means.model.snapshot, self.kit.means.model
        if is_full(run):
            return Chip(self.tr("Full now"), "users", "warn")
        if snapshot is None:
            return Chip(self.tr("Not known yet"), "hourglass")
        chosen = with_preset(model.preferences, self.kit.book.draft.preset)
        return {
            Fit.FITS: Chip(self.tr("Fits"), "circle-check", "ok"),
            Fit.TIGHT: Chip(self.tr("Just fits"), "circle-check", "ok"),
            Fit.LITTLE: Chip(self.tr("Needs more than there is"), "triangle-alert", "warn"),
            Fit.UNKNOWN: Chip(self.tr("Not known yet"), "hourglass"),
        }[overall(needs(run, room(snapshot, chosen)))]

    def _needs(self, run: RunRow) -> str:
        parts = [
            self.tr("%n volunteer(s)", "", run.members),
            self.tr("{memory} of memory").format(memory=figures.memory(run.memory_mb)),
            self.tr("{data} to fetch once").format(data=figures.data(run.first_bytes)),
            self.tr("{data} up per hour").format(data=figures.data(run.hourly_up_bytes)),
        ]
        if run.rounds:
            number, rounds = figures.count(run.round), figures.count(run.rounds)
            told = self.tr("round {number} of {rounds}").format(number=number, rounds=rounds)
            parts.insert(0, told)
        return " · ".join(parts)


def _head(words: str, chip: Chip) -> QHBoxLayout:
    made = QHBoxLayout()
    made.setSpacing(10)
    made.addWidget(Line(words, Type.HEADING), 1)
    made.addWidget(chip)
    return made
