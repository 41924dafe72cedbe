"""The needs of a run, beside what this computer offers.

Memory is in MiB, everything else in bytes. The offer is what machine and limits leave; None means
unlimited or unknown. A need above `TIGHT_FROM` of the offer fits tightly: it may soon be too much.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtCore import QCoreApplication, QSize
from PySide6.QtWidgets import QWidget

from tequio_client.app.pages import devices
from tequio_client.app.theme.style import TextStyle
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import IconLabel, Label, caption_line, hbox, vbox
from tequio_client.app.widgets.indicators import Chip
from tequio_client.ipc.facts import AcceleratorFacts
from tequio_client.ipc.preferences import Preferences, usable_disk_bytes, usable_memory_mb
from tequio_client.ipc.runs import RunRow
from tequio_client.ipc.snapshot import Snapshot

TIGHT_FROM = 0.8
HOURS_A_DAY = 24
_GB = 10**9
_MBIT_BYTES_AN_HOUR = 3_600 * 125_000


class Fit(StrEnum):
    FITS = "fits"
    TIGHT = "tight"
    TOO_LITTLE = "too-little"
    UNKNOWN = "unknown"


WORST_FIRST = (Fit.TOO_LITTLE, Fit.TIGHT, Fit.UNKNOWN, Fit.FITS)
FIT_CHIPS = {
    Fit.FITS: ("Fits", "circle-check", "ok"),
    Fit.TIGHT: ("Just fits", "circle-check", "ok"),
    Fit.TOO_LITTLE: ("Does not fit", "octagon-x", "danger"),
    Fit.UNKNOWN: ("Not known yet", "circle-question-mark", ""),
}
"""Label, icon and tone; labels are translated in the context `RunNeeds`."""


class NeedKind(StrEnum):
    MEMORY = "memory"
    DISK = "disk"
    FIRST = "first"
    UP = "up"
    DOWN = "down"


NEEDS = {
    NeedKind.MEMORY: ("memory-stick", "Memory", "of {most} free"),
    NeedKind.DISK: ("hard-drive", "Disk", "of {most} your limits allow"),
    NeedKind.FIRST: ("cloud-download", "First download", "of {most} left this month"),
    NeedKind.UP: ("arrow-up", "Upload per hour", "of {most} your limit allows"),
    NeedKind.DOWN: ("arrow-down", "Download per hour", "of {most} your limit allows"),
}
"""Icon, name and note; texts are translated in the context `RunNeeds`."""
CONNECTION = {NeedKind.UP, NeedKind.DOWN}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunNeed:
    """One need beside `most` of the offer; None: unlimited, or unknown."""

    kind: NeedKind
    needed: int
    most: int | None
    fit: Fit


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResources:
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


def needs_of(run: RunRow, offer: RunResources) -> tuple[RunNeed, ...]:
    return (
        _need(NeedKind.MEMORY, run.memory_mb, offer.memory_mb, without=Fit.UNKNOWN),
        _need(NeedKind.DISK, run.disk_bytes, offer.disk_bytes, without=Fit.UNKNOWN),
        _need(NeedKind.FIRST, run.first_bytes, offer.month_bytes),
        _need(NeedKind.UP, run.hourly_up_bytes, offer.hourly_up_bytes),
        _need(NeedKind.DOWN, run.hourly_down_bytes, offer.hourly_down_bytes),
    )


def overall_fit(needs: tuple[RunNeed, ...]) -> Fit:
    """The worst fit of all needs; unknown without any."""
    fits = {need.fit for need in needs}
    return next((fit for fit in WORST_FIRST if fit in fits), Fit.UNKNOWN)


def days_of_traffic(run: RunRow, offer: RunResources) -> int | None:
    """Whole days that the month's traffic lasts when lending all day; None: unlimited."""
    daily = (run.hourly_up_bytes + run.hourly_down_bytes) * HOURS_A_DAY
    if offer.month_bytes is None or not daily:
        return None
    return max(offer.month_bytes - run.first_bytes, 0) // daily


def is_full(run: RunRow) -> bool:
    return 0 < run.most_members <= run.members


