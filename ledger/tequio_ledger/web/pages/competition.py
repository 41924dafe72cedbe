"""GET /competitions/{competition}: one competition, from its rules to its outcome."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from tequio_ledger.ledger import Ledger
from tequio_ledger.log.guard import Published as GuardPublished
from tequio_ledger.log.log import Published
from tequio_ledger.state import Said, State
from tequio_ledger.store import queries
from tequio_ledger.web.answers import snapshot
from tequio_ledger.web.competitions import CompetitionNow, EntrantNow, competition_now
from tequio_ledger.web.pages import competition_text, competition_views, render, text
from tequio_ledger.web.pages.competition_text import Rule, Step
from tequio_ledger.web.pages.competition_views import (
    MOST,
    PairRow,
    Parts,
    Placing,
    ScoreRow,
    SideCurves,
    Swarm,
    side_curves,
)
from tequio_ledger.web.pages.run_view import OnHub, RunNow, data_progress, run_now
from tequio_ledger.web.pages.text import Mark
from tequio_ledger.web.routing import get
from tequio_shared.competition.rules import CompetitionOutcome, Submission
from tequio_shared.competition.state import CompetitionPhase
from tequio_shared.errors import PeerError
from tequio_shared.ids import RunId, digest_from_text, from_text, to_text
from tequio_shared.limits import JSON_INTEGER

CHART_ROUNDS = 2_000
ROWS = 100
"""Offers, challenges and statements that are shown; the log has all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntrantRow:
    """One entrant, its run if it has one, and where its submission can be downloaded."""

    now: EntrantNow
    run_name: str
    on_hub: OnHub | None
    """Where organisers published the head that was submitted."""

    @property
    def submission(self) -> Submission | None:
        """What was submitted, a head or a folder."""
        return self.now.submission


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryLine:
    """One statement about the competition."""

    index: int
    at_ms: int
    type: str
    says: str
    author: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CompetitionPage:
    """One competition."""

    now: CompetitionNow
    mark: Mark
    gist: str
    coming: tuple[str, int] | None
    steps: tuple[Step, ...]
    rules: tuple[Rule, ...]
    secrecy: Mark
    entrants: tuple[EntrantRow, ...]
    curves: SideCurves
    picture: Placing | None
    parts: Parts
    """Who committed to scores, and who showed them."""
    scores: tuple[ScoreRow, ...]
    due: int
    """How many results there would be if every evaluator scored every submission."""
    pairs: tuple[PairRow, ...]
    unranked: tuple[str, ...]
    is_final: bool
    """Whether ranks and intervals are those that organisers stated."""
    documents: int | None
    """Texts that the outcome counts; None before it."""
    challenged: Counter[tuple[str, str]]
    """Challenges by entrant and evaluator."""
    story: tuple[StoryLine, ...]
    """The newest first."""
    ledger: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Taken:
    """What was taken from the state: the competition, its entrants, and the runs to be drawn."""

    now: CompetitionNow
    entrants: tuple[EntrantRow, ...]
    runs: tuple[tuple[str, RunNow], ...]
    swarms: int


@get("/competitions/{competition}")
async def get_competition(request: Request, ledger: Ledger, competition: str) -> Response:
    """Show a competition."""
    await ledger.sequencer.settled()
    now = competition_now(ledger.state, digest_from_text(competition), ledger.clock())
    sides = [one for one in now.entrants if one.side]
    taken = _Taken(
        now=now,
        entrants=tuple(_entrant(ledger.state, one) for one in now.entrants),
        runs=tuple(
            (one.name, run_now(ledger.state, RunId(from_text(one.side)))) for one in sides[:MOST]
        ),
        swarms=len(sides),
    )
    return await render.in_turn(request, _printed, request, ledger, taken)


def stated_outcome(ledger: Ledger, now: CompetitionNow) -> CompetitionOutcome | None:
    """The outcome, if organisers stated one and its document is still here."""
    if not now.outcome:
        return None
    try:
        return CompetitionOutcome.parse(ledger.blobs.read(digest_from_text(now.outcome)))
    except (KeyError, PeerError):
        return None


def _entrant(state: State, one: EntrantNow) -> EntrantRow:
    run = state.run(RunId(from_text(one.side))) if one.side else None
    said = one.submission
    published = run.published.get(said.round) if run and said and said.run else None
    return EntrantRow(
        now=one,
        run_name=run.manifest.name if run else "",
        on_hub=OnHub(
            round=said.round,
            repo=published[1].repo,
            revision=published[1].revision,
            entry=published[0],
        )
        if published and said
        else None,
    )


