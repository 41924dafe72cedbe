"""The last lines of the worker's log, and the text that helps to find a fault, to be copied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QSizePolicy

from tequio_client.app.pages import app_facts
from tequio_client.app.theme import fonts
from tequio_client.app.theme.fonts import Type
from tequio_client.app.widgets.button import Button
from tequio_client.app.widgets.card import Card
from tequio_client.app.widgets.text import Paragraph
from tequio_client.link.questions import AskDiagnostics, Diagnostics
from tequio_client.names import without_names

if TYPE_CHECKING:
    from tequio_client.app.pages.page import Means
    from tequio_client.link.questions import Question, Reply

ASK = AskDiagnostics()
EVERY_MS = 5_000
"""Between two readings while somebody looks."""
LEAST = 220
PARTS = 3
"""Of the diagnostics, with an empty line between them: versions, all that is shown, the log."""


class Log(Card):
    """The log; `told` says what came of copying."""

    told = Signal(str)

    def __init__(self, means: Means) -> None:
        super().__init__()
        self._means = means
        self._asked_ms = 0
        self._is_asking = self._is_copying = False
        self.title(self.tr("Log of the worker"))
        self.note = Paragraph(
            self.tr("For finding faults. Copying adds what the app sees; no key, no password."),
            Type.CAPTION,
            "sub",
        )
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setFont(fonts.mono())
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setAccessibleName(self.tr("Last lines of the log"))
        self.text.setPlaceholderText(self.tr("The worker has not said anything yet."))
        self.text.setMinimumHeight(LEAST)
        self.text.setTabChangesFocus(True)
        self.copy = Button(self.tr("Copy diagnostics"), picture="copy")
        self.copy.clicked.connect(self.copy_all)
        row = QHBoxLayout()
        row.addWidget(self.note, 1)
        row.addWidget(self.copy)
        self.body.addLayout(row)
        self.body.addWidget(self.text, 1)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        means.model.replied.connect(self._take)
        means.model.refused.connect(self._miss)

    def refresh(self) -> None:
        """Read the log anew if that is some time ago."""
        is_due = self._means.now_ms() - self._asked_ms >= EVERY_MS
        if is_due and self._means.model.snapshot is not None:
            self._ask()

    def copy_all(self) -> None:
        """Copy diagnostics as soon as the worker has answered, or without it."""
        self._is_copying = True
        self.copy.setEnabled(False)
        self._ask()

    def _ask(self) -> None:
        if not self._is_asking:
            self._is_asking, self._asked_ms = True, self._means.now_ms()
            self._means.model.ask(ASK)

    def _take(self, question: Question, reply: Reply) -> None:
        if question == ASK and isinstance(reply, Diagnostics):
            self._is_asking = False
            self._show(log_of(reply.text))
            self._finish(reply.text)

    def _miss(self, question: Question, why: str) -> None:
        if question == ASK:
            self._is_asking = False
            self._finish(f"no answer from the worker: {why}")

    def _show(self, log: str) -> None:
        """Show the lines; who looks at the last ones goes on seeing the last ones."""
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
        facts = app_facts.text(self._means.model, self._means.look)
        QGuiApplication.clipboard().setText(without_names(f"{worker}\n\n{facts}\n"))
        self.told.emit(self.tr("Diagnostics copied: paste them into your report"))


def log_of(diagnostics: str) -> str:
    """The log's lines of diagnostics; empty where there are none yet."""
    parts = diagnostics.split("\n\n", PARTS - 1)
    return parts[-1] if len(parts) == PARTS else ""
