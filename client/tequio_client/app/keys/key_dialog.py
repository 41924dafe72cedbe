"""What the dialogs about a key have in common: heading, body, a word of trouble, two buttons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout

from tequio_client.app.keys import problems
from tequio_client.app.theme.fonts import Type
from tequio_client.app.widgets.banner import Banner
from tequio_client.app.widgets.button import Button
from tequio_client.app.widgets.text import Paragraph, Text

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from tequio_client.keys.state import IdentityError

WIDTH = 560


class KeyDialog(QDialog):
    """A dialog of that heading; subclasses fill `body` and say what `main` does."""

    def __init__(self, heading: str, note: str, main: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(heading)
        self.setModal(True)
        self.setMinimumWidth(WIDTH)
        self.trouble = Banner("error")
        self.trouble.hide()
        self.main, self.leave = Button(main, "primary"), Button(self.tr("Cancel"))
        self.main.setDefault(True)
        self.leave.clicked.connect(self.reject)
        self.body = QVBoxLayout()
        self.body.setSpacing(12)
        column, feet = QVBoxLayout(self), QHBoxLayout()
        column.setContentsMargins(26, 22, 26, 22)
        column.setSpacing(14)
        column.addWidget(Text(heading, Type.TITLE))
        column.addWidget(Paragraph(note, tone="sub"))
        column.addLayout(self.body)
        column.addWidget(self.trouble)
        column.addStretch(1)
        feet.addStretch(1)
        feet.setSpacing(10)
        feet.addWidget(self.leave)
        feet.addWidget(self.main)
        column.addLayout(feet)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)

    def say_trouble(self, error: IdentityError) -> None:
        """Show what is wrong; what was typed stays."""
        self.trouble.show_words("error", problems.say(error))
        self.trouble.show()
        self.wait(is_busy=False)

    def wait(self, *, is_busy: bool) -> None:
        """Take no clicks while the key is worked on."""
        self.main.setEnabled(not is_busy)
        if is_busy:
            self.trouble.hide()
