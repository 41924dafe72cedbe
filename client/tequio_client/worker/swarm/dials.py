"""Which addresses we dial because somebody else named them.

A stranger that chooses an address for us to dial can have us connect to ports of our own computer,
of our home network, or of a victim. So an address that another peer or the ledger
named is dialled only if it reaches at least as far as that source is from us: a public source may
name public addresses, a source in our local network private ones too, and only a program on this
computer loopback ones. Addresses that no peer listens on (multicast, link-local, documentation,
and those with another address inside, such as 6to4) are never dialled on somebody's word. Nor
does a public source name our own neighbours: IPv6 addresses of a home are public by their form, so
those in the prefixes of our own interfaces count as private.

How far away a source is follows from its address. Behind a container's bridge or a forwarded port,
strangers come from private or loopback addresses; a node there takes everybody for public
(`public_only`). An address of carrier-grade NAT (100.64.0.0/10) may be any customer of a provider,
so as a source it is public, although it is dialled only as a private one.

Names are resolved here, and the address that passed is the one that is dialled: a name that
resolves to something else a moment later gains nothing. (RFC 6890 and its registry; RFC 6598.)
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Awaitable, Callable, Collection, Iterable
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from urllib.parse import urlsplit

import psutil
import trio

from tequio_shared.addresses import parse_host
from tequio_shared.errors import PeerError

MAX_PLACES = 4
"""Addresses of one peer that are dialled, one after the other."""
RESOLVE_S = 5.0
RESOLVED_S = 60.0
"""How long the address of a host is used before it is asked for again."""
LEDGER_SOURCE = "ledger"
"""Source of a claim that the ledger made."""


class Reach(IntEnum):
    """From how far away an address can be reached; a source may name its own or a larger one."""

    LOOPBACK = 0
    PRIVATE = 1
    PUBLIC = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Addresses of a peer that somebody else named."""

    addrs: tuple[str, ...]
    source: str
    """Network address of the peer that named them, as in the limits; or the ledger."""
    reach: Reach
    """The smallest reach that this source may name."""


