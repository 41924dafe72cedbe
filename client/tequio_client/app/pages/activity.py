"""The Activity page: the event timeline, the worker's log, and the health of the probes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, auto

from PySide6.QtCore import QCoreApplication, QLocale, QSize, QSysInfo, Signal, qVersion
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPlainTextEdit, QSizePolicy, QWidget

from tequio_client.app.language import join_sentences
from tequio_client.app.model import AppModel, PeriodicQuestion
from tequio_client.app.pages.events import TimelineCard
from tequio_client.app.pages.page import Page, PageContext, PageHeader
from tequio_client.app.theme import style
from tequio_client.app.theme.look import Theme
from tequio_client.app.theme.style import TextStyle
from tequio_client.app.widgets.base import (
    TOP,
    Card,
    Columns,
    ElidedLabel,
    IconLabel,
    WrappedLabel,
    caption,
    discard,
    fill,
    hbox,
    vbox,
)
from tequio_client.app.widgets.buttons import Button, Segmented
from tequio_client.app.widgets.indicators import Chip
from tequio_client.app.widgets.messages import Banner, DetailsButton, Toast
from tequio_client.ipc.control import AskDiagnostics, DiagnosticsReply
from tequio_client.ipc.facts import ProbeHealth, SessionFacts
from tequio_client.names import redact_names
from tequio_client.platform.asker import NOT_POLLED
from tequio_shared.version import BUILD

SESSION_FACTS = (
    "idle_s",
    "is_locked",
    "fullscreen",
    "game",
    "programs",
    "is_metered",
    "has_other_user",
)
"""Session facts reported only as known or unknown: their values are private."""
EVERY_MS = 5_000
"""Interval between readings while the log is visible."""
LOG_HEIGHT = 220
DIAGNOSTICS_PARTS = 3
"""Parts of the worker's diagnostics, separated by empty lines: versions, snapshot, log."""
PROBE_NAMES = {
    "idle": "Time without input",
    "lock": "Screen lock",
    "other-user": "Other users",
    "fullscreen": "Fullscreen programs",
    "game": "Game mode",
    "programs": "Programs that run",
    "metered": "Metered network",
    "gpu": "Graphics cards",
    "cpu": "Processor load",
    "cpu-temperature": "Processor temperature",
    "memory": "Main memory",
    "battery": "Battery",
    "power-saver": "Power saving",
}
PROBE_ADVICE = {
    "idle": "Without it, lending waits until the computer is locked. Lock it when you leave, or "
    "allow lending while you use it in Settings, When to lend.",
    "lock": "Without it, only the time without input tells that you are away.",
    "other-user": "Without it, lending waits, since another user may be at the computer. Start "
    "Tequio again.",
    "fullscreen": "Without it, lending waits until the computer is locked, unless you switch off "
    "pausing for games in Settings, When to lend.",
    "game": "Games are still known by their launchers and by filling the screen. To have it, "
    "install GameMode.",
    "programs": "Without it, your exclusive programs and games cannot be seen. Empty that list and "
    "switch off pausing for games in Settings, When to lend, or start Tequio again.",
    "metered": "Without it, large transfers wait. Allow metered networks in Settings, Network, if "
    "yours costs nothing.",
    "gpu": "If such a card is in this computer, install or update its driver, then start the "
    "computer again.",
    "cpu-temperature": "Lending goes on; only the processor's temperature goal cannot be kept.",
    "battery": "If this computer has no battery, allow it in Settings, When to lend.",
    "power-saver": "If you never save power, allow lending while power is saved in Settings, When "
    "to lend.",
}
OTHER_ADVICE = "Start Tequio again. If that does not help, copy the diagnostics and report it."

PROBES_WIDTH = 300
NO_SOURCE = "none"
"""Source of a fact that nothing on this system can report."""
TIMELINE, LOG, HEALTH = "timeline", "log", "health"


