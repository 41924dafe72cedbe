"""The facts that the lending policy decides by: session, machine, devices, time, step pace.

Clocks, disks and pipes are read elsewhere; here are only values. A fact that is `None` is unknown,
and so is one that is too old. No active rule treats an unknown fact as "all is well".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

import msgspec

from tequio_client.ipc.facts import (
    UNKNOWN_MACHINE,
    UNKNOWN_SESSION,
    AcceleratorFacts,
    MachineFacts,
    SessionFacts,
)
from tequio_client.ipc.preferences import DAYS, HOURS, Preferences, Week, usable_memory_mb
from tequio_client.ipc.trainer import TrainerHeartbeat
from tequio_shared.round.plugin import PluginSpec

MAX_SESSION_AGE_S = 15.0
"""Older session facts count as unknown; the app sends them at least every 7 s."""
MAX_MACHINE_AGE_S = 5.0
"""Older machine facts count as unknown; they come every second, or every other at rest."""
CPU = "cpu"
HOUR_MS = 3_600_000
_SECOND_MS = 1_000
_MOST_CHANGES = 4
"""Clock changes searched past when looking for the next lending hour; a year has two."""
_MONTH_HOURS = 24 * 33
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SHORT_MEAN_S = 4.0
LONG_MEAN_S = 120.0
WARM_UP_S = 15.0
"""A task's first seconds do not count: compiling and filling caches makes them slow."""
_TRAINING = "training"


@dataclass(frozen=True, slots=True, kw_only=True)
class LendingFacts:
    """The known facts about the computer, and about the device that is decided about."""

    device: str = ""
    """Id of that device; empty: the one with the most memory."""
    session: SessionFacts | None = None
    """None: this worker has no app, so rules about the user's presence do not apply. A worker whose
    app has not sent anything yet has `UNKNOWN_SESSION`."""
    session_age_s: float = 0.0  # ages are by the steady clock
    machine: MachineFacts | None = None  # None: the probe has not answered yet, or has died
    machine_age_s: float = 0.0
    is_probe_starting: bool = False  # it has not had time to answer yet
    month_bytes: int = 0
    free_disk_bytes: int | None = None  # on the disk with the store
    store_bytes: int = 0
    need_mb: int = 0  # device memory that training this run takes, MiB; 0: not known yet, or little
    is_computing: bool = False
    """True while a child process computes: part of the devices' load and memory is then its."""
    slowdown: float | None = None
    """Time per training step, pauses left out, over its long-term average; None: no steps yet."""
    round: int | None = None  # the round in which this worker trains now
    has_runtime: bool = True  # False: the package's runtime, which trains, is not installed
    trainer_problem: str = ""  # why no trainer is started any more
    plugin: PluginSpec | None = None
    """Code of the joined run that is not allowed on this computer; None: it has none, or needs none
    for the device's role."""
    standing_problem: str = ""  # why rosters leave this key out: quarantined, or banned
    ledger: str = ""  # its address
    wanted_version: str = ""  # the network's minimum, if this program is older
    clock_ahead_ms: int = 0
    """How far our clock is ahead of the ledger's, if the ledger refused a statement for that."""
    ledger_problem: str = ""  # the ledger's last failure; empty while it answers
    was_ledger_reached: bool = False
    """True if it has answered before, then a joined run survives an outage."""
    idle_reason: IdleReason | None = None  # why the worker is in no run; None: it is in one

    def known_session(self) -> SessionFacts | None:
        """Session facts, unknown if too old; None: this worker has no app."""
        if self.session is None or self.session_age_s <= MAX_SESSION_AGE_S:
            return self.session
        return UNKNOWN_SESSION

    def known_machine(self) -> MachineFacts:
        if self.machine is None or not self.machine_age_s <= MAX_MACHINE_AGE_S:
            return UNKNOWN_MACHINE
        return self.machine


@dataclass(frozen=True, slots=True, kw_only=True)
class LendableDevice:
    """A device that may compute: an accelerator, or the processor."""

    gpu: AcceleratorFacts  # readings; the processor has the id `cpu`
    free_mb: int | None  # free device memory, or free main memory for a device without its own
    most_mb: int | None  # most memory that it may use; None: the total is unknown

    @property
    def is_cpu(self) -> bool:
        return self.gpu.id == CPU

    def others_load(self, facts: LendingFacts) -> float | None:
        """Load caused by other programs, 0 to 1: the whole load while no trainer runs."""
        # Load by program lacks other users' programs and, on AMD cards, those that use ROCm.
        known = (self.gpu.others_load, None if facts.is_computing else self.gpu.load)
        return max((load for load in known if load is not None), default=None)


