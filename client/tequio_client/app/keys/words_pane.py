"""The way of words: what they are, the words themselves, and the question for two of them."""

from __future__ import annotations

from random import SystemRandom
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QGridLayout,
    QLineEdit,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from tequio_client.app.keys.passphrase import UNLEARNED
from tequio_client.app.keys.words_grid import WORDS, WordsGrid
from tequio_client.app.theme.fonts import Type, font
from tequio_client.app.widgets.text import Paragraph, Text

if TYPE_CHECKING:
    from collections.abc import Sequence

ASKED = 2
"""Words that are asked for."""


class WordsPane(QWidget):
    """Shows the words, then asks for two of them."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._words: tuple[str, ...] = ()
        self._numbers: tuple[int, ...] = ()
        self._note, self.grid = Paragraph(), WordsGrid()
        self.lines = [QLineEdit() for _ in range(ASKED)]
        self._labels = [Text("", Type.CAPTION, "sub") for _ in range(ASKED)]
        question = QWidget()
        fields = QGridLayout(question)
        fields.setContentsMargins(0, 0, 0, 0)
        for at, (label, line) in enumerate(zip(self._labels, self.lines, strict=True)):
            line.setFont(font(Type.BODY))
            line.setInputMethodHints(UNLEARNED)
            line.textChanged.connect(self.changed)
            fields.addWidget(label, 0, at)
            fields.addWidget(line, 1, at)
        fields.setRowStretch(2, 1)
        self._stack = QStackedWidget()
        self._stack.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self._stack.addWidget(self.grid)
        self._stack.addWidget(question)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        column.addWidget(self._note)
        column.addWidget(self._stack)
        self._explain()

    def show_words(self, words: Sequence[str]) -> None:
        """Show these."""
        self._words = tuple(words)
        self.grid.show_words(words)

    def ask(self) -> None:
        """Hide the words and ask for two."""
        self._numbers = tuple(sorted(SystemRandom().sample(range(1, WORDS + 1), ASKED)))
        for number, label, line in zip(self._numbers, self._labels, self.lines, strict=True):
            label.setText(self.tr("Word {number}").format(number=number))
            line.setAccessibleName(label.text())
        self._note.setText(self.tr("To be sure that the paper is right, type two of its words."))
        self._stack.setCurrentIndex(1)
        self.lines[0].setFocus()

    @property
    def asked(self) -> tuple[int, ...]:
        """The numbers of the words that are asked for."""
        return self._numbers

    @property
    def is_right(self) -> bool:
        """Whether the words that were asked for are typed."""
        typed = [line.text().strip().lower() for line in self.lines]
        return bool(self._numbers) and typed == [self._words[at - 1] for at in self._numbers]

    def forget(self) -> None:
        """Show dots again, and hold no word."""
        self._words, self._numbers = (), ()
        self.grid.show_words(())
        for line in self.lines:
            line.clear()
        self._stack.setCurrentIndex(0)
        self._explain()

    def _explain(self) -> None:
        self._note.setText(
            self.tr(
                "Write them on paper in this order: no photo, no cloud. Nobody of Tequio will ever "
                "ask for them."
            )
        )
