"""Entries of a log, each proven by the hashes of its tile."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import trio

from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.proofs import LogProofs
from tequio_shared.errors import PeerError, first_error
from tequio_shared.log.tiles import BUNDLE_LEVEL, TILE_WIDTH, Tile, encode_bundle
from tests.client.verify.logs import SwarmLog
from tests.support.llama_swarm import ServedLog, played, served_log

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZE = 2 * TILE_WIDTH + 89
SPANS = [(0, 1), (0, 256), (200, 456), (255, 257), (256, 257), (511, 513), (512, SIZE), (600, 601)]


@pytest.fixture(scope="module")
def site() -> Iterator[ServedLog]:
    """A log of two tiles and a part, of which no two entries are alike."""
    log = SwarmLog(played().swarm)
    log.leaves += [b"entry %d" % at for at in range(SIZE - log.size)]
    log.sign()
    with served_log(log) as one:
        yield one


def read(site: ServedLog, first: int, end: int) -> list[bytes]:
    async def main() -> list[bytes]:
        async with LedgerApi(site.url) as api:
            return await LogProofs(api, await api.checkpoint()).leaves(first, end)

    return trio.run(main)


@pytest.mark.parametrize(("first", "end"), SPANS)
def test_entries_are_read_across_tiles(site: ServedLog, first: int, end: int) -> None:
    assert read(site, first, end) == site.log.leaves[first:end]


@pytest.mark.parametrize(("first", "end"), SPANS)
def test_each_of_them_that_was_changed_is_refused(
    site: ServedLog, monkeypatch: pytest.MonkeyPatch, first: int, end: int
) -> None:
    for changed in sorted({first, (first + end) // 2, end - 1}):
        leaves = [*site.log.leaves]
        leaves[changed] += b"."

        def lie(path: str, leaves: list[bytes] = leaves) -> bytes | None:
            if not path.startswith("/log/tile/entries/"):
                return None
            tile = Tile.parse(path.removeprefix("/log/"))
            assert tile.level == BUNDLE_LEVEL
            start = tile.index * TILE_WIDTH
            return encode_bundle(leaves[start : start + tile.width])

        monkeypatch.setattr(site, "lie", lie)
        with pytest.raises((PeerError, BaseExceptionGroup)) as caught:
            read(site, first, end)
        assert isinstance(first_error(caught.value), PeerError)


@pytest.mark.parametrize(("first", "end"), [(SIZE - 1, SIZE + 1), (SIZE, SIZE + 1)])
def test_nothing_lies_beyond_the_end(site: ServedLog, first: int, end: int) -> None:
    with pytest.raises((PeerError, BaseExceptionGroup)) as caught:
        read(site, first, end)
    assert "beyond the end of a log" in str(first_error(caught.value))