def select_chosen_devices(
    machine: MachineFacts, preferences: Preferences
) -> tuple[LendableDevice, ...] | None:
    """Devices that the volunteer lends; None: the devices are unknown.

    All accelerators except those switched off. The processor if it was switched on, or if the
    computer has no accelerator and the processor was not switched off.
    """
    if machine.gpus is None:
        return None
    used = [gpu for gpu in machine.gpus if gpu.id != CPU and preferences.device(gpu.key).use]
    has_choice = any(one.id == CPU for one in preferences.devices)
    if preferences.device(CPU).use if has_choice else not machine.gpus:
        degrees = machine.cpu_temperature_c
        plain = AcceleratorFacts(id=CPU, name=machine.cpu_name, temperature_c=degrees)
        listed = next((gpu for gpu in machine.gpus if gpu.id == CPU), plain)
        used.append(msgspec.structs.replace(listed, memory_mb=None, free_mb=None))
    return tuple(_device(gpu, machine, preferences) for gpu in used)


def select_lent_devices(
    devices: tuple[LendableDevice, ...] | None, need_mb: int, device: str = ""
) -> tuple[LendableDevice, ...]:
    """The device that is decided about, if it is chosen and has enough memory.

    One, because each device has a trainer and a decision of its own: the load of others does not
    matter. Without an id, it is the one with the most memory of those that have enough.
    """
    able = [one for one in devices or () if one.most_mb is None or one.most_mb >= need_mb]
    return tuple(one for one in sort_devices(able) if device in ("", one.gpu.id))[:1]


def sort_devices(devices: Iterable[LendableDevice]) -> list[LendableDevice]:
    """Sort devices by how much they can train: accelerators first, the largest memory first."""
    return sorted(devices, key=lambda one: (one.is_cpu, -(one.gpu.memory_mb or 0)))


def preferences_for(preferences: Preferences, keys: Iterable[str]) -> Preferences:
    """The preferences as they apply to the device that is decided about, if one is, by its key."""
    if not any(preferences.device(key).while_used for key in keys):
        return preferences
    return msgspec.structs.replace(
        preferences,
        while_used=True,
        used_share_percent=100,
        pause_for_games=False,
        pause_for_films=False,
    )


