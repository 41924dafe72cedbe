"""A line between two network namespaces with a rate and a delay, in both directions.

Two TUN devices are joined by a process that holds each packet for as long as the line would: this
kernel may have no netem. As from a real network card, TCP gets its segments joined up to 64 KiB:
one by one, 1 Gbit/s would be 83,000 packets a second. Needs root.

    python shaped_link.py HERE THERE NAMESPACE --mbit 100 --delay-ms 40

puts a device with address HERE into the present namespace, and one with address THERE into
NAMESPACE as its default route; prints a line when both are up, and works until it is ended.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import selectors
import struct
import subprocess
import time
from collections import deque
from dataclasses import dataclass, field

TUNSETIFF, IFF_TUN, IFF_NO_PI, IFF_VNET_HDR = 0x400454CA, 0x0001, 0x1000, 0x4000
TUNSETOFFLOAD, TUN_F_CSUM, TUN_F_TSO4 = 0x400454D0, 0x01, 0x02
OFFLOAD = struct.Struct("=BBHHHH")
"""`struct virtio_net_hdr` before each packet: flags, kind, header and segment bytes, checksum."""
JOINED_BYTES = 1 << 16
MTU = 1_500
MOST_WAITING_S = 0.1
"""Of a router's queue; later packets are dropped, which tells senders to slow down."""


@dataclass(slots=True, kw_only=True)
class Direction:
    """Packets on their way from one device to the other."""

    source: int
    target: int
    bytes_per_s: float
    delay_s: float
    waiting: deque[tuple[float, bytes]] = field(default_factory=deque)
    """With the time at which each arrives."""
    free_at: float = 0.0
    """When the line has sent all packets so far."""

    def read(self, now: float) -> None:
        """Read a packet, and put it on the line."""
        packet = os.read(self.source, OFFLOAD.size + JOINED_BYTES)
        begins = max(now, self.free_at)
        if begins - now > MOST_WAITING_S:
            return
        self.free_at = begins + line_bytes(packet) / self.bytes_per_s
        self.waiting.append((self.free_at + self.delay_s, packet))

    def deliver(self, now: float) -> None:
        """Write the packets that have arrived."""
        while self.waiting and self.waiting[0][0] <= now:
            os.write(self.target, self.waiting.popleft()[1])


def line_bytes(packet: bytes) -> int:
    """Bytes of a packet on a line of this MTU, where each segment has headers of its own."""
    header_bytes: int
    segment_bytes: int
    _, _, header_bytes, segment_bytes, _, _ = OFFLOAD.unpack_from(packet)
    size_bytes = len(packet) - OFFLOAD.size
    segments = -(-(size_bytes - header_bytes) // segment_bytes) if segment_bytes else 1
    return size_bytes + (segments - 1) * header_bytes


def main() -> None:
    """Make both devices, and carry packets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("here")
    parser.add_argument("there")
    parser.add_argument("namespace")
    parser.add_argument("--mbit", type=float, required=True)
    parser.add_argument("--delay-ms", type=float, required=True, help="one way")
    options = parser.parse_args()
    name = f"tq{os.getpid()}"
    near, far = (_tun(f"{name}{side}") for side in "ab")
    inside = ("ip", "netns", "exec", options.namespace, "ip")
    for command in (
        ("ip", "address", "add", options.here, "peer", options.there, "dev", f"{name}a"),
        ("ip", "link", "set", f"{name}a", "up"),
        ("ip", "link", "set", f"{name}b", "netns", options.namespace),
        (*inside, "address", "add", options.there, "peer", options.here, "dev", f"{name}b"),
        (*inside, "link", "set", f"{name}b", "up"),
        (*inside, "route", "add", "default", "via", options.here),
    ):
        subprocess.run(command, check=True)
    rate, delay_s = options.mbit * 1e6 / 8, options.delay_ms / 1e3
    ways = [
        Direction(source=one, target=other, bytes_per_s=rate, delay_s=delay_s)
        for one, other in ((near, far), (far, near))
    ]
    print("up", flush=True)
    _carry(ways)


def _tun(name: str) -> int:
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(
        device, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TUN | IFF_NO_PI | IFF_VNET_HDR)
    )
    fcntl.ioctl(device, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4)
    return device


def _carry(ways: list[Direction]) -> None:
    with selectors.DefaultSelector() as selector:
        for way in ways:
            selector.register(way.source, selectors.EVENT_READ, way)
        while True:
            due = min((way.waiting[0][0] for way in ways if way.waiting), default=None)
            timeout = None if due is None else max(due - time.monotonic(), 0.0)
            for key, _ in selector.select(timeout):
                key.data.read(time.monotonic())
            for way in ways:
                way.deliver(time.monotonic())


if __name__ == "__main__":
    main()
