"""How good a head is on held-out text, by the word of members drawn for it.

Rules. A head is drawn for as it is promoted: the lot follows from the secrets revealed up to then,
and falls on witnesses that stated the head, so that they hold it. What they say is taken of the
last heads that were drawn for, so that short rounds leave time, and after the run's end too. No
rule depends on it.

Theory: all measure the same documents in the same way, so honest values differ by no more than
devices do. The median of three is right though one of them lies; who is far from it shows.
(docs/protocol.md, 9.9)
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import takewhile
from typing import TYPE_CHECKING, TypeVar

from msgspec import UNSET

from tequio_shared.errors import RefusedError
from tequio_shared.ids import STEERING, sha256, to_text
from tequio_shared.limits import MEASURED_HEADS
from tequio_shared.round import assignment
from tequio_shared.round.documents import WITNESS
from tequio_shared.scoring import MILLIBITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tequio_shared.ids import PeerKey
    from tequio_shared.round.manifest import Manifest
    from tequio_shared.round.round import Head, RoundState
    from tequio_shared.statements.runs import HeadMeasure, Sample


TOLERANCE = 1_000
"""Honest measures of one head lie within one part in so many of their median."""
_MAJORITY = 3
"""So many can outvote one."""

_Name = TypeVar("_Name")


@dataclass(slots=True, kw_only=True)
class Draw:
    """A head that was drawn for: who measures it, and what they have said so far."""

    head: Head
    drawn: tuple[PeerKey, ...]  # ascending by slot
    said: dict[PeerKey, HeadMeasure] = field(default_factory=dict)  # in the order of the log

    @classmethod
    def at_promotion(cls, current: RoundState, head: Head) -> Draw:
        """Draw by what the round's members have stated and revealed so far."""
        return cls(head=head, drawn=_drawn(current, head))

    def admit(self, author: PeerKey) -> None:
        """Raise RefusedError unless the author may still say what it measured."""
        head = self.head
        if author not in self.drawn:
            raise RefusedError("wrong-role", f"not drawn to measure the head of round {head.round}")
        if author in self.said:
            raise RefusedError("already-said", f"a second measure of the head of {head.round}")

    @property
    def bits_per_byte(self) -> float | None:
        """The median of what was said; None while that is nothing."""
        return bits_per_byte(median(self.said.values())) if self.said else None


@dataclass(slots=True, kw_only=True)
class Draws:
    """The draws of a run, as far as measures are still taken: of the last heads drawn for."""

    is_whole: bool
    """Whether every draw of the run was seen; else some lie before the start of the view."""
    open: list[Draw] = field(default_factory=list)  # ascending by round
    measured: Draw | None = None  # of the newest head of which somebody said something
    first: int | None = None  # round of the first head that was drawn for here

    @property
    def last(self) -> Draw | None:
        """The last one."""
        return self.open[-1] if self.open else None

    def promoted(self, current: RoundState, head: Head) -> None:
        """Draw for a head that has just been promoted; the oldest draw may close."""
        self.open.append(Draw.at_promotion(current, head))
        del self.open[:-MEASURED_HEADS]
        self.first = head.round if self.first is None else self.first

    def recall(self, draw: Draw) -> None:
        """Take up a draw that lies before the start of the view."""
        self.open = sorted([*self.open, draw], key=lambda one: one.head.round)

    def admit(self, author: PeerKey, round_number: int, body: HeadMeasure) -> Draw | None:
        """Find where that belongs; None: before the start of the view, where nobody can say.

        Raises RefusedError unless the author may say it now.
        """
        for draw in self.open:
            if (round_number, body.head) == (draw.head.round, to_text(draw.head.hash)):
                draw.admit(author)
                return draw
        if not self.is_whole and (self.first is None or round_number < self.first):
            return None
        names = ", ".join(str(draw.head.round) for draw in self.open)
        taken = (
            f"measures are taken of the heads of rounds {names}" if names else "none is measured"
        )
        raise RefusedError("wrong-head", f"the head of round {round_number}: {taken}")

    def take(self, author: PeerKey, round_number: int, body: HeadMeasure) -> None:
        """Note what somebody says; raises RefusedError where it may not."""
        draw = self.admit(author, round_number, body)
        if draw is None:
            return
        draw.said[author] = body
        if self.measured is None or self.measured.head.round <= draw.head.round:
            self.measured = draw


