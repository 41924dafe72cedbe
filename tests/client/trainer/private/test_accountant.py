"""The record of what documents have spent, and the epsilon that Opacus computes from it."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from typing import TYPE_CHECKING

import msgspec
import pytest
from opacus.accountants import PRVAccountant, RDPAccountant

from tequio_client.ipc.private import PrivacyRules
from tequio_client.trainer.private import accountant
from tequio_client.trainer.private.accountant import (
    ORDERS,
    RECORD_NAME,
    BudgetSpentError,
    SpentRecord,
    SpentSteps,
)
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from pathlib import Path

DELTA = 1e-5
ROUNDS = ((1.0, 0.05, 30), (1.0, 0.05, 30), (0.7, 0.05, 5), (0.7, 0.1 / 3, 12), (1.0, 0.05, 1))
"""Noise, rate and steps of rounds: plans and folders change."""


def _rules(noise: float = 1.0, most: float = 0.0) -> PrivacyRules:
    return PrivacyRules(
        clip_e6=10**6,
        noise_e6=round(noise * 10**6),
        delta_e12=10**7,
        epsilon_e6=round(most * 10**6),
    )


def _opacus(rounds: tuple[tuple[float, float, int], ...]) -> float:
    """Epsilon by Opacus's own way: one call of `step` for each step that is taken."""
    theirs = RDPAccountant()
    for noise, rate, steps in rounds:
        for _ in range(steps):
            theirs.step(noise_multiplier=noise, sample_rate=rate)
    return float(theirs.get_epsilon(DELTA, alphas=list(ORDERS)))


def test_epsilon_is_that_of_opacus_after_each_round_and_restart(tmp_path: Path) -> None:
    for done, (noise, rate, steps) in enumerate(ROUNDS, 1):
        spent = accountant.begin_round(tmp_path, _rules(noise), sample_rate=rate, steps=steps)
        assert spent == _opacus(ROUNDS[:done])
        record = accountant.read_record(tmp_path)
        assert (record.rounds, record.epsilon_by(_rules(noise))) == (done, spent)
        other = msgspec.structs.replace(_rules(noise), delta_e12=10**6)
        assert record.epsilon_by(other) is None
        assert accountant.epsilon(record.entries, DELTA) == spent


def test_epsilon_bounds_the_tighter_but_slower_one() -> None:
    for noise, rate, steps in ((1.0, 0.05, 100), (2.0, 0.01, 100)):
        theirs = PRVAccountant()
        theirs.load_state_dict({"history": [(noise, rate, steps)], "mechanism": "prv"})
        ours = accountant.epsilon([SpentSteps(noise, rate, steps)], DELTA)
        assert theirs.get_epsilon(DELTA) <= ours


def test_nothing_spent_is_epsilon_0_and_little_noise_is_no_warning() -> None:
    assert accountant.epsilon([], DELTA) == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert accountant.epsilon([SpentSteps(0.1, 0.9, 1_000)], DELTA) > 10_000
        assert accountant.epsilon([SpentSteps(100.0, 0.001, 1)], DELTA) < 0.1


def test_a_process_that_is_killed_has_counted_its_round(tmp_path: Path) -> None:
    script = (
        "import os, sys; from pathlib import Path;"
        "from tequio_client.ipc.private import PrivacyRules;"
        "from tequio_client.trainer.private import accountant;"
        "rules = PrivacyRules(clip_e6=10**6, noise_e6=10**6, delta_e12=10**7);"
        "accountant.begin_round(Path(sys.argv[1]), rules, sample_rate=0.05, steps=30);"
        "os.kill(os.getpid(), 9)"
    )
    accountant.begin_round(tmp_path, _rules(), sample_rate=0.05, steps=30)
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", script, str(tmp_path)], check=False, env=os.environ, timeout=300
        )
        assert done.returncode == -9
    again = accountant.begin_round(tmp_path, _rules(), sample_rate=0.05, steps=30)
    assert again == _opacus(((1.0, 0.05, 120),))


def test_a_write_that_fails_leaves_the_old_record_and_begins_no_round(tmp_path: Path) -> None:
    accountant.begin_round(tmp_path, _rules(), sample_rate=0.05, steps=30)
    before = (tmp_path / RECORD_NAME).read_bytes()
    (tmp_path / f"{RECORD_NAME}.new").mkdir()  # where the new one would be written
    with pytest.raises(OSError, match=RECORD_NAME):
        accountant.begin_round(tmp_path, _rules(), sample_rate=0.05, steps=30)
    assert (tmp_path / RECORD_NAME).read_bytes() == before


def test_a_round_beyond_the_limit_is_refused_and_not_recorded(tmp_path: Path) -> None:
    rules = _rules(most=3.0)
    spent = [
        accountant.begin_round(tmp_path, rules, sample_rate=0.05, steps=steps)
        for steps in (30, 5, 5)
    ]
    assert 2 < spent[0] < spent[1] < spent[2] <= 3
    for _ in range(2):
        with pytest.raises(
            BudgetSpentError, match=r"epsilon 2\.\d\d.* the group's limit of 3 .*/spent.json into"
        ):
            accountant.begin_round(tmp_path, rules, sample_rate=0.05, steps=30)
    assert accountant.read_record(tmp_path).rounds == len(spent)


def test_a_smaller_round_may_still_fit(tmp_path: Path) -> None:
    accountant.begin_round(tmp_path, _rules(most=2.8), sample_rate=0.05, steps=30)
    with pytest.raises(BudgetSpentError):
        accountant.begin_round(tmp_path, _rules(most=2.8), sample_rate=0.05, steps=3_000)
    assert accountant.begin_round(tmp_path, _rules(most=2.8), sample_rate=0.05, steps=1) <= 2.8


@pytest.mark.parametrize(
    "content",
    [b"", b"{}x", b'{"format":2}', b'{"entries":[[1,0.1,3]]}', b'{"rounds":-1}'],
)
def test_a_damaged_record_is_not_taken_for_an_empty_one(tmp_path: Path, content: bytes) -> None:
    (tmp_path / RECORD_NAME).write_bytes(content)
    with pytest.raises(UserFacingError, match="restore it from"):
        accountant.begin_round(tmp_path, _rules(), sample_rate=0.05, steps=30)
    assert (tmp_path / RECORD_NAME).read_bytes() == content


def test_a_record_merges_steps_that_are_alike_as_opacus_does() -> None:
    record = SpentRecord()
    theirs = RDPAccountant()
    for noise, rate, steps in ROUNDS:
        record = record.with_round(SpentSteps(noise, rate, steps))
        for _ in range(steps):
            theirs.step(noise_multiplier=noise, sample_rate=rate)
    ours = [(one.noise_multiplier, one.sample_rate, one.steps) for one in record.entries]
    assert ours == theirs.history
