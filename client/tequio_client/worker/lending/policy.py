"""The lending policy: may this computer lend now, why not, until when, and how much.

A pure function of facts, preferences, desired state, a small memory and the time. `RULES` is the
order of precedence: the first rule that returns a decision wins, and if none does, the computer
lends. An active rule never treats an unknown fact as fine; a rule that is switched off (a threshold
of 100 %, no idle minutes, games allowed) needs no facts.

Three rules are about the connection, not the device, and apply whatever else decides:
`may_transfer` is false before consent, beyond the monthly quota and on a metered network.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from tequio_client.ipc.snapshot import Decision, Reason, State
from tequio_client.worker.lending.facts import Why, chosen_devices, lent_devices
from tequio_client.worker.lending.history import AFTER_GAME_MS, disturbing, gpu_percent

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.ipc.facts import MachineFacts, SessionFacts
    from tequio_client.ipc.preferences import Preferences
    from tequio_client.ipc.snapshot import Value, Wish
    from tequio_client.worker.lending.facts import Device, Facts, Moment
    from tequio_client.worker.lending.history import Strain, Traces

_SECOND_MS = 1_000
_MOST_TEXT = 500
_GIB = 1 << 30
GB = 10**9
_STORE_SLACK = 1.1
"""Tolerated size of the store over its limit: it is trimmed later, not kept from growing."""
_ALL_PERCENT = 100
"""A threshold that no load exceeds: the rule is switched off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Everything that a rule may depend on."""

    facts: Facts
    preferences: Preferences
    wish: Wish
    traces: Traces
    now: Moment
    session: SessionFacts | None
    """Unknown if too old; None: a worker without an app."""
    machine: MachineFacts
    devices: tuple[Device, ...] | None
    """Devices that are not switched off; None: unknown."""
    lent: tuple[Device, ...]
    """Those of `devices` that will compute."""


def wait(
    case: Case, reason: Reason, values: dict[str, Value] | None = None, in_ms: int | None = None
) -> Decision:
    """A decision to wait for that reason, for `in_ms` if that is known."""
    until_ms = None if in_ms is None else end_ms(case, in_ms)
    return Decision(state=State.WAITING, reason=reason, values=values or {}, until_ms=until_ms)


def end_ms(case: Case, in_ms: int) -> int:
    """The wall-clock time in `in_ms`, rounded up to full seconds."""
    # Rounded because the two clocks are not read at once: the end would differ at each decision,
    # and each difference would look like news.
    return -(-(case.now.ms + max(in_ms, 1)) // _SECOND_MS) * _SECOND_MS


def problem(text: str) -> dict[str, Value]:
    """Values of a decision with an error text, cut to a bounded length."""
    return {"problem": text[:_MOST_TEXT]}


def attention(reason: Reason, values: dict[str, Value] | None = None) -> Decision:
    """A decision that needs the user's attention."""
    return Decision(state=State.ATTENTION, reason=reason, values=values or {})


def consent(case: Case) -> Decision | None:
    """Nothing is lent before the volunteer has consented."""
    if case.preferences.consent:
        return None
    return Decision(state=State.PAUSED, reason=Reason.NO_CONSENT)


def by_hand(case: Case) -> Decision | None:
    """Nothing is lent while the user has paused."""
    if not case.wish.lend:
        return Decision(state=State.PAUSED, reason=Reason.BY_HAND)
    return None


def snoozed(case: Case) -> Decision | None:
    """Nothing is lent during a snooze, which ends at a time, or a minute after a game closes."""
    snooze, trace = case.wish.snooze, case.traces.snooze
    if snooze is None:
        return None
    left_ms = None if trace is None else trace.left_ms(case.now.steady_ms)
    if left_ms == 0:
        return None
    if snooze.until_ms is None:
        until_ms = None if left_ms is None else end_ms(case, left_ms)
        values = _program(snooze.game or _shown_game(case))
        reason = Reason.UNTIL_GAME_CLOSES
        return Decision(state=State.SNOOZED, reason=reason, values=values, until_ms=until_ms)
    if snooze.until_ms <= case.now.ms:
        return None
    # The earlier of the two clocks: setting the wall clock back must not make a snooze longer.
    most_ms = snooze.until_ms if left_ms is None else end_ms(case, left_ms)
    until_ms = min(snooze.until_ms, most_ms)
    return Decision(state=State.SNOOZED, reason=Reason.SNOOZED, until_ms=until_ms)


