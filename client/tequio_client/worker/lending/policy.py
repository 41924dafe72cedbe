"""The lending policy: may a device be lent now, why not, until when, and how much.

A pure function of facts, preferences, desired state, a small memory and the time. `RULES` is the
order of precedence: the first rule that returns a decision wins, and if none does, the device is
lent. An active rule never treats an unknown fact as fine; a rule that is switched off (a threshold
of 100 %, no idle minutes, games allowed) needs no facts. What the user started anyway passes the
rules that only guess at the user's wishes (`Decision.is_startable`).

Four rules are about the connection too, and apply whatever else decides: `may_transfer` is false
before consent, while a game, a film or an exclusive program pauses lending, beyond the monthly
quota and on a metered network.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from tequio_client.ipc.facts import MachineFacts, SessionFacts
from tequio_client.ipc.preferences import Preferences
from tequio_client.ipc.session_rules import (
    against_metered,
    against_quota,
    against_user,
    find_disturbance,
    is_used,
    undetectable_fact,
    waiting,
)
from tequio_client.ipc.snapshot import (
    Decision,
    DesiredState,
    LendingReason,
    LendingState,
    Snooze,
    Value,
)
from tequio_client.ledger.networks import NO_LEDGER
from tequio_client.worker.lending.facts import (
    IdleCause,
    LendableDevice,
    LendingFacts,
    LocalInstant,
    preferences_for,
    select_chosen_devices,
    select_lent_devices,
)
from tequio_client.worker.lending.history import (
    AFTER_GAME_MS,
    RESUME_SHARE,
    Hysteresis,
    LendingHistory,
    others_gpu_limit,
)
from tequio_shared.limits import CLOCK_SKEW_MS
from tequio_shared.version import BUILD

BY_THE_RULES = frozenset({LendingReason.LENDING, LendingReason.LENDING_WHILE_USED})
"""Reasons of decisions with which no rule disagrees."""
_SECOND_MS, _MINUTE_MS = 1_000, 60_000
_MOST_TEXT = 500
_GIB = 1 << 30
_STORE_SLACK = 1.1
"""Tolerated size of the store over its limit: it is trimmed later, not kept from growing."""
_ALL_PERCENT = 100
"""A threshold that no load exceeds: the rule is switched off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleInput:
    facts: LendingFacts
    preferences: Preferences
    desired: DesiredState
    history: LendingHistory
    now: LocalInstant
    session: SessionFacts | None  # unknown if too old; None: a worker without an app
    machine: MachineFacts
    devices: tuple[LendableDevice, ...] | None  # devices that are not switched off; None: unknown
    lent: tuple[LendableDevice, ...]  # the one of `devices` that is decided about, if it is able


def needs_attention(reason: LendingReason, **values: Value) -> Decision:
    return Decision(state=LendingState.ATTENTION, reason=reason, values=values)


