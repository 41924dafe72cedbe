"""Step 2: checks within five seconds whether this computer can take part.

The checks are pure: a verdict is a code with its values, and `sentence` puts it into words. A
source that does not answer in time counts as unknown, never as good.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from PySide6.QtCore import QCoreApplication, QTimer
from PySide6.QtWidgets import QFrame

from tequio_client.app.first_run.draft import FirstRunStep, IconRow, StepContext
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import Card, fill, hbox
from tequio_client.app.widgets.buttons import Button, ChoiceCards
from tequio_client.ipc.control import AskRuns, Question, Reply, RunsReply
from tequio_client.ipc.facts import AcceleratorFacts, MachineFacts
from tequio_client.ipc.preferences import Preferences, usable_memory_mb

OLDEST_NVIDIA = 525
"""The first driver line that runs programs compiled for CUDA 12."""
LEAST_CARD_MB = 4_096
"""Less memory trains none of the models of today's runs."""
GIB = 1 << 30
LEAST_STORE_GIB = 5
_CUDA = "cuda"


class CheckLevel(StrEnum):
    WAITING = "waiting"
    GOOD = "good"
    WARNING = "warning"
    BAD = "bad"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckVerdict:
    about: str
    """`card`, `driver`, `disk` or `network`."""
    level: CheckLevel
    code: str
    values: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerAnswer:
    """The ledger's answer to the question for its runs."""

    runs: int | None = None
    """Open runs; None: no answer."""
    problem: str = ""


def verdicts(
    machine: MachineFacts,
    preferences: Preferences,
    free_bytes: int | None,
    network: LedgerAnswer,
    *,
    is_over: bool,
) -> tuple[CheckVerdict, ...]:
    """All verdicts; `is_over`: a source that has not answered by now counts as unknown."""
    if machine.gpus is None:
        card, driver = _unanswered("card", is_over=is_over), _unanswered("driver", is_over=is_over)
    else:
        best = best_card(machine)
        card, driver = _card(machine, best, preferences), _driver(best)
    return (
        card,
        driver,
        _disk(preferences, free_bytes),
        _network(network, is_over=is_over),
    )


def best_card(machine: MachineFacts) -> AcceleratorFacts | None:
    return max(machine.gpus or (), key=lambda one: one.memory_mb or 0, default=None)


def needs_role_choice(machine: MachineFacts) -> bool:
    """True if no accelerator can train, so that the user chooses another role."""
    card = best_card(machine)
    if machine.gpus is None:
        return False
    return card is None or (card.memory_mb is not None and card.memory_mb < LEAST_CARD_MB)


def _card(
    machine: MachineFacts, card: AcceleratorFacts | None, preferences: Preferences
) -> CheckVerdict:
    if card is None:
        processor, cores = machine.cpu_name, machine.cores
        return _verdict("card", "none", CheckLevel.WARNING, processor=processor, cores=cores)
    if card.memory_mb is None:
        return _verdict("card", "memory", CheckLevel.WARNING, card=card.name)
    usable = usable_memory_mb(card.memory_mb, preferences.device(card.id).memory_mb)
    is_small = card.memory_mb < LEAST_CARD_MB
    level, result = (CheckLevel.WARNING, "small") if is_small else (CheckLevel.GOOD, "good")
    return _verdict(
        "card", result, level, card=card.name, memory=card.memory_mb, usable=usable or 0
    )


def _driver(card: AcceleratorFacts | None) -> CheckVerdict:
    if card is None:
        return _verdict("driver", "none", CheckLevel.GOOD)
    if not card.driver:
        return _verdict("driver", "unsaid", CheckLevel.WARNING)
    major = re.match(r"\d+", card.driver)
    is_old = card.id.startswith(_CUDA) and major and int(major.group()) < OLDEST_NVIDIA
    level, result = (CheckLevel.BAD, "old") if is_old else (CheckLevel.GOOD, "good")
    return _verdict("driver", result, level, driver=card.driver, oldest=OLDEST_NVIDIA)


