"""Address records: where a peer can be dialled, signed by its key.

A record travels as canonical JSON `{"addrs":[…],"author":…,"sig":…,"ts":…}`; the signature is over
PREFIX, the network id and the canonical JSON of the same object without `sig`: a record counts in
one network only. Author and signature are base64url, `ts` is milliseconds since 1970. Of two
records of one author the one with the later `ts` counts.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

import msgspec

from tequio_shared import encoding
from tequio_shared.errors import MalformedError
from tequio_shared.ids import NetworkId, PeerKey, from_text, key_from_text, peer_id_text, to_text
from tequio_shared.keys import SIGNATURE_BYTES, Signer, check_key, verify
from tequio_shared.limits import CLOCK_SKEW_MS

PREFIX = b"tequio/v1/peer\x00"
ADDRESSES = 16
"""Most addresses in a record."""
ADDRESS_BYTES = 256
"""Longest address."""
RECORD_BYTES = 8_192
"""Longest record in bytes."""
_PORT = re.compile(r":[0-9]+\Z")
_PORTS = range(1, 1 << 16)
INVALID_HOST = "a part between dots is empty, too long or invalid"
UNKNOWN_NETWORK = "unknown"
"""The network of a host that is not an IP address."""
LIFE_MS = 3_600_000
"""A record expires this long after its `ts`; peers sign a new one in good time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressRecord:
    """Addresses that one peer claims; each ends in `/p2p/<its own peer id>`.

    A parsed record may still lie: call `verify` before use.
    """

    author: PeerKey
    addrs: tuple[str, ...]
    ts: int
    signature: bytes

    def __post_init__(self) -> None:
        if len(self.addrs) > ADDRESSES:
            raise MalformedError(f"{len(self.addrs)} addresses in one record")
        ending = f"/p2p/{peer_id_text(self.author)}"
        for addr in self.addrs:
            plain = addr.isascii() and addr.isprintable() and len(addr) <= ADDRESS_BYTES
            if not (plain and addr.startswith("/") and addr.endswith(ending)):
                raise MalformedError(f"address {addr[:60]!r} does not end in {ending}")

    @classmethod
    def parse(cls, raw: bytes) -> AddressRecord:
        """Read `encode` back; raises MalformedError."""
        wire = encoding.decode(raw, _Wire, RECORD_BYTES)
        return cls(
            author=key_from_text(wire.author),
            addrs=tuple(wire.addrs),
            ts=wire.ts,
            signature=from_text(wire.sig, SIGNATURE_BYTES),
        )

    def encode(self) -> bytes:
        return encoding.encode(
            {**_claim(self.author, self.addrs, self.ts), "sig": to_text(self.signature)}
        )

    @property
    def network_place(self) -> str:
        """Network of the first address; of a host name, the name; empty without addresses."""
        host = next((addr.split("/")[2] for addr in self.addrs), "")
        network = network_of(host)
        return host if network == UNKNOWN_NETWORK else network

    def verify(self, net: NetworkId) -> None:
        """Return if the author signed this for that network; raises SignatureInvalidError."""
        check_key(self.author)
        verify(self.author, self.signature, _message(net, self.author, self.addrs, self.ts))

    def is_current(self, now_ms: int) -> bool:
        """Return whether the record is young enough, and not from the future, at `now_ms`."""
        return now_ms - LIFE_MS < self.ts <= now_ms + CLOCK_SKEW_MS


def network_of(host: str) -> str:
    """Network that an address counts under: IPv4 by /24, IPv6 by /48, otherwise UNKNOWN."""
    address = parse_host(host)
    if address is None:
        return UNKNOWN_NETWORK
    bits = 24 if address.version == 4 else 48  # noqa: PLR2004  (the protocol's version)
    return str(ipaddress.ip_network((address, bits), strict=False))


def parse_host(host: str) -> IPv4Address | IPv6Address | None:
    """Parse an IP address; None for anything else.

    IPv4 inside IPv6 is IPv4: so a listener of both kinds names its IPv4 clients.
    """
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def check_place(host: str, port: int | None) -> None:
    """Check the host and port of an http(s) address; raises ValueError with what is wrong with it.

    `host` is as it stands in the address, in ASCII; no port means the usual one.
    """
    if not host:
        raise ValueError("no host")
    # An HTTP library writes what no host may contain, such as a space, as % and two digits.
    if "%" in host:
        raise ValueError("a host with a space, % or another character that no host has")
    try:
        host.encode("idna")  # the first step of looking it up
    except UnicodeError as err:
        raise ValueError(INVALID_HOST) from err
    if port is not None and port not in _PORTS:
        raise ValueError("no port of this number")


def is_within(host: str, networks: Iterable[IPv4Network | IPv6Network]) -> bool:
    """Return whether a host is an IP address in one of these networks."""
    address = parse_host(host)
    return address is not None and any(address in one for one in networks)


def sender_of(host: str, forwarded: str, proxies: Sequence[IPv4Network | IPv6Network]) -> str:
    """Give the nearest address that is not a trusted proxy, without the port that some add to it.

    `host` is the address of the connection, `forwarded` the content of its `x-forwarded-for`.
    """
    hops = forwarded.split(",")
    while hops and is_within(host, proxies):
        hop = hops.pop().strip()
        host = (hop if parse_host(hop) else _PORT.sub("", hop).strip("[]")) or host
    return host


def is_address_or_localhost(host: str) -> bool:
    """Check a Host header (RFC 9110, section 7.2), with or without its port; True for an empty one.

    A service of this computer refuses all others. A site whose name resolves to this computer is
    for a browser the same site as the service: its page could ask and read what it likes (DNS
    rebinding).
    """
    name = host.rpartition(":")[0] if _PORT.search(host) else host
    return not name or name.lower() == "localhost" or parse_host(name.strip("[]")) is not None


def is_loopback_host(host: str) -> bool:
    """Check whether only programs of this computer reach what listens there."""
    address = parse_host(host)
    return host == "localhost" or (address is not None and address.is_loopback)


def is_loopback(network: str) -> bool:
    return network.startswith("127.") or network == "::/48"


def sign_addresses(signer: Signer, net: NetworkId, addrs: Sequence[str], ts: int) -> AddressRecord:
    """Sign the claim that the signer's peer is at these addresses in that network."""
    signature = signer.sign(_message(net, signer.key, addrs, ts))
    return AddressRecord(author=signer.key, addrs=tuple(addrs), ts=ts, signature=signature)


class _Wire(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    addrs: list[str]
    author: str
    sig: str
    ts: int


def _message(net: NetworkId, author: PeerKey, addrs: Sequence[str], ts: int) -> bytes:
    return PREFIX + net + encoding.encode(_claim(author, addrs, ts))


def _claim(author: PeerKey, addrs: Sequence[str], ts: int) -> dict[str, object]:
    return {"addrs": list(addrs), "author": to_text(author), "ts": ts}
