"""Choosing a program among those that run, or by its name."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject, Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from tequio_client.app.theme.fonts import Type
from tequio_client.app.widgets.button import Button
from tequio_client.app.widgets.text import Paragraph, Text

if TYPE_CHECKING:
    from collections.abc import Callable

SIZE = (420, 460)
LONGEST = 256


class _Relay(QObject):
    """What the thread holds in place of the dialog.

    A thread that lets go of a window last destroys it while the main one handles its events. This
    belongs to the application, whoever holds it.
    """

    found = Signal(object)


class ProgramPicker(QDialog):
    """Asks for one program; `picked` has its name."""

    picked = Signal(str)

    def __init__(self, look: Callable[[], tuple[str, ...]], parent: QWidget | None = None) -> None:
        """`look` is called in a thread."""
        super().__init__(parent)
        self.setWindowTitle(self.tr("Choose a program"))
        self.resize(*SIZE)
        self.name = QLineEdit()
        self.name.setAccessibleName(self.tr("Name of the program"))
        self.name.setPlaceholderText(self.tr("Search, or type a name such as blender"))
        self.name.setMaxLength(LONGEST)
        self.name.setClearButtonEnabled(True)
        self.programs = QListWidget()
        self.programs.setAccessibleName(self.tr("Programs that run now"))
        self.note = Paragraph(self.tr("Looking for programs…"), tone="sub")
        self.note.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.add = Button(self.tr("Add"), "primary")
        self.cancel = Button(self.tr("Cancel"))
        self._stack = QStackedWidget()
        self._stack.addWidget(self.note)
        self._stack.addWidget(self.programs)
        self._lay()
        self.name.textChanged.connect(self._filter)
        self.programs.currentRowChanged.connect(self._show_add)
        self.programs.itemActivated.connect(self._pick)
        self.name.returnPressed.connect(self._pick)
        self.add.clicked.connect(self._pick)
        self.cancel.clicked.connect(self.reject)
        self._show_add()
        relay = _Relay(QCoreApplication.instance())
        relay.found.connect(self._show)
        relay.found.connect(relay.deleteLater)
        threading.Thread(target=_tell, args=(look, relay), daemon=True).start()

    @property
    def choice(self) -> str:
        """The program that is chosen, or typed; empty: none."""
        row = self.programs.currentRow()
        item = self.programs.item(row)
        if row >= 0 and not item.isHidden():
            return item.text()
        return self.name.text().strip()

    def _show(self, found: tuple[str, ...]) -> None:
        self.programs.addItems(found)
        self._stack.setCurrentWidget(self.programs)
        self._filter()

    def _filter(self) -> None:
        wanted, first = self.name.text().strip().casefold(), -1
        for row in range(self.programs.count()):
            item = self.programs.item(row)
            item.setHidden(wanted not in item.text().casefold())
            if first < 0 and not item.isHidden():
                first = row
        self.programs.setCurrentRow(first if wanted else -1)
        is_empty = first < 0 and self.programs.count() > 0
        self.note.setText(self.tr("No such program runs now. Add takes the name as you typed it."))
        self._stack.setCurrentWidget(self.note if is_empty else self.programs)
        self._show_add()

    def _show_add(self) -> None:
        self.add.setEnabled(bool(self.choice))

    def _pick(self) -> None:
        if self.choice:
            self.picked.emit(self.choice)
            self.accept()

    def _lay(self) -> None:
        column, row = QVBoxLayout(self), QHBoxLayout()
        column.setContentsMargins(20, 18, 20, 18)
        column.setSpacing(12)
        column.addWidget(Text(self.tr("Choose a program"), Type.HEADING))
        column.addWidget(
            Paragraph(
                self.tr(
                    "While it runs, nothing is lent. Pick one that runs now, or type its name."
                ),
                Type.CAPTION,
                "sub",
            )
        )
        column.addWidget(self.name)
        column.addWidget(self._stack, 1)
        row.setSpacing(10)
        row.addStretch(1)
        row.addWidget(self.cancel)
        row.addWidget(self.add)
        column.addLayout(row)


def _tell(look: Callable[[], tuple[str, ...]], relay: _Relay) -> None:
    found = look()
    with suppress(RuntimeError):  # the application has ended
        relay.found.emit(found)
