"""The needs of a run beside what this computer offers, and how well they fit.

Memory is in MiB, everything else in bytes. The offer is what machine and limits leave; None means
unlimited or unknown. A need above `TIGHT_FROM` of the offer fits tightly: it may soon be too much.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, QSize
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from tequio_client.app.pages import devices
from tequio_client.app.theme.style import TextStyle
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import ElidedLabel, IconLabel, Label, flush_column
from tequio_client.app.widgets.indicators import Chip
from tequio_client.ipc.preferences import usable_memory_mb

if TYPE_CHECKING:
    from tequio_client.ipc.control import RunRow
    from tequio_client.ipc.facts import AcceleratorFacts
    from tequio_client.ipc.preferences import Preferences
    from tequio_client.ipc.snapshot import Snapshot

TIGHT_FROM = 0.8
HOURS_A_DAY = 24
_GIB = 1 << 30
_GB = 10**9
_MBIT_BYTES_AN_HOUR = 3_600 * 125_000


class Fit(StrEnum):
    """How a need compares with the resources."""

    FITS = "fits"
    TIGHT = "tight"
    TOO_LITTLE = "too-little"
    UNKNOWN = "unknown"


WORST_FIRST = (Fit.TOO_LITTLE, Fit.TIGHT, Fit.UNKNOWN, Fit.FITS)


class NeedKind(StrEnum):
    """A resource that a run needs."""

    MEMORY = "memory"
    DISK = "disk"
    FIRST = "first"
    UP = "up"
    DOWN = "down"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunNeed:
    """One need beside the resource for it."""

    kind: NeedKind
    needed: int
    most: int | None
    fit: Fit


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResources:
    """The resources available for a run."""

    memory_mb: int | None = None
    """None: unknown."""
    device: str = ""
    """The accelerator with that memory; empty: none, and main memory counts."""
    disk_bytes: int | None = None
    """None: unknown."""
    month_bytes: int | None = None
    """Left of the month's traffic; None: unlimited."""
    hourly_up_bytes: int | None = None
    hourly_down_bytes: int | None = None
    """None: unlimited."""


def resources(snapshot: Snapshot, preferences: Preferences) -> RunResources:
    """The resources that machine and limits leave for a run."""
    memory_mb, device = _memory(snapshot, preferences)
    limit = preferences.month_gb * _GB
    return RunResources(
        memory_mb=memory_mb,
        device=device,
        disk_bytes=_disk_bytes(snapshot, preferences),
        month_bytes=max(limit - snapshot.line.month_bytes, 0) if limit else None,
        hourly_up_bytes=_hourly_bytes(preferences.upload_mbit),
        hourly_down_bytes=_hourly_bytes(preferences.download_mbit),
    )


def needs_of(run: RunRow, there: RunResources) -> tuple[RunNeed, ...]:
    memory = _need(NeedKind.MEMORY, run.memory_mb, there.memory_mb, without=Fit.UNKNOWN)
    disk = _need(NeedKind.DISK, run.disk_bytes, there.disk_bytes, without=Fit.UNKNOWN)
    return (
        memory,
        disk,
        _need(NeedKind.FIRST, run.first_bytes, there.month_bytes),
        _need(NeedKind.UP, run.hourly_up_bytes, there.hourly_up_bytes),
        _need(NeedKind.DOWN, run.hourly_down_bytes, there.hourly_down_bytes),
    )


def overall_fit(needed: tuple[RunNeed, ...]) -> Fit:
    """The worst fit of all needs."""
    fits = {one.fit for one in needed}
    return next(fit for fit in WORST_FIRST if fit in fits)


def days_of_traffic(run: RunRow, there: RunResources) -> int | None:
    """Whole days that the month's traffic lasts when lending all day; None: unlimited."""
    daily = (run.hourly_up_bytes + run.hourly_down_bytes) * HOURS_A_DAY
    if there.month_bytes is None or not daily:
        return None
    return max(there.month_bytes - run.first_bytes, 0) // daily


def is_full(run: RunRow) -> bool:
    return 0 < run.most_members <= run.members


def _need(kind: NeedKind, needed: int, most: int | None, without: Fit = Fit.FITS) -> RunNeed:
    if most is None:
        return RunNeed(kind=kind, needed=needed, most=most, fit=without)
    enough = Fit.TIGHT if needed > TIGHT_FROM * most else Fit.FITS
    return RunNeed(
        kind=kind, needed=needed, most=most, fit=Fit.TOO_LITTLE if needed > most else enough
    )


def _memory(snapshot: Snapshot, preferences: Preferences) -> tuple[int | None, str]:
    """Memory of the best accelerator, as the worker counts it when it chooses a run."""
    gpus = snapshot.machine.gpus
    if gpus is None:
        return None, ""
    found = [(_usable_mb(gpu, preferences), gpu.name) for gpu in gpus if _is_used(gpu, preferences)]
    known = [(most, name) for most, name in found if most is not None]
    if known:
        return max(known)
    return (None, found[0][1]) if found else (snapshot.machine.free_memory_mb, "")


