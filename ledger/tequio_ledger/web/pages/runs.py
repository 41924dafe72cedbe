"""GET /runs/{run}, its rounds, and one round with its contributions, verdicts and votes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from tequio_ledger.ledger import Ledger
from tequio_ledger.store import entries, queries
from tequio_ledger.web.answers import snapshot
from tequio_ledger.web.pages import (
    audit_view,
    competition_text,
    render,
    run_charts,
    run_tasks,
    text,
)
from tequio_ledger.web.pages.charts import AxisTitles, Chart, ChartReading, SingleValue, chart
from tequio_ledger.web.pages.round_view import RoundReader, RoundRecord, slot_outcome
from tequio_ledger.web.pages.run_tasks import AnsweredTasks
from tequio_ledger.web.pages.run_view import (
    RunSnapshot,
    continued_run,
    continuing_runs,
    data_progress,
    kept_heads,
    published_lines,
    run_snapshot,
)
from tequio_ledger.web.pages.text import StatusLabel
from tequio_ledger.web.routing import Index, get
from tequio_shared.errors import RefusedError
from tequio_shared.ids import RunId, from_text, to_text
from tequio_shared.limits import JSON_INTEGER
from tequio_shared.network.rollback import Rollback, is_given_up
from tequio_shared.network.run_states import RunState
from tequio_shared.network.verdicts import HeadVerdict, JudgedHead, MeasuredRange, newest_fine
from tequio_shared.round import assignment, measures
from tequio_shared.round.manifest import MeasureRules
from tequio_shared.round.measures import bits_per_byte, perplexity
from tequio_shared.scoring import MILLIBITS, power_of_two
from tequio_shared.served.competitions import competitions_of_run
from tequio_shared.served.rows import MeasuredHead, MeasuredRow, RoundRow, VerdictRules
from tequio_shared.served.state import State
from tequio_shared.statements.statement import Entry
from tequio_shared.wording import plural

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from tequio_shared.statements.runs import HeadMeasure

SHOWN_ROUNDS = 12
STRIP_LENGTH = 60
CHART_ROUNDS = 2_000
PAGE_ROUNDS = 100
LISTED_SAMPLES = 12
SPEED_ROUNDS = 10
"""Closed rounds over which the speed is averaged."""
_USUAL = VerdictRules(measures=MeasureRules(), rollbacks=())
_CANARY = StatusLabel("Not measured", "wait", "Nobody has measured the head of this round.")
_AGREES = StatusLabel("with the median", "ok")
_OUTLIER = StatusLabel("far from the median", "warn")


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureLine:
    row: MeasuredRow
    mark: StatusLabel

    @property
    def perplexity(self) -> float:
        """Of a token."""
        return perplexity(self.row.said)


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenSample:
    """A continuation written by the model, and the member that reports it."""

    round: int
    peer: str
    entry: int
    prompt: str
    text: str
    agreeing: int
    """Members that report the same text, word for word."""
    reports: int
    """Members that report any text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOut:
    """Quality of a run's heads on held-out text: a curve, and who measured the newest kept one."""

    curve: Chart
    perplexities: Chart
    """The same measures, as perplexities of a token."""
    round: int
    bits_per_byte: float
    """Median of `lines`."""
    perplexity: float
    size_bytes: int
    lines: tuple[MeasureLine, ...]
    judged: JudgedHead
    margin: int
    """By which a worse head differs, in thousandths of a bit per byte."""
    fine_round: int | None
    """The newest round in the run's model whose head was measured and is fine."""
    writing: WrittenSample | None
    """Of one head: the newest kept one that has a sample, unless `with_sample` chose another."""
    samples: tuple[int, ...]
    """Rounds of all heads that have one, ascending."""

    @property
    def verdict(self) -> StatusLabel:
        return text.HEAD_VERDICTS[self.judged.verdict]

    @property
    def explanation(self) -> str:
        """Why the verdict on the last measured head is this one, with both figures."""
        measured, best = self.judged.measured, self.judged.best
        if measured is None:
            return self.verdict.description
        said = f"{measured.agreeing} members agree on {_quality(measured)}."
        if best is None:
            return f"{said} There is no earlier head to compare with."
        margin = f"{self.margin / MILLIBITS:g}"
        if self.judged.verdict is HeadVerdict.WORSE:
            return (
                f"{said} That is more than {margin} bits per byte above the best earlier head, "
                f"of round {best.round:,}: {_quality(best)}."
            )
        return (
            f"{said} The best earlier head, of round {best.round:,}, needs "
            f"{_quality(best)}; more than {margin} bits per byte above that would be worse."
        )

    def status_of(self, head_round: int) -> StatusLabel:
        """Describe the head of a round, of those that come last."""
        return self.verdict if head_round == self.round else _CANARY

    def listed(self) -> list[int]:
        """List the rounds to link: all, or else the first, the last, and some between."""
        last = len(self.samples) - 1
        places = {round(at * last / (LISTED_SAMPLES - 1)) for at in range(LISTED_SAMPLES)}
        chosen = {self.samples[at] for at in places}
        return sorted(chosen | ({self.writing.round} if self.writing else set()))

    def beside(self, step: int) -> int | None:
        """Give the round of the sample before (-1) or after (1) the one that is shown."""
        at = self.samples.index(self.writing.round) + step if self.writing else -1
        return self.samples[at] if 0 <= at < len(self.samples) else None


