"""One of several choices, of which only the chosen one is seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QListView

from tequio_client.app.theme.fonts import Type, font

if TYPE_CHECKING:
    from PySide6.QtGui import QWheelEvent


class Dropdown(QComboBox):
    """Choices by name, with their words."""

    chosen = Signal(str)
    """The name of what was chosen by hand."""

    def __init__(self, name: str, choices: dict[str, str]) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setFont(font(Type.BODY))
        self.setView(QListView())  # the style sheet reaches its items only so
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        for key, words in choices.items():
            self.addItem(words, key)
        self.activated.connect(lambda at: self.chosen.emit(self.itemData(at)))

    def choose(self, key: str) -> None:
        """Show that one as chosen; a name that is not among the choices changes nothing."""
        at = self.findData(key)
        if at >= 0:
            self.setCurrentIndex(at)

    @property
    def choice(self) -> str:
        """The name of the one that is chosen."""
        return str(self.currentData())

    def wheelEvent(self, event: QWheelEvent) -> None:
        """The wheel scrolls the page."""
        event.ignore()
