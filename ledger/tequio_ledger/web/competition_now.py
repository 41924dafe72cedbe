"""A competition as it stands, taken from the ledger's state in one go and frozen.

The state belongs to the event loop: take these there, and everything else in a thread.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_shared.competition_state import Phase
from tequio_shared.ids import to_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tequio_ledger.state import Said, State
    from tequio_shared.competition import CompetitionView
    from tequio_shared.competition_rules import CompetitionRules, Submission
    from tequio_shared.ids import Digest, RunId


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
    phase: Phase
    began: Mapping[Phase, int]
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
        return self.began[Phase.OPEN]

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
        began={phase: mark.index for phase, mark in view.began.items()},
        lacks=view.lacks(),
        void=view.void(now_ms),
        entrants=_entrants(view),
        offers=_offers(view),
        shares=_shares(view, state),
        beacon=to_text(draw.beacon) if draw else "",
        documents=draw.documents if draw else (),
        evaluators=tuple(map(to_text, draw.evaluators)) if draw else (),
        commits=_commits(view),
        results=_results(view),
        challenges=_challenges(view),
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


def _entrants(view: CompetitionView) -> tuple[EntrantNow, ...]:
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


def _offers(view: CompetitionView) -> tuple[OfferNow, ...]:
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
            owner=to_text(state.tiers.word(custodian).owner),
            is_organiser=custodian in organisers,
            index=view.shares[number].shown.index if number in view.shares else None,
        )
        for number, custodian in enumerate(view.rules.custodian_keys, 1)
    )


def _commits(view: CompetitionView) -> tuple[Committed, ...]:
    return tuple(
        Committed(entrant=entrant, evaluator=to_text(evaluator), index=one.said.index)
        for (entrant, evaluator), one in view.commits.items()
    )


def _results(view: CompetitionView) -> tuple[Scored, ...]:
    return tuple(
        Scored(
            entrant=one.entrant,
            evaluator=to_text(one.evaluator),
            scores=to_text(one.scores),
            millibits=one.millibits,
            size_bytes=one.size_bytes,
            index=one.said.index,
        )
        for one in view.results.values()
    )


def _challenges(view: CompetitionView) -> tuple[Challenged, ...]:
    return tuple(
        Challenged(
            author=to_text(one.author),
            entrant=one.entrant,
            evaluator=to_text(one.evaluator),
            document=one.document,
            millibits=one.millibits,
            index=one.said.index,
        )
        for one in view.challenges
    )
