"""The memory of the lending policy between two decisions.

Rules that would switch on and off too often have hysteresis: a game has been closed for a minute,
a device has cooled by five degrees, other programs have left it alone for a minute. Durations are
of the steady clock, which nobody sets; a restarted worker starts with an empty memory.

A device is kept at its temperature and power goals by pausing between steps, which needs no system
privileges. The controller is integral: above the goal it lowers the share of computing time, the
more the farther; well below the goal it raises the share, slowly; within the band it changes
nothing. It acts on the extrapolated temperature, so that a slow heat sink does not make it swing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from tequio_client.ipc.facts import SessionFacts
from tequio_client.ipc.preferences import DeviceChoice, Preferences
from tequio_client.ipc.session_rules import find_disturbance
from tequio_client.ipc.snapshot import DesiredState, Snooze
from tequio_client.worker.lending.facts import (
    LendableDevice,
    LendingFacts,
    LocalInstant,
    preferences_for,
    select_chosen_devices,
    select_lent_devices,
)

T = TypeVar("T")
MIN_PERCENT = 10
"""Lowest share of computing time; a device that is still too hot then stops instead."""
MAX_PERCENT = 100
BAND_C = 5.0
"""Degrees below the goal in which the share of computing time stays as it is."""
_CONTROL_MS = 5_000
"""Time between two changes of the share."""
_AHEAD_S = 20.0
"""Seconds by which the temperature's trend is extrapolated."""
_SMOOTH = 0.5
"""Weight of the newest temperature; sensors report whole degrees."""
_SMOOTH_WATTS = 0.25
"""Weight of the newest power reading; power drops with every pause between steps."""
_LESS_PER_C = 0.8
_LESS_PER_WATT_PERCENT = 0.15
_MORE_PER_UNIT = 0.25
_MOST_LESS = 20.0
_MOST_MORE = 2.0
_WATTS_BAND_PERCENT = 15.0
AFTER_GAME_MS = 60_000
"""Pause after a game, a film or an exclusive program."""
QUIET_MS = 60_000
"""Quiet time after other programs used a device, before it is lent again."""
OTHERS_LASTING_MS = 3_000
"""Load of other programs on a card that lasts this long stops a running trainer."""
SHORT_LOAD_MS, LONG_LOAD_MS = 10_000, 30_000
"""Times over which the processor's load is averaged."""
RESUME_SHARE = 0.8
"""Share of the processor's limit below which the load must fall before lending resumes."""
SLOWED_LASTING_MS = 5_000
SLOWED_BY = 1.4
FILM_GPU_PERCENT = 30
"""Load of other programs that is normal during a film in full screen."""
MAX_HOT_MS = 30_000
"""Longest time that a device may stay above its goal at the lowest share."""
SPARE_BYTES = 1 << 30
"""Disk space that must be free beyond the limit, once the limit was reached."""
MAX_GAME_SNOOZE_MS = 24 * 3_600_000
"""Longest snooze until a game closes, if it cannot be seen to close."""


