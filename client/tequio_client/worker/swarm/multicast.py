"""Datagrams to all computers of the local network: an announcement that names nobody.

46 bytes go to a multicast group of IPv4 or IPv6, and no farther than the local network: a magic
word for the kind of the announcement, a TCP port, a fresh salt, and a hash of context, salt and
key. Only those that know the key, or try the right one, learn whose announcement it is.

What arrives is a claim: the address is the sender's, and the peer there has to prove the key.
"""

from __future__ import annotations

import hashlib
import ipaddress
import os
import socket
import struct
import sys
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Self

import psutil
import structlog
import trio

from tequio_client.worker.swarm.dials import Reach, reach_of
from tequio_client.worker.swarm.reachability import FIRST_PORT
from tequio_shared.ids import PeerKey

log = structlog.get_logger(__name__)

UDP_PORT = 21_084
GROUP = "239.255.84.81"
"""Of the block for use within an organisation (RFC 2365); with TTL 1 it stays in the network."""
GROUP_6 = "ff12::8451:5151"
"""Transient and of the link alone (RFC 4291, 2.7), with an id that needs no registry (RFC 3307)."""
MAGIC_BYTES, SALT_BYTES, TAG_BYTES = 12, 16, 16
CANDIDATES = 4_096
"""Keys tried for one announcement."""
READ_S = 0.005
"""Pause before each datagram."""
_LAYOUT = struct.Struct(f"!{MAGIC_BYTES}sH{SALT_BYTES}s{TAG_BYTES}s")
DATAGRAM_BYTES = _LAYOUT.size


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnAddress:
    """An address of this computer in a private network."""

    host: str
    network: ipaddress.IPv4Network | ipaddress.IPv6Network
    interface: str = ""
    """Name of the interface; IPv6 needs it for groups."""

    @property
    def family(self) -> socket.AddressFamily:
        return socket.AF_INET if self.network.version == 4 else socket.AF_INET6  # noqa: PLR2004


@dataclass(frozen=True, slots=True)
class AnnouncementKind:
    """One use of announcements: its magic word, and what is hashed with each key."""

    magic: bytes
    context: bytes = b""

    def write(self, key: PeerKey, port: int, salt: bytes) -> bytes:
        return _LAYOUT.pack(self.magic, port, salt, self._tag(salt, key))

    def read(self, raw: bytes, keys: Collection[PeerKey]) -> tuple[PeerKey, int] | None:
        """Find which of the keys announces itself, and at which port; None: none of them.

        Hashes once for each key.
        """
        if (port := self.port(raw)) is None:
            return None
        _, _, salt, tag = _LAYOUT.unpack(raw)
        tried = list(keys)[:CANDIDATES]
        found = next((one for one in tried if self._tag(salt, one) == tag), None)
        return None if found is None else (found, port)

    def port(self, raw: bytes) -> int | None:
        """Read the port in an announcement of this kind, from any sender; None: it is malformed."""
        if len(raw) != _LAYOUT.size or not raw.startswith(self.magic):
            return None
        port = int(_LAYOUT.unpack(raw)[1])
        return port if port >= FIRST_PORT else None

    def _tag(self, salt: bytes, key: PeerKey) -> bytes:
        return hashlib.sha256(self.magic + self.context + salt + key).digest()[:TAG_BYTES]


def own_addresses() -> list[OwnAddress]:
    """The private addresses of this computer's interfaces, as they are now, those of IPv4 first."""
    found = [
        OwnAddress(
            host=one.address,
            network=_network(one.address, one.netmask),
            interface=name,
        )
        for name, addresses in psutil.net_if_addrs().items()
        for one in addresses
        if one.family in (socket.AF_INET, socket.AF_INET6)
        and reach_of(one.address) is Reach.PRIVATE
    ]
    return sorted(found, key=lambda one: one.family is not socket.AF_INET)


def is_near(host: str, own: Sequence[OwnAddress]) -> bool:
    """Check that an address is private, and in a network of one of our own addresses."""
    if reach_of(host) is not Reach.PRIVATE:
        return False
    return any(ipaddress.ip_address(host) in one.network for one in own)