def end_ms(case: RuleInput, in_ms: int) -> int:
    """The wall-clock time in `in_ms`, rounded up to full seconds."""
    # Rounded because the two clocks are not read at once: the end would differ at each decision,
    # and each difference would look like news.
    return -(-(case.now.ms + max(in_ms, 1)) // _SECOND_MS) * _SECOND_MS


def consent(case: RuleInput) -> Decision | None:
    """Nothing is lent before the volunteer has consented."""
    if case.preferences.consent:
        return None
    return Decision(state=LendingState.PAUSED, reason=LendingReason.NO_CONSENT)


def paused_by_user(case: RuleInput) -> Decision | None:
    """Nothing is lent while the user has paused."""
    if case.desired.lend:
        return None
    return Decision(state=LendingState.PAUSED, reason=LendingReason.BY_HAND)


def snoozed(case: RuleInput) -> Decision | None:
    """Nothing is lent during a snooze, which ends at a time, or a minute after a game closes."""
    snooze, progress, state = case.desired.snooze, case.history.snooze, LendingState.SNOOZED
    left_ms = None if progress is None else progress.left_ms(case.now.steady_ms)
    if snooze is None or left_ms == 0:
        return None
    until_ms = None if left_ms is None else end_ms(case, left_ms)
    if snooze.until_ms is None:
        reason, values = LendingReason.UNTIL_GAME_CLOSES, _awaited_program(case, snooze)
        return Decision(state=state, reason=reason, values=values, until_ms=until_ms)
    if snooze.until_ms <= case.now.ms:
        return None
    # The earlier of the two clocks: setting the wall clock back must not make a snooze longer.
    until_ms = snooze.until_ms if until_ms is None else min(snooze.until_ms, until_ms)
    return Decision(state=state, reason=LendingReason.SNOOZED, until_ms=until_ms)


def _awaited_program(case: RuleInput, snooze: Snooze) -> dict[str, Value]:
    session = case.session
    name = snooze.game or (session.game or session.fullscreen if session else "")
    return {"program": name} if name else {"fact": "any"}


def finished(case: RuleInput) -> Decision | None:
    """Once the round to be finished is over, nothing is lent until the user asks for it again."""
    if not case.desired.finish:
        return None
    current = case.facts.round
    if current is not None and case.history.finishing == (case.desired.number, current):
        return None
    return Decision(
        state=LendingState.PAUSED, reason=LendingReason.BY_HAND, values={"fact": "finished"}
    )


def no_runtime(case: RuleInput) -> Decision | None:
    """A package can train once its runtime is installed."""
    return None if case.facts.has_runtime else waiting(LendingReason.NO_RUNTIME)


def broken(case: RuleInput) -> Decision | None:
    """Problems that stay until somebody solves them need attention."""
    facts = case.facts
    for problem, reason in (
        (facts.trainer_problem, LendingReason.TRAINER_BROKEN),
        (facts.standing_problem, LendingReason.QUARANTINED),
    ):
        if problem:
            return needs_attention(reason, problem=problem[:_MOST_TEXT])
    return None


def outdated(case: RuleInput) -> Decision | None:
    """A version older than the network's minimum lends no more after the round under way."""
    wanted, current = case.facts.wanted_version, case.facts.round
    if not wanted or (current is not None and case.history.outdated == (wanted, current)):
        return None
    return needs_attention(LendingReason.OUTDATED, wanted=wanted, own=BUILD)


def wrong_clock(case: RuleInput) -> Decision | None:
    """Nothing is lent while the ledger refuses the times that this computer signs."""
    ahead_ms = case.facts.clock_ahead_ms
    if abs(ahead_ms) <= CLOCK_SKEW_MS:
        return None
    values: dict[str, Value] = {"minutes": round(abs(ahead_ms) / _MINUTE_MS)}
    if ahead_ms < 0:
        values["fact"] = "behind"
    return needs_attention(LendingReason.CLOCK, **values)


def own_code(case: RuleInput) -> Decision | None:
    """Code of a run's own is run for those who allowed it alone."""
    needed = case.facts.plugin
    if needed is None:
        return None
    values: dict[str, Value] = {
        "plugin": needed.label,
        "archive": needed.archive,
    }
    return Decision(state=LendingState.PAUSED, reason=LendingReason.PLUGIN, values=values)


def no_device(case: RuleInput) -> Decision | None:
    """The device must be switched on and have enough memory for the run."""
    if case.devices is None or case.lent:
        return None
    asked = [one for one in case.devices if case.facts.device in ("", one.gpu.id)]
    if case.devices and not asked:
        values: dict[str, Value] = {"fact": "device"}
        return Decision(state=LendingState.PAUSED, reason=LendingReason.BY_HAND, values=values)
    if not asked:
        return needs_attention(LendingReason.NO_DEVICE)
    largest = max(asked, key=lambda one: one.most_mb or 0)
    return needs_attention(
        LendingReason.NO_DEVICE,
        fact="small",
        device=largest.gpu.name,
        wanted=_memory_wanted(case.facts.need_mb),
    )


def disk(case: RuleInput) -> Decision | None:
    """The store must stay within its limit, and leave the chosen space on the disk free."""
    facts, chosen = case.facts, case.preferences
    if facts.free_disk_bytes is None:
        return waiting(LendingReason.DISK, fact="unknown")
    if facts.store_bytes > chosen.disk_gib * _GIB * _STORE_SLACK:
        used = _gib(facts.store_bytes)
        return waiting(LendingReason.DISK, fact="store", used=used, most=chosen.disk_gib)
    if case.history.is_disk_short:
        free = _gib(facts.free_disk_bytes)
        return waiting(LendingReason.DISK, free=free, wanted=chosen.disk_free_gib)
    return None


def _gib(size_bytes: int) -> float:
    return round(size_bytes / _GIB, 1)


def power(case: RuleInput) -> Decision | None:
    """The computer must run on mains power and not be saving power, unless that was allowed."""
    machine, chosen = case.machine, case.preferences
    if not chosen.on_battery:
        if case.devices is None and machine.on_battery is None:
            fact = "starting" if case.facts.is_probe_starting else "probe"
            return waiting(LendingReason.BATTERY_UNKNOWN, fact=fact)
        if machine.on_battery is None:
            return waiting(LendingReason.BATTERY_UNKNOWN)
        if machine.on_battery:
            return waiting(LendingReason.BATTERY)
    if not chosen.while_saving_power:
        if machine.is_saving_power:
            return waiting(LendingReason.SAVING_POWER)
        # Desktops often report no power-saving mode: unknown matters on battery only.
        if machine.is_saving_power is None and machine.on_battery is not False:
            return waiting(LendingReason.BATTERY_UNKNOWN, fact="saver")
    return None


def heat(case: RuleInput) -> Decision | None:
    """A device that pausing between steps cannot keep below its goal must cool down first."""
    for one in case.lent:
        if one.gpu.id in case.history.hot:
            limit = case.preferences.device(one.gpu.key).temperature_c
            degrees = limit if one.gpu.temperature_c is None else round(one.gpu.temperature_c)
            return waiting(LendingReason.HOT, device=one.gpu.name, degrees=degrees, limit=limit)
    return None


def gpu_load(case: RuleInput) -> Decision | None:
    """An accelerator that other programs keep busy is left to them."""
    if case.devices is None:
        if case.facts.is_probe_starting:
            return waiting(LendingReason.GPU_UNKNOWN, fact="starting")
        return waiting(LendingReason.GPU_UNKNOWN)
    most = others_gpu_limit(case.session, case.preferences)
    if most >= _ALL_PERCENT:
        return None
    loads = [(one.others_load(case.facts), one.gpu.name) for one in case.lent if not one.is_cpu]
    for load, name in loads:
        if load is None and not case.facts.is_computing:
            return waiting(LendingReason.GPU_UNKNOWN, fact="load", device=name)
    if not loads:
        return None
    load, name = max((load or 0.0, name) for load, name in loads)
    strain, is_over = case.history.others_gpu, load * 100 > most
    found = waiting(LendingReason.OTHERS_GPU, device=name, percent=round(load * 100))
    return _strained(case, found, strain, is_over=is_over)


def cpu_load(case: RuleInput) -> Decision | None:
    """A processor that other programs use more than was chosen is left to them."""
    limit, average = case.preferences.others_cpu_percent, case.history.others_cpu
    if limit >= _ALL_PERCENT:
        return None
    if case.machine.others_cpu is None or average.level is None:
        return waiting(LendingReason.OTHERS_CPU, fact="unknown")
    if not average.is_high:
        return None
    percent, below = round(average.level * 100), round(limit * RESUME_SHARE)
    return waiting(LendingReason.OTHERS_CPU, percent=percent, below=below)


def _strained(
    case: RuleInput, found: Decision, strain: Hysteresis, *, is_over: bool
) -> Decision | None:
    """Stop for load that has lasted, and do not start during load."""
    at_ms = case.now.steady_ms
    if strain.is_on(at_ms):
        until_ms = None if is_over else end_ms(case, strain.left_ms(at_ms))
        return msgspec.structs.replace(found, until_ms=until_ms)
    # A running trainer is not stopped by a short peak, but none is started during one.
    return found if is_over and not case.facts.is_computing else None


def memory(case: RuleInput) -> Decision | None:
    """Enough memory must be free before a trainer starts; a running one has its memory already."""
    wanted = case.facts.need_mb
    if case.facts.is_computing or not wanted:
        return None
    for one in case.lent:
        name, free = one.gpu.name, one.free_mb
        if free is None:
            return waiting(LendingReason.GPU_UNKNOWN, fact="memory", device=name)
        if free < wanted:
            return waiting(
                LendingReason.GPU_MEMORY,
                device=name,
                free=_memory_free(free),
                wanted=_memory_wanted(wanted),
            )
    return None


def _memory_free(size_mb: int) -> float:
    """Convert MiB to GB, rounded down, so that too little never reads as enough."""
    return math.floor(size_mb / 102.4) / 10


def _memory_wanted(size_mb: int) -> float:
    """Convert MiB to GB, rounded up."""
    return math.ceil(size_mb / 102.4) / 10


def slowed(case: RuleInput) -> Decision | None:
    """Training steps that become slower show another program that no probe sees."""
    strain, at_ms = case.history.slowed, case.now.steady_ms
    if not strain.is_on(at_ms) or case.preferences.others_gpu_percent >= _ALL_PERCENT:
        return None
    return waiting(LendingReason.SLOWED, end_ms(case, strain.left_ms(at_ms)))


def ledger(case: RuleInput) -> Decision | None:
    """A ledger that has never answered needs attention: its address is probably wrong."""
    facts = case.facts
    if facts.ledger == NO_LEDGER:
        return needs_attention(LendingReason.LEDGER_UNKNOWN, fact="none")
    if facts.was_ledger_reached or not facts.ledger_problem:
        return None
    return needs_attention(LendingReason.LEDGER_UNKNOWN, address=facts.ledger[:_MOST_TEXT])


def run(case: RuleInput) -> Decision | None:
    """There must be a run to lend for; an unreachable ledger does not stop a joined run."""
    idle = case.facts.idle_reason
    if idle is None:
        return None
    if case.facts.ledger_problem:
        # Without the problem: it names another request at each retry, and each would be news.
        return waiting(LendingReason.LEDGER_AWAY, address=case.facts.ledger[:_MOST_TEXT])
    match idle.why:
        case IdleCause.JOINING:
            return None
        case IdleCause.NO_SWARM:
            return needs_attention(LendingReason.NO_SWARM, problem=idle.problem[:_MOST_TEXT])
        case IdleCause.BARRED as why:
            problem = idle.problem[:_MOST_TEXT]
            return needs_attention(LendingReason.NO_RUN, fact=why, problem=problem)
        case why:
            return waiting(LendingReason.NO_RUN, fact=why)


def game(case: RuleInput) -> Decision | None:
    """Nothing is lent during a game, a film or an exclusive program, and for a minute after it."""
    if case.session is None:
        return None
    found = find_disturbance(case.session, case.preferences)
    if found is not None:
        reason, program = found
        return waiting(reason, program=program)
    seen_ms = case.history.game_ms
    left_ms = 0 if seen_ms is None else seen_ms + AFTER_GAME_MS - case.now.steady_ms
    return waiting(LendingReason.AFTER_GAME, end_ms(case, left_ms)) if left_ms > 0 else None


def hours(case: RuleInput) -> Decision | None:
    """The local time must be within the chosen hours of the week."""
    week = case.preferences.week
    if case.now.is_in(week):
        return None
    begin_ms = case.now.next_hour_ms(week)
    if begin_ms is None:
        return waiting(LendingReason.SCHEDULE, fact="never")
    return waiting(LendingReason.SCHEDULE, end_ms(case, begin_ms - case.now.ms))


def quota(case: RuleInput) -> Decision | None:
    """The month's traffic must be below the monthly limit."""
    found = against_quota(case.facts.month_bytes, case.preferences)
    if found is None:
        return None
    left_ms = case.now.month_end_ms() - case.now.ms
    return msgspec.structs.replace(found, until_ms=end_ms(case, left_ms))


def metered(case: RuleInput) -> Decision | None:
    """The connection must not be metered, unless that was allowed."""
    return None if case.session is None else against_metered(case.session, case.preferences)


def undetectable(case: RuleInput) -> Decision | None:
    """Games and exclusive programs must be detectable, if they pause lending."""
    fact = "" if case.session is None else undetectable_fact(case.session, case.preferences)
    return waiting(LendingReason.CANNOT_TELL, fact=fact) if fact else None


def in_use(case: RuleInput) -> Decision | None:
    """Nobody may be using the computer, unless that was allowed."""
    return None if case.session is None else against_user(case.session, case.preferences)


RULES: tuple[Callable[[RuleInput], Decision | None], ...] = (
    consent,
    paused_by_user,
    snoozed,
    finished,
    no_runtime,
    broken,
    outdated,
    wrong_clock,
    own_code,
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
    undetectable,
    in_use,
    gpu_load,
    cpu_load,
    memory,
    slowed,
)
"""All rules, in order of precedence: consent and the user's commands first, so that their reason is
shown; then problems a person must solve; then conditions that pass by themselves."""


def decide(
    facts: LendingFacts,
    preferences: Preferences,
    desired: DesiredState,
    history: LendingHistory,
    now: LocalInstant,
) -> Decision:
    """Decide by the first rule that applies; `history` must be updated for the same values."""
    machine = facts.known_machine()
    devices = select_chosen_devices(machine, preferences)
    lent = select_lent_devices(devices, facts.need_mb, facts.device)
    case = RuleInput(
        facts=facts,
        preferences=preferences_for(preferences, (one.gpu.key for one in lent)),
        desired=desired,
        history=history,
        now=now,
        session=facts.known_session(),
        machine=machine,
        devices=devices,
        lent=lent,
    )
    found = _first_against(case) or _lend(case)
    if desired.finish and found.may_compute:
        found = msgspec.structs.replace(
            found,
            state=LendingState.FINISHING,
            reason=LendingReason.FINISHING,
            values={"round": facts.round or 0},
        )
    against = game, undetectable, quota, metered
    may_transfer = preferences.consent and not any(rule(case) for rule in against)
    return msgspec.structs.replace(found, may_transfer=may_transfer)


def _first_against(case: RuleInput) -> Decision | None:
    is_overruled = False
    for rule in RULES:
        found = rule(case)
        if found is None:
            continue
        if not (case.desired.anyway and found.is_startable):
            return found
        is_overruled = True
    if not is_overruled:
        return None
    lent = _lend(case)
    return msgspec.structs.replace(lent, reason=LendingReason.LENDING_ANYWAY, values={})


def _lend(case: RuleInput) -> Decision:
    state = LendingState.LENDING
    share = min((_share(case, one) for one in case.lent), default=0)
    is_spare = any(case.preferences.device(one.gpu.key).while_used for one in case.lent)
    if is_spare or case.session is None or not is_used(case.session, case.preferences):
        fact = "spare" if is_spare else "unseen" if case.session is None else ""
        values: dict[str, Value] = {"fact": fact} if fact else {}
        return Decision(
            state=state, reason=LendingReason.LENDING, values=values, share_percent=share
        )
    share = min(share, case.preferences.used_share_percent)
    return Decision(
        state=state,
        reason=LendingReason.LENDING_WHILE_USED,
        values={"share": share},
        share_percent=share,
    )


def _share(case: RuleInput, device: LendableDevice) -> int:
    """Share of time that a device may compute: as chosen, and as its heat and power allow."""
    choice = case.preferences.device(device.gpu.key)
    pace = case.history.paces.get(device.gpu.id)
    return choice.share_percent if pace is None else min(choice.share_percent, pace.percent)
