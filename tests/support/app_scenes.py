"""Fixed snapshots for the app's tests: one for each situation.

The clock stands at 21 November 2026, 18:30 UTC; points, names and figures come from a fixed seed.
"""

from __future__ import annotations

import math
from random import Random
from typing import TYPE_CHECKING

from msgspec.structs import replace

from tequio_client.ipc.account import AskAccount
from tequio_client.ipc.competitions import AskCompetitions, CompetitionsReply
from tequio_client.ipc.control import AskDiagnostics
from tequio_client.ipc.facts import AcceleratorFacts, MachineFacts
from tequio_client.ipc.points import (
    AskActivity,
    AskPoints,
    AskRanking,
    AskSeries,
    PointsSeries,
    RankingReply,
    RankRow,
)
from tequio_client.ipc.preferences import Preferences
from tequio_client.ipc.runs import AskCurves, AskRuns
from tequio_client.ipc.snapshot import (
    AuditsView,
    CurrentRoundView,
    Decision,
    DesiredState,
    DiskView,
    LedgerView,
    LendingReason,
    LendingState,
    PointsView,
    Snapshot,
    Snooze,
    Status,
    TrafficView,
    TrainerView,
)
from tequio_shared.ids import to_text
from tequio_shared.round.points import GFLOP_PER_POINT
from tests.support import app_competitions, app_worker_answers

if TYPE_CHECKING:
    from tequio_client.ipc.control import Question
    from tests.support.app_worker import Scripted

NOW_MS = app_worker_answers.NOW_MS
MINUTE_MS, DAY_MS = 60_000, 86_400_000
POINT = GFLOP_PER_POINT
GB = 10**9
AGREED = Preferences(consent=True, upload_mbit=5.0)
CARD = AcceleratorFacts(
    id="cuda:0",
    name="NVIDIA GeForce RTX 4070",
    memory_mb=12_282,
    free_mb=4_710,
    load=0.96,
    others_load=0.01,
    temperature_c=61.0,
    watts=148.0,
    watts_limit=200.0,
    driver="570.124",
)
SECOND_CARD = replace(
    CARD, id="cuda:1", name="NVIDIA GeForce RTX 3060", serial="GPU-9b1e", load=0.02, watts=14.0
)
MACHINE = MachineFacts(
    gpus=(CARD,),
    cpu_name="AMD Ryzen 7 5800X",
    cores=16,
    others_cpu=0.06,
    memory_mb=32_000,
    free_memory_mb=19_400,
    on_battery=False,
)
CURRENT = CurrentRoundView(
    run="b8Kq0zv1",
    run_name="nova-350m",
    number=1_841,
    rounds=4_000,
    role="trainer",
    opened_ms=NOW_MS - 4 * MINUTE_MS,
    ends_ms=NOW_MS + 2 * MINUTE_MS + 20_000,
    done_percent=64,
    loss=2.913,
    bits_per_byte=0.842,
    perplexity=18.6,
)
POINTS = PointsView(
    today=4_126_182,
    total=189_304_021,
    pending=3,
    unvested=12_041_180,
    rejected=0,
    rank=47,
    ranked=1_204,
)
LENT = Decision(state=LendingState.LENDING, reason=LendingReason.LENDING, share_percent=100)
TRAINER = TrainerView(
    device="cuda:0",
    decision=LENT,
    round=CURRENT,
    state="computing",
    pid=4_211,
    step=77,
    steps=120,
)
LENDING = Snapshot(
    at_ms=NOW_MS,
    wish=DesiredState(number=4, lend=True),
    preferences=AGREED,
    decision=LENT,
    status=Status(
        peer="12D3KooWJ1rW", key="Jv9bHq3X", roles=("worker",), run="r1", state="train", peers=23
    ),
    round=CURRENT,
    trainers=(TRAINER,),
    points=POINTS,
    machine=MACHINE,
    line=TrafficView(
        up_bytes_per_s=150_000,
        down_bytes_per_s=90_000,
        month_bytes=31 * GB,
        month_cap_bytes=100 * GB,
    ),
    disk=DiskView(store_bytes=11 * GB, cap_bytes=32 * GB, free_bytes=240 * GB),
    ledger=LedgerView(
        url="https://ledger.example", is_reached=True, since_ms=NOW_MS - DAY_MS, size=91_204
    ),
    energy_today_j=0.41 * 3.6e6,
    energy_total_j=61.7 * 3.6e6,
    is_energy_measured=True,
    activity=310,
    rounds=1_204,
)
NEW = Snapshot(at_ms=NOW_MS, machine=MACHINE, disk=DiskView(cap_bytes=32 * GB))


def idle(
    state: LendingState, reason: LendingReason, until_ms: int | None = None, **values: str | int
) -> Snapshot:
    """The lending snapshot, changed to one that is not lending for that reason."""
    return replace(
        LENDING,
        decision=Decision(state=state, reason=reason, values=dict(values), until_ms=until_ms),
        trainers=(),
        machine=replace(MACHINE, gpus=(replace(CARD, free_mb=11_300, load=0.0, watts=18.0),)),
    )


