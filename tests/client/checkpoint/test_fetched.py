"""Weights come from the ledger's seeds, by the real peer network."""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

import pytest
import trio

from tequio_client.checkpoint import chat, export, layout, tensors
from tequio_client.checkpoint.export import WeightsOrigin
from tequio_client.verify.report import NoProgress
from tequio_client.worker.store.store import Store
from tequio_client.worker.store.trees import hash_bytes
from tequio_client.worker.swarm import seeds
from tequio_client.worker.swarm.blob_server import BlobServer
from tequio_client.worker.swarm.sources import FetchFailedError, FetchProgress
from tequio_shared.addresses import sign_addresses
from tequio_shared.errors import UserFacingError, first_error
from tequio_shared.ids import to_text
from tequio_shared.keys import Signer
from tests.client.verify.logs import SwarmLog
from tests.support.llama_swarm import ROUNDS, ServedLog, played, served_log
from tests.support.loopback import network
from tests.support.partial_trees import open_partial

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tequio_client.worker.store.trees import TreeRef
    from tequio_client.worker.swarm.transfer import Fetcher

PIECE = 1_024
SLOW = hash_bytes(bytes(3 * PIECE), PIECE)
ABSENT = hash_bytes(b"absent", PIECE).ref


@contextmanager
def seed(site: ServedLog, store: Path) -> Iterator[None]:
    """A peer in a thread of its own that serves a store and is listed at the ledger."""
    begun, end = threading.Event(), trio.Event()
    tokens: list[trio.lowlevel.TrioToken] = []

    async def serve() -> None:
        async with network("seed") as peers:
            BlobServer(peers, Store(store, quota_bytes=1 << 30), None)
            signer = Signer(b"seed".ljust(32, b"."))
            net = played().swarm.net
            record = sign_addresses(signer, net, peers.addresses(), time.time_ns() // 10**6)
            site.seeds = [json.loads(record.encode())]
            tokens.append(trio.lowlevel.current_trio_token())
            begun.set()
            await end.wait()

    thread = threading.Thread(target=trio.run, args=(serve,))
    thread.start()
    assert begun.wait(30)
    try:
        yield
    finally:
        tokens[0].run_sync_soon(end.set)
        thread.join(30)


class FetchSteps:
    """Collects the steps of fetching, and their total."""

    def __init__(self) -> None:
        self.steps: list[int] = []
        self.total = 0

    @contextmanager
    def work(self, what: str, total: int) -> Iterator[Callable[[int], None]]:
        """Begin a piece of work."""
        is_fetch = what == export.WEIGHTS_FETCHED
        self.total = total if is_fetch else self.total
        yield self.steps.append if is_fetch else lambda _: None


def wish(site: ServedLog, target: Path) -> export.ExportOptions:
    return export.ExportOptions(
        origin=WeightsOrigin(ledger=site.url),
        run="maize- 1.0",
        target=target,
    )


def test_without_a_store_the_weights_come_from_a_seed(tmp_path: Path) -> None:
    store = played().store(tmp_path / "store", ROUNDS)
    with served_log(SwarmLog(played().swarm)) as site, seed(site, store):
        progress = FetchSteps()
        export.export_head(wish(site, tmp_path / "out"), progress)
    assert progress.steps[0] == 0, "nothing was there"
    assert sum(progress.steps) == progress.total > 0
    out = tmp_path / "out"
    back = tensors.read_weights(played().manifest, out, tmp_path / "back", lambda _: None)
    assert (back == played().weights(ROUNDS)).all()
    assert not (tmp_path / ".out.part").exists()


def test_a_seed_that_has_other_weights_gives_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seeds, "FETCH_ATTEMPT_S", 1.0)
    store = played().store(tmp_path / "store", 1)
    with (
        served_log(SwarmLog(played().swarm)) as site,
        seed(site, store),
        pytest.raises((UserFacingError, BaseExceptionGroup)) as caught,
    ):
        export.export_head(wish(site, tmp_path / "out"), NoProgress())
    assert "no seed sends the weights" in str(first_error(caught.value))
    assert not (tmp_path / "out").exists()


def test_what_was_fetched_before_a_break_is_not_fetched_again(tmp_path: Path) -> None:
    with served_log(SwarmLog(played().swarm)) as site:
        played().store(tmp_path / ".out.part" / "fetched", ROUNDS)
        (tmp_path / ".out.part").chmod(0o700)
        store = played().store(tmp_path / "empty")
        with seed(site, store):
            export.export_head(wish(site, tmp_path / "out"), NoProgress())
    assert (tmp_path / "out" / layout.CLAIM).exists()


def test_a_chat_fetches_no_piece_of_its_head_again(tmp_path: Path) -> None:
    part = tmp_path / chat.HEADS / f".{to_text(played().manifest.run_id)}-{ROUNDS}.part"
    played().store(part / "fetched", ROUNDS)
    part.chmod(0o700)
    store = played().store(tmp_path / "empty")
    with served_log(SwarmLog(played().swarm)) as site, seed(site, store):
        found = chat.newest_model(wish(site, tmp_path), NoProgress())
    assert (found / layout.CLAIM).exists()
    assert not part.exists()


class SlowFetcher:
    """Brings one piece of `SLOW` in each attempt, and nothing of another tree."""

    def __init__(self, store: Store, attempt_s: float = 0) -> None:
        self.store = store
        self.attempt_s = attempt_s
        self.tried: list[TreeRef] = []

    async def fetch_tree(self, ref: TreeRef, _peers: object, *, timeout_s: float) -> None:
        """Make one attempt."""
        assert timeout_s
        await trio.sleep(self.attempt_s)
        self.tried.append(ref)
        if ref == SLOW.ref:
            with open_partial(self.store, SLOW) as partial:
                self.store.write_pieces(partial, self.tried.count(ref) - 1, bytes(PIECE))
        if not self.store.has_tree(ref.root):
            raise FetchFailedError(FetchProgress(ref.root))


@pytest.mark.trio
async def test_an_audit_fetches_a_tree_for_as_long_as_some_of_it_comes(tmp_path: Path) -> None:
    slow = SlowFetcher(Store(tmp_path, quota_bytes=10**6))
    source = seeds.SeedSource(cast("Fetcher", slow), ())
    found = await trio.to_thread.run_sync(lambda: list(source.candidates(SLOW.ref)))
    assert [path.read_bytes() for path in found] == [bytes(3 * PIECE)]
    assert slow.tried == [SLOW.ref] * 3
    assert not await trio.to_thread.run_sync(lambda: list(source.candidates(ABSENT)))
    assert slow.tried.count(ABSENT) == 1


@pytest.mark.trio
async def test_seeds_that_drip_do_not_hold_up_an_audit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seeds, "AUDIT_WAIT_S", 0.1)
    drip = SlowFetcher(Store(tmp_path, quota_bytes=10**6), attempt_s=0.1)
    source = seeds.SeedSource(cast("Fetcher", drip), ())
    assert not await trio.to_thread.run_sync(lambda: list(source.candidates(SLOW.ref)))
