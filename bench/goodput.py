"""Goodput of a fetch between two workers on a line with a rate and a round trip.

Both ends are processes in network namespaces of their own, joined by a line that works in both
directions (`loops/shaped_link.py`, in place of tc's netem, which many kernels lack). Goodput is the
size of the tree over the time until it was verified and written; its share is that of the line's
rate, of which headers of TCP and IP take 0.035. Our own raw stream and plain TCP are measured in
turn with it, on the same line. TCP and its congestion control are the system's own; lines named
"large buffers" have room for more bytes on their way (`net.ipv4.tcp_wmem`, `tcp_rmem`). As root:

    python bench/goodput.py [--seconds S] [--runs N] [--only N] [--json FILE]
        [--document docs/results.md]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import trio
from fetch import MIB, QUOTA, FetchBenchmark, listening, server, tree_ref
from loops import table
from loops.machine import machine
from loops.namespaces import namespace, shaped_line

from tequio_client.worker.store.store import Store
from tequio_client.worker.swarm.peers import PeerNetwork
from tequio_client.worker.swarm.transfer import Fetcher

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

COLUMNS = (
    "line",
    "a fetched tree, MB/s",
    "share of the line",
    "our stream's",
    "plain TCP's",
    "load of the machine",
)
HERE, THERE = "45.3.1.1", "45.3.1.2"
"""Serving and fetching; public ones, as the limits for strangers' networks belong to it."""
LEAST = 0.8
"""Aim of the share of a line that a fetch gets."""
LARGE_BUFFERS = f"4096 131072 {32 << 20}"
WAYS = ("fetch_tree", "libp2p_stream", "tcp")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line between the two."""

    mbit: int
    round_trip_ms: int
    large_buffers: bool = False

    def __str__(self) -> str:
        gbit, rest = divmod(self.mbit, 1000)
        rate = f"{gbit} Gbit/s" if gbit and not rest else f"{self.mbit} Mbit/s"
        buffers = ", large buffers" if self.large_buffers else ""
        return f"{rate}, {self.round_trip_ms} ms{buffers}"


LINES = (
    Line(mbit=100, round_trip_ms=20),
    Line(mbit=100, round_trip_ms=80),
    Line(mbit=1000, round_trip_ms=20),
    Line(mbit=1000, round_trip_ms=80),
    Line(mbit=1000, round_trip_ms=80, large_buffers=True),
)


def main() -> None:
    """Measure on each line, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0, help="that the line takes for a tree")
    parser.add_argument("--runs", type=int, default=3, help="how often each way is measured")
    parser.add_argument("--only", type=int, nargs="*", help="measure these lines only, from 0")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--document", type=Path, help="write the table into this document")
    parser.add_argument("--fetch", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.fetch:
        print("SPEEDS " + json.dumps(trio.run(_fetched, json.loads(options.fetch))), flush=True)
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # namespaces are deleted then, too
    rows = [LINES[at] for at in options.only] if options.only else LINES
    measured = [_measured(line, options.seconds, options.runs) for line in rows]
    content = table.markdown(COLUMNS, [_row(one) for one in measured])
    print(content)
    if options.document:
        table.put(options.document, "goodput", content)
    if options.json:
        found = {**machine(), "least": LEAST, "lines": measured}
        options.json.write_text(json.dumps(found, indent=2) + "\n")


def _measured(line: Line, seconds: float, runs: int) -> dict[str, Any]:
    """Make namespaces and the line, and measure there in processes of their own."""
    mib = round(line.mbit * 1e6 / 8 * seconds / MIB)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        names = [f"tqg{os.getpid()}{side}" for side in "ab"]
        near, far = (stack.enter_context(_end(name, line)) for name in names)
        shaped = shaped_line(
            HERE, THERE, names[1], mbit=line.mbit, round_trip_ms=line.round_trip_ms, inside=near
        )
        stack.enter_context(shaped)
        where = next(server(folder / "served", mib, stack, prefix=near, host=HERE))
        task = {"where": where, "folder": str(folder / "fetched"), "mib": mib, "runs": runs}
        command = (*far, sys.executable, __file__, "--fetch", json.dumps(task))
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        load = round(os.getloadavg()[0], 2)
    printed = next(one for one in output.splitlines() if one.startswith("SPEEDS "))
    speeds = json.loads(printed.removeprefix("SPEEDS "))
    found = {**asdict(line), "mib": mib, "load": load, "mb_per_s": speeds}
    print(json.dumps(found), flush=True)
    return found


async def _fetched(task: dict[str, Any]) -> dict[str, list[float]]:
    """MB/s of each way; run in the fetching namespace."""
    where, store = task["where"], Store(Path(task["folder"]), quota_bytes=QUOTA)
    async with (
        PeerNetwork(seed=b"f" * 32, listen=listening(THERE)) as peers,
        Fetcher(peers, store, rng=random.Random(3)) as fetcher,  # noqa: S311 - jitter
    ):
        bench = FetchBenchmark(
            peers=peers,
            store=store,
            fetcher=fetcher,
            sources=[await peers.connect(where["address"])],
            ref=tree_ref(where["root"], task["mib"] * MIB),
            tcp_at=where["tcp"],
        )
        return await bench.compare(task["runs"])


@contextmanager
def _end(name: str, line: Line) -> Iterator[Sequence[str]]:
    """Make the namespace of one end."""
    with namespace(name) as inside:
        if line.large_buffers:
            for setting in ("tcp_rmem", "tcp_wmem"):
                value = f"net.ipv4.{setting}={LARGE_BUFFERS}"
                subprocess.run((*inside, "sysctl", "-qw", value), check=True)
        yield inside


def _row(one: dict[str, Any]) -> list[str]:
    line = Line(**{name: one[name] for name in ("mbit", "round_trip_ms", "large_buffers")})
    speeds = [statistics.median(one["mb_per_s"][way]) for way in WAYS]
    shares = [f"{speed * 8 / line.mbit:.2f}" for speed in speeds]
    return [str(line), f"{speeds[0]:.1f}", *shares, f"{one['load']:.1f}"]


if __name__ == "__main__":
    main()
