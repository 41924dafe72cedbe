"""The part of its time for which a volunteer trains, on lines of homes.

Ledger, seed and volunteers are real programs, each volunteer in a network namespace of its own. Its
line to the others has a rate and a round-trip time (`loops/shaped_link.py`), so volunteers are two
lines apart. The same network on this computer's own lines is measured beside it. As root:

    python bench/links.py [--peers N] [--rounds N] [--train-s S] [--json FILE]
        [--document docs/results.md]
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

import trio
from loops import table
from loops.machine import machine
from loops.namespaces import IP, namespace, shaped_line

from tequio_client.demo.play import DemoNetwork, LogTally, found, open_run, read_log
from tequio_client.demo.programs import DemoProgram
from tequio_client.demo.script import DemoScript
from tequio_client.ledger.api import LedgerApi
from tequio_client.platform.programs import tequio
from tequio_client.verify.source import LiveLog

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tequio_client.ipc.snapshot import Status

COLUMNS = (
    "line of each volunteer",
    "part of the time computing",
    "s from the last contribution to the next round's training",
    "MB sent by each",
    "training of a round, s",
)
LINES: tuple[tuple[float, float], ...] = ((0.0, 0.0), (100.0, 80.0))
"""Mbit/s and round trip in ms; 0: no line between."""
INSIDE = "TEQUIO_BENCH_NAMESPACE"
LEAST = 0.94


@dataclass(slots=True, kw_only=True)
class Lines:
    """Namespaces of volunteers, and where the ledger is for each."""

    mbit: float
    round_trip_ms: float
    homes: list[tuple[str, str]] = field(default_factory=list)
    """(namespace, address of this computer as seen from there)."""

    @contextmanager
    def opened(self, count: int) -> Iterator[None]:
        """Make namespaces and lines; without a rate, none."""
        if not self.mbit:
            self.homes = [("", "127.0.0.1")] * count
            yield
            return
        with ExitStack() as stack:
            for number in range(1, count + 1):
                stack.enter_context(self._home(f"tql{os.getpid()}n{number}", f"45.2.{number}"))
            yield

    @contextmanager
    def _home(self, name: str, prefix: str) -> Iterator[None]:
        here, there = f"{prefix}.1", f"{prefix}.2"
        line = shaped_line(here, there, name, mbit=self.mbit, round_trip_ms=self.round_trip_ms)
        with namespace(name), line:
            self.homes.append((name, here))
            yield


def main() -> None:
    """Measure on each kind of line, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--train-s", type=float, default=30.0)
    parser.add_argument("--only", type=int, help="measure the first N kinds of line only")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--document", type=Path, help="write the table into this document")
    options = parser.parse_args()
    if os.environ.get(INSIDE) is None:
        _in_a_namespace()
    measured = []
    for mbit, round_trip_ms in LINES[: options.only]:
        lines = Lines(mbit=mbit, round_trip_ms=round_trip_ms)
        with lines.opened(options.peers), tempfile.TemporaryDirectory() as folder:
            script = DemoScript(
                folder=Path(folder),
                rounds=options.rounds,
                peers=options.peers,
                train_s=options.train_s,
                first_windows=round(options.train_s * _WINDOWS_PER_S),
                measured_every=1_000,
            )
            measured.append(trio.run(_measured, script, lines))
        print(json.dumps(measured[-1]), flush=True)
    content = table.markdown(COLUMNS, [_row(one) for one in measured])
    print(content)
    if options.document:
        table.put(options.document, "links", content)
    if options.json:
        options.json.write_text(json.dumps({**machine(), "least": LEAST, "lines": measured}))


_WINDOWS_PER_S = 60.0
"""More than a volunteer trains: so all train until the round's time is over from the first on."""


_SETTLES_S = 3.0
"""Until volunteers have reported what they computed in the round before, once a second."""


