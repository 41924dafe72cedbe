"""The log as files, checked by our own verifier; `test_outside_verifier` has a stranger's."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import httpx
import pytest

from tequio_shared.log import merkle
from tequio_shared.log.notes import Checkpoint, VerifierKey, open_checkpoint
from tequio_shared.log.tiles import (
    BUNDLE_LEVEL,
    TILE_WIDTH,
    Tile,
    encode_bundle,
    new_tiles,
    parse_bundle,
)
from tests.support.authors import newcomers
from tests.support.ledgers import UNLIMITED, Served, served

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Make a log of 601 entries: two full tiles, a partial one, and a level above."""
    with served(tmp_path_factory.mktemp("ledger"), *UNLIMITED) as running:
        now_ms = time.time_ns() // 1_000_000
        leaves = [one.leaf() for one in newcomers("files", running.net, 600, now_ms)]
        for at in range(0, 600, 200):
            answer = httpx.post(
                f"{running.url}/v1/statements", content=encode_bundle(leaves[at : at + 200])
            )
            assert {item["status"] for item in answer.json()["items"]} == {"logged"}
        yield running


def checkpoint(http: httpx.Client) -> Checkpoint:
    vkey = VerifierKey.parse(http.get("/v1/network").json()["log_key"])
    return open_checkpoint(http.get("/log/checkpoint").content, vkey).checkpoint


def leaves_of(http: httpx.Client, size: int) -> list[bytes]:
    leaves = []
    for tile in (Tile(level=BUNDLE_LEVEL, index=n) for n in range(size // TILE_WIDTH)):
        leaves += parse_bundle(http.get(f"/log/{tile.path()}").content)
    rest = Tile(level=BUNDLE_LEVEL, index=size // TILE_WIDTH, width=size % TILE_WIDTH)
    return leaves + parse_bundle(http.get(f"/log/{rest.path()}").content)


def test_bundles_hash_to_the_signed_root(http: httpx.Client) -> None:
    signed = checkpoint(http)
    leaves = leaves_of(http, signed.size)
    assert (len(leaves), merkle.root(leaves)) == (signed.size, signed.root)


def test_every_tile_is_made_of_the_level_below(http: httpx.Client) -> None:
    size = checkpoint(http).size
    hashes = {0: [merkle.leaf_hash(leaf) for leaf in leaves_of(http, size)]}
    for tile in new_tiles(0, size):
        if tile.level and tile.level not in hashes:
            below = hashes[tile.level - 1]
            full = range(0, len(below) - TILE_WIDTH + 1, TILE_WIDTH)
            hashes[tile.level] = [merkle.root_of_hashes(below[at : at + 256]) for at in full]
        first = tile.index * TILE_WIDTH
        expected = b"".join(hashes[tile.level][first : first + tile.width])
        assert http.get(f"/log/{tile.path()}").content == expected


def test_every_partial_that_ever_was_stays_and_larger_ones_do_not_exist(
    http: httpx.Client,
) -> None:
    size = checkpoint(http).size
    width = size % TILE_WIDTH
    whole = http.get(f"/log/tile/0/002.p/{width}").content
    for smaller in (1, 7, width - 1):
        assert http.get(f"/log/tile/0/002.p/{smaller}").content == whole[: 32 * smaller]
    for absent in (f"tile/0/002.p/{width + 1}", "tile/0/002", "tile/1/000", "tile/2/000.p/1"):
        assert http.get(f"/log/{absent}").status_code == 404


def test_types_and_cache_headers_are_those_of_the_specification(http: httpx.Client) -> None:
    note, tile = http.get("/log/checkpoint"), http.get("/log/tile/0/000")
    assert note.headers["content-type"] == "text/plain; charset=utf-8"
    assert tile.headers["content-type"] == "application/octet-stream"
    assert "immutable" in tile.headers["cache-control"]
    assert "immutable" not in note.headers["cache-control"]


@pytest.mark.parametrize("said", ["gzip", "br, gzip;q=0.5", "identity;q=0.1, GZIP"])
def test_a_bundle_comes_in_gzip_to_who_accepts_it(http: httpx.Client, said: str) -> None:
    path = "/log/tile/entries/000"
    plain = http.get(path, headers={"accept-encoding": "identity"})
    packed = http.get(path, headers={"accept-encoding": said})
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert packed.content == plain.content
    assert int(packed.headers["content-length"]) < int(plain.headers["content-length"])
    assert packed.headers["etag"] != plain.headers["etag"]
    assert packed.headers["vary"] == plain.headers["vary"] == "accept-encoding"


@pytest.mark.parametrize("said", ["", "gzip;q=0", "identity", "br"])
def test_nobody_gets_gzip_who_does_not_accept_it(http: httpx.Client, said: str) -> None:
    answer = http.get("/log/tile/entries/000", headers={"accept-encoding": said})
    assert "content-encoding" not in answer.headers


def test_hashes_are_never_packed(http: httpx.Client) -> None:
    answer = http.get("/log/tile/0/000", headers={"accept-encoding": "gzip"})
    assert "content-encoding" not in answer.headers
