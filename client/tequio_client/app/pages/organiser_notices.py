"""Notices of organisers to a run's volunteers, and to the whole network, on the Home page.

Texts come from the log, and are shown as plain text: nothing in them becomes a link. An
announcement can be dismissed and stays dismissed; another one is shown again. The reason of a pause
stays as long as the pause.
"""

from __future__ import annotations

from functools import partial

from PySide6.QtWidgets import QWidget

from tequio_client.app.settings_file import SettingsStore
from tequio_client.app.widgets.base import vbox
from tequio_client.app.widgets.messages import Banner
from tequio_client.ipc.snapshot import CurrentRoundView, LedgerView

MOST_DISMISSED = 64
_RUN_LETTERS = 16


class OrganiserNotices(QWidget):
    """Three banners; `settings` keeps what was dismissed, or None: only until the window closes."""

    def __init__(self, settings: SettingsStore | None) -> None:
        super().__init__()
        self._settings = settings
        self._dismissed: tuple[str, ...] = settings.settings.notices_read if settings else ()
        self._keys: dict[Banner, str] = {}  # of the announcements in force
        self.network, self.pause, self.announcement = Banner(), Banner(), Banner()
        for banner in (self.network, self.announcement):
            banner.button.clicked.connect(partial(self._dismiss, banner))
        vbox(self.network, self.pause, self.announcement, spacing=10, parent=self)
        self.show_notices(LedgerView(), None)

    def show_notices(self, ledger: LedgerView, current: CurrentRoundView | None) -> None:
        """Show those of the network and of the run; None: in no run."""
        self._announce(
            self.network,
            ledger.announcement_key,
            self.tr("From the organisers of this network: {text}").format(text=ledger.announcement),
        )
        name = current.run_name or current.run if current else ""
        reason = current.pause_reason if current else ""
        text = current.announcement if current else ""
        if reason:
            words = self.tr("{run} is paused by its organisers: {text}")
            self.pause.show_words("info", words.format(run=name, text=reason))
        self.pause.setVisible(bool(reason))
        words = self.tr("From the organisers of {run}: {text}").format(run=name, text=text)
        self._announce(self.announcement, _key(current) if current and text else "", words)
        self._hide_if_empty()

    def _announce(self, banner: Banner, key: str, words: str) -> None:
        """Show an announcement unless it was dismissed; an empty key: there is none."""
        self._keys[banner] = key
        if key:
            banner.show_words("info", words, self.tr("Dismiss"))
        banner.setVisible(bool(key) and key not in self._dismissed)

    def _dismiss(self, banner: Banner) -> None:
        self._dismissed = (*self._dismissed, self._keys[banner])[-MOST_DISMISSED:]
        if self._settings is not None:
            self._settings.change(notices_read=self._dismissed)
        banner.hide()
        self._hide_if_empty()

    def _hide_if_empty(self) -> None:
        banners = (self.network, self.pause, self.announcement)
        self.setVisible(any(one.isVisibleTo(self) for one in banners))


def _key(current: CurrentRoundView) -> str:
    return f"{current.run[:_RUN_LETTERS]} {current.announcement_entry}"
