"""Points: what accepted work is worth, and how amounts are written for people.

The log, the API and the programs count work in whole GFLOP, 10^9 floating-point operations; only
people see points, each of which is `GFLOP_PER_POINT` of these. So a small GPU earns hundreds of
points an hour, and a year of the largest network still fits a JSON number. Amounts that people read
are cut, never rounded up, and are written by one rule (`digits`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from tequio_shared.limits import WHOLE_PARTS

K = TypeVar("K")

FLOP_PER_PARAMETER_TOKEN = 6
FLOP_PER_FROZEN_TOKEN = 4
FLOP_PER_GFLOP = 10**9
GFLOP_PER_POINT = 10_000
"""GFLOP in a point, which therefore is 10^13 FLOP."""
BASIS_POINTS = 10_000
_PLACES = 4
"""Decimals of a point that whole GFLOP can express."""
_SIGNIFICANT = 3
RATED_SHARE_BP = 3_500
"""Share of a card's rated speed that training is expected to reach, in 1/10000."""
_RATED_GFLOPS = {"RTX 3060": 25_500, "RTX 4070": 58_300, "RTX 4090": 165_200, "H100": 989_400}
"""Rated speeds of cards in GFLOP/s, the slowest first: dense products of 16-bit numbers that are
summed up in 32 bits.

Computed as 4 x CUDA cores x boost clock from the specifications on nvidia.com (3,584 at 1.78 GHz;
5,888 at 2.475 GHz; 16,384 at 2.52 GHz), which is what NVIDIA's white paper on the Ada architecture
states for the RTX 4090 (165.2 TFLOP/s); the H100's is half of the figure with sparsity in its data
sheet (1,979 TFLOP/s, SXM).
"""
_LONGEST_S = 48 * 3_600
"""Time above which amounts are compared with a faster card."""
_UNITS = (("day", 86_400, 129_600), ("hour", 3_600, 5_400), ("minute", 60, 90), ("second", 1, 1))
"""Units of time with their lengths, and the seconds from which on each is used."""


def flop_per_token(parameters: int, frozen: int = 0) -> int:
    """Cost of a token by the published formula.

    A trained parameter costs 6 FLOP per token (Kaplan et al. 2020, section 2.1): 2 forward, 2 for
    the gradient of its input, 2 for its own. A frozen one, in a base beside which adapters are
    trained, has no gradient of its own: 4.
    """
    return FLOP_PER_PARAMETER_TOKEN * parameters + FLOP_PER_FROZEN_TOKEN * frozen


def trainer_gflop(tokens: int, parameters: int, frozen: int = 0) -> int:
    """GFLOP for accepted tokens on a model of that size, rounded down."""
    return tokens * flop_per_token(parameters, frozen) // FLOP_PER_GFLOP


def given_gflop(gflop: int, parts: Sequence[tuple[K, int]]) -> tuple[tuple[K, int], ...]:
    """Divide the points of a contribution: what each key with parts gets, none that get nothing.

    Rounded down, so the author keeps the remainders.
    """
    shares = ((key, gflop * count // WHOLE_PARTS) for key, count in parts)
    return tuple((key, amount) for key, amount in shares if amount)


def witness_gflop(trainer_total: int, share_bp: int, elected: int) -> int:
    """GFLOP for one counted proof: an equal part of the share, rounded down.

    Divided by the elected, not by the proofs: a witness earns nothing by others' silence.
    """
    return trainer_total * share_bp // BASIS_POINTS // max(elected, 1)


def digits(gflop: int) -> tuple[int, str]:
    """Split an amount that is not negative into whole points and the decimals to write.

    Whole numbers from 100 points on, else three significant digits: 18930, 41.2, 4.12, 0.0123.
    Below one point without trailing zeros.
    """
    whole, part = divmod(gflop, GFLOP_PER_POINT)
    decimals = f"{part:0{_PLACES}d}"
    if whole:
        return whole, decimals[: max(_SIGNIFICANT - len(str(whole)), 0)]
    leading = len(decimals) - len(decimals.lstrip("0"))
    return whole, decimals[: leading + _SIGNIFICANT].rstrip("0")


def exact_digits(gflop: int) -> tuple[int, str]:
    """Split an amount like `digits`, with all decimals but trailing zeros."""
    whole, part = divmod(gflop, GFLOP_PER_POINT)
    return whole, f"{part:0{_PLACES}d}".rstrip("0")


def points(gflop: int) -> str:
    """Write an amount in English: 18,930 or 41.2 or 0.0123."""
    return _written(digits(gflop))


def exact_points(gflop: int) -> str:
    """Write an amount in English to the last GFLOP."""
    return _written(exact_digits(gflop))


class CardTime(NamedTuple):
    """The time that a card needs for an amount of work; `unit` is `second` to `day`."""

    card: str
    number: int
    unit: str


def card_time(gflop: int) -> CardTime | None:
    """Compare an amount with the work of a well-known card; None below a second of the slowest.

    The card trains at `RATED_SHARE_BP` of its rated speed, so this is a rough figure: it is rounded
    to one unit.
    """
    times = [
        (card, gflop * BASIS_POINTS // (rated * RATED_SHARE_BP))
        for card, rated in _RATED_GFLOPS.items()
    ]
    card, seconds = next((one for one in times if one[1] < _LONGEST_S), times[-1])
    for unit, length_s, from_s in _UNITS:
        if seconds >= from_s:
            return CardTime(card, (seconds + length_s // 2) // length_s, unit)
    return None


def comparison(gflop: int) -> str:
    """Compare in English: about what an RTX 4070 does in 8 hours; empty for next to nothing."""
    found = card_time(gflop)
    if found is None:
        return ""
    plural = "" if found.number == 1 else "s"
    return f"about what an {found.card} does in {found.number:,} {found.unit}{plural}"


def _written(parts: tuple[int, str]) -> str:
    whole, decimals = parts
    return f"{whole:,}.{decimals}" if decimals else f"{whole:,}"
