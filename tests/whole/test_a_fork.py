"""A run of real programs starts from another run's head: fetched, proven, trained, audited."""

from __future__ import annotations

import re
import signal
from typing import TYPE_CHECKING

import httpx
import pytest
import trio

from tequio_client.ledger.api import LedgerApi
from tequio_client.organiser import plan as plans
from tequio_client.platform.programs import tequio
from tequio_shared.ids import digest_from_text
from tequio_shared.round.manifest import Manifest
from tests.support.real_network import running_network, start_with_trainers
from tests.support.small_network import RUN, found, plan
from tests.support.timing_slack import allowed_s

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_shared.api.runs import RunAnswer
    from tests.support.real_network import RealNetwork

WHOLE_S = 360.0
FORK = "evening"


async def run_named(api: LedgerApi, name: str) -> RunAnswer:
    return next(one for one in await api.runs() if one.name == name)


async def until_closed(stage: RealNetwork, api: LedgerApi, name: str, count: int) -> RunAnswer:
    async def holds() -> bool:
        return (await run_named(api, name)).closed >= count

    await stage.until(f"{count} rounds of {name} closed", holds)
    return await run_named(api, name)


@pytest.mark.whole
@pytest.mark.trio
async def test_a_run_starts_from_the_last_head_of_another(tmp_path: Path) -> None:
    with trio.fail_after(WHOLE_S):
        async with (
            running_network(tmp_path, start_with_trainers) as stage,
            LedgerApi(stage.url) as api,
        ):
            await found(stage)
            seed = stage.seed()
            first = [stage.volunteer(name, "--run", RUN) for name in ("ana", "beto")]
            await until_closed(stage, api, RUN, 2)
            where = ("--ledger", stage.url)
            organise = (*where, "--dir", str(tmp_path / "organiser"))
            for one in first:
                one.may_end = True
            await stage.command("finish", "run", "finish", RUN, *organise)

            async def is_finished() -> bool:
                return (await run_named(api, RUN)).state == "finished"

            await stage.until("the run has ended", is_finished)
            parent = await run_named(api, RUN)
            assert parent.head_round
            await _plan_and_open(stage, organise, parent)
            seed.send(signal.SIGTERM)
            assert await seed.wait_ended(allowed_s(10.0)) == 0
            # None of its members was in the first run.
            other = stage.start("seed-2", tequio("seed", *stage.node_options("seed-2")))
            second = [stage.volunteer(name, "--run", FORK) for name in ("citlali", "donaji")]
            fork = await until_closed(stage, api, FORK, 2)
            await _check_log(api, parent, fork)
            _check_pages(stage, parent, fork)
            said = await stage.command("show", "run", "show", FORK, *where)
            assert f"round {parent.head_round} of run {parent.run}" in said
            for program in (*second, other):
                program.may_end = True
            await stage.command("finish-fork", "run", "finish", FORK, *organise)
            for program in second:
                assert await program.wait_ended(60.0) == 0
            names = ("seed", "ana", "seed-2", "citlali", "donaji")
            stores = [w for name in names for w in ("--store", str(tmp_path / name / "store"))]
            said = await stage.command("audit", "audit", *where, *stores)
            assert "Everything holds" in said
            assert "first heads from other runs" in said


async def _plan_and_open(stage: RealNetwork, organise: tuple[str, ...], parent: RunAnswer) -> None:
    """Plan from the head, then open a plan with short rounds; the head comes from the seed."""
    folder, ledger = stage.folder, ("--ledger", stage.url)
    data = ("--data", str(folder / "data"))
    new = ("run", "new", str(folder / "slow.toml"), *data, "--from-run", RUN, *ledger)
    await stage.command("plan-99", *new, "--round", "99", exit_status=1)
    refused = (folder / "logs" / "plan-99.log").read_text()
    assert f"the last one is that of round {parent.head_round}" in refused
    await stage.command("plan", *new)
    model = plans.read_plan(folder / "slow.toml").model
    assert model.parent == plans.ParentPlan(
        ledger=stage.url, run=parent.run, round=parent.head_round or 0
    )
    origin = (
        f'parent.ledger = "{stage.url}"\nparent.run = "{RUN}"\nparent.round = {parent.head_round}'
    )
    text = plan(rounds=50).replace('source = "config.json"', origin).replace(RUN, FORK, 1)
    (folder / "fork.toml").write_text(text)
    await stage.command("check", "run", "check", str(folder / "fork.toml"))
    where = (*organise, "--seed-dir", str(folder / "seed-2"))
    await stage.command("open-fork", "run", "open", str(folder / "fork.toml"), *where)
    assert "fetching from seeds" in (folder / "logs" / "open-fork.log").read_text()


async def _check_log(api: LedgerApi, parent: RunAnswer, fork: RunAnswer) -> None:
    raw = await api.get_blob(digest_from_text(fork.run))
    assert raw is not None
    manifest = Manifest.parse(raw)
    assert manifest.continued is not None
    assert (manifest.continued.run, manifest.continued.head) == (parent.run, parent.head)
    assert manifest.continued.round == parent.head_round
    assert manifest.model.weights_root == parent.weights_root
    assert fork.weights_root != parent.weights_root


def _check_pages(stage: RealNetwork, parent: RunAnswer, fork: RunAnswer) -> None:
    pages = [httpx.get(f"{stage.url}/runs/{one.run}").text for one in (parent, fork)]
    continued, continues = (re.sub(r"\s+", " ", page) for page in pages)
    assert f'Continued by <a href="/runs/{fork.run}">{FORK}</a> from round' in continued
    assert f'Continues <a href="/runs/{parent.run}">{RUN}</a> from' in continues
