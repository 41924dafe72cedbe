"""One of a few choices that want a sentence each: a card with its name and what it means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QPen
from PySide6.QtWidgets import QRadioButton, QSizePolicy

from tequio_client.app.theme import icons, sizes
from tequio_client.app.theme.fonts import Type, font
from tequio_client.app.theme.look import tokens
from tequio_client.app.widgets.columns import Columns
from tequio_client.app.widgets.painting import focus_ring, painted

if TYPE_CHECKING:
    from PySide6.QtCore import QPoint
    from PySide6.QtGui import QPainter

PADDING = 13
LEAST = 150
BETWEEN = 5
WRAPPED = Qt.TextFlag.TextWordWrap
TALLEST = 10_000


class ChoiceCard(QRadioButton):
    """A card that can be chosen."""

    def __init__(self, name: str, note: str) -> None:
        super().__init__(name)
        self._note = note
        self.setAccessibleName(name)
        self.setAccessibleDescription(note)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setMinimumWidth(LEAST)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def hasHeightForWidth(self) -> bool:
        """The note breaks its lines."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Room for name and note."""
        return sum(self._heights(width)) + BETWEEN + 2 * PADDING

    def sizeHint(self) -> QSize:
        """A calm proportion."""
        return QSize(LEAST + 50, self.heightForWidth(LEAST + 50))

    def minimumSizeHint(self) -> QSize:
        """Room for all of the note."""
        return QSize(LEAST, self.heightForWidth(max(self.width(), LEAST)))

    def hitButton(self, at: QPoint) -> bool:
        """All of it can be clicked."""
        return self.rect().contains(at)

    @painted
    def paintEvent(self, painter: QPainter) -> None:
        """Draw ground, name, note and the mark of the chosen one."""
        colours, room = tokens(), QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        is_on = self.isChecked()
        painter.setPen(QPen(QColor(colours.accent if is_on else colours.edge), 1.5 if is_on else 1))
        ground = colours.hover if self.underMouse() else colours.page
        painter.setBrush(QColor(colours.accent_soft if is_on else ground))
        painter.drawRoundedRect(room, sizes.BUTTON_RADIUS, sizes.BUTTON_RADIUS)
        high, _ = self._heights(self.width())
        words = room.adjusted(PADDING, PADDING, -PADDING, -PADDING)
        painter.setFont(font(Type.STRONG))
        painter.setPen(QColor(colours.text_accent if is_on else colours.text))
        side = Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignTop
        painter.drawText(words, int(side | WRAPPED), self.text())
        painter.setFont(font(Type.CAPTION))
        painter.setPen(QColor(colours.text_sub))
        note = words.adjusted(0, high + BETWEEN, 0, PADDING)
        painter.drawText(note, int(side | WRAPPED), self._note)
        if is_on:
            self._draw_mark(painter, words)
        if self.hasFocus():
            focus_ring(painter, QRectF(self.rect()), sizes.BUTTON_RADIUS)

    def _draw_mark(self, painter: QPainter, words: QRectF) -> None:
        is_mirrored = self.layoutDirection() is Qt.LayoutDirection.RightToLeft
        left = words.left() if is_mirrored else words.right() - 16
        icons.draw(painter, "circle-check", tokens().text_accent, QRectF(left, words.top(), 16, 16))

    def _heights(self, width: int) -> tuple[int, int]:
        inner = width - 2 * PADDING - 1
        return (
            _height(self.text(), Type.STRONG, inner - 20),
            _height(self._note, Type.CAPTION, inner),
        )


def _height(words: str, kind: Type, width: int) -> int:
    rect = QFontMetrics(font(kind)).boundingRect(0, 0, width, TALLEST, int(WRAPPED), words)
    return rect.height()


class ChoiceCards(Columns):
    """Cards of which one is chosen, or none."""

    chosen = Signal(str)
    """The name of the one that was chosen by hand."""

    def __init__(self, name: str, choices: dict[str, tuple[str, str]]) -> None:
        super().__init__(gap=10)
        self.setAccessibleName(name)
        self.cards = {key: ChoiceCard(*said) for key, said in choices.items()}
        for key, card in self.cards.items():
            card.setAutoExclusive(False)
            card.clicked.connect(lambda _=False, key=key: self.chosen.emit(key))
        self.hold(tuple(self.cards.values()))

    def choose(self, chosen: str) -> None:
        """Show that one as chosen; a name that is not among them: none."""
        for key, card in self.cards.items():
            card.setChecked(key == chosen)
