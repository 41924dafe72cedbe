"""One entry of the side bar."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QPushButton, QSizePolicy, QStyle

from tequio_client.app.theme import icons, sizes
from tequio_client.app.theme.fonts import Type, font
from tequio_client.app.theme.look import tokens
from tequio_client.app.widgets.painting import focus_ring, painted

if TYPE_CHECKING:
    from PySide6.QtGui import QPainter

PADDING = (14, 10)
GAP = 11
MARK = (3, 16)


class NavButton(QPushButton):
    """Leads to a page; of those in one bar, one is checked."""

    def __init__(self, words: str, picture: str) -> None:
        super().__init__(words)
        self._picture = picture
        self.setCheckable(True)
        self.setAutoExclusive(True)
        self.setFont(font(Type.STRONG))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """Icon, gap and words, with room around."""
        words = self.fontMetrics().horizontalAdvance(self.text())
        width = PADDING[0] * 2 + sizes.ICON + GAP + words
        return QSize(width, self.fontMetrics().height() + PADDING[1] * 2)

    def minimumSizeHint(self) -> QSize:
        """The words may be cut."""
        return QSize(PADDING[0] * 2 + sizes.ICON, self.sizeHint().height())

    @painted
    def paintEvent(self, painter: QPainter) -> None:
        """Draw all of it."""
        self.draw(painter)

    def draw(self, painter: QPainter) -> None:
        """Draw ground, mark, icon and words."""
        colours, room = tokens(), QRectF(self.rect())
        if self.isChecked() or self.underMouse():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.hover))
            painter.drawRoundedRect(room, sizes.BUTTON_RADIUS, sizes.BUTTON_RADIUS)
        if self.isChecked():
            painter.setBrush(QColor(colours.accent))
            mark = QRectF(0, (room.height() - MARK[1]) / 2, *MARK)
            painter.drawRoundedRect(self._mirrored(mark), MARK[0] / 2, MARK[0] / 2)
        picture = QRectF(PADDING[0], (room.height() - sizes.ICON) / 2, sizes.ICON, sizes.ICON)
        drawn = colours.text_accent if self.isChecked() else colours.text_sub
        icons.draw(painter, self._picture, drawn, self._mirrored(picture))
        self._write(painter, room)
        if self.hasFocus():
            focus_ring(painter, room, sizes.BUTTON_RADIUS)

    def _write(self, painter: QPainter, room: QRectF) -> None:
        start = PADDING[0] + sizes.ICON + GAP
        place = self._mirrored(room.adjusted(start, 0, -PADDING[0], 0))
        words = self.fontMetrics().elidedText(
            self.text(), Qt.TextElideMode.ElideRight, int(place.width())
        )
        painter.setFont(self.font())
        painter.setPen(QColor(tokens().text if self.isChecked() else tokens().text_sub))
        side = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeading
        painter.drawText(place, QStyle.visualAlignment(self.layoutDirection(), side), words)

    def _mirrored(self, place: QRectF) -> QRectF:
        if self.layoutDirection() is Qt.LayoutDirection.LeftToRight:
            return place
        return QRectF(self.width() - place.right(), place.y(), place.width(), place.height())
