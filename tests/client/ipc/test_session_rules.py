"""The rules by which lending and the app's updates decide what may happen by itself."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tequio_client.ipc.facts import UNKNOWN_SESSION, SessionFacts
from tequio_client.ipc.preferences import Preferences
from tequio_client.ipc.session_rules import (
    GB,
    against_download,
    against_trial,
    against_user,
    find_disturbance,
    is_at_work,
    is_used,
    undetectable_fact,
)
from tequio_client.ipc.snapshot import (
    Decision,
    JudgingView,
    LendingReason,
    LendingState,
    Snapshot,
    TrafficView,
)

AWAY = SessionFacts(
    idle_s=3_600.0, is_locked=False, fullscreen="", game="", programs=(), is_metered=False
)
CHOSEN = Preferences(consent=True)
RESTING = Snapshot()


def lending(state: LendingState) -> Snapshot:
    reason = LendingReason.LENDING
    return Snapshot(decision=Decision(state=state, reason=reason, share_percent=100))


def why(found: Decision | None) -> tuple[str, dict[str, object]] | None:
    return None if found is None else (found.reason.value, dict(found.values))


def test_away_from_an_idle_computer_everything_happens_by_itself() -> None:
    for snapshot in (None, RESTING):
        assert against_download(snapshot, AWAY, CHOSEN) is None
        assert against_trial(snapshot, AWAY, CHOSEN) is None


@pytest.mark.parametrize(
    ("changes", "reason", "values"),
    [
        ({"is_metered": True}, "metered", {}),
        ({"is_metered": None}, "metered", {"fact": "unknown"}),
        ({"game": "doom"}, "game", {"program": "doom"}),
        ({"fullscreen": "doom"}, "fullscreen", {"program": "doom"}),
    ],
)
def test_a_metered_network_and_a_game_hold_the_download_and_the_trial_back(
    changes: dict[str, object], reason: str, values: dict[str, object]
) -> None:
    session = replace(AWAY, **changes)
    for rule in (against_download, against_trial):
        assert why(rule(RESTING, session, CHOSEN)) == (reason, values)


def test_what_the_user_allowed_holds_nothing_back() -> None:
    busy = replace(AWAY, is_metered=True, game="doom", idle_s=0.0)
    chosen = replace(CHOSEN, on_metered=True, pause_for_games=False, while_used=True)
    assert against_download(RESTING, busy, chosen) is None
    assert against_trial(RESTING, busy, chosen) is None


def test_the_traffic_of_a_month_holds_the_download_back_from_its_limit_on() -> None:
    chosen = replace(CHOSEN, month_gb=50)
    for month_bytes, found in ((50 * GB - 1, None), (50 * GB, ("quota", {"gb": 50}))):
        snapshot = Snapshot(line=TrafficView(month_bytes=month_bytes))
        assert why(against_download(snapshot, AWAY, chosen)) == found
    full = Snapshot(line=TrafficView(month_bytes=10**15))
    assert against_download(full, AWAY, replace(chosen, month_gb=0)) is None


@pytest.mark.parametrize("state", list(LendingState))
def test_a_trial_waits_for_rounds_and_a_download_does_not(state: LendingState) -> None:
    is_working = state in (LendingState.LENDING, LendingState.FINISHING)
    assert is_at_work(lending(state)) is is_working
    assert (against_trial(lending(state), AWAY, CHOSEN) is not None) is is_working
    assert against_download(lending(state), AWAY, CHOSEN) is None


def test_a_trial_waits_until_a_model_is_scored() -> None:
    snapshot = Snapshot(judging=JudgingView(competition="sum", doing="scoring"))
    assert why(against_trial(snapshot, AWAY, CHOSEN)) == ("lending", {})


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"idle_s": 5.0}, ("in-use", {"minutes": 5})),
        ({"idle_s": 5.0, "is_locked": True}, None),
        ({"idle_s": None}, ("cannot-tell", {"fact": "idle"})),
        ({"game": None}, ("cannot-tell", {"fact": "game"})),
        ({"fullscreen": None}, ("cannot-tell", {"fact": "fullscreen"})),
    ],
)
def test_a_trial_waits_for_the_user_and_for_facts_that_are_unknown(
    changes: dict[str, object], found: tuple[str, dict[str, object]] | None
) -> None:
    session = replace(AWAY, **changes)
    assert why(against_trial(RESTING, session, CHOSEN)) == found
    assert against_download(RESTING, session, CHOSEN) is None


@pytest.mark.parametrize(
    ("changes", "preferences", "found"),
    [
        ({"game": None, "fullscreen": None}, CHOSEN, "game"),
        ({"game": None, "idle_s": None}, CHOSEN, "game"),
        ({"game": None, "fullscreen": None, "idle_s": None}, CHOSEN, "session"),
        ({"game": None}, replace(CHOSEN, pause_for_games=False), ""),
        ({"programs": None}, replace(CHOSEN, exclusive=("blender",)), "programs"),
        ({"programs": None}, CHOSEN, ""),
    ],
)
def test_the_fact_that_hides_games_is_named(
    changes: dict[str, object], preferences: Preferences, found: str
) -> None:
    assert undetectable_fact(replace(AWAY, **changes), preferences) == found


NO_GAMES = replace(CHOSEN, pause_for_games=False)


@pytest.mark.parametrize(
    ("changes", "preferences", "found"),
    [
        ({"idle_s": None}, CHOSEN, "idle"),
        ({"idle_s": None}, replace(CHOSEN, idle_minutes=0), None),
        ({"idle_s": None, "is_locked": True}, CHOSEN, None),
        ({"fullscreen": None}, CHOSEN, "fullscreen"),
        ({"fullscreen": None}, NO_GAMES, None),
        ({"fullscreen": None}, replace(NO_GAMES, pause_for_films=True), "fullscreen"),
        ({"idle_s": None, "fullscreen": None}, CHOSEN, "idle"),
        ({"idle_s": None, "fullscreen": None}, replace(CHOSEN, idle_minutes=0), "fullscreen"),
    ],
)
def test_the_fact_that_hides_the_user_is_named(
    changes: dict[str, object], preferences: Preferences, found: str | None
) -> None:
    session = replace(AWAY, **changes)
    due = None if found is None else ("cannot-tell", {"fact": found})
    assert why(against_user(session, preferences)) == due
    assert is_used(session, preferences) is (found is not None)


@pytest.mark.parametrize(
    ("is_film", "games", "films", "found"),
    [
        (False, True, False, LendingReason.FULLSCREEN),
        (False, False, True, None),
        (True, True, False, None),
        (True, False, True, LendingReason.FILM),
        (True, True, True, LendingReason.FILM),
    ],
)
def test_a_film_is_told_from_a_game_on_the_whole_screen(
    *, is_film: bool, games: bool, films: bool, found: LendingReason | None
) -> None:
    session = replace(AWAY, fullscreen="mpv", is_film=is_film)
    preferences = replace(CHOSEN, pause_for_games=games, pause_for_films=films)
    assert find_disturbance(session, preferences) == (None if found is None else (found, "mpv"))


def test_of_an_unknown_session_nothing_is_taken_for_granted() -> None:
    assert why(against_download(RESTING, UNKNOWN_SESSION, CHOSEN)) == (
        "metered",
        {"fact": "unknown"},
    )