def _quality(head: MeasuredRange) -> str:
    return text.quality(head.bits_per_byte, head.perplexity)


def held_out(heads: Sequence[MeasuredHead], rules: VerdictRules = _USUAL) -> HeldOut | None:
    """Describe measured heads, in their order; None if the run has given up all of them."""
    kept = kept_heads(heads, rules.rollbacks)
    if not kept:
        return None
    judged, last = rules.judge(heads), kept[-1]
    samples = [head.round for head in heads if _writing(head)]
    return HeldOut(
        curve=_curve(heads, judged, rules.rollbacks),
        perplexities=_perplexities(heads, rules.rollbacks),
        round=last.round,
        bits_per_byte=bits_per_byte(last.median),
        perplexity=perplexity(last.median),
        size_bytes=last.median.size_bytes,
        lines=tuple(
            MeasureLine(row=row, mark=_OUTLIER if row.is_outlier else _AGREES) for row in last.rows
        ),
        judged=judged[heads.index(last)],
        margin=rules.measures.worse_margin,
        fine_round=newest_fine(judged, rules.rollbacks),
        writing=next((one for head in reversed(kept) if (one := _writing(head))), None),
        samples=tuple(samples),
    )


def _curve(
    heads: Sequence[MeasuredHead], judged: Sequence[JudgedHead], rollbacks: Sequence[Rollback]
) -> Chart:
    readings = [
        _reading(head, bits_per_byte, _bits, _comparison(verdict))
        for head, verdict in zip(heads, judged, strict=True)
    ]
    return chart(
        "held-out",
        "Held-out text",
        run_charts.summary("The median measured by drawn members", readings, "bits per byte"),
        readings,
        AxisTitles("bits per byte", "round"),
        from_zero=False,
        breaks=run_charts.went_back(rollbacks),
    )


def _perplexities(heads: Sequence[MeasuredHead], rollbacks: Sequence[Rollback]) -> Chart:
    drawn = [head for head in heads if perplexity(head.median) <= text.MAX_PERPLEXITY]
    readings = [_reading(head, _drawn_perplexity, _per_token) for head in drawn]
    return chart(
        "perplexity",
        "Perplexity",
        run_charts.summary("The same measurements as perplexity", readings, "per token"),
        readings,
        AxisTitles("perplexity per token", "round"),
        from_zero=False,
        breaks=run_charts.went_back(rollbacks),
    )


def _drawn_perplexity(measure: HeadMeasure) -> float:
    return min(perplexity(measure), text.MAX_PERPLEXITY)


def _bits(value: float) -> str:
    return f"{text.decimal(value, 4)} bits per byte"


def _per_token(value: float) -> str:
    return f"perplexity {text.perplexity(value)} per token"


def _comparison(judged: JudgedHead) -> str:
    is_worse = judged.best is not None and judged.verdict is HeadVerdict.WORSE
    return f", worse than round {judged.best.round}" if judged.best and is_worse else ""


