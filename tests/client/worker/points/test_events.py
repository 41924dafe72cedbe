"""Events derived from two observations of the worker, and no others."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from tequio_client.ipc.points import AskActivity
from tequio_client.ipc.preferences import Preferences
from tequio_client.ipc.snapshot import (
    AuditsView,
    CurrentRoundView,
    Decision,
    LedgerView,
    LendingReason,
    LendingState,
    Snapshot,
    TrainerView,
)
from tequio_client.worker.points.activity import (
    LOST_MS,
    ActivityDatabase,
    ActivityRecorder,
    Observation,
    derive_events,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOW_MS = 1_800_000_000_000
LENDING = Decision(state=LendingState.LENDING, reason=LendingReason.LENDING, share_percent=100)
GAME = Decision(state=LendingState.WAITING, reason=LendingReason.GAME, values={"program": "chess"})
QUARANTINED = Decision(
    state=LendingState.ATTENTION, reason=LendingReason.QUARANTINED, values={"problem": "x"}
)
ROUND = CurrentRoundView(run="r1", run_name="tiny", number=4, state="round_train", head_round=3)
TRAINER = TrainerView(device="cuda:0", decision=LENDING, round=ROUND, state="computing", pid=100)
CALM = Snapshot(
    at_ms=NOW_MS,
    decision=LENDING,
    ledger=LedgerView(is_reached=True, since_ms=NOW_MS - 60_000),
    trainers=(TRAINER,),
)


def observed(
    *,
    at_s: int = 0,
    steady_s: int | None = None,
    standing: str = "",
    cause: int | None = None,
    **changed: object,
) -> Observation:
    shown = msgspec.structs.replace(CALM, at_ms=NOW_MS + at_s * 1_000, **changed)
    steady_ms = (at_s if steady_s is None else steady_s) * 1_000
    return Observation(shown=shown, standing=standing, cause=cause, steady_ms=steady_ms)


def in_round(current: CurrentRoundView | None) -> tuple[TrainerView, ...]:
    """One card, in that round of a run."""
    return (msgspec.structs.replace(TRAINER, round=current),)


def audited(**audits: Any) -> tuple[TrainerView, ...]:  # noqa: ANN401 - fields by name
    """One card, with these audits."""
    return (msgspec.structs.replace(TRAINER, audits=AuditsView(**audits)),)


def codes(last: Observation, now: Observation) -> list[tuple[str, str]]:
    return [(str(one.code), one.level) for one in derive_events(last, now)]


@pytest.fixture
def book(tmp_path: Path) -> Iterator[ActivityDatabase]:
    with closing(ActivityDatabase.opened(tmp_path, lambda: NOW_MS)) as opened:
        yield opened


def written(book: ActivityDatabase) -> list[str]:
    return [row.code for row in reversed(book.answer(AskActivity()).rows)]


def test_a_calm_second_is_no_event() -> None:
    warmer = msgspec.structs.replace(GAME, values={"program": "chess", "percent": 4})
    assert codes(observed(), observed(at_s=1)) == []
    assert codes(observed(decision=GAME), observed(at_s=1, decision=warmer)) == [], (
        "only a number changed"
    )


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({}, {"decision": GAME}, [("decided", "info")]),
        ({"decision": GAME}, {}, [("decided", "good")]),
        ({}, {"decision": QUARANTINED}, [("decided", "error")]),
        ({}, {"preferences": Preferences(idle_minutes=9)}, [("preferences-changed", "info")]),
        ({"trainers": in_round(None)}, {}, [("joined-run", "good")]),
        ({}, {"trainers": in_round(None)}, [("left-run", "info")]),
        (
            {},
            {"trainers": in_round(msgspec.structs.replace(ROUND, run="r2"))},
            [("left-run", "info"), ("joined-run", "good")],
        ),
        ({}, {"trainers": in_round(msgspec.structs.replace(ROUND, number=5))}, []),
        (
            {},
            {"trainers": in_round(msgspec.structs.replace(ROUND, head_round=4))},
            [],
        ),
        (
            {},
            {"trainers": in_round(msgspec.structs.replace(ROUND, state="finished"))},
            [("run-ended", "good")],
        ),
        (
            {"trainers": in_round(None)},
            {"trainers": in_round(msgspec.structs.replace(ROUND, state="finished"))},
            [("run-ended", "good")],
        ),
        (
            {},
            {"trainers": (TRAINER, *in_round(msgspec.structs.replace(ROUND, run="r2")))},
            [("joined-run", "good")],
        ),
        (
            {"standing": "active"},
            {"standing": "suspected"},
            [("standing-changed", "warning")],
        ),
        ({}, {"standing": "active"}, []),
        (
            {"standing": "active"},
            {"standing": "quarantined", "cause": 14},
            [("standing-lowered", "warning")],
        ),
        (
            {"standing": "active"},
            {"standing": "suspected", "cause": 15},
            [("audit-contradicted", "warning")],
        ),
        (
            {"standing": "quarantined", "cause": 14},
            {"standing": "probation", "cause": 11},
            [("standing-changed", "warning")],
        ),
        ({}, {"trainers": audited(ordered_round=3, is_running=True)}, []),
        (
            {},
            {"trainers": audited(declined_round=5, declined_of=3, declined_reason="disk")},
            [("audit-declined", "info")],
        ),
        ({}, {"trainers": audited(warned_round=3)}, [("audit-warned", "info")]),
        (
            {"trainers": audited(warned_round=3)},
            {"trainers": audited(warned_round=3)},
            [],
        ),
    ],
)
def test_what_changed_is_told(
    before: dict[str, Any], after: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    assert codes(observed(**before), observed(at_s=1, **after)) == expected


def test_a_clock_that_goes_back_was_set_and_one_that_leaps_ahead_slept() -> None:
    assert codes(observed(), observed(at_s=-60, steady_s=1)) == [("clock-set", "warning")]
    (event,) = derive_events(observed(), observed(at_s=-60, steady_s=1))
    assert event.values == {"seconds": -61}
    assert codes(observed(), observed(at_s=7_200, steady_s=1)) == []
    assert codes(observed(), observed(at_s=1, steady_s=3)) == [], "a little is nothing"


def test_the_first_look_says_how_things_stand(book: ActivityDatabase) -> None:
    ActivityRecorder(book).observe(observed(decision=GAME))
    rows = book.answer(AskActivity()).rows
    assert [row.code for row in rows] == ["decided", "worker-started"]
    assert rows[0].values == {"state": "waiting", "reason": "game", "program": "chess"}


def test_a_probe_that_has_just_started_is_no_event_and_one_that_stays_silent_is(
    book: ActivityDatabase,
) -> None:
    recorder = ActivityRecorder(book)
    unknown = Decision(state=LendingState.WAITING, reason=LendingReason.BATTERY_UNKNOWN)
    for at_s, (fact, events) in enumerate((("starting", 0), ("probe", 1), ("probe", 1))):
        decision = msgspec.structs.replace(unknown, values={"fact": fact})
        recorder.observe(observed(at_s=at_s, decision=decision))
        assert written(book).count("decided") == events
    again = ActivityRecorder(book)
    again.observe(
        observed(at_s=9, decision=msgspec.structs.replace(unknown, values={"fact": "starting"}))
    )
    again.observe(observed(at_s=10))
    assert written(book).count("decided") == 2


def test_a_ledger_is_lost_after_a_while_and_found_again(book: ActivityDatabase) -> None:
    diary = ActivityRecorder(book)
    diary.observe(observed())
    away = LedgerView(since_ms=NOW_MS + 1_000, problem="no route")
    for at_s in range(2, 30):
        diary.observe(observed(at_s=at_s, ledger=away))
    diary.observe(observed(at_s=31))
    diary.observe(observed(at_s=32))
    assert written(book)[2:] == ["ledger-lost", "ledger-found"]
    assert LOST_MS == 10_000


def test_one_answer_that_did_not_come_is_no_event(book: ActivityDatabase) -> None:
    diary = ActivityRecorder(book)
    diary.observe(observed())
    diary.observe(observed(at_s=5, ledger=LedgerView(since_ms=NOW_MS + 5_000)))
    diary.observe(observed(at_s=6))
    assert written(book) == ["worker-started", "decided"]


def test_a_trainer_that_ended_by_itself_is_told_and_one_that_was_told_to_is_not(
    book: ActivityDatabase,
) -> None:
    def trainers(
        pid: int, other: int = 100, decision: Decision = LENDING
    ) -> tuple[TrainerView, ...]:
        views = [(pid, "cuda:0", decision), (other, "cuda:1", LENDING)]
        made = [
            TrainerView(device=name, state="idle" if one else "off", pid=one, decision=rule)
            for one, name, rule in views
        ]
        return tuple(made)

    diary = ActivityRecorder(book)
    diary.observe(observed(trainers=trainers(99)))
    diary.observe(observed(at_s=1, trainers=trainers(0)))
    diary.observe(observed(at_s=2, trainers=trainers(101)))
    assert written(book)[2:] == ["trainer-restarted"]
    diary.observe(observed(at_s=3, trainers=trainers(0, decision=GAME)))
    diary.observe(observed(at_s=9, trainers=trainers(102)))
    assert len(written(book)) == 3, "the first card paused, the second never stopped"
    diary.observe(observed(at_s=10, trainers=trainers(102, other=103)))
    assert written(book)[3:] == ["trainer-restarted"]
