"""kill -9 at any moment of ingest, again and again, on SQLite; `test_replicas` has PostgreSQL's."""

from __future__ import annotations

import os
import random
import signal
import time
from typing import TYPE_CHECKING

import httpx
import pytest

from tequio_ledger.admin import doctor
from tequio_ledger.admin.doctor import Grade, worst
from tequio_ledger.data_folder import DataFolder
from tests.support.killable_ledger import ledger_forker
from tests.support.ledgers import make_settings
from tests.support.observed_log import Ingest, ObservedLog

if TYPE_CHECKING:
    from pathlib import Path

KILLS = 10
MANY_KILLS = 200
KILLED = -9
LONGEST_S = 0.4


def kill_again_and_again(tmp_path: Path, kills: int) -> None:
    """Kill a ledger while somebody posts, start it again; hold its log against what was seen."""
    seen, rng, folder = ObservedLog(), random.Random(kills), tmp_path / "ledger"
    with ledger_forker(tmp_path) as forker:
        for number in range(kills):
            child = forker.start(folder)
            url, net = child.served()
            with httpx.Client(base_url=url, timeout=30) as http:
                seen.record_checkpoint(http)
            with Ingest([url], net, seen, f"life {number}"):
                assert seen.answered.wait(30)
                seen.answered.clear()
                time.sleep(rng.uniform(0, LONGEST_S))
                os.kill(child.pid, signal.SIGKILL)
                assert child.wait() == KILLED
        child = forker.start(folder)
        url, _ = child.served()
        with httpx.Client(base_url=url, timeout=30) as http:
            seen.check(http)
        assert child.stop() == 0
    assert len(seen.acknowledged) > kills
    given = make_settings(folder)
    found = doctor.examine(given, DataFolder(folder), lambda: time.time_ns() // 1_000_000)
    assert worst(found) < Grade.ERROR, found


def test_ten_kills_during_ingest_lose_nothing_and_fork_nothing(tmp_path: Path) -> None:
    kill_again_and_again(tmp_path, KILLS)


@pytest.mark.slow
def test_two_hundred_kills_during_ingest_lose_nothing_and_fork_nothing(tmp_path: Path) -> None:
    kill_again_and_again(tmp_path, MANY_KILLS)
