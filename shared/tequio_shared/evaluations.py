"""What evaluators and organisers put in blobs: scores of documents, a competition's outcome.

docs/protocol.md, section 19.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from tequio_shared import canonical
from tequio_shared.competition_rules import EVALUATORS
from tequio_shared.errors import MalformedError
from tequio_shared.fields import Bytes32Text, Natural
from tequio_shared.limits import BLOB_BYTES, JSON_INTEGER
from tequio_shared.scoring import DocumentScore, Score
from tequio_shared.sealed_set import TEXTS
from tequio_shared.statements.competitions import EntrantName

ENTRANTS = 64
"""Most entrants of one competition."""

Integer = Annotated[int, Meta(ge=-JSON_INTEGER, le=JSON_INTEGER)]
Words = Annotated[str, Meta(max_length=128, pattern=r"\A[ -~]*\Z")]


class Environment(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """On what was scored; for eyes, and to tell kinds of hardware apart."""

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
    documents: Annotated[tuple[DocumentScore, ...], Meta(min_length=1, max_length=TEXTS)]

    def encode(self) -> bytes:
        """Write the canonical bytes."""
        return canonical.encode(self)

    @classmethod
    def parse(cls, raw: bytes) -> Evaluation:
        """Read an evaluation; raises MalformedError."""
        return canonical.decode(raw, cls, BLOB_BYTES)

    @property
    def total(self) -> Score:
        """The sums."""
        return Score.of(self.documents)


class Judged(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One evaluator's total for an entrant, held against the medians."""

    evaluator: Bytes32Text
    scores: Bytes32Text
    """SHA-256 of its `Evaluation`."""
    millibits: Natural
    off: Integer
    """Its total less that of the medians, in millibits."""
    outside: Natural
    """Documents that are further off than honest computers can be."""
    is_outlier: bool


class Placed(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One entrant in the ranking."""

    entrant: EntrantName
    author: Bytes32Text
    """Who entered it."""
    submission: Bytes32Text
    rank: Natural
    """From 1; entrants that nothing tells apart share one. 0: not ranked."""
    millibits: Natural
    """Sum of the medians."""
    size_bytes: Natural
    nanobits_per_byte: Natural
    low: Natural
    """95 % of the bootstrap lie from here to `high`, in nanobits per byte."""
    high: Natural
    evaluators: Annotated[tuple[Judged, ...], Meta(max_length=EVALUATORS)]
    """By key."""


class Compared(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Two entrants: the interval is of the first's nanobits per byte less the other's."""

    first: EntrantName
    other: EntrantName
    low: Integer
    high: Integer
    against: Natural
    winner: Annotated[str, Meta(max_length=32)]
    """Empty: nothing tells them apart."""


class Outcome(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a competition came to: a function of the log and the evaluations alone."""

    competition: Bytes32Text
    beacon: Bytes32Text
    documents: Natural
    """That were scored, those without text left out."""
    places: Annotated[tuple[Placed, ...], Meta(max_length=ENTRANTS)]
    """By rank, then score and name; those that are not ranked at the end, by name."""
    pairs: Annotated[tuple[Compared, ...], Meta(max_length=ENTRANTS * ENTRANTS)]

    def encode(self) -> bytes:
        """Write the canonical bytes."""
        return canonical.encode(self)

    @classmethod
    def parse(cls, raw: bytes) -> Outcome:
        """Read an outcome; raises MalformedError."""
        found = canonical.decode(raw, cls, BLOB_BYTES)
        if len({one.entrant for one in found.places}) < len(found.places):
            raise MalformedError("an entrant has two places")
        return found
