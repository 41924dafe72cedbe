"""English texts for the codes that worker and app exchange: decisions, events and rounds.

Each meaning has one template with its values in braces. The command line fills the template as it
is; the app translates it first (`app.words`). A template uses only values that are always there,
since a missing one would raise KeyError; a test fills them all.

A decision's key is the code of its reason, followed by `.` and its `fact`, or by `.until` where the
end is known and the sentence changes with it. Each sentence names the rule that decided and the way
out. An event's points come in GFLOP; its time is in the row. `UNKNOWN_EVENT` and
`UNKNOWN_REASON` are for codes of a later version.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from tequio_client.ipc.snapshot import (
    Decision,
    LendingReason,
    LendingState,
    ReachabilityView,
    ReachState,
    RouterPort,
    Value,
)

if TYPE_CHECKING:
    from tequio_client.ipc.points import ActivityRow

STATE_WORDS: Mapping[LendingState, str] = {
    LendingState.LENDING: "Lending",
    LendingState.FINISHING: "Finishing",
    LendingState.WAITING: "Waiting",
    LendingState.PAUSED: "Paused",
    LendingState.SNOOZED: "Snoozed",
    LendingState.ATTENTION: "Attention",
}

REASON_TEMPLATES: Mapping[str, str] = {
    "lending": "nobody needs the computer. Gives way when you come back.",
    "lending.spare": "this device is lent also while you use the computer or play.",
    "lending.unseen": "whether or not somebody uses the computer, which this worker cannot see. "
    "Pause stops it (tequio pause).",
    "lending-while-used": "gently, at {share}% of the time, while you use the computer.",
    "lending-anyway": "you started it although a rule says to wait. The rules decide again once "
    "they have allowed it for 5 min.",
    "judging": "scoring models for a competition, as you offered. See Competitions.",
    "no-consent": "nothing is lent before you agree to it. Choose when to lend, then Contribute.",
    "by-hand": "you paused it. Resumes when you choose Contribute.",
    "by-hand.finished": "the last round is finished, as you asked. Resumes when you choose "
    "Contribute.",
    "snoozed": "you asked for a break. Resumes automatically.",
    "snoozed.until": "you asked for a break. Resumes {until}.",
    "by-hand.device": "this device is switched off. Switch it on in Hardware to lend it.",
    "until-game-closes": "until {program} closes. Resumes 60 s after that.",
    "until-game-closes.any": "until your game closes. Resumes 60 s after that.",
    "until-game-closes.until": "your game has closed. Resumes {until}.",
    "finishing": "round {round} is the last one. Then lending stops, as you asked.",
    "no-runtime": "what training needs is not installed yet. Resumes when it has been downloaded.",
    "trainer-broken": "the training program keeps failing. Contribute tries again; Activity has "
    "the log.",
    "ledger-unknown": "can't reach the network at {address}. Tequio keeps trying; check your "
    "connection, or the address in Settings, Network.",
    "ledger-unknown.none": "no network was chosen yet. Choose one with Join a network.",
    "ledger-away": "can't reach the network at {address}. Resumes when it answers.",
    "no-swarm": "the other computers of the run cannot be reached. Tequio keeps trying; the "
    "listen address is in Settings, Advanced.",
    "no-run.open": "no run is open now. Resumes automatically when one opens.",
    "no-run.fits": "no open run fits this computer. Resumes when one does; Runs says what each "
    "needs.",
    "no-run.taken": "every open run that fits this device is trained by another one of this "
    "computer. Resumes when another one opens.",
    "no-run.ended": "the run has ended. Resumes with another one; your points stay yours.",
    "no-run.barred": "this computer cannot take part in the run ({problem}). See Runs; retries "
    "automatically.",
    "plugin": "the run brings its own code ({plugin}), which needs your consent. See Runs to allow "
    "it, or to choose another run.",
    "quarantined": "your key cannot take part now ({problem}). See Activity for what you can do.",
    "outdated": "this network needs version {wanted} or newer; this is {own}. Resumes once "
    "Tequio is updated.",
    "clock": "this computer's clock is {minutes} min ahead, so the network refuses its work. "
    "Resumes once the clock is set right.",
    "clock.behind": "this computer's clock is {minutes} min behind, so the network refuses its "
    "work. Resumes once the clock is set right.",
    "no-device": "no device is enabled. Turn one on in Hardware.",
    "no-device.small": "{device} has too little memory for this run, which needs {wanted} GB. "
    "Raise its limit in Hardware, choose another run, or open a cell with others in your network "
    "(tequio cell host).",
    "disk": "only {free} GB of disk space are free, and {wanted} GB should stay free. Resumes "
    "when there is 1 GB more than that.",
    "disk.unknown": "cannot tell how much disk is free. Check that the store's folder is there.",
    "disk.store": "the store holds {used} GB of at most {most} GB. Resumes when it has been "
    "trimmed; its limit is in Settings, Storage.",
    "battery": "the computer runs on battery. Resumes on mains power.",
    "battery-unknown": "cannot tell whether the computer runs on battery. See Health in Activity, "
    "or allow lending on battery in Settings, When to lend.",
    "battery-unknown.saver": "cannot tell whether the computer saves power. See Health in "
    "Activity, or allow that in Settings, When to lend.",
    "battery-unknown.probe": "the hardware probe does not answer. Resumes when it does; see Health "
    "in Activity.",
    "battery-unknown.starting": "the hardware is being checked. Resumes in a moment.",
    "saving-power": "power saving is on. Resumes when it is turned off.",
    "hot": "{device} is at {degrees} °C, above your limit of {limit} °C. Resumes when it is 5 °C "
    "below the limit.",
    "game": "a game is running ({program}). Resumes 60 s after it closes.",
    "fullscreen": "a game is fullscreen ({program}). Resumes 60 s after it closes.",
    "film": "a film is fullscreen ({program}). Resumes 60 s after it closes.",
    "exclusive": "{program} is running, and you want nothing lent beside it. Resumes 60 s after "
    "it closes.",
    "after-game": "a game or another exclusive program has just closed. Resumes {until}.",
    "schedule": "outside the hours in which you lend. Resumes {until}.",
    "schedule.never": "no hour of the week is chosen. Choose some in Settings, When to lend.",
    "quota": "this month's {gb} GB of traffic are used up. Resumes {until}.",
    "metered": "this network is metered. Resumes on another network.",
    "metered.unknown": "cannot tell whether this network is metered. See Health in Activity, or "
    "allow metered networks in Settings, Network.",
    "in-use": "you are using the computer. Resumes after {minutes} min without input.",
    "cannot-tell": "cannot tell whether you are away. See Health in Activity.",
    "cannot-tell.session": "cannot tell whether you are away: nothing is known of your session. "
    "Resumes when its probes answer; see Health in Activity.",
    "cannot-tell.idle": "cannot tell when you last touched the computer. Resumes when it is "
    "locked; see Health in Activity.",
    "cannot-tell.fullscreen": "cannot tell whether a program fills the screen. Resumes when the "
    "computer is locked; see Health in Activity, or switch off pausing for games in Settings, When "
    "to lend.",
    "cannot-tell.game": "cannot tell whether a game is running. See Health in Activity, or switch "
    "off pausing for games in Settings, When to lend.",
    "cannot-tell.programs": "cannot tell whether one of your exclusive programs is running. See "
    "Health in Activity, or empty their list in Settings, When to lend.",
    "cannot-tell.other-user": "another user is using this computer. Resumes when they have logged "
    "out.",
    "others-gpu": "other programs are using {percent}% of {device}. Resumes 60 s after they "
    "finish.",
    "others-gpu.until": "other programs needed {device}. Resumes {until}.",
    "others-cpu": "other programs are using {percent}% of your CPU. Resumes below {below}%.",
    "others-cpu.unknown": "cannot tell how much CPU other programs use. See Health in Activity, "
    "or set that limit to 100% in Settings, When to lend.",
    "gpu-memory": "{device} has {free} GB of memory free and training needs {wanted} GB. "
    "Resumes when other programs give it back.",
    "gpu-unknown": "cannot tell what the graphics cards do: their probe does not answer. Resumes "
    "when it does; see Health in Activity.",
    "gpu-unknown.starting": "the graphics cards are being checked. Resumes in a moment.",
    "gpu-unknown.load": "cannot tell how busy other programs keep {device}. See Health in "
    "Activity, or set that limit to 100% in Settings, When to lend.",
    "gpu-unknown.memory": "cannot tell how much memory of {device} is free. See Health in "
    "Activity.",
    "slowed": "training was slowed down: another program needs the device. Resumes {until}.",
}
"""Text after the state's word and a colon; `{until}` is one of `WHEN`, filled in."""