def _need(kind: NeedKind, needed: int, most: int | None, without: Fit = Fit.FITS) -> RunNeed:
    if most is None:
        return RunNeed(kind=kind, needed=needed, most=most, fit=without)
    fit = Fit.TIGHT if needed > TIGHT_FROM * most else Fit.FITS
    fit = Fit.TOO_LITTLE if needed > most else fit
    return RunNeed(kind=kind, needed=needed, most=most, fit=fit)


def _memory(snapshot: Snapshot, preferences: Preferences) -> tuple[int | None, str]:
    """Memory of the best accelerator, as the worker counts it when it chooses a run."""
    gpus = snapshot.machine.gpus
    if gpus is None:
        return None, ""
    used = [gpu for gpu in gpus if preferences.device(gpu.key).use]
    found = [(_usable_mb(gpu, preferences), gpu.name) for gpu in used]
    known = [(most, name) for most, name in found if most is not None]
    if known:
        return max(known)
    return (None, found[0][1]) if found else (snapshot.machine.free_memory_mb, "")


def _usable_mb(gpu: AcceleratorFacts, preferences: Preferences) -> int | None:
    if gpu.memory_mb is None:
        return None
    return usable_memory_mb(gpu.memory_mb, preferences.device(gpu.key).memory_mb)


def _disk_bytes(snapshot: Snapshot, preferences: Preferences) -> int | None:
    disk = snapshot.disk
    if not disk.free_bytes:
        return None
    return usable_disk_bytes(preferences, disk.store_bytes + disk.working_bytes, disk.free_bytes)


def _hourly_bytes(mbit: float | None) -> int | None:
    return None if mbit is None else int(mbit * _MBIT_BYTES_AN_HOUR)


def update_fit_chip(chip: Chip, fit: Fit) -> None:
    words, picture, tone = FIT_CHIPS[fit]
    chip.set_label(_translated(words), picture, tone)


class RunNeeds(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self.rows = {kind: NeedRow(picture) for kind, (picture, _, _) in NEEDS.items()}
        vbox(*self.rows.values(), spacing=12, parent=self)

    def show_needs(self, needs: tuple[RunNeed, ...], device: str) -> None:
        """`device` is the accelerator whose memory counts; empty: main memory does."""
        for need in needs:
            _, words, _ = NEEDS[need.kind]
            is_graphics = need.kind is NeedKind.MEMORY and bool(device)
            name = self.tr("Graphics memory") if is_graphics else _translated(words)
            note = self._note_text(need, device if is_graphics else "")
            self.rows[need.kind].show_need(name, need, note)

    def _note_text(self, need: RunNeed, device: str) -> str:
        if need.most is None:
            is_open = need.fit is Fit.FITS
            return self.tr("No limit set") if is_open else self.tr("Not known here")
        most = amount_text(need.kind, need.most)
        if device:
            short = devices.short_name(device)
            return self.tr("of {most} on {device}").format(most=most, device=short)
        _, _, note = NEEDS[need.kind]
        return _translated(note).format(most=most)


class NeedRow(QWidget):
    def __init__(self, picture: str) -> None:
        super().__init__()
        self._name, self.note = caption_line(), caption_line()
        self.figure, self.chip = Label("", TextStyle.STRONG), Chip()
        below = hbox(self.figure, (self.note, 1), spacing=6)
        words = vbox(self._name, below, spacing=1)
        hbox(IconLabel(picture, QSize(18, 18)), (words, 1), self.chip, spacing=12, parent=self)

    def show_need(self, name: str, need: RunNeed, note: str) -> None:
        self._name.setText(name)
        self.figure.setText(amount_text(need.kind, need.needed))
        self.note.setText(note)
        update_fit_chip(self.chip, need.fit)
        self.setAccessibleName(f"{name}: {self.figure.text()} {note}. {self.chip.text}")


def _translated(words: str) -> str:
    return QCoreApplication.translate("RunNeeds", words)


def amount_text(kind: NeedKind, size: int) -> str:
    if kind is NeedKind.MEMORY:
        return figures.memory(size)
    return figures.storage(size) if kind is NeedKind.DISK else figures.data(size)
