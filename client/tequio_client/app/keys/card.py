"""The card about the current key, for the first run and the settings."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QLabel

from tequio_client.app.keys.backup import BackupDialog
from tequio_client.app.keys.dialogs import KeyDialog, ProtectionDialog, RestoreDialog
from tequio_client.app.keys.service import KeyService
from tequio_client.app.theme.icons import avatar
from tequio_client.app.theme.style import TextStyle
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import (
    Card,
    Columns,
    ElidedLabel,
    IconLabel,
    WrappedLabel,
    fill,
    hbox,
    holding,
    vbox,
)
from tequio_client.app.widgets.buttons import Button
from tequio_client.app.widgets.indicators import Chip
from tequio_client.keys.state import KeyProtection, KeyState

SHOWN_CHARACTERS = 16
"""Characters of a key that people compare."""
AVATAR = 32
"""Side of the key's picture, in pixels."""


class KeyCard(Card):
    """The key's name, storage and backup; inside another card it has no frame of its own."""

    def __init__(self, keys: KeyService, *, is_framed: bool = True) -> None:
        super().__init__()
        if not is_framed:
            self.setProperty("kind", "plain")
            self.body.setContentsMargins(0, 4, 0, 4)
        self._keys = keys
        self.dialog: KeyDialog | None = None
        self._key, self._storage = ElidedLabel("", TextStyle.HEADING), WrappedLabel("", tone="sub")
        self._icon, self._picture = IconLabel("key-round", QSize(24, 24), "accent"), QLabel()
        self.chip = Chip("", "triangle-alert", "warn")
        self._advice = WrappedLabel("", tone="sub")
        self.words = Button(self.tr("24 words…"), picture="notebook-pen")
        self.file = Button(self.tr("Save a file…"), picture="save")
        self.change_protection = Button(self.tr("Change how it's stored…"), "quiet")
        self.restore = Button(self.tr("Restore another…"), "quiet")
        self._lay_out()
        self.words.clicked.connect(lambda: self._open(BackupDialog(keys, self, "words")))
        self.file.clicked.connect(lambda: self._open(BackupDialog(keys, self, "file")))
        self.change_protection.clicked.connect(lambda: self._open(ProtectionDialog(keys, self)))
        self.restore.clicked.connect(lambda: self._open(RestoreDialog(keys, self)))
        keys.changed.connect(self.show_state)
        self.show_state(keys.state)

    def show_state(self, state: KeyState) -> None:
        key, has_key = state.record.key, state.protection is not KeyProtection.ABSENT
        unnamed = self.tr("A sealed key") if has_key else self.tr("No key")
        self._picture.setVisible(bool(key))
        self._icon.setVisible(not key)
        if key:
            size = QSize(AVATAR, AVATAR)
            self._picture.setPixmap(avatar(key, AVATAR).pixmap(size, self.devicePixelRatio()))
        self._key.setText(f"{key[:SHOWN_CHARACTERS]}…" if key else unnamed)
        self._key.setAccessibleDescription(key)
        for button in (self.words, self.file, self.change_protection):
            button.setEnabled(has_key)
        for part in (self.chip, self._advice):
            part.setVisible(has_key)
        self._storage.setText(
            {
                KeyProtection.ABSENT: self.tr("You don't have a key yet."),
                KeyProtection.KEYRING: self.tr(
                    "Kept in this system's keyring: the file alone is worth nothing."
                ),
                KeyProtection.PASSPHRASE: self.tr(
                    "Kept under your passphrase, which is asked at each start."
                ),
                KeyProtection.OPEN: self.tr(
                    "Stored unencrypted, in a file only your user account can read."
                ),
            }[state.protection]
        )
        self._storage.set_tone("warn" if state.protection is KeyProtection.OPEN else "sub")
        self._show_backup(state)

    def _show_backup(self, state: KeyState) -> None:
        if state.wants_backup:
            self.chip.set_label(self.tr("No backup yet"), "triangle-alert", "warn")
            self._advice.setText(
                self.tr(
                    "Back it up now, or later: until then Home reminds you. If this disk fails "
                    "without a backup, your points cannot be claimed."
                )
            )
            return
        day = figures.day(state.record.backup_ms)
        texts = {
            "words": self.tr("Backed up as words, {day}"),
            "file": self.tr("Backed up as a file, {day}"),
        }.get(state.record.backup, "")
        self.chip.set_label(texts.format(day=day), "circle-check", "ok")
        self._advice.setText(self.tr("You can make as many backups as you like; all remain valid."))

    def _open(self, dialog: KeyDialog) -> None:
        self.dialog = dialog
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _lay_out(self) -> None:
        names = vbox(self._key, self._storage, spacing=1)
        head = hbox(self._icon, self._picture, (names, 1), self.chip, spacing=14)
        backups = hbox(self.words, self.file, None, spacing=10)
        changes = hbox(self.change_protection, self.restore, None, spacing=10)
        buttons = Columns(gap=10)
        buttons.set_parts((holding(backups), holding(changes)), shares=(1, 0))
        self.body.setSpacing(12)
        fill(self.body, head, self._advice, buttons)
