"""Step 2: checks within five seconds whether this computer can take part.

The checks are pure: a verdict is a code with its values, and `VERDICTS` has the words. A source
that does not answer in time counts as unknown, never as good.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from PySide6.QtCore import QCoreApplication, QTimer
from PySide6.QtWidgets import QFrame

from tequio_client.app.first_run.draft import FirstRunStep, IconRow, StepContext
from tequio_client.app.language import join_sentences
from tequio_client.app.model import PeriodicQuestion
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import Card, fill, hbox
from tequio_client.app.widgets.buttons import Button, ChoiceCards
from tequio_client.ipc.facts import AcceleratorFacts, MachineFacts
from tequio_client.ipc.preferences import Preferences, usable_memory_mb
from tequio_client.ipc.runs import AskRuns, RunRow, RunsReply

OLDEST_NVIDIA = 525
"""The first driver line that runs programs compiled for CUDA 12."""
LEAST_CARD_MB = 4_096
"""Less memory trains none of the models of today's runs."""
GIB = 1 << 30
LEAST_STORE_GIB = 5
_CUDA = "cuda"

_WAITING = ("hourglass", "text_sub")
_GOOD = ("circle-check", "ok")
_WARNING = ("triangle-alert", "warn")
_BAD = ("octagon-x", "danger")
CONTEXT = "checks"
CHECK_NAMES = ("Graphics card", "Driver", "Disk", "Network")
VERDICTS = {
    "asking": (_WAITING, "Looking…"),
    "card-unknown": (
        _WARNING,
        "Its probe has not answered. Tequio keeps asking; you can go on.",
    ),
    "card-none": (
        _WARNING,
        "None that can train was found. {processor} with {cores} cores can help too.",
    ),
    "card-memory": (_WARNING, "{card} does not say how much memory it has."),
    "card-small": (_WARNING, "{card} has {memory}: too little to train most models."),
    "card-good": (_GOOD, "{card} with {memory}, of which at most {usable} are used."),
    "driver-unknown": (_WARNING, "Its probe has not answered yet."),
    "driver-none": (_GOOD, "None is needed for the processor."),
    "driver-unsaid": (_WARNING, "It does not say its version. The first start will show it."),
    "driver-old": (
        _BAD,
        "Version {driver} is too old to train: install {oldest} or newer, then restart.",
    ),
    "driver-good": (_GOOD, "Version {driver} can train."),
    "disk-unknown": (_WARNING, "It is not known how much is free."),
    "disk-good": (
        _GOOD,
        "{free} GB are free. Tequio takes {store} GB at most, and {stays} stay free.",
    ),
    "disk-tight": (
        _WARNING,
        "{free} GB are free. {stays} stay free, so Tequio has {store} GB: some runs fit.",
    ),
    "disk-full": (
        _BAD,
        "Only {free} GB are free and {wanted} are needed, of which {stays} stay free: make room "
        "before lending.",
    ),
    "network-none": (_GOOD, "You choose the network in step 5."),
    "network-invited": (_GOOD, "You join “{network}” by your invitation."),
    "network-away": (
        _WARNING,
        "The network does not answer now. You can go on: Tequio keeps trying.",
    ),
    "network-empty": (_GOOD, "The network answers. No run is open now; one will be joined."),
    "network-good": (_GOOD, "The network answers, and %n run(s) are open."),
}
"""Icon with its colour, and sentence, by the code of a verdict."""


class CheckVerdict(NamedTuple):
    code: str
    values: Mapping[str, str | int] = {}

    def sentence(self) -> str:
        _, words = VERDICTS[self.code]
        runs = int(self.values.get("runs", -1))  # -1: the sentence has no plural forms
        return QCoreApplication.translate(CONTEXT, words, "", runs).format(**self.values)


def verdicts(
    machine: MachineFacts,
    preferences: Preferences,
    free_bytes: int | None,
    open_runs: int | None,
    *,
    is_refused: bool,
    is_over: bool,
) -> tuple[CheckVerdict, ...]:
    """All verdicts, in the order of `CHECK_NAMES`.

    `is_refused`: the ledger cannot name its runs. `is_over`: a source that has not answered by now
    counts as unknown.
    """
    if machine.gpus is not None:
        best = best_card(machine)
        card, driver = _card(machine, best, preferences), _driver(best)
    else:
        card = CheckVerdict("card-unknown" if is_over else "asking")
        driver = CheckVerdict("driver-unknown" if is_over else "asking")
    if open_runs:
        network = CheckVerdict("network-good", {"runs": open_runs})
    elif open_runs == 0:
        network = CheckVerdict("network-empty")
    else:
        network = CheckVerdict("network-away" if is_refused or is_over else "asking")
    return card, driver, _disk(preferences, free_bytes), network


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
        return CheckVerdict("card-none", {"processor": machine.cpu_name, "cores": machine.cores})
    if card.memory_mb is None:
        return CheckVerdict("card-memory", {"card": card.name})
    usable_mb = usable_memory_mb(card.memory_mb, preferences.device(card.key).memory_mb)
    memory, usable = figures.memory(card.memory_mb), figures.memory(usable_mb)
    code = "card-small" if card.memory_mb < LEAST_CARD_MB else "card-good"
    return CheckVerdict(code, {"card": card.name, "memory": memory, "usable": usable})


