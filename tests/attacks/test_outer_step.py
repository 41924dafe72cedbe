"""Accepted work that would bend the model. Layer: agg, on the path that makes the head."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.support.attack_table import attack
from tests.support.attackers_step import (
    TOKENS,
    Cohort,
    cohort,
    flipped,
    flipped_and_tripled,
    loudest,
)

if TYPE_CHECKING:
    from pathlib import Path

HONEST = 6


def moved(made: Cohort) -> float:
    """The length of the step."""
    return float(np.linalg.norm(made.reference().weights.astype(np.float64)))


@attack("W12", layer="agg", ends="left out by the filter; the trainer's step is the reference's")
@pytest.mark.parametrize("hostile", [flipped, flipped_and_tripled], ids=lambda one: one.__name__)
@pytest.mark.parametrize("seed", [1, 2])
def test_who_points_the_other_way_does_not_move_the_model(
    tmp_path: Path, hostile: object, seed: int
) -> None:
    attacked = cohort(seed, HONEST, hostile)  # type: ignore[arg-type]  # one of the two above
    made, weights = attacked.live(tmp_path)
    assert made.weights_root == attacked.reference().weights_root
    assert len(made.kept) == HONEST
    assert (weights == cohort(seed, HONEST).reference().weights).all()  # as if it were not there
    assert (weights != cohort(seed, HONEST, hostile, z2=0).reference().weights).any()  # type: ignore[arg-type]


@attack("W9", layer="agg", ends="clipped, chunk by chunk, to twice the median scale of the round")
@pytest.mark.parametrize("seed", [3, 4])
def test_the_loudest_member_weighs_no_more_than_the_clip_allows(tmp_path: Path, seed: int) -> None:
    plain, loud = cohort(seed, HONEST, lambda records: records), cohort(seed, HONEST, loudest)
    made, weights = loud.live(tmp_path)
    assert made.weights_root == loud.reference().weights_root
    base = plain.reference().weights.astype(np.float64)
    change = np.linalg.norm(weights.astype(np.float64) - base)
    one_share = np.linalg.norm(base) / np.sqrt(HONEST + 1)
    assert change < 3 * one_share  # the format would have allowed 2^13 times as much
    assert moved(loud) < 2 * moved(plain)


@attack("W10", layer="agg", ends="capped: above the manifest's cap, more tokens weigh nothing")
def test_tokens_above_the_cap_do_not_weigh() -> None:
    most = cohort(5, HONEST, loudest, tokens=1 << 40)
    more = cohort(5, HONEST, loudest, tokens=(1 << 64) - 1)
    assert (most.reference().weights == more.reference().weights).all()
    equal = cohort(5, HONEST, loudest, tokens=TOKENS)
    assert (most.reference().weights != equal.reference().weights).any()