def _is_used(gpu: AcceleratorFacts, preferences: Preferences) -> bool:
    return preferences.device(gpu.id).use


def _usable_mb(gpu: AcceleratorFacts, preferences: Preferences) -> int | None:
    if gpu.memory_mb is None:
        return None
    return usable_memory_mb(gpu.memory_mb, preferences.device(gpu.id).memory_mb)


def _disk_bytes(snapshot: Snapshot, preferences: Preferences) -> int | None:
    disk = snapshot.disk
    if not disk.free_bytes:
        return None
    spare = max(disk.free_bytes - preferences.disk_free_gib * _GIB, 0)
    return min(preferences.disk_gib * _GIB, disk.store_bytes + spare)


def _hourly_bytes(mbit: float | None) -> int | None:
    return None if mbit is None else int(mbit * _MBIT_BYTES_AN_HOUR)


FITS = {
    Fit.FITS: (str(QT_TRANSLATE_NOOP("RunNeeds", "Fits")), "circle-check", "ok"),
    Fit.TIGHT: (str(QT_TRANSLATE_NOOP("RunNeeds", "Tight")), "triangle-alert", "warn"),
    Fit.TOO_LITTLE: (str(QT_TRANSLATE_NOOP("RunNeeds", "Too little")), "octagon-x", "danger"),
    Fit.UNKNOWN: (str(QT_TRANSLATE_NOOP("RunNeeds", "Unknown")), "circle-question-mark", ""),
}
PICTURES = {
    NeedKind.MEMORY: "memory-stick",
    NeedKind.DISK: "hard-drive",
    NeedKind.FIRST: "cloud-download",
    NeedKind.UP: "arrow-up",
    NeedKind.DOWN: "arrow-down",
}


def update_fit_chip(chip: Chip, fit: Fit) -> None:
    words, picture, tone = FITS[fit]
    chip.set_label(QCoreApplication.translate("RunNeeds", words), picture, tone)


class RunNeeds(QWidget):
    """All needs of one run."""

    def __init__(self) -> None:
        super().__init__()
        column = flush_column(self, 12)
        self.rows = {kind: NeedRow(PICTURES[kind]) for kind in NeedKind}
        for row in self.rows.values():
            column.addWidget(row)

    def show_needs(self, needs: tuple[RunNeed, ...], there: RunResources) -> None:
        for need in needs:
            self.rows[need.kind].show_need(
                self._name(need, there), need, self._note_text(need, there)
            )

    def _name(self, need: RunNeed, there: RunResources) -> str:
        names = {
            NeedKind.MEMORY: self.tr("Graphics memory") if there.device else self.tr("Memory"),
            NeedKind.DISK: self.tr("Disk"),
            NeedKind.FIRST: self.tr("First download"),
            NeedKind.UP: self.tr("Upload per hour"),
            NeedKind.DOWN: self.tr("Download per hour"),
        }
        return names[need.kind]

    def _note_text(self, need: RunNeed, there: RunResources) -> str:
        if need.most is None:
            is_open = need.fit is Fit.FITS
            return self.tr("No limit set") if is_open else self.tr("Not known here")
        most = _amount(need.kind, need.most)
        if need.kind is NeedKind.MEMORY and there.device:
            return self.tr("of {most} on {device}").format(
                most=most, device=devices.short_name(there.device)
            )
        notes = {
            NeedKind.MEMORY: self.tr("of {most} that are free"),
            NeedKind.DISK: self.tr("of {most} that your limits leave"),
            NeedKind.FIRST: self.tr("of {most} left this month"),
            NeedKind.UP: self.tr("of {most} by your limit"),
            NeedKind.DOWN: self.tr("of {most} by your limit"),
        }
        return notes[need.kind].format(most=most)


class NeedRow(QWidget):
    """One need: its name, the amounts, and how well it fits."""

    def __init__(self, picture: str) -> None:
        super().__init__()
        self._name, self._note_text = (
            ElidedLabel("", TextStyle.CAPTION, "sub"),
            ElidedLabel("", TextStyle.CAPTION, "sub"),
        )
        self._figure, self.chip = Label("", TextStyle.STRONG), Chip()
        row, words, below = QHBoxLayout(self), QVBoxLayout(), QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        words.setSpacing(1)
        below.setSpacing(6)
        below.addWidget(self._figure)
        below.addWidget(self._note_text, 1)
        words.addWidget(self._name)
        words.addLayout(below)
        row.addWidget(IconLabel(picture, QSize(18, 18)))
        row.addLayout(words, 1)
        row.addWidget(self.chip)

    def show_need(self, name: str, need: RunNeed, note: str) -> None:
        self._name.setText(name)
        self._figure.setText(_amount(need.kind, need.needed))
        self._note_text.setText(note)
        update_fit_chip(self.chip, need.fit)
        self.setAccessibleName(f"{name}: {self._figure.text()} {note}. {self.chip.text}")

    @property
    def amounts(self) -> str:
        return f"{self._figure.text()} {self._note_text.text()}"


def _amount(kind: NeedKind, size: int) -> str:
    return figures.memory(size) if kind is NeedKind.MEMORY else figures.data(size)
