"""Calls to the home's router that open and close a port: a program of its own, for one call.

    python -m tequio_client.worker.swarm.router_calls open INNER OUTER
    python -m tequio_client.worker.swarm.router_calls close WAY INNER OUTER

It writes a `RouterAnswer` as a line before each request for a port, and at the end. Its caller logs
them: nothing here knows the style and the level of the worker's log.

miniupnpc is C code that reads what any device of the local network sends, without a bound, and each
of its calls waits. So its caller ends this process after a while, and it ends by itself when it has
become large.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Literal, Protocol, TypeAlias

import msgspec
import psutil

from tequio_client import ipc
from tequio_client.ipc.snapshot import RouterPort
from tequio_client.platform import child
from tequio_client.worker.swarm import nat_pmp
from tequio_client.worker.swarm.dials import Reach, reach_of

SEARCH_MS, CLOSE_SEARCH_MS = 2_000, 1_000
"""How long routers may take to answer the search, to open a port and to close it."""
LEASE_S = 3_600
OTHER_PORTS = 3
"""Ports tried beside our own where another computer of the home has that one."""
PORT_STEP = 1_009
LAST_PORT = 65_535
NAME = "Tequio"
"""Shown in the router's list of open ports."""
LINE_BYTES = 4_096
PROBLEM_CHARACTERS = 200
MOST_BYTES = 256 << 20
"""Memory at which this process ends; it needs a fifth of that."""
MEMORY_CHECK_S = 0.02
_TAKEN = "ConflictInMappingEntry"
_NO_LEASES = "OnlyPermanentLeasesSupported"

Way: TypeAlias = Literal["upnp", "nat-pmp"]
Port: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=LAST_PORT)]


class RouterAnswer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    state: RouterPort
    problem: str = ""
    way: Way = "upnp"
    inner: Port = 0
    port: Port = 0
    """The port on the router; 0: none is open. While searching: the one that is asked for now."""
    lease_s: Annotated[int, msgspec.Meta(ge=0, lt=1 << 32)] = LEASE_S
    """How long the router keeps the port open."""


Report: TypeAlias = Callable[[RouterAnswer], None]
decode_answer: Callable[[bytes], RouterAnswer] = ipc.line_decoder(
    RouterAnswer, LINE_BYTES, "an answer of a router"
)


class Gateway(Protocol):
    """The part of `miniupnpc.UPnP` that is used; each call waits, and raises bare Exceptions."""

    discoverdelay: int
    lanaddr: str

    def discover(self) -> int: ...

    def selectigd(self) -> str: ...

    def externalipaddress(self) -> str: ...

    def addportmapping(  # noqa: PLR0913, PLR0917 - the library's own
        self,
        outer: int,
        protocol: str,
        host: str,
        inner: int,
        name: str,
        remote: str,
        lease_s: int,
        /,
    ) -> bool: ...

    def deleteportmapping(self, outer: int, protocol: str, /) -> bool: ...


def run(words: Sequence[str], report: Report) -> None:
    """Do what the words of the command line say; waits. Raises ValueError for other words."""
    match words:
        case ["open", inner, outer]:
            report(open_port(int(inner), int(outer), report))
        case ["close", way, inner, outer]:
            report(close_port(way, int(inner), int(outer)))
        case _:
            raise ValueError(f"not a call: {words}")


def open_port(inner: int, outer: int, report: Report) -> RouterAnswer:
    """Find the router and have it pass a port on to ours, `outer` if it is free; waits.

    By NAT-PMP where UPnP finds none, or is refused.
    """
    found = _open_by_upnp(inner, outer, report)
    if found.state in (RouterPort.NO_ROUTER, RouterPort.REFUSED):
        other = _open_by_nat_pmp(inner, outer, report)
        # What a router said in refusing is worth more than that the other way is silent.
        return found if other.state is RouterPort.NO_ROUTER else other
    return found