def is_due(manifest: Manifest, head_round: int, *, is_last: bool) -> bool:
    """Whether the head of that round is drawn for; the run's last one always, if any is."""
    every = manifest.measures.every
    return every > 0 and (is_last or head_round % every == 0)


def median(measures: Iterable[HeadMeasure]) -> HeadMeasure:
    """The one in the middle by bits per byte, of an even number the worse; at least one."""
    ranked = sorted(measures, key=_ratio)
    return ranked[len(ranked) // 2]


def outliers(measures: dict[_Name, HeadMeasure]) -> frozenset[_Name]:
    """Name those who are not with the median: another text, or too far from it.

    Of fewer than three nobody can say who is wrong.
    """
    if len(measures) < _MAJORITY:
        return frozenset()
    middle = median(measures.values())
    return frozenset(name for name, one in measures.items() if not _agree(one, middle))


def bits_per_byte(measure: HeadMeasure) -> float:
    """Bits that the head needs for a byte of text."""
    return measure.millibits / (measure.size_bytes * MILLIBITS)


def _drawn(current: RoundState, head: Head) -> tuple[PeerKey, ...]:
    """The drawn keys; docs/protocol.md, 9.9."""
    keys, stated = current.roster.keys, to_text(head.hash)
    holders = {
        slot: keys[slot]
        for slot in current.roster.slots_of(WITNESS)
        if slot in current.attests and current.attests[slot].head == stated
    }
    elected = assignment.seed(
        current.net,
        current.manifest.run_id,
        current.number,
        current.beacon(),
        sha256(current.roster.encode()),
    )
    size = current.manifest.measures.members
    lot = sha256(b"tequio/v1/measure\0", elected)
    return tuple(keys[slot] for slot in assignment.committee(lot, holders, size))


def _ratio(measure: HeadMeasure) -> Fraction:
    return Fraction(measure.millibits, measure.size_bytes)


def _agree(one: HeadMeasure, middle: HeadMeasure) -> bool:
    is_same_text = (one.size_bytes, one.tokens) == (middle.size_bytes, middle.tokens)
    away = abs(one.millibits - middle.millibits)
    return is_same_text and away * TOLERANCE <= middle.millibits


# --- What a head writes, for eyes: text made fit to be logged, and whose of several is shown.
#
# Theory: the likeliest next token is the same for all who measure a head, but where two are as
# likely as rounding goes; from there on honest texts differ. Nobody can check such a text without
# the model, and it is shown to strangers: so that is shown which agrees longest with what others
# say. Of three, one who makes a text up is never shown.

_STEERING = re.compile(f"[{STEERING}]")
_UNSHOWN = "\ufffd"


def fit(text: str, most_bytes: int) -> str:
    """Give the text as the log takes it: so many bytes at most, and nothing in it that steers."""
    plain = text.replace("\r\n", "\n").replace("\t", " ")
    shown = _STEERING.sub(_UNSHOWN, plain.encode("utf-8", "replace").decode())
    return shown.encode()[:most_bytes].decode("utf-8", "ignore")


def of(measure: HeadMeasure) -> Sample | None:
    """Give what comes with a measure, if anything does."""
    return None if measure.sample is UNSET else measure.sample


def shown(said: Mapping[_Name, HeadMeasure]) -> tuple[_Name, Sample] | None:
    """Choose the sample that agrees longest with the others', and name who says it.

    Of equals it is that of the median, then the first. None of outliers counts.
    """
    away = outliers(dict(said))
    samples = {
        name: sample
        for name, one in said.items()
        if name not in away and (sample := of(one)) is not None
    }
    if not samples:
        return None
    middle = median(said.values())

    def rank(name: _Name) -> tuple[int, bool]:
        others = (one for other, one in samples.items() if other != name)
        return sum(_agreement(samples[name], one) for one in others), said[name] is middle

    chosen = max(samples, key=rank)
    return chosen, samples[chosen]


def _agreement(one: Sample, other: Sample) -> int:
    """How far they are the same, from the beginning."""
    if one.prompt != other.prompt:
        return 0
    pairs = zip(one.text, other.text, strict=False)
    return 1 + sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
