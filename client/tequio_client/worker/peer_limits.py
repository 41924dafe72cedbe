"""What one peer, and one network address, may take of us. Times in seconds, sizes in bytes."""

from __future__ import annotations

from dataclasses import dataclass

CONNECTIONS = 200
"""Of all peers together."""
INBOUND = 150
"""Of these, opened by others: a flood from outside leaves the peers that we chose their place."""
HANDSHAKES = 256
"""Connections of all addresses that have not shown a key yet."""
BURST_S = 10.0
"""What is not used of a rate can be used later, up to so many seconds of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerLimits:
    """The doors of a peer, and how soon a silent one is let go.

    An address counts by its network, IPv4 by /24 and IPv6 by /48, for who holds one address
    there holds many. From loopback come the peers of a demo and of tests: it may do more.
    """

    streams: int = 32
    """Inbound streams of one peer that may be open at once."""
    connections: int = 32
    """Inbound connections of one network address."""
    handshakes: int = 8
    """Of these, such as have not shown a key yet."""
    arrivals_per_s: float = 2.0
    """Inbound connections of one network address."""
    bytes_per_s: float = 64e6
    """Bytes from and to one network address, each way; a read of few counts as SMALL_BYTES."""
    gossip_per_s: float = 100.0
    """Gossip messages and control entries of one forwarder."""
    faults_per_s: float = 0.05
    """Messages that no honest program sends; more than ten seconds' worth, and 3, is too much."""
    records_per_s: float = 10.0
    """Address records that one peer may bring."""
    loopback_times: int = 16
    """How much more the loopback address may do."""
    out_s: float = 60.0
    """How long a peer that sent garbage is kept out, the first time; then twice as long."""
    connect_s: float = 15.0
    ping_every_s: float = 15.0
    ping_wait_s: float = 5.0
    ping_misses: int = 2


SMALL_BYTES = 16_384
"""What a read costs at least: small messages cost time, not bytes."""
