"""GET /competitions and /competitions/{competition}."""

from __future__ import annotations

from collections import Counter

from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import Response

from tequio_ledger.ledger import Ledger
from tequio_ledger.store import queries
from tequio_ledger.web.answers import snapshot
from tequio_ledger.web.pages import competition_scores, competition_text, render
from tequio_ledger.web.pages.competition_charts import MAX_CURVES, SwarmHistory, side_curves
from tequio_ledger.web.pages.run_view import RunSnapshot, data_progress, run_snapshot
from tequio_ledger.web.routing import Index, get
from tequio_shared.competition.rules import CompetitionOutcome
from tequio_shared.competition.state import CompetitionPhase, Entrant
from tequio_shared.errors import PeerError
from tequio_shared.ids import digest_from_text, from_text
from tequio_shared.limits import JSON_INTEGER
from tequio_shared.served.competitions import CompetitionSnapshot, competition_snapshot
from tequio_shared.served.state import COMPETITION_EVENTS, State
from tequio_shared.statements.network import CheckpointPublish, is_on_hub

CHART_ROUNDS = 2_000
COMPETITIONS_ROWS = 30


@get("/competitions/{competition}")
async def get_competition(request: Request, ledger: Ledger, competition: str) -> Response:
    """Show one competition, from its rules to its outcome."""
    await ledger.sequencer.settled()
    now = competition_snapshot(ledger.state, digest_from_text(competition), ledger.clock())
    entrants = [_entrant(ledger.state, one) for one in now.entrants]
    sides = [(one.name, one.side) for one in now.entrants if one.side]
    runs = [(name, run_snapshot(ledger.state, run)) for name, run in sides[:MAX_CURVES]]

    def make() -> Response:
        now_ms, outcome = ledger.clock(), read_outcome(ledger, now)
        with snapshot(ledger) as (connection, published):
            swarms = [_swarm(connection, ledger, name, run) for name, run in runs]
        return render.page(
            request,
            ledger,
            published,
            "competition.html",
            summary=competition_text.summary(now, now_ms),
            steps=competition_text.steps(now, now_ms),
            rules=competition_text.rule_texts(now.rules),
            secrecy=competition_text.secrecy(now),
            entrants=entrants,
            curves=side_curves(swarms, left_out=len(sides) - len(swarms)),
            picture=competition_scores.ranking(now, outcome),
            progress=competition_scores.progress(now, now_ms),
            scores=competition_scores.score_rows(now, outcome),
            due=len(now.evaluators) * sum(one.submission is not None for one in now.entrants),
            pairs=competition_scores.pair_rows(outcome),
            unranked=competition_scores.unranked(outcome) if outcome else {},
            is_final=outcome is not None,
            leaders=competition_scores.leaders(outcome) if outcome else "",
            documents=outcome.documents if outcome else None,
            challenged=Counter((one.entrant, one.evaluator) for one in now.challenges),
            newest=now.events[::-1],
            has_older=len(now.events) == COMPETITION_EVENTS,
        )

    return await render.enqueue(request, make)


def read_outcome(ledger: Ledger, now: CompetitionSnapshot) -> CompetitionOutcome | None:
    """Read the outcome, if organisers stated one and its document is stored here."""
    if not now.outcome:
        return None
    try:
        return CompetitionOutcome.parse(ledger.blobs.read(digest_from_text(now.outcome)))
    except (KeyError, PeerError):
        return None


def _entrant(state: State, one: Entrant) -> tuple[Entrant, str, CheckpointPublish | None]:
    """Give an entrant, the name of its run, and its submitted head on the Hugging Face Hub."""
    if one.side is None:
        return one, "", None
    run = state.run(one.side)
    is_head = one.submission is not None and bool(one.submission.run)
    places = run.published.get(one.submission.round, {}) if one.submission and is_head else {}
    on_hub = (place for location, place in places.items() if is_on_hub(location))
    newest = max(on_hub, key=lambda place: place.index, default=None)
    return one, run.manifest.name, newest.body if newest else None


def _swarm(connection: Connection, ledger: Ledger, entrant: str, run: RunSnapshot) -> SwarmHistory:
    run_id = from_text(run.id)
    return SwarmHistory(
        entrant=entrant,
        run=run.id,
        name=run.name,
        rounds=queries.last_rounds(connection, run_id, CHART_ROUNDS),
        heads=queries.last_measured_heads(connection, run_id, CHART_ROUNDS),
        tokens_per_byte=data_progress(run, ledger.blobs.read).tokens_per_byte,
    )


@get("/competitions")
async def get_competitions(
    request: Request, ledger: Ledger, before: Index = JSON_INTEGER
) -> Response:
    """List competitions, the newest first."""
    published = await ledger.sequencer.settled()
    views, now_ms = ledger.state.competitions.views, ledger.clock()
    earlier = [
        one
        for one, view in views.items()
        if view.phase_starts[CompetitionPhase.OPEN].index < before
    ]
    listed = [
        competition_text.summary(competition_snapshot(ledger.state, one, now_ms), now_ms)
        for one in reversed(earlier[-COMPETITIONS_ROWS:])
    ]

    def make() -> Response:
        outcomes = [read_outcome(ledger, one.now) for one in listed]
        leaders = [competition_scores.leaders(one) if one else "" for one in outcomes]
        return render.page(
            request,
            ledger,
            published,
            "competitions.html",
            cards=list(zip(listed, leaders, strict=True)),
            older=listed[-1].now.opened_index if len(earlier) > COMPETITIONS_ROWS else None,
            is_first=before == JSON_INTEGER,
        )

    return await render.enqueue(request, make)