def _disk(preferences: Preferences, free_bytes: int | None) -> CheckVerdict:
    if free_bytes is None:
        return _verdict("disk", "unknown", CheckLevel.WARNING)
    free, store, stays = free_bytes // GIB, preferences.disk_gib, preferences.disk_free_gib
    if free >= store + stays:
        return _verdict("disk", "good", CheckLevel.GOOD, free=free, store=store, stays=stays)
    if free >= stays + LEAST_STORE_GIB:
        return _verdict(
            "disk", "tight", CheckLevel.WARNING, free=free, store=free - stays, stays=stays
        )
    return _verdict("disk", "full", CheckLevel.BAD, free=free, store=store, stays=stays)


def _network(network: LedgerAnswer, *, is_over: bool) -> CheckVerdict:
    if network.runs is not None:
        result = "good" if network.runs else "empty"
        return _verdict("network", result, CheckLevel.GOOD, runs=network.runs)
    return _unanswered("network", "away", is_over=is_over or bool(network.problem))


def _unanswered(about: str, result: str = "unknown", *, is_over: bool) -> CheckVerdict:
    if is_over:
        return _verdict(about, result, CheckLevel.WARNING)
    return CheckVerdict(about=about, level=CheckLevel.WAITING, code="asking")


def _verdict(about: str, result: str, level: CheckLevel, **values: object) -> CheckVerdict:
    return CheckVerdict(about=about, level=level, code=f"{about}-{result}", values=values)


CONTEXT = "checks"
CHECK_NAMES = {
    "card": "Graphics card",
    "driver": "Driver",
    "disk": "Disk",
    "network": "Network",
}
VERDICT_SENTENCES = {
    "asking": "Looking…",
    "card-unknown": "Its probe has not answered. Tequio keeps asking; you can go on.",
    "card-none": "None that can train was found. {processor} with {cores} cores can help too.",
    "card-memory": "{card} does not say how much memory it has.",
    "card-small": "{card} has {memory}: too little to train most models.",
    "card-good": "{card} with {memory}, of which at most {usable} are used.",
    "driver-unknown": "Its probe has not answered yet.",
    "driver-none": "None is needed for the processor.",
    "driver-unsaid": "It does not say its version. The first start will show it.",
    "driver-old": "Version {driver} is too old to train: install {oldest} or newer, then restart.",
    "driver-good": "Version {driver} can train.",
    "disk-unknown": "Nobody can tell how much is free.",
    "disk-good": "{free} GiB are free. Tequio takes {store} GiB at most, and {stays} stay free.",
    "disk-tight": (
        "{free} GiB are free. {stays} stay free, so Tequio has {store} GiB: some runs fit."
    ),
    "disk-full": "Only {free} GiB are free but {stays} should stay free: make room before lending.",
    "network-away": "The ledger does not answer. You can go on; a run can be chosen later.",
    "network-empty": "The ledger answers. No run is open now; one will be joined.",
}


def verdict_sentence(verdict: CheckVerdict) -> str:
    if verdict.code == "network-good":
        runs = int(str(verdict.values["runs"]))
        return QCoreApplication.translate(
            "checks", "The ledger answers, and %n run(s) are open.", "", runs
        )
    shown = {
        key: figures.memory(int(str(value))) if key in ("memory", "usable") else value
        for key, value in verdict.values.items()
    }
    return QCoreApplication.translate(CONTEXT, VERDICT_SENTENCES[verdict.code]).format(**shown)


CHECK_TIMEOUT_MS = 5_000
RUNS_QUESTION = AskRuns()
LEVEL_ICONS = {
    CheckLevel.WAITING: ("hourglass", "text_sub"),
    CheckLevel.GOOD: ("circle-check", "ok"),
    CheckLevel.WARNING: ("triangle-alert", "warn"),
    CheckLevel.BAD: ("octagon-x", "danger"),
}


