"""Everything that the manners look at, with what is too old taken for unknown.

Whoever gathers these reads clocks, disks and pipes; here they are values. A fact that is `None`
is unknown, and no rule that is switched on takes it for "all is well".
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

from tequio_client.ipc.facts import NOTHING_OF_MACHINE, NOTHING_OF_SESSION, Gpu
from tequio_client.ipc.preferences import DAYS, HOURS, most_memory_mb

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.ipc.facts import MachineFacts, SessionFacts
    from tequio_client.ipc.preferences import Preferences, Week
    from tequio_client.ipc.trainer import Alive


SESSION_AGE_S = 15.0
"""Older facts of the session are unknown: the app says them every 5 s."""
MACHINE_AGE_S = 5.0
"""The same for those of the machine, which come every second, or every other at rest."""
CPU = "cpu"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known now."""

    session: SessionFacts | None = None
    """None: no app belongs to this worker, so that no rule about the user's presence applies. A
    worker of an app that has not spoken yet has `NOTHING_OF_SESSION`."""
    session_age_s: float = 0.0
    """Ages by the steady clock."""
    machine: MachineFacts | None = None
    """None: the probe has not answered yet, or has died."""
    machine_age_s: float = 0.0
    month_bytes: int = 0
    free_disk_bytes: int | None = None
    """Where the store is."""
    store_bytes: int = 0
    need_mb: int = 0
    """Memory of a device that the run's training takes; 0: not known yet, or little."""
    is_computing: bool = False
    """Whether a trainer process lives: then the load and memory of devices are partly ours."""
    slowdown: float | None = None
    """Time of our own steps, rests left out, over its calm moving average; None: no steps yet."""
    round: int | None = None
    """The round that we train in now."""
    trainer_problem: str = ""
    """Why no trainer will be started any more."""
    key_problem: str = ""
    standing_problem: str = ""
    """Why rosters pass this key over: in quarantine, or banned."""
    ledger_problem: str = ""
    """What the ledger's last failure was; empty while it answers."""
    was_ledger_reached: bool = False
    """Since the worker began: a run that we are in outlives an outage."""
    outside: Outside | None = None
    """Why we are in no run; None: we are in one."""

    def known_session(self) -> SessionFacts | None:
        """What is known of the session now; None: there is no app that could know."""
        if self.session is None or self.session_age_s <= SESSION_AGE_S:
            return self.session
        return NOTHING_OF_SESSION

    def known_machine(self) -> MachineFacts:
        """What is known of the machine now."""
        if self.machine is None or not self.machine_age_s <= MACHINE_AGE_S:
            return NOTHING_OF_MACHINE
        return self.machine


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One device that may compute."""

    gpu: Gpu
    """Its readings; the processor has the id `cpu`."""
    free_mb: int | None
    """Of its own memory, or of the machine's if it has none."""
    most_mb: int | None
    """What it may use of that; None: nobody knows how much there is."""

    @property
    def is_cpu(self) -> bool:
        """Whether it is the processor."""
        return self.gpu.id == CPU

    def others_load(self, facts: Facts) -> float | None:
        """How busy others keep it: all of its load, where the trainer has no part in it."""
        if self.gpu.others_load is None and not facts.is_computing:
            return self.gpu.load
        return self.gpu.others_load

    def is_too_small(self, need_mb: int) -> bool:
        """Whether the run cannot be trained within what may be used of it."""
        return self.most_mb is not None and self.most_mb < need_mb


def chosen_devices(machine: MachineFacts, preferences: Preferences) -> tuple[Device, ...] | None:
    """Devices that the volunteer lends; None: nobody can tell which there are.

    All accelerators but those that were switched off. The processor if it was switched on, or if
    there is no accelerator and it was not switched off.
    """
    if machine.gpus is None:
        return None
    used = [gpu for gpu in machine.gpus if gpu.id != CPU and preferences.device(gpu.id).use]
    has_choice = any(one.id == CPU for one in preferences.devices)
    if preferences.device(CPU).use if has_choice else not machine.gpus:
        used.append(_processor(machine))
    return tuple(_device(gpu, machine, preferences) for gpu in used)


