"""Homes behind real routers: network namespaces joined by a namespace that is the internet.

A router translates addresses by nftables, and drops what comes from outside unasked, as home
routers do. Addresses are public by their form but lead nowhere outside of these namespaces. Needs
root and nftables; `missing` says what is not there.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from typing import Self

INTERNET = "internet"
COMMAND_S = 20
_numbers = itertools.count(1)


class Nat(Enum):
    """Kind of a router; the value is the rule by which it hides the home."""

    NONE = ""
    """A router that translates nothing: the home has public addresses."""
    FULL_CONE = "masquerade persistent"
    """Everything that comes to the router's address is passed on to the first computer."""
    PORT_RESTRICTED = "masquerade"
    """Ports are kept where they are free; in comes only what answers."""
    SYMMETRIC = "masquerade random,fully-random"
    """Another port for each connection."""


@cache
def missing() -> str:
    """Find what keeps such networks from being made here; empty: nothing."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "network namespaces need root on Linux"
    for program in ("ip", "nft"):
        if shutil.which(program) is None:
            return f"{program} is not installed"
    name = f"tq{os.getpid()}x"
    try:
        _run("ip", "netns", "add", name)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        return "network namespaces are not permitted here"
    try:
        _nft(name, _rules(Nat.SYMMETRIC))
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        return "the kernel has no address translation for nftables"
    finally:
        _run("ip", "netns", "del", name)
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Computer:
    """A namespace with one address."""

    namespace: str
    host: str

    def run(self, *command: str) -> str:
        return _run("ip", "netns", "exec", self.namespace, *command)

    def command(self, *command: str) -> tuple[str, ...]:
        """The command line that runs the command there."""
        return ("ip", "netns", "exec", self.namespace, *command)


@dataclass(frozen=True, slots=True, kw_only=True)
class Router:
    computer: Computer
    """The side towards the internet: `host` is the address that the world sees."""
    inside: str
    """Namespace that is the switch of the home: it joins all computers."""
    prefix: str
    """First three numbers of the home's addresses."""


class HomeNetworks:
    """Namespaces that exist for the length of the block of `opened`."""

    def __init__(self) -> None:
        self._tag = f"tq{os.getpid()}n{next(_numbers)}"
        self._namespaces: list[str] = []
        self._subnets = itertools.count(1)
        self._computers: dict[str, Iterator[int]] = {}
        self._internet = self._namespace(INTERNET)
        self._forward(self._internet)
        self.internet = Computer(namespace=self._internet, host="127.0.0.1")

    @classmethod
    @contextmanager
    def opened(cls) -> Iterator[Self]:
        networks = cls()
        try:
            yield networks
        finally:
            for name in reversed(networks._namespaces):
                with suppress(subprocess.CalledProcessError):
                    _run("ip", "netns", "del", name)

    def public(self, name: str) -> Computer:
        """A computer on the internet, in a network of its own."""
        return self._attach(self._internet, name, f"45.0.{next(self._subnets)}")

    def public_ipv6(self, name: str) -> Computer:
        """A computer on the internet that has IPv6 alone, in a network of its own."""
        return self._attach(self._internet, name, f"2a00:1450:{next(self._subnets):x}:", bits=64)

    def home(self, name: str, nat: Nat, *, behind: Router | None = None) -> Router:
        """A home's router, on the internet or behind another one (its provider's)."""
        outside = self.public(name) if behind is None else self.computer(behind, name)
        inside = self._namespace(f"{name}s")
        _run(*_ip(inside), "link", "add", "br0", "type", "bridge")
        _run(*_ip(inside), "link", "set", "br0", "up")
        number = next(self._subnets)
        prefix = f"45.1.{number}" if nat is Nat.NONE else f"192.168.{number}"
        self._join(outside.namespace, inside, f"{prefix}.1")
        self._forward(outside.namespace)
        if nat is Nat.NONE:
            _run(*_ip(self._internet), "route", "add", f"{prefix}.0/24", "via", outside.host)
        else:
            _nft(outside.namespace, _rules(nat, f"{prefix}.2"))
        self._computers[inside] = itertools.count(2)
        return Router(computer=outside, inside=inside, prefix=prefix)

    def computer(self, router: Router, name: str) -> Computer:
        """A computer in the home of that router; the first one is the one of a full cone."""
        namespace = self._namespace(name)
        host = f"{router.prefix}.{next(self._computers[router.inside])}"
        self._join(namespace, router.inside, host, "eth0")
        _run(*_ip(namespace), "route", "add", "default", "via", f"{router.prefix}.1")
        return Computer(namespace=namespace, host=host)

    def _attach(self, router: str, name: str, prefix: str, *, bits: int = 24) -> Computer:
        dot, options = (":", ("nodad",)) if ":" in prefix else (".", ())
        namespace, port = self._namespace(name), f"p{next(self._subnets)}"
        _cable(router, port, namespace, "eth0")
        for space, device, host in (
            (router, port, f"{prefix}{dot}1"),
            (namespace, "eth0", f"{prefix}{dot}2"),
        ):
            _run(*_ip(space), "address", "add", f"{host}/{bits}", "dev", device, *options)
            _run(*_ip(space), "link", "set", device, "up")
        _run(*_ip(namespace), "route", "add", "default", "via", f"{prefix}{dot}1")
        return Computer(namespace=namespace, host=f"{prefix}{dot}2")

    def _join(self, namespace: str, switch: str, host: str, device: str = "lan") -> None:
        """Connect the namespace to a switch, with that address."""
        port = f"p{next(self._subnets)}"
        _cable(switch, port, namespace, device)
        _run(*_ip(switch), "link", "set", port, "master", "br0", "up")
        _run(*_ip(namespace), "address", "add", f"{host}/24", "brd", "+", "dev", device)
        _run(*_ip(namespace), "link", "set", device, "up")

    def _namespace(self, name: str) -> str:
        found = f"{self._tag}{name}"
        _run("ip", "netns", "add", found)
        self._namespaces.append(found)
        _run(*_ip(found), "link", "set", "lo", "up")
        return found

    @staticmethod
    def _forward(namespace: str) -> None:
        for name in ("net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1"):
            _run("ip", "netns", "exec", namespace, "sysctl", "-qw", name)


