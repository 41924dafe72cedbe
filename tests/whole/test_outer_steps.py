"""Each outer step but the usual one: a real swarm, a volunteer that joins late, and an audit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import trio

from tequio_client.demo.script import ALGORITHMS, to_toml
from tequio_client.ledger.api import LedgerApi
from tequio_shared.statements.runs import WorkCommit
from tests.support.history import LogHistory
from tests.support.real_network import running_network
from tests.support.small_network import CONFIG, RunFiles, found, plan

if TYPE_CHECKING:
    from pathlib import Path

WHOLE_S = 600.0
STEPS = {"distro": 1}
"""Inner steps where the outer step takes another number of them than the plan's."""
MEASURE = "\n[measure]\nevery = 2\nmembers = 2\ntokens = 512\n"


@pytest.mark.whole
@pytest.mark.trio
@pytest.mark.parametrize("algorithm", sorted(ALGORITHMS.keys() - {"sparseloco"}))
async def test_a_late_volunteer_computes_the_same_heads(tmp_path: Path, algorithm: str) -> None:
    with trio.fail_after(WHOLE_S):
        async with running_network(tmp_path) as stage, LedgerApi(stage.url) as api:
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
