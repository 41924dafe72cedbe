"""Disk and traffic of a volunteer, as the app estimates them and as they are.

A demo runs for some rounds; the figures are of one of its volunteers, after the rounds in which
everything is new. `python bench/footprint.py [--rounds 24] [--train-s 8] [--json FILE]`. Traffic is
what the worker itself counts; the disk is all of the volunteer's folder.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import trio
from loops.machine import machine

from tequio_client.control_socket import WorkerCall
from tequio_client.demo import play
from tequio_client.demo.script import DemoScript
from tequio_client.ledger.api import LedgerApi
from tequio_client.runtime import configure_logging
from tequio_client.worker.control.lists import RunsList
from tequio_client.worker.lending import needs

if TYPE_CHECKING:
    from collections.abc import Sequence

NEW_ROUNDS = 4
"""Rounds before traffic is measured: the head, the data and the first audits are still new."""
WAIT_S = 0.5
HOUR_S = 3_600
MB = 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    sent_bytes: int
    traffic_bytes: int
    """Sent and received."""


def folder_bytes(folder: Path) -> int:
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


def read_worker(folder: Path) -> Reading:
    with WorkerCall.to(folder) as call:
        shown = call.snapshot()
    return Reading(
        sent_bytes=shown.status.wire_sent_bytes if shown.status else 0,
        traffic_bytes=shown.line.month_bytes,
    )


async def measured(script: DemoScript) -> dict[str, object]:
    network = play.DemoNetwork(script=script)
    volunteers = [script.folder / f"volunteer-{one + 1}" for one in range(script.peers)]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(play.keep_running, network)
        await _round(network, NEW_ROUNDS)
        began_s = trio.current_time()
        before = await _readings(volunteers)
        await _round(network, script.rounds - 1)
        hours = (trio.current_time() - began_s) / HOUR_S * len(volunteers)
        after = await _readings(volunteers)
        disk_bytes = [folder_bytes(one) for one in volunteers]
        async with LedgerApi(network.url) as ledger:
            runs = RunsList(ledger)
            (row,) = (await runs.read()).rows
            (answer,) = await ledger.runs()
            manifest, corpus = await runs.read_rules(answer)
            pace, rounds = await runs.pace(answer, manifest), answer.closed
        nursery.cancel_scope.cancel()
    sums = (
        sum(getattr(b, name) - getattr(a, name) for a, b in zip(before, after, strict=True)) / hours
        for name in ("sent_bytes", "traffic_bytes")
    )
    up, both = sums
    disk = needs.disk_after(manifest, corpus, pace, rounds)
    return {
        "rounds": rounds,
        "round_s": pace.length_ms / 1_000,
        "contributions": pace.contributions,
        "up_mb_per_hour": _pair(row.hourly_up_bytes, up),
        "down_mb_per_hour": _pair(row.hourly_down_bytes, both - up),
        "disk_mb": _pair(disk, sum(disk_bytes) / len(disk_bytes)),
        "needed_disk_mb": row.disk_bytes / MB,
        "day_disk_mb": row.day_disk_bytes / MB,
    }


def _pair(estimated: float, found: float) -> dict[str, float]:
    return {
        "estimated": round(estimated / MB, 1),
        "measured": round(found / MB, 1),
        "ratio": round(estimated / found, 2),
    }


async def _readings(folders: Sequence[Path]) -> list[Reading]:
    return [await trio.to_thread.run_sync(read_worker, one) for one in folders]


async def _round(network: play.DemoNetwork, number: int) -> None:
    while network.run is None or network.run.closed < number:  # noqa: ASYNC110 - another task's
        await trio.sleep(WAIT_S)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=24)
    parser.add_argument("--train-s", type=float, default=8.0)
    parser.add_argument("--peers", type=int, default=4)
    parser.add_argument("--share", type=int, default=30)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    configure_logging(style="console", level="warning")
    with tempfile.TemporaryDirectory(prefix="tequio-footprint-") as folder:
        script = DemoScript(
            folder=Path(folder),
            rounds=options.rounds,
            peers=options.peers,
            train_s=options.train_s,
            share_percent=options.share,
        )
        found = trio.run(partial(measured, script))
    report = {"machine": machine(), "train_s": options.train_s, "peers": options.peers, **found}
    print(json.dumps(report, indent=1))
    if options.json is not None:
        options.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
