"""The simulation of a network, beside the same network of real programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.simulated_demo import compare

if TYPE_CHECKING:
    from pathlib import Path

TOLERANCE = 0.1
SENT_TOLERANCE = 0.2
"""How much of the first downloads a seed sends differs from demo to demo."""


@pytest.mark.whole
def test_a_simulation_has_the_figures_of_a_real_demo(tmp_path: Path) -> None:
    for one in compare(tmp_path / "demo", peers=3, rounds=4, train_s=15.0):
        tolerance = SENT_TOLERANCE if one.name == "bytes sent per peer" else TOLERANCE
        assert one.difference <= tolerance, one
