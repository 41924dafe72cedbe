"""A volunteer of four that sends its updates the wrong way round, three times as long."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tequio_client.demo.script import ARCHITECTURE
from tequio_shared.network.standing import StandingCause
from tests.support.attack_table import attack
from tests.support.attacked_demo import CHEAT, FewerMembersScript, FinishedDemo, run_attacked_demo

if TYPE_CHECKING:
    from pathlib import Path


ROUNDS = 20
WITHIN = 19
"""Rounds in which it is found out: each of its contributions is audited every second time."""
SHAPE = {"hidden_size": 64, "intermediate_size": 256, "num_hidden_layers": 2}
"""Of a model that trains in a moment."""


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> FinishedDemo:
    folder: Path = tmp_path_factory.mktemp("demo") / "network"
    script = FewerMembersScript(
        folder=folder,
        rounds=ROUNDS,
        train_s=2.0,
        inner_steps=5,
        first_windows=20,
        most_windows=20,
        held_out_tokens=8_192,
        config=ARCHITECTURE | SHAPE,
    )
    return run_attacked_demo(script, {CHEAT: "sign_flip_3"})


@attack("W1", layer="wit", ends="excluded by two audits, with log index as evidence; no points")
def test_its_auditors_convict_it(attacked: FinishedDemo) -> None:
    cheat = attacked.keys[CHEAT]
    changes = attacked.changes(of_cheats=True)
    assert changes[-1].to == "quarantined"
    assert changes[-1].cause == StandingCause.NOT_DONE
    committed = attacked.committed(cheat)
    assert committed == sorted(set(committed))
    assert 0 < len(committed) <= WITHIN
    named = [attacked.entries[index].statement.type for index in changes[-1].evidence]
    assert named.count("audit.report") >= 2
    assert attacked.points(cheat) == 0


def test_nobody_else_is_blamed_and_the_run_goes_on(attacked: FinishedDemo) -> None:
    assert {change.to for change in attacked.changes(of_cheats=False)} <= {"active"}
    assert attacked.outcome["rounds_committed"] >= ROUNDS - 1
    assert attacked.outcome["heads_agree"]
    assert attacked.outcome["audit_exit"] == 0
    held_out = attacked.outcome["held_out"]
    assert held_out["bits_per_byte_end"] < held_out["bits_per_byte_start"] - 1