def _program(name: str) -> dict[str, Value]:
    return {"program": name} if name else {"fact": "any"}


def _shown_game(case: Case) -> str:
    session = case.session
    return "" if session is None else session.game or session.fullscreen or ""


def finished(case: Case) -> Decision | None:
    """Once the round to be finished is over, nothing is lent until the user asks for it again."""
    if not case.wish.finish:
        return None
    current = case.facts.round
    if current is not None and case.traces.finishing == (case.wish.number, current):
        return None
    values: dict[str, Value] = {"fact": "finished"}
    return Decision(state=State.PAUSED, reason=Reason.BY_HAND, values=values)


def broken(case: Case) -> Decision | None:
    """Problems that stay until somebody solves them need attention."""
    facts = case.facts
    for text, reason in (
        (facts.trainer_problem, Reason.TRAINER_BROKEN),
        (facts.key_problem, Reason.KEY),
        (facts.standing_problem, Reason.QUARANTINED),
    ):
        if text:
            return attention(reason, problem(text))
    return None


def no_device(case: Case) -> Decision | None:
    """Some device must be switched on and have enough memory for the run."""
    if case.devices is None or case.lent:
        return None
    if not case.devices:
        return attention(Reason.NO_DEVICE)
    largest = max(case.devices, key=lambda one: one.most_mb or 0)
    values: dict[str, Value] = {"device": largest.gpu.name, "wanted": case.facts.need_mb}
    return attention(Reason.NO_DEVICE, {"fact": "small", **values})


def disk(case: Case) -> Decision | None:
    """The store must stay within its limit, and leave the chosen space on the disk free."""
    facts, chosen = case.facts, case.preferences
    if facts.free_disk_bytes is None:
        return wait(case, Reason.DISK, {"fact": "unknown"})
    if facts.store_bytes > chosen.disk_gib * _GIB * _STORE_SLACK:
        used = _gib(facts.store_bytes)
        return wait(case, Reason.DISK, {"fact": "store", "used": used, "most": chosen.disk_gib})
    if case.traces.is_disk_short or facts.free_disk_bytes < chosen.disk_free_gib * _GIB:
        free = _gib(facts.free_disk_bytes)
        return wait(case, Reason.DISK, {"free": free, "wanted": chosen.disk_free_gib})
    return None


def _gib(size_bytes: int) -> float:
    return round(size_bytes / _GIB, 1)


def power(case: Case) -> Decision | None:
    """The computer must run on mains power and not be saving power, unless that was allowed."""
    machine, chosen = case.machine, case.preferences
    if not chosen.on_battery:
        if case.devices is None and machine.on_battery is None:
            return wait(case, Reason.BATTERY_UNKNOWN, {"fact": "probe"})
        if machine.on_battery is None:
            return wait(case, Reason.BATTERY_UNKNOWN)
        if machine.on_battery:
            return wait(case, Reason.BATTERY)
    if not chosen.while_saving_power:
        if machine.is_saving_power:
            return wait(case, Reason.SAVING_POWER)
        # Desktops often report no power-saving mode: unknown matters on battery only.
        if machine.is_saving_power is None and machine.on_battery is not False:
            return wait(case, Reason.BATTERY_UNKNOWN, {"fact": "saver"})
    return None


def heat(case: Case) -> Decision | None:
    """A device that pausing between steps cannot keep below its goal must cool down first."""
    for one in case.lent:
        if one.gpu.id in case.traces.hot:
            limit = case.preferences.device(one.gpu.id).temperature_c
            degrees = limit if one.gpu.temperature_c is None else round(one.gpu.temperature_c)
            return wait(
                case, Reason.HOT, {"device": one.gpu.name, "degrees": degrees, "limit": limit}
            )
    return None


def gpu_load(case: Case) -> Decision | None:
    """An accelerator that other programs keep busy is left to them."""
    if case.devices is None:
        return wait(case, Reason.GPU_UNKNOWN)
    most = gpu_percent(case.session, case.preferences)
    if most >= _ALL_PERCENT:
        return None
    loads = [(one.others_load(case.facts), one.gpu.name) for one in case.lent if not one.is_cpu]
    for load, name in loads:
        if load is None and not case.facts.is_computing:
            return wait(case, Reason.GPU_UNKNOWN, {"fact": "load", "device": name})
    if not loads:
        return None
    load, name = max((load or 0.0, name) for load, name in loads)
    is_over = load * 100 > most
    strain, percent = case.traces.others_gpu, round(load * 100)
    values: dict[str, Value] = {"device": name, "percent": percent}
    return _strained(case, Reason.OTHERS_GPU, strain, values, is_over=is_over)