def _open_by_nat_pmp(inner: int, outer: int, report: Report) -> RouterAnswer:
    router = nat_pmp.find_router(inner)
    if router is None:
        return RouterAnswer(state=RouterPort.NO_ROUTER)
    if reach_of(router.outside) is not Reach.PUBLIC:
        return RouterAnswer(state=RouterPort.NESTED)
    asked = RouterAnswer(state=RouterPort.SEARCHING, way="nat-pmp", inner=inner, port=outer)
    report(asked)
    try:
        port, lease_s = router.open(outer, LEASE_S)
    except (nat_pmp.NatPmpError, OSError) as err:
        return RouterAnswer(state=RouterPort.REFUSED, problem=str(err))
    return msgspec.structs.replace(asked, state=RouterPort.OPEN, port=port, lease_s=lease_s)


def _open_by_upnp(inner: int, outer: int, report: Report) -> RouterAnswer:
    try:
        gateway = _find_gateway(SEARCH_MS)
        outside = gateway.externalipaddress() or ""
    except Exception:  # noqa: BLE001 - it raises no other kind; "Success", if nothing is found
        return RouterAnswer(state=RouterPort.NO_ROUTER)
    if reach_of(outside) is not Reach.PUBLIC:
        # An open port there would only let the next network in: the provider's, or a guest house's.
        return RouterAnswer(state=RouterPort.NESTED)
    problem = ""
    for port in _ports(outer):
        asked = RouterAnswer(state=RouterPort.SEARCHING, inner=inner, port=port)
        report(asked)
        try:
            _ask_for(gateway, port, inner)
        except Exception as err:  # noqa: BLE001 - as above
            problem = str(err)[:PROBLEM_CHARACTERS]
            if _TAKEN not in problem:
                break
        else:
            return msgspec.structs.replace(asked, state=RouterPort.OPEN)
    return RouterAnswer(state=RouterPort.REFUSED, problem=problem)


def close_port(way: str, inner: int, outer: int) -> RouterAnswer:
    """Have the router close the port; waits. A router that does not answer forgets it in time."""
    try:
        router = _find_gateway(CLOSE_SEARCH_MS) if way == "upnp" else nat_pmp.find_router(inner)
    except Exception:  # noqa: BLE001 - as above
        router = None
    if router is None:
        return RouterAnswer(state=RouterPort.NO_ROUTER)
    try:
        if isinstance(router, nat_pmp.NatPmpRouter):
            router.close()
        else:
            router.deleteportmapping(outer, "TCP")
    except Exception as err:  # noqa: BLE001 - as above
        return RouterAnswer(state=RouterPort.REFUSED, problem=str(err)[:PROBLEM_CHARACTERS])
    return RouterAnswer(state=RouterPort.OFF)


def _find_gateway(search_ms: int) -> Gateway:
    import miniupnpc  # noqa: PLC0415 - see the top

    gateway: Gateway = miniupnpc.UPnP()
    gateway.discoverdelay = search_ms
    gateway.discover()
    gateway.selectigd()
    return gateway


def _ask_for(gateway: Gateway, outer: int, inner: int) -> None:
    def ask(lease_s: int) -> None:
        gateway.addportmapping(outer, "TCP", gateway.lanaddr, inner, NAME, "", lease_s)

    try:
        ask(LEASE_S)
    except Exception as err:
        if _NO_LEASES not in str(err):
            raise
        ask(0)


def _ports(first: int) -> Iterator[int]:
    yield first
    for number in range(1, OTHER_PORTS + 1):
        other = first + number * PORT_STEP
        yield other if other <= LAST_PORT else other - LAST_PORT // 2


def _end_when_large() -> None:
    own = psutil.Process()
    while own.memory_info().rss < MOST_BYTES:
        time.sleep(MEMORY_CHECK_S)
    os._exit(1)


def main() -> None:
    """Do one call."""
    child.end_with_parent()
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())  # miniupnpc writes to it
    pipe = child.ParentPipe()
    threading.Thread(target=_end_when_large, daemon=True).start()
    run(sys.argv[1:], lambda answer: pipe.send(ipc.encode(answer)))


if __name__ == "__main__":
    main()