def _device(
    gpu: AcceleratorFacts, machine: MachineFacts, preferences: Preferences
) -> LendableDevice:
    has_own = gpu.memory_mb is not None
    total_mb = gpu.memory_mb if has_own else machine.memory_mb
    chosen_mb = preferences.device(gpu.key).memory_mb
    return LendableDevice(
        gpu=gpu,
        free_mb=gpu.free_mb if has_own else machine.free_memory_mb,
        most_mb=None if total_mb is None else usable_memory_mb(total_mb, chosen_mb),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalInstant:
    """One instant: by the wall clock, by a steady clock, and in local time.

    Durations (how long a game has been closed) are differences of `steady_ms`, which nobody sets.
    Dates (hours of the week, the month) come from `ms`.
    """

    ms: int  # milliseconds since 1970, by the wall clock
    steady_ms: int  # by a clock that only goes forward
    # A function, not today's offset: the end of an hour or a month may lie beyond the next change
    # to or from summer time, where today's offset would be an hour wrong.
    offset_s: Callable[[int], int]
    """Seconds that local time is ahead of UTC at an instant given in milliseconds since 1970."""

    def month(self) -> str:
        """Local month, as in `2026-11`."""
        return self._month(self.ms)

    def day(self) -> str:
        """Local day, as in `2026-11-20`."""
        return f"{self._local(self.ms):%Y-%m-%d}"

    def month_end_ms(self) -> int:
        """Start of the next local month, to the second."""
        now = self._month(self.ms)
        end_ms = self.ms + _MONTH_HOURS * HOUR_MS
        return _first(lambda at: self._month(at) != now, self.ms, end_ms)

    def is_in(self, week: Week) -> bool:
        """True if the local hour is one of these hours of the week."""
        return self._is_in(week, self.ms)

    def next_hour_ms(self, week: Week) -> int | None:
        """Start of the next of these hours, assuming that the present hour is not one; None: never.

        An hour that summer time skips does not count; one that occurs twice counts twice.
        """
        if not any(week):
            return None
        at = self.ms
        for _ in range(_MOST_CHANGES):
            begin, at = at, self._next_by_offset(week, at)
            if self.offset_s(begin) == self.offset_s(at):
                return at
            # The clocks change in between, so that hour begins at another time: search from there.
            at = self._change_ms(begin, at)
            if self._is_in(week, at):
                return at
        return None

    def _next_by_offset(self, week: Week, at_ms: int) -> int:
        """Start of the next of these hours if the clocks do not change before."""
        offset_ms = self.offset_s(at_ms) * _SECOND_MS
        hour = (at_ms + offset_ms) // HOUR_MS + 1
        while not week[(hour // HOURS + _EPOCH.weekday()) % DAYS] >> hour % HOURS & 1:
            hour += 1
        return hour * HOUR_MS - offset_ms

    def _change_ms(self, begin_ms: int, end_ms: int) -> int:
        """Instant between the two at which the clocks change, to the second."""
        offset = self.offset_s(begin_ms)
        return _first(lambda at: self.offset_s(at) != offset, begin_ms, end_ms)

    def _is_in(self, week: Week, at_ms: int) -> bool:
        local = self._local(at_ms)
        return bool(week[local.weekday()] >> local.hour & 1)

    def _month(self, at_ms: int) -> str:
        return f"{self._local(at_ms):%Y-%m}"

    def _local(self, at_ms: int) -> datetime:
        return _EPOCH + timedelta(milliseconds=at_ms, seconds=self.offset_s(at_ms))


def _first(holds: Callable[[int], bool], begin_ms: int, end_ms: int) -> int:
    """First full second at which `holds` is true, by bisection: false before, true from then on."""
    low, high = begin_ms // _SECOND_MS, -(-end_ms // _SECOND_MS)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle * _SECOND_MS) else (middle, high)
    return high * _SECOND_MS


class IdleCause(StrEnum):
    """Why a worker that should be in a run is not."""

    JOINING = "joining"  # no problem is known
    NONE_OPEN = "open"  # the ledger has no open run
    NONE_FITS = "fits"  # the ledger has open runs, but none fits this computer
    TAKEN = "taken"  # every run that fits is trained by another device of this computer
    ENDED = "ended"  # the run is over
    BARRED = "barred"  # this worker cannot take part in the run
    NO_SWARM = "swarm"
    """No run can be reached: a wrong ledger, or an address that cannot be listened on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleReason:
    why: IdleCause
    problem: str = ""  # the error message, if something failed


JOINING = IdleReason(why=IdleCause.JOINING)
NONE_OPEN = IdleReason(why=IdleCause.NONE_OPEN)
NONE_FITS = IdleReason(why=IdleCause.NONE_FITS)
TAKEN = IdleReason(why=IdleCause.TAKEN)
ENDED = IdleReason(why=IdleCause.ENDED)


@dataclass(frozen=True, slots=True)
class _StepReading:
    command: int
    step: int
    at_s: float
    share: int


class StepPace:
    """The pace of one trainer: slower steps mean that other programs compute, unseen by any probe.

    The time per step, pauses left out: its mean over the last seconds (`SHORT_MEAN_S`) over its
    mean of the last minutes (`LONG_MEAN_S`). `observe` is called with each new reading.
    """

    def __init__(self) -> None:
        self._last: _StepReading | None = None
        self._begun_s = 0.0
        self._short_s: float | None = None  # per step, short-term mean
        self._long_s: float | None = None  # per step, long-term mean

    @property
    def slowdown(self) -> float | None:
        """Short-term over long-term time per step; None: not known yet."""
        if self._short_s is None or self._long_s is None:
            return None
        return self._short_s / self._long_s

    def observe(self, alive: TrainerHeartbeat | None, share_percent: int, at_s: float) -> None:
        """Add a reading: the trainer's report, the share of time it may compute, and the time."""
        # Another task, share or process starts a new comparison: only like is compared with like.
        if alive is None or alive.doing != _TRAINING or not share_percent:
            self._last = None
            return
        before, now = self._last, _StepReading(alive.command, alive.step, at_s, share_percent)
        if before is None or before.share != share_percent:
            self._last, self._begun_s = now, at_s
            self._short_s = self._long_s = None
        elif before.command != alive.command:
            self._last = now
        elif alive.step > before.step:
            self._last = now
            step_s = (at_s - before.at_s) / (alive.step - before.step) * share_percent / 100
            self._add(step_s, at_s - before.at_s, at_s)
        elif self._short_s is not None:  # a late step is a slow one, even before it is over
            late_s = (at_s - before.at_s) * share_percent / 100
            self._short_s = max(self._short_s, late_s)

    def _add(self, step_s: float, passed_s: float, at_s: float) -> None:
        if at_s - self._begun_s < WARM_UP_S:
            return
        if self._short_s is None or self._long_s is None:
            self._short_s = self._long_s = step_s
            return
        self._short_s += min(passed_s / SHORT_MEAN_S, 1.0) * (step_s - self._short_s)
        self._long_s += min(passed_s / LONG_MEAN_S, 1.0) * (step_s - self._long_s)
