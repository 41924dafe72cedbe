"""How a competition becomes answers of the API (`tequio_shared.api.competitions`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_ledger.web.answers import as_of
from tequio_shared.api.answer import ROWS
from tequio_shared.api.competitions import (
    ChallengeAnswer,
    CommittedAnswer,
    CompetitionAnswer,
    CompetitionLine,
    EntrantAnswer,
    OfferAnswer,
    ScoredAnswer,
    ShareAnswer,
)
from tequio_shared.competition_state import Phase
from tequio_shared.ids import to_text

if TYPE_CHECKING:
    from tequio_ledger.log.checkpoint import Published
    from tequio_ledger.web.competition_now import CompetitionNow


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
        closed_index=now.began.get(Phase.CLOSED),
        drawn_index=now.began.get(Phase.DRAWN),
        revealed_index=now.began.get(Phase.REVEALED),
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
        outcome_index=now.began.get(Phase.DECIDED),
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
