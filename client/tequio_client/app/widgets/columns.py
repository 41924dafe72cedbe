"""Parts side by side, that go below each other where there is no room."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from tequio_client.app.theme import sizes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QResizeEvent


class Columns(QWidget):
    """Holds its parts in one row; where they do not fit, `folded` of them in each, or one."""

    def __init__(self, *, folded: int = 1, gap: int = sizes.GAP) -> None:
        super().__init__()
        self._parts: tuple[QWidget, ...] = ()
        self._shares: tuple[int, ...] = ()
        self._folded, self._columns = folded, 0
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(gap)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)

    def hold(self, parts: Sequence[QWidget], shares: Sequence[int] = ()) -> None:
        """Hold these, with such shares of the width; equal ones if none are named."""
        self._parts, self._shares = tuple(parts), tuple(shares) or (1,) * len(parts)
        self._lay(len(self._parts))

    @property
    def columns(self) -> int:
        """How many stand beside each other."""
        return self._columns

    def minimumSizeHint(self) -> QSize:
        """As narrow as with one in each row."""
        return QSize(self._needed(1), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fold or unfold."""
        super().resizeEvent(event)
        self.fold()

    def fold(self) -> None:
        """Fold or unfold; to be called where a part needs more room than it did, or less."""
        goals = (len(self._parts), self._folded)
        self._lay(next((goal for goal in goals if self._needed(goal) <= self.width()), 1))

    def _needed(self, columns: int) -> int:
        """Pixels that so many in a row need."""
        widths = [0] * columns
        for at, part in enumerate(self._parts):
            if not part.isHidden():
                least = max(part.minimumSizeHint().width(), part.minimumWidth())
                widths[at % columns] = max(widths[at % columns], least)
        return sum(widths) + self._grid.spacing() * (columns - 1)

    def _lay(self, columns: int) -> None:
        if columns == self._columns:
            return
        for column in range(self._columns):
            self._grid.setColumnStretch(column, 0)
        self._columns = columns
        for at, part in enumerate(self._parts):
            self._grid.addWidget(part, at // columns, at % columns)
        for column, share in enumerate(self._shares[:columns]):
            self._grid.setColumnStretch(column, share)
        self.updateGeometry()
