"""Points of a real swarm: proven by each worker itself, and the ledger's to the GFLOP."""

from __future__ import annotations

import signal
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import httpx
import pytest
import trio

from tequio_client.demo import programs
from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import LedgerRefusedError
from tequio_client.worker.points.points_db import FILE
from tequio_shared.ids import PeerKey, from_text
from tests.support.dashboards import values
from tests.support.real_network import running_network, start_with_trainers
from tests.support.small_network import found

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from tests.support.real_network import RunningProgram

PATIENCE_S = 150.0
"""Two looks at the ledger's list, and some rounds."""


@pytest.mark.whole
@pytest.mark.trio
async def test_a_worker_proves_its_points_and_again_after_it_lost_its_book(tmp_path: Path) -> None:
    with trio.fail_after(500):
        async with (
            running_network(tmp_path, start_with_trainers) as stage,
            LedgerApi(stage.url) as api,
        ):
            await found(stage)
            ports = {name: str(programs.free_port()) for name in ("seed", "ana")}
            stage.seed("--metrics-port", ports["seed"])
            ana = stage.volunteer("ana", "--metrics-port", ports["ana"])
            bo = stage.volunteer("bo")
            path = tmp_path / "ana" / FILE
            await stage.until("two rounds proven", lambda: len(proven(path)) >= 2, PATIENCE_S)
            assert {row["state"] for row in rows(path)} <= {"pending", "verified", "rejected"}
            for row in proven(path):
                assert row["entry"] < row["size"] <= (await api.checkpoint()).size
                assert row["trained"] > 0
                assert row["tokens"] > 0
                assert row["device"] == "cpu"
                assert row["loss"] > 0
            await stage.until("ana has what the ledger says", agreed(api, ana, path), PATIENCE_S)
            seen = {name: await metrics(port) for name, port in ports.items()}
            assert seen["seed"]["tequio_node_sent_bytes_total",] > 0
            assert seen["seed"]["tequio_node_store_bytes",] > 0
            assert seen["ana"]["tequio_worker_points_gflop", "verified"] > 0
            assert seen["ana"]["tequio_worker_rounds_trained_total", "cpu", ana.status.run] >= 2
            before = {row["number"]: row["trained"] + row["witnessed"] for row in proven(path)}
            ana.send(signal.SIGKILL)
            await ana.ended.wait()
            for file in path.parent.glob(f"{FILE}*"):
                file.unlink()
            again = stage.volunteer("ana")
            await stage.until("the book is whole again", agreed(api, again, path), PATIENCE_S)
            after = {row["number"]: row["trained"] + row["witnessed"] for row in proven(path)}
            assert before.items() <= after.items()
            await stage.until("bo too", agreed(api, bo, tmp_path / "bo" / FILE), PATIENCE_S)


async def metrics(port: str) -> dict[tuple[str, ...], float]:
    async with httpx.AsyncClient() as http:
        answer = await http.get(f"http://127.0.0.1:{port}/metrics")
    return values(answer.text)


def rows(path: Path) -> list[sqlite3.Row]:
    if not path.exists():
        return []
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as sql:
        sql.row_factory = sqlite3.Row
        if not sql.execute("SELECT 1 FROM sqlite_master WHERE name = 'round'").fetchall():
            return []  # it is just being made
        return sql.execute("SELECT * FROM round ORDER BY number").fetchall()


def proven(path: Path) -> list[sqlite3.Row]:
    """Rounds that gave something, proven."""
    return [row for row in rows(path) if row["state"] == "verified"]


def agreed(api: LedgerApi, actor: RunningProgram, path: Path) -> Callable[[], Awaitable[bool]]:
    """A condition: the proven points equal the ledger's, and are more than zero."""

    async def holds() -> bool:
        if actor.program.status is None:
            return False
        try:
            account = await api.peer(PeerKey(from_text(actor.key)))
        except LedgerRefusedError:
            return False
        mine = sum(row["trained"] + row["witnessed"] for row in proven(path))
        return bool(mine == account.gflop > 0)

    return holds
