"""Events as Qt's lists ask for them, each day below its name."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt

from tequio_client.app.widgets import figures

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Index = QModelIndex | QPersistentModelIndex
NOWHERE = QModelIndex()


class Role(IntEnum):
    """What the delegate asks for."""

    LINE = Qt.ItemDataRole.UserRole + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of the list: an event, or the name of a day (without a level)."""

    words: str
    at_ms: int
    number: int = 0
    level: str = ""

    @property
    def is_day(self) -> bool:
        """Whether it names a day."""
        return not self.level


def with_days(events: Sequence[Line], now_ms: int) -> tuple[Line, ...]:
    """The events, newest first, with the name of each day before its first one."""
    lines: list[Line] = []
    day = ""
    for event in events:
        name = figures.day_name(event.at_ms, now_ms)
        if name != day:
            day = name
            lines.append(Line(words=day, at_ms=0))
        lines.append(event)
    return tuple(lines)


class EventsRows(QAbstractListModel):
    """The lines."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        super().__init__()
        self._lines: tuple[Line, ...] = ()
        self._now_ms = now_ms

    def show_lines(self, lines: tuple[Line, ...]) -> int:
        """Hold these, and say how many were put above what is still there (-1: all is new)."""
        old = self._lines
        if lines == old:
            return 0
        head = _common(old, lines)
        tail = _common(old[head:][::-1], lines[head:][::-1])
        if old and head + tail == len(old):
            self.beginInsertRows(NOWHERE, head, len(lines) - tail - 1)
            self._lines = lines
            self.endInsertRows()
            return len(lines) - len(old) if tail else 0
        self.beginResetModel()
        self._lines = lines
        self.endResetModel()
        return -1

    @property
    def lines(self) -> tuple[Line, ...]:
        """All of them."""
        return self._lines

    def rowCount(self, parent: Index = NOWHERE) -> int:
        """How many there are."""
        return 0 if parent.isValid() else len(self._lines)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """The name of a day cannot be chosen."""
        if index.isValid() and self._lines[index.row()].is_day:
            return Qt.ItemFlag.ItemIsEnabled
        return super().flags(index)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """One line."""
        line = self._lines[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return line.words
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return line.words if line.is_day else f"{self._spoken(line)}, {self.when(line)}"
        if role == Qt.ItemDataRole.ToolTipRole and not line.is_day:
            return self.when(line)
        return line if role == Role.LINE else None

    def when(self, line: Line) -> str:
        """When that was: to the second, and how long ago."""
        return f"{figures.stamp(line.at_ms)} · {figures.ago(line.at_ms, self._now_ms())}"

    def _spoken(self, line: Line) -> str:
        levels = {
            "good": self.tr("Good: {words}"),
            "warning": self.tr("Attention: {words}"),
            "error": self.tr("Problem: {words}"),
        }
        return levels.get(line.level, "{words}").format(words=line.words)


def _common(one: Sequence[Line], other: Sequence[Line]) -> int:
    """How many lines two lists share at their beginning."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
