"""One round in full, and what the check mark means: what was checked here, in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLayout,
    QVBoxLayout,
    QWidget,
)

from tequio_client.app import words
from tequio_client.app.pages.rounds_rows import STATES, is_checked
from tequio_client.app.theme import fonts
from tequio_client.app.theme.fonts import Type
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.button import Button
from tequio_client.app.widgets.card import Card
from tequio_client.app.widgets.picture import Picture
from tequio_client.app.widgets.text import Paragraph, Text

if TYPE_CHECKING:
    from PySide6.QtGui import QShowEvent

    from tequio_client.link.questions import PointsRow

WIDTH = 520
AUDIT = "tequio audit --ledger {url}"


class RoundDialog(QDialog):
    """All there is to know of a round."""

    def __init__(
        self, row: PointsRow, ledger: str, device: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._row, self._ledger, self._device = row, ledger, device
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        name, number = row.run_name or row.run, figures.count(row.round)
        title = self.tr("{run}, round {number}").format(run=name, number=number)
        self.setWindowTitle(title)
        self.setMinimumWidth(WIDTH)
        column = QVBoxLayout(self)
        column.setContentsMargins(22, 20, 22, 20)
        column.setSpacing(14)
        column.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
        column.addLayout(self._head(title))
        column.addWidget(_fields(self.facts()))
        self.proof: tuple[tuple[str, str], ...] = self._proof() if is_checked(row) else ()
        column.addWidget(
            self._checked() if self.proof else Paragraph(self._unchecked(), tone="sub")
        )
        column.addStretch(1)
        column.addLayout(self._buttons())
        self.closes.setFocus()

    def showEvent(self, event: QShowEvent) -> None:
        """Be as tall as the words need at this width."""
        super().showEvent(event)
        layout = self.layout()
        if layout is not None:
            self.resize(self.width(), layout.totalHeightForWidth(self.width()))

    def facts(self) -> tuple[tuple[str, str], ...]:
        """What the round was, by name."""
        row = self._row
        tokens = figures.count(row.tokens) if row.tokens else figures.ABSENT
        energy = figures.energy(row.energy_j) if row.energy_j else figures.ABSENT
        amounts = (row.micropoints, row.trained, row.witnessed)
        is_open = row.state == "pending"
        exact = [figures.ABSENT if is_open else figures.exact_points(one) for one in amounts]
        return (
            (self.tr("When"), figures.stamp(row.at_ms)),
            (self.tr("Points"), exact[0]),
            (self.tr("For training"), exact[1]),
            (self.tr("For checking others' work"), exact[2]),
            (self.tr("Device"), self._device or figures.ABSENT),
            (self.tr("Tokens"), tokens),
            (self.tr("Energy"), energy),
        )

    @property
    def text(self) -> str:
        """Everything, to be copied."""
        lines = [self.windowTitle(), self._state()]
        lines += [f"{name}: {value}" for name, value in (*self.facts(), *self.proof)]
        if self.proof:
            lines.append(AUDIT.format(url=self._ledger))
        return "\n".join(lines)

    def _state(self) -> str:
        state, reason = words.round_state(self._row.state), words.round_reason(self._row.reason)
        return f"{state}: {reason}" if reason else state

    def _proof(self) -> tuple[tuple[str, str], ...]:
        row = self._row
        return (
            (self.tr("Ledger"), self._ledger),
            (self.tr("Log entry"), figures.count(row.entry or 0)),
            (self.tr("Checkpoint, entries"), figures.count(row.size or 0)),
            (self.tr("Checkpoint, root"), row.root),
        )

    def _head(self, title: str) -> QHBoxLayout:
        head, texts = QHBoxLayout(), QVBoxLayout()
        picture, ink = STATES.get(self._row.state, ("info", "text_sub"))
        if is_checked(self._row):
            picture = "badge-check"
        texts.setSpacing(2)
        texts.addWidget(Paragraph(title, Type.TITLE))
        texts.addWidget(Paragraph(self._state(), tone="sub"))
        head.setSpacing(14)
        mark = Picture(picture, QSize(28, 28), ink)
        head.addWidget(mark, 0, Qt.AlignmentFlag.AlignTop)
        head.addLayout(texts, 1)
        return head

    def _checked(self) -> Card:
        made = Card(self.tr("What was checked here"))
        made.body.addWidget(
            Paragraph(
                self.tr(
                    "This computer fetched the end of the round from the ledger's public log, read "
                    "in it what you get, and checked that it is in the log that the ledger has "
                    "signed. Nobody can change or remove it later without that showing."
                )
            )
        )
        made.body.addWidget(_fields(self.proof, is_written_by_machine=True))
        made.body.addWidget(
            Paragraph(self.tr("To check the whole ledger yourself, run:"), tone="sub")
        )
        made.body.addWidget(_machine_text(AUDIT.format(url=self._ledger)))
        return made

    def _unchecked(self) -> str:
        if self._row.state == "pending":
            return self.tr(
                "The round is not closed yet, or its end was not found in the ledger's signed log "
                "yet. Its points count when this computer has checked that."
            )
        return self.tr("This round gave no points, so there is nothing to prove.")

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        self.copy = Button(self.tr("Copy"), picture="copy")
        self.closes = Button(self.tr("Close"), "primary")
        self.copy.clicked.connect(self._copy)
        self.closes.clicked.connect(self.accept)
        self.closes.setDefault(True)
        row.addWidget(self.copy)
        row.addStretch(1)
        row.addWidget(self.closes)
        return row

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.text)
        self.copy.show_as(self.tr("Copied"), "check")


def _fields(fields: tuple[tuple[str, str], ...], *, is_written_by_machine: bool = False) -> QWidget:
    made = QWidget()
    grid = QGridLayout(made)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(18)
    grid.setVerticalSpacing(5)
    grid.setColumnStretch(1, 1)
    for at, (name, value) in enumerate(fields):
        shown = _machine_text(value) if is_written_by_machine else Text(value)
        shown.setAccessibleName(f"{name}: {value}")
        grid.addWidget(Text(name, Type.BODY, "sub"), at, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(shown, at, 1)
    return made


def _machine_text(words: str) -> QLabel:
    """Text that can be marked and copied, broken anywhere."""
    made = Paragraph("\u200b".join(words) if " " not in words else words)
    made.setFont(fonts.mono())
    made.setTextInteractionFlags(
        Qt.TextInteractionFlag.TextSelectableByMouse
        | Qt.TextInteractionFlag.TextSelectableByKeyboard
    )
    made.setAccessibleName(words)
    return made
