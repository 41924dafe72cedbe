"""The card about the current key, for the first run and the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout

from tequio_client.app.keys.backup import BackupDialog
from tequio_client.app.keys.dialogs import KeepDialog, RestoreDialog
from tequio_client.app.theme.style import Type
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import Card, Line, Paragraph, Picture
from tequio_client.app.widgets.buttons import Button
from tequio_client.app.widgets.indicators import Chip
from tequio_client.keys.state import Kept

if TYPE_CHECKING:
    from tequio_client.app.keys.dialogs import KeyDialog
    from tequio_client.app.keys.service import KeyDesk
    from tequio_client.keys.state import KeyState


SHOWN = 16
"""Characters of a key that people compare."""


class KeyCard(Card):
    """The key's name, storage and backup; inside another card it has no frame of its own."""

    def __init__(self, desk: KeyDesk, *, is_framed: bool = True) -> None:
        super().__init__()
        if not is_framed:
            self.setProperty("kind", "plain")
            self.body.setContentsMargins(0, 4, 0, 4)
        self._desk = desk
        self.dialog: KeyDialog | None = None
        self._key, self._kept = Line("", Type.HEADING), Paragraph("", tone="sub")
        self.chip = Chip("", "triangle-alert", "warn")
        self._advice = Paragraph("", tone="sub")
        self.words = Button(self.tr("24 words…"), picture="notebook-pen")
        self.file = Button(self.tr("Save a file…"), picture="save")
        self.keep = Button(self.tr("Change how it's stored…"), "quiet")
        self.restore = Button(self.tr("Restore another…"), "quiet")
        self._lay_out()
        self.words.clicked.connect(lambda: self._back_up("words"))
        self.file.clicked.connect(lambda: self._back_up("file"))
        self.keep.clicked.connect(lambda: self._open(KeepDialog(desk, self)))
        self.restore.clicked.connect(lambda: self._open(RestoreDialog(desk, self)))
        desk.changed.connect(self.show_state)
        self.show_state(desk.state)

    def show_state(self, state: KeyState) -> None:
        key = state.record.key
        unnamed = self.tr("A sealed key") if state.kept is not Kept.ABSENT else self.tr("No key")
        self._key.setText(f"{key[:SHOWN]}…" if key else unnamed)
        self._key.setAccessibleDescription(key)
        for button in (self.words, self.file, self.keep):
            button.setEnabled(state.kept is not Kept.ABSENT)
        self._kept.setText(
            {
                Kept.ABSENT: self.tr("You don't have a key yet."),
                Kept.KEYRING: self.tr(
                    "Kept in this system's keyring: the file alone is worth nothing."
                ),
                Kept.PASSPHRASE: self.tr(
                    "Kept under your passphrase, which is asked at each start."
                ),
                Kept.OPEN: self.tr(
                    "Stored unencrypted, in a file only your user account can read."
                ),
            }[state.kept]
        )
        self._kept.set_tone("warn" if state.kept is Kept.OPEN else "sub")
        self._show_backup(state)

    def _show_backup(self, state: KeyState) -> None:
        is_there = state.kept is not Kept.ABSENT
        self.chip.setVisible(is_there)
        self._advice.setVisible(is_there)
        if state.wants_backup:
            self.chip.show_as(self.tr("No backup yet"), "triangle-alert", "warn")
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
        self.chip.show_as(texts.format(day=day), "circle-check", "ok")
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
        head.addWidget(Picture("key-round", QSize(24, 24), "accent"))
        head.addLayout(names, 1)
        head.addWidget(self.chip)
        feet.setSpacing(10)
        for button in (self.words, self.file):
            feet.addWidget(button)
        feet.addStretch(1)
        for button in (self.keep, self.restore):
            feet.addWidget(button)
        self.body.setSpacing(12)
        self.body.addLayout(head)
        self.body.addWidget(self._advice)
        self.body.addLayout(feet)
