"""Notices of a run's organisers to its volunteers, above the round on the Home page.

Texts come from the log, and are shown as plain text: nothing in them becomes a link. An
announcement can be dismissed and stays dismissed; another one of the run is shown again. The reason
of a pause stays as long as the pause.
"""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from tequio_client.app.settings_file import SettingsStore
from tequio_client.app.widgets.base import vbox
from tequio_client.app.widgets.messages import Banner
from tequio_client.ipc.snapshot import CurrentRoundView

MOST_DISMISSED = 64
_RUN_LETTERS = 16


class OrganiserNotices(QWidget):
    """Two banners; `settings` keeps what was dismissed, or None: only until the window closes."""

    def __init__(self, settings: SettingsStore | None) -> None:
        super().__init__()
        self._settings = settings
        self._dismissed: tuple[str, ...] = settings.settings.notices_read if settings else ()
        self._shown = ""
        self.pause, self.announcement = Banner(), Banner()
        self.announcement.button.clicked.connect(self._dismiss)
        vbox(self.pause, self.announcement, spacing=10, parent=self)
        self.show_round(None)

    def show_round(self, current: CurrentRoundView | None) -> None:
        """None: in no run, and nothing is shown."""
        name = current.run_name or current.run if current else ""
        reason = current.pause_reason if current else ""
        text = current.announcement if current else ""
        self._shown = _key(current) if current and text else ""
        if reason:
            words = self.tr("{run} is paused by its organisers: {text}")
            self.pause.show_words("info", words.format(run=name, text=reason))
        if text:
            words = self.tr("From the organisers of {run}: {text}")
            told = words.format(run=name, text=text)
            self.announcement.show_words("info", told, self.tr("Dismiss"))
        is_new = bool(text) and self._shown not in self._dismissed
        self.pause.setVisible(bool(reason))
        self.announcement.setVisible(is_new)
        self.setVisible(bool(reason) or is_new)

    def _dismiss(self) -> None:
        self._dismissed = (*self._dismissed, self._shown)[-MOST_DISMISSED:]
        if self._settings is not None:
            self._settings.change(notices_read=self._dismissed)
        self.announcement.hide()
        self.setVisible(self.pause.isVisibleTo(self))


def _key(current: CurrentRoundView) -> str:
    return f"{current.run[:_RUN_LETTERS]} {current.announcement_entry}"
