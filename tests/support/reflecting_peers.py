"""Peers at real addresses of each kind, and what they make a member dial: one JSON object.

`python -m tests.support.reflecting_peers` in a network of its own, in which 8.8.4.4 and
192.168.7.7 are addresses of this computer, and attacker.example resolves to 127.0.0.1. For the
address from which a source connected it prints the names of the claims that were dialled.
"""

from __future__ import annotations

import json
import random
from functools import partial

import trio

from tequio_client import clock
from tequio_client.ledger.api import LedgerApi
from tequio_client.worker.swarm.membership import PEERS_PROTOCOL, Membership, ReconnectPauses
from tequio_client.worker.swarm.peers import PeerNetwork
from tequio_shared.addresses import sign_addresses
from tequio_shared.ids import peer_id_text
from tequio_shared.keys import Signer
from tests.support.memory_log import NET, unused_url

SOURCES = ("8.8.4.4", "192.168.7.7", "127.0.0.1")
CLAIMS = {
    "public": "/ip4/8.8.4.4",
    "private": "/ip4/192.168.7.7",
    "loopback": "/ip4/127.0.0.1",
    "mapped": "/ip6/::ffff:127.0.0.1",
    "name": "/dns4/attacker.example",
    "unspecified": "/ip4/0.0.0.0",
}
"""Claims by name; each gets a port of its own."""
PATIENCE_S = 6.0


async def main() -> None:
    """Offer every claim from every source, at once; print which were dialled."""
    found: dict[str, list[str]] = {}

    async def offer_from(source: str) -> None:
        found[source] = sorted(await dialled(source))

    async with trio.open_nursery() as nursery:
        for source in SOURCES:
            nursery.start_soon(offer_from, source)
    print(json.dumps(found))  # noqa: T201


async def dialled(source: str) -> set[str]:
    """The claims that a member dials for a source at this address."""
    found: set[str] = set()
    listen = [f"/ip4/{source}/tcp/0"]
    async with (
        LedgerApi(unused_url()) as ledger,
        PeerNetwork(seed=bytes(31) + b"a", listen=listen) as attacked,
        PeerNetwork(seed=bytes(31) + b"b", listen=listen) as attacker,
        trio.open_nursery() as nursery,
    ):
        await attacker.connect(attacked.addresses()[0])
        nursery.start_soon(_member(attacked, ledger).run)
        await trio.sleep(0.5)
        for number, (name, host) in enumerate(CLAIMS.items()):
            (listener,) = await trio.open_tcp_listeners(0, host="0.0.0.0")  # noqa: S104
            nursery.start_soon(trio.serve_listeners, partial(_count, found, name), [listener])
            stranger = Signer((100 + number).to_bytes(32, "big"))
            port = listener.socket.getsockname()[1]
            addr = f"{host}/tcp/{port}/p2p/{peer_id_text(stranger.key)}"
            record = sign_addresses(stranger, NET, [addr], clock.now_ms())
            stream = await attacker.open_stream(attacked.key, PEERS_PROTOCOL)
            await stream.send_frame(record.encode())
            await stream.receive_frame()
            await stream.drop()
        await trio.sleep(PATIENCE_S)
        nursery.cancel_scope.cancel()
    return found


async def _count(found: set[str], name: str, stream: trio.SocketStream) -> None:
    found.add(name)
    await stream.aclose()


def _member(attacked: PeerNetwork, ledger: LedgerApi) -> Membership:
    return Membership(
        net=NET,
        network=attacked,
        ledger=ledger,
        signer=Signer(bytes(31) + b"a"),
        clock=clock.now_ms,
        rng=random.Random(1),
        pauses=ReconnectPauses(first_s=0.3, longest_s=0.5),
    )


if __name__ == "__main__":
    trio.run(main)
