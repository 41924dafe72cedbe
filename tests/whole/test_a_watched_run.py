"""A run of real programs gets worse: members measure it, and the watch pauses it and goes back.

Its weight decay grows from round to round, and the outer step goes four times too far.
"""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest
import trio

from tequio_client.ledger.api import LedgerApi
from tequio_client.organiser.watch import paused_for
from tequio_client.platform.programs import tequio
from tequio_shared.network.verdicts import HeadVerdict
from tequio_shared.statements.runs import (
    HeadMeasure,
    HeadPromote,
    RunNotice,
    RunPause,
    RunRollback,
)
from tests.support.history import LogHistory
from tests.support.real_network import running_network, start_with_trainers
from tests.support.small_network import CONFIG, RUN, RunFiles, found, plan
from tests.support.timing_slack import allowed_s

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.real_network import RealNetwork

WHOLE_S = 420.0
_MEASURE = "\n[measure]\nevery = 1\nmembers = 3\ntokens = 400\nmargin = 100\n"
# The whole update of every member, four times as far as it points, with a weight decay that grows
# from round to round: at first the model learns, and then its weights change their signs.
_INNER = "lr = 0.1\nweight_decay = 5.0\nwarmup = 0.05"
_OUTER = '\n[algorithm]\nname = "diloco"\nk = 4096\nbits = 8\nouter_lr = 4.0\n'
_PLAN = plan().replace("\nlr = 0.0003", f"\n{_INNER}").replace("adam_lr = 0.0003", "adam_lr = 0.1")
BROKEN = RunFiles(config=CONFIG, plan=_PLAN + _OUTER + _MEASURE)


@pytest.mark.whole
@pytest.mark.trio
async def test_a_run_that_gets_worse_is_paused_and_goes_back(tmp_path: Path) -> None:
    with trio.fail_after(WHOLE_S):
        async with (
            running_network(tmp_path, start_with_trainers) as stage,
            LedgerApi(stage.url) as api,
        ):
            await found(stage, BROKEN)
            history = LogHistory(api)
            watch = tequio("run", "watch", RUN, *_organise(stage))
            first = stage.start("watch", watch)
            stage.seed()
            volunteers = [stage.volunteer(name) for name in ("ana", "beto", "citlali")]

            async def is_pausing() -> bool:
                await history.read()
                return bool(history.all_of(RunPause))

            await stage.until("the watch pauses the run", is_pausing, allowed_s(180.0))
            first.may_end = True
            first.send(signal.SIGKILL)
            await first.wait_ended(allowed_s(5.0))

            async def is_paused() -> bool:
                return await history.state() == "paused"

            await stage.until("the run is paused", is_paused)
            worse = await _check_reason(stage, api, history)
            again = stage.start("watch-again", [*watch, "--roll-back"])

            async def went_back() -> bool:
                await history.read()
                return bool(history.all_of(RunRollback))

            await stage.until("another watch goes back", went_back)
            again.may_end = True
            again.send(signal.SIGTERM)
            await again.wait_ended(allowed_s(5.0))
            await _check_rollback(stage, api, history, worse)
            for one in volunteers:
                one.may_end = True
            await stage.command("finish", "run", "finish", RUN, *_organise(stage))
            for one in volunteers:
                assert await one.wait_ended(60.0) == 0
                assert list(one.events("this worker ends with its run"))
            said = await stage.command("audit", "audit", "--ledger", stage.url)
            assert "Everything holds" in said


def _organise(stage: RealNetwork) -> tuple[str, ...]:
    return "--ledger", stage.url, "--dir", str(stage.folder / "organiser")


def _store(stage: RealNetwork, name: str) -> tuple[str, str]:
    return "--store", str(stage.folder / name / "store")


async def _check_reason(stage: RealNetwork, api: LedgerApi, history: LogHistory) -> int:
    """Volunteers read the round and both figures; returns the round that is worse."""
    await history.read()
    ((_, said),) = history.all_of(RunNotice)
    (run,) = await api.runs()
    worse = paused_for(run)
    assert worse is not None
    measured = [one for one, _ in history.all_of(HeadMeasure) if one.round == worse]
    assert len({one.author for one in measured}) >= 2, "nobody's word alone"

    async def is_told() -> bool:
        folder = str(stage.folder / "ana")
        return said.text in await stage.command("status-ana", "status", "--dir", folder)

    await stage.until("a volunteer is told", is_told)
    return worse


async def _check_rollback(
    stage: RealNetwork, api: LedgerApi, history: LogHistory, worse: int
) -> None:
    """The run is at the last fine head; the API and the watch say what is worse."""
    ((_, body),) = history.all_of(RunRollback)
    heads = {one.round: body.head for one, body in history.all_of(HeadPromote)}
    good = body.head_round
    assert good < worse
    assert body.head == heads[good]
    assert len(history.all_of(RunPause)) == 1
    (run,) = await api.runs()
    assert (run.state, run.head_round) == ("paused", good)
    page = await api.measures(run.id, after=-1, limit=250)
    verdicts = {one.round: (one.verdict, one.best) for one in page.heads}
    best = verdicts[worse][1]
    assert verdicts[worse][0] == HeadVerdict.WORSE
    assert verdicts[good][0] == HeadVerdict.FINE
    assert best is not None
    assert best <= good
    ((_, said),) = history.all_of(RunNotice)
    assert f"of held-out text, round {best} " in said.text
    once = ("run", "watch", RUN, "--once", "--only-report", "--ledger", stage.url)
    report = await stage.command("once", *once)
    assert f"round {good}: " in report, "what was given up counts no longer"
    stores = [word for name in ("ana", "beto", "seed") for word in _store(stage, name)]
    to = ("--to", str(stage.folder / "fine"), "--ledger", stage.url)
    export = ("checkpoint", "export", "--run", RUN, "--measured", *to, *stores)

    async def is_exported() -> bool:  # the seed fetches the head that the run went back to
        try:
            return f"head of round {good}" in await stage.command("export", *export)
        except AssertionError:
            return False

    await stage.until("a store has the head that the run went back to", is_exported)