def thread_count(cores: int, chosen: int = 0) -> int:
    """Number of threads that may compute; 0 chosen: all cores but one."""
    return max(1, min(chosen, cores) if chosen else cores - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class DevicePace:
    """The share of time that a device may compute, in percent, and the state of its controller."""

    share: float = float(MAX_PERCENT)
    at_ms: int | None = None  # last change, by the steady clock
    temperature_c: float | None = None  # smoothed, like `watts`
    watts: float | None = None

    @property
    def percent(self) -> int:
        return round(self.share)


def adjust_pace(
    pace: DevicePace,
    choice: DeviceChoice,
    temperature_c: float | None,
    watts: float | None,
    at_ms: int,
) -> DevicePace:
    """Adjust the share, at most every `_CONTROL_MS`; a missing reading (None) never raises it.

    A device that has never reported its temperature, or its power, is not controlled by it.
    """
    if pace.at_ms is not None and 0 <= at_ms - pace.at_ms < _CONTROL_MS:
        return pace
    now = replace(
        pace,
        at_ms=at_ms,
        temperature_c=_smooth(pace.temperature_c, temperature_c, _SMOOTH),
        watts=_smooth(pace.watts, watts, _SMOOTH_WATTS),
    )
    heat = 0.0 if temperature_c is None and pace.temperature_c else _by_heat(pace, now, choice)
    power = 0.0 if watts is None and pace.watts else _by_watts(now, choice)
    share = min(max(pace.share + min(heat, power), MIN_PERCENT), MAX_PERCENT)
    return replace(now, share=float(share))


def _by_heat(before: DevicePace, now: DevicePace, choice: DeviceChoice) -> float:
    """Change of the share in percent because of the temperature."""
    if now.temperature_c is None:
        return _MOST_MORE
    heading = now.temperature_c
    if before.temperature_c is not None and before.at_ms is not None and now.at_ms is not None:
        passed_s = max((now.at_ms - before.at_ms) / 1_000, _CONTROL_MS / 1_000)
        heading += (now.temperature_c - before.temperature_c) / passed_s * _AHEAD_S
    return _step(heading - choice.temperature_c, BAND_C, _LESS_PER_C)


def _by_watts(now: DevicePace, choice: DeviceChoice) -> float:
    if not choice.watts or now.watts is None:
        return _MOST_MORE
    above_percent = (now.watts / choice.watts - 1) * MAX_PERCENT
    return _step(above_percent, _WATTS_BAND_PERCENT, _LESS_PER_WATT_PERCENT)


def _step(above: float, band: float, less: float) -> float:
    """Change of the share in percent for being this far above the goal (or below, if negative)."""
    if above > 0:
        return -min(above * less, _MOST_LESS)
    return min(max(-band - above, 0.0) * _MORE_PER_UNIT, _MOST_MORE)


def _smooth(before: float | None, now: float | None, weight: float) -> float | None:
    if before is None or now is None:
        return before if now is None else now
    return before + (now - before) * weight


@dataclass(frozen=True, slots=True, kw_only=True)
class Hysteresis:
    """One condition that stops lending once it has lasted, until a quiet minute has passed."""

    since_ms: int | None = None  # start of the condition, if it holds now
    last_ms: int | None = None
    """Last time at which it held after it had lasted; None: it never lasted."""

    def is_on(self, now_ms: int) -> bool:
        return self.last_ms is not None and now_ms - self.last_ms < QUIET_MS

    def left_ms(self, now_ms: int) -> int:
        """Milliseconds until it is off, if the condition does not return."""
        return 0 if self.last_ms is None else max(0, self.last_ms + QUIET_MS - now_ms)

    def observe(self, is_so: bool | None, lasting_ms: int, now_ms: int) -> Hysteresis:  # noqa: FBT001 a fact
        """Add an observation; an unknown one (None) neither starts nor ends anything."""
        if is_so is None:
            return replace(self, last_ms=now_ms) if self.is_on(now_ms) else self
        if not is_so:
            return replace(self, since_ms=None)
        since = now_ms if self.since_ms is None else self.since_ms
        # A short peak does not start the quiet time again: with peaks often enough, it never ended.
        if now_ms - since >= lasting_ms:
            return Hysteresis(since_ms=since, last_ms=now_ms)
        return replace(self, since_ms=since)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadAverage:
    """A load, 0 to 1, averaged over a short and a long time; the higher of the two counts.

    So lasting load stops lending within seconds, and peaks do not: they neither stop it nor keep it
    from resuming. Readings younger than these times have equal weights.
    """

    short: float | None = None  # None: no reading yet; likewise `long`
    long: float | None = None
    since_ms: int = 0
    at_ms: int = 0
    is_high: bool = False
    """The level rose above the limit, and has not fallen below `RESUME_SHARE` of it since."""

    @property
    def level(self) -> float | None:
        return None if self.short is None or self.long is None else max(self.short, self.long)

    def observe(self, load: float | None, limit: float, now_ms: int) -> LoadAverage:
        """Add a reading; an unknown one (None) changes nothing."""
        if load is None:
            return self
        if self.short is None or self.long is None:
            return LoadAverage(
                short=load, long=load, since_ms=now_ms, at_ms=now_ms, is_high=load > limit
            )
        passed_ms, age_ms = now_ms - self.at_ms, now_ms - self.since_ms
        short = _averaged(self.short, load, passed_ms, min(age_ms, SHORT_LOAD_MS))
        long = _averaged(self.long, load, passed_ms, min(age_ms, LONG_LOAD_MS))
        least = limit * (RESUME_SHARE if self.is_high else 1)
        return replace(self, short=short, long=long, at_ms=now_ms, is_high=max(short, long) > least)


def _averaged(before: float, now: float, passed_ms: int, over_ms: int) -> float:
    return before + (now - before) * min(passed_ms / over_ms, 1.0) if passed_ms > 0 else before


@dataclass(frozen=True, slots=True, kw_only=True)
class SnoozeProgress:
    number: int  # number of the command that asked for it
    since_ms: int
    length_ms: int | None  # None: until the game closes
    gone_ms: int | None = None  # time since which the game is known to be closed

    def left_ms(self, now_ms: int) -> int | None:
        """Milliseconds left; 0: it is over; None: until the game closes."""
        if self.length_ms is not None:
            return max(0, self.since_ms + self.length_ms - now_ms)
        if now_ms - self.since_ms >= MAX_GAME_SNOOZE_MS:
            return 0
        return None if self.gone_ms is None else max(0, self.gone_ms + AFTER_GAME_MS - now_ms)


@dataclass(frozen=True, slots=True, kw_only=True)
class LendingHistory:
    """The policy's memory about one device; `LendingHistory()` when the worker starts."""

    game_ms: int | None = None
    """Last time at which a game, a film or an exclusive program was running."""
    snooze: SnoozeProgress | None = None
    finishing: tuple[int, int | None] | None = None
    """Number of the command to finish, and the round to be finished; None: that round is over."""
    outdated: tuple[str, int | None] | None = None
    """The version that the network needs, and the round to be finished before that matters."""
    hot: frozenset[str] = frozenset()  # ids of devices that must cool down first
    above_ms: Mapping[str, int] = field(default_factory=dict)
    """Time since which a device is above its goal at the lowest share, by id."""
    paces: Mapping[str, DevicePace] = field(default_factory=dict)
    others_gpu: Hysteresis = Hysteresis()
    others_cpu: LoadAverage = LoadAverage()
    slowed: Hysteresis = Hysteresis()
    is_disk_short: bool = False


def update_history(
    history: LendingHistory,
    facts: LendingFacts,
    preferences: Preferences,
    desired: DesiredState,
    now: LocalInstant,
) -> LendingHistory:
    """Update the memory with the present facts; call it before each `decide`, with equal values."""
    session, at_ms = facts.known_session(), now.steady_ms
    devices = select_chosen_devices(facts.known_machine(), preferences)
    # Whatever memory its run needs: a device too small for that can still score models.
    lent = select_lent_devices(devices, 0, facts.device)
    preferences = preferences_for(preferences, (one.gpu.key for one in lent))
    warmed = history if devices is None else _warmed(history, facts, preferences, lent, at_ms)
    is_played = session is not None and find_disturbance(session, preferences) is not None
    return replace(
        _strained(warmed, facts, preferences, lent, at_ms),
        game_ms=at_ms if is_played else history.game_ms,
        snooze=_snooze(history.snooze, desired, session, now),
        finishing=_last_round(
            history.finishing, desired.number if desired.finish else None, facts.round
        ),
        outdated=_last_round(history.outdated, facts.wanted_version or None, facts.round),
        is_disk_short=_is_disk_short(history, facts, preferences),
    )


def others_gpu_limit(session: SessionFacts | None, preferences: Preferences) -> int:
    """Load of other programs, in percent, above which an accelerator is left to them."""
    if session is not None and session.fullscreen and session.is_film:
        return max(FILM_GPU_PERCENT, preferences.others_gpu_percent)
    return preferences.others_gpu_percent


def _strained(
    history: LendingHistory,
    facts: LendingFacts,
    preferences: Preferences,
    devices: tuple[LendableDevice, ...],
    at_ms: int,
) -> LendingHistory:
    most = others_gpu_limit(facts.known_session(), preferences)
    loads = [one.others_load(facts) for one in devices if not one.is_cpu]
    is_busy = any(load is not None and load * 100 > most for load in loads)
    cpu, cpu_limit = facts.known_machine().others_cpu, preferences.others_cpu_percent / 100
    is_slowed = facts.is_computing and facts.slowdown is not None and facts.slowdown > SLOWED_BY
    return replace(
        history,
        others_gpu=history.others_gpu.observe(
            None if None in loads and not is_busy else is_busy, OTHERS_LASTING_MS, at_ms
        ),
        others_cpu=history.others_cpu.observe(cpu, cpu_limit, at_ms),
        slowed=history.slowed.observe(is_slowed, SLOWED_LASTING_MS, at_ms),
    )


def _warmed(
    history: LendingHistory,
    facts: LendingFacts,
    preferences: Preferences,
    devices: tuple[LendableDevice, ...],
    at_ms: int,
) -> LendingHistory:
    hot: set[str] = set()
    above: dict[str, int] = {}
    paces: dict[str, DevicePace] = {}
    for one in devices:
        name, choice = one.gpu.id, preferences.device(one.gpu.key)
        paces[name] = pace = _pace(history.paces.get(name, DevicePace()), facts, one, choice, at_ms)
        is_above = _is_at(one, choice.temperature_c, unknown=name in history.above_ms)
        if is_above and pace.percent <= MIN_PERCENT:
            above[name] = history.above_ms.get(name, at_ms)
        if (
            _is_at(one, choice.temperature_c + BAND_C, unknown=False)
            or (is_above and not facts.is_computing)
            or at_ms - above.get(name, at_ms) >= MAX_HOT_MS
            or (name in history.hot and not _is_cool(one, choice))
        ):
            hot.add(name)
    return replace(history, hot=frozenset(hot), above_ms=above, paces=paces)


def _pace(
    pace: DevicePace, facts: LendingFacts, one: LendableDevice, choice: DeviceChoice, at_ms: int
) -> DevicePace:
    # An idle device cools in any case: its readings must not raise the share.
    if not facts.is_computing:
        return replace(pace, at_ms=None, temperature_c=None, watts=None)
    return adjust_pace(pace, choice, one.gpu.temperature_c, one.gpu.watts, at_ms)


def _is_at(one: LendableDevice, degrees: float, *, unknown: bool) -> bool:
    return unknown if one.gpu.temperature_c is None else one.gpu.temperature_c >= degrees


def _is_cool(one: LendableDevice, choice: DeviceChoice) -> bool:
    degrees = one.gpu.temperature_c
    return degrees is not None and degrees <= choice.temperature_c - BAND_C


def _is_disk_short(history: LendingHistory, facts: LendingFacts, preferences: Preferences) -> bool:
    if facts.free_disk_bytes is None:
        return history.is_disk_short
    least = preferences.disk_free_gib << 30
    return facts.free_disk_bytes < least + (SPARE_BYTES if history.is_disk_short else 0)


def _last_round(
    before: tuple[T, int | None] | None, cause: T | None, underway: int | None
) -> tuple[T, int | None] | None:
    """Remember the round that was under way when its cause came; None: it is over."""
    if cause is None:
        return None
    if before is None or before[0] != cause:
        return cause, underway
    return before if before[1] == underway else (cause, None)


def _snooze(
    before: SnoozeProgress | None,
    desired: DesiredState,
    session: SessionFacts | None,
    now: LocalInstant,
) -> SnoozeProgress | None:
    snooze = desired.snooze
    if snooze is None:
        return None
    if before is None or before.number != desired.number:
        length_ms = None
        if snooze.until_ms is not None:
            # Never longer than when it was asked for, even if the clock was set back since.
            length_ms = max(0, min(snooze.until_ms - now.ms, snooze.until_ms - snooze.asked_ms))
        before = SnoozeProgress(number=desired.number, since_ms=now.steady_ms, length_ms=length_ms)
    if before.left_ms(now.steady_ms) == 0:
        return before  # a snooze that is over does not start again
    if session is None or is_game_running(snooze, session) is not False:
        return replace(before, gone_ms=None)
    gone_ms = now.steady_ms if before.gone_ms is None else before.gone_ms
    return replace(before, gone_ms=gone_ms)


def is_game_running(snooze: Snooze, session: SessionFacts) -> bool | None:
    """True if the game that a snooze waits for is running; None: unknown."""
    shown = "" if session.is_film else session.fullscreen
    if snooze.game:
        if snooze.game in {session.game, session.fullscreen, *(session.programs or ())}:
            return True
    elif session.game or shown:
        return True
    return None if session.game is None and session.fullscreen is None else False
