"""English sentences for what worker and app say to each other in codes.

One template for each meaning, with the values of the decision in braces: the command line fills
them as they are, the app translates a template before it fills it. A template's key is the reason's
code, followed by the decision's `fact` if it has one, or by `until` where the end is known and the
sentence says more then. Each names the rule that decided, and its end or the way out.

Templates have no values that they do not need: what is missing would raise KeyError, and a test
fills every one of them. What happened, as opposed to what is so, has its words in `event_words`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tequio_client.link.decision import State

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tequio_client.link.decision import Decision, Value

STATES: Mapping[State, str] = {
    State.LENDING: "Lending",
    State.FINISHING: "Finishing",
    State.WAITING: "Waiting",
    State.PAUSED: "Paused",
    State.SNOOZED: "Snoozed",
    State.ATTENTION: "Attention",
}

REASONS: Mapping[str, str] = {
    "lending": "nobody needs the computer. Pauses when you come back or start a game.",
    "lending-while-used": "gently, at {share} % of the time, while you use the computer. "
    "Pauses for games.",
    "judging": "scoring models for a competition, as you offered. Pauses for you and your games. "
    "See Competitions.",
    "no-consent": "nothing is lent before you agree to it. Choose when to lend, then Contribute.",
    "by-hand": "you paused it. Resumes when you choose Contribute.",
    "by-hand.finished": "the last round is finished, as you asked. Resumes when you choose "
    "Contribute.",
    "snoozed": "you asked for a break. Resumes automatically.",
    "snoozed.until": "you asked for a break. Resumes {until}.",
    "until-game-closes": "until {program} closes. Resumes 60 s after that.",
    "until-game-closes.any": "until your game closes. Resumes 60 s after that.",
    "until-game-closes.until": "your game has closed. Resumes {until}.",
    "finishing": "round {round} is the last one. Then lending stops, as you asked.",
    "trainer-broken": "the training program keeps failing ({problem}). Contribute tries again; "
    "Activity has the log.",
    "key": "your key cannot be used ({problem}). See Settings, Account and keys.",
    "ledger-unknown": "can't reach the network ({problem}). Retries automatically; check your "
    "connection, or the address in Settings, Advanced.",
    "ledger-away": "the ledger does not answer ({problem}). Resumes when it does.",
    "no-swarm": "the swarm cannot be joined ({problem}). Retries automatically; the addresses "
    "are in Settings, Advanced.",
    "no-run.open": "no run is open now. Resumes when one opens: there is nothing to do.",
    "no-run.fits": "no open run fits this computer. Resumes when one does; Runs says what each "
    "needs.",
    "no-run.ended": "the run has ended. Resumes with another one; your points stay yours.",
    "no-run.barred": "this computer cannot take part in the run ({problem}). See Runs; retries "
    "automatically.",
    "quarantined": "no roster takes your key now ({problem}). Activity says what you can do.",
    "no-device": "there is no device to lend. Switch one on in Hardware.",
    "no-device.small": "{device} has too little memory for this run, which needs {wanted} MiB. "
    "Raise its limit in Hardware or choose another run.",
    "disk": "only {free} GiB of disk space are free, and {wanted} GiB should stay free. Resumes "
    "when there is 1 GiB more than that.",
    "disk.unknown": "cannot tell how much disk is free. Check that the store's folder is there.",
    "disk.store": "the store holds {used} GiB of at most {most} GiB. Resumes when it has been "
    "trimmed; its limit is in Settings, Storage.",
    "battery": "the computer runs on battery. Resumes on mains power.",
    "battery-unknown": "cannot tell whether the computer runs on battery. See Health in Activity, "
    "or allow lending on battery in Settings, When to lend.",
    "battery-unknown.saver": "cannot tell whether the computer saves power. See Health in "
    "Activity, or allow that in Settings, When to lend.",
    "battery-unknown.probe": "the hardware probe does not answer. Resumes when it does; see Health "
    "in Activity.",
    "saving-power": "the system saves power. Resumes when that is switched off.",
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
    "others-gpu": "other programs are using {percent} % of {device}. Resumes 60 s after they "
    "finish.",
    "others-gpu.until": "other programs needed {device}. Resumes {until}.",
    "others-cpu": "other programs are using {percent} % of your CPU. Resumes 60 s after they "
    "finish.",
    "others-cpu.until": "other programs needed the processor. Resumes {until}.",
    "others-cpu.unknown": "cannot tell how much CPU other programs use. See Health in Activity, "
    "or set that limit to 100 % in Settings, When to lend.",
    "gpu-memory": "{device} has {free} MiB of memory free and training needs {wanted} MiB. "
    "Resumes when other programs give it back.",
    "gpu-unknown": "cannot tell what the graphics cards do: their probe does not answer. Resumes "
    "when it does; see Health in Activity.",
    "gpu-unknown.load": "cannot tell how busy other programs keep {device}. See Health in "
    "Activity, or set that limit to 100 % in Settings, When to lend.",
    "gpu-unknown.memory": "cannot tell how much memory of {device} is free. See Health in "
    "Activity.",
    "slowed": "training was slowed down: another program needs the device. Resumes {until}.",
}
"""What follows the state's word and a colon; `{until}` is one of `WHEN`, filled."""

