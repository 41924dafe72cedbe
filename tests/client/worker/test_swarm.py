"""Staying connected: who does not answer holds up nobody else."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest
import trio

from tequio_client import clock
from tequio_client.ledger_api import LedgerApi
from tequio_client.worker import swarm as module
from tequio_client.worker.swarm.membership import AddressBook
from tequio_client.worker.swarm.membership import PeerExchange
from tequio_client.worker.swarm.membership import Swarm
from tequio_shared.ids import peer_id_text
from tequio_shared.keys import Signer
from tests.support.loopback import network
from tests.support.memory_log import NET, unused_url

if TYPE_CHECKING:
    from tequio_client.worker.swarm.peers import PeerNetwork

AT_ONCE_S = 10.0
"""Well below the 15 s after which a silent address is given up."""


def swarm_of(ours: PeerNetwork, ledger: LedgerApi, *bootstrap: str) -> Swarm:
    book, rng = AddressBook(NET, clock.now_ms), Random(1)
    return Swarm(
        net=NET,
        network=ours,
        exchange=PeerExchange(ours, book, rng=rng),
        book=book,
        ledger=ledger,
        signer=Signer(bytes([1]) * 32),
        clock=clock.now_ms,
        rng=rng,
        bootstrap=bootstrap,
    )


@pytest.mark.trio
async def test_a_silent_address_keeps_us_from_no_other(nursery: trio.Nursery) -> None:
    (deaf,) = await trio.open_tcp_listeners(0, host="127.0.0.1")  # takes connections, says nothing
    port = deaf.socket.getsockname()[1]
    silent = f"/ip4/127.0.0.1/tcp/{port}/p2p/{peer_id_text(Signer(bytes([2]) * 32).key)}"
    async with (
        deaf,
        network("ours") as ours,
        network("other") as other,
        LedgerApi(unused_url()) as ledger,
    ):
        nursery.start_soon(swarm_of(ours, ledger, silent, other.addresses()[0]).run)
        with trio.fail_after(AT_ONCE_S):
            while other.key not in ours.connected():  # noqa: ASYNC110 - libp2p tells nobody
                await trio.sleep(0.05)
        nursery.cancel_scope.cancel()


@pytest.mark.trio
async def test_who_is_lost_is_sought_soon_however_long_the_pauses_are_by_then(
    nursery: trio.Nursery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FIRST_PAUSE_S", 1_000.0)  # the pauses of somebody long content
    async with (
        network("ours") as ours,
        network("other") as other,
        LedgerApi(unused_url()) as ledger,
    ):
        nursery.start_soon(swarm_of(ours, ledger, other.addresses()[0]).run)
        with trio.fail_after(60):
            while other.key not in ours.connected():  # noqa: ASYNC110 - libp2p tells nobody
                await trio.sleep(0.05)
            monkeypatch.setattr(module, "FIRST_PAUSE_S", 0.1)
            await trio.sleep(module.LOOK_S)
            await ours.disconnect(other.key)
            assert other.key not in ours.connected()
            while other.key not in ours.connected():  # noqa: ASYNC110 - libp2p tells nobody
                await trio.sleep(0.05)
        nursery.cancel_scope.cancel()
