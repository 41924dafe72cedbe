"""Documents of a competition: rules, submissions, evaluations and the outcome.

Statements name them by SHA-256, and the ledger stores them as blobs. The rules hold every date,
limit and parameter of the competition, and the commitment to the sealed texts.
docs/protocol.md, section 19.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from tequio_shared import encoding
from tequio_shared.errors import MalformedError
from tequio_shared.ids import (
    Bytes32Text,
    Digest,
    MaybeBytes32Text,
    Natural,
    PeerKey,
    key_from_text,
    sha256,
)
from tequio_shared.limits import JSON_INTEGER, STATEMENT_BYTES
from tequio_shared.scoring import DocumentScore, Refusal, ScoreTotals
from tequio_shared.sealed_set import CUSTODIANS, SealedSet
from tequio_shared.statements.competitions import EntrantName
from tequio_shared.statements.network import RepoText, RevisionText

LEAST_EVALUATORS = 3
EVALUATORS = 16
"""Most evaluators of one competition."""
SHOWING_PART = 10
"""`result` comes after `scored` by at least one part in this many of the time to score."""
FILES = 128
"""Most files of one submission; as many fit a statement, unless their names are long."""
WINDOW_MOST = 1 << 16
DRAWN_DOCUMENTS = 8_192
"""Most documents drawn to be scored: a ledger reads an evaluation of them in a fraction of 1 s."""
EVALUATION_BYTES = 2_048
SCORE_BYTES = 192
"""Largest evaluation: `EVALUATION_BYTES`, and `SCORE_BYTES` for each drawn document."""
OUTCOME_BYTES = 1_024
JUDGED_BYTES = 256
"""Largest outcome: `OUTCOME_BYTES` for itself and for each entrant, and `JUDGED_BYTES` for each of
an entrant's evaluators and of its comparisons with the others."""

Label = Annotated[
    str, Meta(min_length=1, max_length=64, pattern=r"\A[A-Za-z0-9][A-Za-z0-9 ._-]*\Z")
]
HttpsUrl = Annotated[str, Meta(max_length=512, pattern=r"\A(?:https?://[!-~]+)?\Z")]
ENTRANTS = 64
"""Most entrants of one competition."""
Integer = Annotated[int, Meta(ge=-JSON_INTEGER, le=JSON_INTEGER)]
Words = Annotated[str, Meta(max_length=128, pattern=r"\A[ -~]*\Z")]