def lent_devices(devices: tuple[Device, ...] | None, need_mb: int) -> tuple[Device, ...]:
    """Those of the chosen devices that will compute: the one with most memory, if it has enough.

    One, because a worker has one trainer. The other devices are nobody's business: a desktop on
    the processor's own graphics does not keep the big card from being lent.
    """
    able = [one for one in devices or () if not one.is_too_small(need_mb)]
    able.sort(key=lambda one: (one.is_cpu, -(one.gpu.memory_mb or 0)))
    return tuple(able[:1])


def _processor(machine: MachineFacts) -> Gpu:
    listed = next((one for one in machine.gpus or () if one.id == CPU), None)
    plain = Gpu(id=CPU, name=machine.cpu_name, temperature_c=machine.cpu_temperature_c)
    return msgspec.structs.replace(listed or plain, memory_mb=None, free_mb=None)


def _device(gpu: Gpu, machine: MachineFacts, preferences: Preferences) -> Device:
    has_own = gpu.memory_mb is not None
    total_mb = gpu.memory_mb if has_own else machine.memory_mb
    chosen_mb = preferences.device(gpu.id).memory_mb
    return Device(
        gpu=gpu,
        free_mb=gpu.free_mb if has_own else machine.free_memory_mb,
        most_mb=None if total_mb is None else most_memory_mb(total_mb, chosen_mb),
    )


# --- A moment, by the wall clock, by a clock that nobody sets, and in local time.
#
# Local time comes from a function that says how far it is ahead of UTC at a given instant, not
# from a zone or from fields of the clock: ends of hours and months lie in the future, beyond the
# next change to or from summer time, so that today's offset would be an hour wrong there. The
# function is `clock.utc_offset_s` in a program, any zone's in a test.
#
# Durations that must not be fooled by a clock that is set (how long a game has been closed) are
# differences of `steady_ms`; dates (the hours of the week, the month) are those of `ms`.

