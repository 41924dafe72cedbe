"""A word that something was changed, with the way back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_client.app.widgets.toast import Toast

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget


class UndoToast(Toast):
    """A toast whose button takes the latest change back."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._undo: Callable[[], None] | None = None
        self.button.clicked.connect(self._take_back)

    def offer(self, words: str, undo: Callable[[], None]) -> None:
        """Say what was changed; `undo` takes it back, as long as this is seen."""
        self._undo = undo
        self.say(words, self.tr("Undo"))

    def _take_back(self) -> None:
        undo, self._undo = self._undo, None
        if undo is not None:
            undo()
