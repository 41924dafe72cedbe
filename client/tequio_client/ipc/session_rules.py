"""Rules about the user's session and connection, for the worker's lending and the app's updates.

Pure functions of facts and preferences. A rule that is switched on never treats an unknown fact as
fine; one that is switched off needs no facts. What time adds to them (a minute after a game, the
end of a month) is the lending policy's own.
"""

from __future__ import annotations

from tequio_client.ipc.facts import SessionFacts
from tequio_client.ipc.preferences import Preferences
from tequio_client.ipc.snapshot import (
    OTHER_USER,
    Decision,
    LendingReason,
    LendingState,
    Snapshot,
    Value,
)

GB = 10**9
AT_WORK = (LendingState.LENDING, LendingState.FINISHING)


def waiting(reason: LendingReason, until_ms: int | None = None, **values: Value) -> Decision:
    return Decision(state=LendingState.WAITING, reason=reason, values=values, until_ms=until_ms)


def find_disturbance(
    session: SessionFacts, preferences: Preferences
) -> tuple[LendingReason, str] | None:
    """The reason and the program because of which nothing is lent; None: there are none."""
    if preferences.pause_for_games and session.game:
        return LendingReason.GAME, session.game
    if session.fullscreen:
        if session.is_film and preferences.pause_for_films:
            return LendingReason.FILM, session.fullscreen
        if not session.is_film and preferences.pause_for_games:
            return LendingReason.FULLSCREEN, session.fullscreen
    exclusive = [one for one in session.programs or () if one in preferences.exclusive]
    return (LendingReason.EXCLUSIVE, exclusive[0]) if exclusive else None


def against_metered(session: SessionFacts, preferences: Preferences) -> Decision | None:
    """The connection must not be metered, unless that was allowed."""
    if preferences.on_metered:
        return None
    if session.is_metered is None:
        return waiting(LendingReason.METERED, fact="unknown")
    return waiting(LendingReason.METERED) if session.is_metered else None


def against_quota(month_bytes: int, preferences: Preferences) -> Decision | None:
    """The month's traffic must be below the monthly limit; the decision has no end."""
    most = preferences.month_gb
    if not most or month_bytes < most * GB:
        return None
    return waiting(LendingReason.QUOTA, gb=most)


def against_user(session: SessionFacts, preferences: Preferences) -> Decision | None:
    """Nobody may be using the computer, unless that was allowed."""
    if preferences.while_used or not is_used(session, preferences):
        return None
    fact = "" if _was_touched(session, preferences) else _missing(session, preferences)
    if fact:
        return waiting(LendingReason.CANNOT_TELL, fact=fact)
    return waiting(LendingReason.IN_USE, minutes=preferences.idle_minutes)


def is_used(session: SessionFacts, preferences: Preferences) -> bool:
    """True if somebody uses the computer, as far as is known; a locked one is not in use."""
    if session.is_locked:
        return False
    return _was_touched(session, preferences) or bool(_missing(session, preferences))


def undetectable_fact(session: SessionFacts, preferences: Preferences) -> str:
    """Name of the fact without which games or exclusive programs cannot be seen; empty: none."""
    if preferences.pause_for_games and session.game is None:
        if session.has_other_user:
            return OTHER_USER
        is_all = session.fullscreen is None and session.idle_s is None
        return "session" if is_all else "game"
    return "programs" if preferences.exclusive and session.programs is None else ""


def against_download(
    snapshot: Snapshot | None, session: SessionFacts, preferences: Preferences
) -> Decision | None:
    """Why an update may not be downloaded by itself now; None: it may.

    The rules are those of bulk transfers for training, and games have priority. No snapshot: no
    worker runs, so none has used traffic.
    """
    found = against_metered(session, preferences)
    if found is None and snapshot is not None:
        found = against_quota(snapshot.line.month_bytes, preferences)
    return found or _against_programs(session, preferences)


def against_trial(
    snapshot: Snapshot | None, session: SessionFacts, preferences: Preferences
) -> Decision | None:
    """Why a downloaded update may not test itself now, which opens the card; None: it may.

    The reason LENDING: this worker takes part in a round, or scores a model.
    """
    if snapshot is not None and is_at_work(snapshot):
        return waiting(LendingReason.LENDING)
    return (
        against_download(snapshot, session, preferences)
        or _against_unknown(session, preferences)
        or against_user(session, preferences)
    )


def is_at_work(snapshot: Snapshot) -> bool:
    """True if a worker takes part in rounds, or scores models for a competition."""
    return snapshot.decision.state in AT_WORK or snapshot.judging is not None


def _against_programs(session: SessionFacts, preferences: Preferences) -> Decision | None:
    found = find_disturbance(session, preferences)
    return None if found is None else waiting(found[0], program=found[1])


def _against_unknown(session: SessionFacts, preferences: Preferences) -> Decision | None:
    fact = undetectable_fact(session, preferences)
    return waiting(LendingReason.CANNOT_TELL, fact=fact) if fact else None


def _was_touched(session: SessionFacts, preferences: Preferences) -> bool:
    return session.idle_s is not None and session.idle_s < preferences.idle_minutes * 60


def _missing(session: SessionFacts, preferences: Preferences) -> str:
    """Name of a fact that is missing to know that nobody uses the computer; empty: none."""
    wants_screen = preferences.pause_for_games or preferences.pause_for_films
    if preferences.idle_minutes and session.idle_s is None:
        return OTHER_USER if session.has_other_user else "idle"
    if wants_screen and session.fullscreen is None:
        return OTHER_USER if session.has_other_user else "fullscreen"
    return ""