def cpu_load(case: Case) -> Decision | None:
    """A processor that other programs use more than was chosen is left to them."""
    most, load = case.preferences.others_cpu_percent, case.machine.others_cpu
    if most >= _ALL_PERCENT:
        return None
    if load is None:
        return wait(case, Reason.OTHERS_CPU, {"fact": "unknown"})
    percent, is_over = round(load * 100), load * 100 > most
    strain = case.traces.others_cpu
    return _strained(case, Reason.OTHERS_CPU, strain, {"percent": percent}, is_over=is_over)


def _strained(
    case: Case, reason: Reason, strain: Strain, values: dict[str, Value], *, is_over: bool
) -> Decision | None:
    """Stop for load that has lasted, and do not start during load."""
    at_ms = case.now.steady_ms
    if strain.is_on(at_ms):
        return wait(case, reason, values, None if is_over else strain.left_ms(at_ms))
    # A running trainer is not stopped by a short peak, but none is started during one.
    return wait(case, reason, values) if is_over and not case.facts.is_computing else None


def memory(case: Case) -> Decision | None:
    """Enough memory must be free before a trainer starts; a running one has its memory already."""
    wanted = case.facts.need_mb
    if case.facts.is_computing or not wanted:
        return None
    for one in case.lent:
        if one.free_mb is None:
            return wait(case, Reason.GPU_UNKNOWN, {"fact": "memory", "device": one.gpu.name})
        if one.free_mb < wanted:
            room = {"free": one.free_mb, "wanted": wanted}
            return wait(case, Reason.GPU_MEMORY, {"device": one.gpu.name, **room})
    return None


def slowed(case: Case) -> Decision | None:
    """Training steps that become slower show another program that no probe sees."""
    strain, at_ms = case.traces.slowed, case.now.steady_ms
    if not strain.is_on(at_ms) or case.preferences.others_gpu_percent >= _ALL_PERCENT:
        return None
    return wait(case, Reason.SLOWED, in_ms=strain.left_ms(at_ms))


def ledger(case: Case) -> Decision | None:
    """A ledger that has never answered needs attention: its address is probably wrong."""
    facts = case.facts
    if facts.was_ledger_reached or not facts.ledger_problem:
        return None
    return attention(Reason.LEDGER_UNKNOWN, problem(facts.ledger_problem))


def run(case: Case) -> Decision | None:
    """There must be a run to lend for; an unreachable ledger does not stop a joined run."""
    facts, outside = case.facts, case.facts.outside
    if outside is None:
        return None
    if facts.ledger_problem:
        return wait(case, Reason.LEDGER_AWAY, problem(facts.ledger_problem))
    match outside.why:
        case Why.JOINING:
            return None
        case Why.NO_SWARM:
            return attention(Reason.NO_SWARM, problem(outside.problem))
        case Why.BARRED:
            return attention(Reason.NO_RUN, {"fact": outside.why, **problem(outside.problem)})
        case why:
            return wait(case, Reason.NO_RUN, {"fact": why})


def game(case: Case) -> Decision | None:
    """Nothing is lent during a game, a film or an exclusive program, and for a minute after it."""
    if case.session is None:
        return None
    found = disturbing(case.session, case.preferences)
    if found is not None:
        reason, program = found
        return wait(case, reason, {"program": program})
    seen_ms = case.traces.game_ms
    left_ms = 0 if seen_ms is None else seen_ms + AFTER_GAME_MS - case.now.steady_ms
    return wait(case, Reason.AFTER_GAME, in_ms=left_ms) if left_ms > 0 else None


def hours(case: Case) -> Decision | None:
    """The local time must be within the chosen hours of the week."""
    week = case.preferences.week
    if case.now.is_in(week):
        return None
    begin_ms = case.now.next_in_ms(week)
    if begin_ms is None:
        return wait(case, Reason.SCHEDULE, {"fact": "never"})
    return wait(case, Reason.SCHEDULE, in_ms=begin_ms - case.now.ms)


def quota(case: Case) -> Decision | None:
    """The month's traffic must be below the monthly limit."""
    most = case.preferences.month_gb
    if not most or case.facts.month_bytes < most * GB:
        return None
    return wait(case, Reason.QUOTA, {"gb": most}, case.now.month_end_ms() - case.now.ms)


