"""How a model is scored on texts that nobody could have seen, in integers from end to end.

A document is read behind one token of the tokenizer's own, the prefix, in windows of at most
`window` inputs. The first window scores all its tokens; each later one scores the next `stride` and
has as many tokens before them as fit: the rolling log-likelihood of lm-evaluation-harness, whose
own default is a stride of a whole window. Every token is scored once. The sum is rounded to
thousandths of a bit, once for each document; from there on nothing is rounded, so that totals can
be signed and recomputed.

Models are ranked by bits per byte of UTF-8, which does not ask how a tokenizer cuts the text.
docs/protocol.md, scoring.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from tequio_shared.ids import Bytes32Text, Natural, sha256, to_text
from tequio_shared.limits import JSON_INTEGER

if TYPE_CHECKING:
    from collections.abc import Iterable

MILLIBITS = 1_000
"""Units of a score in one bit."""
NANOBITS = 1_000_000
"""Nanobits, the unit of quotients, in one millibit."""
CHARGE = 8 * MILLIBITS
"""For each byte of a document that the tokenizer cannot give back: what sending it plain costs."""
TOTAL_TOLERANCE = 10_000
DOCUMENT_TOLERANCE = 1_000
"""Honest evaluators agree within one part in so many: on a total, and on one document."""
WINDOW, STRIDE = 2_048, 1_024
"""What a competition scores with unless it says otherwise."""


class Refusal(StrEnum):
    """Why a document was not read by the model."""

    NONE = ""
    EMPTY = "empty"  # no text, or none that is Unicode: the same for every model, and left out
    ROUND_TRIP = "round-trip"  # the tokenizer loses something: its model pays CHARGE for each byte

    @property
    def sentence(self) -> str:
        """What a person reads."""
        return _SENTENCES[self]


_SENTENCES = {
    Refusal.NONE: "scored",
    Refusal.EMPTY: "no text in it that is Unicode: left out",
    Refusal.ROUND_TRIP: "the tokenizer does not give the text back: 8 bits for each byte",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How documents are cut: 1 <= stride <= window, in tokens."""

    window: int = WINDOW
    stride: int = STRIDE

    def __post_init__(self) -> None:
        if not 1 <= self.stride <= self.window:
            raise ValueError(f"a stride of {self.stride} does not fit a window of {self.window}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Inputs `first` to `end` (without) of prefix and tokens; the last `scored` targets count.

    The target of input i is i + 1.
    """

    first: int
    end: int
    scored: int


def windows(tokens: int, rules: Rules) -> tuple[Window, ...]:
    """Cut a document of so many tokens, the prefix not counted."""
    found = []
    done = 0
    while done < tokens:
        step = rules.stride if done else rules.window
        end = min(done + step, tokens)
        found.append(Window(first=max(end - rules.window, 0), end=end, scored=end - done))
        done = end
    return tuple(found)


class DocumentScore(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One document and what one model needs for it; `document` is the SHA-256 of its UTF-8."""

    document: Bytes32Text
    size_bytes: Natural
    words: Natural
    tokens: Natural
    millibits: Natural
    refusal: Refusal = Refusal.NONE


def scored(text: str, *, tokens: int, nats: float) -> DocumentScore:
    """Round a document's negative log-likelihood; raises ValueError when it is no number."""
    millibits = nats / math.log(2) * MILLIBITS
    if not 0 <= millibits <= JSON_INTEGER:
        raise ValueError(f"{nats} is no negative log-likelihood")
    raw = text.encode()
    return DocumentScore(
        document=to_text(sha256(raw)),
        size_bytes=len(raw),
        words=word_count(text),
        tokens=tokens,
        millibits=round(millibits),
    )


def refused(text: str, refusal: Refusal) -> DocumentScore:
    """Say what stands for a document that the model did not read."""
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
    """Count the parts between white space, also an empty one at either end."""
    return len(re.split(r"\s+", text))


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """Sums over documents; charged ones are in them, empty ones are not."""

    documents: int
    empty: int
    charged: int
    size_bytes: int
    words: int
    tokens: int
    millibits: int

    @classmethod
    def of(cls, documents: Iterable[DocumentScore]) -> Score:
        """Add up."""
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
    def nanobits_per_byte(self) -> int:
        """Rank key, rounded down to 10^-9 bits per byte; 0 without text."""
        return nanobits_per_byte(self.millibits, self.size_bytes)

    @property
    def bits_per_byte(self) -> float:
        """The rank key as a number to compute with; NaN without text."""
        return self._bits_for_each(self.size_bytes)

    @property
    def byte_perplexity(self) -> float:
        """2 to the bits per byte."""
        return _power(self.bits_per_byte)

    @property
    def word_perplexity(self) -> float:
        """2 to the bits per word; infinite where that overflows."""
        return _power(self._bits_for_each(self.words))

    def _bits_for_each(self, units: int) -> float:
        return self.millibits / (units * MILLIBITS) if units else math.nan


def nanobits_per_byte(millibits: int, size_bytes: int) -> int:
    """Divide once, rounding down; 0 where there are no bytes."""
    return millibits * NANOBITS // size_bytes if size_bytes else 0


def is_within(value: int, reference: int, parts: int) -> bool:
    """Tell whether two scores differ by one part in `parts` at most, and by their own rounding."""
    return abs(value - reference) * parts <= reference + parts


def _power(bits: float) -> float:
    return 2.0**bits if not bits >= 1_024 else math.inf  # noqa: PLR2004 - binary64's exponents
