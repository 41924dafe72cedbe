"""One of several things in a list, as a button that stays chosen; it holds whatever shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPen
from PySide6.QtWidgets import QRadioButton, QSizePolicy, QVBoxLayout, QWidget

from tequio_client.app.theme import sizes
from tequio_client.app.theme.look import tokens
from tequio_client.app.widgets.painting import focus_ring, painted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from PySide6.QtCore import QPoint
    from PySide6.QtGui import QPainter

Row = TypeVar("Row", bound=QWidget)


def renewed(
    column: QVBoxLayout,
    old: dict[str, Row],
    names: Sequence[str],
    new: Callable[[str], Row],
    after: QWidget | None = None,
) -> dict[str, Row]:
    """Lay out a row for each name, behind `after` if there is one, and reached in that order.

    Rows of those that stay are kept, for one of them may have the keyboard; the others go.
    """
    for name in old.keys() - set(names):
        gone = old.pop(name)
        column.removeWidget(gone)
        gone.hide()
        gone.deleteLater()
    rows = {name: old[name] if name in old else new(name) for name in names}
    for row in rows.values():
        column.addWidget(row)
        if after is not None:
            QWidget.setTabOrder(after, row)
        after = row
    return rows


class ChoiceRow(QRadioButton):
    """A row; `body` takes what it shows. Of those with one parent, one is chosen."""

    def __init__(self) -> None:
        super().__init__()
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.body = QVBoxLayout(self)
        self.body.setContentsMargins(*sizes.CARD_MARGINS)
        self.body.setSpacing(7)

    def settle(self) -> None:
        """Let the mouse through all that it holds; to be called when that is whole."""
        for part in self.findChildren(QWidget):
            part.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def sizeHint(self) -> QSize:
        """What its parts need."""
        return self.body.sizeHint()

    def minimumSizeHint(self) -> QSize:
        """What its parts need at least."""
        return self.body.minimumSize()

    def hitButton(self, at: QPoint) -> bool:
        """All of it can be clicked."""
        return self.rect().contains(at)

    @painted
    def paintEvent(self, painter: QPainter) -> None:
        """Draw the ground and its edge."""
        colours, room = tokens(), QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        edge, ground = colours.hairline, colours.card
        if self.isChecked():
            edge, ground = colours.accent, colours.accent_soft
        elif self.underMouse():
            ground = colours.hover
        painter.setPen(QPen(QColor(edge), 1))
        painter.setBrush(QColor(ground))
        painter.drawRoundedRect(room, sizes.CARD_RADIUS, sizes.CARD_RADIUS)
        if self.hasFocus():
            focus_ring(painter, QRectF(self.rect()), sizes.CARD_RADIUS)
