"""A cell of several ranks beside plain volunteers: its work is accepted, audited and clear.

A rank of it is killed meanwhile (`make kills`: at each moment of a round); the worker stays, and
each loss costs the round it happens in, and none that begins with the next cell.
"""

from __future__ import annotations

import itertools
import os
import signal
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import psutil
import pytest
import trio

from tequio_client.ledger.api import LedgerApi
from tequio_client.platform.programs import tequio
from tequio_client.worker.points.points_db import FILE
from tequio_shared.head.contribution import HEADER_BYTES, ContributionHeader, contribution_id
from tequio_shared.ids import from_text, key_from_text, to_text
from tequio_shared.round.audits import AuditVerdict, judge
from tequio_shared.statements.runs import AuditReport, WorkCommit
from tests.support.history import LogHistory
from tests.support.real_network import TRAINER, is_registered, running_network
from tests.support.small_network import CONFIG, RunFiles, found, plan

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_shared.statements.runs import AuditFigures
    from tests.support.real_network import RealNetwork, RunningProgram

PATIENCE_S = 240.0
_WIDTH = 9_216
MOMENTS = ("training", "encoding", "resting")
"""Duties of rank 0 while another rank is killed."""
DIVISIONS = ((), ("--shard",), ("--pipeline",), ("--tensor",))
AUDITED = plan().replace("newcomers = 0\nothers = 0", "newcomers = 0.5\nothers = 0.5")
ROWS = [
    # The trainers have their own tests, with each division.
    pytest.param(2, (), MOMENTS[:1], id="2 ranks, one killed once"),
    *(
        pytest.param(
            ranks,
            division,
            MOMENTS,
            id=f"{ranks} ranks, {'whole' if not division else division[0]}",
            marks=pytest.mark.slow,
        )
        for ranks, division in itertools.product((2, 4), DIVISIONS)
    ),
]


@pytest.mark.whole
@pytest.mark.trio
@pytest.mark.parametrize(("ranks", "division", "moments"), ROWS)
async def test_a_cell_trains_beside_plain_volunteers_and_its_audits_are_clear(
    tmp_path: Path, ranks: int, division: tuple[str, ...], moments: tuple[str, ...]
) -> None:
    with trio.fail_after(500):
        async with running_network(tmp_path) as stage, LedgerApi(stage.url) as api:
            # A layer for each rank, in a model of the same size.
            layers = {"num_hidden_layers": ranks, "intermediate_size": _WIDTH // ranks}
            await found(stage, RunFiles(config=CONFIG | layers, plan=AUDITED))
            stage.seed()
            ana = stage.volunteer("ana")
            stage.volunteer("beto")
            await stage.until(
                "the owner of rank 1 is registered", lambda: is_registered(api, ana), 60.0
            )
            shares = ("--share-points", f"1={ana.key}")
            devices = ("--cell", ",".join(["cpu"] * ranks))
            options = (*stage.node_options("cell"), *devices, *division, *shares)
            cell = stage.start("cell", tequio("worker", *options))
            history = LogHistory(api)

            async def has_work(count: int) -> bool:
                await history.read()
                return cell.program.status is not None and len(_work(history, cell)) >= count

            async def is_audited() -> bool:
                await history.read()
                return bool(_figures(history, cell))

            await stage.until("the cell contributes", lambda: has_work(2), PATIENCE_S)
            done = len(_work(history, cell))
            assert len(_ranks(cell)) == ranks - 1
            for duty in moments:
                await _lose_a_rank(stage, history, cell, duty)
            _check_rounds_and_losses(history, cell, len(moments))
            await stage.until("an auditor repeats its work", is_audited, PATIENCE_S)
            verdicts = {judge(one) for one in _figures(history, cell)}
            assert verdicts == {AuditVerdict.CLEAR}
            assert cell.status.verdict
            accepted = cell.status.rounds_trained
            assert accepted > done
            book = tmp_path / "ana" / FILE
            await stage.until("ana proves her part", lambda: _received(book) > 0, PATIENCE_S)
            assert (await api.peer(key_from_text(ana.key))).received >= _received(book)
            said = await stage.command("audit", "audit", "--ledger", stage.url)
            assert "Everything holds" in said


async def _lose_a_rank(
    stage: RealNetwork, history: LogHistory, cell: RunningProgram, duty: str
) -> None:
    """Kill a rank while rank 0 is at that duty, and wait for two more contributions."""
    await stage.until(f"its duty is {duty}", lambda: cell.status.duty == duty, PATIENCE_S)
    os.kill(_ranks(cell)[-1].pid, signal.SIGKILL)
    await history.read()
    done = len(_work(history, cell))

    async def goes_on() -> bool:
        await history.read()
        return len(_work(history, cell)) >= done + 2

    await stage.until(f"it goes on after {duty}", goes_on, PATIENCE_S)


def _check_rounds_and_losses(history: LogHistory, cell: RunningProgram, losses: int) -> None:
    """Check that each loss of a rank ended one cell, and cost no round that began with the next.

    That is one round at most, unless a new cell takes longer to start than a round.
    """
    lost = [_at(one) for one in cell.events("trainer failed") if one["code"] == "cell"]
    assert len(lost) == losses
    ready = [_at(one) for one in cell.events("trainer ready")]
    outages = [(begun, min(end for end in ready if end > begun)) for begun in lost]
    closed = {one["round"]: _at(one) for one in cell.events("round closed")}
    first, *others = _rounds(history, cell)
    for missed in sorted(set(range(first, others[-1])) - {first, *others}):
        begun, end = closed[missed - 1], closed[missed]
        assert any(begun < back and gone < end for gone, back in outages), (missed, outages, closed)


def _at(event: dict[str, Any]) -> str:
    return str(event["timestamp"])


def _received(book: Path) -> int:
    """Proven GFLOP for the work of other keys."""
    query = "SELECT COALESCE(SUM(received), 0) FROM round WHERE state = 'verified'"
    with closing(sqlite3.connect(book)) as sql:
        ((amount,),) = sql.execute(query).fetchall()
    return int(amount)


def _work(history: LogHistory, cell: RunningProgram) -> list[str]:
    """Ids of the cell's contributions."""
    return [to_text(contribution_id(one)) for one in _headers(history, cell)]


def _rounds(history: LogHistory, cell: RunningProgram) -> list[int]:
    """Rounds with a contribution of the cell."""
    return [ContributionHeader.parse(one).round for one in _headers(history, cell)]


def _headers(history: LogHistory, cell: RunningProgram) -> list[bytes]:
    bodies = (one.body for one in history.statements_by(cell.key, WorkCommit))
    return [from_text(one.header, HEADER_BYTES) for one in bodies if isinstance(one, WorkCommit)]


def _figures(history: LogHistory, cell: RunningProgram) -> list[AuditFigures]:
    """Measures of others that repeated them."""
    mine = set(_work(history, cell))
    reports = [body for _, body in history.all_of(AuditReport) if body.contribution in mine]
    return [one.figures for one in reports if one.figures]


def _ranks(cell: RunningProgram) -> list[psutil.Process]:
    """Processes of the other ranks."""
    below = psutil.Process(cell.program.pid).children(recursive=True)
    return [one for one in below if {TRAINER, "rank"} <= set(one.cmdline())]