class CheckStep(FirstRunStep):
    """Four verdicts, and a choice of role for a computer without a card that can train."""

    def __init__(self, context: StepContext, timeout_ms: int = CHECK_TIMEOUT_MS) -> None:
        super().__init__(
            context,
            self.tr("Can this computer take part?"),
            self.tr(
                "Takes five seconds at most. Checks this computer and asks the network which "
                "runs are open."
            ),
        )
        self._network, self._is_over = LedgerAnswer(), False
        self.rows = [IconRow("hourglass", margins=(2, 5, 2, 5)) for _ in CHECK_NAMES]
        card = Card()
        for at, row in enumerate(self.rows):
            if at:
                rule = QFrame()
                rule.setProperty("kind", "rule")
                card.body.addWidget(rule)
            card.body.addWidget(row)
        self.again = Button(self.tr("Check again"), "quiet", "refresh-cw")
        self.again.clicked.connect(self.enter)
        self.role = RoleCard(context)
        fill(self.body, card, self.role, hbox(None, self.again), None)
        self._clock = QTimer(self, interval=timeout_ms, singleShot=True)
        self._clock.timeout.connect(self._end)
        context.model.replied.connect(self._receive)
        context.model.refused.connect(self._refused)

    def enter(self) -> None:
        self._network, self._is_over = LedgerAnswer(), False
        self._clock.start()
        self.context.model.ask(RUNS_QUESTION)
        self.refresh()

    def refresh(self) -> None:
        model, machine = self.context.model, self.context.machine
        found = verdicts(
            machine,
            model.preferences,
            self.context.free_bytes(),
            self._network,
            is_over=self._is_over,
        )
        for row, verdict in zip(self.rows, found, strict=True):
            row.set_icon(*LEVEL_ICONS[verdict.level])
            name = QCoreApplication.translate(CONTEXT, CHECK_NAMES[verdict.about])
            row.set_texts(name, verdict_sentence(verdict))
        self.role.setVisible(needs_role_choice(machine))
        self.role.refresh()
        self.again.setEnabled(all(one.level is not CheckLevel.WAITING for one in found))

    def _receive(self, question: Question, reply: Reply) -> None:
        if question == RUNS_QUESTION and isinstance(reply, RunsReply):
            self._network = LedgerAnswer(runs=sum(row.is_open for row in reply.rows))
            self.refresh()

    def _refused(self, question: Question, why: str) -> None:
        """Ask again while the worker is still starting and time is left."""
        if question != RUNS_QUESTION or not self.isVisible():
            return
        if self._is_over or self.context.model.snapshot is not None:
            self._network = LedgerAnswer(problem=why)
            self.refresh()
        else:
            QTimer.singleShot(self._clock.interval() // 10, self, self._ask_again)

    def _ask_again(self) -> None:
        if not self._is_over:
            self.context.model.ask(RUNS_QUESTION)

    def _end(self) -> None:
        self._is_over = True
        self.refresh()


class RoleCard(Card):
    """Roles for a computer without a card that can train."""

    def __init__(self, context: StepContext) -> None:
        super().__init__()
        self._context = context
        self.add_heading(self.tr("What this computer can do instead"))
        self.choices = ChoiceCards(
            self.tr("Its part"),
            {
                "witness": (
                    self.tr("Witness (fits best)"),
                    self.tr(
                        "Checks the work of others and signs what is correct. Uses little "
                        "electricity."
                    ),
                ),
                "trainer": (
                    self.tr("Train on the processor"),
                    self.tr(
                        "Slower than any graphics card, and for small models only. Earns a "
                        "few points."
                    ),
                ),
            },
        )
        self.choices.chosen.connect(self._choose)
        self.body.addWidget(self.choices)

    def refresh(self) -> None:
        """Mark the chosen role; a witness if nothing was chosen."""
        role = self._context.draft_store.draft.role
        self.choices.select("witness" if role == "auto" else role)

    def _choose(self, role: str) -> None:
        self._context.draft_store.change(role=role)
        self.refresh()