class ActivityPage(Page):
    """`location` is the open view."""

    def __init__(self, context: PageContext) -> None:
        super().__init__(context)
        self.view = Segmented(
            self.tr("View"),
            {TIMELINE: self.tr("Timeline"), LOG: self.tr("Log"), HEALTH: self.tr("Health")},
        )
        about = self.tr("What happened here, newest first. It is kept on this computer only.")
        self.head = PageHeader(self.tr("Activity"), about, (self.view,))
        self.banner, self.toast = Banner(), Toast(self)
        self.timeline = TimelineCard(context)
        self.log = WorkerLogCard(context)
        self.health = HealthView()
        self._views = {TIMELINE: self.timeline, LOG: self.log, HEALTH: self.health}
        fill(self.body, self.head, self.banner, *((view, 1) for view in self._views.values()))
        self.view.chosen.connect(self.open_view)
        self.log.copied.connect(self.toast.open)
        self.model.session_changed.connect(self.request_refresh)
        self.open_view(TIMELINE)

    def restore_location(self, location: str) -> None:
        self.open_view(location)

    def open_view(self, name: str) -> None:
        self.location = name
        self.view.select(name)
        for one, view in self._views.items():
            view.setVisible(one == name)
        self.refresh()

    def refresh(self) -> None:
        snapshot = self.model.snapshot
        self.banner.setVisible(snapshot is None and bool(self.model.why_gone))
        self.banner.show_words("error", self.model.why_gone)
        match self.location:
            case "timeline":
                self.timeline.show_snapshot(snapshot)
            case "log":
                self.log.question.poll()
            case "health":
                self.health.show_health(self.model)


def app_report(model: AppModel, look: Theme) -> str:
    """The app's part of a diagnostics report; names no programs and holds no secrets."""
    screens = ", ".join(
        f"{screen.size().width()}x{screen.size().height()} at {screen.devicePixelRatio():g}"
        for screen in QGuiApplication.screens()
    )
    lines = [
        f"Tequio app {BUILD}, Qt {qVersion()}",
        f"{QSysInfo.prettyProductName()}, {QGuiApplication.platformName()}",
        f"language {QLocale().name()}, appearance {look.choice}, screens {screens}",
        f"worker: {'answers' if model.snapshot else model.why_gone or 'has not answered yet'}",
        f"session: {_session_line(model.session)}",
    ]
    for fact in model.session.health:
        result = "well" if fact.ok else f"failed: {fact.error}"
        lines.append(f"probe {fact.name} by {fact.source}, {fact.took_ms} ms: {result}")
    return "\n".join(lines)


def _session_line(facts: SessionFacts) -> str:
    return ", ".join(
        f"{name} {'unknown' if getattr(facts, name) is None else 'known'}" for name in SESSION_FACTS
    )


class WorkerLogCard(Card):
    copied = Signal(str)
    """The diagnostics are in the clipboard, as a sentence."""

    def __init__(self, context: PageContext) -> None:
        super().__init__(self.tr("Log of the worker"))
        self._context, self._is_copying = context, False
        self.question = PeriodicQuestion(
            context.model, context.now_ms, DiagnosticsReply, EVERY_MS, parent=self
        )
        self.question.set_question(AskDiagnostics())
        self.note = caption(
            self.tr(
                "For troubleshooting. Copying adds what the app sees, but no key and no password."
            )
        )
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setFont(style.fixed_font())
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setAccessibleName(self.tr("Last lines of the log"))
        self.text.setPlaceholderText(self.tr("The worker has not logged anything yet."))
        self.text.setMinimumHeight(LOG_HEIGHT)
        self.text.setTabChangesFocus(True)
        self.copy = Button(self.tr("Copy diagnostics"), picture="copy")
        self.copy.clicked.connect(self.copy_all)
        row = hbox((self.note, 1), self.copy)
        fill(self.body, row, (self.text, 1))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.question.changed.connect(self._handle_reply)

    def copy_all(self) -> None:
        """Copy diagnostics once the worker has answered or refused."""
        self._is_copying = True
        self.copy.setEnabled(False)
        self.question.ask()

    def _handle_reply(self) -> None:
        reply, problem = self.question.reply, self.question.problem
        if reply is not None and not problem:
            self._show_log(log_lines(reply.text))
            self._finish(reply.text)
        else:
            self._finish(f"no answer from the worker: {problem}")

    def _show_log(self, log: str) -> None:
        """Replace the text, staying at the end if the end was visible."""
        if log == self.text.toPlainText():
            return
        bar = self.text.verticalScrollBar()
        value, is_at_end = bar.value(), bar.value() >= bar.maximum()
        self.text.setPlainText(log)
        bar.setValue(bar.maximum() if is_at_end else value)

    def _finish(self, worker: str) -> None:
        if not self._is_copying:
            return
        self._is_copying = False
        self.copy.setEnabled(True)
        facts = app_report(self._context.model, self._context.look)
        QGuiApplication.clipboard().setText(redact_names(f"{worker}\n\n{facts}\n"))
        self.copied.emit(self.tr("Diagnostics copied: paste them into your report"))