END_TEMPLATES: Mapping[str, str] = {
    "seconds": "in {seconds} s",
    "minutes": "in {minutes} min",
    "today": "at {time}",
    "week": "on {weekday} at {time}",
    "later": "on {date} at {time}",
}
"""End of a pause: within 90 s, within the hour, or at a local time."""

_SOON_MS = 90_000
_HOUR_MS = 3_600_000
_DAY_MS = 24 * _HOUR_MS
_WEEK_MS = 6 * _DAY_MS
"""Within this time a weekday can only mean the next one of that name."""


class LocalTime(NamedTuple):
    """An instant on the local clock, named in the reader's language."""

    weekday: str
    date: str
    time: str


def decision_template(decision: Decision) -> str:
    keys = [str(decision.reason)]
    if "fact" in decision.values:
        keys.insert(0, f"{decision.reason}.{decision.values['fact']}")
    if decision.until_ms is not None:
        keys.insert(0, f"{decision.reason}.until")
    return next(REASON_TEMPLATES[key] for key in keys if key in REASON_TEMPLATES)


def end_template(
    until_ms: int, now_ms: int, local: Callable[[int], LocalTime]
) -> tuple[str, Mapping[str, Value]]:
    """Choose the template for the end of a pause, with its values."""
    left_ms = max(0, until_ms - now_ms)
    if left_ms < _SOON_MS:
        return END_TEMPLATES["seconds"], {"seconds": -(-left_ms // 1_000)}
    if left_ms < _HOUR_MS:
        return END_TEMPLATES["minutes"], {"minutes": -(-left_ms // 60_000)}
    return time_template(until_ms, now_ms, local)


def time_template(
    at_ms: int, now_ms: int, local: Callable[[int], LocalTime]
) -> tuple[str, Mapping[str, Value]]:
    """Choose the template for an instant relative to now, with its values."""
    at, away_ms = local(at_ms), abs(at_ms - now_ms)
    if away_ms < _DAY_MS and at.weekday == local(now_ms).weekday:
        return END_TEMPLATES["today"], at._asdict()
    return END_TEMPLATES["week" if 0 <= at_ms - now_ms < _WEEK_MS else "later"], at._asdict()


def decision_sentence(decision: Decision, now_ms: int, local: Callable[[int], LocalTime]) -> str:
    """Write a decision in English; `local` reads the local clock."""
    values = dict(decision.values)
    if decision.until_ms is not None:
        end, end_values = end_template(decision.until_ms, now_ms, local)
        values["until"] = end.format(**end_values)
    return f"{STATE_WORDS[decision.state]}: {decision_template(decision).format(**values)}"


REACHABILITY_TEMPLATES: Mapping[str, str] = {
    "unknown": "It is not known yet whether other computers can connect to this one.",
    "reachable": "Other computers can connect to this one.",
    "unreachable": "Other computers cannot connect to this one, because your router is in between. "
    "Nothing is lost: your work travels through seeds. To change it, let Tequio open a port on the "
    "router in Settings, Network, or forward TCP port {port} to this computer there.",
    "unreachable.own-address": "Other computers cannot connect to this one, probably because of a "
    "firewall. Nothing is lost: your work travels through seeds. To change it, allow incoming "
    "connections to TCP port {port}.",
    "unreachable.searching": "Other computers cannot connect to this one yet. Tequio is asking "
    "your router to open a port.",
    "unreachable.open": "Other computers cannot connect to this one, although your router has "
    "opened a port: another router or a firewall is in between. Nothing is lost: your work "
    "travels through seeds.",
    "unreachable.no-router": "Other computers cannot connect to this one, and no router answers "
    "by UPnP or NAT-PMP. Nothing is lost: your work travels through seeds. To change it, switch "
    "UPnP on in your router, or forward TCP port {port} to this computer there.",
    "unreachable.refused": "Other computers cannot connect to this one, and your router refused to "
    "open a port ({problem}). Nothing is lost: your work travels through seeds. To change it, "
    "forward TCP port {port} to this computer in your router.",
    "unreachable.nested": "Other computers cannot connect to this one, because your router is "
    "behind another one: your provider's, or your building's. Nothing is lost: your work travels "
    "through seeds. Only your provider can change it, with a public address.",
}
"""Reachability in words: what it means, and what to do."""


INTRODUCTION_TEXTS: Mapping[bool, str] = {
    True: "Other members can still connect directly, when a seed introduces you to each other.",
    False: "Seeds cannot introduce you to other members, because your router gives each "
    "connection another port.",
}
"""Ways that are left where others cannot connect, by whether the router keeps ports."""


def reachability_templates(shown: ReachabilityView) -> Iterator[str]:
    """Choose the sentences about reachability, to be joined."""
    key = str(shown.state)
    if shown.state is ReachState.UNREACHABLE:
        if shown.is_own_address:
            key += ".own-address"
        elif shown.router is not RouterPort.OFF:
            key += f".{shown.router}"
    yield REACHABILITY_TEMPLATES[key]
    if shown.state is ReachState.UNREACHABLE and shown.keeps_ports is not None:
        yield INTRODUCTION_TEXTS[shown.keeps_ports]


def reachability_values(shown: ReachabilityView) -> dict[str, Value]:
    # As text: a port must not get separators of thousands.
    return {"port": str(shown.port), "problem": shown.router_problem}


class ActivityEvent(StrEnum):
    """Codes of activity events; the values that go with each are in brackets."""

    DECIDED = "decided"  # (state, reason, perhaps until_ms, and the decision's own)
    WORKER_STARTED = "worker-started"  # (version)
    PREFERENCES_CHANGED = "preferences-changed"
    JOINED_RUN = "joined-run"  # (run)
    LEFT_RUN = "left-run"  # (run)
    RUN_ENDED = "run-ended"  # (run)
    ROUND_ACCEPTED = "round-accepted"  # (run, round, points)
    ROUND_WITNESSED = "round-witnessed"  # (run, round, points)
    ROUND_RECEIVED = "round-received"  # (run, round, points)
    ROUND_NOTHING_DUE = "round-nothing-due"  # (run, round)
    ROUND_NOT_SELECTED = "round-not-selected"  # (run, round)
    ROUND_SILENT = "round-silent"  # (run, round)
    ROUND_VOID = "round-void"  # (run, round)
    ROUND_REJECTED = "round-rejected"  # (run, round, reason)
    ROUND_AUDITED = "round-audited"  # (run, round, points, audited)
    ROUND_NOT_AUDITED = "round-not-audited"  # (run, round)
    AUDIT_DECLINED = "audit-declined"  # (round, declined)
    AUDIT_WARNED = "audit-warned"  # (round)
    AUDIT_CONTRADICTED = "audit-contradicted"  # (standing)
    POINTS_DIFFER = "points-differ"  # (ledger, proven)
    HEAD_VERIFIED = "head-verified"  # (run, round)
    STANDING_CHANGED = "standing-changed"  # (standing)
    STANDING_LOWERED = "standing-lowered"  # (standing, cause)
    LEDGER_LOST = "ledger-lost"  # (problem)
    LEDGER_FOUND = "ledger-found"
    LOG_FORKED = "log-forked"  # (problem)
    TRAINER_RESTARTED = "trainer-restarted"
    FILE_KEPT_ASIDE = "file-kept-aside"  # (file)
    CLOCK_SET = "clock-set"  # (seconds)


EVENT_TEMPLATES: Mapping[ActivityEvent, str] = {
    ActivityEvent.WORKER_STARTED: "Started, version {version}.",
    ActivityEvent.PREFERENCES_CHANGED: "Your settings were changed.",
    ActivityEvent.JOINED_RUN: "Joined the run {run}.",
    ActivityEvent.LEFT_RUN: "Left the run {run}.",
    ActivityEvent.RUN_ENDED: "The run {run} has ended.",
    ActivityEvent.ROUND_ACCEPTED: "{run}, round {round}: your work was accepted, for "
    "{points} points.",
    ActivityEvent.ROUND_WITNESSED: "{run}, round {round}: {points} points for checking "
    "others' work.",
    ActivityEvent.ROUND_RECEIVED: "{run}, round {round}: {points} points that another key shared "
    "with yours.",
    ActivityEvent.ROUND_NOTHING_DUE: "{run}, round {round}: you were not asked to do anything "
    "that earns points.",
    ActivityEvent.ROUND_NOT_SELECTED: "{run}, round {round}: too few witnesses received your "
    "work in time. This does not count against you.",
    ActivityEvent.ROUND_SILENT: "{run}, round {round}: the round ended without your work.",
    ActivityEvent.ROUND_VOID: "{run}, round {round}: the round is void, and its work is assigned "
    "again.",
    ActivityEvent.ROUND_REJECTED: "{run}, round {round}: the witnesses refused your work "
    "({reason}).",
    ActivityEvent.ROUND_AUDITED: "{run}, round {round}: {points} points for repeating "
    "another volunteer's work of round {audited}.",
    ActivityEvent.ROUND_NOT_AUDITED: "{run}, round {round}: the round ended without your audit.",
    ActivityEvent.AUDIT_DECLINED: "You were chosen to repeat another volunteer's work of round "
    "{round}. This computer could not: {declined}. You are not asked again for a while; your "
    "training goes on.",
    ActivityEvent.AUDIT_WARNED: "Another volunteer repeated your work of round {round}. It counts, "
    "but the results differ slightly more than usual. Unusual hardware can cause this. To be "
    "sure, measure your device again in Hardware.",
    ActivityEvent.AUDIT_CONTRADICTED: "Your key is now {standing}. Other volunteers repeated "
    "the same work in an audit and got other results than you. Often the computer is at fault: "
    "measure its device again in Hardware, update the graphics driver, and test the memory (RAM). "
    "If that finds nothing, you can appeal in Settings, Account and keys.",
    ActivityEvent.POINTS_DIFFER: "The ledger says that you have {ledger} points, but its "
    "log proves {proven}. What is not proven is not counted here.",
    ActivityEvent.HEAD_VERIFIED: "{run}: downloaded and verified the model from round {round}.",
    ActivityEvent.STANDING_CHANGED: "Your key is now {standing}.",
    ActivityEvent.STANDING_LOWERED: "Your key is now {standing}. Reason: {cause}. If that is "
    "wrong, you can appeal in Settings, Account and keys.",
    ActivityEvent.LEDGER_LOST: "The network cannot be reached. Work goes on without "
    "it for a while.",
    ActivityEvent.LEDGER_FOUND: "The ledger can be reached again.",
    ActivityEvent.LOG_FORKED: "The ledger shows another log than before ({problem}). Its answers "
    "are no longer trusted.",
    ActivityEvent.TRAINER_RESTARTED: "The training program stopped unexpectedly and was restarted.",
    ActivityEvent.FILE_KEPT_ASIDE: "A file was damaged or belongs to another program. It was "
    "kept as {file}, and a new one was started.",
    ActivityEvent.CLOCK_SET: "This computer's clock was changed by {seconds} s.",
}
"""All events but `decided`, whose sentence is the decision's own (`decision_sentence`)."""
POINT_VALUES = frozenset({"points", "ledger", "proven"})
"""Values of events that are amounts in GFLOP."""
UNKNOWN_EVENT = "An event that this version does not know ({code})."
_DECISION_VALUES = ("state", "reason", "until_ms")


def event_values(decision: Decision) -> dict[str, Value]:
    """List the values of the event that records a decision."""
    until = {} if decision.until_ms is None else {"until_ms": decision.until_ms}
    return {**decision.values, "state": decision.state, "reason": decision.reason, **until}


def event_decision(row: ActivityRow) -> Decision:
    """Rebuild the decision that an event recorded; raises ValueError for one of a later version."""
    until = row.values.get("until_ms")
    return Decision(
        state=LendingState(str(row.values.get("state"))),
        reason=LendingReason(str(row.values.get("reason"))),
        values={name: value for name, value in row.values.items() if name not in _DECISION_VALUES},
        until_ms=None if until is None else int(until),
    )


def event_template(row: ActivityRow) -> str:
    """Choose the template of an event; for `decided` see `event_decision`."""
    return EVENT_TEMPLATES.get(row.code, UNKNOWN_EVENT)  # type: ignore[call-overload,no-any-return]  # StrEnum keys


ROUND_STATES: Mapping[str, str] = {
    "pending": "Pending",
    "verified": "Verified",
    "rejected": "Rejected",
}
ROUND_REASON_TEXTS: Mapping[str, str] = {
    # of the round
    "void": "the round is void; its work is assigned again",
    "silent": "the round ended without your work",
    "not-selected": "too few witnesses received your work in time; this does not count against you",
    "no-points": "you were not asked to do anything that earns points",
    "not-audited": "the round ended without your audit",
    # the bytes
    "none": "the witnesses gave no reason",
    "length": "the contribution had the wrong length",
    "magic": "the contribution was not in the right format",
    "version": "the contribution was in a format of another version",
    "shape": "the contribution did not have the shape of the model",
    "flags": "the contribution had marks that are not allowed",
    "run": "the contribution was for another run",
    "round": "the contribution was for another round",
    "base": "the work began from another version of the model",
    "trainer": "the contribution named another trainer",
    "windows": "the work used other text than was given out",
    "tokens": "the number of tokens was not what was given out",
    "steps": "the number of steps was not what was given out",
    "payload-root": "the bytes were not those that were promised",
    "scale": "a scale in the contribution was not allowed",
    "filler": "the contribution had something where there must be nothing",
    "popcount": "a block of the contribution had too many or too few values",
    "high": "the contribution named a place outside of the model",
    "ascending": "the places in the contribution were out of order",
    "level": "a value in the contribution was not allowed",
    "hollow": "the contribution was empty",
    "seal": "the commitment was made without the contribution",
    # what was measured
    "norm": "the contribution was far larger than the others",
    "cosine": "the contribution pointed away from what the witnesses measured themselves",
    "copy": "the contribution was nearly the same as an earlier one",
}
"""Reasons for a round without points; no full stop, as they also appear in brackets."""
UNKNOWN_REASON = "for a reason that this version does not know ({reason})"
DECLINED_AUDIT_TEXTS: Mapping[str, str] = {
    "unseen-round": "it was not in the run in that round",
    "unseen-report": "it has not read an earlier audit of that work",
    "no-weights": "it no longer has the model of that round, or its copy is damaged",
    "late-content": "the data did not arrive in time",
    "trainer-failed": "the training program could not repeat it",
    "disk": "the disk could not be written",
}
"""Reasons for declining an audit; no full stop, as they are in the middle of a sentence."""
AUDITING = (
    "Auditing",
    "Repeating another volunteer's work of round {round}. You are paid as for training.",
)
"""Word for the state while an audit runs, and the reason."""
STANDING_TEXTS: Mapping[str, str] = {
    "newcomer": "new",
    "active": "active",
    "suspected": "under watch, and trains on as before",
    "quarantined": "quarantined: it serves the swarm, and does not train until that is over",
    "probation": "on probation, and trains again",
    "banned": "banned, and in no roster any more",
    "revoked": "revoked: it can do nothing more",
    "replaced": "replaced by another key, and can do nothing more",
}
"""Text after `Your key is now`."""
