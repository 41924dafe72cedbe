"""Opens the first run over the window, automatically or on request."""

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
    """Owns the draft, and covers one window with the first run."""

    finished = Signal()
    """The first run was completed."""

    def __init__(self, window: Window, desk: KeyDesk, folder: Path, settings: Path) -> None:
        """`folder` is the worker's, `settings` that of the app's settings."""
        super().__init__(window)
        self._window, self._desk, self._folder = window, desk, folder
        self._book = DraftBook(settings, self)

    def open(self) -> None:
        """Cover the window's pages with the first run, at the step where it was left."""
        self._window.cover(self._make)

    def choose_run(self, run: str) -> None:
        """Preselect the run of an invitation."""
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
