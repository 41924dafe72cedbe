"""Inputs for secrets, and the choice of how to store a key on this computer."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QGridLayout, QLineEdit, QRadioButton, QWidget

from tequio_client.app.theme.style import TextStyle, font
from tequio_client.app.widgets.base import Label, caption, fill, mirrored, vbox
from tequio_client.app.widgets.buttons import check_only
from tequio_client.app.widgets.messages import Banner
from tequio_client.keys.state import KeyProtection

LEAST_PASSPHRASE = 8
"""Characters, the same as in `keys.backup`."""
GOOD_PASSPHRASE = 16
"""A passphrase of this length gets no advice."""
BACKUP_WORDS = 24
"""Words of a key's backup."""
SECRET_INPUT_HINTS = (
    Qt.InputMethodHint.ImhSensitiveData
    | Qt.InputMethodHint.ImhNoPredictiveText
    | Qt.InputMethodHint.ImhNoAutoUppercase
)
"""For fields with a secret in plain letters: on-screen keyboards learn and predict words."""
INDENT = 27


class SecretLine(QLineEdit):
    """A line edit for a secret, with dots instead of letters until they are revealed."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setFont(font(TextStyle.BODY))
        self.setEchoMode(QLineEdit.EchoMode.Password)
        self.setMinimumWidth(200)

    def reveal(self, is_shown: bool) -> None:  # noqa: FBT001 - Qt's signal
        mode = QLineEdit.EchoMode.Normal if is_shown else QLineEdit.EchoMode.Password
        self.setEchoMode(mode)
        if is_shown:  # dots have the same hints by themselves, letters have none
            self.setInputMethodHints(SECRET_INPUT_HINTS)


class NewPassphrase(QWidget):
    """A new passphrase, typed twice, with advice."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.first = SecretLine(self.tr("Passphrase"))
        self.second = SecretLine(self.tr("Repeat the passphrase"))
        self.shown = QCheckBox(self.tr("Show what I type"))
        self.advice = caption()
        lines = QGridLayout()
        lines.setHorizontalSpacing(12)
        lines.setVerticalSpacing(4)
        for at, line in enumerate((self.first, self.second)):
            lines.addWidget(Label(line.accessibleName(), TextStyle.CAPTION, "sub"), 0, at)
            lines.addWidget(line, 1, at)
            line.textChanged.connect(self._follow)
            self.shown.toggled.connect(line.reveal)
        vbox(lines, self.shown, self.advice, spacing=8, margins=(0, 6, 0, 4), parent=self)
        self._follow()

    @property
    def value(self) -> str | None:
        """The passphrase; None: too short, or the two lines differ."""
        first = self.first.text()
        return first if len(first) >= LEAST_PASSPHRASE and first == self.second.text() else None

    def clear(self) -> None:
        for line in (self.first, self.second):
            line.clear()
        self.shown.setChecked(False)

    def _follow(self) -> None:
        first, second = self.first.text(), self.second.text()
        tone = "warn"
        if second and first != second:
            advice = self.tr("The two are not the same.")
        elif first and len(first) < LEAST_PASSPHRASE:
            advice = self.tr("At least {least} characters.").format(least=LEAST_PASSPHRASE)
        elif first and len(first) < GOOD_PASSPHRASE:
            advice, tone = self.tr("Longer is safer: four or five unrelated words do well."), "sub"
        else:
            advice = self.tr("Nobody can reset it: without it the key cannot be opened.")
            tone = "sub"
        self.advice.setText(advice)
        self.advice.set_tone(tone)
        self.changed.emit()


class ProtectionPanel(QWidget):
    """The choice of how to store the key: keyring, passphrase or plain file. The last one warns."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        ways = {
            KeyProtection.KEYRING: (
                self.tr("In this system's keyring"),
                self.tr(
                    "Unlocked automatically while you are logged in. The file alone is worth "
                    "nothing."
                ),
            ),
            KeyProtection.PASSPHRASE: (
                self.tr("Under a passphrase"),
                self.tr(
                    "Tequio asks for it at each start, so it can't start lending "
                    "automatically at login."
                ),
            ),
            KeyProtection.OPEN: (
                self.tr("In an unencrypted file"),
                self.tr(
                    "Only your user account can read it. For servers and computers that "
                    "nobody else uses."
                ),
            ),
        }
        self.rows = {way: QRadioButton(name) for way, (name, _) in ways.items()}
        self._notes = {way: caption(note) for way, (_, note) in ways.items()}
        self.passphrase = NewPassphrase()
        self.warning = Banner(
            "warning",
            self.tr(
                "Not encrypted: any program that you run can read the key and take your points, "
                "and so can anyone with a copy of this disk or of your files."
            ),
        )
        column = vbox(spacing=3, parent=self)
        for way, row in self.rows.items():
            row.setFont(font(TextStyle.STRONG))
            row.setAccessibleDescription(self._notes[way].text())
            row.clicked.connect(lambda _=False, way=way: self._choose(way))
            fill(column, row, _indented(self._notes[way]))
            if way is KeyProtection.PASSPHRASE:
                column.addWidget(_indented(self.passphrase))
            column.addSpacing(6)
        column.addWidget(self.warning)
        self.passphrase.changed.connect(self.changed)
        self._choose(KeyProtection.KEYRING)

    def offer_keyring(self, *, is_there: bool) -> None:
        for part in (self.rows[KeyProtection.KEYRING], self._notes[KeyProtection.KEYRING]):
            part.setVisible(is_there)
        if not is_there and self.choice is KeyProtection.KEYRING:
            self._choose(KeyProtection.PASSPHRASE)

    def withdraw_keyring(self, _error: object) -> None:
        """Offer no keyring; for the key service's callback."""
        self.offer_keyring(is_there=False)

    @property
    def checked_row(self) -> QRadioButton:
        return self.rows[self.choice]

    @property
    def choice(self) -> KeyProtection:
        return next(way for way, row in self.rows.items() if row.isChecked())

    @property
    def is_ready(self) -> bool:
        return self.choice is not KeyProtection.PASSPHRASE or self.passphrase.value is not None

    @property
    def chosen_passphrase(self) -> str | None:
        """The passphrase, if the chosen storage uses one."""
        return self.passphrase.value if self.choice is KeyProtection.PASSPHRASE else None

    def _choose(self, chosen: KeyProtection) -> None:
        check_only(self.rows, chosen)
        self.passphrase.setVisible(self.choice is KeyProtection.PASSPHRASE)
        self.warning.setVisible(self.choice is KeyProtection.OPEN)
        self.changed.emit()


def _indented(part: QWidget) -> QWidget:
    part.setContentsMargins(*mirrored(INDENT, 0, 0, 0))
    return part
