"""What was said by hand: consent, pause, snooze, and the last round before a pause."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_client.link.decision import Decision, Reason, State
from tequio_client.worker.manners_case import end_ms

if TYPE_CHECKING:
    from tequio_client.link.decision import Value
    from tequio_client.worker.manners_case import Case


def consent(case: Case) -> Decision | None:
    """Nothing is lent before the volunteer agreed to it."""
    if case.preferences.consent:
        return None
    return Decision(state=State.PAUSED, reason=Reason.NO_CONSENT)


def by_hand(case: Case) -> Decision | None:
    """Nothing is lent that is not wanted."""
    if not case.wish.lend:
        return Decision(state=State.PAUSED, reason=Reason.BY_HAND)
    return None


def snoozed(case: Case) -> Decision | None:
    """A pause with an end: a time, or the end of a game and a minute more."""
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
    most_ms = snooze.until_ms if left_ms is None else end_ms(case, left_ms)
    until_ms = min(snooze.until_ms, most_ms)
    return Decision(state=State.SNOOZED, reason=Reason.SNOOZED, until_ms=until_ms)


def _program(name: str) -> dict[str, Value]:
    return {"program": name} if name else {"fact": "any"}


def _shown_game(case: Case) -> str:
    session = case.session
    return "" if session is None else session.game or session.fullscreen or ""


def finished(case: Case) -> Decision | None:
    """Once the round to be finished is over, nothing is lent until it is wanted again."""
    if not case.wish.finish:
        return None
    current = case.facts.round
    if current is not None and case.traces.finishing == (case.wish.number, current):
        return None
    values: dict[str, Value] = {"fact": "finished"}
    return Decision(state=State.PAUSED, reason=Reason.BY_HAND, values=values)