def metered(case: Case) -> Decision | None:
    """The connection must not be metered, unless that was allowed."""
    if case.session is None or case.preferences.on_metered:
        return None
    if case.session.is_metered is None:
        return wait(case, Reason.METERED, {"fact": "unknown"})
    return wait(case, Reason.METERED) if case.session.is_metered else None


def blind(case: Case) -> Decision | None:
    """Games and exclusive programs must be detectable, if they pause lending."""
    session, chosen = case.session, case.preferences
    if session is None:
        return None
    if chosen.pause_for_games and session.game is None:
        fact = "session" if session.fullscreen is None and session.idle_s is None else "game"
        return wait(case, Reason.CANNOT_TELL, {"fact": fact})
    if chosen.exclusive and session.programs is None:
        return wait(case, Reason.CANNOT_TELL, {"fact": "programs"})
    return None


def in_use(case: Case) -> Decision | None:
    """Nobody may be using the computer, unless that was allowed."""
    if case.preferences.while_used or not is_used(case):
        return None
    fact = "" if _was_touched(case) else _missing(case)
    if fact:
        return wait(case, Reason.CANNOT_TELL, {"fact": fact})
    return wait(case, Reason.IN_USE, {"minutes": case.preferences.idle_minutes})


def is_used(case: Case) -> bool:
    """True if somebody uses the computer, as far as is known; a locked one is not in use."""
    if case.session is None or case.session.is_locked:
        return False
    return _was_touched(case) or bool(_missing(case))


def _was_touched(case: Case) -> bool:
    idle_s = None if case.session is None else case.session.idle_s
    return idle_s is not None and idle_s < case.preferences.idle_minutes * 60


def _missing(case: Case) -> str:
    """Name of a fact that is missing to know that nobody uses the computer; empty: none."""
    session, chosen = case.session, case.preferences
    if session is None:
        return ""
    if chosen.idle_minutes and session.idle_s is None:
        return "idle"
    wants_screen = chosen.pause_for_games or chosen.pause_for_films
    return "fullscreen" if wants_screen and session.fullscreen is None else ""


RULES: tuple[Callable[[Case], Decision | None], ...] = (
    consent,
    by_hand,
    snoozed,
    finished,
    broken,
    ledger,
    no_device,
    disk,
    run,
    power,
    heat,
    game,
    hours,
    quota,
    metered,
    blind,
    in_use,
    gpu_load,
    cpu_load,
    memory,
    slowed,
)
"""All rules, in order of precedence: consent and the user's commands first, so that their reason is
shown; then problems a person must solve; then conditions that pass by themselves."""


def decide(
    facts: Facts, preferences: Preferences, wish: Wish, traces: Traces, now: Moment
) -> Decision:
    """Decide by the first rule that applies; `traces` must be updated for the same values."""
    machine = facts.known_machine()
    devices = chosen_devices(machine, preferences)
    case = Case(
        facts=facts,
        preferences=preferences,
        wish=wish,
        traces=traces,
        now=now,
        session=facts.known_session(),
        machine=machine,
        devices=devices,
        lent=lent_devices(devices, facts.need_mb),
    )
    found = next((one for rule in RULES if (one := rule(case)) is not None), None) or _lend(case)
    if wish.finish and found.may_compute:
        values: dict[str, Value] = {"round": facts.round or 0}
        found = msgspec.structs.replace(
            found, state=State.FINISHING, reason=Reason.FINISHING, values=values
        )
    return msgspec.structs.replace(found, may_transfer=_may_transfer(case))


def _lend(case: Case) -> Decision:
    share = min((_share(case, one) for one in case.lent), default=0)
    if not is_used(case):
        return Decision(state=State.LENDING, reason=Reason.LENDING, share_percent=share)
    share = min(share, case.preferences.used_share_percent)
    return Decision(
        state=State.LENDING,
        reason=Reason.LENDING_WHILE_USED,
        values={"share": share},
        share_percent=share,
    )


def _share(case: Case, device: Device) -> int:
    """Share of time that a device may compute: as chosen, and as its heat and power allow."""
    choice = case.preferences.device(device.gpu.id)
    pace = case.traces.paces.get(device.gpu.id)
    return choice.share_percent if pace is None else min(choice.share_percent, pace.percent)


def _may_transfer(case: Case) -> bool:
    return case.preferences.consent and quota(case) is None and metered(case) is None
