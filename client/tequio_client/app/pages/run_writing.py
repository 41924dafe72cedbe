"""What a run's model writes, by what the log says: text of a machine, and shown as nothing else."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QVBoxLayout, QWidget

from tequio_client.app.theme.fonts import Type
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.text import Paragraph, Text

if TYPE_CHECKING:
    from tequio_client.link.questions import SampleShown

_LONG_WORD = re.compile(r"(\S{24})(?=\S)")
LINES = 12
"""Most lines of a text that are shown: a model may write nothing but ends of lines."""


class RunWriting(QWidget):
    """The newest sample: the beginning that the model was given, and how it goes on."""

    def __init__(self) -> None:
        super().__init__()
        self.note = Paragraph("", Type.CAPTION, "sub")
        self.prompt, self.text = Paragraph(), Paragraph()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        for part in (
            Text(self.tr("What the model writes"), Type.STRONG),
            self.note,
            Text(self.tr("Held-out text"), Type.CAPTION, "sub"),
            self.prompt,
            Text(self.tr("The model goes on"), Type.CAPTION, "sub"),
            self.text,
        ):
            column.addWidget(part)
        self.hide()

    def show_sample(self, sample: SampleShown | None) -> None:
        """Show that, or nothing at all."""
        self.setVisible(sample is not None)
        if sample is None:
            return
        note = self.tr("After round {number}. These are a model's words and nobody's opinion.")
        self.note.setText(note.format(number=figures.count(sample.round)))
        self.prompt.setText(_fitted(sample.prompt))
        ends = self.tr("Nothing: to the model the text ends there.")
        self.text.setText(_fitted(sample.text) or ends)


def _fitted(text: str) -> str:
    """Some lines of the text, with places to break in words that are wider than the card."""
    lines = text.strip("\n").split("\n")
    shown = "\n".join(lines[:LINES]) + ("\n…" if len(lines) > LINES else "")
    return _LONG_WORD.sub("\\1\u200b", shown)
