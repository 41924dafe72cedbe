"""The head of a page: what it is, a sentence about it, and the controls of the whole page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from tequio_client.app.theme.fonts import Type
from tequio_client.app.widgets.columns import Columns
from tequio_client.app.widgets.text import Paragraph, Text

if TYPE_CHECKING:
    from collections.abc import Sequence

SAYINGS = 260
"""Pixels that the words need beside the controls."""


class PageHead(Columns):
    """Title and sentence, with the controls behind or below them."""

    def __init__(self, title: str, words: str, controls: Sequence[QWidget] = ()) -> None:
        super().__init__(gap=10)
        self.title, self._words = Text(title, Type.TITLE), Paragraph(words, Type.CAPTION, "sub")
        self.title.setAccessibleName(title)
        parts = [self._sayings()]
        if controls:
            parts.append(_row(controls))
        self.hold(parts, shares=(1, 0)[: len(parts)])

    def say(self, words: str) -> None:
        """Say this below the title from now on."""
        self._words.setText(words)

    @property
    def words(self) -> str:
        """The sentence."""
        return self._words.text()

    def _sayings(self) -> QWidget:
        made = QWidget()
        made.setMinimumWidth(SAYINGS)
        column = QVBoxLayout(made)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(self.title)
        column.addWidget(self._words)
        return made


def _row(controls: Sequence[QWidget]) -> QWidget:
    made = QWidget()
    row = QHBoxLayout(made)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(10)
    for one in controls:
        row.addWidget(one, 0, Qt.AlignmentFlag.AlignVCenter)
    row.addStretch(1)
    return made
