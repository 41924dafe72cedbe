"""GET /runs/{run} and /runs/{run}/rounds: one run, and all its rounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from tequio_ledger.ledger import Ledger
from tequio_ledger.log.log import Published
from tequio_ledger.store import queries
from tequio_ledger.store.queries import PastRound
from tequio_ledger.web.answers import snapshot
from tequio_ledger.web.competitions import CompetitionNow, competitions_of
from tequio_ledger.web.pages import competition_text, render, run_charts, text
from tequio_ledger.web.pages import text as pages_text
from tequio_ledger.web.pages.charts import Chart, Reading, Single, chart
from tequio_ledger.web.pages.run_charts import RoundRing, round_ring, summary
from tequio_ledger.web.pages.run_view import DataProgress, RunNow, data_progress, run_now
from tequio_ledger.web.pages.text import Mark
from tequio_ledger.web.routing import get
from tequio_shared.ids import RunId, from_text, to_text
from tequio_shared.limits import JSON_INTEGER
from tequio_shared.network.run import RunState
from tequio_shared.round import measures
from tequio_shared.round.measures import bits_per_byte

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tequio_ledger.store.queries import MeasuredHead, MeasuredRow

# --- How good a run's heads are on held-out text, as its page shows it: a curve, and who says so.

_AGREES = Mark("with the median", "ok")
_OUTLIER = Mark("far from the median", "warn")


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureLine:
    """What one drawn member says of the last measured head."""

    peer: str
    entry: int
    bits_per_byte: float
    mark: Mark


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """What the model writes after a beginning, and who says so."""

    round: int
    peer: str
    entry: int
    prompt: str
    text: str
    alike: int
    """So many say the same, word for word."""
    told: int
    """So many say anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOut:
    """The curve, and the last measured head."""

    curve: Chart
    round: int
    bits_per_byte: float
    """Median of its lines."""
    size_bytes: int
    lines: tuple[MeasureLine, ...]
    writing: Writing | None
    """Of the newest head of which there is a sample."""


def held_out(heads: Sequence[MeasuredHead]) -> HeldOut | None:
    """Show measured heads, the last one last; nothing without any."""
    if not heads:
        return None
    last = heads[-1]
    return HeldOut(
        curve=_curve(heads),
        round=last.round,
        bits_per_byte=bits_per_byte(last.median),
        size_bytes=last.median.size_bytes,
        lines=tuple(_line(row) for row in last.rows),
        writing=next((one for head in reversed(heads) if (one := _writing(head))), None),
    )


def _curve(heads: Sequence[MeasuredHead]) -> Chart:
    readings = [_reading(head) for head in heads]
    return chart(
        "held-out",
        "Held-out text",
        summary("The median that drawn members measure", readings, "bits per byte"),
        readings,
        pages_text.brief,
        from_zero=False,
    )


def _reading(head: MeasuredHead) -> Reading:
    value, away = bits_per_byte(head.median), sum(row.is_outlier for row in head.rows)
    count = f"median of {len(head.rows)}" + (f", {away} far from it" if away else "")
    return Reading(
        at=head.round,
        value=value,
        label=str(head.round),
        said=f"head of round {head.round}: {value:.4f} bits per byte, {count}",
        singles=tuple(
            Single(value=bits_per_byte(row.said), is_outlier=row.is_outlier) for row in head.rows
        ),
    )


def _writing(head: MeasuredHead) -> Writing | None:
    sample = measures.sample_of(head.shown.said) if head.shown else None
    if head.shown is None or sample is None:
        return None
    told = [one for row in head.rows if (one := measures.sample_of(row.said)) is not None]
    return Writing(
        round=head.round,
        peer=to_text(head.shown.peer),
        entry=head.shown.entry,
        prompt=sample.prompt,
        text=sample.text,
        alike=told.count(sample),
        told=len(told),
    )


def _line(row: MeasuredRow) -> MeasureLine:
    return MeasureLine(
        peer=to_text(row.peer),
        entry=row.entry,
        bits_per_byte=bits_per_byte(row.said),
        mark=_OUTLIER if row.is_outlier else _AGREES,
    )


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
            accepted = text.plural(self.accepted, "contribution")
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
    return await render.in_turn(request, _printed, request, ledger, now, contests)


@get("/runs/{run}/rounds")
@render.by_turns
def get_rounds(
    request: Request, ledger: Ledger, run: str, before: Before = JSON_INTEGER
) -> Response:
    """List the rounds of a run, the newest first."""
    run_id = RunId(from_text(run))
    now = ledger.state.run(run_id)
    with snapshot(ledger.database) as (connection, published):
        rows = queries.rounds_before(connection, run_id, before, PAGE_ROUNDS)
    view = RoundsPage(
        run=run,
        name=now.manifest.name,
        rounds=tuple(_run_line(row, now.state) for row in rows),
        older=rows[-1].round if len(rows) == PAGE_ROUNDS and rows[-1].round > 1 else None,
        is_first=before == JSON_INTEGER,
    )
    return render.page(request, "rounds.html", render.frame(request, ledger, published), view)


def _printed(
    request: Request, ledger: Ledger, now: RunNow, contests: tuple[CompetitionNow, ...]
) -> Response:
    view, published = _view(ledger, now, contests, render.here(request, ledger))
    return render.page(request, "run.html", render.frame(request, ledger, published), view)


def _view(
    ledger: Ledger, now: RunNow, contests: tuple[CompetitionNow, ...], here: str
) -> tuple[RunPage, Published]:
    run = from_text(now.id)
    with snapshot(ledger.database) as (connection, published):
        past = queries.last_rounds(connection, run, CHART_ROUNDS)
        heads = queries.last(connection, run, CHART_ROUNDS)
    lines = [_run_line(row, now.state) for row in past]
    losses = [line.loss for line in lines if line.loss]
    view = RunPage(
        now=now,
        rounds=tuple(reversed(lines[-SHOWN_ROUNDS:])),
        strip=tuple(lines[-STRIP_ROUNDS:]),
        rate=_rate([row for row in past if row.outcome == "closed"][-LAST_ROUNDS:]),
        loss=losses[-1] if losses else None,
        losses=run_charts.losses(past),
        rates=run_charts.rates(past),
        held_out=held_out(heads),
        ring=round_ring(now),
        data=data_progress(now, ledger.blobs.read),
        asked=text.asked(ledger.state.run(RunId(run)).manifest.admits),
        contests=tuple(
            Contest(id=one.id, name=one.rules.name, mark=competition_text.mark(one, ledger.clock()))
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


def _run_line(row: PastRound, state: RunState) -> RoundLine:
    is_timed = row.opened_ms is not None and row.ended_ms is not None
    is_last = row.opened_ms is None and row.ended_ms is None and state in text.ENDING
    mark = OUTCOMES.get(row.outcome, Mark(row.outcome, "wait"))
    return RoundLine(
        number=row.round,
        mark=text.LAST_HEAD if is_last else mark,
        ended_ms=row.ended_ms,
        length_ms=(row.ended_ms or 0) - (row.opened_ms or 0) if is_timed else None,
        accepted=row.accepted,
        tokens=row.tokens,
        rate=run_charts.rate(row),
        loss=text.loss(row.loss_q16) or None,
    )
