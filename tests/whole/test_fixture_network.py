"""A network that version 0.1 wrote: today's programs open it, find it sound, and continue it.

This test fails when a change breaks a file format, a wire format or a rule of the log. The archive
is never made again; `tests/fixtures/network-0.1/README.md` tells what is in it.
"""

from __future__ import annotations

import json
import sys
import tarfile
from pathlib import Path

import pytest

from tequio_client.demo.programs import DemoProgram
from tequio_client.ledger.api import LedgerApi
from tequio_shared.ids import to_text
from tequio_shared.statements.runs import RunResume
from tequio_shared.statements.statement import Entry
from tests.support.history import LogHistory
from tests.support.real_network import running_network

FIXTURE = Path(__file__).parents[1] / "fixtures" / "network-0.1" / "network.tar.gz"
SIZE = 308
ROOT = "wt5U8JumZC0sOxSeZopps22NF8Ejh_WlE4rPU4tlBUE"
ROUNDS = 18
CHECKED = {
    "entries": SIZE,
    "rounds closed": ROUNDS,
    "heads recomputed": ROUNDS - 1,  # the head of the last round is not promoted yet
    "measures of heads": 18,
    "standing changes": 3,
    "statements about competitions": 31,
}


@pytest.mark.whole
@pytest.mark.trio
async def test_a_network_of_version_0_1_is_sound_and_continues(tmp_path: Path) -> None:
    with tarfile.open(FIXTURE) as archive:
        archive.extractall(tmp_path, filter="tar")  # keeps the modes of key files
    for command in ("doctor", "replay", "doctor"):
        await _ledger_command(tmp_path, command)
    async with running_network(tmp_path) as stage:
        organiser, store = str(tmp_path / "organiser"), str(tmp_path / "seed" / "store")
        await stage.ledger((await stage.command("key", "run", "key", "--dir", organiser)).strip())
        async with LedgerApi(stage.url) as ledger:
            history = LogHistory(ledger)
            before = await history.checkpoint()
            assert (before.size, to_text(before.root)) == (SIZE, ROOT)
            assert await history.state() == "paused"

            report = tmp_path / "report.json"
            where = ("--ledger", stage.url, "--store", store, "--json", str(report))
            await stage.command("audit", "audit", *where)
            checked = json.loads(report.read_bytes())["checked"]
            assert {name: checked[name] for name in CHECKED} == CHECKED

            await stage.command(
                "resume", "run", "resume", "day", "--ledger", stage.url, "--dir", organiser
            )
            after = await history.check_continues(before)
            assert after.size > before.size
            (leaf,) = await ledger.entries(SIZE, SIZE + 1)
            assert isinstance(Entry.parse(leaf).statement.body, RunResume)
            assert await history.state() == "waiting_for_members"
            await stage.command("audit-again", "audit", *where)


async def _ledger_command(folder: Path, command: str) -> None:
    names = ("--network", "demo", "--origin", "demo.example/log", "--port", "0")
    words = [
        sys.executable,
        "-m",
        "tequio_ledger",
        command,
        "--dir",
        str(folder / "ledger"),
        *names,
    ]
    await DemoProgram(command, words, folder).run_checked()
