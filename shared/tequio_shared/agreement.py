"""The sign-agreement filter: whose signs go against everybody else's is left out of the head.

For each member, a counts positions where its sign is that of the sum of the others, less those
where it is the opposite; t counts the positions compared. Were its signs coin flips, a would have
mean 0 and variance t; z2 = 16 demands more than 4 standard deviations. Only signs count, so
shouting louder does not help. With one or two members there is no filter and no protection.
(docs/protocol.md, head)
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from tequio_shared.layout import CHUNK, Padding

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from tequio_shared.records import Records

_UNFILTERED = 2
"""So few members are never filtered: there is no majority to agree with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entries:
    """What counts of one contribution: flat positions int64[m] and levels int64[m].

    Entries of empty chunks, at padding and of level 0 are gone. `scales` is uint8[n].
    """

    positions: NDArray[np.int64]
    levels: NDArray[np.int64]
    scales: NDArray[np.uint8]


def entries(records: Records, padding: Padding) -> Entries:
    """Pick the entries that count, from decoded records of the padding's run of chunks."""
    live = (records.levels != 0) & (records.scales > 0)[:, None]
    padded = padding.chunks
    live[padded] &= ~np.take_along_axis(padding.masks, records.indices[padded], axis=1)
    chunk = np.arange(len(records.scales), dtype=np.int64)[:, None]
    return Entries(
        positions=(chunk * CHUNK + records.indices)[live],
        levels=records.levels[live].astype(np.int64),
        scales=records.scales,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Filtered:
    """Members kept, ascending, and every pass: who took part, and their agreement (a, t)."""

    kept: tuple[int, ...]
    passes: tuple[tuple[tuple[int, ...], tuple[tuple[int, int], ...]], ...]


def filter_members(members: Sequence[Entries], elements: int, z2: int) -> Filtered:
    """Drop, one by one, the members whose signs disagree most with the rest."""

    def agree(kept: Sequence[int]) -> list[tuple[int, int]]:
        return agreement([members[at] for at in kept], elements)

    return filter_by(agree, len(members), z2)


def filter_by(
    agree: Callable[[Sequence[int]], Sequence[tuple[int, int]]], members: int, z2: int
) -> Filtered:
    """Run the filter over `agree`, which measures (a, t) of each of the members it is given.

    z2 = 0 is no filter. Exact integers and fractions; of equally weak members the last goes.
    """
    kept = tuple(range(members))
    passes = []
    while z2 and len(kept) > _UNFILTERED:
        measured = tuple(agree(kept))
        passes.append((kept, measured))
        if all(agrees(a, t, z2) for a, t in measured):
            break
        out = weakest(measured)
        kept = kept[:out] + kept[out + 1 :]
    return Filtered(kept=kept, passes=tuple(passes))


def agreement(members: Sequence[Entries], elements: int) -> list[tuple[int, int]]:
    """Measure (a, t) of each member: signs with the rest less signs against it, of t compared.

    The rest is the sum of the other members' signs; where it is 0 nothing is compared.
    """
    total = np.zeros(elements, np.int64)
    for member in members:  # a member has each position once, so plain indexing adds
        total[member.positions] += np.sign(member.levels)
    measured = []
    for member in members:
        sign = np.sign(member.levels)
        rest = np.sign(total[member.positions] - sign)
        measured.append((int((sign * rest).sum()), int(np.count_nonzero(rest))))
    return measured


def agrees(a: int, t: int, z2: int) -> bool:
    """Tell whether agreement a over t positions lies more than sqrt(z2) deviations above chance."""
    return a > 0 and a * a > z2 * t


def weakest(measured: Sequence[tuple[int, int]]) -> int:
    """Find the smallest sign(a) a^2 / max(t, 1), as exact fractions; of equals the last."""
    ranks = [(Fraction(a * abs(a), max(t, 1)), -at) for at, (a, t) in enumerate(measured)]
    return ranks.index(min(ranks))
