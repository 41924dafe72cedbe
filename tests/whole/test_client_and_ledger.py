"""The client's side of the ledger against the real program: speaking, following, blobs, seeds."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest
import trio

from tequio_client.clock import now_ms
from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import LedgerRefusedError
from tequio_client.ledger.proofs import read_entries
from tequio_client.worker.ledger.follower import LogFollower
from tequio_client.worker.ledger.outbox import Outbox
from tequio_shared.addresses import sign_addresses
from tequio_shared.ids import RunId, peer_id_text, to_text
from tequio_shared.keys import Signer
from tequio_shared.network.run import first_head
from tequio_shared.statements.network import MemberLeave
from tequio_shared.statements.runs import RunOpen
from tests.support.authors import Author
from tests.support.ledgers import ORGANISER, served
from tests.support.signing_swarm import manifest

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_client.ledger.api import LedgerNetwork


ME = Signer(bytes([1]) * 32)
NO_RUN = RunId(bytes(32))
RULES = manifest()


@pytest.mark.whole
@pytest.mark.trio
async def test_speaking_and_following_over_a_refusal_and_a_kill(tmp_path: Path) -> None:
    worker = tmp_path / "worker"
    worker.mkdir()
    with trio.fail_after(30):
        with served(tmp_path / "ledger") as program:
            async with LedgerApi(program.url) as ledger:
                await _first_day(ledger, worker)
            program.kill()
        with served(tmp_path / "ledger") as program:
            async with LedgerApi(program.url) as ledger:
                await _second_day(ledger, worker)


async def _first_day(ledger: LedgerApi, worker: Path) -> None:
    network = await ledger.network()
    async with (
        Outbox(ledger, worker, ME) as outbox,
        LogFollower(ledger, network, worker, rng=Random(2)) as follower,
    ):
        entries = follower.entries()
        assert (await anext(entries))[1].statement.type == "net.genesis"
        await _open_run(ledger, network)
        said = await outbox.submit(MemberLeave(reason=1), RULES.run_id)
        with pytest.raises(LedgerRefusedError) as refusal:
            await outbox.submit(MemberLeave(reason=1), NO_RUN)
        assert refusal.value.code == "not-found"
        again = await outbox.submit(MemberLeave(reason=2), RULES.run_id)
        assert again.statement.seq == said.statement.seq + 2
        read = [await anext(entries) for _ in range(4)]
        assert [index for index, _ in read] == [1, 2, 3, 4]
        assert read[-1][1] == again
    assert await read_entries(ledger, network, [4]) == {4: again}
    await _blobs_and_seeds(ledger, network)


async def _open_run(ledger: LedgerApi, network: LedgerNetwork) -> None:
    await ledger.put_blob(RULES.encode(), ORGANISER, now_ms())
    organiser = Author("organiser", network.id)
    organiser.signer = ORGANISER
    body = RunOpen(manifest=to_text(RULES.run_id), head=to_text(first_head(RULES).hash))
    posted = await ledger.post_entries([organiser.sign(body, now_ms(), run=RULES.run_id)])
    assert [one.status for one in posted] == ["logged"]


async def _blobs_and_seeds(ledger: LedgerApi, network: LedgerNetwork) -> None:
    digest = await ledger.put_blob(b"content", ME, now_ms())
    assert await ledger.get_blob(digest) == b"content"
    assert await ledger.get_blob(type(digest)(bytes(32))) is None
    addr = f"/ip4/192.0.2.1/tcp/4001/p2p/{peer_id_text(ME.key)}"
    record = sign_addresses(ME, network.id, [addr], now_ms())
    await ledger.put_seed(record)
    assert await ledger.seeds(network.id) == (record,)
    assert [one.id for one in await ledger.runs()] == [RULES.run_id]


async def _second_day(ledger: LedgerApi, worker: Path) -> None:
    """A restarted ledger has everything, and its log continues the one that we remember."""
    network = await ledger.network()
    async with (
        Outbox(ledger, worker, ME) as outbox,
        LogFollower(ledger, network, worker, rng=Random(2)) as follower,
    ):
        entries = follower.entries(after=4)
        said = await outbox.submit(MemberLeave(reason=3), RULES.run_id)
        assert await anext(entries) == (5, said)
