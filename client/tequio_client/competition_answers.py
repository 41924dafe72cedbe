"""What the ledger answers about competitions, as types; nothing in it is believed yet.

Rules, submissions, scores and the outcome are blobs that hashes name: who needs one gets it by its
hash. The rest is the ledger's word, until the log was folded.
"""

from typing import Annotated

from msgspec import Meta, Struct

from tequio_client.ledger_answers import ROWS, AsOf
from tequio_shared.competition_rules import EVALUATORS, CompetitionRules, Dates
from tequio_shared.errors import PeerError
from tequio_shared.evaluations import ENTRANTS
from tequio_shared.fields import Bytes32Text, Natural
from tequio_shared.ids import Digest, digest_from_text
from tequio_shared.sealed_set import CUSTODIANS
from tequio_shared.statements.competitions import EntrantName

PhaseText = Annotated[str, Meta(max_length=32, pattern=r"\A[a-z-]*\Z")]
"""open, closed, drawn, revealed, decided; a newer ledger may know others."""

WhyText = Annotated[str, Meta(max_length=256, pattern=r"\A[ -~]*\Z")]


class CompetitionLine(Struct, frozen=True):
    """One competition in a list of them."""

    competition: Bytes32Text
    name: Annotated[str, Meta(max_length=64, pattern=r"\A[ -~]*\Z")]
    phase: PhaseText
    dates: Dates
    opened_index: Natural
    entrants: Natural = 0
    offered: Natural = 0
    evaluators: Natural = 0
    outcome: Bytes32Text | None = None
    void: WhyText = ""

    @property
    def id(self) -> Digest:
        """The competition."""
        return digest_from_text(self.competition)


class CompetitionsAnswer(Struct, frozen=True):
    """A page of them, the oldest first; go on after `next`."""

    competitions: Annotated[tuple[CompetitionLine, ...], Meta(max_length=ROWS)]
    next: Natural | None = None
    as_of: AsOf | None = None


class EntrantAnswer(Struct, frozen=True):
    """One entrant, and the submission that counts so far."""

    entrant: EntrantName
    author: Bytes32Text
    index: Natural
    side: Bytes32Text | None = None
    submission: Bytes32Text | None = None
    submitted_index: Natural | None = None


class OfferAnswer(Struct, frozen=True):
    """Who offered to evaluate, and whether that key was drawn."""

    key: Bytes32Text
    index: Natural
    secret_index: Natural | None = None
    is_drawn: bool = False


class ShareAnswer(Struct, frozen=True):
    """One share of the key: who has it, and which entry shows it."""

    share: Natural
    custodian: Bytes32Text
    index: Natural | None = None


class CommittedAnswer(Struct, frozen=True):
    """An evaluator's commitment to what it says of an entrant."""

    entrant: EntrantName
    evaluator: Bytes32Text
    index: Natural


class ScoredAnswer(Struct, frozen=True):
    """What an evaluator says of an entrant; `scores` is a blob."""

    entrant: EntrantName
    evaluator: Bytes32Text
    scores: Bytes32Text
    millibits: Natural
    size_bytes: Natural
    index: Natural


class ChallengeAnswer(Struct, frozen=True):
    """Another number than an evaluator's, for one document of the sealed set."""

    author: Bytes32Text
    entrant: EntrantName
    evaluator: Bytes32Text
    document: Natural
    millibits: Natural
    index: Natural


class CompetitionAnswer(Struct, frozen=True):
    """One competition with all that the log says of it; `offers` and `challenges` are the first."""

    competition: Bytes32Text
    phase: PhaseText
    rules: CompetitionRules
    opened_index: Natural
    closed_index: Natural | None = None
    drawn_index: Natural | None = None
    revealed_index: Natural | None = None
    entrants: Annotated[tuple[EntrantAnswer, ...], Meta(max_length=ENTRANTS)] = ()
    offered: Natural = 0
    offers: Annotated[tuple[OfferAnswer, ...], Meta(max_length=ROWS)] = ()
    shares: Annotated[tuple[ShareAnswer, ...], Meta(max_length=CUSTODIANS)] = ()
    beacon: Bytes32Text | None = None
    documents: Natural = 0
    """How many were drawn."""
    evaluators: Annotated[tuple[Bytes32Text, ...], Meta(max_length=EVALUATORS)] = ()
    commits: Annotated[tuple[CommittedAnswer, ...], Meta(max_length=ENTRANTS * EVALUATORS)] = ()
    results: Annotated[tuple[ScoredAnswer, ...], Meta(max_length=ENTRANTS * EVALUATORS)] = ()
    challenged: Natural = 0
    challenges: Annotated[tuple[ChallengeAnswer, ...], Meta(max_length=ROWS)] = ()
    outcome: Bytes32Text | None = None
    outcome_index: Natural | None = None
    lacks: WhyText = ""
    """What stands against a ranking so far."""
    void: WhyText = ""
    """Why it ended without one; empty: it did not."""
    as_of: AsOf | None = None

    @property
    def id(self) -> Digest:
        """The competition."""
        return digest_from_text(self.competition)

    def check(self, competition: Digest) -> None:
        """Raise PeerError unless this is about that competition, with its rules to the byte."""
        if self.id != competition or self.rules.id != competition:
            raise PeerError(f"the ledger answered about competition {self.competition}")