def _reading(
    head: MeasuredHead,
    value_of: Callable[[HeadMeasure], float],
    figure: Callable[[float], str],
    comparison: str = "",
) -> ChartReading:
    away = sum(row.is_outlier for row in head.rows)
    shown = text.quality(bits_per_byte(head.median), perplexity(head.median))
    count = f"median of {len(head.rows)}" + (f", {away} far from it" if away else "")
    return ChartReading(
        at=head.round,
        value=value_of(head.median),
        label=str(head.round),
        caption=f"head of round {head.round}: {shown}, {count}{comparison}",
        figure=figure,
        singles=tuple(
            SingleValue(value=value_of(row.said), is_outlier=row.is_outlier) for row in head.rows
        ),
    )


def _writing(head: MeasuredHead) -> WrittenSample | None:
    sample = measures.sample_of(head.shown.said) if head.shown else None
    if head.shown is None or sample is None:
        return None
    samples = [one for row in head.rows if (one := measures.sample_of(row.said)) is not None]
    return WrittenSample(
        round=head.round,
        peer=to_text(head.shown.peer),
        entry=head.shown.entry,
        prompt=sample.prompt,
        text=sample.text,
        agreeing=samples.count(sample),
        reports=len(samples),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundLine:
    past: RoundRow
    mark: StatusLabel
    length_ms: int | None
    rate: float | None
    loss: float | None

    @property
    def caption(self) -> str:
        number, accepted = self.past.round, plural(self.past.accepted, "contribution")
        if self.mark is text.OUTCOMES["closed"]:
            return f"Round {number}: {accepted} accepted"
        return f"Round {number}: {self.mark.word.lower()}"


def round_line(row: RoundRow, state: RunState, *, given_up: bool) -> RoundLine:
    is_timed = row.opened_ms is not None and row.ended_ms is not None
    is_last = row.opened_ms is None and row.ended_ms is None and state in text.ENDING
    mark = text.LAST_HEAD_LABEL if is_last else text.outcome(row.outcome)
    if row.outcome == "closed" and not row.accepted:
        mark = text.LAST_AUDITS_LABEL
    elif row.outcome == "closed" and given_up:
        mark = text.GIVEN_UP_LABEL
    return RoundLine(
        past=row,
        mark=mark,
        length_ms=(row.ended_ms or 0) - (row.opened_ms or 0) if is_timed else None,
        rate=run_charts.tokens_per_s(row),
        loss=text.loss(row.loss_q16) or None,
    )


def sorted_runs(state: State) -> list[RunSnapshot]:
    """Copy all runs: those that can be joined first, the newest of them first of all."""
    found = [run_snapshot(state, run) for run in state.runs]
    return sorted(found, key=lambda run: (run.is_over, -run.opened_index))


def headline(now: RunSnapshot | None) -> str:
    """Invite people to take part in a run, or in any if there is none."""
    return f"Train {now.name} with your GPU" if now else "Train open language models with your GPU"


def with_sample(connection: Connection, run: RunId, shown: HeldOut, number: int) -> HeldOut:
    """Show the last sample up to a round, or else the first one."""
    if not shown.samples:
        return shown
    chosen = max((one for one in shown.samples if one <= number), default=shown.samples[0])
    (head,) = queries.measured_heads_of(connection, run, [chosen])
    return replace(shown, writing=_writing(head))


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredRun:
    """All that the measures of a run's heads say; None without any."""

    held_out: HeldOut | None
    tasks: AnsweredTasks | None


class MeasureReader:
    """Reads the measures of runs, and caches what they say until there are more; thread-safe."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[object, MeasuredRun]] = {}

    def read(self, connection: Connection, now: RunSnapshot) -> MeasuredRun:
        run = RunId(from_text(now.id))
        state = queries.newest_measures(connection, run), now.verdict_rules
        before, known = self._known.get(now.id, (None, None))
        if known is not None and before == state:
            return known
        heads = queries.last_measured_heads(connection, run, CHART_ROUNDS)
        found = MeasuredRun(
            held_out=held_out(heads, now.verdict_rules),
            tasks=run_tasks.answered_tasks(heads, now.manifest.measures.answered, now.rollbacks),
        )
        self._known[now.id] = state, found
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class RunQuality:
    """Quality that a run has reached: measured of its heads, or else the claimed losses."""

    measured: HeldOut | None
    curve: Chart
    source: str
    """Origin of the curve's figures."""
    reached: str
    """The last value of the curve in words; empty if there is none."""


def run_quality(
    connection: Connection, measure_reader: MeasureReader, now: RunSnapshot
) -> RunQuality:
    """Draw the measured quality of a run's heads, or else the losses that trainers claim."""
    measured = measure_reader.read(connection, now).held_out
    if measured and measured.curve.layouts:
        return RunQuality(
            measured=measured,
            curve=measured.curve,
            source="On text that nobody trains on",
            reached=f"{measured.bits_per_byte:.3g} bits per byte, perplexity "
            f"{text.perplexity(measured.perplexity)} per token",
        )
    claimed = queries.last_rounds(connection, RunId(from_text(now.id)), CHART_ROUNDS)
    curve = run_charts.losses(claimed, now.rollbacks)
    return RunQuality(
        measured=measured,
        curve=curve,
        source="Training loss that trainers claim",
        reached=f"{curve.last.value:.3g} nats per token" if curve.last else "",
    )


@get("/runs")
async def get_runs(request: Request, ledger: Ledger) -> Response:
    published = await ledger.sequencer.settled()
    listed = sorted_runs(ledger.state)

    def make() -> Response:
        return render.page(request, ledger, published, "runs.html", runs=listed)

    return await render.enqueue(request, make)


@get("/runs/{run}")
async def get_run(
    request: Request,
    ledger: Ledger,
    measure_reader: MeasureReader,
    run: str,
    sample: Index | None = None,
) -> Response:
    """Show a run, with the text that the head of the round `sample` writes."""
    await ledger.sequencer.settled()
    run_id, now_ms = RunId(from_text(run)), ledger.clock()
    now = run_snapshot(ledger.state, run_id)
    parent, children = continued_run(ledger.state, run_id), continuing_runs(ledger.state, run_id)
    contests = [
        competition_text.summary(one, now_ms)
        for one in competitions_of_run(ledger.state, run_id, now_ms)
    ]

    def make() -> Response:
        with snapshot(ledger) as (connection, published):
            past = queries.last_rounds(connection, run_id, CHART_ROUNDS)
            said = measure_reader.read(connection, now)
            quality = said.held_out
            if quality and sample is not None:
                quality = with_sample(connection, run_id, quality, sample)
            opening = entries.read_entry(connection, now.opened_index)
            rounds = {one.round for one in now.published}
            measured = queries.measured_heads_of(connection, run_id, rounds)
        lines = [round_line(row, now.state, given_up=now.is_given_up(row.round)) for row in past]
        loss = next((line.loss for line in reversed(lines) if line.loss), None)
        data = data_progress(now, ledger.blobs.read)
        return render.page(
            request,
            ledger,
            published,
            "run.html",
            now=now,
            rounds=lines[: -SHOWN_ROUNDS - 1 : -1],
            strip=lines[-STRIP_LENGTH:],
            rate=_rate([row for row in past if row.outcome == "closed"][-SPEED_ROUNDS:]),
            loss=loss,
            bits_per_byte=loss / math.log(2) * data.tokens_per_byte
            if loss and data.tokens_per_byte
            else None,
            perplexity=power_of_two(loss / math.log(2)) if loss else None,
            losses=run_charts.losses(past, now.rollbacks),
            rates=run_charts.rates(past),
            held_out=quality,
            tasks=said.tasks,
            published_heads=published_lines(now, measured),
            ring=run_charts.round_ring(now),
            data=data,
            conditions=text.admission_conditions(now.manifest.admits),
            organisers=[key for key, _ in Entry.parse(opening.leaf).signatures] if opening else [],
            contests=contests,
            parent=parent,
            children=children,
        )

    return await render.enqueue(request, make)


def _rate(closed: list[RoundRow]) -> float | None:
    """Give the accepted tokens per second while the rounds were open."""
    timed = [row for row in closed if row.opened_ms is not None and row.ended_ms is not None]
    length_ms = sum((row.ended_ms or 0) - (row.opened_ms or 0) for row in timed)
    return sum(row.tokens for row in timed) / length_ms * 1_000 if length_ms else None


@get("/runs/{run}/rounds")
@render.in_queue
def get_rounds(
    request: Request, ledger: Ledger, run: str, before: Index = JSON_INTEGER
) -> Response:
    """List the rounds of a run, the newest first."""
    run_id = RunId(from_text(run))
    now = ledger.state.run(run_id)
    rollbacks = tuple(now.rollbacks)
    with snapshot(ledger) as (connection, published):
        rows = queries.rounds_before(connection, run_id, before, PAGE_ROUNDS)
    return render.page(
        request,
        ledger,
        published,
        "rounds.html",
        run=run,
        name=now.manifest.name,
        rounds=[
            round_line(row, now.state, given_up=is_given_up(rollbacks, row.round, now.number))
            for row in rows
        ],
        older=rows[-1].round if len(rows) == PAGE_ROUNDS and rows[-1].round > 1 else None,
        is_first=before == JSON_INTEGER,
    )


@get("/runs/{run}/rounds/{number:int}")
async def get_round(
    request: Request, ledger: Ledger, reader: RoundReader, run: str, number: int
) -> Response:
    await ledger.sequencer.settled()
    run_id = RunId(from_text(run))
    now = ledger.state.run(run_id)
    if not 0 < number <= JSON_INTEGER:
        raise RefusedError("not-found", f"this run has no round {number}")
    # Read on the event loop.
    name, last, state = now.manifest.name, now.number, now.state
    is_left = is_given_up(now.rollbacks, number, now.number)

    def make() -> Response:
        with snapshot(ledger) as (connection, published):
            record = reader.read(connection, run_id, number)
            audits = audit_view.round_audits(reader, connection, run_id, number, record)
        slots = [slot_outcome(record, slot) for slot in range(len(record.roster.members))]
        accepted = [
            one
            for one in slots
            if one.verdict.tone == "ok" and record.result and not one.is_auditor
        ]
        stated = Counter(one.body.head for one in record.attests.values())
        return render.page(
            request,
            ledger,
            published,
            "round.html",
            cache=render.CACHE_SETTLED if record.is_complete else render.CACHE_LIVE,
            run=run,
            name=name,
            number=number,
            last=last,
            mark=_mark(record, state, is_given_up=is_left),
            record=record,
            is_given_up=is_left,
            slots=slots,
            audits=audits,
            timeline=run_charts.timeline(record, ledger.clock()),
            votes=run_charts.votes(record),
            blooms=[run_charts.bloom(slot, one) for slot, one in sorted(record.proofs.items())],
            stated=stated.most_common(),
            tokens=sum(one.tokens for one in accepted),
            windows=assignment.count_windows(record.roster.pool),
            gflop=sum(one.gflop + sum(part for _, part in one.given) for one in slots),
            accepted=len(accepted),
        )

    return await render.enqueue(request, make)


_CLOSED = StatusLabel(
    "Closed", "ok", "A quorum of witnesses decided; the accepted work made the next head."
)


def _mark(record: RoundRecord, state: RunState, *, is_given_up: bool) -> StatusLabel:
    if record.voided:
        why = text.void_reason(record.voided.body.reason)
        return StatusLabel(
            "Void",
            "warn",
            f"The round does not count, because {why}. The head stays, the windows return to the "
            "queue, and nobody is paid or blamed.",
        )
    if record.opened and not record.roster.assignment:
        return text.LAST_AUDITS_LABEL
    if record.closed:
        return text.GIVEN_UP_LABEL if is_given_up else _CLOSED
    if record.opened is None and state in text.ENDING:
        return text.LAST_HEAD_LABEL
    if record.witnessed:
        return text.STATES[RunState.ROUND_WITNESS]
    return text.STATES[RunState.WARMUP if record.opened is None else RunState.ROUND_TRAIN]
