"""A worker comes back to a ledger that was restored from too old a backup, and stops it."""

from __future__ import annotations

import time
from functools import partial
from random import Random
from typing import TYPE_CHECKING

import httpx
import pytest
import trio

from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import LogForkedError
from tequio_client.worker.ledger import follower, last_checkpoint
from tequio_client.worker.ledger.follower import FollowerLimits, LogFollower
from tequio_ledger.admin import backup
from tequio_ledger.data_folder import DataFolder
from tequio_shared.log.tiles import encode_bundle
from tests.support.authors import newcomers
from tests.support.killable_ledger import ledger_forker
from tests.support.ledgers import VirtualClock

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_shared.ids import NetworkId

pytestmark = pytest.mark.whole
BRISK = FollowerLimits(poll_s=0.1, check_s=0.1, quiet_s=0.3, lag_s=0.5)
"""A worker's own limits would let it look again only after twenty seconds."""


def grow(url: str, net: NetworkId, name: str, count: int) -> None:
    entries = newcomers(name, net, count, time.time_ns() // 1_000_000)
    content = encode_bundle([entry.leaf() for entry in entries])
    items = httpx.post(f"{url}/v1/statements", content=content, timeout=60).json()["items"]
    assert {item["status"] for item in items} == {"logged"}


async def follow(url: str, folder: Path, size: int) -> None:
    """Read a log as a worker does, until a checkpoint of that size is kept."""
    async with LedgerApi(url) as ledger:
        network = await ledger.network()
        with trio.fail_after(60):
            async with LogFollower(ledger, network, folder, limits=BRISK, rng=Random(1)) as log:
                entries = log.entries()
                while (kept := last_checkpoint.load_checkpoint(folder / follower.FILE)) is None or (
                    kept.size < size
                ):
                    await anext(entries)


def test_it_shows_what_it_keeps_and_the_ledger_signs_nothing_more(tmp_path: Path) -> None:
    first, second, mine = tmp_path / "first", tmp_path / "second", tmp_path / "worker"
    mine.mkdir()
    with ledger_forker(tmp_path) as forker:
        child = forker.start(first)
        url, net = child.served()
        grow(url, net, "early", 5)
        backup.backup(DataFolder(first), tmp_path / "backup", VirtualClock())
        grow(url, net, "late", 3)
        trio.run(partial(follow, url, mine, 9))
        assert child.stop() == 0
        backup.restore(tmp_path / "backup", second)
        url, _ = forker.start(second).served()
        assert httpx.get(f"{url}/healthz").json()["status"] == "restored"
        with pytest.RaisesGroup(LogForkedError, flatten_subgroups=True):
            trio.run(partial(follow, url, mine, 99))
        health = httpx.get(f"{url}/healthz").json()
        assert (health["status"], "9 entries" in health["detail"]) == ("lost", True)
