"""Speed of fetching a tree, against a raw libp2p stream and raw TCP, on the loopback device.

Serving and fetching are separate processes. The three are measured in turn, several times, and
compared within one run: `python bench/fetch.py [--mib 128] [--runs 5] [--json FILE]`. There are two
raw streams: the library's as installed (the claim: fetching reaches at least 0.8 of it), and our
`PeerStream`, which has all our improvements to the library, and neither hashes nor writes.

Also measured: a small tree over an open stream, the waste when two processes serve one tree, and
the memory that fetching takes.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import structlog
import trio
from loops.machine import machine

from tequio_client.worker.store.store import Store
from tequio_client.worker.store.trees import TreeRef
from tequio_client.worker.swarm.blob_server import BlobServer
from tequio_client.worker.swarm.peers import PeerNetwork, PeerStream
from tequio_client.worker.swarm.transfer import Fetcher
from tequio_shared.ids import Digest

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence

    from tequio_shared.ids import PeerKey

MIB = 1 << 20
SMALL_BYTES = 67_000
SMALL_TREES = 40
RAW = "/tequio/bench/raw/1"
LOOPBACK = "127.0.0.1"
QUOTA = 1 << 40


async def serve(folder: Path, size_bytes: int, host: str) -> None:
    """Run a serving process at an address: print its port and content, then serve."""
    store = Store(folder, quota_bytes=QUOTA)
    rng = random.Random(1)  # noqa: S311 - test content
    megabytes = [rng.randbytes(MIB) for _ in range(size_bytes // MIB)]
    ref, megabyte = store.put_tree(b"".join(megabytes), MIB), megabytes[0]
    small = [store.put_tree(rng.randbytes(SMALL_BYTES), MIB) for _ in range(SMALL_TREES)]

    async def raw_stream(stream: PeerStream) -> None:
        for _ in range(size_bytes // MIB):
            await stream.write(megabyte)

    async def raw_tcp(stream: trio.SocketStream) -> None:
        for _ in range(size_bytes // MIB):
            await stream.send_all(megabyte)

    async with (
        PeerNetwork(seed=os.urandom(32), listen=listening(host)) as peers,
        trio.open_nursery() as nursery,
    ):
        BlobServer(peers, store)
        peers.serve(RAW, raw_stream)
        listeners = await nursery.start(partial(trio.serve_tcp, raw_tcp, 0, host=host))
        where = {
            "address": peers.addresses()[0],
            "root": ref.root.hex(),
            "small": [tree.root.hex() for tree in small],
            "tcp": listeners[0].socket.getsockname(),
        }
        print("WHERE " + json.dumps(where), flush=True)
        await trio.sleep_forever()


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchBenchmark:
    """The fetching process; each method is one measurement."""

    peers: PeerNetwork
    store: Store
    fetcher: Fetcher
    sources: list[PeerKey]
    ref: TreeRef
    tcp_at: tuple[str, int]

    async def fetch(self) -> None:
        """Fetch the tree from the first source."""
        await self.fetcher.fetch_tree(self.ref, self.sources[:1], timeout_s=300)

    async def libp2p(self) -> None:
        """Read the same number of bytes from a new stream."""
        stream = await self.peers.open_stream(self.sources[0], RAW)
        left = self.ref.size_bytes
        while left:
            left -= len(await stream.read_some(MIB))
        await stream.drop()

    async def tcp(self) -> None:
        """Read the same number of bytes from a socket."""
        async with await trio.open_tcp_stream(*self.tcp_at) as stream:
            left = self.ref.size_bytes
            while left:
                left -= len(await stream.receive_some(MIB))

    async def compare(self, runs: int) -> dict[str, list[float]]:
        """MB/s of each way; they alternate, so that a change of load affects all of them."""
        ways = {"fetch_tree": self.fetch, "libp2p_stream": self.libp2p, "tcp": self.tcp}
        speeds: dict[str, list[float]] = {name: [] for name in ways}
        for run in range(runs + 1):
            for name, way in ways.items():
                seconds = await timed(way)
                if run:  # the first warms up
                    speeds[name].append(self.ref.size_bytes / 1e6 / seconds)
                self.store.remove(self.ref.root)
        return speeds

    async def small(self, roots: list[str]) -> dict[str, float]:
        """Milliseconds for one small tree after the other."""
        times = []
        for root in roots:
            ref = tree_ref(root, SMALL_BYTES)
            fetch = partial(self.fetcher.fetch_tree, ref, self.sources[:1], timeout_s=30)
            times.append(1e3 * await timed(fetch))
        return {"median": round(statistics.median(times), 1), "max": round(max(times), 1)}

    async def several(self) -> dict[str, object]:
        """Fetch from all sources at once; return duplicate bytes, and the bytes of each source."""
        before = self.fetcher.client.streams.received_bytes
        report = await self.fetcher.fetch_tree(self.ref, self.sources, timeout_s=300)
        await trio.sleep(1)  # bytes of cancelled requests still arrive
        received = self.fetcher.client.streams.received_bytes - before
        return {
            "verified_to_received": round(self.ref.size_bytes / received, 4),
            "mb_by_source": [round(size / 1e6) for size in report.bytes_by_source.values()],
        }


async def measure(
    wheres: list[dict[str, Any]], folder: Path, mib: int, runs: int
) -> dict[str, Any]:
    """Run all measurements against the serving processes."""
    where, store = wheres[0], Store(folder, quota_bytes=QUOTA)
    async with (
        PeerNetwork(seed=b"f" * 32, listen=listening(LOOPBACK)) as peers,
        Fetcher(peers, store, rng=random.Random(3)) as fetcher,  # noqa: S311 - jitter
    ):
        bench = FetchBenchmark(
            peers=peers,
            store=store,
            fetcher=fetcher,
            sources=[await peers.connect(each["address"]) for each in wheres],
            ref=tree_ref(where["root"], mib * MIB),
            tcp_at=where["tcp"],
        )
        idle = psutil.Process().memory_info().rss
        await bench.fetch()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        store.remove(bench.ref.root)
        return {
            "mib": mib,
            "rss_mib": {"idle": idle // MIB, "peak_while_fetching": peak // MIB},
            **summary(await bench.compare(runs)),
            "small_tree_ms": await bench.small(where["small"]),
            "two_sources": await bench.several(),
        }


async def timed(way: Callable[[], Awaitable[object]]) -> float:
    """Seconds of one call."""
    start = trio.current_time()
    await way()
    return trio.current_time() - start


def summary(speeds: Mapping[str, list[float]]) -> dict[str, Any]:
    """Medians and their ratios."""
    middle = {name: statistics.median(values) for name, values in speeds.items()}
    return {
        "mb_per_s": {name: [round(value) for value in values] for name, values in speeds.items()},
        "fetch_to_libp2p": round(middle["fetch_tree"] / middle["libp2p_stream"], 2),
        "fetch_to_tcp": round(middle["fetch_tree"] / middle["tcp"], 3),
    }


def main() -> None:
    """Measure and print; with --json also write the numbers to a file."""
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mib", type=int, default=128, help="size of the tree in MiB")
    parser.add_argument("--runs", type=int, default=5, help="how often each way is measured")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--host", default=LOOPBACK, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        trio.run(serve, args.serve, args.mib * MIB, args.host)
        return
    with tempfile.TemporaryDirectory() as text, ExitStack() as stack:
        folder = Path(text)
        wheres = [next(server(folder / name, args.mib, stack)) for name in ("s1", "s2")]
        result = trio.run(measure, wheres, folder / "f", args.mib, args.runs)
        library = library_speeds(args.mib, args.runs, stack)
        result["mb_per_s"]["library_stream"] = [round(value) for value in library]
        fetched = statistics.median(result["mb_per_s"]["fetch_tree"])
        result["fetch_to_library_stream"] = round(fetched / statistics.median(library), 2)
        report(result, args.json)


def server(
    folder: Path, mib: int, stack: ExitStack, *, prefix: Sequence[str] = (), host: str = LOOPBACK
) -> Iterator[dict[str, Any]]:
    """Start a serving process, which ends with the stack; return what it prints."""
    where = ("--mib", str(mib), "--serve", str(folder), "--host", host)
    command = [*prefix, sys.executable, __file__, *where]
    child = stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
    stack.callback(child.kill)
    assert child.stdout is not None  # noqa: S101 - it is a pipe
    for line in child.stdout:
        if line.startswith("WHERE "):
            yield json.loads(line[6:])


def library_speeds(mib: int, runs: int, stack: ExitStack) -> list[float]:
    """MB/s of the library's own stream, between two processes without any of our code."""
    program = [sys.executable, str(Path(__file__).parent / "loops" / "library.py")]
    serving = subprocess.Popen([*program, "serve", str(mib)], stdout=subprocess.PIPE, text=True)
    stack.enter_context(serving)
    stack.callback(serving.kill)
    address = _said(serving.stdout or [], "WHERE ")
    read = [*program, "read", address, str(mib), str(runs)]
    ran = subprocess.run(read, check=True, capture_output=True, text=True)
    speeds: list[float] = json.loads(_said(ran.stdout.splitlines(), "SPEEDS "))
    return speeds


def _said(lines: Iterable[str], word: str) -> str:
    return next(line.removeprefix(word).strip() for line in lines if line.startswith(word))


def report(result: dict[str, Any], path: Path | None) -> None:
    """Print the result with the machine and its load."""
    result |= machine()
    print(json.dumps(result))
    if path:
        path.write_text(json.dumps(result, indent=2) + "\n")


def listening(host: str) -> tuple[str]:
    """Multiaddr of a free port at an IPv4 address."""
    return (f"/ip4/{host}/tcp/0",)


def tree_ref(root: str, size_bytes: int) -> TreeRef:
    return TreeRef(root=Digest(bytes.fromhex(root)), size_bytes=size_bytes, piece_bytes=MIB)


if __name__ == "__main__":
    main()
