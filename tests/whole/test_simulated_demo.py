"""The simulation of a network, beside the same network of real programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.simulated_demo import compare

if TYPE_CHECKING:
    from pathlib import Path

TOLERANCE = 0.1
SHARES_TOLERANCE = 0.3
"""Of what follows from shares of work: a share is a twelfth of them here, and a lot decides whether
its member trains or audits. With sixteen volunteers and more rounds it is within `TOLERANCE`
(`bench/simulated_demo.py`)."""
OF_SHARES = ("tokens", "gflop")
CHANCE = "bytes sent per peer"
"""Not compared: of three that join at once, the seed sends one everything, or the others share."""


@pytest.mark.whole
@pytest.mark.slow  # what a real network does by chance, it may do once more than the simulation
def test_a_simulation_has_the_figures_of_a_real_demo(tmp_path: Path) -> None:
    figures = compare(tmp_path / "demo", peers=3, rounds=4, train_s=15.0)
    assert len(figures) == 7
    for one in figures:
        most = SHARES_TOLERANCE if one.name in OF_SHARES else TOLERANCE
        assert one.difference <= most or one.name == CHANCE, one
