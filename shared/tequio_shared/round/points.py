"""Points: what accepted work is worth, and how amounts are written for people.

The log, the API and the programs count work in whole GFLOP, 10^9 floating-point operations; only
people see points, each of which is `GFLOP_PER_POINT` of these. So a small GPU earns hundreds of
points an hour, and a year of the largest network still fits a JSON number. Amounts that people read
are cut, never rounded up, and are written by one rule (`digits`).
"""

from __future__ import annotations

FLOP_PER_PARAMETER_TOKEN = 6
FLOP_PER_FROZEN_TOKEN = 4
FLOP_PER_GFLOP = 10**9
GFLOP_PER_POINT = 10_000
"""GFLOP in a point, which therefore is 10^13 FLOP."""
BASIS_POINTS = 10_000
_PLACES = 4
"""Decimals of a point that whole GFLOP can express."""
_SIGNIFICANT = 3


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


def _written(parts: tuple[int, str]) -> str:
    whole, decimals = parts
    return f"{whole:,}.{decimals}" if decimals else f"{whole:,}"