def log_lines(diagnostics: str) -> str:
    """The log lines of a diagnostics text; empty if there are none yet."""
    parts = diagnostics.split("\n\n", DIAGNOSTICS_PARTS - 1)
    return parts[-1] if len(parts) == DIAGNOSTICS_PARTS else ""


class CheckState(Enum):
    """Result of a check, from what all of its sources answer."""

    OK = auto()
    PENDING = auto()
    UNKNOWN = auto()


@dataclass(frozen=True, slots=True)
class Check:
    """One row: a fact that lending depends on, and the sources that tell it."""

    facts: tuple[ProbeHealth, ...]
    """At least one, all of one name."""

    @property
    def state(self) -> CheckState:
        """Unknown if one source fails; pending while a source has not been asked."""
        failed = [fact for fact in self.facts if not fact.ok]
        if any(fact.error != NOT_POLLED for fact in failed):
            return CheckState.UNKNOWN
        return CheckState.PENDING if failed else CheckState.OK

    @property
    def name(self) -> str:
        """The translated name."""
        name = self.facts[0].name
        known = PROBE_NAMES.get(name)
        return QCoreApplication.translate("health", known) if known else name

    @property
    def problem(self) -> str:
        """Why it is unknown, in the words of its sources; empty in other states."""
        if self.state is not CheckState.UNKNOWN:
            return ""
        return "; ".join(dict.fromkeys(fact.error for fact in self.facts if fact.error))

    @property
    def advice(self) -> str:
        """A way out if it is unknown; empty in other states."""
        if self.state is not CheckState.UNKNOWN:
            return ""
        advice = PROBE_ADVICE.get(self.facts[0].name, OTHER_ADVICE)
        return QCoreApplication.translate("health", advice)

    @property
    def has_source(self) -> bool:
        return any(fact.source != NO_SOURCE for fact in self.facts)


def checks_of(facts: Iterable[ProbeHealth]) -> list[Check]:
    """Gather the sources of each name into one check, in the order of the first."""
    by_name: dict[str, list[ProbeHealth]] = {}
    for fact in facts:
        by_name.setdefault(fact.name, []).append(fact)
    return [Check(tuple(found)) for found in by_name.values()]


def technical_lines(facts: Iterable[ProbeHealth]) -> str:
    """A line for each source, untranslated, for a report: its names, time and error."""
    lines = (
        f"{fact.name}: {fact.source}, {fact.took_ms} ms" + (f", {fact.error}" if fact.error else "")
        for fact in facts
    )
    return "\n".join(lines)


