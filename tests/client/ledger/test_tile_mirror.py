"""Full tiles from a mirror: what the ledger still sends, and what a bad mirror can do."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import pytest
import trio

from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import ApiLimits
from tequio_client.ledger.proofs import LogProofs
from tequio_client.ledger.tile_mirror import MirrorLimits, TileMirror
from tequio_client.worker.swarm.dials import NamedHosts, Reach, hosts_named_by
from tequio_shared.keys import Signer
from tequio_shared.log.merkle import leaf_hash, root_of_hashes, verify_consistency
from tequio_shared.log.tiles import BUNDLE_LEVEL, TILE_WIDTH, Tile
from tests.support.memory_log import (
    LogServer,
    MemoryLog,
    Reply,
    chain_of,
    problem,
    serving,
    unused_url,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

BUNDLES = 20
ENTRIES = BUNDLES * TILE_WIDTH + 80
Mirrored = tuple[LogServer, LogServer, LedgerApi]
HURRIED = MirrorLimits(answer_s=20, fair_s=0.05, patience_s=0.5, rest_s=600)


@cache
def filled_log(seed: int = 1) -> MemoryLog:
    log = MemoryLog.founded()
    log.extend(chain_of(Signer(bytes([seed]) * 32), ENTRIES - 1))
    return log


@asynccontextmanager
async def mirrored(mirror: MemoryLog | None = None) -> AsyncIterator[Mirrored]:
    """A ledger, a mirror of its log (or of another one), and a reader."""
    async with serving(filled_log()) as ledger, serving(mirror or filled_log()) as bucket:
        ledger.tiles_url = f"{bucket.url}/log"
        hosts = hosts_named_by(ledger.url)
        limits = ApiLimits(call_s=20)
        async with LedgerApi(ledger.url, limits=limits, address_of=hosts.address_of) as api:
            yield ledger, bucket, api


@asynccontextmanager
async def reading(
    bucket: LogServer, limits: MirrorLimits = HURRIED, least: Reach = Reach.LOOPBACK
) -> AsyncIterator[TileMirror]:
    """A reader of a mirror alone, whose ledger is the log itself."""

    async def from_ledger(tile: Tile) -> bytes:
        return filled_log().tile(tile)

    async def reach() -> Reach:
        return least

    url = f"{bucket.url}/log"
    mirror = TileMirror(url, from_ledger, NamedHosts(reach).address_of, limits)
    mirror.newest = filled_log().checkpoint()
    mirror.record_ledger(0.01)
    try:
        yield mirror
    finally:
        await mirror.aclose()


async def read_all(api: LedgerApi) -> list[bytes]:
    size = (await api.checkpoint()).size
    leaves: list[bytes] = []
    for first in range(0, size, TILE_WIDTH):
        leaves += await api.entries(first, min(size, first + TILE_WIDTH))
    return leaves


async def first_bundles(mirror: TileMirror, count: int) -> list[bytes | None]:
    return [await mirror.get(Tile(level=BUNDLE_LEVEL, index=index)) for index in range(count)]


def bundles(server: LogServer) -> list[str]:
    """The full bundles that a server was asked for."""
    asked = (one.removeprefix("GET /log/") for one in server.requests)
    return [one for one in asked if one.startswith("tile/entries") and ".p/" not in one]


@pytest.mark.trio
async def test_full_bundles_come_from_the_mirror_and_the_rest_from_the_ledger() -> None:
    async with mirrored() as (ledger, bucket, api):
        assert await read_all(api) == filled_log().leaves
        assert len(bundles(bucket)) == BUNDLES - 1
        assert bundles(ledger) == ["tile/entries/000"], "to know how long it takes"
        assert all(".p/" not in one for one in bucket.requests), "nothing unfinished is asked there"
        assert ledger.sent_bytes < bucket.sent_bytes / 10


@pytest.mark.trio
async def test_proofs_are_made_of_mirrored_tiles() -> None:
    async with mirrored() as (_, bucket, api):
        signed = await api.checkpoint()
        await api.entries(0, TILE_WIDTH)
        proof = await LogProofs(api, signed).consistency(700)
        old_root = root_of_hashes(filled_log().hashes[:700])
        verify_consistency(700, old_root, signed.size, signed.root, proof)
        assert "GET /log/tile/0/002" in bucket.requests


@pytest.mark.trio
async def test_a_reader_that_was_given_no_rule_for_hosts_asks_the_ledger_alone() -> None:
    async with mirrored() as (ledger, bucket, _), LedgerApi(ledger.url) as api:
        assert await read_all(api) == filled_log().leaves
        assert bucket.requests == []


def cut(_method: str, _path: str, reply: Reply) -> Reply:
    return replace(reply, body=reply.body[:-1])


def flip(_method: str, _path: str, reply: Reply) -> Reply:
    return replace(reply, body=reply.body[:-1] + bytes([reply.body[-1] ^ 1]))


def empty(_method: str, _path: str, reply: Reply) -> Reply:
    return replace(reply, body=b"")


def grow(_method: str, _path: str, reply: Reply) -> Reply:
    return replace(reply, body=reply.body + bytes(20_000_000))


def fail(_method: str, _path: str, _reply: Reply) -> Reply:
    return problem("broken", "no", 500)


@pytest.mark.parametrize("tamper", [cut, flip, empty, grow, fail])
@pytest.mark.trio
async def test_a_mirror_that_answers_anything_else_is_asked_once(
    tamper: Callable[[str, str, Reply], Reply],
) -> None:
    async with mirrored() as (ledger, bucket, api):
        bucket.tamper = tamper
        assert await read_all(api) == filled_log().leaves
        assert len(bundles(bucket)) == 1, "then it rests"
        assert len(bundles(ledger)) == BUNDLES


@pytest.mark.trio
async def test_a_mirror_of_another_log_is_asked_once() -> None:
    async with mirrored(filled_log(2)) as (_, bucket, api):
        assert await read_all(api) == filled_log().leaves
        assert len(bundles(bucket)) == 1


@pytest.mark.trio
async def test_a_mirror_that_is_not_there_costs_no_more_than_a_retry() -> None:
    async with mirrored() as (ledger, _, api):
        ledger.tiles_url = unused_url()
        assert await read_all(api) == filled_log().leaves
        assert len(bundles(ledger)) == BUNDLES


@pytest.mark.parametrize("url", ["http://", "http://a b/", "ftp://a", "http://u:p@127.0.0.1/"])
@pytest.mark.trio
async def test_an_invalid_address_of_a_mirror_is_ignored(url: str) -> None:
    async with mirrored() as (ledger, _, api):
        ledger.tiles_url = url
        assert await read_all(api) == filled_log().leaves


MISSING = Reply(status=404, body=b"<Error><Code>NoSuchKey</Code></Error>")


@pytest.mark.trio
async def test_missing_files_come_from_the_ledger_and_the_mirror_is_asked_on() -> None:
    def lacking(_method: str, path: str, reply: Reply) -> Reply:
        is_lost = path in ("/log/tile/entries/003", "/log/tile/entries/007")
        return MISSING if is_lost else reply

    async with mirrored() as (ledger, bucket, api):
        bucket.tamper = lacking
        assert await read_all(api) == filled_log().leaves
        assert bundles(ledger) == [f"tile/entries/00{number}" for number in (0, 3, 7)]
        assert len(bundles(bucket)) == BUNDLES - 1


@pytest.mark.parametrize(
    "nothing",
    [
        # as S3 says of a missing file without the right to list
        Reply(status=403, body=b"<Error><Code>AccessDenied</Code></Error>"),
        problem("not-found", "as a cache in front of the ledger says", 404),
        Reply(status=302, headers={"location": "http://127.0.0.1:1/"}),
        # as a static website's host says of a missing file
        Reply(body=b"<html>Not found", headers={"content-type": "text/html"}),
    ],
)
@pytest.mark.trio
async def test_an_empty_mirror_is_asked_a_few_times_only(nothing: Reply) -> None:
    async with mirrored() as (_, bucket, api):
        bucket.tamper = lambda *_: nothing
        assert await read_all(api) == filled_log().leaves
        assert len(bundles(bucket)) == 8


@pytest.mark.trio
async def test_a_silent_mirror_is_waited_for_once() -> None:
    limits = MirrorLimits(answer_s=0.3)
    async with serving(filled_log()) as bucket, reading(bucket, limits) as mirror:
        bucket.pause_s = 600.0
        with trio.fail_after(60):
            assert await first_bundles(mirror, BUNDLES) == [None] * BUNDLES
        assert len(bucket.requests) == 1


@pytest.mark.trio
async def test_a_mirror_slower_than_is_fair_rests_when_patience_is_used_up() -> None:
    async with serving(filled_log()) as bucket, reading(bucket) as mirror:
        bucket.pause_s = 0.15  # 0.1 s too much
        found = await first_bundles(mirror, BUNDLES)
        assert 0 < sum(one is not None for one in found) <= 5
        assert found[-1] is None


@pytest.mark.trio
async def test_a_mirror_may_be_as_slow_as_the_ledger_is() -> None:
    async with serving(filled_log()) as bucket, reading(bucket) as mirror:
        bucket.pause_s = 0.1
        mirror.record_ledger(5.0)
        assert None not in await first_bundles(mirror, BUNDLES)


@pytest.mark.trio
async def test_a_mirror_is_asked_again_after_its_rest() -> None:
    limits = MirrorLimits(rest_s=0.2)
    async with serving(filled_log()) as bucket, reading(bucket, limits) as mirror:
        bucket.tamper = flip
        assert await first_bundles(mirror, 2) == [None, None]
        bucket.tamper = lambda _method, _path, reply: reply
        await trio.sleep(0.25)
        assert None not in await first_bundles(mirror, 2)


@pytest.mark.trio
async def test_a_public_ledger_cannot_name_a_private_mirror() -> None:
    async with (
        serving(filled_log()) as bucket,
        reading(bucket, MirrorLimits(), Reach.PUBLIC) as mirror,
    ):
        assert await first_bundles(mirror, 2) == [None, None]
        assert bucket.requests == []


@pytest.mark.trio
async def test_the_edge_is_fetched_again_when_the_log_grew_much() -> None:
    log = filled_log().copy()
    asked: list[int] = []
    sizes: Sequence[int] = (17 * TILE_WIDTH, 18 * TILE_WIDTH + 9, 34 * TILE_WIDTH)
    log.extend(chain_of(Signer(bytes([3]) * 32), 34 * TILE_WIDTH - ENTRIES))

    async def from_ledger(tile: Tile) -> bytes:
        asked.append(tile.level)
        return log.tile(tile)

    async with serving(log) as bucket:
        hosts = hosts_named_by(bucket.url)
        mirror = TileMirror(f"{bucket.url}/log", from_ledger, hosts.address_of)
        mirror.record_ledger(0.01)
        found = []
        for size in sizes:
            mirror.newest = replace(
                log.checkpoint(), size=size, root=root_of_hashes(log.hashes[:size])
            )
            number = size // TILE_WIDTH
            found.append(await mirror.get(Tile(level=BUNDLE_LEVEL, index=number - 1)))
        await mirror.aclose()
    assert [one is None for one in found] == [False, True, False], "the ledger has what is fresh"
    assert asked == [1, 1], "no level below has an unfinished tile at these sizes"


@pytest.mark.trio
async def test_a_log_of_several_levels_is_verified_from_its_edge_down() -> None:
    log = MemoryLog.founded()
    log.leaves += [b"leaf %d" % number for number in range(1, TILE_WIDTH**2 + 3 * TILE_WIDTH + 5)]
    log.hashes[:] = [leaf_hash(leaf) for leaf in log.leaves]
    levels: list[int] = []

    async def from_ledger(tile: Tile) -> bytes:
        levels.append(tile.level)
        return log.tile(tile)

    async with serving(log) as bucket:
        hosts = hosts_named_by(bucket.url)
        mirror = TileMirror(f"{bucket.url}/log", from_ledger, hosts.address_of)
        mirror.newest = log.checkpoint()
        mirror.record_ledger(0.01)
        names = [(BUNDLE_LEVEL, 0), (0, 255), (BUNDLE_LEVEL, 256), (1, 0), (BUNDLE_LEVEL, 9)]
        for level, index in names:
            tile = Tile(level=level, index=index)
            assert await mirror.get(tile) == log.tile(tile)
        await mirror.aclose()
        fetched = [one.removeprefix("GET /log/") for one in bucket.requests]
    assert fetched == [
        "tile/1/000",
        "tile/entries/000",
        "tile/0/255",
        "tile/entries/256",
        "tile/entries/009",
    ], "the tile of level 1 once, for all that need it"
    assert levels == [0, 1, 2]
