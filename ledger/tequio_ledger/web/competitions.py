"""GET /v1/competitions: who trains against whom, and what came of it, as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import msgspec

from tequio_ledger.ledger import Ledger
from tequio_ledger.web.answers import as_of
from tequio_ledger.web.routing import get
from tequio_shared.api.answer import ROWS
from tequio_shared.api.competitions import (
    ChallengeAnswer,
    CommittedAnswer,
    CompetitionAnswer,
    CompetitionLine,
    CompetitionsAnswer,
    EntrantAnswer,
    OfferAnswer,
    ScoredAnswer,
    ShareAnswer,
)
from tequio_shared.competition.state import CompetitionPhase
from tequio_shared.ids import digest_from_text, to_text
from tequio_shared.limits import JSON_INTEGER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tequio_ledger.log.guard import Published
    from tequio_ledger.state import Said, State
    from tequio_shared.competition.competition import CompetitionView
    from tequio_shared.competition.rules import CompetitionRules, Submission
    from tequio_shared.ids import Digest, RunId

# --- How a competition becomes answers of the API (`tequio_shared.api.competitions`).


def competition_line(now: CompetitionNow) -> CompetitionLine:
    """Describe a competition in a list."""
    sealed = now.rules.sealed
    return CompetitionLine(
        competition=now.id,
        name=now.rules.name,
        phase=now.phase,
        dates=now.rules.dates,
        opened_index=now.opened_index,
        documents=sealed.documents,
        needed=sealed.needed,
        shares=len(sealed.shares),
        shown=now.shown,
        entrants=len(now.entrants),
        offered=len(now.offers),
        evaluators=len(now.evaluators),
        outcome=now.outcome or None,
        void=now.void,
    )


def competition_answer(now: CompetitionNow, published: Published) -> CompetitionAnswer:
    """Describe a competition."""
    return CompetitionAnswer(
        competition=now.id,
        phase=now.phase,
        rules=now.rules,
        opened_index=now.opened_index,
        closed_index=now.began.get(CompetitionPhase.CLOSED),
        drawn_index=now.began.get(CompetitionPhase.DRAWN),
        revealed_index=now.began.get(CompetitionPhase.REVEALED),
        entrants=_entrants(now),
        offered=len(now.offers),
        offers=_offers(now),
        shares=tuple(
            ShareAnswer(share=one.number, custodian=one.custodian, index=one.index)
            for one in now.shares
        ),
        beacon=now.beacon or None,
        documents=len(now.documents),
        evaluators=tuple(now.evaluators),
        commits=_commits(now),
        results=_results(now),
        challenged=len(now.challenges),
        challenges=_challenges(now),
        outcome=now.outcome or None,
        outcome_index=now.began.get(CompetitionPhase.DECIDED),
        lacks=now.lacks,
        void=now.void,
        as_of=as_of(published),
    )


def _entrants(now: CompetitionNow) -> tuple[EntrantAnswer, ...]:
    return tuple(
        EntrantAnswer(
            entrant=one.name,
            author=one.author,
            side=one.side or None,
            index=one.index,
            submission=to_text(one.submission.id) if one.submission else None,
            submitted_index=one.submitted_index,
        )
        for one in now.entrants
    )


def _offers(now: CompetitionNow) -> tuple[OfferAnswer, ...]:
    return tuple(
        OfferAnswer(
            key=one.key, index=one.index, secret_index=one.secret_index, is_drawn=one.is_drawn
        )
        for one in now.offers[:ROWS]
    )


def _commits(now: CompetitionNow) -> tuple[CommittedAnswer, ...]:
    return tuple(
        CommittedAnswer(entrant=one.entrant, evaluator=one.evaluator, index=one.index)
        for one in now.commits
    )


def _results(now: CompetitionNow) -> tuple[ScoredAnswer, ...]:
    return tuple(
        ScoredAnswer(
            entrant=one.entrant,
            evaluator=one.evaluator,
            scores=one.scores,
            millibits=one.millibits,
            size_bytes=one.size_bytes,
            index=one.index,
        )
        for one in now.results
    )


def _challenges(now: CompetitionNow) -> tuple[ChallengeAnswer, ...]:
    return tuple(
        ChallengeAnswer(
            author=one.author,
            entrant=one.entrant,
            evaluator=one.evaluator,
            document=one.document,
            millibits=one.millibits,
            index=one.index,
        )
        for one in now.challenges[:ROWS]
    )


# --- A competition as it stands, taken from the ledger's state in one go and frozen.
#
# The state belongs to the event loop: take these there, and everything else in a thread.


@dataclass(frozen=True, slots=True, kw_only=True)
class EntrantNow:
    """One entrant; its submission is the one that counts so far."""

    name: str
    author: str
    side: str
    """The run it trains; empty for a model from elsewhere."""
    index: int
    submission: Submission | None
    submitted_index: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferNow:
    """Somebody who offered to evaluate."""

    key: str
    index: int
    secret_index: int | None
    is_drawn: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareNow:
    """One share of the key, by its number from 1, and the entry that shows it."""

    number: int
    custodian: str
    owner: str
    """Whose key that is, as far as the log says."""
    is_organiser: bool
    index: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """An evaluator's commitment to what it says of one entrant."""

    entrant: str
    evaluator: str
    index: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """What one evaluator says of one entrant."""

    entrant: str
    evaluator: str
    scores: str
    millibits: int
    size_bytes: int
    index: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Challenged:
    """Another number than an evaluator's, for one document."""

    author: str
    entrant: str
    evaluator: str
    document: int
    millibits: int
    index: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CompetitionNow:
    """One competition."""

    id: str
    rules: CompetitionRules
    phase: CompetitionPhase
    began: Mapping[CompetitionPhase, int]
    """The entry with which each phase began, of those that did."""
    lacks: str
    """What stands against a ranking so far."""
    void: str
    """Why it ended without one; empty: it did not."""
    entrants: tuple[EntrantNow, ...]
    """In the order in which they entered."""
    offers: tuple[OfferNow, ...]
    shares: tuple[ShareNow, ...]
    beacon: str
    """Empty until the texts are open; so the next two."""
    documents: tuple[int, ...]
    evaluators: tuple[str, ...]
    """Those drawn, by the draw's order."""
    commits: tuple[Committed, ...]
    results: tuple[Scored, ...]
    challenges: tuple[Challenged, ...]
    outcome: str
    """Empty until organisers stated it."""
    story: tuple[Said, ...]

    @property
    def opened_index(self) -> int:
        """The entry that opened it."""
        return self.began[CompetitionPhase.OPEN]

    @property
    def shown(self) -> int:
        """How many shares were shown."""
        return sum(one.index is not None for one in self.shares)


