"""Step 2: whether this computer can take part, in five seconds, with a plain word on each thing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, QTimer
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from tequio_client.app.first_run import check_words, checks
from tequio_client.app.first_run.checks import Level, Network
from tequio_client.app.first_run.step import Kit, Step
from tequio_client.app.theme.fonts import Type
from tequio_client.app.widgets.button import Button
from tequio_client.app.widgets.card import Card
from tequio_client.app.widgets.choice_card import ChoiceCards
from tequio_client.app.widgets.picture import Picture
from tequio_client.app.widgets.text import Line, Paragraph, Text
from tequio_client.link.questions import AskRuns, Runs

if TYPE_CHECKING:
    from tequio_client.app.first_run.checks import Verdict
    from tequio_client.link.questions import Question, Reply

PATIENCE_MS = 5_000
QUESTION = AskRuns()
LOOKS = {
    Level.WAITING: ("hourglass", "text_sub"),
    Level.GOOD: ("circle-check", "ok"),
    Level.WARNING: ("triangle-alert", "warn"),
    Level.BAD: ("octagon-x", "danger"),
}


class CheckStep(Step):
    """Four verdicts, and another part for a computer that cannot train on a card."""

    def __init__(self, kit: Kit) -> None:
        super().__init__(
            kit,
            self.tr("Can this computer take part?"),
            self.tr(
                "Takes five seconds at most. Checks this computer and asks the network which "
                "runs are open."
            ),
        )
        self._network, self._is_over = Network(), False
        self.rows = [VerdictRow() for _ in check_words.NAMES]
        card = Card()
        for at, row in enumerate(self.rows):
            if at:
                card.body.addWidget(_rule())
            card.body.addWidget(row)
        self.again = Button(self.tr("Check again"), "quiet", "refresh-cw")
        self.again.clicked.connect(self.enter)
        self.role = RoleCard(kit)
        feet = QHBoxLayout()
        feet.addStretch(1)
        feet.addWidget(self.again)
        for part in (card, self.role):
            self.body.addWidget(part)
        self.body.addLayout(feet)
        self.body.addStretch(1)
        self._clock = QTimer(self, interval=PATIENCE_MS, singleShot=True)
        self._clock.timeout.connect(self._end)
        kit.means.model.replied.connect(self._take)
        kit.means.model.refused.connect(self._miss)

    def enter(self) -> None:
        """Look at everything, anew."""
        self._network, self._is_over = Network(), False
        self._clock.start(PATIENCE_MS)
        self.kit.means.model.ask(QUESTION)
        self.refresh()

    def refresh(self) -> None:
        """Show what is known now."""
        model, machine = self.kit.means.model, self.kit.machine
        found = checks.verdicts(
            machine,
            model.preferences,
            self.kit.free_bytes(),
            self._network,
            is_over=self._is_over,
        )
        for row, verdict in zip(self.rows, found, strict=True):
            row.show_verdict(verdict)
        self.role.setVisible(checks.wants_role(machine))
        self.role.refresh()
        is_known = all(one.level is not Level.WAITING for one in found)
        self.again.setEnabled(is_known)

    def _take(self, question: Question, reply: Reply) -> None:
        if question == QUESTION and isinstance(reply, Runs):
            self._network = Network(runs=sum(row.is_open for row in reply.rows))
            self.refresh()

    def _miss(self, question: Question, why: str) -> None:
        """A worker that is still being started is asked again, as long as there is time."""
        if question != QUESTION or not self.isVisible():
            return
        if self._is_over or self.kit.means.model.snapshot is not None:
            self._network = Network(problem=why)
            self.refresh()
        else:
            QTimer.singleShot(PATIENCE_MS // 10, self, lambda: self._ask_again(0))

    def _ask_again(self, _: int) -> None:
        if not self._is_over:
            self.kit.means.model.ask(QUESTION)

    def _end(self) -> None:
        self._is_over = True
        self.refresh()


class VerdictRow(QWidget):
    """One thing, how it stands and why."""

    def __init__(self) -> None:
        super().__init__()
        self._picture = Picture("hourglass", QSize(20, 20))
        self._name, self._words = Text("", Type.STRONG), Paragraph("", tone="sub")
        row, column = QHBoxLayout(self), QVBoxLayout()
        row.setContentsMargins(2, 5, 2, 5)
        row.setSpacing(14)
        column.setSpacing(1)
        column.addWidget(self._name)
        column.addWidget(self._words)
        row.addWidget(self._picture)
        row.addLayout(column, 1)

    def show_verdict(self, verdict: Verdict) -> None:
        """Show that one."""
        self._picture.show_as(*LOOKS[verdict.level])
        self._name.setText(check_words.name(verdict))
        self._words.setText(check_words.sentence(verdict))
        self.setAccessibleName(f"{self._name.text()}: {self._words.text()}")

    @property
    def words(self) -> str:
        """What it says."""
        return self._words.text()


class RoleCard(Card):
    """What a computer without a card that can train may do instead."""

    def __init__(self, kit: Kit) -> None:
        super().__init__()
        self._kit = kit
        self.body.addWidget(Line(self.tr("What this computer can do instead"), Type.HEADING))
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
        """Show what is chosen; a witness while nothing is."""
        role = self._kit.book.draft.role
        self.choices.choose("witness" if role == "auto" else role)

    def _choose(self, role: str) -> None:
        self._kit.book.change(role=role)
        self.refresh()


def _rule() -> QFrame:
    made = QFrame()
    made.setProperty("kind", "rule")
    return made
