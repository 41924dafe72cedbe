"""How soon a computer trains after its owner chose Contribute: a real network, on this computer.

Ledger, seed, two volunteers and a third worker are real programs. The third one is controlled over
its link as by the app, told that its owner is away, and told to lend: first in a new folder, in
which nothing is fetched, compiled or started yet, then after a pause. Printed are the seconds until
lending is allowed, which is what the app then shows, and until the first training step, which also
waits for the next round to begin; rounds train for `--train-s` seconds.

    python bench/contribute.py [--times N] [--train-s S] [--json FILE] [--document docs/results.md]

The snapshots that tell come on each change, and once a second. The computer has to be idle: the
load average before is printed too.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import trio
from loops import table
from loops.machine import machine

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.support.linked_worker import WILLING, LinkedWorker, linked  # noqa: E402 - see ROOT
from tests.support.real_network import running_network  # noqa: E402 - likewise
from tests.support.small_network import CONFIG, RunFiles, found, plan  # noqa: E402 - likewise

from tequio_client.ipc import control  # noqa: E402 - likewise
from tequio_client.ipc.facts import SessionFacts  # noqa: E402 - likewise
from tequio_client.ipc.snapshot import LendingState, Snapshot  # noqa: E402 - likewise

if TYPE_CHECKING:
    from collections.abc import Callable

COLUMNS = ("Contribute is chosen", "s until lending is allowed", "s until the first training step")
FIRST, AGAIN = "in a new folder", "after a pause"
AWAY = SessionFacts(
    idle_s=9_000.0, is_locked=False, fullscreen="", game="", programs=(), is_metered=False
)
REPORT_S = 2.0
PATIENCE_S = 300.0


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--train-s", type=float, default=4.0)
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--document", type=Path, help="write the table into this document")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        measured = trio.run(_measured, Path(folder), options.times, options.train_s)
    content = table.markdown(COLUMNS, [_row(name, measured[name]) for name in (FIRST, AGAIN)])
    print(f"load before: {load:.1f}")
    print(content)
    if options.document:
        table.put(options.document, "contribute", content)
    if options.json:
        figures = {"load": load, "train_s": options.train_s, "seconds": measured}
        options.json.write_text(json.dumps({**machine(), **figures}))


Seconds = tuple[float, float]
"""Until lending is allowed, and until the first training step."""


async def _measured(folder: Path, times: int, train_s: float) -> dict[str, list[Seconds]]:
    measured: dict[str, list[Seconds]] = {FIRST: [], AGAIN: []}
    async with running_network(folder) as network:
        await found(network, RunFiles(config=CONFIG, plan=plan(train_s=train_s)))
        network.seed()
        for name in ("ana", "beto"):
            network.volunteer(name)
        for number in range(times):
            async with (
                linked(folder / f"citlali-{number}", network.url) as worker,
                trio.open_nursery() as nursery,
            ):
                nursery.start_soon(_be_away, worker)
                await worker.until("it shows itself", lambda one: bool(one.at_ms), PATIENCE_S)
                await worker.send(control.SetPreferences(preferences=WILLING))
                for name in (FIRST, AGAIN):
                    measured[name].append(await _contribute(worker))
                    print(f"{name}: {measured[name][-1]}", file=sys.stderr, flush=True)
                    await worker.want(lend=False)
                    await worker.until("the trainer is gone", _is_off, PATIENCE_S)
                nursery.cancel_scope.cancel()
    return measured


async def _be_away(worker: LinkedWorker) -> None:
    while True:
        await worker.report_session(AWAY)
        await trio.sleep(REPORT_S)


async def _contribute(worker: LinkedWorker) -> Seconds:
    begun_s = trio.current_time()

    async def after(what: str, holds: Callable[[Snapshot], bool]) -> float:
        await worker.until(what, holds, PATIENCE_S)
        return round(trio.current_time() - begun_s, 1)

    await worker.want(lend=True)
    allowed_s = await after("it lends", lambda one: one.decision.state is LendingState.LENDING)
    return allowed_s, await after("it trains", _trains)


def _trains(shown: Snapshot) -> bool:
    return any(one.step for one in shown.trainers)


def _is_off(shown: Snapshot) -> bool:
    return all(one.state == "off" for one in shown.trainers)


def _row(name: str, seconds: list[Seconds]) -> list[str]:
    allowed, trained = zip(*seconds, strict=True)
    return [name, *(", ".join(f"{one:.1f}" for one in each) for each in (allowed, trained))]


if __name__ == "__main__":
    main()
