"""The Hardware page: every device, its readings, and how much of it is lent."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Signal
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout

from tequio_client.app import worker_texts
from tequio_client.app.language import join_sentences, with_reason
from tequio_client.app.model import PeriodicQuestion
from tequio_client.app.pages.device_limits import DeviceLimits
from tequio_client.app.pages.devices import (
    CPU,
    BenchmarkRow,
    Readings,
    ReadingsHistory,
    decision_on,
    may_compute,
    shown_devices,
    trainer_of,
)
from tequio_client.app.pages.page import Page, PageContext, PageHeader
from tequio_client.app.pages.settings_control import PreferenceEdits
from tequio_client.app.pages.settings_table import device_pausing, field_pausing
from tequio_client.app.theme.style import TextStyle
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import (
    MIDDLE,
    Card,
    ElidedLabel,
    caption,
    caption_line,
    discard,
    fill,
    hbox,
    tool_tip,
    vbox,
)
from tequio_client.app.widgets.buttons import Dropdown, Segmented, Switch
from tequio_client.app.widgets.cards import IconTile
from tequio_client.app.widgets.indicators import Chip
from tequio_client.app.widgets.inputs import SettingRow
from tequio_client.app.widgets.messages import Banner, UndoToast
from tequio_client.ipc.facts import AcceleratorFacts
from tequio_client.ipc.runs import AskRuns, RunsReply
from tequio_client.ipc.snapshot import Decision, Snapshot, TrainerView

BETWEEN = "  ·  "
RUNS_MS = 60_000
"""Time between two readings of the list of runs, while the page is shown."""


class HardwarePage(Page):
    def __init__(self, context: PageContext) -> None:
        super().__init__(context)
        self.edits, self.history = PreferenceEdits(self.model, self), ReadingsHistory()
        self.cards: dict[str, DeviceCard] = {}
        self._shapes: tuple[object, ...] = ()
        self.banner, self.audit = Banner(), AuditNotice(context)
        self.toast = UndoToast(self)
        self._column = QVBoxLayout()
        self._column.setSpacing(self.body.spacing())
        about = self.tr(
            "Choose what Tequio may use. Each device that is lent trains a run of its own. Changes "
            "apply immediately."
        )
        head = PageHeader(self.tr("Hardware"), about)
        fill(self.body, head, self.banner, self.audit, self._column, None)
        self.banner.button.clicked.connect(self._act)
        self.edits.changed.connect(self.request_refresh)
        self.runs = PeriodicQuestion(self.model, context.now_ms, RunsReply, RUNS_MS, parent=self)
        self.runs.set_question(AskRuns())
        self.runs.changed.connect(self.request_refresh)
        self.model.snapshot_changed.connect(self._remember)
        self._remember(self.model.snapshot)

    def refresh(self) -> None:
        snapshot = self.model.snapshot
        self._show_banner(snapshot)
        if snapshot is None:
            self.audit.hide()
            self._update_cards((), 0)
            return
        machine = snapshot.machine
        is_known = machine.gpus is not None or bool(machine.cpu_name)
        shown = shown_devices(machine) if is_known else ()
        self._update_cards(shown, machine.cores)
        used = [one for one in shown if may_compute(one, machine, self.edits.current)]
        is_offered = len(used) > 1
        if is_offered or any(self.edits.current.device(one.key).run for one in shown):
            self.runs.poll()
        for device in shown:
            self.cards[device.id].show_device(device, snapshot)
            self.cards[device.id].show_runs(self.runs.reply, is_offered=is_offered)
        best = max(used or shown, key=lambda one: one.memory_mb or 0, default=None)
        audited = [one.device for one in snapshot.trainers if one.audits.warned_round]
        name = next((name for name in audited if name in self.cards), best.id if best else "")
        if name:
            self.audit.show_round(snapshot.audits.warned_round, self.cards[name].benchmark)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.edits.flush()

    def _remember(self, snapshot: Snapshot | None) -> None:
        if snapshot is None:
            return
        self.history.record(snapshot.machine)
        for device in shown_devices(snapshot.machine):
            # The worker knew its temperature before the page was opened.
            if _stopping_field(device, decision_on(device, snapshot)) == "temperature_c":
                self.history.thermometers.add(device.id)

    def _show_banner(self, snapshot: Snapshot | None) -> None:
        level, words, button = self._banner_text(snapshot)
        self.banner.setVisible(bool(words))
        self.banner.show_words(level, words, button)

    def _banner_text(self, snapshot: Snapshot | None) -> tuple[str, str, str]:
        if snapshot is None:
            starting = self.tr("The worker is being started; its devices will appear here.")
            again, why = QCoreApplication.translate("remedies", "Try again"), self.model.why_gone
            return ("error", why, again) if why else ("info", starting, "")
        machine = snapshot.machine
        if snapshot.is_probe_starting:
            words = self.tr("The hardware is being checked; its devices will appear here.")
            return "info", words, ""
        if machine.gpus is None:
            broken = next((one.error for one in machine.health if not one.ok and one.error), "")
            words = self.tr(
                "The hardware probe is not responding, so the state of the graphics cards is "
                "unknown. Nothing is lent until it responds; Tequio restarts it automatically."
            )
            return "warning", join_sentences(words, broken), ""
        if any(gpu.id != CPU for gpu in machine.gpus):
            return "info", "", ""
        if self.edits.current.device(CPU).use:
            words = self.tr(
                "No graphics card was found that can train. The CPU is lent instead. It's "
                "slower, but still earns points."
            )
            return "info", words, ""
        words = self.tr("No graphics card was found that can train. The CPU can be lent instead.")
        return "info", words, self.tr("Lend the processor")

    def _act(self) -> None:
        """Start the worker again, or lend the processor, as the banner offers."""
        if self.model.snapshot is None:
            self.context.open_page("try-again")
        else:
            self.edits.change({"use": True}, device=CPU)

    def _update_cards(self, shown: tuple[AcceleratorFacts, ...], cores: int) -> None:
        """Keep one card per device; new cards if anything changed that their limits depend on."""
        shapes = (
            cores,
            *((one.id, one.key, one.name, one.memory_mb, bool(one.watts_limit)) for one in shown),
            *(one.id in self.history.thermometers for one in shown),
        )
        if shapes == self._shapes:
            return
        self._shapes = shapes
        discard(*self.cards.values())
        self.cards = {}
        for device in shown:
            card = DeviceCard(device, cores, self.context, self.edits, self.history)
            card.switched.connect(self._offer_undo)
            card.benchmark.measured.connect(self.audit.dismiss)
            self.cards[device.id] = card
            self._column.addWidget(card)

    def _offer_undo(self, name: str, is_on: bool) -> None:  # noqa: FBT001  # Qt's signal
        if is_on:
            self.toast.hide()
            return
        device = self.cards[name].device
        self.toast.open_with_undo(
            self.tr("{device} is no longer lent.").format(device=device.name or device.id),
            lambda: self.edits.change({"use": True}, device=device.key),
        )


class AuditNotice(Banner):
    """Offers to measure the device after an audit of our work with figures near the limits.

    Until the device was measured, or the app ends. Nothing follows from such an audit.
    """

    def __init__(self, context: PageContext) -> None:
        super().__init__()
        self._model = context.model
        self._benchmark: BenchmarkRow | None = None
        self._warned = self._dismissed = 0  # rounds
        self.button.clicked.connect(self._act)
        self.hide()

    def show_round(self, warned: int, benchmark: BenchmarkRow) -> None:
        """Show the notice about the contribution to that round, 0: none."""
        self._warned, self._benchmark = warned, benchmark
        self.setVisible(warned > self._dismissed)
        if warned <= self._dismissed:
            return
        words = self.tr(
            "Another volunteer repeated your work of round {round}, and the results differ "
            "slightly more than usual. Your work counts, and you lose nothing. Unusual "
            "hardware, overclocking or an old driver can cause this; measuring the device shows "
            "whether it works as fast as before."
        ).format(round=figures.count(self._warned))
        button = self.tr("Pause to measure") if benchmark.is_lent else self.tr("Measure again")
        self.show_words("info", words, button)
        self.button.setEnabled(not benchmark.is_measuring)

    def dismiss(self) -> None:
        self._dismissed = self._warned
        self.hide()

    def _act(self) -> None:
        if self._benchmark is None:
            return
        if self._benchmark.is_lent:
            self._model.pause()
        else:
            self._benchmark.measure()
            self.button.setEnabled(False)


class DeviceCard(Card):
    switched = Signal(str, bool)
    """The device's id; true: it was switched on."""

    def __init__(
        self,
        device: AcceleratorFacts,
        cores: int,
        context: PageContext,
        edits: PreferenceEdits,
        history: ReadingsHistory,
    ) -> None:
        super().__init__()
        self._context, self._edits, self._history = context, edits, history
        self.device, self._cores = device, cores
        self.name = ElidedLabel("", TextStyle.HEADING)
        self.note = caption_line()
        self.work = caption()
        self.state = Chip()
        self.stops = Chip("", "circle-pause", "warn")
        self.switch = Switch(self.tr("Lend {device}").format(device=device.name or device.id))
        self.readings = Readings(is_processor=device.id == CPU)
        self.limits = DeviceLimits(
            device, cores, edits, has_thermometer=device.id in history.thermometers
        )
        self.role = Segmented(
            self.tr("Role"),
            {
                "auto": self.tr("Automatic"),
                "trainer": self.tr("Trainer"),
                "witness": self.tr("Witness"),
            },
        )
        about_role = self.tr(
            "Trainers train the model; witnesses check their work. Automatic does both. "
            "Default: automatic."
        )
        role = SettingRow(self.tr("Role"), about_role, self.role)
        self.spare = Switch(self.tr("While I use the computer"))
        spare = SettingRow(
            self.tr("While I use the computer"),
            self.tr(
                "Lends this card also while you use the computer or play on another one. Stops "
                "when another program uses it. Default: off."
            ),
            self.spare,
        )
        self.run = Dropdown(self.tr("Run"), {})
        self.run_row = SettingRow(
            self.tr("Run"),
            self.tr(
                "The run that this device trains. Two devices of one computer never train the "
                "same run. Default: automatic."
            ),
            self.run,
        )
        self.benchmark = BenchmarkRow(context, device.id)
        self.switch.clicked.connect(self._switch)
        key = device.key
        self.role.chosen.connect(lambda role: edits.change({"role": role}, device=key))
        self.run.chosen.connect(lambda run: edits.change({"run": run}, device=key))
        self.spare.clicked.connect(lambda is_on: edits.change({"while_used": is_on}, device=key))
        self.body.setSpacing(12)
        fill(self.body, self._head(), self.readings, _separator(), self.limits, _separator())
        fill(self.body, self.run_row, role, spare, self.benchmark)
        spare.setVisible(device.id != CPU)  # only now: without a parent it would open as a window

    def show_device(self, device: AcceleratorFacts, snapshot: Snapshot) -> None:
        self.device = device
        chosen = self._edits.current
        use = may_compute(device, snapshot.machine, chosen)
        self.name.setText(device.name or self.tr("Processor"))
        self.note.setText(self._description())
        self.switch.setChecked(use)
        trainer = trainer_of(device, snapshot)
        self._show_state(trainer, is_used_now=use)
        self._show_work(trainer if use else None)
        self.readings.show_device(device, self._history.of(device.id))
        choice = chosen.device(device.key)
        self.limits.show_choice(device, choice)
        self.limits.setEnabled(use)
        self.role.select(choice.role)
        self.role.setEnabled(use)
        self.spare.setChecked(choice.while_used)
        self.spare.setEnabled(use)
        self.run.setEnabled(use)
        self.benchmark.show_snapshot(snapshot)
        self._show_decider(decision_on(device, snapshot))

    def show_runs(self, listed: RunsReply | None, *, is_offered: bool) -> None:
        """Show the run chosen for this device, and the open ones; None: not listed yet."""
        chosen = self._edits.current.device(self.device.key).run
        runs = {row.run: row.name for row in listed.rows if row.is_open} if listed else {}
        self.run_row.setVisible(bool(chosen or (is_offered and runs)))
        choices = {"": self.tr("Automatic"), **runs}
        if chosen not in choices:
            choices[chosen] = self._unlisted_text(listed, chosen)
        self.run.set_choices(choices)
        self.run.select(chosen)

    def _unlisted_text(self, listed: RunsReply | None, run: str) -> str:
        if listed is None:
            return self.tr("Not known yet")
        return self.tr("Not readable now") if run in listed.unread else self.tr("No longer open")

    def _switch(self, is_on: bool) -> None:  # noqa: FBT001  # Qt's signal
        self._edits.change({"use": is_on}, device=self.device.key)
        self.switched.emit(self.device.id, is_on)

    def _description(self) -> str:
        device = self.device
        parts = [device.id]
        if device.id == CPU:
            parts = [self.tr("%n core(s)", "", self._cores)]
            if device.memory_mb:
                parts.append(
                    self.tr("{memory} of memory").format(memory=figures.memory(device.memory_mb))
                )
            return BETWEEN.join(parts)
        if device.memory_mb:
            parts.insert(0, figures.memory(device.memory_mb))
        if device.driver:
            parts.append(self.tr("driver {version}").format(version=device.driver))
        return BETWEEN.join(parts)

    def _show_work(self, trainer: TrainerView | None) -> None:
        """Show the device's run and round, or why it waits; nothing for one that is not lent."""
        self.work.setVisible(trainer is not None)
        if trainer is None:
            return
        current, decision = trainer.round, trainer.decision
        if current is not None and decision.may_compute:
            words = self.tr("{run}: round {round} of {rounds}").format(
                run=current.run_name,
                round=figures.count(current.number),
                rounds=figures.count(current.rounds),
            )
        else:
            reason = worker_texts.decision_reason(decision, self._context.now_ms())
            words = with_reason(worker_texts.state_name(decision.state), reason)
        self.work.setText(words)

    def _show_state(self, trainer: TrainerView | None, *, is_used_now: bool) -> None:
        state = trainer.state if trainer else "off"
        share = trainer.share_percent if trainer else 0
        computing = self.tr("Computing")
        if 0 < share < 100:  # noqa: PLR2004  # percent
            computing = self.tr("Computing, {share} of the time").format(
                share=figures.percent(share)
            )
        shown = {
            "computing": (computing, "activity", "ok"),
            "idle": (self.tr("Between rounds"), "hourglass", "accent"),
            "starting": (self.tr("Starting"), "hourglass", "accent"),
            "stopping": (self.tr("Stopping"), "hourglass", ""),
            "broken": (self.tr("Failed"), "octagon-x", "danger"),
        }
        ready = (self.tr("Ready"), "circle-check", "")
        switched_off = (self.tr("Not lent"), "circle-slash", "")
        self.state.set_label(*shown.get(state, ready if is_used_now else switched_off))

    def _show_decider(self, decision: Decision) -> None:
        field = _stopping_field(self.device, decision)
        words = self.tr("Stops lending now")
        why = worker_texts.decision_reason(decision, self._context.now_ms())
        for name, limit in (
            ("memory_mb", self.limits.memory),
            ("temperature_c", self.limits.temperature),
        ):
            if limit is not None:
                limit.mark_stopping(words if field == name else "", why)
        self.stops.set_label(words, "circle-pause", "warn")
        self.stops.setToolTip(tool_tip(why))
        self.stops.setVisible(field == "use")

    def _head(self) -> QHBoxLayout:
        names = vbox(self.name, self.note, self.work, spacing=1)
        return hbox(
            IconTile("cpu" if self.device.id == CPU else "gpu"),
            (names, 1),
            (self.stops, MIDDLE),
            (self.state, MIDDLE),
            (self.switch, MIDDLE),
            spacing=12,
        )


def _stopping_field(device: AcceleratorFacts, decision: Decision) -> str:
    """The choice for this device that pauses lending now; empty: none."""
    return field_pausing(decision) if device_pausing(decision) in ("", device.name) else ""


def _separator() -> QFrame:
    made = QFrame()
    made.setProperty("kind", "rule")
    return made
