"""A key's standing, its evidence and the way back, in plain words."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tequio_shared.causes import words_of
from tequio_shared.errors import TequioError
from tequio_shared.ids import from_text, to_text
from tequio_shared.limits import APPEAL_MS, NEWCOMER_WORK, PROBATION_WORK
from tequio_shared.standing import Standing
from tequio_shared.statement import Entry
from tequio_shared.statements.standing import FaultReport

if TYPE_CHECKING:
    from tequio_shared.api.peers import StandingAnswer
    from tequio_shared.statement import Statement

_DAY_MS = 86_400_000


def sentence(one: StandingAnswer) -> str:
    """Say how a key stands, since when, until when and why, in one sentence."""
    text = f"{one.standing} since entry {one.since}"
    if one.until:
        text += f", until {moment(one.until)}"
    why = words_of(one.cause)
    return f"{text}: {why}" if why else text


def what_to_do(one: StandingAnswer, now_ms: int) -> list[str]:
    """What the volunteer can do about it, and what happens by itself."""
    match one.standing:
        case Standing.QUARANTINED:
            return [_after_the_term(one, now_ms), _about_appeals(one)]
        case Standing.BANNED:
            return ["No roster takes this key any more.", _about_appeals(one)]
        case Standing.SUSPECTED:
            return [
                "It trains on as before, without witness duty; nothing has to be done.",
                f"{NEWCOMER_WORK} accepted contributions in a row make it active again.",
                _about_appeals(one),
            ]
        case Standing.PROBATION:
            return [f"{PROBATION_WORK} accepted contributions make it active again."]
        case Standing.NEWCOMER:
            return [f"{NEWCOMER_WORK} accepted contributions make it active."]
    return []


def describe(index: int, statement: Statement) -> str:
    """Say what a log entry is, as evidence."""
    text = f"entry {index}: {statement.type}"
    if statement.round is not None:
        text += f" of round {statement.round}"
    if statement.run is not None:
        text += f", run {to_text(statement.run)[:10]}"
    text += f", said by {to_text(statement.author)[:10]} at {moment(statement.ts)}"
    if isinstance(statement.body, FaultReport):
        text += f"; it holds {_leaves(statement.body)}"
    return text


def moment(ms: int) -> str:
    """A time for people, UTC."""
    try:
        return f"{datetime.fromtimestamp(ms // 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (OverflowError, ValueError):
        return f"{ms} ms after 1970"


def _after_the_term(one: StandingAnswer, now_ms: int) -> str:
    if now_ms < one.until:
        return (
            f"A worker that keeps running asks to come back after {moment(one.until)}; "
            "until then it serves bytes and does not train."
        )
    return "The term is over: a worker that is started now asks to come back, on probation."


def _about_appeals(one: StandingAnswer) -> str:
    days = APPEAL_MS // _DAY_MS
    if one.appeal is None:
        return "If this is wrong, say so to the organisers with `tequio appeal`."
    text = f"The appeal in entry {one.appeal} waits for the organisers"
    if one.standing == Standing.QUARANTINED:
        text += f"; unanswered for {days} days it ends the quarantine in a probation"
    return f"{text}."


def _leaves(report: FaultReport) -> str:
    """Name the signed statements in a report."""
    parts = []
    for leaf in report.leaves:
        try:
            held = Entry.parse(from_text(leaf, None)).statement
        except TequioError:
            parts.append("something that cannot be read")
            continue
        about = f" of round {held.round}" if held.round is not None else ""
        parts.append(f"{held.type}{about} under number {held.seq}")
    return " and ".join(parts) + ", both signed by the accused" * (len(parts) > 1)
