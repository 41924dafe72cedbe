"""Each outer step but the usual one: a real swarm, a volunteer that joins late, and an audit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import trio

from tequio_client.demo.main import run_demo
from tequio_client.demo.script import ALGORITHMS, DemoScript, to_toml
from tequio_client.ledger.api import LedgerApi
from tequio_shared.statements.runs import WorkCommit
from tests.support.history import LogHistory
from tests.support.real_network import running_network, start_with_trainers
from tests.support.small_network import CONFIG, RunFiles, found, plan

if TYPE_CHECKING:
    from pathlib import Path

OTHERS = sorted(ALGORITHMS.keys() - {"sparseloco"})
WHOLE_S = 600.0
STEPS = {"distro": 1}
"""Inner steps where the outer step takes another number of them than the plan's."""
MEASURE = "\n[measure]\nevery = 2\nmembers = 2\ntokens = 512\n"


@pytest.mark.whole
@pytest.mark.trio
@pytest.mark.parametrize("algorithm", OTHERS)
async def test_a_late_volunteer_computes_the_same_heads(tmp_path: Path, algorithm: str) -> None:
    with trio.fail_after(WHOLE_S):
        async with (
            running_network(tmp_path, start_with_trainers) as stage,
            LedgerApi(stage.url) as api,
        ):
            await found(stage, RunFiles(config=CONFIG, plan=_plan(algorithm)))
            stage.seed("--heads-every", "1")
            ana = stage.volunteer("ana")
            stage.volunteer("beto")
            history = LogHistory(api)

            async def bits() -> list[int]:
                (run,) = await api.runs()
                return [
                    head.millibits for head in (await api.measures(run.id, after=-1, limit=9)).heads
                ]

            async def is_measured() -> bool:
                return len(await bits()) >= 2

            await stage.until("two heads were measured", is_measured, WHOLE_S)
            late = stage.volunteer("late")

            async def has_joined() -> bool:
                await history.read()
                return late.program.status is not None and bool(
                    history.statements_by(late.key, WorkCommit)
                )

            await stage.until("the late volunteer contributes", has_joined, WHOLE_S)
            own = {one["round"]: one["head"] for one in late.events("head computed")}
            others = {one["round"]: one["head"] for one in ana.events("head computed")}
            shared = own.keys() & others.keys()
            assert shared
            assert [own[number] for number in shared] == [others[number] for number in shared]
            first, *_, last = await bits()
            assert last < first, "the model learns"
            store = str(tmp_path / "seed" / "store")
            said = await stage.command("audit", "audit", "--ledger", stage.url, "--store", store)
            assert "Everything holds" in said, "the audit computes every head again"
            for actor in stage.actors:
                actor.may_end = True


def _plan(algorithm: str) -> str:
    tables = {"algorithm": ALGORITHMS[algorithm]["algorithm"]}
    text = plan(train_s=3.0).replace("steps = 5", f"steps = {STEPS.get(algorithm, 5)}")
    return f"{text}{to_toml({}, tables)}{MEASURE}"


@pytest.mark.slow  # and a slow machine has no time in six rounds to start one more trainer
@pytest.mark.whole
@pytest.mark.parametrize("algorithm", OTHERS)
def test_a_demo_with_a_late_volunteer_ends_well(tmp_path: Path, algorithm: str) -> None:
    peers, rounds = 2, 6
    script = DemoScript(
        folder=tmp_path / "network",
        rounds=rounds,
        peers=peers,
        train_s=3.0,
        first_windows=40,
        held_out_tokens=8_192,
        measured_every=2,
        algorithm=algorithm,
        late_after=1,
    )
    outcome: dict[str, Any] = run_demo(script)
    assert outcome["audit_exit"] == 0, "the audit computes every head again"
    assert outcome["rounds_committed"] == rounds
    assert outcome["heads_agree"]
    held = {peer["head"] for peer in outcome["peers"]}
    assert held == {outcome["heads"][-1]}
    assert len(outcome["peers"]) == peers + 1
    measured = outcome["held_out"]
    assert measured["bits_per_byte_end"] < measured["bits_per_byte_start"]
