"""A new passphrase, typed twice, or an old one, typed once."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QGridLayout, QLineEdit, QVBoxLayout, QWidget

from tequio_client.app.theme.fonts import Type, font
from tequio_client.app.widgets.text import Paragraph, Text

LEAST = 8
"""Characters, as `keys.backup` has it."""
GOOD = 16
"""From here on there is nothing to say about its length."""


UNLEARNED = (
    Qt.InputMethodHint.ImhSensitiveData
    | Qt.InputMethodHint.ImhNoPredictiveText
    | Qt.InputMethodHint.ImhNoAutoUppercase
)
"""For whatever takes a secret in plain letters: keyboards on the screen keep and guess words."""


class SecretLine(QLineEdit):
    """A line whose letters are dots until somebody wants to see them."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setFont(font(Type.BODY))
        self.setEchoMode(QLineEdit.EchoMode.Password)
        self.setMinimumWidth(200)

    def reveal(self, is_shown: bool) -> None:  # noqa: FBT001 - Qt's signal
        """Show the letters, or dots."""
        mode = QLineEdit.EchoMode.Normal if is_shown else QLineEdit.EchoMode.Password
        self.setEchoMode(mode)
        if is_shown:  # dots have the same hints by themselves, letters have none
            self.setInputMethodHints(UNLEARNED)


class NewPassphrase(QWidget):
    """Two lines that have to say the same, and a sentence about what is typed."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.first = SecretLine(self.tr("Passphrase"))
        self.second = SecretLine(self.tr("The same passphrase again"))
        self.shown = QCheckBox(self.tr("Show what I type"))
        self._word = Paragraph("", Type.CAPTION, "sub")
        lines, column = QGridLayout(), QVBoxLayout(self)
        column.setContentsMargins(0, 6, 0, 4)
        column.setSpacing(8)
        lines.setHorizontalSpacing(12)
        lines.setVerticalSpacing(4)
        for at, line in enumerate((self.first, self.second)):
            lines.addWidget(Text(line.accessibleName(), Type.CAPTION, "sub"), 0, at)
            lines.addWidget(line, 1, at)
            line.textChanged.connect(self._follow)
            self.shown.toggled.connect(line.reveal)
        column.addLayout(lines)
        column.addWidget(self.shown)
        column.addWidget(self._word)
        self._follow()

    @property
    def value(self) -> str | None:
        """The passphrase; None: not a good one yet, or not the same twice."""
        first = self.first.text()
        return first if len(first) >= LEAST and first == self.second.text() else None

    @property
    def words(self) -> str:
        """What it says about what is typed."""
        return self._word.text()

    def clear(self) -> None:
        """Forget what was typed."""
        for line in (self.first, self.second):
            line.clear()
        self.shown.setChecked(False)

    def _follow(self) -> None:
        first, second = self.first.text(), self.second.text()
        if second and first != second:
            said, tone = self.tr("The two are not the same."), "warn"
        elif first and len(first) < LEAST:
            said, tone = self.tr("At least {least} characters.").format(least=LEAST), "warn"
        elif first and len(first) < GOOD:
            said, tone = self.tr("Longer is safer: four or five unrelated words do well."), "sub"
        else:
            said = self.tr("Nobody can reset it: without it the key cannot be opened.")
            tone = "sub"
        self._word.setText(said)
        self._word.set_tone(tone)
        self.changed.emit()
