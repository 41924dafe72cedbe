"""A surface that holds what belongs together."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout

from tequio_client.app.theme import sizes
from tequio_client.app.theme.fonts import Type
from tequio_client.app.widgets.text import Line, Text


class Card(QFrame):
    """A card; `body` takes what it holds, below its heading if it has one."""

    def __init__(self, heading: str = "", note: str = "") -> None:
        super().__init__()
        self.setProperty("kind", "card")
        self.body = QVBoxLayout(self)
        self.body.setContentsMargins(*sizes.CARD_MARGINS)
        self.body.setSpacing(8)
        if heading:
            self.title(heading, note)

    def title(self, heading: str, note: str = "") -> None:
        """Add a heading, and a note at its end; once."""
        head = QHBoxLayout()
        head.addWidget(Line(heading, Type.HEADING), 1)
        if note:
            head.addWidget(Text(note, Type.CAPTION, "sub"))
        self.body.addLayout(head)
