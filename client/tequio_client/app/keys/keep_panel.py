"""How a key shall be kept on this computer: by the keyring, under a passphrase, or in the open."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QRadioButton, QVBoxLayout, QWidget

from tequio_client.app.keys.passphrase import NewPassphrase
from tequio_client.app.theme.fonts import Type, font
from tequio_client.app.widgets.banner import Banner
from tequio_client.app.widgets.text import Paragraph
from tequio_client.keys.state import Kept

INDENT = 27


class KeepPanel(QWidget):
    """Three ways, each with its sentence; the last one warns."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        ways = {
            Kept.KEYRING: (
                self.tr("In this system's keyring"),
                self.tr(
                    "Unlocked automatically while you are logged in. The file alone is worth "
                    "nothing."
                ),
            ),
            Kept.PASSPHRASE: (
                self.tr("Under a passphrase"),
                self.tr(
                    "Tequio asks for it at each start, so it can't start lending "
                    "automatically at login."
                ),
            ),
            Kept.OPEN: (
                self.tr("In an unencrypted file"),
                self.tr(
                    "Only your user account can read it. For servers and computers that "
                    "nobody else uses."
                ),
            ),
        }
        self.rows = {way: QRadioButton(name) for way, (name, _) in ways.items()}
        self._notes = {way: Paragraph(note, Type.CAPTION, "sub") for way, (_, note) in ways.items()}
        self.passphrase = NewPassphrase()
        self.warning = Banner(
            "warning",
            self.tr(
                "Not sealed: a program that you run, a copy of this disk or a backup of your files "
                "can take the key, and with it your points."
            ),
        )
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(3)
        for way, row in self.rows.items():
            row.setFont(font(Type.STRONG))
            row.setAccessibleDescription(self._notes[way].text())
            row.toggled.connect(self._follow)
            column.addWidget(row)
            column.addWidget(_indented(self._notes[way]))
            if way is Kept.PASSPHRASE:
                column.addWidget(_indented(self.passphrase))
            column.addSpacing(6)
        column.addWidget(self.warning)
        self.passphrase.changed.connect(self.changed)
        self.rows[Kept.KEYRING].setChecked(True)
        self._follow()

    def offer_keyring(self, *, is_there: bool) -> None:
        """Offer the keyring only where there is one."""
        for part in (self.rows[Kept.KEYRING], self._notes[Kept.KEYRING]):
            part.setVisible(is_there)
        if not is_there and self.way is Kept.KEYRING:
            self.rows[Kept.PASSPHRASE].setChecked(True)

    @property
    def way(self) -> Kept:
        """The chosen one."""
        return next(way for way, row in self.rows.items() if row.isChecked())

    @property
    def is_ready(self) -> bool:
        """Whether nothing is missing."""
        return self.way is not Kept.PASSPHRASE or self.passphrase.value is not None

    @property
    def secret(self) -> str | None:
        """The passphrase, where it is one that keeps the key."""
        return self.passphrase.value if self.way is Kept.PASSPHRASE else None

    def _follow(self) -> None:
        if not any(row.isChecked() for row in self.rows.values()):
            return  # between two of them
        self.passphrase.setVisible(self.way is Kept.PASSPHRASE)
        self.warning.setVisible(self.way is Kept.OPEN)
        self.changed.emit()


def _indented(part: QWidget) -> QWidget:
    part.setContentsMargins(INDENT, 0, 0, 0)
    return part