def _in_a_namespace() -> None:
    """Start again in a namespace of its own, which forwards between the volunteers' lines."""
    name = f"tql{os.getpid()}"
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with namespace(name) as inside:
        subprocess.run((*inside, "sysctl", "-qw", "net.ipv4.ip_forward=1"), check=True)
        environment = {**os.environ, INSIDE: name}
        measuring = subprocess.Popen((*inside, sys.executable, *sys.argv), env=environment)
        try:
            measuring.wait()
        except KeyboardInterrupt:
            measuring.send_signal(signal.SIGINT)  # trio ends all programs then
            measuring.wait()
    sys.exit(measuring.returncode)


async def _measured(script: DemoScript, lines: Lines) -> dict[str, Any]:
    async with trio.open_nursery() as nursery:
        statuses, between_s = await _trained(script, lines, nursery)
        nursery.cancel_scope.cancel()
    return {
        "between_s": [round(one, 2) for one in between_s],
        "mbit": lines.mbit,
        "round_trip_ms": lines.round_trip_ms,
        "compute_fraction": [round(_fraction(*one), 3) for one in statuses],
        "sent_bytes": [last.sent_bytes for _, last in statuses],
        "train_s": script.train_s,
        "rounds": script.rounds,
    }


async def _trained(
    script: DemoScript, lines: Lines, nursery: trio.Nursery
) -> tuple[list[tuple[Status, Status]], list[float]]:
    """Train; each volunteer's state as the second and the last round began, and the waits."""
    network, folder = DemoNetwork(script=script), script.folder
    everywhere = ("--host", "0.0.0.0")  # noqa: S104 - of a namespace of its own
    await found(network, nursery, *everywhere)
    await open_run(network)
    url, port = network.url, network.url.rpartition(":")[2]
    listening = ("--listen", "/ip4/0.0.0.0/tcp/0", "--dir")
    seed = tequio("seed", "--ledger", url, *listening, str(folder / "seed"))
    nursery.start_soon(DemoProgram("seed", seed, folder).run_checked)
    volunteers = []
    for number, (home, here) in enumerate(lines.homes, 1):
        name = f"volunteer-{number}"
        there = (IP, "netns", "exec", home) if home else ()
        reach = ("--ledger", f"http://{here}:{port}", *listening, str(folder / name))
        worker = tequio("worker", *reach, "--device", "cpu", "--status")
        volunteers.append(DemoProgram(name, (*there, *worker), folder))
        nursery.start_soon(volunteers[-1].run_checked)
    async with LedgerApi(url) as ledger:

        async def states_in(number: int) -> list[Status]:
            while (await ledger.runs())[0].round < number:  # noqa: ASYNC110 - of a ledger
                await trio.sleep(0.5)
            await trio.sleep(_SETTLES_S)
            return [one.status for one in volunteers if one.status is not None]

        begun, ended = await states_in(2), await states_in(script.rounds)
        tally = await trio.to_thread.run_sync(read_log, LiveLog(ledger))
    return list(zip(begun, ended, strict=True)), _between(tally)


def _fraction(begun: Status, ended: Status) -> float:
    """Part of the time between two states for which a volunteer computed."""
    computed_s = ended.compute_seconds - begun.compute_seconds
    return computed_s / (ended.round_seconds - begun.round_seconds)


def _between(tally: LogTally) -> list[float]:
    """Seconds from the last contribution of each round to the next round's opening."""
    opened = tally.opened_ms
    return [
        (opened[number + 1] - last_ms) / 1e3
        for number, last_ms in tally.committed_ms.items()
        if number + 1 in opened
    ]


def _row(one: dict[str, Any]) -> list[str]:
    shaped = f"{one['mbit']:.0f} Mbit/s, {one['round_trip_ms']:.0f} ms"
    return [
        shaped if one["mbit"] else "none: one computer",
        f"{mean(one['compute_fraction']):.3f}",
        f"{mean(one['between_s']):.2f}",
        f"{mean(one['sent_bytes']) / 1e6:.1f}",
        f"{one['train_s']:.0f}",
    ]


if __name__ == "__main__":
    main()