class GroupListener:
    """Receives datagrams to the group, of each family that this computer has."""

    def __init__(self) -> None:
        """Listen, beside other programs; raises OSError where no family can be listened on."""
        self._sockets, errors = list[socket.socket](), list[OSError]()
        for family in (socket.AF_INET, socket.AF_INET6):
            try:
                self._sockets.append(_listening_socket(family))
            except OSError as err:
                errors.append(err)
        if not self._sockets:
            raise errors[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for one in self._sockets:
            one.close()

    def join(self, own: Iterable[OwnAddress]) -> None:
        """Join the group at each interface; once more is an error, and no harm."""
        for one in own:
            for listening in self._sockets:
                if listening.family is one.family:
                    with suppress(OSError):
                        _join(listening, one)

    async def next_datagram(self) -> tuple[bytes, str]:
        """Wait for a datagram; returns it with its sender's address."""
        while True:
            # A flood fills the system's buffer, which drops the rest, and not our time.
            await trio.sleep(READ_S)
            await self._wait_readable()
            for listening in self._sockets:
                try:
                    raw, sender = listening.recvfrom(DATAGRAM_BYTES + 1)
                except BlockingIOError:
                    continue
                except OSError as err:  # on Windows, for a datagram that is longer
                    log.debug("a datagram was not read", error=str(err))
                    continue
                # The other family's turn: a flood of one leaves it half of the time.
                self._sockets.reverse()
                return raw, str(sender[0])

    async def _wait_readable(self) -> None:
        async with trio.open_nursery() as nursery:

            async def wait(listening: socket.socket) -> None:
                await trio.lowlevel.wait_readable(listening.fileno())
                nursery.cancel_scope.cancel()

            for one in self._sockets:
                nursery.start_soon(wait, one)


def announce(own: Iterable[OwnAddress], kind: AnnouncementKind, key: PeerKey, port: int) -> None:
    """Announce the key in each of these networks, with a fresh salt in each."""
    for one in own:
        _send(one, kind.write(key, port, os.urandom(SALT_BYTES)))


def _network(host: str, netmask: str | None) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    """The network of an interface, by a mask such as 255.255.255.0 or ffff:ffff::, or the usual."""
    usual = 64 if ":" in host else 24
    bits = usual if netmask is None else int(ipaddress.ip_address(netmask)).bit_count()
    return ipaddress.ip_network(f"{host}/{bits}", strict=False)


def _listening_socket(family: socket.AddressFamily) -> socket.socket:
    made = socket.socket(family, socket.SOCK_DGRAM)
    try:
        made.settimeout(0)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if sys.platform == "darwin":
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if family is socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind(("", UDP_PORT))
    except OSError:
        made.close()
        raise
    return made


def _join(listening: socket.socket, own: OwnAddress) -> None:
    if own.family is socket.AF_INET:
        membership = socket.inet_aton(GROUP) + socket.inet_aton(own.host)
        listening.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, membership)
    else:
        membership = socket.inet_pton(socket.AF_INET6, GROUP_6) + _index(own)
        listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, membership)


def _send(own: OwnAddress, raw: bytes) -> None:
    """Send to the group from that address; a network that is down is passed over."""
    with suppress(OSError), socket.socket(own.family, socket.SOCK_DGRAM) as sending:
        sending.settimeout(0)
        sending.bind((own.host, 0))
        if own.family is socket.AF_INET:
            own_raw = socket.inet_aton(own.host)
            sending.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, own_raw)
            sending.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 1)
            sending.sendto(raw, (GROUP, UDP_PORT))
        else:
            sending.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, _index(own))
            sending.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 1)
            sending.sendto(raw, (GROUP_6, UDP_PORT))


def _index(own: OwnAddress) -> bytes:
    """The interface's number, as C lays it out; raises OSError where its name has none.

    On Windows, whose interfaces psutil names otherwise, this leaves IPv4 alone.
    """
    return struct.pack("@I", socket.if_nametoindex(own.interface))
