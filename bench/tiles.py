"""Bytes that a ledger sends to a reader of the whole log, with a mirror of its tiles and without.

Fills a log with signed entries, starts `tequio-ledger serve --tiles FOLDER` and waits until all
full tiles and bundles are copied. Then a worker's own reader (`LogFollower`) reads the whole log
twice, every signature verified: from the ledger alone, and with the mirror that the ledger names,
which is a plain web server over the folder. A relay in front of the ledger counts all bytes that it
sends, the web server those of its files. Everything runs on this machine, so times say nothing
about a network; a mirror that this machine makes slow rests, and the ledger sends more.

    python bench/tiles.py [--entries N] [--json FILE]
"""

from __future__ import annotations

import json
import os
import tempfile
import threading
import time
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from typing import IO, TYPE_CHECKING
from urllib.parse import urlsplit

import click
import trio
from ledgers import million
from ledgers.program import served
from loops.machine import machine
from loops.table import markdown

from tequio_client.ledger.api import LedgerApi
from tequio_client.worker.ledger.follower import LogFollower
from tequio_client.worker.swarm.dials import hosts_named_by
from tequio_shared.log.tiles import BUNDLE_LEVEL, TILE_WIDTH, Tile

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

HEADER = ("a reader that begins with nothing", "ledger sends, MB", "mirror sends, MB", "seconds")
MB = 1e6
_BLOCK = 1 << 16


@dataclass(slots=True)
class StartReading:
    """One reading of the log."""

    ledger_bytes: int
    mirror_bytes: int
    seconds: float


@click.command()
@click.option("--entries", default=200_000, show_default=True, help="Entries of the log.")
@click.option("--json", "json_file", type=click.Path(path_type=Path))
def main(entries: int, json_file: Path | None) -> None:
    """Measure, and print the table."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        million.fill(folder / "ledger", entries, million.SignedMember)
        size, alone, mirrored = measured(folder)
    rows = [_row("ledger alone", alone), _row("with the mirror", mirrored)]
    table, on = markdown(HEADER, rows), machine()
    note = (
        f"{size:,} signed entries; {on['machine']}, {on['cores']} cores, load "
        f"{os.getloadavg()[0]:.1f}."
    )
    click.echo(f"{table}\n\n{note}")
    if json_file:
        report = {**on, "entries": size, "alone": asdict(alone), "mirrored": asdict(mirrored)}
        json_file.write_text(json.dumps(report) + "\n")


def measured(folder: Path) -> tuple[int, StartReading, StartReading]:
    """Size of the log, and both readings of it."""
    tiles = folder / "tiles"
    with web_server(tiles) as mirror:
        url = f"http://127.0.0.1:{mirror.server_port}"
        options = ("--tiles", tiles.as_uri(), "--tiles-url", url)
        with served(folder / "ledger", "", *options) as program:
            size = trio.run(_size, program.url)
            _wait_for_copies(tiles, size)
            alone = trio.run(partial(read_log, folder / "alone", program.url, size))
            mirrored = trio.run(
                partial(read_log, folder / "mirrored", program.url, size, reads_mirror=True)
            )
            mirrored.mirror_bytes = mirror.sent_bytes
    return size, alone, mirrored


class MirrorServer(ThreadingHTTPServer):
    """A web server over a folder, which counts the bytes of its files."""

    sent_bytes = 0


class _CountingHandler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: MirrorServer  # type: ignore[mutable-override]  # it is never another one

    # The types of the library's own have no public name.
    def copyfile(self, source: IO[bytes], outputfile: IO[bytes]) -> None:  # type: ignore[override]
        content = source.read()
        self.server.sent_bytes += len(content)
        outputfile.write(content)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@contextmanager
def web_server(folder: Path) -> Iterator[MirrorServer]:
    """Serve a folder over HTTP, from threads."""
    handler = partial(_CountingHandler, directory=str(folder))
    with MirrorServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


async def _size(url: str) -> int:
    async with LedgerApi(url) as api:
        return (await api.checkpoint()).size


def _wait_for_copies(folder: Path, size: int) -> None:
    last = size // TILE_WIDTH - 1
    paths = [folder / Tile(level=level, index=last).path() for level in (BUNDLE_LEVEL, 0)]
    while not all(path.exists() for path in paths):
        time.sleep(0.2)
    time.sleep(1.0)  # others of the last step may be on their way at the same time


async def read_log(
    folder: Path, url: str, size: int, *, reads_mirror: bool = False
) -> StartReading:
    """Read the whole log as a new worker does."""
    folder.mkdir()  # noqa: ASYNC240 - nothing else runs yet
    async with relay(url) as ledger:
        address_of = hosts_named_by(ledger.url).address_of if reads_mirror else None
        begun_s = time.perf_counter()
        async with LedgerApi(ledger.url, address_of=address_of) as api:
            network = await api.network()
            async with LogFollower(api, network, folder, rng=Random(1)) as log:  # noqa: S311 - pauses
                entries = log.entries()
                for _ in range(size):
                    await anext(entries)
        seconds = time.perf_counter() - begun_s
    return StartReading(ledger_bytes=ledger.sent_bytes, mirror_bytes=0, seconds=seconds)


@dataclass(slots=True)
class Relay:
    """Passes connections on to a server, and counts the bytes that it sends."""

    host: str
    port: int
    url: str = ""
    sent_bytes: int = 0

    async def handle(self, client: trio.SocketStream) -> None:
        server = await trio.open_tcp_stream(self.host, self.port)
        async with server, client, trio.open_nursery() as nursery:
            nursery.start_soon(self._copy, client, server)
            await self._copy(server, client, counted=True)
            nursery.cancel_scope.cancel()

    async def _copy(
        self, source: trio.SocketStream, target: trio.SocketStream, *, counted: bool = False
    ) -> None:
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            while block := await source.receive_some(_BLOCK):
                self.sent_bytes += len(block) * counted
                await target.send_all(block)


@asynccontextmanager
async def relay(url: str) -> AsyncIterator[Relay]:
    """Listen on a port of loopback in a server's place."""
    place = urlsplit(url)
    made = Relay(host=place.hostname or "", port=place.port or 80)
    async with trio.open_nursery() as nursery:
        (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        made.url = f"http://127.0.0.1:{listener.socket.getsockname()[1]}"
        nursery.start_soon(trio.serve_listeners, made.handle, [listener])
        yield made
        nursery.cancel_scope.cancel()


def _row(name: str, one: StartReading) -> list[str]:
    mirror = f"{one.mirror_bytes / MB:,.1f}"
    return [name, f"{one.ledger_bytes / MB:,.2f}", mirror, f"{one.seconds:,.0f}"]


if __name__ == "__main__":
    main()
