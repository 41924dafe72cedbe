"""Datagrams to all computers of the local network: an announcement that names nobody.

46 bytes go to a multicast group, and no farther than the local network: a magic word for the kind
of the announcement, a TCP port, a fresh salt, and a hash of context, salt and key. Only those that
know the key, or try the right one, learn whose announcement it is.

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

import psutil
import structlog
import trio

from tequio_client.worker.swarm.dials import Reach, reach_of
from tequio_client.worker.swarm.reachability import FIRST_PORT
from tequio_shared.ids import PeerKey

log = structlog.get_logger(__name__)

GROUP, UDP_PORT = "239.255.84.81", 21_084
"""Of the block for use within an organisation (RFC 2365); with TTL 1 it stays in the network."""
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
    network: ipaddress.IPv4Network


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
        if not self.matches(raw):
            return None
        _, port, salt, tag = _LAYOUT.unpack(raw)
        tried = list(keys)[:CANDIDATES]
        found = next((one for one in tried if self._tag(salt, one) == tag), None)
        return None if found is None else (found, port)

    def matches(self, raw: bytes) -> bool:
        """Check for a well-formed announcement of this kind, from any sender."""
        if len(raw) != _LAYOUT.size or not raw.startswith(self.magic):
            return False
        return bool(_LAYOUT.unpack(raw)[1] >= FIRST_PORT)

    def _tag(self, salt: bytes, key: PeerKey) -> bytes:
        return hashlib.sha256(self.magic + self.context + salt + key).digest()[:TAG_BYTES]


def own_addresses() -> list[OwnAddress]:
    """The private IPv4 addresses of this computer's interfaces, as they are now."""
    found = (one for addrs in psutil.net_if_addrs().values() for one in addrs)
    return [
        OwnAddress(
            host=one.address,
            network=ipaddress.IPv4Network(f"{one.address}/{one.netmask or 24}", strict=False),
        )
        for one in found
        if one.family is socket.AF_INET and reach_of(one.address) is Reach.PRIVATE
    ]


def is_near(host: str, own: Sequence[OwnAddress]) -> bool:
    """Check that an address is private, and in a network of one of our own addresses."""
    if reach_of(host) is not Reach.PRIVATE:
        return False
    return any(ipaddress.ip_address(host) in one.network for one in own)


def listening_socket() -> socket.socket:
    """A socket for datagrams to the group, which other programs of this computer may share."""
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if sys.platform == "darwin":
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        made.bind(("", UDP_PORT))
    except OSError:
        made.close()
        raise
    return made


def join_group(listening: trio.socket.SocketType, own: Iterable[OwnAddress]) -> None:
    """Join the group at each interface; once more is an error, and no harm."""
    for one in own:
        membership = socket.inet_aton(GROUP) + socket.inet_aton(one.host)
        with suppress(OSError):
            listening.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, membership)


async def next_datagram(listening: trio.socket.SocketType) -> tuple[bytes, str]:
    """Wait for a datagram; returns it with its sender's address."""
    while True:
        # A flood fills the system's buffer, which drops the rest, and not our time.
        await trio.sleep(READ_S)
        try:
            raw, sender = await listening.recvfrom(DATAGRAM_BYTES + 1)
        except OSError as err:  # on Windows, for a datagram that is longer
            log.debug("a datagram was not read", error=str(err))
        else:
            return raw, sender[0]


def announce(own: Iterable[OwnAddress], kind: AnnouncementKind, key: PeerKey, port: int) -> None:
    """Announce the key in each of these networks, with a fresh salt in each."""
    for one in own:
        _send(one, kind.write(key, port, os.urandom(SALT_BYTES)))


def _send(own: OwnAddress, raw: bytes) -> None:
    """Send to the group from that address; a network that is down is passed over."""
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sending:
        sending.settimeout(0)
        sending.bind((own.host, 0))
        own_raw = socket.inet_aton(own.host)
        sending.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, own_raw)
        sending.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 1)
        sending.sendto(raw, (GROUP, UDP_PORT))
