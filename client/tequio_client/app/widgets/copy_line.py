"""A text to be copied, with the button that does it."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QWidget

from tequio_client.app.theme import fonts
from tequio_client.app.theme.fonts import Type
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.button import Button
from tequio_client.app.widgets.text import Line, Paragraph, Text

SAYS_MS = 2_000


class CopyLine(QWidget):
    """Shows a text, cut where it does not fit, and copies all of it.

    One that is written for a machine is not cut but broken, wherever the line ends.
    """

    def __init__(self, name: str, *, is_for_machine: bool = False) -> None:
        super().__init__()
        self._whole = ""
        self._text: Text = Line("", Type.BODY, "sub")
        if is_for_machine:
            self._text = Paragraph("", Type.CAPTION, "sub")
            self._text.setFont(fonts.mono())
        self.button = Button(self.tr("Copy"), "quiet", "copy")
        self.button.setAccessibleName(self.tr("Copy: {name}").format(name=name))
        self.button.clicked.connect(self._copy)
        self._said = QTimer(self)
        self._said.setSingleShot(True)
        self._said.setInterval(SAYS_MS)
        self._said.timeout.connect(lambda: self.button.show_as(self.tr("Copy"), "copy"))
        self._row = row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(10)
        row.addWidget(self._text, 1)
        row.addWidget(self.button)
        self.show_text("")

    def show_text(self, text: str) -> None:
        """Show that; nothing to copy where there is none."""
        self._whole = text or figures.ABSENT
        is_broken = self._text.wordWrap()
        self._text.setText("\u200b".join(self._whole) if is_broken else self._whole)
        self._text.setAccessibleName(self._whole)
        self.button.setEnabled(bool(text))

    def add(self, button: Button) -> None:
        """Add another deed behind the copying."""
        self._row.addWidget(button)

    @property
    def text(self) -> str:
        """What it shows."""
        return self._whole

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._whole)
        self.button.show_as(self.tr("Copied"), "check")
        self._said.start()