class HealthView(QWidget):
    def __init__(self) -> None:
        super().__init__()
        card = Card()
        self._picture, self.summary = IconLabel("circle-check", QSize(20, 20), "ok"), WrappedLabel()
        self.details = DetailsButton()
        card.body.addLayout(hbox(self._picture, (self.summary, 1), self.details, spacing=12))
        self.session = ChecksCard(
            self.tr("Your session"), self.tr("Nothing is known about your session yet.")
        )
        self._starting = self.tr("The hardware is being checked…")
        self._silent = self.tr(
            "The hardware probe is not responding. The worker restarts it automatically."
        )
        self.machine = ChecksCard(self.tr("This computer"), self._starting)
        both = Columns()
        both.set_parts((self.session, self.machine))
        vbox(card, both, None, spacing=style.GAP, parent=self)

    def show_health(self, model: AppModel) -> None:
        snapshot = model.snapshot
        machine = snapshot.machine.health if snapshot else ()
        is_starting = snapshot is None or snapshot.is_probe_starting
        self.machine.empty.setText(self._starting if is_starting else self._silent)
        mine, its = checks_of(model.session.health), checks_of(machine)
        self.session.show_checks(mine)
        self.machine.show_checks(its)
        self.details.set_details(technical_lines((*model.session.health, *machine)))
        states = [check.state for check in (*mine, *its)]
        failed = states.count(CheckState.UNKNOWN)
        if mine and its and all(state is CheckState.OK for state in states):
            self._picture.set_icon("circle-check", "ok")
            self.summary.setText(self.tr("All %n check(s) are working.", "", len(states)))
            return
        is_calm = not failed and (is_starting or CheckState.PENDING in states)
        icon = ("info", "text_accent") if is_calm else ("triangle-alert", "warn")
        self._picture.set_icon(*icon)
        if failed:
            unknown = self.tr("%n check(s) aren't working.", "", failed)
            paused = self.tr("If Tequio isn't sure, it stays paused.")
            self.summary.setText(join_sentences(unknown, paused))
        else:
            self.summary.setText(self.tr("Some checks have not responded yet."))


class ChecksCard(Card):
    def __init__(self, heading: str, empty: str) -> None:
        super().__init__(heading)
        self.setMinimumWidth(PROBES_WIDTH)
        self.setAccessibleName(heading)
        self.rows: list[CheckRow] = []
        self.empty = WrappedLabel(empty, tone="sub")
        self._column = vbox(spacing=12)
        self.body.setSpacing(12)
        fill(self.body, self.empty, self._column, None)

    def show_checks(self, checks: list[Check]) -> None:
        self.empty.setVisible(not checks)
        discard(*self.rows[len(checks) :])
        added = [CheckRow() for _ in checks[len(self.rows) :]]
        self.rows = [*self.rows[: len(checks)], *added]
        fill(self._column, *added)
        for row, check in zip(self.rows, checks, strict=True):
            row.show_check(check)


class CheckRow(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self._shown: Check | None = None
        self.name, self.chip = ElidedLabel("", TextStyle.STRONG), Chip()
        self.error = WrappedLabel("", TextStyle.CAPTION, "warn")
        self.remedy = caption()
        words = vbox(self.name, self.error, self.remedy, spacing=2)
        hbox((words, 1), (self.chip, TOP), spacing=12, parent=self)

    def show_check(self, check: Check) -> None:
        if check == self._shown:
            return
        self._shown = check
        self.name.setText(check.name)
        problem = check.problem
        if problem and not check.has_source:
            problem = self.tr("Not available on this system")
        for label, words in ((self.error, problem), (self.remedy, check.advice)):
            label.setText(words)
            label.setVisible(bool(words))
        if check.state is CheckState.OK:
            self.chip.set_label(self.tr("OK"), "circle-check", "ok")
        elif check.state is CheckState.PENDING:
            self.chip.set_label(self.tr("Checking…"))
        else:
            self.chip.set_label(self.tr("Unknown"), "triangle-alert", "warn")
        parts = (self.name.text(), self.chip.text, problem, check.advice)
        self.setAccessibleName(", ".join(filter(None, parts)))
