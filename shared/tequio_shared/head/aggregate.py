"""The sums behind a step: sign-agreement filter, transform of distro, and down link.

Theory of the filter. For each member, a counts positions where its sign is that of the sum of the
others, less those where it is the opposite; t counts the positions compared. If signs were coin
flips, a would have mean 0 and variance t; z2 = 16 requires more than 4 standard deviations. Only
signs count, so a larger update has no more influence. One or two members are never filtered and
have no protection.
(docs/protocol.md, head)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from tequio_shared.head.contribution import Records
from tequio_shared.head.layout import CHUNK, TILE, Padding

if TYPE_CHECKING:
    from numpy.typing import NDArray


_UNFILTERED = 2
"""Up to this many members are never filtered: they have no majority to agree with."""
COEFFICIENT_SHIFT = 16
"""A coefficient is the sum of signs times 2^16."""
_PASS_SHIFT = 14
_COSINES = (
    *(2896, 2895, 2893, 2888, 2882, 2875, 2865, 2854, 2841, 2826, 2810, 2791, 2772, 2750, 2727),
    *(2702, 2676, 2648, 2618, 2587, 2554, 2520, 2484, 2447, 2408, 2368, 2326, 2283, 2239, 2193),
    *(2146, 2098, 2048, 1997, 1945, 1892, 1837, 1782, 1725, 1668, 1609, 1550, 1489, 1428, 1365),
    *(1302, 1238, 1174, 1108, 1042, 976, 909, 841, 772, 704, 635, 565, 495, 425, 355, 284, 213),
    *(142, 71),
)
"""C[j]: 2^14 / sqrt(32) * cos(j pi / 128), rounded, for j = 0..63."""
STEP_SHIFT = 28
"""From contribution units times multiplier units (2^-52) to weight units (2^-24)."""
_LARGEST_MAGNITUDE = 15
_RESIDUAL_LIMIT = 1 << 61


@dataclass(frozen=True, slots=True, kw_only=True)
class ContributionEntries:
    """The effective entries of one contribution: flat positions int64[m] and levels int64[m].

    Without entries of empty chunks, at padding, or of level 0. `scales` is uint8[n].
    """

    positions: NDArray[np.int64]
    levels: NDArray[np.int64]
    scales: NDArray[np.uint8]


def effective_entries(records: Records, padding: Padding) -> ContributionEntries:
    """Select the effective entries from decoded records of the padding's run of chunks."""
    live = (records.levels != 0) & (records.scales > 0)[:, None]
    padded = padding.chunks
    live[padded] &= ~np.take_along_axis(padding.masks, records.indices[padded], axis=1)
    chunk = np.arange(len(records.scales), dtype=np.int64)[:, None]
    return ContributionEntries(
        positions=(chunk * CHUNK + records.indices)[live],
        levels=records.levels[live].astype(np.int64),
        scales=records.scales,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterResult:
    """Members kept, ascending, and every pass: its members, and their agreement (a, t)."""

    kept: tuple[int, ...]
    passes: tuple[tuple[tuple[int, ...], tuple[tuple[int, int], ...]], ...]


def filter_members(members: Sequence[ContributionEntries], elements: int, z2: int) -> FilterResult:
    """Drop, one by one, the members whose signs disagree most with the rest."""
    return filter_with(
        lambda kept: agreement([members[at] for at in kept], elements), len(members), z2
    )


def filter_with(
    agree: Callable[[Sequence[int]], Sequence[tuple[int, int]]], members: int, z2: int
) -> FilterResult:
    """Run the filter over `agree`, which measures (a, t) for each of the given members.

    z2 = 0 turns it off. Exact integers and fractions; of equally weak members the last one goes.
    """
    kept = tuple(range(members))
    passes = []
    # One member per pass: dropping all weak ones at once would also drop honest members that only
    # look weak because of a hostile one in the sum.
    while z2 and len(kept) > _UNFILTERED:
        measured = tuple(agree(kept))
        passes.append((kept, measured))
        if all(agrees(a, t, z2) for a, t in measured):
            break
        out = weakest(measured)
        kept = kept[:out] + kept[out + 1 :]
    return FilterResult(kept=kept, passes=tuple(passes))


def agreement(members: Sequence[ContributionEntries], elements: int) -> list[tuple[int, int]]:
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
    """Return whether agreement a over t positions is over sqrt(z2) deviations above chance."""
    return a > 0 and a * a > z2 * t


def weakest(measured: Sequence[tuple[int, int]]) -> int:
    """Index of the smallest sign(a) a^2 / max(t, 1), as exact fractions; of equals the last."""
    ranks = [(Fraction(a * abs(a), max(t, 1)), -at) for at, (a, t) in enumerate(measured)]
    return ranks.index(min(ranks))


def _basis() -> NDArray[np.int64]:
    frequency = np.arange(TILE)[:, None]
    angle = (2 * np.arange(TILE)[None, :] + 1) * frequency % (4 * TILE)
    angle = np.minimum(angle, 4 * TILE - angle)
    quarter = np.array([*_COSINES, 0], np.int64)
    table = np.where(angle <= TILE, quarter[np.minimum(angle, TILE)], 0)
    table -= np.where(angle > TILE, quarter[np.minimum(2 * TILE - angle, TILE)], 0)
    table[0] = 2048
    return table


BASIS: NDArray[np.int64] = _basis()
"""T[f][p], int64[64, 64]."""


def inverse_dct(coefficients: NDArray[np.int64]) -> NDArray[np.int64]:
    """Transform coefficients int64[n, 4096] (index f * 64 + g) to elements int64[n, 4096].

    The inverse 64 x 64 DCT-II of distro in integers, exact on every device. T[f][p] is the basis
    times 2^14; both passes round half up. All partial sums stay below 2^48, so binary64 adds them
    exactly in any order, also inside a matrix product. Coefficients are multiples of 2^16, hence
    only the second pass rounds. (docs/protocol.md, head)
    """
    basis = BASIS.astype(np.float64)
    tiles = coefficients.reshape(-1, TILE, TILE).astype(np.float64)
    rows = _round(basis.T @ tiles)
    return _round(rows @ basis).astype(np.int64).reshape(coefficients.shape)


def _round(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """(x + 2^13) >> 14 on integers in binary64; scaling by 2^-14 is exact."""
    half = float(1 << (_PASS_SHIFT - 1))
    return np.asarray(np.floor((values + half) * 2.0**-_PASS_SHIFT))


@dataclass(frozen=True, slots=True, kw_only=True)
class DownLink:
    """The aggregate of a round, compressed once for everybody: step T and residual R', int64[N].

    With `down_k` above 0 the weights move by T, a sparse step with 5-bit magnitudes, and what T
    leaves out waits in a residual that belongs to the head. Members that follow get T alone
    (`head/step.py`). (docs/protocol.md, down link)
    """

    step: NDArray[np.int64]
    residual: NDArray[np.int64]


def down_link(residual: NDArray[np.int64], aggregated: NDArray[np.int64], down_k: int) -> DownLink:
    """Split residual + aggregate (int64[N] each) into a sparse step and the next residual."""
    waiting = (residual + aggregated).reshape(-1, CHUNK)
    indices = _largest(waiting, down_k)
    picked = np.take_along_axis(waiting, indices, axis=1)
    whole = (picked + (1 << (STEP_SHIFT - 1))) >> STEP_SHIFT
    most = np.abs(whole).max(axis=1, keepdims=True)
    quanta = np.maximum(1, (most + _LARGEST_MAGNITUDE - 1) // _LARGEST_MAGNITUDE)
    magnitude = (np.abs(whole) + quanta // 2) // quanta
    step = np.zeros_like(waiting)
    np.put_along_axis(step, indices, np.sign(whole) * magnitude * quanta, axis=1)
    left = np.clip(waiting - (step << STEP_SHIFT), -_RESIDUAL_LIMIT, _RESIDUAL_LIMIT)
    return DownLink(step=step.reshape(-1), residual=left.reshape(-1))


def _largest(values: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Positions of the `count` largest magnitudes per row, ascending; of equals the lower."""
    magnitude = np.abs(values)
    least = np.partition(magnitude, CHUNK - count, axis=1)[:, CHUNK - count, None]
    above = magnitude > least
    equal = magnitude == least
    room = count - above.sum(axis=1, keepdims=True)
    chosen = above | (equal & (np.cumsum(equal, axis=1) <= room))
    return (np.flatnonzero(chosen) % CHUNK).reshape(-1, count)
