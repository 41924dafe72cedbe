"""Fixed answers of a worker's databases for the app's tests: runs, rounds, events."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TypeAlias

from tequio_client.ipc.account import AccountReply, BadgeRow
from tequio_client.ipc.control import DiagnosticsReply, Question
from tequio_client.ipc.points import (
    ActivityReply,
    ActivityRow,
    AskActivity,
    AskPoints,
    AskSeries,
    PointsReply,
    PointsRow,
    PointsSeries,
)
from tequio_client.ipc.runs import (
    GeneratedSample,
    PublishedHead,
    RunOrganiser,
    RunRow,
    RunsReply,
)
from tequio_client.ipc.snapshot import Decision, LendingReason, LendingState
from tequio_client.ipc.texts import ActivityEvent, event_values
from tequio_shared.ids import to_text
from tequio_shared.round.points import GFLOP_PER_POINT

NOW_MS = 1_795_285_800_000
MINUTE_MS, HOUR_MS = 60_000, 3_600_000
POINT = GFLOP_PER_POINT
MB, GB = 10**6, 10**9
ROUNDS = 1_204
EVENTS = 310
OURS = "b8Kq0zv1"
ACCOUNT = AccountReply(
    key=to_text(bytes(range(32))),
    standing="active",
    since=412,
    can_be_named=True,
    own_gflop=312_000_000,
    accepted=141,
    streak_day=1_795_285_800_000 // 86_400_000,
    streak_days=12,
    badges=tuple(
        BadgeRow(badge=badge, entry=entry)
        for entry, badge in (
            (87, "first-round"),
            (412, "measure"),
            (960, "audit"),
            (2_114, "hundred-rounds"),
        )
    ),
)
"""The account of the worker's key, without a recovery key and a name."""
QUARANTINED = AccountReply(
    key=ACCOUNT.key,
    standing="quarantined",
    since=9_120,
    until_ms=1_795_285_800_000 + 86_400_000,
    why="committed to bytes that break a rule",
    recovery=to_text(bytes(range(1, 33))),
)
OTHER = "Zr4mXw7p"
Values: TypeAlias = "dict[str, str | int | float]"


def run(name: str, number: str, **changes: object) -> RunRow:
    """A run that fits this computer, with these changes."""
    fields: dict[str, object] = {
        "run": number,
        "name": name,
        "state": "train",
        "round": 412,
        "rounds": 2_000,
        "members": 18,
        "most_members": 64,
        "tokens": 3_400_000_000,
        "parameters": 124_000_000,
        "memory_mb": 5_600,
        "disk_bytes": 6 * GB,
        "hourly_up_bytes": 96 * MB,
        "hourly_down_bytes": 104 * MB,
        "first_bytes": 900 * MB,
    }
    return RunRow(**{**fields, **changes})  # type: ignore[arg-type]  # fields by name


WRITING = GeneratedSample(
    round=1_840,
    prompt="The recipe that my grandmother wrote down begins with",
    text=" the <b>masa</b>:\ntwo cups of it, warm water and a little salt.",
)
NOVA = run(
    "nova-350m",
    OURS,
    round=1_841,
    rounds=4_000,
    members=23,
    tokens=12_412_887_040,
    parameters=354_871_296,
    memory_mb=8_640,
    disk_bytes=17 * GB,
    hourly_up_bytes=310 * MB,
    hourly_down_bytes=322 * MB,
    first_bytes=2_100 * MB,
    source="FineWeb-2, Spanish",
    description="Chats in Nahuatl and Spanish, for schools.",
    licence="Apache-2.0",
    organisers=(RunOrganiser(key=ACCOUNT.key, name="Ana Sofía"),),
    chat="https://try.nova.example/",
    published=(
        PublishedHead(round=1_800, repo="tequio/nova-350m", revision="4f1c" * 10),
        PublishedHead(round=1_600, repo="tequio/nova-350m", revision="90ab" * 10),
    ),
    sample=WRITING,
    is_ours=True,
    first_round=790,
)
SMALL = run("cuentos-124m", OTHER)
LARGE = run(
    "atlas-1b",
    "Kq9sPd2f",
    round=96,
    rounds=9_000,
    members=41,
    parameters=1_310_000_000,
    tokens=1_720_000_000,
    memory_mb=21_900,
    disk_bytes=48 * GB,
    hourly_up_bytes=2_400 * MB,
    hourly_down_bytes=2_450 * MB,
    first_bytes=8_400 * MB,
)
FULL = run("lingua-60m", "Tf3nHb6y", members=32, most_members=32, parameters=61_000_000, round=77)
ENDED = run("nova-30m", "Ac5vLe8j", state="finished", round=2_000, members=0, is_open=False)
RUNS = RunsReply(rows=(NOVA, SMALL, LARGE, FULL, ENDED))


