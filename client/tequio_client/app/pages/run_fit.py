"""Whether a run fits this computer: each need beside what there is for it. Pure.

Memory in MiB, the rest in bytes. What there is, is what machine and limits leave; None: there
is no limit, or nobody knows. A need that takes more than `TIGHT_FROM` of what there is leaves
little for what comes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from tequio_client.link.preferences import most_memory_mb

if TYPE_CHECKING:
    from tequio_client.link.facts import Gpu
    from tequio_client.link.preferences import Preferences
    from tequio_client.link.questions import RunRow
    from tequio_client.link.snapshot import Snapshot

TIGHT_FROM = 0.8
HOURS_A_DAY = 24
_GIB = 1 << 30
_GB = 10**9
_MBIT_BYTES_AN_HOUR = 3_600 * 125_000


class Fit(StrEnum):
    """How a need stands to what there is."""

    FITS = "fits"
    TIGHT = "tight"
    LITTLE = "too-little"
    UNKNOWN = "unknown"


WORST = (Fit.LITTLE, Fit.TIGHT, Fit.UNKNOWN, Fit.FITS)


class Kind(StrEnum):
    """What a run needs."""

    MEMORY = "memory"
    DISK = "disk"
    FIRST = "first"
    UP = "up"
    DOWN = "down"


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """One need and how it stands."""

    kind: Kind
    needed: int
    most: int | None
    fit: Fit


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """What there is for a run."""

    memory_mb: int | None = None
    """None: nobody knows."""
    device: str = ""
    """The accelerator with that memory; empty: there is none, and main memory counts."""
    disk_bytes: int | None = None
    """None: nobody knows."""
    month_bytes: int | None = None
    """Left of the month's traffic; None: no limit."""
    hourly_up_bytes: int | None = None
    hourly_down_bytes: int | None = None
    """None: no limit."""


def room(snapshot: Snapshot, preferences: Preferences) -> Room:
    """What machine and limits leave."""
    memory_mb, device = _memory(snapshot, preferences)
    limit = preferences.month_gb * _GB
    return Room(
        memory_mb=memory_mb,
        device=device,
        disk_bytes=_disk(snapshot, preferences),
        month_bytes=max(limit - snapshot.line.month_bytes, 0) if limit else None,
        hourly_up_bytes=_hourly(preferences.upload_mbit),
        hourly_down_bytes=_hourly(preferences.download_mbit),
    )


def needs(run: RunRow, there: Room) -> tuple[Need, ...]:
    """Each need of the run beside what there is."""
    memory = _need(Kind.MEMORY, run.memory_mb, there.memory_mb, without=Fit.UNKNOWN)
    disk = _need(Kind.DISK, run.disk_bytes, there.disk_bytes, without=Fit.UNKNOWN)
    return (
        memory,
        disk,
        _need(Kind.FIRST, run.first_bytes, there.month_bytes),
        _need(Kind.UP, run.hourly_up_bytes, there.hourly_up_bytes),
        _need(Kind.DOWN, run.hourly_down_bytes, there.hourly_down_bytes),
    )


def overall(needed: tuple[Need, ...]) -> Fit:
    """How the run stands: as its worst need."""
    fits = {one.fit for one in needed}
    return next(fit for fit in WORST if fit in fits)


def days_of_traffic(run: RunRow, there: Room) -> int | None:
    """Whole days for which the month's traffic lasts when lending all day; None: for ever."""
    daily = (run.hourly_up_bytes + run.hourly_down_bytes) * HOURS_A_DAY
    if there.month_bytes is None or not daily:
        return None
    return max(there.month_bytes - run.first_bytes, 0) // daily


def is_full(run: RunRow) -> bool:
    """Whether all its places are taken."""
    return 0 < run.most_members <= run.members


def _need(kind: Kind, needed: int, most: int | None, without: Fit = Fit.FITS) -> Need:
    if most is None:
        return Need(kind=kind, needed=needed, most=most, fit=without)
    enough = Fit.TIGHT if needed > TIGHT_FROM * most else Fit.FITS
    return Need(kind=kind, needed=needed, most=most, fit=Fit.LITTLE if needed > most else enough)


def _memory(snapshot: Snapshot, preferences: Preferences) -> tuple[int | None, str]:
    """Of the accelerator with the most, as the choice of a run reckons it."""
    gpus = snapshot.machine.gpus
    if gpus is None:
        return None, ""
    found = [(_usable(gpu, preferences), gpu.name) for gpu in gpus if _is_used(gpu, preferences)]
    known = [(most, name) for most, name in found if most is not None]
    if known:
        return max(known)
    return (None, found[0][1]) if found else (snapshot.machine.free_memory_mb, "")


def _is_used(gpu: Gpu, preferences: Preferences) -> bool:
    return preferences.device(gpu.id).use


def _usable(gpu: Gpu, preferences: Preferences) -> int | None:
    if gpu.memory_mb is None:
        return None
    return most_memory_mb(gpu.memory_mb, preferences.device(gpu.id).memory_mb)


def _disk(snapshot: Snapshot, preferences: Preferences) -> int | None:
    disk = snapshot.disk
    if not disk.free_bytes:
        return None
    spare = max(disk.free_bytes - preferences.disk_free_gib * _GIB, 0)
    return min(preferences.disk_gib * _GIB, disk.store_bytes + spare)


def _hourly(mbit: float | None) -> int | None:
    return None if mbit is None else int(mbit * _MBIT_BYTES_AN_HOUR)