_PRIVATE_4 = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10")
_NEVER_4 = (
    *("0.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "240.0.0.0/4"),
    *("192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24"),
    *("198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"),
)
# Of 2000::/3, the only public block: Teredo and others, documentation, 6to4, documentation.
_NEVER_6 = ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
_PRIVATE = [ipaddress.ip_network(one) for one in (*_PRIVATE_4, "fc00::/7")]
_NEVER = [ipaddress.ip_network(one) for one in (*_NEVER_4, *_NEVER_6)]
_PUBLIC_6 = ipaddress.ip_network("2000::/3")
_SHARED_4 = ipaddress.ip_network("100.64.0.0/10")
_EVERY_INTERFACE = ("0.0.0.0", "::")  # noqa: S104 - as told by what listens
_LINK_BITS = 64  # of an IPv6 prefix on one link (RFC 4291)


def reach_of(host: str) -> Reach | None:
    """Reach of an IP address; None for a host name, and for an address that is never dialled."""
    address = parse_host(host)
    if address is None or "%" in host:  # with a zone, it means something on one computer only
        return None
    if address.is_loopback:
        return Reach.LOOPBACK
    if any(address in network for network in _PRIVATE):
        return Reach.PRIVATE
    is_never = any(address in network for network in _NEVER)
    if is_never or (isinstance(address, ipaddress.IPv6Address) and address not in _PUBLIC_6):
        return None
    return Reach.PUBLIC


def reach_of_source(host: str) -> Reach:
    """Smallest reach that a source at this address may name; an unknown one only PUBLIC."""
    reach = reach_of(host)
    return Reach.PUBLIC if reach is None or _is_shared(host) else reach


def _is_shared(host: str) -> bool:
    address = parse_host(host)
    return address is not None and address in _SHARED_4


def own_addresses(*listened: str) -> list[str]:
    """Addresses of this computer, as it is now, at which others may reach the listened ones.

    All are texts of multiaddrs. One that listens on every interface has many, those with the
    largest reach first, and loopback ones only where there are no others of either family.
    """
    found = (one for addrs in psutil.net_if_addrs().values() for one in addrs)
    interfaces = [(one.family, one.address) for one in found]
    reaches: dict[str, Reach] = {}
    for one in listened:
        _, kind, host, *rest = one.split("/")
        # As it was asked for, whatever it is.
        hosts = _hosts_of(kind, interfaces) if host in _EVERY_INTERFACE else {host: Reach.PUBLIC}
        reaches |= {"/".join(("", kind, host, *rest)): reach for host, reach in hosts.items()}
    if any(reaches.values()):
        reaches = {one: reach for one, reach in reaches.items() if reach is not Reach.LOOPBACK}
    return sorted(reaches, key=lambda one: -reaches[one]) or list(listened)


def _hosts_of(kind: str, interfaces: Iterable[tuple[int, str]]) -> dict[str, Reach]:
    """The addresses of that family, of this computer's interfaces, that others may dial."""
    family = socket.AF_INET6 if kind == "ip6" else socket.AF_INET
    hosts = dict.fromkeys(address for of, address in interfaces if of == family)
    return {one: reach for one in hosts if (reach := reach_of(one)) is not None}


def own_hosts() -> frozenset[str]:
    """The addresses of this computer's interfaces, as they are now."""
    found = (one for addrs in psutil.net_if_addrs().values() for one in addrs)
    return frozenset(
        one.address for one in found if one.family in (socket.AF_INET, socket.AF_INET6)
    )


def own_links() -> frozenset[ipaddress.IPv6Network]:
    """The public IPv6 prefixes of this computer's interfaces, as they are now."""
    found = (one for addrs in psutil.net_if_addrs().values() for one in addrs)
    hosts = (one.address for one in found if one.family is socket.AF_INET6)
    return frozenset(
        ipaddress.IPv6Network((host, _LINK_BITS), strict=False)
        for host in hosts
        if reach_of(host) is Reach.PUBLIC
    )


def is_likely(addr: str, own: Collection[ipaddress.IPv6Network]) -> bool:
    """False for an IPv6 address on the internet if this computer has none there itself."""
    is_far = addr.startswith("/ip6/") and reach_of(host_of(addr)) is Reach.PUBLIC
    return bool(own) or not is_far


def has_reach(addr: str, least: Reach) -> bool:
    """Check that an address, as text of a multiaddr, is one that we dial, and reaches that far.

    True for a host name: what it resolves to is checked by `places`.
    """
    parts = addr.split("/")
    match parts:
        case ["", "ip4" | "ip6", host, "tcp", port, "p2p", _] if _is_port(port):
            reach = reach_of(host)
            return reach is not None and reach >= least
        case ["", "dns" | "dns4" | "dns6", host, "tcp", port, "p2p", _] if _is_port(port):
            return bool(host)
    return False


async def places(addr: str, least: Reach, own: Collection[ipaddress.IPv6Network] = ()) -> list[str]:
    """The addresses to dial for a claimed one: itself, or what its name resolves to; maybe none.

    None in `own` links for a source that may name public addresses only.
    """
    if not has_reach(addr, least):
        return []
    _, kind, host, _, port, _, peer = addr.split("/")
    family = {"dns4": socket.AF_INET, "dns6": socket.AF_INET6}.get(kind, socket.AF_UNSPEC)
    hosts = await hosts_of(host, least, own, family)
    return [f"/{'ip6' if ':' in one else 'ip4'}/{one}/tcp/{port}/p2p/{peer}" for one in hosts]


async def hosts_of(
    host: str,
    least: Reach,
    own: Collection[ipaddress.IPv6Network] = (),
    family: int = socket.AF_UNSPEC,
) -> list[str]:
    """The IP addresses to dial for a claimed host, as `places`; raises PeerError for no answer."""
    hosts = [host] if parse_host(host) else dict.fromkeys(await _resolve(host, family))
    if least is Reach.PUBLIC:
        hosts = [one for one in hosts if not _is_in(one, own)]
    return [one for one in hosts if (reach := reach_of(one)) is not None and reach >= least]


def _is_in(host: str, links: Collection[ipaddress.IPv6Network]) -> bool:
    return ":" in host and any(ipaddress.ip_address(host) in link for link in links)


class NamedHosts:
    """Addresses of hosts that a source named, each resolved and judged once in `RESOLVED_S`."""

    def __init__(self, least: Callable[[], Awaitable[Reach]]) -> None:
        """`least` tells the smallest reach that the source may name."""
        self._least = least
        self._known: dict[str, tuple[str, float]] = {}  # address, and until when it counts

    async def address_of(self, host: str) -> str:
        """Give the IP address to dial for a host; raises PeerError for none."""
        known, until_s = self._known.get(host, ("", 0.0))
        if trio.current_time() < until_s:
            return known
        found = await hosts_of(host, await self._least(), own_links())
        if not found:
            raise PeerError(f"{host[:80]!r} has no address that may be dialled from here")
        self._known[host] = found[0], trio.current_time() + RESOLVED_S
        return found[0]

    def forget(self) -> None:
        """Resolve all hosts again: one of them failed."""
        self._known.clear()


def hosts_named_by(url: str, *, public_only: bool = False) -> NamedHosts:
    """The hosts that the server at this address may name."""
    return NamedHosts(partial(reach_of_url, url, public_only=public_only))


async def reach_of_url(url: str, *, public_only: bool = False) -> Reach:
    """Smallest reach that the server at this address may name: that of its own address."""
    if public_only:
        return Reach.PUBLIC
    host = urlsplit(url).hostname or ""
    if (reach := reach_of(host)) is not None:
        return reach
    try:
        return min((reach_of_source(one) for one in await _resolve(host)), default=Reach.PUBLIC)
    except PeerError:
        return Reach.PUBLIC


def host_of(addr: str) -> str:
    return addr.split("/")[2]


def endpoint_of(addr: str) -> tuple[str, int]:
    """IP address and TCP port of a multiaddr that names them."""
    _, _, host, _, port, *_ = addr.split("/")
    return host, int(port)


async def _resolve(host: str, family: int = socket.AF_UNSPEC) -> list[str]:
    try:
        with trio.fail_after(RESOLVE_S):
            found = await trio.socket.getaddrinfo(host, None, family, socket.SOCK_STREAM)
    except (trio.TooSlowError, OSError, UnicodeError) as err:
        raise PeerError(f"{host[:80]!r} does not resolve: {err}") from err
    return [str(info[4][0]) for info in found]


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdigit() and 0 < int(text) < 1 << 16
