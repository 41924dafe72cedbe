"""How fast a tree is fetched, against a raw libp2p stream and raw TCP, on the loopback device.

Serving and fetching are separate processes. The three are measured in turn, several times, and
compared within one run: `python bench/fetch.py [--mib 128] [--runs 3] [--json FILE]`.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import structlog
import trio

from tequio_client.worker.blobs import BlobServer
from tequio_client.worker.fetch import Fetcher
from tequio_client.worker.peers import PeerNetwork, PeerStream
from tequio_client.worker.store import Store
from tequio_client.worker.trees import TreeRef
from tequio_shared.ids import Digest

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

MIB = 1 << 20
RAW = "/tequio/bench/raw/1"
LISTEN = ("/ip4/127.0.0.1/tcp/0",)
QUOTA = 1 << 40


async def serve(folder: Path, size_bytes: int) -> None:
    """Run the serving process: print where it is and what it has, then serve."""
    store = Store(folder, quota_bytes=QUOTA)
    ref = store.put_tree(random.Random(1).randbytes(size_bytes), MIB)  # noqa: S311 - test content
    megabyte = random.Random(2).randbytes(MIB)  # noqa: S311 - test content

    async def raw_stream(stream: PeerStream) -> None:
        for _ in range(size_bytes // MIB):
            await stream.write(megabyte)

    async def raw_tcp(stream: trio.SocketStream) -> None:
        for _ in range(size_bytes // MIB):
            await stream.send_all(megabyte)

    async with (
        PeerNetwork(seed=b"s" * 32, listen=LISTEN) as peers,
        trio.open_nursery() as nursery,
    ):
        BlobServer(peers, store)
        peers.serve(RAW, raw_stream)
        listeners = await nursery.start(partial(trio.serve_tcp, raw_tcp, 0, host="127.0.0.1"))
        port = listeners[0].socket.getsockname()[1]
        where = {"address": peers.addresses()[0], "root": ref.root.hex(), "port": port}
        print("WHERE " + json.dumps(where), flush=True)
        await trio.sleep_forever()


async def measure(
    where: dict[str, str], folder: Path, size_bytes: int, runs: int
) -> dict[str, float]:
    """MB/s, median over the runs, of each way."""
    ref = TreeRef(root=Digest(bytes.fromhex(where["root"])), size_bytes=size_bytes, piece_bytes=MIB)
    store = Store(folder, quota_bytes=QUOTA)
    async with PeerNetwork(seed=b"f" * 32, listen=LISTEN) as peers:
        peer = await peers.connect(where["address"])
        async with Fetcher(peers, store, rng=random.Random(3)) as fetcher:  # noqa: S311 - jitter

            async def fetch() -> None:
                await fetcher.fetch_tree(ref, [peer], timeout_s=300)
                store.remove(ref.root)

            async def libp2p() -> None:
                stream = await peers.open_stream(peer, RAW)
                left = size_bytes
                while left:
                    left -= len(await stream.read_some(MIB))
                await stream.drop()

            async def tcp() -> None:
                stream = await trio.open_tcp_stream("127.0.0.1", int(where["port"]))
                async with stream:
                    left = size_bytes
                    while left:
                        left -= len(await stream.receive_some(MIB))

            ways = {"fetch_tree": fetch, "libp2p_stream": libp2p, "tcp": tcp}
            return await compare(ways, size_bytes, runs)


async def compare(
    ways: Mapping[str, Callable[[], Awaitable[None]]], size_bytes: int, runs: int
) -> dict[str, float]:
    """Take turns, so that a change of load meets all of them."""
    speeds: dict[str, list[float]] = {name: [] for name in ways}
    for run in range(runs + 1):
        for name, way in ways.items():
            start = trio.current_time()
            await way()
            if run:  # the first warms up
                speeds[name].append(size_bytes / 1e6 / (trio.current_time() - start))
    return {name: round(statistics.median(values), 1) for name, values in speeds.items()}


def main() -> None:
    """Measure and print; with --json also write the numbers to a file."""
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mib", type=int, default=128)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    size = args.mib * MIB
    if args.serve:
        trio.run(serve, args.serve, size)
        return
    with tempfile.TemporaryDirectory() as folder:
        speeds = run_against_server(Path(folder), size, args.runs)
    report(speeds, args.mib, args.json)


def run_against_server(folder: Path, size_bytes: int, runs: int) -> dict[str, float]:
    """Start the serving process, measure against it, end it."""
    command = [
        sys.executable,
        __file__,
        "--mib",
        str(size_bytes // MIB),
        "--serve",
        str(folder / "s"),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout is not None  # noqa: S101 - it is a pipe
            line = next(line for line in child.stdout if line.startswith("WHERE "))
            return trio.run(measure, json.loads(line[6:]), folder / "f", size_bytes, runs)
        finally:
            child.kill()


def report(speeds: dict[str, float], mib: int, path: Path | None) -> None:
    """Print the result with the machine and its load."""
    result = {
        "mib": mib,
        "mb_per_s": speeds,
        "fetch_to_libp2p": round(speeds["fetch_tree"] / speeds["libp2p_stream"], 2),
        "fetch_to_tcp": round(speeds["fetch_tree"] / speeds["tcp"], 3),
        "machine": platform.platform(),
        "cores": os.cpu_count(),
        "load": os.getloadavg(),
        "python": platform.python_version(),
    }
    print(json.dumps(result, indent=2))
    if path:
        path.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
