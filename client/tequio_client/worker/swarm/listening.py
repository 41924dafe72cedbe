"""The addresses that a node listens on: IPv4 and IPv6, at one port that stays the same.

A router passes one port on, and a firewall opens one. So an address that leaves its port open gets
the one that its caller prefers, the same for both families; where a program has that port already,
both get another one. A node prefers the port that follows from its key.

An address to announce is checked here too, by the rule that others dial by.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence

from tequio_client.worker.swarm.dials import Reach, has_reach
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import PeerKey, sha256

FIRST_PORT, PORTS = 20_000, 12_000
"""Range of the ports that follow from a key: below those that systems give to connections."""
TRIES = 16
"""Free ports of one family that are tried for the other."""
_FAMILIES = {
    "/ip4/0.0.0.0/tcp/0": (socket.AF_INET, "0.0.0.0"),  # noqa: S104 - as it was chosen
    "/ip6/::/tcp/0": (socket.AF_INET6, "::"),
}


def with_ports(listen: Sequence[str], preferred: int) -> list[str]:
    """Choose the port of each address that leaves it open and is open to other computers.

    Without a family that this computer lacks, if another one remains.
    """
    here = [one for one in listen if one not in _FAMILIES or _free_port(one)] or list(listen)
    everywhere = [one for one in here if one in _FAMILIES]
    ports = _candidates(preferred, everywhere)
    port = next((port for port in ports if all(_free_port(one, port) for one in everywhere)), 0)
    return [f"{one[:-1]}{port}" if one in everywhere else one for one in here]


def check_announced(announce: Sequence[str]) -> None:
    """Check that others would dial these addresses; raises UserFacingError."""
    for one in announce:
        # libp2p puts our peer id at the end, also of an address that has one already.
        if not any(has_reach(addr, Reach.LOOPBACK) for addr in (one, f"{one}/p2p/-")):
            raise UserFacingError(
                f"cannot announce {one!r}: --announce takes an address and a TCP port that others "
                "can dial, such as /dns4/home.example/tcp/8611 or /ip4/ADDRESS/tcp/8611"
            )


def own_port(key: PeerKey) -> int:
    """The port that follows from a key."""
    return FIRST_PORT + int.from_bytes(sha256(b"port" + key)[:4], "big") % PORTS


def _candidates(preferred: int, everywhere: Sequence[str]) -> Iterator[int]:
    yield preferred
    for _ in range(TRIES):
        for one in everywhere[:1]:
            yield _free_port(one)


def _free_port(listened: str, port: int = 0) -> int:
    """Try the port, or with 0 any, for this address; returns it, or 0 if it is not free."""
    family, host = _FAMILIES[listened]
    try:
        # Tried here: libp2p shares a port that another of its programs listens on.
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            if family is socket.AF_INET6:
                probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            probe.bind((host, port))
            return int(probe.getsockname()[1])
    except OSError:
        return 0