def _printed(request: Request, ledger: Ledger, taken: _Taken) -> Response:
    view, published = _view(ledger, taken, render.here(request, ledger))
    return render.page(request, "competition.html", render.frame(request, ledger, published), view)


def _view(ledger: Ledger, taken: _Taken, here: str) -> tuple[CompetitionPage, Published]:
    now, now_ms = taken.now, ledger.clock()
    with snapshot(ledger.database) as (connection, published):
        pasts = [
            queries.last_rounds(connection, from_text(run.id), CHART_ROUNDS)
            for _, run in taken.runs
        ]
        heads = [queries.last(connection, from_text(run.id), CHART_ROUNDS) for _, run in taken.runs]
    swarms = [
        Swarm(
            entrant=name,
            run=run.id,
            name=run.name,
            rounds=past,
            heads=known,
            tokens_per_byte=data_progress(run, ledger.blobs.read).tokens_per_byte,
        )
        for (name, run), past, known in zip(taken.runs, pasts, heads, strict=True)
    ]
    outcome = stated_outcome(ledger, now)
    view = CompetitionPage(
        now=now,
        mark=competition_text.mark(now, now_ms),
        gist=competition_text.gist(now.rules),
        coming=competition_text.coming(now, now_ms),
        steps=competition_text.steps(now, now_ms),
        rules=competition_text.rules_told(now.rules),
        secrecy=competition_text.secrecy(now),
        entrants=taken.entrants,
        curves=side_curves(swarms, left_out=taken.swarms - len(swarms)),
        picture=competition_views.picture(now, outcome),
        parts=competition_views.parts(now, now_ms),
        scores=competition_views.score_rows(now, outcome),
        due=len(now.evaluators) * sum(one.submission is not None for one in now.entrants),
        pairs=competition_views.pair_rows(outcome),
        unranked=competition_views.unranked(outcome),
        is_final=outcome is not None,
        documents=outcome.documents if outcome else None,
        challenged=Counter((one.entrant, one.evaluator) for one in now.challenges),
        story=_story(now.story),
        ledger=here,
    )
    return view, published


def _story(told: Sequence[Said]) -> tuple[StoryLine, ...]:
    return tuple(
        StoryLine(
            index=one.index,
            at_ms=one.ts,
            type=one.body.TYPE,
            says=text.TYPES[one.body.TYPE],
            author=to_text(one.author),
        )
        for one in reversed(told[-ROWS:])
    )


# --- GET /competitions: who trains against whom, the newest first.

COMPETITIONS_ROWS = 30
Before = Annotated[int, msgspec.Meta(ge=0, le=JSON_INTEGER)]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompetitionCard:
    """One competition in the list."""

    now: CompetitionNow
    mark: Mark
    gist: str
    coming: tuple[str, int] | None
    leaders: str
    """Who won; empty until organisers stated it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompetitionsPage:
    """Some of them."""

    cards: tuple[CompetitionCard, ...]
    older: int | None
    is_first: bool


@get("/competitions")
async def get_competitions(
    request: Request, ledger: Ledger, before: Before = JSON_INTEGER
) -> Response:
    """List competitions."""
    published = await ledger.sequencer.settled()
    views = ledger.state.competitions.views
    earlier = [
        one
        for one, view in views.items()
        if view.phase_starts[CompetitionPhase.OPEN].index < before
    ]
    now_ms = ledger.clock()
    shown = [
        competition_now(ledger.state, one, now_ms) for one in reversed(earlier[-COMPETITIONS_ROWS:])
    ]
    older = shown[-1].opened_index if len(earlier) > COMPETITIONS_ROWS else None
    return await render.in_turn(
        request,
        _competitions_printed,
        request,
        ledger,
        published,
        shown,
        older,
        is_first=before == JSON_INTEGER,
    )


def _competitions_printed(
    request: Request,
    ledger: Ledger,
    published: GuardPublished,
    shown: list[CompetitionNow],
    older: int | None,
    *,
    is_first: bool,
) -> Response:
    now_ms = ledger.clock()
    view = CompetitionsPage(
        cards=tuple(
            CompetitionCard(
                now=one,
                mark=competition_text.mark(one, now_ms),
                gist=competition_text.gist(one.rules),
                coming=competition_text.coming(one, now_ms),
                leaders=_leaders(ledger, one),
            )
            for one in shown
        ),
        older=older,
        is_first=is_first,
    )
    frame = render.frame(request, ledger, published)
    return render.page(request, "competitions.html", frame, view)


def _leaders(ledger: Ledger, now: CompetitionNow) -> str:
    outcome = stated_outcome(ledger, now)
    return competition_views.leaders(outcome) if outcome else ""
