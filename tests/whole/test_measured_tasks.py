"""Members of a real run answer its task, one of them falsely; a score counts what the log says."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING

import httpx
import pytest
import trio

from tequio_client.ledger.api import LedgerApi
from tequio_shared.multiple_choice import MeasuredTask
from tests.support import hostile_worker
from tests.support.attack_table import attack
from tests.support.real_network import running_network, start_with_trainers
from tests.support.small_network import CONFIG, RUN, RunFiles, begin, open_run, plan
from tests.support.small_tasks import small_task
from tests.support.timing_slack import allowed_s

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_shared.api.runs import MeasuredAnswer
    from tests.support.real_network import RealNetwork

WHOLE_S = 1_200.0
TASK_QUESTIONS = 32
TASK = small_task(TASK_QUESTIONS)
LIAR = "citlali"
_MEASURE = '\n[measure]\nevery = 3\nmembers = 3\ntokens = 200\ntasks = ["words.task"]\n'
# All three from the first round, so that each is drawn for the first head.
_PLAN = plan().replace("min_members = 2", "min_members = 3")
FILES = RunFiles(config=CONFIG, plan=_PLAN + _MEASURE)
FIGURES = ("asked", "right", "right_normed", "close", "close_normed")


@attack("P23", layer="coord", ends="the median is the honest members', and the liar is marked")
@pytest.mark.whole
@pytest.mark.trio
async def test_members_answer_a_task_and_a_liar_changes_nothing(tmp_path: Path) -> None:
    with trio.fail_after(WHOLE_S):
        async with (
            running_network(tmp_path, start_with_trainers) as stage,
            LedgerApi(stage.url) as api,
        ):
            await begin(stage, FILES)
            file = tmp_path / "words.task"
            file.write_bytes(TASK.encode())
            await open_run(stage)
            stage.seed()
            honest = [stage.volunteer(name) for name in ("ana", "beto")]
            words = ("worker", *stage.node_options(LIAR), "--device", "cpu")
            liar = stage.start(LIAR, hostile_worker.command("false_answers", *words))
            measured: list[MeasuredAnswer] = []

            async def is_answered() -> bool:
                (run,) = await api.runs()
                page = await api.measures(run.id, after=-1, limit=250)
                measured[:] = [head for head in page.heads if _members(head)]
                return any(_members(head) == 3 for head in measured)

            await stage.until("three members answer", is_answered, allowed_s(180.0))
            head = next(one for one in measured if _members(one) == 3)
            (task,) = head.tasks
            described = MeasuredTask.of(TASK.encode())
            assert (task.file, task.name, task.chance_e6) == (
                described.file,
                "words",
                described.chance_e6,
            )
            by_peer = {row.peer: row.tasks[0] for row in head.measures}
            claimed = by_peer.pop(liar.key)
            assert by_peer.keys() == {one.key for one in honest}
            assert claimed.is_outlier
            assert [getattr(claimed, name) for name in FIGURES] == [TASK_QUESTIONS] * 5
            for one in by_peer.values():
                assert not one.is_outlier
                assert [getattr(one, name) for name in FIGURES] == [
                    getattr(task, name) for name in FIGURES
                ], "on one computer, counts are equal"
            (run,) = await api.runs()
            async with httpx.AsyncClient(base_url=stage.url) as client:
                assert (await client.get(f"/v1/blobs/{task.file}")).content == TASK.encode()
                page = (await client.get(f"/runs/{run.run}", headers={"accept": "text/html"})).text
            assert "Answers of the head of round" in page
            assert f">{TASK.name}</a>" in page
            for actor in (*honest, liar):  # what they go on with would only slow the score
                actor.send(signal.SIGTERM)
            await _check_score(stage, measured[0], file)
            for actor in stage.actors:
                actor.may_end = True


def _members(head: MeasuredAnswer) -> int:
    return sum(bool(row.tasks) for row in head.measures)


async def _check_score(stage: RealNetwork, head: MeasuredAnswer, file: Path) -> None:
    """`tequio score` counts as the members did, for the exported head."""
    to, report = stage.folder / "model", stage.folder / "score.json"
    assert head.round == 0, "a seed has the first head for as long as the run lasts"
    store = ("--store", str(stage.folder / "seed" / "store"))
    export = ("checkpoint", "export", "--run", RUN, "--round", str(head.round), *store)
    await stage.command("export", *export, "--to", str(to), "--ledger", stage.url)
    score = ("score", str(to), "--task", str(file), "--window", "32", "--json", str(report))
    await stage.command("score", *score, "--tokenizer", "bytes")
    (model,) = json.loads(report.read_text())["models"]
    totals = model["tasks"][0]["totals"]
    assert [totals[name] for name in FIGURES] == [getattr(head.tasks[0], name) for name in FIGURES]
