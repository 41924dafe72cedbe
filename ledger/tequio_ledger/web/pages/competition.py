"""GET /competitions and /competitions/{competition}."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import msgspec
from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import Response

from tequio_ledger.ledger import Ledger
from tequio_ledger.state import CompetitionEvent, State
from tequio_ledger.store import queries
from tequio_ledger.web.answers import snapshot
from tequio_ledger.web.competitions import (
    CompetitionSnapshot,
    EntrantSnapshot,
    competition_snapshot,
)
from tequio_ledger.web.pages import competition_scores, competition_text, render, text
from tequio_ledger.web.pages.competition_charts import MAX_CURVES, SwarmHistory, side_curves
from tequio_ledger.web.pages.run_view import HubHead, RunSnapshot, data_progress, run_snapshot
from tequio_ledger.web.pages.text import StatusLabel
from tequio_ledger.web.routing import get
from tequio_shared.competition.rules import CompetitionOutcome, Submission
from tequio_shared.competition.state import CompetitionPhase
from tequio_shared.errors import PeerError
from tequio_shared.ids import RunId, digest_from_text, from_text, to_text
from tequio_shared.limits import JSON_INTEGER

CHART_ROUNDS = 2_000
ROWS = 100
"""Newest statements on the page; the log has all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntrantDetails:
    """One entrant, its run if it has one, and where its submission can be downloaded."""

    now: EntrantSnapshot
    run_name: str
    on_hub: HubHead | None
    """The submitted head on the Hugging Face Hub, if organisers published it."""

    @property
    def submission(self) -> Submission | None:
        """The submission, a head or a folder of files."""
        return self.now.submission


@get("/competitions/{competition}")
async def get_competition(request: Request, ledger: Ledger, competition: str) -> Response:
    """Show one competition, from its rules to its outcome."""
    await ledger.sequencer.settled()
    now = competition_snapshot(ledger.state, digest_from_text(competition), ledger.clock())
    entrants = [_entrant(ledger.state, one) for one in now.entrants]
    sides = [one for one in now.entrants if one.side]
    runs = [
        (one.name, run_snapshot(ledger.state, RunId(from_text(one.side))))
        for one in sides[:MAX_CURVES]
    ]

    def make() -> Response:
        now_ms, outcome = ledger.clock(), read_outcome(ledger, now)
        with snapshot(ledger.database) as (connection, published):
            swarms = [_swarm(connection, ledger, name, run) for name, run in runs]
        return render.page(
            request,
            ledger,
            published,
            "competition.html",
            now=now,
            mark=competition_text.mark(now, now_ms),
            gist=competition_text.tagline(now.rules),
            coming=competition_text.next_date(now, now_ms),
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
            unranked=[one.entrant for one in outcome.places if not one.rank] if outcome else [],
            is_final=outcome is not None,
            documents=outcome.documents if outcome else None,
            challenged=Counter((one.entrant, one.evaluator) for one in now.challenges),
            story=_story(now.story),
            ledger_url=render.ledger_url(request, ledger),
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


def _entrant(state: State, one: EntrantSnapshot) -> EntrantDetails:
    run = state.run(RunId(from_text(one.side))) if one.side else None
    submission, on_hub = one.submission, None
    if run and submission and submission.run and submission.round in run.published:
        entry, body = run.published[submission.round]
        on_hub = HubHead(
            round=submission.round, repo=body.repo, revision=body.revision, entry=entry
        )
    return EntrantDetails(now=one, run_name=run.manifest.name if run else "", on_hub=on_hub)


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


def _story(statements: Sequence[CompetitionEvent]) -> list[tuple[int, int, str, str]]:
    """List index, time (ms), meaning and author of the newest statements, the newest first."""
    return [
        (one.index, one.ts, text.TYPES[one.body.TYPE], to_text(one.author))
        for one in reversed(statements[-ROWS:])
    ]


COMPETITIONS_ROWS = 30
Before = Annotated[int, msgspec.Meta(ge=0, le=JSON_INTEGER)]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompetitionCard:
    """One competition in the list."""

    now: CompetitionSnapshot
    mark: StatusLabel
    gist: str
    coming: tuple[str, int] | None
    leaders: str
    """The winners in a sentence; empty before the outcome."""


@get("/competitions")
async def get_competitions(
    request: Request, ledger: Ledger, before: Before = JSON_INTEGER
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
        competition_snapshot(ledger.state, one, now_ms)
        for one in reversed(earlier[-COMPETITIONS_ROWS:])
    ]

    def make() -> Response:
        return render.page(
            request,
            ledger,
            published,
            "competitions.html",
            cards=[_card(ledger, one, now_ms) for one in listed],
            older=listed[-1].opened_index if len(earlier) > COMPETITIONS_ROWS else None,
            is_first=before == JSON_INTEGER,
        )

    return await render.enqueue(request, make)


def _card(ledger: Ledger, now: CompetitionSnapshot, now_ms: int) -> CompetitionCard:
    outcome = read_outcome(ledger, now)
    return CompetitionCard(
        now=now,
        mark=competition_text.mark(now, now_ms),
        gist=competition_text.tagline(now.rules),
        coming=competition_text.next_date(now, now_ms),
        leaders=competition_scores.leaders(outcome) if outcome else "",
    )
