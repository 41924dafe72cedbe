"""GET /runs/{run} and /runs/{run}/rounds: one run, and all its rounds."""

import math
from dataclasses import dataclass
from typing import Annotated

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from tequio_ledger.log.log import Published
from tequio_ledger.service import Ledger
from tequio_ledger.store import history, measured
from tequio_ledger.store.history import PastRound
from tequio_ledger.web.answers import snapshot
from tequio_ledger.web.competition_now import CompetitionNow, competitions_of
from tequio_ledger.web.pages import competition_words, figures, press, series, words
from tequio_ledger.web.pages.chart import Chart
from tequio_ledger.web.pages.data_progress import DataProgress, data_progress
from tequio_ledger.web.pages.held_out import HeldOut, held_out
from tequio_ledger.web.pages.round_ring import RoundRing, round_ring
from tequio_ledger.web.pages.run_now import RunNow, run_now
from tequio_ledger.web.pages.words import Mark
from tequio_ledger.web.routing import get
from tequio_shared.ids import RunId, from_text
from tequio_shared.limits import JSON_INTEGER
from tequio_shared.run_states import State

SHOWN_ROUNDS = 12
STRIP_ROUNDS = 60
CHART_ROUNDS = 2_000
PAGE_ROUNDS = 100
LAST_ROUNDS = 10
"""Rounds over which the present speed is taken."""

OUTCOMES = {
    "open": Mark("Under way", "busy"),
    "closed": Mark("Closed", "ok"),
    "void": Mark("Void", "warn"),
}
Before = Annotated[int, msgspec.Meta(ge=0, le=JSON_INTEGER)]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundLine:
    """One round in a list."""

    number: int
    mark: Mark
    ended_ms: int | None
    length_ms: int | None
    accepted: int
    tokens: int
    rate: float | None
    loss: float | None

    @property
    def said(self) -> str:
        """The round in a few words."""
        if self.mark is OUTCOMES["closed"]:
            accepted = figures.plural(self.accepted, "contribution")
            return f"Round {self.number}: {accepted} accepted"
        return f"Round {self.number}: {self.mark.word.lower()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """A competition that the run is a side of."""

    id: str
    name: str
    mark: Mark


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPage:
    """A run with its past."""

    now: RunNow
    rounds: tuple[RoundLine, ...]
    """The newest first."""
    strip: tuple[RoundLine, ...]
    """The newest last."""
    rate: float | None
    """Tokens a second over the last closed rounds."""
    loss: float | None
    losses: Chart
    rates: Chart
    held_out: HeldOut | None
    ring: RoundRing
    data: DataProgress
    asked: tuple[str, ...]
    """Whom the run takes; nothing: everybody."""
    contests: tuple[Contest, ...]
    """Competitions that it is a side of."""
    ledger: str
    """Where this ledger is, for who wants to join."""

    @property
    def bits_per_byte(self) -> float | None:
        """The loss as bits that a byte of text takes, where it is known how long tokens are."""
        if self.loss is None or self.data.tokens_per_byte is None:
            return None
        return self.loss / math.log(2) * self.data.tokens_per_byte


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundsPage:
    """A page of a run's rounds."""

    run: str
    name: str
    rounds: tuple[RoundLine, ...]
    older: int | None
    is_first: bool


@get("/runs/{run}")
async def get_run(request: Request, ledger: Ledger, run: str) -> Response:
    """Show a run."""
    await ledger.sequencer.settled()
    now = run_now(ledger.state, RunId(from_text(run)))
    contests = competitions_of(ledger.state, RunId(from_text(run)), ledger.clock())
    return await press.in_turn(request, _printed, request, ledger, now, contests)


@get("/runs/{run}/rounds")
@press.by_turns
def get_rounds(
    request: Request, ledger: Ledger, run: str, before: Before = JSON_INTEGER
) -> Response:
    """List the rounds of a run, the newest first."""
    run_id = RunId(from_text(run))
    now = ledger.state.run(run_id)
    with snapshot(ledger.database) as (connection, published):
        rows = history.rounds_before(connection, run_id, before, PAGE_ROUNDS)
    view = RoundsPage(
        run=run,
        name=now.manifest.name,
        rounds=tuple(_line(row, now.state) for row in rows),
        older=rows[-1].round if len(rows) == PAGE_ROUNDS and rows[-1].round > 1 else None,
        is_first=before == JSON_INTEGER,
    )
    return press.page(request, "rounds.html", press.frame(request, ledger, published), view)


def _printed(
    request: Request, ledger: Ledger, now: RunNow, contests: tuple[CompetitionNow, ...]
) -> Response:
    view, published = _view(ledger, now, contests, press.here(request, ledger))
    return press.page(request, "run.html", press.frame(request, ledger, published), view)


def _view(
    ledger: Ledger, now: RunNow, contests: tuple[CompetitionNow, ...], here: str
) -> tuple[RunPage, Published]:
    run = from_text(now.id)
    with snapshot(ledger.database) as (connection, published):
        past = history.last_rounds(connection, run, CHART_ROUNDS)
        heads = measured.last(connection, run, CHART_ROUNDS)
    lines = [_line(row, now.state) for row in past]
    losses = [line.loss for line in lines if line.loss]
    view = RunPage(
        now=now,
        rounds=tuple(reversed(lines[-SHOWN_ROUNDS:])),
        strip=tuple(lines[-STRIP_ROUNDS:]),
        rate=_rate([row for row in past if row.outcome == "closed"][-LAST_ROUNDS:]),
        loss=losses[-1] if losses else None,
        losses=series.losses(past),
        rates=series.rates(past),
        held_out=held_out(heads),
        ring=round_ring(now),
        data=data_progress(now, ledger.blobs.read),
        asked=words.asked(ledger.state.run(RunId(run)).manifest.admits),
        contests=tuple(
            Contest(
                id=one.id, name=one.rules.name, mark=competition_words.mark(one, ledger.clock())
            )
            for one in contests
        ),
        ledger=here,
    )
    return view, published


def _rate(closed: list[PastRound]) -> float | None:
    """Accepted tokens a second while those rounds were open."""
    timed = [row for row in closed if row.opened_ms is not None and row.ended_ms is not None]
    length_ms = sum((row.ended_ms or 0) - (row.opened_ms or 0) for row in timed)
    return sum(row.tokens for row in timed) / length_ms * 1_000 if length_ms else None


def _line(row: PastRound, state: State) -> RoundLine:
    is_timed = row.opened_ms is not None and row.ended_ms is not None
    is_last = row.opened_ms is None and row.ended_ms is None and state in words.ENDING
    mark = OUTCOMES.get(row.outcome, Mark(row.outcome, "wait"))
    return RoundLine(
        number=row.round,
        mark=words.LAST_HEAD if is_last else mark,
        ended_ms=row.ended_ms,
        length_ms=(row.ended_ms or 0) - (row.opened_ms or 0) if is_timed else None,
        accepted=row.accepted,
        tokens=row.tokens,
        rate=series.rate(row),
        loss=figures.loss(row.loss_q16) or None,
    )