class Budget(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Most that an entrant may use; 0 means no limit."""

    parameters: Natural
    """Parameters of the submitted model."""
    tokens: Natural
    """Tokens trained on within the run, accepted windows only."""
    hours: Natural
    """Hours between the run's opening and the submitted round."""


class Dates(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Milliseconds since 1970, each later than the one before."""

    opens: Natural
    """Start of entries and submissions."""
    deadline: Natural
    """End of submissions, and of offers to evaluate."""
    draw: Natural
    """End of the time to draw lots; then custodians reveal their shares."""
    scored: Natural
    """End of the time for evaluators to commit to their scores."""
    result: Natural
    """End of the time for challenges; no result comes before it."""

    @property
    def reveal_until(self) -> int:
        """End of the time to reveal scores; the rest up to the result is for challenges alone."""
        return self.scored + (self.result - self.scored) // 2

    def check_reveal_time(self) -> None:
        """Raise MalformedError unless there is time to reveal scores, and to challenge them."""
        # To challenge a score is to score again, so the time for it grows with the time to score.
        least = (self.scored - self.draw) // SHOWING_PART
        if self.result - self.scored < least:
            raise MalformedError(
                f"result is {self.result - self.scored} ms after scored; at least {least} ms, a "
                f"{SHOWING_PART}th of the time to score, are needed to reveal and challenge scores"
            )


class Scoring(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Rules of scoring the texts; see `scoring.ScoringRules`."""

    window: Annotated[int, Meta(ge=2, le=WINDOW_MOST)]
    stride: Annotated[int, Meta(ge=1, le=WINDOW_MOST)]
    documents: Annotated[int, Meta(ge=1, le=DRAWN_DOCUMENTS)]
    """Number of documents drawn from the sealed set; all, if it has no more."""
    evaluators: Annotated[int, Meta(ge=LEAST_EVALUATORS, le=EVALUATORS)]
    evaluator_tier: Annotated[int, Meta(ge=0, le=2)] = 0
    """Least tier of an evaluator's key (`tiers.Tier`); 0 lets one person offer many keys."""


class CompetitionRules(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The rules of a competition, which is identified by the SHA-256 of these bytes."""

    name: Label
    sealed: SealedSet
    archive: HttpsUrl
    """Address of the encrypted archive; empty: the ledger has it as a blob."""
    custodians: Annotated[tuple[Bytes32Text, ...], Meta(min_length=1, max_length=CUSTODIANS)]
    """Keys that reveal the shares, in the order of the shares."""
    budget: Budget
    dates: Dates
    scoring: Scoring
    data: HttpsUrl
    """Address of the rules about training data, for people; empty: none."""

    def encode(self) -> bytes:
        return encoding.encode(self)

    @classmethod
    def parse(cls, raw: bytes) -> CompetitionRules:
        """Read rules; raises MalformedError, also for inconsistent rules."""
        rules = encoding.decode(raw, cls, STATEMENT_BYTES)
        # The decoder checks the fields of a nested struct, but not the rules between them.
        SealedSet.parse(rules.sealed.encode())
        if len(rules.custodians) != len(rules.sealed.shares):
            raise MalformedError(
                f"{len(rules.custodians)} custodians do not match {len(rules.sealed.shares)} shares"
            )
        if len(set(rules.custodians)) < len(rules.custodians):
            raise MalformedError("the rules list a custodian twice")
        dates = (
            rules.dates.opens,
            rules.dates.deadline,
            rules.dates.draw,
            rules.dates.scored,
            rules.dates.result,
        )
        # Strictly ascending: in a phase of no length nobody could act.
        if list(dates) != sorted(set(dates)):
            raise MalformedError(f"the dates {dates} are not ascending")
        rules.dates.check_reveal_time()
        if rules.scoring.stride > rules.scoring.window:
            raise MalformedError(
                f"stride {rules.scoring.stride} is more than window {rules.scoring.window}"
            )
        return rules

    @property
    def id(self) -> Digest:
        """SHA-256 of the document."""
        return sha256(self.encode())

    @property
    def custodian_keys(self) -> tuple[PeerKey, ...]:
        """Keys of the custodians, that of share 1 first."""
        return tuple(key_from_text(one) for one in self.custodians)


class SubmittedFile(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One file of a submitted folder."""

    name: Annotated[
        str, Meta(min_length=1, max_length=128, pattern=r"\A[A-Za-z0-9][A-Za-z0-9._-]*\Z")
    ]
    size_bytes: Natural
    sha256: Bytes32Text


class Submission(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The submitted weights: a head of a run, or a folder on the Hub, file by file."""

    run: MaybeBytes32Text
    """The run; empty for a folder."""
    round: Natural
    """Round of the head; 0 for a folder."""
    weights_root: MaybeBytes32Text
    """Weights root of the head, as the log promoted it; empty for a folder."""
    repo: Annotated[str, Meta(max_length=193)]
    """`user/name`; empty for a head."""
    revision: Annotated[str, Meta(max_length=40)]
    """Commit of the repository; empty for a head."""
    files: Annotated[tuple[SubmittedFile, ...], Meta(max_length=FILES)]
    """Ascending by name; empty for a head."""

    def encode(self) -> bytes:
        return encoding.encode(self)

    @classmethod
    def parse(cls, raw: bytes) -> Submission:
        """Read a submission; raises MalformedError, also for one that is neither or both."""
        found = encoding.decode(raw, cls, STATEMENT_BYTES)
        is_head = bool(found.run)
        of_head = (found.run, found.weights_root)
        of_folder = (found.repo, found.revision, found.files)
        if is_head and (not all(of_head) or any(of_folder)):
            raise MalformedError("a submitted head needs a run and a weights root, and no files")
        if not is_head and (any((*of_head, found.round)) or not all(of_folder)):
            raise MalformedError("a submitted folder needs a repository and files, and no run")
        if not is_head:
            # Empty is allowed for a head, so the patterns of a folder are checked here.
            encoding.convert((found.repo, found.revision), tuple[RepoText, RevisionText])
        names = [one.name for one in found.files]
        if names != sorted(set(names)):
            raise MalformedError("the submitted files must be ascending and unique")
        return found

    @property
    def id(self) -> Digest:
        """SHA-256 of the document."""
        return sha256(self.encode())


class Environment(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Software and hardware of an evaluation, for people and to tell kinds of hardware apart."""

    program: Words
    torch: Words
    device: Words
    """`cpu`, or the accelerator's name."""
    threads: Natural


class Evaluation(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One evaluator's scores of one entrant, in the order of the drawn documents."""

    competition: Bytes32Text
    entrant: EntrantName
    submission: Bytes32Text
    evaluator: Bytes32Text
    environment: Environment
    documents: Annotated[tuple[DocumentScore, ...], Meta(min_length=1, max_length=DRAWN_DOCUMENTS)]

    def encode(self) -> bytes:
        return encoding.encode(self)

    @classmethod
    def parse(cls, raw: bytes) -> Evaluation:
        return encoding.decode(raw, cls, evaluation_bytes(DRAWN_DOCUMENTS))

    @property
    def total(self) -> ScoreTotals:
        return ScoreTotals.of(self.documents)

    @property
    def refusals(self) -> frozenset[Refusal]:
        """The reasons against the model as a whole; a valid evaluation has at most one."""
        return frozenset(one.refusal for one in self.documents if one.refusal.is_of_model)


def evaluation_bytes(documents: int) -> int:
    """Largest evaluation of that many documents, in bytes."""
    return EVALUATION_BYTES + SCORE_BYTES * documents


class JudgedEvaluation(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One evaluator's total for an entrant, compared with the medians."""

    evaluator: Bytes32Text
    scores: Bytes32Text
    """SHA-256 of its `Evaluation`."""
    millibits: Natural
    off: Integer
    """Difference of the total to that of the medians, in millibits."""
    outside: Natural
    """Documents whose difference exceeds what honest computers can differ by."""
    is_outlier: bool


class RankedEntrant(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    entrant: EntrantName
    author: Bytes32Text
    """Key that entered."""
    submission: Bytes32Text
    rank: Natural
    """From 1; entrants that cannot be told apart share one. 0: not ranked."""
    millibits: Natural
    """Sum of the medians."""
    size_bytes: Natural
    nanobits_per_byte: Natural
    low: Natural
    """The 95 % interval of the bootstrap goes from here to `high`, in nanobits per byte."""
    high: Natural
    refusal: Refusal
    """Why the model is not ranked, according to at least half of the evaluators."""
    evaluators: Annotated[tuple[JudgedEvaluation, ...], Meta(max_length=EVALUATORS)]
    """Ascending by key."""


class ComparedEntrants(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Two entrants: the interval is the first's nanobits per byte less the other's."""

    first: EntrantName
    other: EntrantName
    low: Integer
    high: Integer
    against: Natural
    winner: Annotated[str, Meta(max_length=32)]
    """Empty for a tie."""


class CompetitionOutcome(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The result of a competition: a function of the log and the evaluations alone."""

    competition: Bytes32Text
    beacon: Bytes32Text
    documents: Natural
    """Scored documents, without those that have no text."""
    places: Annotated[tuple[RankedEntrant, ...], Meta(max_length=ENTRANTS)]
    """By rank, then score and name; unranked ones at the end, by name."""
    pairs: Annotated[tuple[ComparedEntrants, ...], Meta(max_length=ENTRANTS * ENTRANTS)]

    def encode(self) -> bytes:
        return encoding.encode(self)

    @classmethod
    def parse(cls, raw: bytes) -> CompetitionOutcome:
        """Read an outcome; raises MalformedError."""
        found = encoding.decode(raw, cls, outcome_bytes(ENTRANTS, EVALUATORS))
        if len({one.entrant for one in found.places}) < len(found.places):
            raise MalformedError("the outcome lists an entrant twice")
        return found


def outcome_bytes(entrants: int, evaluators: int) -> int:
    """Largest outcome with that many entrants and evaluators, in bytes."""
    return OUTCOME_BYTES * (1 + entrants) + JUDGED_BYTES * entrants * (evaluators + entrants)
