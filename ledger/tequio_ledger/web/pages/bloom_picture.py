"""The Bloom filter of a witness proof as a picture: one square a bit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_shared.ids import from_text

if TYPE_CHECKING:
    from tequio_ledger.web.pages.round_story import Proven

MOST_BITS = 4_096
"""Larger filters are told in numbers only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BloomPicture:
    """One filter; `path` draws its ones as unit squares, `across` to a row."""

    slot: int
    index: int
    items: int
    bits: int
    ones: int
    path: str
    across: int
    rows: int

    @property
    def fill(self) -> float:
        """Share of ones."""
        return self.ones / self.bits if self.bits else 0.0


def bloom_picture(slot: int, sent: Proven) -> BloomPicture:
    """Draw the filter of one proof."""
    raw = from_text(sent.body.bloom, None)
    bits = len(raw) * 8
    ones = [at for at in range(bits) if raw[at >> 3] >> (at & 7) & 1]
    is_drawn, across = bits <= MOST_BITS, math.isqrt(4 * bits) or 1
    return BloomPicture(
        slot=slot,
        index=sent.index,
        items=sent.body.count,
        bits=bits,
        ones=len(ones),
        path="".join(f"M{at % across} {at // across}h1v1h-1z" for at in ones) if is_drawn else "",
        across=across,
        rows=-(-bits // across) if is_drawn else 0,
    )
