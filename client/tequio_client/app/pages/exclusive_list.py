"""The programs beside which nothing is lent, with the ways to add and to remove one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from tequio_client.app.pages.program_picker import ProgramPicker
from tequio_client.app.widgets.button import Button
from tequio_client.app.widgets.text import Line, Paragraph

if TYPE_CHECKING:
    from collections.abc import Callable

MOST = 64


class ExclusiveList(QWidget):
    """The list; `chosen` has all of it when it was changed by hand."""

    chosen = Signal(tuple)
    removed = Signal(str, tuple)
    """What was removed, and the list as it was."""

    def __init__(self, look: Callable[[], tuple[str, ...]]) -> None:
        super().__init__()
        self._look = look
        self._names: tuple[str, ...] = ("",)
        self.picker: ProgramPicker | None = None
        self.add = Button(self.tr("Add a program"), picture="plus")
        self.add.clicked.connect(self.open_picker)
        self._rows = QVBoxLayout()
        self._rows.setSpacing(2)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addLayout(self._rows)
        column.addWidget(self.add, 0, Qt.AlignmentFlag.AlignLeading)

    @property
    def names(self) -> tuple[str, ...]:
        """What it shows."""
        return self._names

    def choose(self, names: tuple[str, ...]) -> None:
        """Show these."""
        if names == self._names:
            return
        self._names = names
        while (item := self._rows.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for name in names:
            self._rows.addWidget(self._row(name))
        if not names:
            self._rows.addWidget(Paragraph(self.tr("No program is on the list."), tone="sub"))
        self.add.setEnabled(len(names) < MOST)

    def open_picker(self) -> None:
        """Ask for a program to add."""
        self.picker = ProgramPicker(self._look, self)
        self.picker.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.picker.picked.connect(self._add)
        self.picker.open()

    def _add(self, name: str) -> None:
        if name.casefold() not in {one.casefold() for one in self._names}:
            self.chosen.emit((*self._names, name))

    def _remove(self, name: str) -> None:
        before = self._names
        self.chosen.emit(tuple(one for one in before if one != name))
        self.removed.emit(name, before)

    def _row(self, name: str) -> QWidget:
        made = QWidget()
        row = QHBoxLayout(made)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(10)
        remove = Button(self.tr("Remove"), "quiet", "x")
        remove.setAccessibleName(self.tr("Remove {program}").format(program=name))
        remove.clicked.connect(lambda: self._remove(name))
        row.addWidget(Line(name), 1)
        row.addWidget(remove)
        return made
