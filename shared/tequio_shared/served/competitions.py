"""Competitions as the API and the pages describe them: sides, phase and outcome."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from tequio_shared.api.answer import ROWS, AsOf
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
from tequio_shared.competition.rules import CompetitionRules
from tequio_shared.competition.state import CompetitionPhase, CompetitionView, Entrant
from tequio_shared.ids import Digest, RunId, to_text
from tequio_shared.served.state import CompetitionEvent, State


def competitions_page(
    state: State, after: int, limit: int, as_of: AsOf, *, now_ms: int
) -> CompetitionsAnswer:
    """List competitions in the order in which they were opened, after the entry that opened one."""
    later = (
        one
        for one, view in state.competitions.views.items()
        if view.phase_starts[CompetitionPhase.OPEN].index > after
    )
    page = [
        competition_line(competition_snapshot(state, one, now_ms)) for one in islice(later, limit)
    ]
    return CompetitionsAnswer(page, page[-1].opened_index if len(page) == limit else None, as_of)


def competition_line(now: CompetitionSnapshot) -> CompetitionLine:
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
        outcome=now.outcome,
        void=now.void,
    )


def competition_answer(now: CompetitionSnapshot, as_of: AsOf) -> CompetitionAnswer:
    return CompetitionAnswer(
        competition=now.id,
        phase=now.phase,
        rules=now.rules,
        opened_index=now.opened_index,
        closed_index=now.began.get(CompetitionPhase.CLOSED),
        drawn_index=now.began.get(CompetitionPhase.DRAWN),
        revealed_index=now.began.get(CompetitionPhase.REVEALED),
        entrants=tuple(
            EntrantAnswer(
                entrant=one.name,
                author=to_text(one.author),
                side=to_text(one.side) if one.side else None,
                index=one.entered.index,
                submission=to_text(one.submission.id) if one.submission else None,
                submitted_index=one.submitted.index if one.submitted else None,
            )
            for one in now.entrants
        ),
        offered=len(now.offers),
        offers=now.offers[:ROWS],
        shares=tuple(
            ShareAnswer(share=one.number, custodian=one.custodian, index=one.index)
            for one in now.shares
        ),
        beacon=now.beacon,
        documents=len(now.documents),
        evaluators=now.evaluators,
        commits=now.commits,
        results=now.results,
        challenged=len(now.challenges),
        challenges=now.challenges[:ROWS],
        outcome=now.outcome,
        outcome_index=now.began.get(CompetitionPhase.DECIDED),
        lacks=now.lacks,
        void=now.void,
        as_of=as_of,
    )


# --- A competition, copied from the ledger's state in one step and frozen.
#
# The state belongs to the event loop: copy there, and do everything else in a thread.


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareSnapshot:
    """One share of the key, by its number from 1, and the entry that reveals it."""

    number: int
    custodian: str
    owner: str
    """Owner of the custodian's key, as far as the log knows."""
    is_organiser: bool
    index: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompetitionSnapshot:
    id: str
    rules: CompetitionRules
    phase: CompetitionPhase
    began: Mapping[CompetitionPhase, int]
    """The entry with which each phase began, of those that did."""
    lacks: str
    """Why no ranking is possible yet; empty when one is."""
    void: str
    """Why it ended without a ranking; empty if it did not."""
    entrants: tuple[Entrant, ...]
    """In the order in which they entered."""
    offers: tuple[OfferAnswer, ...]
    shares: tuple[ShareSnapshot, ...]
    beacon: str | None
    """None until the texts are open; until then, the next two are empty."""
    documents: tuple[int, ...]
    evaluators: tuple[str, ...]
    """Drawn evaluators, in the order of the draw."""
    commits: tuple[CommittedAnswer, ...]
    results: tuple[ScoredAnswer, ...]
    challenges: tuple[ChallengeAnswer, ...]
    outcome: str | None
    """None until organisers state it."""
    events: tuple[CompetitionEvent, ...]

    @property
    def opened_index(self) -> int:
        return self.began[CompetitionPhase.OPEN]

    @property
    def shown(self) -> int:
        """Number of shares that were revealed."""
        return sum(one.index is not None for one in self.shares)


def competition_snapshot(state: State, competition: Digest, now_ms: int) -> CompetitionSnapshot:
    """Copy a competition as of a time; raises RefusedError("not-found")."""
    view = state.competitions.view(competition)
    draw = view.draw
    return CompetitionSnapshot(
        id=to_text(competition),
        rules=view.rules,
        phase=view.phase,
        began={phase: mark.index for phase, mark in view.phase_starts.items()},
        lacks=view.missing_for_ranking(),
        void=view.void_reason(now_ms),
        entrants=tuple(view.entrants.values()),
        offers=tuple(
            OfferAnswer(
                key=to_text(key),
                index=one.offered.index,
                lot_index=one.lot_drawn.index if one.lot_drawn else None,
                is_drawn=draw is not None and key in draw.evaluators,
            )
            for key, one in view.offers.items()
        ),
        shares=tuple(
            ShareSnapshot(
                number=number,
                custodian=to_text(custodian),
                owner=to_text(state.tiers.highest(custodian).owner),
                is_organiser=custodian in state.genesis.organiser_keys,
                index=view.shares[number].revealed.index if number in view.shares else None,
            )
            for number, custodian in enumerate(view.rules.custodian_keys, 1)
        ),
        beacon=to_text(draw.beacon) if draw else None,
        documents=draw.documents if draw else (),
        evaluators=tuple(map(to_text, draw.evaluators)) if draw else (),
        commits=tuple(
            CommittedAnswer(
                entrant=entrant, evaluator=to_text(evaluator), index=one.committed_at.index
            )
            for (entrant, evaluator), one in view.commits.items()
        ),
        results=_results(view),
        challenges=_challenges(view),
        outcome=to_text(view.outcome) if view.outcome else None,
        events=state.competition_events(competition),
    )


def competitions_of_run(state: State, run: RunId, now_ms: int) -> tuple[CompetitionSnapshot, ...]:
    """List the competitions in which a run is a side, the newest first."""
    return tuple(
        competition_snapshot(state, competition, now_ms)
        for competition, view in reversed(state.competitions.views.items())
        if any(one.side == run for one in view.entrants.values())
    )


def _results(view: CompetitionView) -> tuple[ScoredAnswer, ...]:
    return tuple(
        ScoredAnswer(
            entrant=one.entrant,
            evaluator=to_text(one.evaluator),
            scores=to_text(one.scores),
            millibits=one.millibits,
            size_bytes=one.size_bytes,
            index=one.revealed_at.index,
        )
        for one in view.results.values()
    )


def _challenges(view: CompetitionView) -> tuple[ChallengeAnswer, ...]:
    return tuple(
        ChallengeAnswer(
            author=to_text(one.author),
            entrant=one.entrant,
            evaluator=to_text(one.evaluator),
            document=one.document,
            millibits=one.millibits,
            index=one.challenged_at.index,
        )
        for one in view.challenges
    )
