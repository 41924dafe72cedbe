"""Opens the first run over the window, when it is wanted and when it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from tequio_client.app.first_run.first_run import FirstRun
from tequio_client.app.first_run.step import DraftBook

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_client.app.keys.service import KeyDesk
    from tequio_client.app.pages.page import Means
    from tequio_client.app.window import Window

HOME = "home"


class Guide(QObject):
    """One for each window."""

    finished = Signal()
    """It was gone through to the end."""

    def __init__(self, window: Window, desk: KeyDesk, folder: Path, settings: Path) -> None:
        """`folder` is the worker's, `settings` that of the app's settings."""
        super().__init__(window)
        self._window, self._desk, self._folder = window, desk, folder
        self._book = DraftBook(settings, self)

    def open(self) -> None:
        """Show it instead of the window's pages, where it was left."""
        self._window.cover(self._make)

    def choose_run(self, run: str) -> None:
        """Have that run chosen there: an invitation was to it."""
        self._book.change(run=run)

    def _make(self, means: Means) -> FirstRun:
        made = FirstRun(means, self._desk, self._folder, self._book)
        made.finished.connect(self._finish)
        made.left.connect(self._leave)
        return made

    def _finish(self) -> None:
        self._leave()
        self.finished.emit()

    def _leave(self) -> None:
        self._window.cover(None)
        self._window.open_page(HOME)
