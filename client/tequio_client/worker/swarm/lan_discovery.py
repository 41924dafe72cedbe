"""Members of the same round that are in the same local network find each other there.

Without it two computers behind one router exchange through seeds, each byte over the home's line
and back: what a peer on the internet names is never dialled in our own network (`dials`), and most
routers do not let two of their own meet outside.

While this is switched on and a round goes on, a datagram of 46 bytes goes to a multicast group
every half minute, and no farther than the local network: a magic word, the TCP port, a fresh salt,
and a hash of network, salt and key. It names no key: who does not try the members of the round, as
we do, learns only that a computer here runs Tequio. That much everybody in the local network
learns, so it is off unless its owner wants it (docs/decisions/0058).

What arrives is a claim. Only datagrams from private addresses of our own networks count, at a
bounded rate; the address dialled is the sender's; and the peer there has to prove the key.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from random import Random
from typing import NoReturn

import structlog
import trio

from tequio_client.worker.swarm import multicast
from tequio_client.worker.swarm.dials import Claim, Reach
from tequio_client.worker.swarm.multicast import AnnouncementKind, GroupListener, OwnAddress
from tequio_client.worker.swarm.peers import PeerNetwork
from tequio_client.worker.swarm.reachability import address
from tequio_shared.addresses import network_of
from tequio_shared.errors import PeerError
from tequio_shared.ids import NetworkId, PeerKey, peer_id_text
from tequio_shared.ratelimit import TokenBuckets

log = structlog.get_logger(__name__)

EVERY_S = 30.0
FIRST_S = 2.0
MAGIC = b"tequio-lan/1"
PER_HOST_S, IN_ALL_S, BURST_S = 0.5, 10.0, 4.0
"""Announcements heard of one address and of all, in a second, and seconds worth at once."""
LATER_S = 2.0
"""Of two that hear each other, the one with the larger key waits for the other."""


def announcement_kind(net: NetworkId) -> AnnouncementKind:
    """Announcements of members of a network."""
    return AnnouncementKind(MAGIC, net)


class LanDiscovery:
    """Announces us in the local network, and connects to members there: one task, `run`."""

    def __init__(
        self,
        network: PeerNetwork,
        net: NetworkId,
        partners: Sequence[Callable[[], Collection[PeerKey]]],
        rng: Random,
    ) -> None:
        """`partners` give the members of the round of each run in which we take part."""
        self._network = network
        self._kind = announcement_kind(net)
        self._partners = partners
        self._rng = rng
        self._is_wanted = False
        self._turned = trio.Event()  # replaced whenever `_is_wanted` changed
        self._of_host = TokenBuckets(PER_HOST_S, PER_HOST_S * BURST_S)
        self._of_all = TokenBuckets(IN_ALL_S, IN_ALL_S * BURST_S)
        self._dialling: set[PeerKey] = set()
        self._own: list[OwnAddress] = []  # as they were when we announced last

    def set_wanted(self, *, is_wanted: bool) -> None:
        if is_wanted is not self._is_wanted:
            self._is_wanted = is_wanted
            self._turned.set()
            self._turned = trio.Event()

    async def run(self) -> NoReturn:
        """Announce and listen while that is wanted, until cancelled."""
        while True:
            turned = self._turned
            # Behind a container's bridge the local network is not the computer's.
            if self._is_wanted and not self._network.public_only:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self._take_part)
                    await turned.wait()
                    nursery.cancel_scope.cancel()
            else:
                await turned.wait()

    def members(self) -> set[PeerKey]:
        """The peers whose announcements count."""
        found = (peer for members in self._partners for peer in members())
        return {peer for peer in found if peer != self._network.key}

    def receive(
        self, raw: bytes, host: str, own: Sequence[OwnAddress]
    ) -> tuple[PeerKey, str] | None:
        """Judge a datagram; returns the member to connect to and its address, if it is one."""
        if not multicast.is_near(host, own):
            return None
        now = trio.current_time()
        if not (self._of_host.try_spend(host, 1, now) and self._of_all.try_spend("", 1, now)):
            return None
        found = self._kind.read(raw, self.members())
        if found is None or self._network.is_connected(found[0]):
            return None
        peer, port = found
        return peer, f"{address(host, port)}/p2p/{peer_id_text(peer)}"

    async def _take_part(self) -> None:
        try:
            listening = GroupListener()
        except OSError as err:
            log.warning("no discovery in the local network", error=str(err))
            await trio.sleep_forever()
        with listening:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._announce, listening)
                nursery.start_soon(self._listen, listening, nursery)

    async def _announce(self, listening: GroupListener) -> None:
        await trio.sleep(FIRST_S * self._rng.uniform(0.5, 1.5))
        while True:
            self._own = multicast.own_addresses()
            listening.join(self._own)  # each time: interfaces come and go
            for own in self._own:
                if self.members() and (port := self._port_at(own.host)):
                    multicast.announce([own], self._kind, self._network.key, port)
            await trio.sleep(EVERY_S * self._rng.uniform(0.8, 1.2))

    def _port_at(self, host: str) -> int | None:
        """The port at which we listen there, by the addresses that we give to others."""
        for one in self._network.addresses():
            _, _, own, _, port, *_ = one.split("/")
            if own == host:
                return int(port)
        return None

    async def _listen(self, listening: GroupListener, nursery: trio.Nursery) -> None:
        while True:
            raw, sender = await listening.next_datagram()
            found = self.receive(raw, sender, self._own)
            if found is not None and found[0] not in self._dialling:
                nursery.start_soon(self._connect, *found)

    async def _connect(self, peer: PeerKey, addr: str) -> None:
        self._dialling.add(peer)
        try:
            if self._network.key > peer:
                await trio.sleep(LATER_S)
            source = network_of(addr.split("/")[2])
            claim = Claim(addrs=(addr,), source=source, reach=Reach.PRIVATE)
            await self._network.connect_claimed(peer, claim)
            log.info("connected in the local network", peer=peer_id_text(peer))
        except PeerError as err:
            log.debug("a neighbour was not reached", peer=peer_id_text(peer), error=str(err))
        finally:
            self._dialling.discard(peer)
