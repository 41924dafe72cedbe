"""What stands where there is nothing yet: why, what will come, and the way there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from tequio_client.app.theme.fonts import Type
from tequio_client.app.widgets.button import Button
from tequio_client.app.widgets.stat_card import Tile
from tequio_client.app.widgets.text import Paragraph

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

WIDEST = 420


class EmptyState(QWidget):
    """A picture, a heading, a sentence; `button` is there if it was named."""

    def __init__(self, picture: str, heading: str, words: str, button: str = "") -> None:
        super().__init__()
        self._heading, self._words = Paragraph(heading, Type.HEADING), Paragraph(words, tone="sub")
        self.button = Button(button, "primary")
        self._column = column = QVBoxLayout(self)
        column.setSpacing(8)
        column.addStretch(1)
        column.addWidget(Tile(picture), 0, Qt.AlignmentFlag.AlignHCenter)
        for part in (self._heading, self._words):
            part.setAlignment(Qt.AlignmentFlag.AlignCenter)
            column.addWidget(part)
        column.addWidget(self.button, 0, Qt.AlignmentFlag.AlignHCenter)
        self.button.setVisible(bool(button))
        column.addStretch(1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep lines short enough to read."""
        super().resizeEvent(event)
        beside = max((self.width() - WIDEST) // 2, 8)
        self._column.setContentsMargins(beside, 8, beside, 8)

    def minimumSizeHint(self) -> QSize:
        """What its parts need: the room beside them is only there if it is."""
        hint, beside = super().minimumSizeHint(), self._column.contentsMargins().left()
        return QSize(hint.width() - 2 * beside + 16, hint.height())

    def show_words(self, heading: str, words: str) -> None:
        """Say this from now on."""
        self._heading.setText(heading)
        self._words.setText(words)

    @property
    def words(self) -> str:
        """Its sentence."""
        return self._words.text()
