"""Mirrors of data: shards from the web by hash; slow, old, lying and misleading servers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import trio

from tequio_client.worker.store.trees import hash_bytes
from tequio_client.worker.swarm.dials import Reach
from tequio_client.worker.swarm.mirrors import FAILURES, REDIRECTS, REQUESTS, MirroredFile
from tequio_client.worker.swarm.sources import FetchFailedError, FetchSources
from tequio_client.worker.swarm.streams import NotWantedError
from tequio_client.worker.swarm.transfer import TransferTimes
from tequio_shared.errors import PeerError
from tequio_shared.ids import DIGEST_BYTES, to_text
from tequio_shared.round.corpus import LEAVES_SUFFIX, Corpus, TrainShard, train_file_name
from tequio_shared.round.manifest import Tokenizer
from tests.support.attack_table import attack
from tests.support.data_mirror import DataMirror, DataMirrorHandler, data_mirror
from tests.support.transfer_peers import BIG, MIB, SMALL, TransferPeers, big

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tequio_client.worker.swarm.transfer import Fetcher

SHARDS = (BIG, SMALL)
SMALL_REF = hash_bytes(SMALL, MIB).ref


def corpus_of(*shards: bytes) -> Corpus:
    """A data manifest of these training shards, of one byte a token."""
    return Corpus(
        source="test",
        tokenizer=Tokenizer(kind="bytes", file="", vocab_size=256),
        token_bytes=1,
        separator=0,
        sequence=32,
        train=tuple(
            TrainShard(
                root=to_text(hash_bytes(one, MIB).ref.root),
                size_bytes=len(one),
                tokens=len(one),
                samples=(len(one) - 1) // 32,
            )
            for one in shards
        ),
        held_out=(),
    )


@pytest.fixture
def mirror(tmp_path: Path) -> Iterator[DataMirror]:
    folder = tmp_path / "data"
    folder.mkdir()
    for index, shard in enumerate(SHARDS):
        path = folder / train_file_name(index)
        path.write_bytes(shard)
        leaves = b"".join(hash_bytes(shard, MIB).leaves)
        path.with_name(path.name + LEAVES_SUFFIX).write_bytes(leaves)
    with data_mirror(folder) as running:
        yield running


def added(fetcher: Fetcher, *urls: str, reach: Reach = Reach.LOOPBACK) -> FetchSources:
    """Have the fetcher use these mirrors; returns those of the big shard as sources."""

    async def least() -> Reach:
        await trio.lowlevel.checkpoint()
        return reach

    fetcher.mirrors.least = least
    fetcher.mirrors.add(urls, corpus_of(*SHARDS))
    return FetchSources(fetcher.mirrors.files_of(big().root), may_grow=False)


@pytest.mark.trio
async def test_a_shard_comes_from_a_mirror_alone(swarm: TransferPeers, mirror: DataMirror) -> None:
    async with swarm.fetcher() as fetcher:
        report = await fetcher.fetch_tree(big(), added(fetcher, mirror.url), timeout_s=20)
        little = FetchSources(fetcher.mirrors.files_of(SMALL_REF.root), may_grow=False)
        await fetcher.fetch_tree(SMALL_REF, little, timeout_s=20)
    assert swarm.has(BIG, big())
    assert swarm.has(SMALL, SMALL_REF)
    assert dict(report.bytes_by_source) == {MirroredFile(mirror.url, train_file_name(0)): len(BIG)}


@pytest.mark.trio
async def test_what_mirrors_send_is_traffic_also_if_it_is_given_up(
    swarm: TransferPeers, mirror: DataMirror
) -> None:
    async with swarm.fetcher() as fetcher:
        before_bytes = fetcher.read_bytes
        await fetcher.fetch_tree(big(), added(fetcher, mirror.url), timeout_s=20)
        assert fetcher.read_bytes - before_bytes >= mirror.sent_bytes > len(BIG)
        mirror.disturb, before_bytes = _more, fetcher.read_bytes
        (file,) = fetcher.mirrors.files_of(SMALL_REF.root)
        with pytest.raises(PeerError):
            await fetcher.mirrors.leaves(file, SMALL_REF)
        assert fetcher.read_bytes - before_bytes > SMALL_REF.pieces * DIGEST_BYTES


@pytest.mark.trio
async def test_what_a_mirror_gave_before_it_failed_is_not_fetched_again(
    swarm: TransferPeers, mirror: DataMirror
) -> None:
    served = len(hash_bytes(BIG, MIB).leaves) * 32 + 5 * MIB
    mirror.disturb = lambda handler: _away(handler) if mirror.sent_bytes >= served else False
    async with swarm.fetcher() as fetcher:
        with pytest.raises(FetchFailedError) as failed:
            await fetcher.fetch_tree(big(), added(fetcher, mirror.url), timeout_s=20)
        there = sum(failed.value.progress.bytes_by_source.values())
        assert MIB <= there < len(BIG)
        good = await swarm.source("good", BIG)
        report = await fetcher.fetch_tree(big(), [good], timeout_s=20)
    assert dict(report.bytes_by_source) == {good: len(BIG) - there}


@pytest.mark.trio
async def test_a_mirror_is_not_asked_for_what_nobody_wants_any_more_at_its_turn(
    swarm: TransferPeers, mirror: DataMirror
) -> None:
    async with swarm.fetcher() as fetcher:
        added(fetcher, mirror.url)
        (file,) = fetcher.mirrors.files_of(big().root)
        with pytest.raises(NotWantedError):
            await fetcher.pieces(file, big(), 0, 1, lambda: False)
    assert not mirror.sent_bytes


@attack("M11", layer="mdl", ends="dropped at the first wrong piece; the shard comes from a peer")
@pytest.mark.trio
@pytest.mark.parametrize("what", [LEAVES_SUFFIX, ".tokens"])
async def test_a_mirror_with_other_bytes_is_dropped(
    swarm: TransferPeers, mirror: DataMirror, what: str
) -> None:
    path = mirror.folder / (train_file_name(0).removesuffix(".tokens") + ".tokens")
    spoilt = path if what == ".tokens" else path.with_name(path.name + what)
    content = bytearray(spoilt.read_bytes())
    for at in range(0, len(content), MIB):  # whichever piece is asked for
        content[at] ^= 1
    spoilt.write_bytes(content)
    good = await swarm.source("good", BIG)
    async with swarm.fetcher(times=TransferTimes(hedge_s=0.2)) as fetcher:
        sources = added(fetcher, mirror.url)
        sources.add(good)
        report = await fetcher.fetch_tree(big(), sources, timeout_s=20)
        assert set(report.bad_sources) == {MirroredFile(mirror.url, train_file_name(0))}
        assert not fetcher.mirrors.files_of(big().root), "the mirror rests"
    assert swarm.has(BIG, big())


def _away(handler: DataMirrorHandler) -> bool:
    handler.reply(503, b"busy")
    return True


def _whole(handler: DataMirrorHandler) -> bool:
    path = handler.mirror.folder / handler.path.rsplit("/", 1)[-1]
    handler.reply(200, path.read_bytes())
    return True


def _more(handler: DataMirrorHandler) -> bool:
    # More than anything asked for: several pieces may be wanted at once.
    handler.reply(206 if "range" in handler.headers else 200, bytes(len(BIG) + 1))
    return True


def _cut(handler: DataMirrorHandler) -> bool:
    handler.send_response(206 if "range" in handler.headers else 200)
    handler.send_header("content-length", str(MIB))
    handler.end_headers()
    handler.wfile.write(b"cut")
    handler.close_connection = True
    return True


def _in_a_circle(handler: DataMirrorHandler) -> bool:
    handler.reply(302, b"", {"location": handler.path})
    return True


@pytest.mark.trio
@pytest.mark.parametrize("disturb", [_away, _whole, _more, _cut, _in_a_circle])
async def test_a_mirror_that_fails_rests_after_a_few_times(
    swarm: TransferPeers, mirror: DataMirror, disturb: object
) -> None:
    good = await swarm.source("good", BIG)
    mirror.disturb = lambda handler: (
        not handler.path.endswith(LEAVES_SUFFIX) and disturb(handler)  # type: ignore[operator]
    )
    async with swarm.fetcher() as fetcher:
        sources = added(fetcher, mirror.url)
        sources.add(good)
        report = await fetcher.fetch_tree(big(), sources, timeout_s=30)
        assert dict(report.bytes_by_source) == {good: len(BIG)}
        assert not report.bad_sources
        asked = [path for path in mirror.asked if not path.endswith(LEAVES_SUFFIX)]
        # Those on their way when it begins to rest still come.
        assert len(asked) <= REDIRECTS * (FAILURES + REQUESTS)


@pytest.mark.trio
async def test_a_redirect_is_followed_once_for_all_pieces(
    swarm: TransferPeers, mirror: DataMirror
) -> None:
    def moved(handler: DataMirrorHandler) -> bool:
        if not handler.path.startswith("/data/"):
            return False
        handler.reply(302, b"", {"location": f"/cdn/long-token/{handler.path[6:]}"})
        return True

    mirror.disturb = moved
    async with swarm.fetcher() as fetcher:
        await fetcher.fetch_tree(big(), added(fetcher, mirror.url), timeout_s=20)
    assert swarm.has(BIG, big())
    redirected = [path for path in mirror.asked if path.startswith("/data/")]
    assert len(redirected) < len(mirror.asked) / 2


@attack("D10", layer="net", ends="nothing is connected to")
@pytest.mark.trio
@pytest.mark.parametrize("reach", [Reach.PRIVATE, Reach.PUBLIC])
async def test_a_mirror_nearer_than_the_ledger_is_not_dialled(
    swarm: TransferPeers, mirror: DataMirror, reach: Reach
) -> None:
    port = mirror.url.split(":")[2].split("/")[0]
    urls = [f"http://{host}:{port}/data" for host in ("127.0.0.1", "localhost", "169.254.169.254")]
    async with swarm.fetcher() as fetcher:
        with pytest.raises(FetchFailedError):
            await fetcher.fetch_tree(big(), added(fetcher, *urls, reach=reach), timeout_s=5)
    assert not mirror.asked


@attack("D10", layer="net", ends="nothing is connected to")
@pytest.mark.trio
async def test_a_redirect_to_a_nearer_address_is_not_followed(
    swarm: TransferPeers, mirror: DataMirror
) -> None:
    def elsewhere(handler: DataMirrorHandler) -> bool:
        handler.reply(302, b"", {"location": "http://169.254.169.254/latest/meta-data"})
        return True

    mirror.disturb = elsewhere
    async with swarm.fetcher() as fetcher:
        with pytest.raises(FetchFailedError):
            await fetcher.fetch_tree(big(), added(fetcher, mirror.url), timeout_s=5)
        assert not fetcher.mirrors.files_of(big().root)
