"""The needs of a run beside what this computer has for them, with word and shape."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, QSize
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from tequio_client.app.pages import card_name
from tequio_client.app.pages.run_fit import Fit, Kind
from tequio_client.app.theme.fonts import Type
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.chip import Chip
from tequio_client.app.widgets.picture import Picture
from tequio_client.app.widgets.text import Line, Text

if TYPE_CHECKING:
    from tequio_client.app.pages.run_fit import Need, Room

FITS = {
    Fit.FITS: (str(QT_TRANSLATE_NOOP("RunNeeds", "Fits")), "circle-check", "ok"),
    Fit.TIGHT: (str(QT_TRANSLATE_NOOP("RunNeeds", "Tight")), "triangle-alert", "warn"),
    Fit.LITTLE: (str(QT_TRANSLATE_NOOP("RunNeeds", "Too little")), "octagon-x", "danger"),
    Fit.UNKNOWN: (str(QT_TRANSLATE_NOOP("RunNeeds", "Unknown")), "circle-question-mark", ""),
}
PICTURES = {
    Kind.MEMORY: "memory-stick",
    Kind.DISK: "hard-drive",
    Kind.FIRST: "cloud-download",
    Kind.UP: "arrow-up",
    Kind.DOWN: "arrow-down",
}


def show_fit(chip: Chip, fit: Fit) -> None:
    """Let a chip say how something fits."""
    words, picture, tone = FITS[fit]
    chip.show_as(QCoreApplication.translate("RunNeeds", words), picture, tone)


class RunNeeds(QWidget):
    """All needs of one run."""

    def __init__(self) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        self.rows = {kind: NeedRow(PICTURES[kind]) for kind in Kind}
        for row in self.rows.values():
            column.addWidget(row)

    def show_needs(self, needs: tuple[Need, ...], there: Room) -> None:
        """Show these."""
        for need in needs:
            self.rows[need.kind].show_need(self._name(need, there), need, self._note(need, there))

    def _name(self, need: Need, there: Room) -> str:
        names = {
            Kind.MEMORY: self.tr("Graphics memory") if there.device else self.tr("Memory"),
            Kind.DISK: self.tr("Disk"),
            Kind.FIRST: self.tr("First download"),
            Kind.UP: self.tr("Upload per hour"),
            Kind.DOWN: self.tr("Download per hour"),
        }
        return names[need.kind]

    def _note(self, need: Need, there: Room) -> str:
        if need.most is None:
            is_open = need.fit is Fit.FITS
            return self.tr("No limit set") if is_open else self.tr("Not known here")
        most = _amount(need.kind, need.most)
        if need.kind is Kind.MEMORY and there.device:
            return self.tr("of {most} on {device}").format(
                most=most, device=card_name.short(there.device)
            )
        notes = {
            Kind.MEMORY: self.tr("of {most} that are free"),
            Kind.DISK: self.tr("of {most} that your limits leave"),
            Kind.FIRST: self.tr("of {most} left this month"),
            Kind.UP: self.tr("of {most} by your limit"),
            Kind.DOWN: self.tr("of {most} by your limit"),
        }
        return notes[need.kind].format(most=most)


class NeedRow(QWidget):
    """One need: what, how much, of how much, and how that fits."""

    def __init__(self, picture: str) -> None:
        super().__init__()
        self._name, self._note = Line("", Type.CAPTION, "sub"), Line("", Type.CAPTION, "sub")
        self._figure, self.chip = Text("", Type.STRONG), Chip()
        row, words, below = QHBoxLayout(self), QVBoxLayout(), QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        words.setSpacing(1)
        below.setSpacing(6)
        below.addWidget(self._figure)
        below.addWidget(self._note, 1)
        words.addWidget(self._name)
        words.addLayout(below)
        row.addWidget(Picture(picture, QSize(18, 18)))
        row.addLayout(words, 1)
        row.addWidget(self.chip)

    def show_need(self, name: str, need: Need, note: str) -> None:
        """Show that."""
        self._name.setText(name)
        self._figure.setText(_amount(need.kind, need.needed))
        self._note.setText(note)
        show_fit(self.chip, need.fit)
        self.setAccessibleName(f"{name}: {self._figure.text()} {note}. {self.chip.words}")

    @property
    def words(self) -> str:
        """How much of how much."""
        return f"{self._figure.text()} {self._note.text()}"


def _amount(kind: Kind, size: int) -> str:
    return figures.memory(size) if kind is Kind.MEMORY else figures.data(size)
