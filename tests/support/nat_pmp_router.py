"""A router's daemon for NAT-PMP (RFC 6886), on a UDP port; ports are passed on by nftables.

    python -m tests.support.nat_pmp_router OUTSIDE

runs it on the router of a home (`home_networks`), until it is ended.
"""

from __future__ import annotations

import ipaddress
import socket
import struct
import subprocess
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PORT = 5_351
_ADDRESS, _MAP_TCP, _ANSWER = 0, 2, 128
_UNSUPPORTED = 5


@dataclass(slots=True, kw_only=True)
class NatPmpDaemon:
    outside: str
    code: int = 0
    """With which every request for a port is refused; 0: it is not."""
    taken: set[int] = field(default_factory=set)
    """Ports of other computers."""
    longest_s: int = 7_200
    """The longest lease that is granted."""
    silent: int = 0
    """Requests that are lost before one is answered."""
    open: dict[int, tuple[str, int, int]] = field(default_factory=dict)
    """Computer, its port and lease, by the port on the router."""

    def answer(self, asked: bytes, sender: str) -> bytes:
        """Give the answer to a request; empty for one that is lost."""
        if self.silent:
            self.silent -= 1
            return b""
        if asked == bytes((0, _ADDRESS)):
            return self._head(_ADDRESS, 0) + ipaddress.IPv4Address(self.outside).packed
        if len(asked) != 12 or asked[:2] != bytes((0, _MAP_TCP)):
            return self._head(asked[1], _UNSUPPORTED)
        inner, outer, asked_s = struct.unpack("!4xHHI", asked)
        lease_s = min(asked_s, self.longest_s)
        if not self.code:
            outer = self._map(sender, inner, outer, lease_s)
        return self._head(_MAP_TCP, self.code) + struct.pack("!HHI", inner, outer, lease_s)

    def _map(self, host: str, inner: int, outer: int, lease_s: int) -> int:
        for one, (mapped_host, mapped_inner, _) in list(self.open.items()):
            if (mapped_host, mapped_inner) == (host, inner):
                del self.open[one]
        if not lease_s:
            return 0
        while outer in self.taken or outer in self.open:
            outer += 1
        self.open[outer] = (host, inner, lease_s)
        return outer

    @staticmethod
    def _head(asked: int, code: int) -> bytes:
        return struct.pack("!BBHI", 0, _ANSWER + asked, code, 1)

    def rules(self) -> str:
        """Write the rules that pass on what is open now."""
        lines = (
            f'iifname "eth0" tcp dport {outer} dnat to {host}:{inner};'
            for outer, (host, inner, _) in self.open.items()
        )
        hook = "type nat hook prerouting priority -100; policy accept;"
        table = f"table ip pmp {{ chain in {{ {hook} {' '.join(lines)} }};}}"
        return f"add table ip pmp\ndelete table ip pmp\n{table}"


def serve(
    daemon: NatPmpDaemon, listening: socket.socket, apply: Callable[[str], None] = lambda _: None
) -> None:
    """Answer the next request; changed rules are applied before."""
    before = daemon.rules()
    asked, sender = listening.recvfrom(64)
    answer = daemon.answer(asked, sender[0])
    if (rules := daemon.rules()) != before:
        apply(rules)
    if answer:
        listening.sendto(answer, sender)


def main() -> None:
    daemon = NatPmpDaemon(outside=sys.argv[1])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listening:
        listening.bind(("", PORT))
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while True:
            serve(daemon, listening, apply_rules)


def apply_rules(rules: str) -> None:
    command = ("nft", "-f", "-")
    subprocess.run(command, input=rules, text=True, check=True)


if __name__ == "__main__":
    main()
