"""How good a head is on held-out text, by the word of members drawn for it.

Rules. A head is drawn for as it is promoted: the lot follows from the secrets revealed up to then,
and falls on witnesses that stated the head, so that they hold it. What they say is taken until the
next head is drawn for, and of the run's last head after its end too. No rule depends on it.

Theory: all measure the same documents in the same way, so honest values differ by no more than
devices do. The median of three is right though one of them lies; who is far from it shows.
(docs/protocol.md, 9.9)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

from tequio_shared import election
from tequio_shared.documents import WITNESS
from tequio_shared.errors import RefusedError
from tequio_shared.ids import sha256, to_text
from tequio_shared.scoring import MILLIBITS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tequio_shared.ids import PeerKey
    from tequio_shared.manifest import Manifest
    from tequio_shared.round_state import Head, RoundState
    from tequio_shared.statements.rounds import HeadMeasure

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

    def admit(self, author: PeerKey, round_number: int | None, body: HeadMeasure) -> None:
        """Raise RefusedError unless the author may say that now."""
        head = self.head
        if (round_number, body.head) != (head.round, to_text(head.hash)):
            raise RefusedError("wrong-head", f"the head of round {head.round} is being measured")
        if author not in self.drawn:
            raise RefusedError("wrong-role", f"not drawn to measure the head of round {head.round}")
        if author in self.said:
            raise RefusedError("already-said", f"a second measure of the head of {head.round}")

    @property
    def bits_per_byte(self) -> float | None:
        """The median of what was said; None while that is nothing."""
        return bits_per_byte(median(self.said.values())) if self.said else None


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
    elected = election.seed(
        current.net,
        current.manifest.run_id,
        current.number,
        current.beacon(),
        sha256(current.roster.encode()),
    )
    size = current.manifest.measures.members
    lot = sha256(b"tequio/v1/measure\0", elected)
    return tuple(keys[slot] for slot in election.committee(lot, holders, size))


def _ratio(measure: HeadMeasure) -> Fraction:
    return Fraction(measure.millibits, measure.size_bytes)


def _agree(one: HeadMeasure, middle: HeadMeasure) -> bool:
    is_same_text = (one.size_bytes, one.tokens) == (middle.size_bytes, middle.tokens)
    away = abs(one.millibits - middle.millibits)
    return is_same_text and away * TOLERANCE <= middle.millibits
