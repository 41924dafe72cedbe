"""A port on the router by NAT-PMP (RFC 6886), for routers that know no UPnP or have it off.

Two datagrams, to the router alone: for the address that the world sees, and for a port. Every call
waits. Of what a device of the local network answers, only sizes, codes and numbers are read.
"""

from __future__ import annotations

import ipaddress
import socket
import struct
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from tequio_client.worker.swarm.dials import Reach, reach_of

if TYPE_CHECKING:
    from collections.abc import Iterator

PORT = 5_351
WAITS_S = (0.25, 0.5, 1.0)
"""How long each of the tries waits for an answer (RFC 6886, 3.1, without its last six)."""
MAX_GATEWAYS = 4
ROUTES = Path("/proc/net/route")
_ADDRESS, _MAP_TCP, _ANSWER = 0, 2, 128
_PROBLEMS = {
    1: "unsupported version",
    2: "not authorized, or switched off",
    3: "no connection to the provider",
    4: "out of resources",
    5: "unsupported request",
}


class NatPmpError(Exception):
    """The router refused, in its own words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NatPmpRouter:
    """A router that has answered."""

    host: str
    outside: str
    """The address that the world sees."""
    inner_port: int
    udp_port: int = PORT

    def open(self, outer: int, lease_s: int) -> tuple[int, int]:
        """Have that port, or one of the router's choice, passed on to ours.

        Returns which, and for how many seconds: the router may grant fewer than it was asked for.
        Raises NatPmpError when the router refuses, TimeoutError when it has fallen silent.
        """
        port, granted_s = self._map(outer, lease_s)
        if not port:
            raise NatPmpError("no port")
        return port, granted_s

    def close(self) -> None:
        """Close all ports that are passed on to ours; raises as `open`."""
        self._map(0, 0)

    def _map(self, outer: int, lease_s: int) -> tuple[int, int]:
        asked = struct.pack("!BBHHHI", 0, _MAP_TCP, 0, self.inner_port, outer, lease_s)
        answer = _ask(self.host, self.udp_port, asked, answer_bytes=8)
        _, port, granted_s = struct.unpack("!HHI", answer)
        return port, granted_s


def find_router(inner_port: int, port: int = PORT) -> NatPmpRouter | None:
    """Ask what may be the router for its address; None if nothing answers."""
    for host in gateways():
        try:
            raw = _ask(host, port, bytes((0, _ADDRESS)), answer_bytes=4)
        except (NatPmpError, OSError):  # of which TimeoutError is one
            continue
        outside = str(ipaddress.IPv4Address(raw))
        return NatPmpRouter(host=host, outside=outside, inner_port=inner_port, udp_port=port)
    return None


def gateways() -> list[str]:
    """The default routes of Linux; elsewhere, where routers are: the ends of our networks."""
    found = _default_routes() if sys.platform == "linux" else _network_ends()
    return list(dict.fromkeys(found))[:MAX_GATEWAYS]


def _default_routes() -> Iterator[str]:
    try:
        lines = ROUTES.read_text("ascii").splitlines()[1:]
    except OSError:
        return
    for _, target, gateway, *_ in map(str.split, lines):
        if int(target, 16) == 0 and int(gateway, 16):
            # The kernel writes the number in the byte order of the machine.
            raw = int(gateway, 16).to_bytes(4, sys.byteorder)
            yield str(ipaddress.IPv4Address(raw))


def _network_ends() -> Iterator[str]:
    for one in (one for addrs in psutil.net_if_addrs().values() for one in addrs):
        if one.family is socket.AF_INET and reach_of(one.address) is Reach.PRIVATE:
            network = ipaddress.IPv4Network(f"{one.address}/{one.netmask or 24}", strict=False)
            ends = (network.network_address + 1, network.broadcast_address - 1)
            yield from (str(end) for end in ends if str(end) != one.address)


def _ask(host: str, port: int, request: bytes, *, answer_bytes: int) -> bytes:
    """Send the request until it is answered; returns what follows the answer's first 8 bytes."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asker:
        asker.connect((host, port))  # answers of others do not arrive
        for wait_s in WAITS_S:
            asker.settimeout(wait_s)
            try:
                asker.send(request)
                answer = asker.recv(64)
            except TimeoutError:
                continue
            if len(answer) == 8 + answer_bytes and answer[1] == _ANSWER + request[1]:
                code = int.from_bytes(answer[2:4], "big")
                if code:
                    raise NatPmpError(_PROBLEMS.get(code, f"code {code}"))
                return answer[8:]
    raise TimeoutError(f"{host} does not answer by NAT-PMP")
