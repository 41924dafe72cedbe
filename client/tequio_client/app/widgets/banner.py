"""A sentence that wants to be read now, with what can be done about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from tequio_client.app.theme import icons, sizes
from tequio_client.app.theme.look import tokens
from tequio_client.app.widgets.button import Button
from tequio_client.app.widgets.painting import painted
from tequio_client.app.widgets.text import Paragraph

if TYPE_CHECKING:
    from PySide6.QtGui import QPainter

LEVELS = {
    "info": ("info", "text_accent"),
    "good": ("circle-check", "ok"),
    "warning": ("triangle-alert", "warn"),
    "error": ("octagon-x", "danger"),
}


class Banner(QFrame):
    """A banner of one level (`info`, `good`, `warning`, `error`)."""

    def __init__(self, level: str = "info", words: str = "", button: str = "") -> None:
        super().__init__()
        self.setProperty("kind", "banner")
        self._picture, self._words = LevelIcon(), Paragraph()
        self.button = Button("")
        row = QHBoxLayout(self)
        row.setContentsMargins(*sizes.CARD_MARGINS)
        row.setSpacing(12)
        row.addWidget(self._picture)
        row.addWidget(self._words, 1)
        row.addWidget(self.button)
        self.show_words(level, words, button)

    def show_words(self, level: str, words: str, button: str = "") -> None:
        """Say this from now on; no button without a word on it."""
        if self.property("level") != level:
            self.setProperty("level", level)
            self.style().unpolish(self)
            self.style().polish(self)
        self._picture.show_level(level)
        self._words.setText(words)
        self.button.setText(button)
        self.button.setVisible(bool(button))
        self.setAccessibleName(words)

    @property
    def words(self) -> str:
        """What it says."""
        return self._words.text()


class LevelIcon(QWidget):
    """The level's picture."""

    def __init__(self) -> None:
        super().__init__()
        self._level = "info"
        self.setFixedSize(QSize(20, 20))

    def show_level(self, level: str) -> None:
        """Show that one."""
        self._level = level
        self.update()

    @painted
    def paintEvent(self, painter: QPainter) -> None:
        """Draw it."""
        name, ink = LEVELS[self._level]
        icons.draw(painter, name, getattr(tokens(), ink), self.rect().toRectF())
