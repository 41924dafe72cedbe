"""What whoever sits at the computer needs of it: games, hours, the line, peace while working."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_client.link.decision import Decision, Reason
from tequio_client.worker.manners_case import wait
from tequio_client.worker.manners_traces import AFTER_GAME_MS, disturbing

if TYPE_CHECKING:
    from tequio_client.worker.manners_case import Case

GB = 10**9


def game(case: Case) -> Decision | None:
    """Nothing is lent beside a game, a film, an exclusive program, and a minute after."""
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
    """Only in the chosen hours of the week, by the local clock."""
    week = case.preferences.week
    if case.now.is_in(week):
        return None
    begin_ms = case.now.next_in_ms(week)
    if begin_ms is None:
        return wait(case, Reason.SCHEDULE, {"fact": "never"})
    return wait(case, Reason.SCHEDULE, in_ms=begin_ms - case.now.ms)


def quota(case: Case) -> Decision | None:
    """Not beyond the month's traffic."""
    most = case.preferences.month_gb
    if not most or case.facts.month_bytes < most * GB:
        return None
    return wait(case, Reason.QUOTA, {"gb": most}, case.now.month_end_ms() - case.now.ms)


def metered(case: Case) -> Decision | None:
    """Not on a line that is paid by the byte."""
    if case.session is None or case.preferences.on_metered:
        return None
    if case.session.is_metered is None:
        return wait(case, Reason.METERED, {"fact": "unknown"})
    return wait(case, Reason.METERED) if case.session.is_metered else None


def blind(case: Case) -> Decision | None:
    """What must be known whether or not the computer may be lent while it is used."""
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
    """Not while somebody is at the computer, unless that was allowed."""
    if case.preferences.while_used or not is_used(case):
        return None
    fact = "" if _was_touched(case) else _missing(case)
    if fact:
        return wait(case, Reason.CANNOT_TELL, {"fact": fact})
    return wait(case, Reason.IN_USE, {"minutes": case.preferences.idle_minutes})


def is_used(case: Case) -> bool:
    """Whether somebody is at the computer, for all that is known; nobody is at a locked one."""
    if case.session is None or case.session.is_locked:
        return False
    return _was_touched(case) or bool(_missing(case))


def _was_touched(case: Case) -> bool:
    idle_s = None if case.session is None else case.session.idle_s
    return idle_s is not None and idle_s < case.preferences.idle_minutes * 60


def _missing(case: Case) -> str:
    """Which fact is missing to say that nobody is at the computer."""
    session, chosen = case.session, case.preferences
    if session is None:
        return ""
    if chosen.idle_minutes and session.idle_s is None:
        return "idle"
    wants_screen = chosen.pause_for_games or chosen.pause_for_films
    return "fullscreen" if wants_screen and session.fullscreen is None else ""
