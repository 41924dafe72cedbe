"""The card about the current key, for the first run and the settings."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout

from tequio_client.app.keys.backup import BackupDialog
from tequio_client.app.keys.dialogs import KeyDialog, ProtectionDialog, RestoreDialog
from tequio_client.app.keys.service import KeyService
from tequio_client.app.theme.style import TextStyle
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import Card, ElidedLabel, IconLabel, WrappedLabel
from tequio_client.app.widgets.buttons import Button
from tequio_client.app.widgets.indicators import Chip
from tequio_client.keys.state import KeyProtection, KeyState

SHOWN_CHARACTERS = 16
"""Characters of a key that people compare."""


class KeyCard(Card):
    """The key's name, storage and backup; inside another card it has no frame of its own."""

    def __init__(self, desk: KeyService, *, is_framed: bool = True) -> None:
        super().__init__()
        if not is_framed:
            self.setProperty("kind", "plain")
            self.body.setContentsMargins(0, 4, 0, 4)
        self._desk = desk
        self.dialog: KeyDialog | None = None
        self._key, self._kept = ElidedLabel("", TextStyle.HEADING), WrappedLabel("", tone="sub")
        self.chip = Chip("", "triangle-alert", "warn")
        self._advice = WrappedLabel("", tone="sub")
        self.words = Button(self.tr("24 words…"), picture="notebook-pen")
        self.file = Button(self.tr("Save a file…"), picture="save")
        self.change_protection = Button(self.tr("Change how it's stored…"), "quiet")
        self.restore = Button(self.tr("Restore another…"), "quiet")
        self._lay_out()
        self.words.clicked.connect(lambda: self._back_up("words"))
        self.file.clicked.connect(lambda: self._back_up("file"))
        self.change_protection.clicked.connect(lambda: self._open(ProtectionDialog(desk, self)))
        self.restore.clicked.connect(lambda: self._open(RestoreDialog(desk, self)))
        desk.changed.connect(self.show_state)
        self.show_state(desk.state)

    def show_state(self, state: KeyState) -> None:
        key = state.record.key
        unnamed = (
            self.tr("A sealed key")
            if state.protection is not KeyProtection.ABSENT
            else self.tr("No key")
        )
        self._key.setText(f"{key[:SHOWN_CHARACTERS]}…" if key else unnamed)
        self._key.setAccessibleDescription(key)
        for button in (self.words, self.file, self.change_protection):
            button.setEnabled(state.protection is not KeyProtection.ABSENT)
        self._kept.setText(
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
        self._kept.set_tone("warn" if state.protection is KeyProtection.OPEN else "sub")
        self._show_backup(state)

    def _show_backup(self, state: KeyState) -> None:
        is_there = state.protection is not KeyProtection.ABSENT
        self.chip.setVisible(is_there)
        self._advice.setVisible(is_there)
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
        self._advice.setText(self.tr("You can make as many backups as you like; all stay good."))

    def _back_up(self, way: str) -> None:
        self._open(BackupDialog(self._desk, self, way))

    def _open(self, dialog: KeyDialog) -> None:
        self.dialog = dialog
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _lay_out(self) -> None:
        head, names, feet = QHBoxLayout(), QVBoxLayout(), QHBoxLayout()
        head.setSpacing(14)
        names.setSpacing(1)
        names.addWidget(self._key)
        names.addWidget(self._kept)
        head.addWidget(IconLabel("key-round", QSize(24, 24), "accent"))
        head.addLayout(names, 1)
        head.addWidget(self.chip)
        feet.setSpacing(10)
        for button in (self.words, self.file):
            feet.addWidget(button)
        feet.addStretch(1)
        for button in (self.change_protection, self.restore):
            feet.addWidget(button)
        self.body.setSpacing(12)
        self.body.addLayout(head)
        self.body.addWidget(self._advice)
        self.body.addLayout(feet)