def _driver(card: AcceleratorFacts | None) -> CheckVerdict:
    if card is None:
        return CheckVerdict("driver-none")
    if not card.driver:
        return CheckVerdict("driver-unsaid")
    major = re.match(r"\d+", card.driver)
    is_old = card.id.startswith(_CUDA) and major and int(major.group()) < OLDEST_NVIDIA
    values: dict[str, str | int] = {"driver": card.driver, "oldest": OLDEST_NVIDIA}
    return CheckVerdict("driver-old" if is_old else "driver-good", values)


def _disk(preferences: Preferences, free_bytes: int | None) -> CheckVerdict:
    if free_bytes is None:
        return CheckVerdict("disk-unknown")
    free, store, stays = free_bytes // GIB, preferences.disk_gib, preferences.disk_free_gib
    values = {"free": free, "store": store, "stays": stays}
    if free >= store + stays:
        return CheckVerdict("disk-good", values)
    wanted = stays + LEAST_STORE_GIB
    if free >= wanted:
        return CheckVerdict("disk-tight", values | {"store": free - stays})
    return CheckVerdict("disk-full", values | {"wanted": wanted})


CHECK_TIMEOUT_MS = 5_000


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
        self._is_over = False
        self.list = PeriodicQuestion(
            context.model, context.now_ms, RunsReply, timeout_ms, parent=self
        )
        self.list.set_question(AskRuns())
        self.list.changed.connect(self._show_list)
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

    def enter(self) -> None:
        self._is_over = False
        self.list.forget()
        self._clock.start()
        self.refresh()

    def refresh(self) -> None:
        self.list.retry()
        model, machine = self.context.model, self.context.machine
        runs = self._open_runs
        found = verdicts(
            machine,
            model.preferences,
            self.context.free_bytes(),
            None if runs is None else len(runs),
            is_refused=bool(self.list.problem) and model.snapshot is not None,
            is_over=self._is_over,
        )
        draft = self.context.draft_store.draft
        if draft.invitation:
            network = CheckVerdict("network-invited", {"network": draft.invited_to})
            found = (*found[:-1], network)
        elif not self.context.has_network:
            found = (*found[:-1], CheckVerdict("network-none"))
        for row, name, verdict in zip(self.rows, CHECK_NAMES, found, strict=True):
            icon, _ = VERDICTS[verdict.code]
            row.icon.set_icon(*icon)
            row.set_texts(QCoreApplication.translate(CONTEXT, name), verdict.sentence())
        self.role.setVisible(needs_role_choice(machine))
        self.role.show_share(max((row.witness_share_bp for row in runs or ()), default=0))
        self.role.refresh()
        self.again.setEnabled(all(one.code != "asking" for one in found))

    @property
    def _open_runs(self) -> tuple[RunRow, ...] | None:
        """None: not known yet."""
        reply = self.list.reply
        return None if reply is None else tuple(row for row in reply.rows if row.is_open)

    def _show_list(self) -> None:
        if self.isVisible():
            self.refresh()

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
            self.tr("Role"),
            {
                "witness": (
                    self.tr("Witness (fits best)"),
                    self._witness_note(0),
                ),
                "trainer": (
                    self.tr("Train on the processor"),
                    self.tr(
                        "Slower than any graphics card, and for small models only. Earns a "
                        "few points."
                    ),
                ),
                "auto": (
                    self.tr("Automatic"),
                    self.tr("Both: trains the model, and checks the work of others."),
                ),
            },
        )
        self.choices.chosen.connect(self._choose)
        self.body.addWidget(self.choices)

    def show_share(self, basis_points: int) -> None:
        """State what witnesses earn by the rules of the runs; 0: not known."""
        self.choices.cards["witness"].set_note(self._witness_note(basis_points))

    def _witness_note(self, basis_points: int) -> str:
        words = self.tr(
            "Checks the work of others and signs what is correct. It trains nothing and uses "
            "little electricity."
        )
        if not basis_points:
            return join_sentences(words, self.tr("Earns a small part of what training earns."))
        share = self.tr("All witnesses of a round share {percent} of what its trainers earn.")
        return join_sentences(words, share.format(percent=figures.percent(basis_points / 100)))

    def refresh(self) -> None:
        self.choices.select(self._context.draft_store.draft.role)

    def _choose(self, role: str) -> None:
        self._context.draft_store.change(role=role)
        self.refresh()