def _row(number: int, rng: Random) -> PointsRow:
    """The round of that number, of `ROUNDS`; the three newest are pending."""
    at_ms = NOW_MS - (ROUNDS - number) * 36 * MINUTE_MS - rng.randrange(6 * MINUTE_MS)
    is_new = number > ROUNDS - 3
    is_old_run = number <= ROUNDS // 4
    reason = "" if is_new else {7: "not-selected", 19: "norm", 31: "void"}.get(number % 37, "")
    is_paid = not is_new and not reason
    trained = rng.randrange(9 * POINT, 15 * POINT) if is_paid else 0
    witnessed = rng.randrange(POINT // 2) if is_paid and number % 5 == 0 else 0
    entry = None if is_new else 40 * number + 17
    return PointsRow(
        number=40 * number,
        run=OTHER if is_old_run else OURS,
        run_name="cuentos-124m" if is_old_run else "nova-350m",
        round=number + 637,
        at_ms=at_ms,
        state="pending" if is_new else "rejected" if reason else "verified",
        reason=reason,
        gflop=trained + witnessed,
        trained=trained,
        witnessed=witnessed,
        device="cpu" if number % 11 == 0 else "cuda:0",
        tokens=0 if reason == "void" else 983_040,
        energy_j=0.0 if is_new else 148.0 * rng.uniform(700, 900),
        entry=entry,
        size=None if entry is None else 91_204,
        root="" if entry is None else "pV3mYQ0c5gWb1sZtLr8uKx2nHa7dEi4oFj6lMq9vRw0",
    )


def _rows() -> tuple[PointsRow, ...]:
    rng = Random(5)
    return tuple(_row(number, rng) for number in range(ROUNDS, 0, -1))


ROWS = _rows()


def points(question: Question) -> PointsReply:
    """Answer as the points database does."""
    assert isinstance(question, AskPoints)
    rows = [
        row
        for row in ROWS
        if (question.before is None or row.number < question.before)
        and question.run in ("", row.run)
        and question.device in ("", row.device)
        and row.at_ms >= question.since_ms
    ]
    return PointsReply(rows=tuple(rows[: question.limit]), has_more=len(rows) > question.limit)


def no_points(_: Question) -> PointsReply:
    """Answer as an empty points database does."""
    return PointsReply(rows=())


def series(question: Question) -> PointsSeries:
    """Add the rounds up as the points database does."""
    assert isinstance(question, AskSeries)
    since_ms = question.since_ms or min(row.at_ms for row in ROWS)
    sums = [0] * ((NOW_MS - since_ms) // question.step_ms + 1)
    for row in ROWS:
        fits = question.run in ("", row.run) and question.device in ("", row.device)
        if fits and row.at_ms >= since_ms:
            sums[(row.at_ms - since_ms) // question.step_ms] += row.gflop
    return PointsSeries(since_ms=since_ms, step_ms=question.step_ms, verified=tuple(sums))


def _event(number: int) -> ActivityRow:
    at_ms = NOW_MS - (EVENTS - number) * 23 * MINUTE_MS - 40_000
    place: Values = {"run": "nova-350m", "round": 1_841 - (EVENTS - number)}
    points = 11 * POINT + number
    lending = Decision(state=LendingState.LENDING, reason=LendingReason.LENDING, share_percent=100)
    game = Decision(
        state=LendingState.WAITING, reason=LendingReason.GAME, values={"program": "Hollow Knight"}
    )
    found: tuple[str, str, Values] = (
        ActivityEvent.ROUND_ACCEPTED,
        "good",
        {**place, "points": points},
    )
    special: dict[int, tuple[str, str, Values]] = {
        1: (ActivityEvent.HEAD_VERIFIED, "info", place),
        3: (ActivityEvent.DECIDED, "info", event_values(lending)),
        4: (ActivityEvent.DECIDED, "info", event_values(game)),
        6: (ActivityEvent.ROUND_NOT_SELECTED, "info", place),
        8: (ActivityEvent.ROUND_REJECTED, "error", {**place, "reason": "norm"}),
        9: (ActivityEvent.LEDGER_FOUND, "good", {}),
        10: (ActivityEvent.LEDGER_LOST, "warning", {"problem": "connection refused"}),
        11: (ActivityEvent.ROUND_AUDITED, "good", {**place, "points": points, "audited": 1_833}),
    }
    once: dict[int, tuple[str, str, Values]] = {
        EVENTS - 4: (ActivityEvent.AUDIT_WARNED, "info", {"round": 1_836}),
        EVENTS - 8: (
            ActivityEvent.AUDIT_DECLINED,
            "info",
            {"round": 1_829, "declined": "no-weights"},
        ),
        EVENTS - 12: (ActivityEvent.AUDIT_CONTRADICTED, "warning", {"standing": "suspected"}),
        EVENTS - 14: (
            ActivityEvent.STANDING_LOWERED,
            "warning",
            {"standing": "quarantined", "cause": 14},
        ),
    }
    code, level, values = once.get(number) or special.get(number % 13, found)
    return ActivityRow(number=number, at_ms=at_ms, code=code, level=level, values=values)


HAPPENED = tuple(_event(number) for number in range(EVENTS, 0, -1))


def activity_with(*newest: ActivityRow) -> Callable[[Question], ActivityReply]:
    """Make the answers of an event database in which these rows are the newest."""
    rows = (*newest, *HAPPENED)

    def answer(question: Question) -> ActivityReply:
        assert isinstance(question, AskActivity)
        fitting = [row for row in rows if question.before is None or row.number < question.before]
        has_more = len(fitting) > question.limit
        return ActivityReply(rows=tuple(fitting[: question.limit]), has_more=has_more)

    return answer


activity = activity_with()


def first_activity(_: Question) -> ActivityReply:
    """Answer as the event database of a newly started worker does."""
    started = ActivityRow(
        number=1,
        at_ms=NOW_MS - 20_000,
        code=ActivityEvent.WORKER_STARTED,
        values={"version": "0.1.0"},
    )
    return ActivityReply(rows=(started,))


LOG = """\
18:29:12 info     round begins                   round=1841 share=0.061
18:29:13 info     windows are here               count=240 bytes=7864320
18:29:44 info     step                           loss=2.913 number=77
18:29:58 warning  a peer gave wrong bytes        peer=12D3KooWJ1rW"""
DIAGNOSTICS = DiagnosticsReply(
    text="Tequio diagnostics, Linux-6.8, Python 3.12.3\ntequio 0.1.0\ntorch 2.9.0\n\n"
    '{\n "at_ms": 1795285800000,\n "points": {\n  "today": 412618204\n }\n}\n\n' + LOG
)