WHEN: Mapping[str, str] = {
    "seconds": "in {seconds} s",
    "minutes": "in {minutes} min",
    "today": "at {time}",
    "week": "on {weekday} at {time}",
    "later": "on {date} at {time}",
}
"""When something ends: soon, within the hour, or at a local time."""

_SOON_MS = 90_000
_HOUR_MS = 3_600_000
_DAY_MS = 24 * _HOUR_MS
_WEEK_MS = 6 * _DAY_MS
"""Within which a day of the week can only be the next one of its name."""


class Local(NamedTuple):
    """An instant on the local clock, in the words of whoever says it."""

    weekday: str
    date: str
    time: str


def template(decision: Decision) -> str:
    """Choose the template that fits a decision."""
    keys = [str(decision.reason)]
    if "fact" in decision.values:
        keys.insert(0, f"{decision.reason}.{decision.values['fact']}")
    if decision.until_ms is not None:
        keys.insert(0, f"{decision.reason}.until")
    return next(REASONS[key] for key in keys if key in REASONS)


def when(
    until_ms: int, now_ms: int, local: Callable[[int], Local]
) -> tuple[str, Mapping[str, Value]]:
    """Choose the template that says when something ends, with its values."""
    left_ms = max(0, until_ms - now_ms)
    if left_ms < _SOON_MS:
        return WHEN["seconds"], {"seconds": -(-left_ms // 1_000)}
    if left_ms < _HOUR_MS:
        return WHEN["minutes"], {"minutes": -(-left_ms // 60_000)}
    return moment(until_ms, now_ms, local)


def moment(
    at_ms: int, now_ms: int, local: Callable[[int], Local]
) -> tuple[str, Mapping[str, Value]]:
    """Choose the template that names an instant as it is named now, with its values."""
    at, away_ms = local(at_ms), abs(at_ms - now_ms)
    if away_ms < _DAY_MS and at.weekday == local(now_ms).weekday:
        return WHEN["today"], at._asdict()
    return WHEN["week" if 0 <= at_ms - now_ms < _WEEK_MS else "later"], at._asdict()


def sentence(decision: Decision, now_ms: int, local: Callable[[int], Local]) -> str:
    """Say a decision in English, for the local clock that `local` reads."""
    values = dict(decision.values)
    if decision.until_ms is not None:
        end, end_values = when(decision.until_ms, now_ms, local)
        values["until"] = end.format(**end_values)
    return f"{STATES[decision.state]}: {template(decision).format(**values)}"
