"""Text: always plain, so that a name from the network never becomes markup."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter
from PySide6.QtGui import Qt as QtText
from PySide6.QtWidgets import QLabel, QSizePolicy

from tequio_client.app.theme.fonts import Type, font
from tequio_client.app.widgets.painting import painted

if TYPE_CHECKING:
    from PySide6.QtGui import QPainter, QResizeEvent


LEAST_LETTERS = 14
"""Width of a paragraph, at least."""


def tip(words: str) -> str:
    """The words as a tool tip: what looks like markup Qt would read so, and load its pictures."""
    if not QtText.mightBeRichText(words):
        return words
    return words.replace("&lt;", "<").replace("<", "\u2039").replace(">", "\u203a")


class Text(QLabel):
    """Text of one kind and tone (`sub`, `accent`, `ok`, `warn`, `danger`)."""

    def __init__(self, words: str = "", kind: Type = Type.BODY, tone: str = "") -> None:
        super().__init__(words)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setFont(font(kind))
        self.setProperty("tone", tone)

    def set_tone(self, tone: str) -> None:
        """Write in another tone from now on."""
        if tone != self.property("tone"):
            self.setProperty("tone", tone)
            self.style().unpolish(self)
            self.style().polish(self)


class Paragraph(Text):
    """Text that breaks its lines to fit."""

    def __init__(self, words: str = "", kind: Type = Type.BODY, tone: str = "") -> None:
        super().__init__(words, kind, tone)
        self.setWordWrap(True)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def minimumSizeHint(self) -> QSize:
        """A few words wide, and as high as its text is at the width that it has."""
        least = self.fontMetrics().averageCharWidth() * LEAST_LETTERS
        return QSize(least, self.heightForWidth(max(self.width(), least)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Ask for another height at another width."""
        super().resizeEvent(event)
        if event.oldSize().width() != self.width():
            self.updateGeometry()


class Line(Text):
    """Text on one line, cut with an ellipsis where it does not fit; the tool tip has it whole."""

    def __init__(self, words: str = "", kind: Type = Type.BODY, tone: str = "") -> None:
        super().__init__(words, kind, tone)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def minimumSizeHint(self) -> QSize:
        """Room for a few letters."""
        metrics = self.fontMetrics()
        return QSize(min(metrics.averageCharWidth() * 6, self.sizeHint().width()), metrics.height())

    @painted
    def paintEvent(self, painter: QPainter) -> None:
        """Draw as much as fits."""
        room = self.contentsRect()
        shown = self.fontMetrics().elidedText(
            self.text(), Qt.TextElideMode.ElideRight, room.width()
        )
        self.setToolTip(tip(self.text()) if shown != self.text() else "")
        painter.setPen(self.palette().windowText().color())
        alignment = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeading
        painter.drawText(room, alignment, shown)
