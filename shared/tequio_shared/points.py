"""Compute points: verified work as integers.

Published formula, in micro-points of 1e9 FLOP (a point is 1e15 FLOP):
trainer = accepted tokens * 6 * parameters // 1e9 (6 FLOP per parameter and token: Kaplan et al.
2020, section 2.1); witnesses share `witness_share_bp` / 10000 of the round's trainer total, each
elected witness whose proof counted getting an equal part, rounded down.
"""

from __future__ import annotations

FLOP_PER_PARAMETER_TOKEN = 6
FLOP_PER_MICROPOINT = 10**9
BASIS_POINTS = 10_000


def trainer_micropoints(tokens: int, parameters: int) -> int:
    """Micro-points for accepted tokens on a model of that size."""
    return tokens * FLOP_PER_PARAMETER_TOKEN * parameters // FLOP_PER_MICROPOINT


def witness_micropoints(trainer_total: int, share_bp: int, elected: int) -> int:
    """Micro-points for one counted proof of a round; silence leaves its part unpaid."""
    return trainer_total * share_bp // BASIS_POINTS // max(elected, 1)