HOUR_MS = 3_600_000
_SECOND_MS = 1_000
_MOST_CHANGES = 4
"""Changes of the clocks that are looked beyond: two come within a year."""
_MONTH_HOURS = 24 * 33
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """Now."""

    ms: int
    """Since 1970, by the wall clock."""
    steady_ms: int
    """By a clock that only goes forward, at its own pace."""
    offset_s: Callable[[int], int]
    """How many seconds local time is ahead of UTC at an instant, in milliseconds since 1970."""

    def month(self) -> str:
        """Local month, as in `2026-11`."""
        return self._month(self.ms)

    def day(self) -> str:
        """Local day, as in `2026-11-20`."""
        return f"{self._local(self.ms):%Y-%m-%d}"

    def month_end_ms(self) -> int:
        """When the next local month begins, to the second."""
        now = self._month(self.ms)
        end_ms = self.ms + _MONTH_HOURS * HOUR_MS
        return _first(lambda at: self._month(at) != now, self.ms, end_ms)

    def is_in(self, week: Week) -> bool:
        """Whether the local hour is one of these."""
        return self._is_in(week, self.ms)

    def next_in_ms(self, week: Week) -> int | None:
        """When the first of these hours begins, if it is none of them now; None: never.

        An hour that summer time skips is none, one that comes twice counts twice.
        """
        if not any(week):
            return None
        at = self.ms
        for _ in range(_MOST_CHANGES):
            begin, at = at, self._next_by_offset(week, at)
            if self.offset_s(begin) == self.offset_s(at):
                return at
            at = self._change_ms(begin, at)  # before that the clocks are changed: look from there
            if self._is_in(week, at):
                return at
        return None

    def _next_by_offset(self, week: Week, at_ms: int) -> int:
        """When the next of these hours begins, if the clocks are not changed before."""
        offset_ms = self.offset_s(at_ms) * _SECOND_MS
        hour = (at_ms + offset_ms) // HOUR_MS + 1
        while not week[(hour // HOURS + _EPOCH.weekday()) % DAYS] >> hour % HOURS & 1:
            hour += 1
        return hour * HOUR_MS - offset_ms

    def _change_ms(self, begin_ms: int, end_ms: int) -> int:
        """When the clocks are changed between the two, to the second."""
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
    """First full second at which it holds: not at the beginning, and from then on to the end."""
    low, high = begin_ms // _SECOND_MS, -(-end_ms // _SECOND_MS)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle * _SECOND_MS) else (middle, high)
    return high * _SECOND_MS


# --- Why a worker that shall be in a run is in none.


class Why(StrEnum):
    """The cause."""

    JOINING = "joining"
    """Nothing is in the way, as far as is known."""
    NONE_OPEN = "open"
    """The ledger has no open run."""
    NONE_FITS = "fits"
    """It has some, and none fits this computer."""
    ENDED = "ended"
    """Ours is over."""
    BARRED = "barred"
    """The run cannot be taken part in."""
    NO_SWARM = "swarm"
    """There is no way to any run: a wrong ledger, an address that cannot be listened on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """Why there is no run now."""

    why: Why
    problem: str = ""
    """What went wrong, in words, where something did."""


JOINING = Outside(why=Why.JOINING)
NONE_OPEN = Outside(why=Why.NONE_OPEN)
NONE_FITS = Outside(why=Why.NONE_FITS)
ENDED = Outside(why=Why.ENDED)


# --- Whether our own steps have become slower: a sign, without asking anybody, that others
# compute.
#
# The time of a step, rests left out, as a mean over the last seconds, against a calm mean over
# the last minutes. Another task, another share or another process begins anew: nothing is
# compared that is not alike.

NOW_S = 4.0
CALM_S = 120.0
WARM_S = 15.0
"""A task's first seconds compile and fill caches: slow, and no measure."""
_TRAINING = "training"


@dataclass(frozen=True, slots=True)
class _Seen:
    command: int
    step: int
    at_s: float
    share: int


class StepPace:
    """The pace of one trainer; `look` is called with each new reading."""

    def __init__(self) -> None:
        self._seen: _Seen | None = None
        self._begun_s = 0.0
        self._now_s: float | None = None  # a step, lately
        self._calm_s: float | None = None  # a step, as a rule

    @property
    def slowdown(self) -> float | None:
        """How much longer a step takes than as a rule; None: not known yet."""
        if self._now_s is None or self._calm_s is None:
            return None
        return self._now_s / self._calm_s

    def look(self, alive: Alive | None, share_percent: int, at_s: float) -> None:
        """Take a reading: what the trainer says, how much of the time it may compute, and when."""
        if alive is None or alive.doing != _TRAINING or not share_percent:
            self._seen = None
            return
        before, seen = self._seen, _Seen(alive.command, alive.step, at_s, share_percent)
        if before is None or before.share != share_percent:
            self._begin(seen)
        elif before.command != alive.command:
            self._seen = seen
        elif alive.step > before.step:
            self._seen = seen
            step_s = (at_s - before.at_s) / (alive.step - before.step) * share_percent / 100
            self._take(step_s, at_s - before.at_s, at_s)
        elif self._now_s is not None:  # a step that is late is a slow one, before it is over
            late_s = (at_s - before.at_s) * share_percent / 100
            self._now_s = max(self._now_s, late_s)

    def _begin(self, seen: _Seen) -> None:
        self._seen, self._begun_s = seen, seen.at_s
        self._now_s = self._calm_s = None

    def _take(self, step_s: float, passed_s: float, at_s: float) -> None:
        if at_s - self._begun_s < WARM_S:
            return
        if self._now_s is None or self._calm_s is None:
            self._now_s = self._calm_s = step_s
            return
        self._now_s += min(passed_s / NOW_S, 1.0) * (step_s - self._now_s)
        self._calm_s += min(passed_s / CALM_S, 1.0) * (step_s - self._calm_s)
