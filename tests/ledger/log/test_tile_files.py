"""Tiles and bundles in a bucket: what is copied, by which process, and what a failure changes."""

from __future__ import annotations

import asyncio
import contextlib
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import httpx
import pytest

from tequio_ledger.log.guard import NOTHING, Published
from tequio_ledger.log.sequencer import ChangeSignal
from tequio_ledger.log.tile_files import STEP_BUNDLES, TileCopier, full_files, read_file
from tequio_ledger.store import log_rows
from tequio_ledger.store.bucket import TileBucket
from tequio_ledger.store.database import Database
from tequio_ledger.store.files import UnwritableError
from tequio_ledger.store.log_rows import StoredEntry
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import NetworkId, sha256
from tequio_shared.log.tiles import BUNDLE_LEVEL, TILE_WIDTH, Tile, TileTree, parse_bundle
from tests.support import object_store
from tests.support.authors import newcomers
from tests.support.ledgers import VirtualClock, make_settings, opened, running, wait_until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path

NET = NetworkId(sha256(b"the network"))
STEP = STEP_BUNDLES * TILE_WIDTH


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with closing(Database(tmp_path / "db")) as database:
        database.migrate()
        yield database


@pytest.fixture(scope="module")
def server() -> Iterator[dict[str, str]]:
    with object_store.served_or_skipped() as environment:
        yield environment


@dataclass
class StoredLog:
    """A stored log of any leaves, which is published by the process that leads."""

    database: Database
    published: Published = NOTHING
    is_leading: bool = True
    tree: TileTree = field(default_factory=TileTree)
    changed: ChangeSignal = field(default_factory=ChangeSignal)

    def grow(self, size: int) -> None:
        """Store entries up to a size, and publish them."""
        rows = [
            StoredEntry(
                index=index,
                id=sha256(b"id", index.to_bytes(8, "big")),
                leaf=b"leaf %d" % index,
                type="member.leave",
                author=bytes(32),
                run=None,
                round=None,
                at_ms=0,
            )
            for index in range(self.tree.size, size)
        ]
        for row in rows:
            self.tree.append(row.leaf)
        with self.database.writer.begin() as connection:
            log_rows.insert_entries(connection, rows)
            log_rows.write_tiles(connection, self.tree.pop_changed())
        self.published = Published(size=size, root=self.tree.root(), note=b"")
        self.changed.set()

    def copier(self, bucket: TileBucket) -> TileCopier:
        return TileCopier(
            ledger=self,
            network=NET,
            database=self.database,
            changed=self.changed,
            bucket=bucket,
            retry_s=0.05,
        )


