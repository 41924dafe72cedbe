"""Scoring a model on unseen texts, in integers from end to end.

A document is read after one token of the tokenizer's own, the prefix, in windows of at most
`window` inputs. The first window scores all its tokens; each later one scores the next `stride`,
with as many tokens of context as fit: the rolling log-likelihood of lm-evaluation-harness, whose
own default is a stride of a whole window. Every token is scored once. The sum is rounded to
thousandths of a bit, once per document; after that nothing is rounded, so totals can be signed and
recomputed.

Models are ranked by bits per byte of UTF-8, which does not depend on how a tokenizer cuts the text
(docs/protocol.md, scoring).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from msgspec import Struct

from tequio_shared.ids import Bytes32Text, Natural, sha256, to_text

MILLIBITS = 1_000
"""Units of a score in one bit."""
NANOBITS = 1_000_000
"""Nanobits, the unit of quotients, in one millibit."""
CHARGE = 8 * MILLIBITS
"""Per byte of a document that the tokenizer cannot restore: the cost of sending it plain."""
MOST_MILLIBITS = (1 << 40) - 1
"""Largest score of a document: the total of all that a competition may draw is stated in JSON."""
TOTAL_TOLERANCE = 10_000
DOCUMENT_TOLERANCE = 1_000
"""Honest evaluators differ by at most one part in this many: on a total, and on one document."""
LEAST_DOCUMENTS = 30
"""With fewer, a bootstrap takes chance for a difference much more often than in 5 %."""
WINDOW, STRIDE = 2_048, 1_024
"""Default window and stride of a competition."""


class Refusal(StrEnum):
    """Reasons why a document has no score by the model; from KIND on it has none for any."""

    NONE = ""
    EMPTY = "empty"  # no text, or not Unicode: the same for every model, and left out
    ROUND_TRIP = "round-trip"  # the tokenizer loses something: its model pays CHARGE per byte
    KIND = "kind"
    AHEAD = "looks-ahead"
    UNSTEADY = "unsteady"
    RANDOM = "random-text"
    PREDICTIONS = "predictions"

    @property
    def sentence(self) -> str:
        return _SENTENCES[self]

    @property
    def is_of_model(self) -> bool:
        return self in _OF_MODELS


_SENTENCES = {
    Refusal.NONE: "scored",
    Refusal.EMPTY: "left out: no Unicode text",
    Refusal.ROUND_TRIP: "the tokenizer cannot restore the text: 8 bits per byte",
    Refusal.KIND: "its architecture is not known to predict each token from those before it",
    Refusal.AHEAD: "its predictions depend on later tokens",
    Refusal.UNSTEADY: "its predictions depend on what it read before",
    Refusal.RANDOM: "it predicts random text, which nobody can",
    Refusal.PREDICTIONS: "its predictions do not form probabilities",
}
_OF_MODELS = frozenset(Refusal) - {Refusal.NONE, Refusal.EMPTY, Refusal.ROUND_TRIP}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringRules:
    """Rules for cutting documents: 1 <= stride <= window, in tokens."""

    window: int = WINDOW
    stride: int = STRIDE

    def __post_init__(self) -> None:
        if not 1 <= self.stride <= self.window:
            raise ValueError(f"stride {self.stride} must be between 1 and the window {self.window}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringWindow:
    """Inputs from `first` up to `end` of prefix and tokens; the last `scored` targets count.

    The target of input i is i + 1.
    """

    first: int
    end: int
    scored: int


def scoring_windows(tokens: int, rules: ScoringRules) -> tuple[ScoringWindow, ...]:
    """Cut a document of `tokens` tokens, not counting the prefix."""
    found = []
    done = 0
    while done < tokens:
        step = rules.stride if done else rules.window
        end = min(done + step, tokens)
        found.append(ScoringWindow(first=max(end - rules.window, 0), end=end, scored=end - done))
        done = end
    return tuple(found)


class DocumentScore(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One document and its cost under one model; `document` is the SHA-256 of its UTF-8."""

    document: Bytes32Text
    size_bytes: Natural
    words: Natural
    tokens: Natural
    millibits: Natural
    refusal: Refusal = Refusal.NONE


def score_document(text: str, *, tokens: int, nats: float) -> DocumentScore:
    """Round a document's negative log-likelihood; raises ValueError if it is not a valid number."""
    millibits = nats / math.log(2) * MILLIBITS
    if not 0 <= millibits <= MOST_MILLIBITS:
        raise ValueError(f"invalid negative log-likelihood {nats}")
    raw = text.encode()
    return DocumentScore(
        document=to_text(sha256(raw)),
        size_bytes=len(raw),
        words=word_count(text),
        tokens=tokens,
        millibits=round(millibits),
    )


def score_unread(text: str, refusal: Refusal) -> DocumentScore:
    """Score of a document that the model did not read."""
    raw = text.encode(errors="surrogatepass")
    name = to_text(sha256(raw))
    if refusal is Refusal.EMPTY:
        return DocumentScore(
            document=name, size_bytes=0, words=0, tokens=0, millibits=0, refusal=refusal
        )
    return DocumentScore(
        document=name,
        size_bytes=len(raw),
        words=word_count(text),
        tokens=0,
        millibits=CHARGE * len(raw),
        refusal=refusal,
    )


def word_count(text: str) -> int:
    """Count the parts between white space, including an empty one at either end."""
    return len(re.split(r"\s+", text))


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreTotals:
    """Sums over documents; charged ones are included, empty ones are not."""

    documents: int
    empty: int
    charged: int
    size_bytes: int
    words: int
    tokens: int
    millibits: int

    @classmethod
    def of(cls, documents: Iterable[DocumentScore]) -> ScoreTotals:
        all_of_them = tuple(documents)
        return cls(
            documents=sum(one.refusal is not Refusal.EMPTY for one in all_of_them),
            empty=sum(one.refusal is Refusal.EMPTY for one in all_of_them),
            charged=sum(one.refusal is Refusal.ROUND_TRIP for one in all_of_them),
            size_bytes=sum(one.size_bytes for one in all_of_them),
            words=sum(one.words for one in all_of_them),
            tokens=sum(one.tokens for one in all_of_them),
            millibits=sum(one.millibits for one in all_of_them),
        )

    @property
    def bits_per_byte(self) -> float:
        """NaN without text."""
        return self._bits_for_each(self.size_bytes)

    @property
    def byte_perplexity(self) -> float:
        return power_of_two(self.bits_per_byte)

    @property
    def word_perplexity(self) -> float:
        """2 to the bits per word; infinite where that overflows."""
        return power_of_two(self._bits_for_each(self.words))

    def _bits_for_each(self, units: int) -> float:
        return self.millibits / (units * MILLIBITS) if units else math.nan


def nanobits_per_byte(millibits: int, size_bytes: int) -> int:
    """Rank key: divided once, rounded down; 0 without bytes."""
    return millibits * NANOBITS // size_bytes if size_bytes else 0


def is_within(value: int, reference: int, parts: int) -> bool:
    """Return whether two scores differ by at most one part in `parts`, and their own rounding."""
    return abs(value - reference) * parts <= reference + parts


def power_of_two(bits: float) -> float:
    """Give the perplexity of a number of bits; infinite where it overflows."""
    return 2.0**bits if not bits >= 1_024 else math.inf  # noqa: PLR2004 - binary64's exponents
