"""A volunteer of four that sends its updates the wrong way round, three times as long."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tequio_shared.network.standing import StandingCause
from tests.support.attack_table import attack
from tests.support.attacked_demo import FinishedDemo, ThreeMemberScript, run_attacked_demo

if TYPE_CHECKING:
    from pathlib import Path


ROUNDS = 6
WITHIN = 4
"""Rounds in which it is found out."""


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> FinishedDemo:
    folder: Path = tmp_path_factory.mktemp("demo") / "network"
    script = ThreeMemberScript(
        folder=folder, rounds=ROUNDS, train_s=2.0, first_windows=40, held_out_tokens=8_192
    )
    return run_attacked_demo(script, "sign_flip_3")


@attack("W1", layer="wit", ends="excluded after two rounds, with log index as evidence")
def test_it_is_quarantined_within_four_rounds(attacked: FinishedDemo) -> None:
    changes = attacked.changes(of_cheat=True)
    assert [change.to for change in changes][-1] == "quarantined"
    assert changes[-1].cause == StandingCause.NOT_DONE
    assert attacked.cheats == sorted(set(attacked.cheats))
    assert 0 < len(attacked.cheats) <= WITHIN
    named = [attacked.entries[index].statement.type for index in changes[-1].evidence]
    assert named == ["round.close"] * len(named)


def test_nobody_else_is_blamed_and_the_run_goes_on(attacked: FinishedDemo) -> None:
    assert attacked.changes(of_cheat=False) == []
    assert attacked.outcome["rounds_committed"] >= ROUNDS - 1
    assert attacked.outcome["heads_agree"]
    assert attacked.outcome["audit_exit"] == 0
    held_out = attacked.outcome["held_out"]
    assert held_out["bits_per_byte_end"] < held_out["bits_per_byte_start"] - 1