SCENES: dict[str, Snapshot] = {
    "new": NEW,
    "joining": replace(
        LENDING,
        round=None,
        status=None,
        points=PointsView(),
        energy_today_j=0.0,
        energy_total_j=0.0,
        is_energy_measured=False,
        rounds=0,
    ),
    "lending": LENDING,
    "finishing": replace(
        LENDING,
        wish=DesiredState(number=5, lend=True, finish=True),
        decision=Decision(
            state=LendingState.FINISHING,
            reason=LendingReason.FINISHING,
            values={"round": 1_841},
            share_percent=100,
        ),
    ),
    "finished": replace(
        idle(LendingState.PAUSED, LendingReason.BY_HAND, fact="finished"),
        wish=DesiredState(number=5, lend=True, finish=True),
    ),
    "waiting": idle(LendingState.WAITING, LendingReason.GAME, program="Hollow Knight"),
    "waiting-until": idle(
        LendingState.WAITING, LendingReason.SCHEDULE, until_ms=NOW_MS + 4 * 60 * MINUTE_MS
    ),
    "paused": replace(
        idle(LendingState.PAUSED, LendingReason.BY_HAND), wish=DesiredState(number=5)
    ),
    "snoozed": replace(
        idle(LendingState.SNOOZED, LendingReason.SNOOZED, until_ms=NOW_MS + 42 * MINUTE_MS),
        wish=DesiredState(number=5, lend=True, snooze=Snooze(until_ms=NOW_MS + 42 * MINUTE_MS)),
    ),
    "attention": idle(
        LendingState.ATTENTION,
        LendingReason.TRAINER_BROKEN,
        problem="CUDA driver 535 is older than 570",
    ),
    "ledger-away": replace(
        LENDING,
        ledger=LedgerView(
            url="https://ledger.example",
            is_reached=False,
            since_ms=NOW_MS - 25 * MINUTE_MS,
            waiting=3,
        ),
    ),
    "auditing": replace(
        LENDING,
        round=replace(CURRENT, role="witness", done_percent=38),
        audits=AuditsView(ordered_round=1_839, is_running=True),
    ),
    "audit-warned": replace(
        idle(LendingState.PAUSED, LendingReason.BY_HAND),
        wish=DesiredState(number=5),
        points=replace(POINTS, forfeited=884_001),
        audits=AuditsView(warned_round=1_836),
    ),
    "two-cards": replace(
        LENDING,
        machine=replace(MACHINE, gpus=(CARD, SECOND_CARD)),
        trainers=(
            TRAINER,
            TrainerView(
                device=SECOND_CARD.id,
                decision=Decision(
                    state=LendingState.WAITING,
                    reason=LendingReason.NO_RUN,
                    values={"fact": "taken"},
                ),
                state="off",
            ),
        ),
    ),
    "told": replace(
        LENDING,
        ledger=replace(
            LENDING.ledger,
            announcement="The ledger moves to a faster server on Sunday, 06:00 to 07:00 UTC.",
            announcement_entry=91_198,
            announced_ms=NOW_MS - 3 * 60 * MINUTE_MS,
        ),
        round=replace(
            CURRENT,
            announcement="The next part of the data begins on Sunday. Thank you all!",
            announcement_entry=91_204,
            pause_reason="The seeds move to another provider, until about 20:00 UTC.",
        ),
    ),
}
"""Situations by name, as a real worker states them."""


NAMES = ("", "Ana Sof\u00eda", "bruno_gpu", "The Night Owl", "", "\u05e0\u05d5\u05e2\u05d4", "")
"""Of the keys in the ranking; the fourth one is ours."""


def replies(seed: int = 7) -> dict[type, Scripted]:
    """Answers of a worker that has been at work for a month."""
    rng = Random(seed)
    days = [
        max(0.0, 260 + 190 * math.sin(day / 3.1) + rng.uniform(-90, 90)) * POINT
        for day in range(29)
    ]
    ranks = tuple(
        RankRow(
            rank=44 + at,
            key=_key(rng),
            name=NAMES[at],
            gflop=189_304_021 + (3 - at) * 2_714_000 + (at != 3) * 400_180,
            is_ours=at == 3,
        )
        for at in range(7)
    )
    month = PointsSeries(
        since_ms=NOW_MS - 29 * DAY_MS - 18 * 3_600_000 - 30 * MINUTE_MS,
        step_ms=DAY_MS,
        verified=(*map(int, days), 4_126_182),
    )

    def series(asked: Question) -> PointsSeries:
        assert isinstance(asked, AskSeries)
        return (
            month
            if asked.step_ms == DAY_MS and asked.since_ms
            else app_worker_answers.series(asked)
        )

    return {
        AskSeries: series,
        AskCompetitions: app_competitions.COMPETITIONS,
        AskCurves: app_competitions.curves,
        AskRanking: RankingReply(rows=ranks, ranked=1_204),
        AskRuns: app_worker_answers.RUNS,
        AskPoints: app_worker_answers.points,
        AskActivity: app_worker_answers.activity,
        AskDiagnostics: app_worker_answers.DIAGNOSTICS,
        AskAccount: app_worker_answers.ACCOUNT,
    }


def no_replies() -> dict[type, Scripted]:
    """Answers of a worker that has not yet done a round."""
    return {
        AskSeries: PointsSeries(since_ms=NOW_MS, step_ms=DAY_MS, verified=()),
        AskCompetitions: CompetitionsReply(rows=()),
        AskRanking: RankingReply(rows=()),
        AskRuns: app_worker_answers.RUNS,
        AskPoints: app_worker_answers.no_points,
        AskActivity: app_worker_answers.first_activity,
        AskDiagnostics: app_worker_answers.DIAGNOSTICS,
        AskAccount: app_worker_answers.ACCOUNT,
    }


def _key(rng: Random) -> str:
    return to_text(rng.randbytes(32))
