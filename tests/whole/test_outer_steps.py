"""Each outer step but the usual one: a real swarm, a volunteer that joins late, and an audit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tequio_client.demo.main import run_demo
from tequio_client.demo.script import ALGORITHMS, DemoScript

if TYPE_CHECKING:
    from pathlib import Path

PEERS, ROUNDS = 2, 4


@pytest.mark.whole
@pytest.mark.parametrize("algorithm", sorted(ALGORITHMS.keys() - {"sparseloco"}))
def test_a_late_volunteer_computes_the_same_heads(tmp_path: Path, algorithm: str) -> None:
    script = DemoScript(
        folder=tmp_path / "network",
        rounds=ROUNDS,
        peers=PEERS,
        train_s=3.0,
        first_windows=40,
        held_out_tokens=8_192,
        measured_every=2,
        algorithm=algorithm,
        late_after=1,
    )
    outcome: dict[str, Any] = run_demo(script)
    assert outcome["audit_exit"] == 0, "the audit computes every head again"
    assert outcome["rounds_committed"] == ROUNDS
    assert outcome["heads_agree"]
    held = {peer["head"] for peer in outcome["peers"]}
    assert held == {outcome["heads"][-1]}
    assert len(outcome["peers"]) == PEERS + 1
    measured = outcome["held_out"]
    assert measured["bits_per_byte_end"] < measured["bits_per_byte_start"]
