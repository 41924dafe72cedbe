"""The 24 words of a key, numbered, to be written on paper: never to be copied or searched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QWidget

from tequio_client.app.theme.fonts import Type
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.card import Card
from tequio_client.app.widgets.text import Text

if TYPE_CHECKING:
    from collections.abc import Sequence

WORDS, COLUMNS = 24, 4
HIDDEN = "••••••"
NUMBER = 22


class WordsGrid(Card):
    """Rows of four; dots until it is told the words."""

    def __init__(self) -> None:
        super().__init__()
        grid = QGridLayout()
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(9)
        self._words = [Text(HIDDEN, Type.STRONG) for _ in range(WORDS)]
        for at, word in enumerate(self._words):
            grid.addWidget(_numbered(at + 1, word), at // COLUMNS, at % COLUMNS)
        self.body.addLayout(grid)
        self.show_words(())

    def show_words(self, words: Sequence[str]) -> None:
        """Show these; none: dots again."""
        for at, label in enumerate(self._words):
            label.setText(words[at] if words else HIDDEN)
            label.set_tone("" if words else "sub")
        said = self.tr("The 24 words") if words else self.tr("24 words, hidden")
        self.setAccessibleName(said)
        self.setAccessibleDescription(", ".join(words))


def _numbered(number: int, word: Text) -> QWidget:
    made = QWidget()
    row = QHBoxLayout(made)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(8)
    label = Text(figures.count(number), Type.CAPTION, "sub")
    label.setFixedWidth(NUMBER)
    label.setAlignment(Qt.AlignmentFlag.AlignTrailing | Qt.AlignmentFlag.AlignVCenter)
    row.addWidget(label)
    row.addWidget(word, 1)
    return made
