"""Compute points: verified work as integers.

Published formula, in micro-points of 1e9 FLOP (a point is 1e15 FLOP):
trainer = accepted tokens * (6 * parameters + 4 * frozen) // 1e9; witnesses share
`witness_share_bp` / 10000 of the round's trainer total, each elected witness whose proof counted
getting an equal part, rounded down.

A trained parameter takes 6 FLOP for each token (Kaplan et al. 2020, section 2.1): 2 forward, 2 for
the gradient of what goes through, 2 for its own. A frozen one, of a base beside which adapters are
trained, has no gradient of its own: 4.
"""

from __future__ import annotations

FLOP_PER_PARAMETER_TOKEN = 6
FLOP_PER_FROZEN_TOKEN = 4
FLOP_PER_MICROPOINT = 10**9
BASIS_POINTS = 10_000


def flop_per_token(parameters: int, frozen: int = 0) -> int:
    """What a token takes of a model with so many trained parameters, and so many frozen ones."""
    return FLOP_PER_PARAMETER_TOKEN * parameters + FLOP_PER_FROZEN_TOKEN * frozen


def trainer_micropoints(tokens: int, parameters: int, frozen: int = 0) -> int:
    """Micro-points for accepted tokens on a model of that size."""
    return tokens * flop_per_token(parameters, frozen) // FLOP_PER_MICROPOINT


def witness_micropoints(trainer_total: int, share_bp: int, elected: int) -> int:
    """Micro-points for one counted proof of a round; silence leaves its part unpaid."""
    return trainer_total * share_bp // BASIS_POINTS // max(elected, 1)
