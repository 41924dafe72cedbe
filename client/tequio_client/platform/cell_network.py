"""The network of a cell's ranks: a loopback of their own, the store's socket, the interface to use.

The ranks of one computer need no network but their own loopback. Where Linux allows it, they get a
network namespace: nothing outside can connect to them, and they to nothing outside. It has to be
entered before any other thread is started, and passes to the ranks that rank 0 starts.
"""

from __future__ import annotations

import ctypes
import errno
import ipaddress
import os
import socket
import struct
import sys
from contextlib import suppress
from pathlib import Path

import psutil

from tequio_shared.errors import UserFacingError

_NEW_USER, _NEW_NET = 0x10000000, 0x40000000  # linux/sched.h
_SET_FLAGS, _UP = 0x8914, 0x1  # SIOCSIFFLAGS of linux/sockios.h, IFF_UP of linux/if.h
_LOOPBACK = "lo"
_WAITING_CONNECTIONS = 1_024
USUAL_PORT = 29_500
"""Of torchrun's stores."""
_PORTS_TRIED = 64
_ELSEWHERE = "192.0.2.1"  # of no computer (RFC 5737): the usual way out leads there
_NOT_ALLOWED = (errno.EPERM, errno.EACCES, errno.EINVAL, errno.ENOSPC, errno.ENOSYS, errno.EUSERS)
"""Errors of a system that gives programs no namespaces."""


def enter_own_network() -> bool:
    """Move this process into a network with a loopback and nothing else; False: not allowed here.

    Raises OSError when the loopback does not come up there.
    """
    if sys.platform == "win32":
        return False
    user, group = os.getuid(), os.getgid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_NEW_NET):  # as root; others need a user namespace, in which they may
        if libc.unshare(_NEW_USER | _NEW_NET):
            if ctypes.get_errno() in _NOT_ALLOWED:
                return False
            raise OSError(ctypes.get_errno(), "unshare")
        own = Path("/proc/self")
        (own / "setgroups").write_text("deny")
        (own / "uid_map").write_text(f"{user} {user} 1")
        (own / "gid_map").write_text(f"{group} {group} 1")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sh14x", _LOOPBACK.encode(), _UP)
        import fcntl  # noqa: PLC0415 - not on Windows

        fcntl.ioctl(any_socket, _SET_FLAGS, request)
    return True


def connectable_ports() -> tuple[int, int]:
    """First and last port that this system gives to sockets that name none."""
    try:
        first, last = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text("ascii").split()
        return int(first), int(last)
    except (OSError, ValueError):
        return 32_768, 60_999


def listen(address: str, port: int) -> tuple[int, int]:
    """Listen for the other ranks; returns descriptor and port. Raises UserFacingError.

    At that address if it is one of this computer, else, as behind a cluster's service, at all.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, int(sys.platform != "win32"))
    try:
        try:
            listener.bind((address, port))
        except OSError as err:
            if err.errno != errno.EADDRNOTAVAIL:
                raise
            listener.bind(("", port))
        listener.listen(_WAITING_CONNECTIONS)
    except OSError as err:
        listener.close()
        if err.errno != errno.EADDRINUSE:
            raise UserFacingError(f"cannot listen at {address}:{port}: {err.strerror}") from err
        raise UserFacingError(
            f"port {port} of {address} is in use: stop the other cell, or choose another "
            "MASTER_PORT, the same for all ranks"
        ) from err
    bound: int = listener.getsockname()[1]
    return listener.detach(), bound


def resolve(name: str, port: int) -> str:
    """Find the address of rank 0's computer; raises UserFacingError.

    Debian and Ubuntu give a computer's own name an address of its loopback, where nobody else gets
    in: then it is this computer's address in the network.
    """
    try:
        found = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)
    except OSError as err:
        raise UserFacingError(
            f"MASTER_ADDR {name!r} cannot be resolved ({err.strerror}): set it to the name or "
            "address of rank 0's computer"
        ) from err
    # IPv4 first: torch's store and NCCL meet fewer surprises there.
    found.sort(key=lambda one: one[0] != socket.AF_INET)
    addresses = [str(one[4][0]) for one in found]
    if name == "localhost" or name in addresses:
        return addresses[0]
    outside = [one for one in addresses if not ipaddress.ip_address(one).is_loopback]
    own = outside[0] if outside else address_towards(_ELSEWHERE)
    if not own:
        raise UserFacingError(
            f"MASTER_ADDR {name!r} leads to {addresses[0]}, where no other computer gets in: set "
            "it to the address of rank 0's computer in your network"
        )
    return own


def address_towards(address: str) -> str:
    """This computer's own address on the way to another one; empty if that is unknown."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect((address, 9))  # sends nothing
        return str(probe.getsockname()[0])
    return ""


def interface_towards(address: str) -> str:
    """Name the interface that leads to an address; empty if that is unknown."""
    own = address_towards(address)
    for name, addresses in psutil.net_if_addrs().items():
        if any(one.address.partition("%")[0] == own for one in addresses):
            return name
    return ""


def free_port(address: str) -> int:
    """A free TCP port at an own address, torch's usual one if possible.

    Below those that systems give to outgoing connections, which would take it between two cells.
    Raises UserFacingError if all are taken.
    """
    for port in range(USUAL_PORT, USUAL_PORT + _PORTS_TRIED):
        with suppress(UserFacingError):
            descriptor, _ = listen(address, port)
            socket.close(descriptor)
            return port
    raise UserFacingError(
        f"all ports from {USUAL_PORT} to {USUAL_PORT + _PORTS_TRIED - 1} of {address} are in use: "
        "stop other cells"
    )
