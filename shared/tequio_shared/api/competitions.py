"""Answers about competitions.

Rules, submissions, scores and the outcome are blobs, named by hashes. For the rest a reader trusts
the ledger until it has folded the log.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from tequio_shared.api.answer import ROWS, AsOf, Rows
from tequio_shared.competition.rules import ENTRANTS, EVALUATORS, CompetitionRules, Dates
from tequio_shared.competition.state import CompetitionPhase
from tequio_shared.errors import PeerError
from tequio_shared.ids import Bytes32Text, Digest, Natural, Positive, digest_from_text
from tequio_shared.sealed_set import CUSTODIANS
from tequio_shared.statements.competitions import EntrantName

CompetitionPhaseText = Annotated[
    str,
    Meta(
        max_length=32,
        pattern=r"\A[a-z-]*\Z",
        extra_json_schema={"enum": [one.value for one in CompetitionPhase]},
    ),
]
"""A reader accepts any word: a newer ledger may have other phases."""
ReasonText = Annotated[str, Meta(max_length=256, pattern=r"\A[ -~]*\Z")]
_Scores = Meta(max_length=ENTRANTS * EVALUATORS)


class CompetitionLine(Struct, frozen=True, kw_only=True):
    """One competition in a list of them."""

    competition: Bytes32Text
    name: Annotated[str, Meta(max_length=64, pattern=r"\A[ -~]*\Z")]
    phase: CompetitionPhaseText
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
    void: ReasonText

    @property
    def id(self) -> Digest:
        return digest_from_text(self.competition)


class CompetitionsAnswer(Struct, frozen=True):
    """A page of competitions, the oldest first; continue after `next`."""

    competitions: Rows[CompetitionLine]
    next: Natural | None
    as_of: AsOf


class EntrantAnswer(Struct, frozen=True, kw_only=True):
    """One entrant, and the submission that counts so far."""

    entrant: EntrantName
    author: Bytes32Text
    side: Bytes32Text | None
    index: Natural
    submission: Bytes32Text | None
    submitted_index: Natural | None


class OfferAnswer(Struct, frozen=True, kw_only=True):
    """An offer to evaluate, and whether that key was drawn."""

    key: Bytes32Text
    index: Natural
    lot_index: Natural | None
    is_drawn: bool


class ShareAnswer(Struct, frozen=True, kw_only=True):
    """One share of the key: its custodian, and the entry that reveals it."""

    share: Positive
    custodian: Bytes32Text
    index: Natural | None


class CommittedAnswer(Struct, frozen=True, kw_only=True):
    """An evaluator's commitment to its scores of an entrant, and the entry that makes it."""

    entrant: EntrantName
    evaluator: Bytes32Text
    index: Natural


class ScoredAnswer(Struct, frozen=True, kw_only=True):
    """An evaluator's scores of an entrant (`scores`, a blob), and the entry that reveals them."""

    entrant: EntrantName
    evaluator: Bytes32Text
    scores: Bytes32Text
    millibits: Natural
    size_bytes: Natural
    index: Natural


class ChallengeAnswer(Struct, frozen=True, kw_only=True):
    """Another number than an evaluator's for one document of the sealed set, and its entry."""

    author: Bytes32Text
    entrant: EntrantName
    evaluator: Bytes32Text
    document: Natural
    millibits: Natural
    index: Natural


class CompetitionAnswer(Struct, frozen=True, kw_only=True):
    """One competition by its log; only the first `offers` and `challenges` are listed."""

    competition: Bytes32Text
    phase: CompetitionPhaseText
    rules: CompetitionRules
    opened_index: Natural
    closed_index: Natural | None
    drawn_index: Natural | None
    revealed_index: Natural | None
    entrants: Annotated[tuple[EntrantAnswer, ...], Meta(max_length=ENTRANTS)]
    offered: Natural
    offers: Annotated[tuple[OfferAnswer, ...], Meta(max_length=ROWS)]
    shares: Annotated[tuple[ShareAnswer, ...], Meta(max_length=CUSTODIANS)]
    beacon: Bytes32Text | None
    documents: Natural
    """Number of drawn documents."""
    evaluators: Annotated[tuple[Bytes32Text, ...], Meta(max_length=EVALUATORS)]
    commits: Annotated[tuple[CommittedAnswer, ...], _Scores]
    results: Annotated[tuple[ScoredAnswer, ...], _Scores]
    challenged: Natural
    challenges: Annotated[tuple[ChallengeAnswer, ...], Meta(max_length=ROWS)]
    outcome: Bytes32Text | None
    outcome_index: Natural | None
    lacks: ReasonText
    """Missing conditions for a ranking so far."""
    void: ReasonText
    """Reason why it ended without a ranking; empty: it did not."""
    as_of: AsOf

    @property
    def id(self) -> Digest:
        return digest_from_text(self.competition)

    def check(self, competition: Digest) -> None:
        """Raise PeerError unless this is that competition, with its rules to the byte."""
        if self.id != competition or self.rules.id != competition:
            raise PeerError(f"the ledger answered about competition {self.competition}")
