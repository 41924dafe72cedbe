"""The plans of `bench/learning.py`: each can be read, and becomes the rules of a run."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

from tequio_client.demo.script import to_toml
from tequio_client.organiser import plan as plans

BENCH = Path(__file__).parents[3] / "bench"
MULOCO = "muloco, 32 steps, momentum 0.6"


@pytest.fixture
def learning(monkeypatch: pytest.MonkeyPatch) -> Any:  # noqa: ANN401 - a script's module
    monkeypatch.syspath_prepend(str(BENCH))
    return importlib.import_module("learning")


def test_every_plan_of_the_laboratory_becomes_rules_of_a_run(
    learning: Any,  # noqa: ANN401 - a script's module
    tmp_path: Path,
) -> None:
    made = {}
    for size, methods in learning.METHODS.items():
        for name in methods:
            tables = learning._plan(size, name, 1)  # noqa: SLF001 - what it would train
            path = tmp_path / "plan.toml"
            path.write_text(to_toml({"name": "laboratory"}, tables))
            plan = plans.read_plan(path)
            inner = plans.manifest_inner(plan.inner, plan.rounds.most)
            made[size, name] = inner, plans.manifest_algorithm(plan.algorithm, plan.inner)
            assert inner.steps * plan.rounds.most == learning.SIZES[size].steps, name
    inner, algorithm = made["1M", MULOCO]
    assert (inner.optimiser, algorithm.name) == ("muon", "diloco")
    assert algorithm.mu_q == round(0.6 * (1 << 15))


def test_an_audit_fetches_the_opened_state_only_where_there_is_one(
    learning: Any,  # noqa: ANN401 - a script's module
) -> None:
    result = {"payload_bytes": 40 * 1_000}
    dense = learning.audit_bytes("1M", "diloco, 20 steps, momentum 0.6", result)
    sparse = learning.audit_bytes("1M", "sparseloco, 20 steps, k 512", result)
    assert dense == 1_000 + 4 * 20 * 128, "the payload, and a byte for each id of its windows"
    assert sparse - dense > 2 * 64 * 8_192, "64 chunks before and after, with their paths"
    assert sparse - dense < 2 * 64 * (8_192 + 32 * 10)
