"""A worker's answers about competitions in the app's tests: one of each kind."""

from __future__ import annotations

import math
from random import Random
from typing import TYPE_CHECKING

from msgspec.structs import replace

from tequio_client.ipc.competitions import CompetitionEntrantRow, CompetitionRow, CompetitionsReply
from tequio_client.ipc.runs import AskCurves, CurvesReply, LossCurve, LossCurvePoint
from tests.support.app_worker_answers import ENDED, FULL, GB, LARGE, MB, NOW_MS, OTHER, OURS, POINT

if TYPE_CHECKING:
    from tequio_client.ipc.control import Question

HOUR_MS, DAY_MS = 3_600_000, 86_400_000
ROUNDS = {OURS: 1_841, OTHER: 412, LARGE.run: 96, FULL.run: 77, ENDED.run: 2_000}


def side(name: str, run: str, **changes: object) -> CompetitionEntrantRow:
    """An entrant for a run, with these changes."""
    fields: dict[str, object] = {"name": name, "run": run, "run_name": name}
    return CompetitionEntrantRow(**{**fields, **changes})  # type: ignore[arg-type]  # fields by name


def placed(
    entrant: CompetitionEntrantRow, rank: int, score: int, spread: int
) -> CompetitionEntrantRow:
    """The entrant with its place and score, in nanobits."""
    return replace(
        entrant,
        has_submitted=True,
        rank=rank,
        nanobits_per_byte=score,
        low=score - spread,
        high=score + spread,
    )


RACE = CompetitionRow(
    competition="open-text",
    name="Open text 2026",
    phase="open",
    opens_ms=NOW_MS - 12 * DAY_MS,
    deadline_ms=NOW_MS + 3 * DAY_MS + 4 * HOUR_MS,
    draw_ms=NOW_MS + 4 * DAY_MS,
    scored_ms=NOW_MS + 7 * DAY_MS,
    result_ms=NOW_MS + 10 * DAY_MS,
    parameters=400_000_000,
    tokens=20 * GB,
    hours=720,
    texts=20_000,
    texts_bytes=48 * MB,
    drawn=5_000,
    evaluators=5,
    window=2_048,
    stride=1_024,
    custodians=3,
    needed=2,
    data="https://ledger.example/data-rules",
    entrants=(
        side("nova", OURS, run_name="nova-350m", gflop=18_604 * POINT, has_submitted=True),
        side("cuentos-124m", OTHER, gflop=326 * POINT + 4_021),
        side("elsewhere", "", run_name=""),
    ),
)
LARGE_RACE = replace(
    RACE,
    competition="big-models",
    name="Big models, winter",
    opens_ms=NOW_MS + 2 * DAY_MS,
    deadline_ms=NOW_MS + 40 * DAY_MS,
    draw_ms=NOW_MS + 41 * DAY_MS,
    scored_ms=NOW_MS + 44 * DAY_MS,
    result_ms=NOW_MS + 47 * DAY_MS,
    parameters=0,
    tokens=0,
    hours=0,
    custodians=1,
    needed=1,
    data="",
    entrants=(side("atlas-1b", LARGE.run), side("lingua-60m", FULL.run)),
)
SCORED = replace(
    RACE,
    competition="spanish-stories",
    name="Spanish stories",
    phase="revealed",
    opens_ms=NOW_MS - 30 * DAY_MS,
    deadline_ms=NOW_MS - 4 * DAY_MS,
    draw_ms=NOW_MS - 3 * DAY_MS,
    scored_ms=NOW_MS + 2 * HOUR_MS,
    result_ms=NOW_MS + 3 * DAY_MS,
    part="drawn",
    judged=1,
    to_judge=2,
    entrants=(
        side("cuentos-124m", OTHER, gflop=326 * POINT, has_submitted=True),
        side("lingua-60m", FULL.run, has_submitted=True),
    ),
)
DECIDED = replace(
    RACE,
    competition="first-light-Za9Bc1De3Fg5Hj7Kl9Mn2Pq4Rs6Tu8Vw0",
    name="First light",
    phase="decided",
    opens_ms=NOW_MS - 70 * DAY_MS,
    deadline_ms=NOW_MS - 20 * DAY_MS,
    draw_ms=NOW_MS - 19 * DAY_MS,
    scored_ms=NOW_MS - 16 * DAY_MS,
    result_ms=NOW_MS - 13 * DAY_MS,
    entrants=(
        placed(side("nova", OURS, gflop=2_212 * POINT), 1, 842_117_402, 2_100_000),
        placed(side("elsewhere", ""), 2, 851_402_991, 2_600_000),
        placed(side("nova-30m", ENDED.run), 2, 852_990_120, 2_400_000),
        placed(side("lingua-60m", FULL.run), 4, 871_204_558, 3_900_000),
        side("late", "", has_submitted=False),
    ),
)
CHECK = f"tequio verify-competition https://ledger.example/competitions/{DECIDED.competition}"
COMPETITIONS = CompetitionsReply(rows=(RACE, LARGE_RACE, SCORED, DECIDED))


def _curve(run: str) -> LossCurve:
    rng, rounds = Random(ROUNDS[run]), ROUNDS[run]
    step = -(-rounds // 40)
    floor, start = 2.6 + rng.uniform(0, 0.5), 9.4 + rng.uniform(0, 0.6)
    return LossCurve(
        run=run,
        points=tuple(
            LossCurvePoint(
                number,
                floor + (start - floor) * math.exp(-7 * number / rounds) + rng.uniform(0, 0.05),
            )
            for number in range(step, rounds + 1, step)
        ),
    )


def curves(question: Question) -> CurvesReply:
    """Answer with curves as a ledger's rounds make them; a run that has not begun has no points."""
    assert isinstance(question, AskCurves)
    return CurvesReply(
        rows=tuple(
            LossCurve(run=run, points=()) if run == LARGE.run else _curve(run)
            for run in question.runs
        )
    )
