"""How guests find the host of a cell: it announces itself in the local network.

The announcement is a hash of the host's public key, which follows from the code. A computer that
does not know the code learns from it that a cell is open at this address, and no more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

import trio

from tequio_client.worker.swarm import multicast
from tequio_client.worker.swarm.multicast import UDP_PORT, AnnouncementKind, GroupListener
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import PeerKey
from tequio_shared.ratelimit import TokenBuckets

KIND = AnnouncementKind(b"tequio-cel/1")
EVERY_S = 2.0
JOIN_EVERY_S = 2.0
"""How often a listener joins the group again: interfaces come and go."""
PER_HOST_S, IN_ALL_S, BURST_S = 2.0, 20.0, 4.0
"""Announcements heard of one address and of all, in a second, and seconds worth at once."""
MOST_OTHERS = 64
PASSED_OVER_S = 10.0
"""How long nothing is heard of a port at which the host was not."""
OTHERS_FIRST_S = 3 * EVERY_S
"""How long nothing is heard of its address, whatever the port: others are heard of in that time."""


@dataclass(frozen=True, slots=True)
class HostAddress:
    """Where a host listens for guests."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @classmethod
    def parse(cls, text: str) -> HostAddress:
        """Read HOST:PORT, with an IPv6 address in brackets; raises UserFacingError."""
        host, _, port = text.rpartition(":")
        if (
            not host
            or (":" in host and not (host[0] == "[" and host[-1] == "]"))
            or not port.isascii()
            or not port.isdigit()
            or not 0 < int(port) < 1 << 16
        ):
            raise UserFacingError(
                f"invalid address {text!r}: expected HOST:PORT, such as 192.168.1.20:{UDP_PORT} or "
                f"[fd12::20]:{UDP_PORT}, as the host shows it"
            )
        return cls(host.strip("[]"), int(port))


async def announce(key: PeerKey, port: int) -> NoReturn:
    """Announce the host until cancelled, in every private network of this computer."""
    while True:
        multicast.announce(multicast.own_addresses(), KIND, key, port)
        await trio.sleep(EVERY_S)


class HostFinder:
    """Listens for the host with that key.

    Anybody who hears an announcement can repeat it from another address, with another port, or even
    in the name of the host's own address. So a caller that did not find the host at a place has
    that passed over, and hears of other addresses first.
    """

    def __init__(self, key: PeerKey) -> None:
        self._key = key
        self._of_host = TokenBuckets(PER_HOST_S, PER_HOST_S * BURST_S)
        self._of_all = TokenBuckets(IN_ALL_S, IN_ALL_S * BURST_S)
        self.others: set[str] = set()
        """Addresses that announced cells with other codes."""
        self._places: dict[HostAddress, float] = {}  # passed over, and until when in trio's time
        self._addresses: dict[str, float] = {}  # as above, with all their ports

    def pass_over(self, place: HostAddress) -> None:
        """Hear nothing of this place, and for a shorter time of its address: no host was there."""
        now = trio.current_time()
        self._places = {one: until for one, until in self._places.items() if until > now}
        self._addresses = {one: until for one, until in self._addresses.items() if until > now}
        self._places[place] = now + PASSED_OVER_S
        self._addresses[place.host] = now + OTHERS_FIRST_S

    async def find(self) -> HostAddress:
        """Wait for the host; raises UserFacingError where this computer cannot listen."""
        try:
            listening = GroupListener()
        except OSError as err:
            raise UserFacingError(
                f"cannot listen for announcements at UDP port {UDP_PORT} ({err.strerror}): name "
                "the host with --address HOST:PORT, as the host shows it"
            ) from err
        with listening:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_join, listening)
                found = await self._listen(listening)
                nursery.cancel_scope.cancel()
        return found

    async def _listen(self, listening: GroupListener) -> HostAddress:
        while True:
            raw, sender = await listening.next_datagram()
            if found := self.receive(raw, sender):
                return found

    def receive(self, raw: bytes, host: str) -> HostAddress | None:
        """Judge a datagram; returns where the wanted host listens, if it is one of its."""
        now, port = trio.current_time(), KIND.port(raw)
        if port is None or not multicast.is_near(host, multicast.own_addresses()):
            return None
        place = HostAddress(host, port)
        # First, so that what is passed over takes nothing of its address's rate.
        if now < max(self._places.get(place, now), self._addresses.get(host, now)):
            return None
        if not (self._of_host.try_spend(host, 1, now) and self._of_all.try_spend("", 1, now)):
            return None
        if KIND.read(raw, [self._key]) is None:
            if len(self.others) < MOST_OTHERS:
                self.others.add(host)
            return None
        return place


async def _join(listening: GroupListener) -> NoReturn:
    while True:
        listening.join(multicast.own_addresses())
        await trio.sleep(JOIN_EVERY_S)
