"""Steps 5 and 6: the run to train, and what happens next."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QWidget

from tequio_client.app.first_run.draft import FirstRunStep, IconRow, StepContext
from tequio_client.app.language import join_sentences
from tequio_client.app.model import PeriodicQuestion
from tequio_client.app.networks import NetworkChooser, offered_networks
from tequio_client.app.pages.run_code import code_text
from tequio_client.app.pages.run_detail import source_text
from tequio_client.app.pages.run_needs import (
    Fit,
    is_full,
    needs_of,
    overall_fit,
    resources,
    update_fit_chip,
)
from tequio_client.app.theme.style import TextStyle
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import (
    TOP,
    Card,
    ElidedLabel,
    WrappedLabel,
    caption_line,
    fill,
    hbox,
    holding,
    place_in_tab_order,
    vbox,
)
from tequio_client.app.widgets.buttons import Button, ChoiceRow
from tequio_client.app.widgets.indicators import Chip
from tequio_client.app.widgets.messages import Banner
from tequio_client.ipc.preferences import LendingPreset, apply_preset
from tequio_client.ipc.runs import AskRuns, RunRow, RunsReply

RUNS_INTERVAL_MS = 10_000
AUTOMATIC_RUN = ""
LINE_BYTES_PER_S = 50e6 / 8
"""Bytes per second of a 50 Mbit/s connection."""


class RunStep(FirstRunStep):
    """Step 5: the run to train; one row for the automatic choice and one for each open run."""

    def __init__(self, context: StepContext) -> None:
        super().__init__(
            context,
            self.tr("What would you like to train?"),
            self.tr("A run is one model that many train together. You can switch at any time."),
        )
        self.network, self.away = NetworkPanel(context), Banner()
        self.away.hide()
        self.rows: dict[str, ChoiceRow] = {}
        self._list = vbox(spacing=10)
        self._runs = holding(self._list)
        fill(self.body, self.network, self.away, self._runs, None)
        self._shown: tuple[tuple[RunRow, Fit], ...] | None = None
        self.list = PeriodicQuestion(
            context.model, context.now_ms, RunsReply, RUNS_INTERVAL_MS, parent=self
        )
        self.list.set_question(AskRuns())
        self.list.changed.connect(self.refresh)
        self._show_runs(())

    @property
    def first_focus(self) -> QWidget | None:
        return None if self.context.has_network else self.network.chooser.line

    def enter(self) -> None:
        self.list.forget()

    def refresh(self) -> None:
        self.network.refresh()
        self._runs.setVisible(self.context.has_network)
        if self.context.has_network:
            self.list.poll()
        snapshot = self.context.model.snapshot
        self.away.setVisible(
            self.context.has_network and snapshot is not None and bool(self.list.problem)
        )
        if not self.context.has_network:
            return
        if snapshot is not None and self.list.problem:
            words = self.tr(
                "The network is not answering, so its runs cannot be listed. You can go on: Tequio "
                "keeps trying, and joins the run that fits this computer best."
            )
            self.away.show_words("info", words, details=snapshot.ledger.problem)
        if self.list.reply is not None:
            self._show_runs(self.list.reply.rows)
            if self.context.draft_store.draft.run not in self.rows:  # it has ended
                self.context.draft_store.change(run=AUTOMATIC_RUN)

    def _show_runs(self, rows: tuple[RunRow, ...]) -> None:
        found = tuple((row, self._fit(row)) for row in rows if row.is_open)
        if found == self._shown:
            return
        self._shown = found
        had_keyboard = any(row.hasFocus() for row in self.rows.values())
        while (item := self._list.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.setParent(None)
                old.deleteLater()
        recommended = Chip(self.tr("Recommended"), "sparkles", "accent")
        note = self.tr("The open run that fits this computer and needs it most.")
        self.rows = {AUTOMATIC_RUN: _row(self.tr("Choose for me"), recommended, note)}
        for run, fit in found:
            chip, needs = self._chip(run, fit), self._needs(run)
            self.rows[run.run] = _row(run.name, chip, needs, f"{run.name}: {chip.text}. {needs}")
        for name, row in self.rows.items():
            row.finish_layout()
            row.setChecked(name == self._chosen())
            row.clicked.connect(lambda _=False, name=name: self._choose(name))
            self._list.addWidget(row)
        place_in_tab_order(self._runs, tuple(self.rows.values()))
        if had_keyboard:
            self.rows[self._chosen()].setFocus()

    def _choose(self, run: str) -> None:
        self.context.draft_store.change(run=run)
        self.changed.emit()

    def _chosen(self) -> str:
        run = self.context.draft_store.draft.run
        return run if run in self.rows else AUTOMATIC_RUN

    def _fit(self, run: RunRow) -> Fit:
        snapshot, model = self.context.model.snapshot, self.context.model
        if snapshot is None:
            return Fit.UNKNOWN
        chosen = apply_preset(model.preferences, self.context.draft_store.draft.preset)
        return overall_fit(needs_of(run, resources(snapshot, chosen)))

    def _chip(self, run: RunRow, fit: Fit) -> Chip:
        if is_full(run):
            return Chip(self.tr("Full"), "users", "warn")
        chip = Chip()
        update_fit_chip(chip, fit)
        return chip

    def _needs(self, run: RunRow) -> str:
        parts = [
            self.tr("%Ln volunteer(s)", "", run.members),
            self.tr("{memory} of memory").format(memory=figures.memory(run.memory_mb)),
            self.tr("{data} to download once").format(data=figures.data(run.first_bytes)),
            self.tr("{data} up per hour").format(data=figures.data(run.hourly_up_bytes)),
        ]
        if run.rounds:
            number, rounds = figures.count(run.round), figures.count(run.rounds)
            progress = self.tr("round {number} of {rounds}").format(number=number, rounds=rounds)
            parts.insert(0, progress)
        needs = " · ".join(parts)
        about = run.description or source_text(run)
        code = code_text(run.plugin) if run.plugin else ""
        return "\n".join(line for line in (about, code, needs) if line)


class NetworkPanel(QWidget):
    """The network in use with a way to another, or the choice of one."""

    def __init__(self, context: StepContext) -> None:
        super().__init__()
        self._context = context
        program = context.program
        known = offered_networks(program.settings.folder) if program else ()
        self._names = {one.url: one.name for one in known}
        self.chooser = NetworkChooser(known, program.folder if program else Path())
        self._choice = Card(self.tr("First, choose a network"))
        self._choice.body.addWidget(self.chooser)
        self._name, self.change = caption_line(), Button(self.tr("Another network…"), "quiet")
        self._line = holding(hbox((self._name, 1), self.change, spacing=10))
        vbox(self._choice, self._line, parent=self)
        self.chooser.link_given.connect(context.open_page)
        self.change.clicked.connect(lambda: context.open_page("join"))
        if program is not None:
            self.chooser.chosen.connect(program.use_network)
        self.refresh()

    def refresh(self) -> None:
        has_network, program = self._context.has_network, self._context.program
        self._choice.setVisible(not has_network)
        self._line.setVisible(has_network and program is not None)
        if program is not None and has_network:
            ledger = program.ledger()
            name = self._names.get(ledger)
            shown = f"{name} · {ledger}" if name else ledger
            self._name.setText(self.tr("Network: {ledger}").format(ledger=shown))


def _row(heading: str, chip: Chip, note: str, accessible_name: str = "") -> ChoiceRow:
    made = ChoiceRow()
    made.setAccessibleName(accessible_name or f"{heading}: {note}")
    head = hbox((ElidedLabel(heading, TextStyle.HEADING), 1), chip, spacing=10)
    fill(made.body, head, WrappedLabel(note, tone="sub"))
    return made


class ReadyStep(FirstRunStep):
    """Step 6: what happens next, and when the first points come."""

    def __init__(self, context: StepContext) -> None:
        super().__init__(
            context,
            self.tr("Ready"),
            self.tr("Your choices apply once you press the button below."),
        )
        self.next_words = self.tr("Contribute")
        self.list = PeriodicQuestion(
            context.model, context.now_ms, RunsReply, RUNS_INTERVAL_MS, parent=self
        )
        self.list.set_question(AskRuns())
        pictures = ("download", "moon", "badge-check")
        self.events = [IconRow(picture, "accent", at=TOP) for picture in pictures]
        card = Card(self.tr("What happens next"))
        card.body.setSpacing(14)
        fill(card.body, *self.events)
        self.chips = [Chip() for _ in range(4)]
        hint = self.tr(
            "Closing the window hides it; the tray icon shows the state, and pauses everything "
            "with two clicks."
        )
        chips = hbox(*self.chips, None, spacing=8)
        fill(self.body, chips, card, WrappedLabel(hint, tone="sub"), None)

    @property
    def is_ready(self) -> bool:
        """Consent is required here too, since a saved draft may open at this step."""
        return self.context.draft_store.draft.is_agreed

    def refresh(self) -> None:
        self.list.retry()
        self._show_choices()
        first, second, third = self.events
        first.set_texts(
            self.tr("Join and download"), join_sentences(self._fetching(), self._runtime())
        )
        second.set_texts(self.tr("Begin when you are away"), self._beginning())
        third.set_texts(
            self.tr("First points"),
            self.tr(
                "They are pending when your first round ends, and verified when the ledger has "
                "closed it and your computer has checked the proof, usually one round later."
            ),
        )

    def _show_choices(self) -> None:
        draft, run = self.context.draft_store.draft, self._run()
        presets = {
            LendingPreset.GENTLE: self.tr("Gentle"),
            LendingPreset.BALANCED: self.tr("Balanced"),
            LendingPreset.MAX: self.tr("Max"),
        }
        when, login, what, backup = self.chips
        when.set_label(presets.get(draft.preset, ""), "clock", "accent")
        when.setVisible(draft.preset in presets)
        starts, waits = self.tr("Starts at login"), self.tr("Starts by hand")
        login.set_label(starts if draft.starts_at_login else waits, "power", "accent")
        chosen = self.tr("Run: as chosen") if self._is_unknown else self.tr("Run: automatic")
        what.set_label(run.name if run else chosen, "boxes", "accent")
        if not self.context.has_network:
            what.set_label(self.tr("No network yet"), "triangle-alert", "warn")
        backup.setVisible(self.context.keys.state.wants_backup)
        backup.set_label(self.tr("Key not backed up"), "triangle-alert", "warn")

    def _fetching(self) -> str:
        run = self._run()
        if self._is_unknown:
            return self.tr(
                "Tequio joins the run that you chose, and downloads its model and first data once."
            )
        if run is None:
            return self.tr(
                "Tequio joins the run that fits best, and downloads its model and first data once."
            )
        seconds = run.first_bytes / LINE_BYTES_PER_S
        return self.tr("{run}: {data} to download once, about {time} at 50 Mbit/s.").format(
            run=run.name, data=figures.data(run.first_bytes), time=figures.duration(seconds)
        )

    def _runtime(self) -> str:
        program = self.context.program
        service = program.releases if program else None
        offer = service.offer if service and service.needs_runtime else None
        if offer is None:
            return ""
        size, disk = figures.data(offer.download_bytes), figures.data(offer.disk_bytes)
        words = self.tr("First it downloads what training needs, once: {size}, {disk} on the disk.")
        return words.format(size=size, disk=disk)

    def _beginning(self) -> str:
        draft, model = self.context.draft_store.draft, self.context.model
        chosen = apply_preset(model.preferences, draft.preset)
        if not chosen.while_used:
            return self.tr(
                "%n minute(s) after your last input. A key or the mouse stops it.",
                "",
                chosen.idle_minutes,
            )
        words = self.tr(
            "Immediately at {share} of the time, and fully %n minute(s) after your last input.",
            "",
            chosen.idle_minutes,
        )
        return words.format(share=figures.percent(chosen.used_share_percent))

    @property
    def _is_unknown(self) -> bool:
        """True if a run was chosen, and the list with its name is not there yet."""
        chosen = self.context.draft_store.draft.run
        return chosen != AUTOMATIC_RUN and self.list.reply is None

    def _run(self) -> RunRow | None:
        chosen = self.context.draft_store.draft.run
        rows = self.list.reply.rows if self.list.reply else ()
        return next((row for row in rows if row.run == chosen), None)
