"""Steps 5 and 6: the run to train, and what happens next."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from tequio_client.app.first_run.draft import FirstRunStep, StepContext
from tequio_client.app.pages.run_detail import Fit, is_full, needs_of, overall_fit, resources
from tequio_client.app.theme.style import TextStyle
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import Card, ElidedLabel, IconLabel, WrappedLabel
from tequio_client.app.widgets.buttons import ChoiceRow
from tequio_client.app.widgets.indicators import Chip
from tequio_client.app.widgets.messages import Banner
from tequio_client.ipc.control import AskRuns, Question, Reply, RunRow, RunsReply
from tequio_client.ipc.preferences import PRESETS, LendingPreset, apply_preset

RUNS_QUESTION = AskRuns()
AUTOMATIC_RUN = ""
LINE_BYTES_PER_S = 50e6 / 8
"""Bytes per second of a 50 Mbit/s connection."""


class RunStep(FirstRunStep):
    """Step 5: the run to train; one row for the automatic choice and one for each open run."""

    def __init__(self, kit: StepContext) -> None:
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
        kit.means.model.replied.connect(self._receive)
        kit.means.model.refused.connect(self._refused)
        self._show_runs(())

    def enter(self) -> None:
        self.away.hide()
        self.kit.means.model.ask(RUNS_QUESTION)
        known = self.kit.means.model.reply(RUNS_QUESTION)
        if isinstance(known, RunsReply):
            self._show_runs(known.rows)

    def _receive(self, question: Question, reply: Reply) -> None:
        if question == RUNS_QUESTION and isinstance(reply, RunsReply):
            self.away.hide()
            self._show_runs(reply.rows)

    def _refused(self, question: Question, _: str) -> None:
        if question != RUNS_QUESTION:
            return
        self.away.show_words(
            "info",
            self.tr(
                "The ledger is not answering, so the runs cannot be listed. You can continue: the "
                "run that fits this computer best is joined as soon as the ledger answers."
            ),
            self.tr("Try again"),
        )
        self.away.show()

    def _show_runs(self, rows: tuple[RunRow, ...]) -> None:
        found = tuple(row for row in rows if row.is_open)
        if found == self._shown:
            return
        self._shown = found
        had_keyboard = any(row.hasFocus() for row in self.rows.values())
        while (item := self._list.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.setParent(None)
                old.deleteLater()
        self.rows = {AUTOMATIC_RUN: self._automatic_row()} | {
            row.run: self._row(row) for row in found
        }
        for run, row in self.rows.items():
            row.finish_layout()
            row.setChecked(run == self._chosen())
            row.clicked.connect(lambda _=False, run=run: self._choose(run))
            self._list.addWidget(row)
        if had_keyboard:
            self.rows[self._chosen()].setFocus()

    def _choose(self, run: str) -> None:
        self.kit.draft_store.change(run=run)
        self.changed.emit()

    def _chosen(self) -> str:
        run = self.kit.draft_store.draft.run
        return run if run in self.rows else AUTOMATIC_RUN

    def _automatic_row(self) -> ChoiceRow:
        made = ChoiceRow()
        head = self.tr("Choose for me")
        note = self.tr("The open run that fits this computer and needs it most.")
        made.setAccessibleName(f"{head}: {note}")
        made.body.addLayout(_head(head, Chip(self.tr("Recommended"), "sparkles", "accent")))
        made.body.addWidget(WrappedLabel(note, tone="sub"))
        return made

    def _row(self, run: RunRow) -> ChoiceRow:
        made, fit = ChoiceRow(), self._fit(run)
        note = self._needs(run)
        made.setAccessibleName(f"{run.name}: {fit.text}. {note}")
        made.body.addLayout(_head(run.name, fit))
        made.body.addWidget(WrappedLabel(note, tone="sub"))
        return made

    def _fit(self, run: RunRow) -> Chip:
        snapshot, model = self.kit.means.model.snapshot, self.kit.means.model
        if is_full(run):
            return Chip(self.tr("Full now"), "users", "warn")
        if snapshot is None:
            return Chip(self.tr("Not known yet"), "hourglass")
        chosen = apply_preset(model.preferences, self.kit.draft_store.draft.preset)
        return {
            Fit.FITS: Chip(self.tr("Fits"), "circle-check", "ok"),
            Fit.TIGHT: Chip(self.tr("Just fits"), "circle-check", "ok"),
            Fit.TOO_LITTLE: Chip(self.tr("Needs more than there is"), "triangle-alert", "warn"),
            Fit.UNKNOWN: Chip(self.tr("Not known yet"), "hourglass"),
        }[overall_fit(needs_of(run, resources(snapshot, chosen)))]

    def _needs(self, run: RunRow) -> str:
        parts = [
            self.tr("%n volunteer(s)", "", run.members),
            self.tr("{memory} of memory").format(memory=figures.memory(run.memory_mb)),
            self.tr("{data} to fetch once").format(data=figures.data(run.first_bytes)),
            self.tr("{data} up per hour").format(data=figures.data(run.hourly_up_bytes)),
        ]
        if run.rounds:
            number, rounds = figures.count(run.round), figures.count(run.rounds)
            progress = self.tr("round {number} of {rounds}").format(number=number, rounds=rounds)
            parts.insert(0, progress)
        return " · ".join(parts)


def _head(words: str, chip: Chip) -> QHBoxLayout:
    made = QHBoxLayout()
    made.setSpacing(10)
    made.addWidget(ElidedLabel(words, TextStyle.HEADING), 1)
    made.addWidget(chip)
    return made


class ReadyStep(FirstRunStep):
    """Step 6: what happens next, and when the first points come."""

    def __init__(self, kit: StepContext) -> None:
        super().__init__(
            kit,
            self.tr("Ready"),
            self.tr("Nothing has been used yet. Press the button below to start."),
        )
        self.events = [NextEventRow(picture) for picture in ("download", "moon", "badge-check")]
        card = Card(self.tr("What happens next"))
        card.body.setSpacing(14)
        for event in self.events:
            card.body.addWidget(event)
        self.chips = [Chip() for _ in range(4)]
        row = QHBoxLayout()
        row.setSpacing(8)
        for chip in self.chips:
            row.addWidget(chip)
        row.addStretch(1)
        self.body.addLayout(row)
        self.body.addWidget(card)
        hint = self.tr(
            "Closing the window hides it; the icon in the panel shows the state, and pauses "
            "everything with two clicks."
        )
        self.body.addWidget(WrappedLabel(hint, tone="sub"))
        self.body.addStretch(1)

    @property
    def is_ready(self) -> bool:
        """Consent is required here too, since a saved draft may open at this step."""
        return self.kit.draft_store.draft.is_agreed

    @property
    def next_words(self) -> str:
        return self.tr("Contribute")

    def enter(self) -> None:
        self.refresh()

    def refresh(self) -> None:
        self._show_choices()
        first, second, third = self.events
        first.set_texts(self.tr("Join and fetch"), self._fetching())
        second.set_texts(self.tr("Begin when you are away"), self._beginning())
        third.set_texts(
            self.tr("First points"),
            self.tr(
                "They are pending when your first round ends, and verified when the ledger has "
                "closed it and your computer has checked the proof, usually one round later."
            ),
        )

    def _show_choices(self) -> None:
        draft, run = self.kit.draft_store.draft, self._run()
        presets = {
            LendingPreset.GENTLE: self.tr("Gentle"),
            LendingPreset.BALANCED: self.tr("Balanced"),
            LendingPreset.MAX: self.tr("Max"),
        }
        when, login, what, backup = self.chips
        when.set_label(presets.get(draft.preset, ""), "clock", "accent")
        starts, waits = self.tr("Starts at login"), self.tr("Starts by hand")
        login.set_label(starts if draft.starts_at_login else waits, "power", "accent")
        what.set_label(run.name if run else self.tr("Run: automatic"), "boxes", "accent")
        backup.setVisible(self.kit.keys.state.wants_backup)
        backup.set_label(self.tr("Key not backed up"), "triangle-alert", "warn")

    def _fetching(self) -> str:
        run = self._run()
        if run is None:
            return self.tr(
                "The run that fits best is joined, and its model and first data are fetched once."
            )
        seconds = run.first_bytes / LINE_BYTES_PER_S
        return self.tr(
            "{run}: {data} are fetched once, about {time} on a line of 50 Mbit/s."
        ).format(run=run.name, data=figures.data(run.first_bytes), time=figures.duration(seconds))

    def _beginning(self) -> str:
        preset = self.kit.draft_store.draft.preset
        if preset is LendingPreset.MAX:
            return self.tr(
                "At once at 30 % of the time, and in full after a minute without input. Games "
                "stop it, always."
            )
        minutes = int(PRESETS[preset]["idle_minutes"])
        return self.tr(
            "%n minute(s) after your last input. A key or the mouse stops it; games do, always.",
            "",
            minutes,
        )

    def _run(self) -> RunRow | None:
        known = self.kit.means.model.reply(AskRuns())
        if not isinstance(known, RunsReply):
            return None
        chosen = self.kit.draft_store.draft.run
        return next((row for row in known.rows if row.run == chosen), None)


class NextEventRow(QWidget):
    """One future event: picture, heading and text."""

    def __init__(self, picture: str) -> None:
        super().__init__()
        self._heading, self._words = (
            WrappedLabel("", TextStyle.STRONG),
            WrappedLabel("", tone="sub"),
        )
        row, column = QHBoxLayout(self), QVBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(14)
        column.setSpacing(1)
        column.addWidget(self._heading)
        column.addWidget(self._words)
        row.addWidget(IconLabel(picture, QSize(20, 20), "accent"), 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(column, 1)

    def set_texts(self, heading: str, words: str) -> None:
        self._heading.setText(heading)
        self._words.setText(words)

    @property
    def words(self) -> str:
        return self._words.text()