def competition_now(state: State, competition: Digest, now_ms: int) -> CompetitionNow:
    """Take a competition at that time; raises RefusedError("not-found")."""
    view = state.competitions.view(competition)
    draw = view.draw
    return CompetitionNow(
        id=to_text(competition),
        rules=view.rules,
        phase=view.phase,
        began={phase: mark.index for phase, mark in view.phase_starts.items()},
        lacks=view.missing_for_ranking(),
        void=view.void_reason(now_ms),
        entrants=_competition_now_entrants(view),
        offers=_competition_now_offers(view),
        shares=_shares(view, state),
        beacon=to_text(draw.beacon) if draw else "",
        documents=draw.documents if draw else (),
        evaluators=tuple(map(to_text, draw.evaluators)) if draw else (),
        commits=_competition_now_commits(view),
        results=_competition_now_results(view),
        challenges=_competition_now_challenges(view),
        outcome=to_text(view.outcome) if view.outcome else "",
        story=state.story(competition),
    )


def competitions_of(state: State, run: RunId, now_ms: int) -> tuple[CompetitionNow, ...]:
    """The competitions that a run is a side of, the newest first."""
    return tuple(
        competition_now(state, competition, now_ms)
        for competition, view in reversed(state.competitions.views.items())
        if any(one.side == run for one in view.entrants.values())
    )


def _competition_now_entrants(view: CompetitionView) -> tuple[EntrantNow, ...]:
    return tuple(
        EntrantNow(
            name=one.name,
            author=to_text(one.author),
            side=to_text(one.side) if one.side else "",
            index=one.entered.index,
            submission=one.submission,
            submitted_index=one.submitted.index if one.submitted else None,
        )
        for one in view.entrants.values()
    )


def _competition_now_offers(view: CompetitionView) -> tuple[OfferNow, ...]:
    drawn = view.draw.evaluators if view.draw else ()
    return tuple(
        OfferNow(
            key=to_text(key),
            index=one.offered.index,
            secret_index=one.opened.index if one.opened else None,
            is_drawn=key in drawn,
        )
        for key, one in view.offers.items()
    )


def _shares(view: CompetitionView, state: State) -> tuple[ShareNow, ...]:
    organisers = state.genesis.organiser_keys
    return tuple(
        ShareNow(
            number=number,
            custodian=to_text(custodian),
            owner=to_text(state.tiers.highest(custodian).owner),
            is_organiser=custodian in organisers,
            index=view.shares[number].revealed.index if number in view.shares else None,
        )
        for number, custodian in enumerate(view.rules.custodian_keys, 1)
    )


def _competition_now_commits(view: CompetitionView) -> tuple[Committed, ...]:
    return tuple(
        Committed(entrant=entrant, evaluator=to_text(evaluator), index=one.committed_at.index)
        for (entrant, evaluator), one in view.commits.items()
    )


def _competition_now_results(view: CompetitionView) -> tuple[Scored, ...]:
    return tuple(
        Scored(
            entrant=one.entrant,
            evaluator=to_text(one.evaluator),
            scores=to_text(one.scores),
            millibits=one.millibits,
            size_bytes=one.size_bytes,
            index=one.revealed_at.index,
        )
        for one in view.results.values()
    )


def _competition_now_challenges(view: CompetitionView) -> tuple[Challenged, ...]:
    return tuple(
        Challenged(
            author=to_text(one.author),
            entrant=one.entrant,
            evaluator=to_text(one.evaluator),
            document=one.document,
            millibits=one.millibits,
            index=one.challenged_at.index,
        )
        for one in view.challenges
    )


After = Annotated[int, msgspec.Meta(ge=0, le=JSON_INTEGER)]
Limit = Annotated[int, msgspec.Meta(ge=1, le=1000)]


@get("/v1/competitions")
async def get_competitions(
    ledger: Ledger, after: After = 0, limit: Limit = 100
) -> CompetitionsAnswer:
    """List competitions in the order in which they were opened, after the entry that opened one."""
    published = await ledger.sequencer.settled()
    views = ledger.state.competitions.views
    later = (
        one for one, view in views.items() if view.phase_starts[CompetitionPhase.OPEN].index > after
    )
    now_ms = ledger.clock()
    found = (competition_now(ledger.state, one, now_ms) for one in islice(later, limit))
    page = [competition_line(one) for one in found]
    last = page[-1].opened_index if len(page) == limit else None
    return CompetitionsAnswer(page, last, as_of(published))


@get("/v1/competitions/{competition}")
async def get_competition(ledger: Ledger, competition: str) -> CompetitionAnswer:
    """Describe one competition."""
    published = await ledger.sequencer.settled()
    now = competition_now(ledger.state, digest_from_text(competition), ledger.clock())
    return competition_answer(now, published)