class CountedBucket(TileBucket):
    """A folder that counts what is put, and fails where a test says so."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.puts: list[str] = []
        self.failures = 0
        self.fails_at: Callable[[str], bool] = lambda _path: False

    async def put(self, path: str, content: bytes) -> None:
        if self.fails_at(path):
            self.failures += 1
            raise UnwritableError(f"no {path}")
        await super().put(path, content)
        self.puts.append(path)


@contextlib.asynccontextmanager
async def copying(log: StoredLog, bucket: TileBucket) -> AsyncIterator[TileCopier]:
    copier = log.copier(bucket)
    task = asyncio.create_task(copier.run())
    try:
        yield copier
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def files_in(folder: Path) -> dict[str, bytes]:
    files = (one for one in folder.rglob("*") if one.is_file())
    return {one.relative_to(folder).as_posix(): one.read_bytes() for one in files}


def test_what_is_full_is_copied_as_it_is_served(tmp_path: Path, database: Database) -> None:
    folder = tmp_path / "tiles"

    async def run() -> None:
        log = StoredLog(database)
        log.grow(3 * TILE_WIDTH + 17)
        async with copying(log, TileBucket(folder.as_uri())) as copier:
            await wait_until(lambda: copier.copied == 3 * TILE_WIDTH)
            log.grow(4 * TILE_WIDTH)
            await wait_until(lambda: copier.copied == 4 * TILE_WIDTH)

    asyncio.run(run())
    found = files_in(folder)
    assert sorted(found) == [
        *(f"tile/0/00{number}" for number in range(4)),
        *(f"tile/entries/00{number}" for number in range(4)),
    ], "nothing unfinished"
    assert all(read_file(database, Tile.parse(path)) == raw for path, raw in found.items())
    assert parse_bundle(found["tile/entries/003"])[255] == b"leaf 1023"


def test_tiles_of_higher_levels_are_copied_when_they_are_full() -> None:
    size = TILE_WIDTH**2
    assert full_files(size - TILE_WIDTH, size) == [
        Tile(level=BUNDLE_LEVEL, index=255),
        Tile(level=0, index=255),
        Tile(level=1, index=0),
    ]
    assert [one.level for one in full_files(size, size + TILE_WIDTH)] == [BUNDLE_LEVEL, 0]


def test_a_restart_continues_and_puts_nothing_twice(tmp_path: Path, database: Database) -> None:
    folder = tmp_path / "tiles"

    async def run() -> None:
        log = StoredLog(database)
        log.grow(STEP + TILE_WIDTH)
        bucket = CountedBucket(folder.as_uri())
        async with copying(log, bucket) as copier:
            await wait_until(lambda: copier.copied == STEP + TILE_WIDTH)
        assert len(bucket.puts) == len(set(bucket.puts)) == 2 * (STEP_BUNDLES + 1)
        log.grow(STEP + 3 * TILE_WIDTH)
        bucket.puts.clear()
        async with copying(log, bucket) as copier:
            await wait_until(lambda: copier.copied == STEP + 3 * TILE_WIDTH)
        assert sorted(bucket.puts) == [
            "tile/0/017",
            "tile/0/018",
            "tile/entries/017",
            "tile/entries/018",
        ]
        other = CountedBucket((tmp_path / "another").as_uri())
        async with copying(log, other) as copier:
            await wait_until(lambda: copier.copied == STEP + 3 * TILE_WIDTH)
        assert len(other.puts) == 2 * (STEP_BUNDLES + 3), "another place begins at entry 0"

    asyncio.run(run())


def test_what_failed_is_copied_again_and_the_position_waits_for_it(
    tmp_path: Path, database: Database
) -> None:
    folder = tmp_path / "tiles"

    async def run() -> None:
        log = StoredLog(database)
        log.grow(2 * STEP)
        bucket = CountedBucket(folder.as_uri())
        bucket.fails_at = lambda path: path == "tile/entries/020"
        async with copying(log, bucket) as copier:
            await wait_until(lambda: bucket.failures >= 2)
            assert copier.copied == STEP
        bucket.fails_at = lambda _path: False
        bucket.puts.clear()
        async with copying(log, bucket) as copier:
            await wait_until(lambda: copier.copied == 2 * STEP)
        assert len(bucket.puts) == 2 * STEP_BUNDLES, "the second step alone"

    asyncio.run(run())
    assert len(files_in(folder)) == 4 * STEP_BUNDLES


def test_only_the_process_that_writes_the_log_copies(tmp_path: Path, database: Database) -> None:
    async def run() -> None:
        log = StoredLog(database, is_leading=False)
        log.grow(TILE_WIDTH)
        bucket = CountedBucket((tmp_path / "tiles").as_uri())
        async with copying(log, bucket) as copier:
            await asyncio.sleep(0.2)
            assert (copier.copied, bucket.puts) == (0, [])
            log.is_leading = True
            await wait_until(lambda: copier.copied == TILE_WIDTH)

    asyncio.run(run())


def test_a_file_that_is_wrong_there_is_replaced(tmp_path: Path, database: Database) -> None:
    folder = tmp_path / "tiles"
    wrong = folder / "tile" / "0" / "000"
    wrong.parent.mkdir(parents=True)
    wrong.write_bytes(b"of another log")

    async def run() -> None:
        log = StoredLog(database)
        log.grow(TILE_WIDTH)
        async with copying(log, TileBucket(folder.as_uri())) as copier:
            await wait_until(lambda: copier.copied == TILE_WIDTH)

    asyncio.run(run())
    assert wrong.read_bytes() == read_file(database, Tile(level=0, index=0))


def test_a_bucket_of_s3_serves_them_to_anybody(
    server: dict[str, str], database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in server.items():
        monkeypatch.setenv(name, value)

    async def run() -> None:
        log = StoredLog(database)
        log.grow(2 * TILE_WIDTH + 1)
        url = f"s3://{object_store.BUCKET}/log"
        async with copying(log, TileBucket(url)) as copier:
            await wait_until(lambda: copier.copied == 2 * TILE_WIDTH)

    asyncio.run(run())
    place = f"{server['AWS_ENDPOINT_URL']}/{object_store.BUCKET}/log"
    with object_store.public_bucket(server) as open_up:
        open_up()
        for level in ("entries", "0"):
            answer = httpx.get(f"{place}/tile/{level}/001")
            assert answer.content == read_file(database, Tile.parse(f"tile/{level}/001"))
            assert answer.headers["content-type"] == "application/octet-stream"
            assert "immutable" in answer.headers["cache-control"]
        assert httpx.get(f"{place}/tile/entries/002").status_code == 404


def test_a_bucket_that_cannot_be_opened_is_told_with_its_option() -> None:
    with pytest.raises(UserFacingError, match=r"--tiles 's3://'"):
        TileBucket("s3://")


def test_a_service_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    bucket = TileBucket("s3://log", retries={"max_retries": 0})
    with pytest.raises(UnwritableError, match="the tiles at s3://log cannot be written"):
        asyncio.run(bucket.put("tile/0/000", b""))


def test_a_running_ledger_copies_what_it_has_published(tmp_path: Path) -> None:
    folder, clock = tmp_path / "tiles", VirtualClock()
    settings = make_settings(tmp_path / "ledger", tiles=folder.as_uri())

    async def run() -> None:
        with opened(settings, clock) as ledger:
            tiles = ledger.tiles
            assert tiles is not None
            async with running(ledger):
                entries = newcomers("member", ledger.genesis.network_id, 300, clock())
                for first in range(0, 300, 100):
                    await ledger.sequencer.submit(entries[first : first + 100])
                await wait_until(lambda: tiles.copied == TILE_WIDTH)
            assert files_in(folder) == {
                path: read_file(ledger.database, Tile.parse(path))
                for path in ("tile/0/000", "tile/entries/000")
            }

    asyncio.run(run())
