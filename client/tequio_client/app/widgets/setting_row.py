"""One setting: its name, what it does and its default, and the control that changes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from tequio_client.app.theme.fonts import Type
from tequio_client.app.widgets.chip import Chip
from tequio_client.app.widgets.columns import Columns
from tequio_client.app.widgets.text import Paragraph, tip

if TYPE_CHECKING:
    from PySide6.QtGui import QShowEvent

LEAST = 210
"""Pixels that the words need beside a control."""


class SettingRow(QWidget):
    """A setting; its control stands behind the words, or below them if it is `wide`.

    Where there is no room behind the words, any control goes below them.
    """

    def __init__(
        self, name: str, note: str, control: QWidget | None = None, *, is_wide: bool = False
    ) -> None:
        super().__init__()
        self._name, self._note = Paragraph(name), Paragraph(note, Type.CAPTION, "sub")
        self.control, self._also = control, ""
        self.chip = Chip("", "circle-pause", "warn")
        self.chip.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 7, 0, 7)
        column.setSpacing(8)
        self._both = words = self._words()
        if control is None or is_wide:
            column.addWidget(words)
        if control is not None and is_wide:
            column.addWidget(control)
        self._columns: Columns | None = None
        if control is not None and not is_wide:
            self._columns = Columns(gap=18)
            self._columns.hold((words, _held(control)), shares=(1, 0))
            column.addWidget(self._columns)
        # not before they have parents: what has none is a window, and would come up as one
        self._name.setVisible(bool(name))
        self._note.setVisible(bool(note))
        words.setVisible(bool(name or note))

    def say_stops(self, words: str, why: str) -> None:
        """Name this setting as what decides now; no words: it is not."""
        self.chip.show_as(words, "circle-pause", "warn")
        self.chip.setToolTip(tip(why))
        self.chip.setAccessibleDescription(why)
        self.chip.setVisible(bool(words))

    def show_name(self, name: str) -> None:
        """Be called that from now on."""
        self._name.setText(name)
        self._name.setVisible(bool(name))
        self._both.setVisible(bool(name or self._note.text()))

    def show_note(self, note: str, tone: str = "sub") -> None:
        """Explain it so from now on."""
        self._note.setText(note)
        self._note.setVisible(bool(note))
        self._both.setVisible(bool(note or self._name.text()))
        self._note.set_tone(tone)

    def also(self, words: str) -> None:
        """Be found by these words too, which the control says."""
        self._also = words

    def matches(self, words: list[str]) -> bool:
        """Whether each of these words, in lower case, stands somewhere in name or note."""
        text = f"{self._name.text()} {self._note.text()} {self._also}".casefold()
        return all(word in text for word in words)

    @property
    def name(self) -> str:
        """What it is called."""
        return self._name.text()

    @property
    def note(self) -> str:
        """How it explains itself."""
        return self._note.text()

    def showEvent(self, event: QShowEvent) -> None:
        """Take the room that there is now."""
        super().showEvent(event)
        if self._columns is not None:
            self._columns.fold()

    def _words(self) -> QWidget:
        made, head = QWidget(), QHBoxLayout()
        made.setMinimumWidth(LEAST)
        column = QVBoxLayout(made)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addStretch(1)
        head.setSpacing(10)
        head.addWidget(self._name, 1)
        head.addWidget(self.chip, 0, Qt.AlignmentFlag.AlignTop)
        column.addLayout(head)
        column.addWidget(self._note)
        column.addStretch(1)
        return made


def _held(control: QWidget) -> QWidget:
    """The control in the middle of its cell, as wide as it is."""
    made = QWidget()
    row = QHBoxLayout(made)
    row.setContentsMargins(0, 0, 0, 0)
    row.addWidget(control, 0, Qt.AlignmentFlag.AlignVCenter)
    return made
