"""The simulation of a network, beside the same network of real programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.simulated_demo import compare

if TYPE_CHECKING:
    from pathlib import Path

TOLERANCE = 0.1
CHANCE = "bytes sent per peer"
"""Not compared: of three that join at once, the seed sends one everything, or the others share."""


@pytest.mark.whole
def test_a_simulation_has_the_figures_of_a_real_demo(tmp_path: Path) -> None:
    figures = compare(tmp_path / "demo", peers=3, rounds=4, train_s=60.0, has_lots=False)
    assert len(figures) == 7
    for one in figures:
        assert one.difference <= TOLERANCE or one.name == CHANCE, one
