"""What the API says of competitions in JSON: the types, and how a competition becomes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from tequio_ledger.web.answers import AsOf, as_of
from tequio_shared.competition_rules import CompetitionRules, Dates
from tequio_shared.competition_state import Phase
from tequio_shared.fields import Bytes32Text, Natural, Positive
from tequio_shared.ids import to_text
from tequio_shared.statements.competitions import EntrantName

if TYPE_CHECKING:
    from tequio_ledger.log.checkpoint import Published
    from tequio_ledger.web.competition_now import CompetitionNow

MOST = 1_000
"""Offers and challenges that an answer lists, the first; anybody may make some."""


class CompetitionLine(msgspec.Struct, frozen=True, kw_only=True):
    """One competition in a list of them."""

    competition: Bytes32Text
    name: str
    phase: Phase
    dates: Dates
    opened_index: Natural
    documents: Positive
    needed: Positive
    shares: Positive
    shown: Natural
    entrants: Natural
    offered: Natural
    evaluators: Natural
    outcome: Bytes32Text | None
    void: str


class CompetitionsAnswer(msgspec.Struct, frozen=True):
    """A page of competitions, the oldest first; go on after `next`."""

    competitions: list[CompetitionLine]
    next: Natural | None
    as_of: AsOf


class EntrantAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """One entrant, and the submission that counts so far."""

    entrant: EntrantName
    author: Bytes32Text
    side: Bytes32Text | None
    index: Natural
    submission: Bytes32Text | None
    submitted_index: Natural | None


class OfferAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Who offered to evaluate, and whether that key was drawn."""

    key: Bytes32Text
    index: Natural
    secret_index: Natural | None
    is_drawn: bool


class ShareAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """One share of the key: who has it, and which entry shows it."""

    share: Positive
    custodian: Bytes32Text
    index: Natural | None


class CommittedAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """An evaluator's commitment to what it says of an entrant, and the entry that makes it."""

    entrant: EntrantName
    evaluator: Bytes32Text
    index: Natural


class ScoredAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What an evaluator says of an entrant, and the entry that says it."""

    entrant: EntrantName
    evaluator: Bytes32Text
    scores: Bytes32Text
    millibits: Natural
    size_bytes: Natural
    index: Natural


class ChallengeAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Another number than an evaluator's, and the entry that says it."""

    author: Bytes32Text
    entrant: EntrantName
    evaluator: Bytes32Text
    document: Natural
    millibits: Natural
    index: Natural


class CompetitionAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """One competition with all that the log says of it."""

    competition: Bytes32Text
    phase: Phase
    rules: CompetitionRules
    opened_index: Natural
    closed_index: Natural | None
    drawn_index: Natural | None
    revealed_index: Natural | None
    entrants: list[EntrantAnswer]
    offered: Natural
    offers: list[OfferAnswer]
    shares: list[ShareAnswer]
    beacon: Bytes32Text | None
    documents: Natural
    evaluators: list[Bytes32Text]
    commits: list[CommittedAnswer]
    results: list[ScoredAnswer]
    challenged: Natural
    challenges: list[ChallengeAnswer]
    outcome: Bytes32Text | None
    outcome_index: Natural | None
    lacks: str
    void: str
    as_of: AsOf


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
        shares=[
            ShareAnswer(share=one.number, custodian=one.custodian, index=one.index)
            for one in now.shares
        ],
        beacon=now.beacon or None,
        documents=len(now.documents),
        evaluators=list(now.evaluators),
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


def _entrants(now: CompetitionNow) -> list[EntrantAnswer]:
    return [
        EntrantAnswer(
            entrant=one.name,
            author=one.author,
            side=one.side or None,
            index=one.index,
            submission=to_text(one.submission.id) if one.submission else None,
            submitted_index=one.submitted_index,
        )
        for one in now.entrants
    ]


def _offers(now: CompetitionNow) -> list[OfferAnswer]:
    return [
        OfferAnswer(
            key=one.key, index=one.index, secret_index=one.secret_index, is_drawn=one.is_drawn
        )
        for one in now.offers[:MOST]
    ]


def _commits(now: CompetitionNow) -> list[CommittedAnswer]:
    return [
        CommittedAnswer(entrant=one.entrant, evaluator=one.evaluator, index=one.index)
        for one in now.commits
    ]


def _results(now: CompetitionNow) -> list[ScoredAnswer]:
    return [
        ScoredAnswer(
            entrant=one.entrant,
            evaluator=one.evaluator,
            scores=one.scores,
            millibits=one.millibits,
            size_bytes=one.size_bytes,
            index=one.index,
        )
        for one in now.results
    ]


def _challenges(now: CompetitionNow) -> list[ChallengeAnswer]:
    return [
        ChallengeAnswer(
            author=one.author,
            entrant=one.entrant,
            evaluator=one.evaluator,
            document=one.document,
            millibits=one.millibits,
            index=one.index,
        )
        for one in now.challenges[:MOST]
    ]