def _cable(first: str, port: str, second: str, device: str) -> None:
    _run(
        *(*_ip(first), "link", "add", port, "type", "veth"),
        *("peer", "name", device, "netns", second),
    )


def _rules(nat: Nat, first: str = "192.168.0.2") -> str:
    """The rules of a router: `eth0` is the internet, `lan` the home."""
    passed_on = f'iifname "eth0" tcp dport 1024-65535 dnat to {first}'
    return f"""
        table ip home {{
            chain out {{ type nat hook postrouting priority 100; oifname "eth0" {nat.value}; }}
            chain in {{
                type nat hook prerouting priority -100;
                {passed_on if nat is Nat.FULL_CONE else ""}
            }}
            chain unasked {{
                type filter hook forward priority 10; policy accept;
                iifname "eth0" ct state new ct status dnat accept
                iifname "eth0" ct state new drop
            }}
            chain own {{
                type filter hook input priority 10; policy accept;
                iifname "eth0" ct state new drop
            }}
        }}"""


@contextmanager
def upnp_daemon(router: Router, folder: Path) -> Iterator[None]:
    """Run miniupnpd on the router, as many home routers do."""
    namespace, file = router.computer.namespace, folder / "miniupnpd.conf"
    _nft(namespace, _UPNP_RULES)
    file.write_text(_UPNP_SETTINGS)
    pid_file = folder / "miniupnpd.pid"
    command = router.computer.command("miniupnpd", "-d", "-f", str(file), "-P", str(pid_file))
    with (folder / "miniupnpd.log").open("wb") as log:
        daemon = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=log)
        try:
            yield
        finally:
            daemon.terminate()
            daemon.wait(COMMAND_S)


@contextmanager
def nat_pmp_daemon(router: Router) -> Iterator[None]:
    """Run a daemon on the router that knows NAT-PMP alone (`nat_pmp_router`)."""
    program = (sys.executable, "-m", "tests.support.nat_pmp_router", router.computer.host)
    with subprocess.Popen(router.computer.command(*program), stdout=subprocess.PIPE) as daemon:
        assert daemon.stdout is not None
        daemon.stdout.readline()  # it listens
        try:
            yield
        finally:
            daemon.terminate()


UPNP_CHAIN, NAT_PMP_CHAIN = ("inet", "upnp", "prerouting_upnp"), ("ip", "pmp", "in")


def open_ports(router: Router, chain: Sequence[str] = UPNP_CHAIN) -> list[str]:
    """The rules by which the router's daemon passes ports on."""
    listed = router.computer.run("nft", "list", "chain", *chain)
    return [line.strip() for line in listed.splitlines() if "dnat" in line]


_UPNP_SETTINGS = """\
ext_ifname=eth0
listening_ip=lan
enable_upnp=yes
secure_mode=yes
uuid=9a2b3f60-2c4e-4f0e-8f53-3f4c1a7a6b11
upnp_table_name=upnp
upnp_nat_table_name=upnp
upnp_forward_chain=forward_upnp
upnp_nat_chain=prerouting_upnp
upnp_nat_postrouting_chain=postrouting_upnp
allow 1024-65535 192.168.0.0/16 1024-65535
deny 0-65535 0.0.0.0/0 0-65535
"""
_UPNP_RULES = """
    table inet upnp {
        chain forward { type filter hook forward priority 0; policy accept; jump forward_upnp; }
        chain forward_upnp { }
        chain prerouting {
            type nat hook prerouting priority -100; policy accept; jump prerouting_upnp;
        }
        chain prerouting_upnp { }
        chain postrouting {
            type nat hook postrouting priority 100; policy accept; jump postrouting_upnp;
        }
        chain postrouting_upnp { }
    }"""


class HomePeer:
    """A peer that runs in a namespace (`home_peer`): lines of JSON in and out."""

    def __init__(self, computer: Computer, folder: Path, name: str, *options: str) -> None:
        self.computer = computer
        program = (sys.executable, "-m", "tests.support.home_peer", name, str(folder), *options)
        self._errors = (folder / f"{name}.log").open("wb")
        self._process = subprocess.Popen(
            computer.command(*program),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        self.addresses: list[str] = self.receive()["addresses"]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        with suppress(OSError):
            self._stdin.close()
        try:
            self._process.wait(COMMAND_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._errors.close()

    @property
    def peer_id(self) -> str:
        return self.addresses[0].rpartition("/")[2]

    @property
    def _stdin(self) -> IO[bytes]:
        assert self._process.stdin is not None
        return self._process.stdin

    def ask(self, command: str, **values: object) -> Any:  # noqa: ANN401 - JSON
        """Send a command; returns its answer, which is JSON."""
        self._stdin.write(json.dumps({"do": command, **values}).encode() + b"\n")
        self._stdin.flush()
        return self.receive()["answer"]

    def receive(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, f"a peer ended; see {self._errors.name}"
        found: dict[str, Any] = json.loads(line)
        return found


def _ip(namespace: str) -> tuple[str, ...]:
    return ("ip", "-n", namespace)


def _nft(namespace: str, rules: str) -> None:
    _run("ip", "netns", "exec", namespace, "nft", "-f", "-", content=rules)


def _run(*command: str, content: str | None = None) -> str:
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, timeout=COMMAND_S, input=content
    )
    return done.stdout
