"""A port on the home's router, opened by UPnP or NAT-PMP for as long as its owner wants it.

The router then passes connections to that port on to ours, so that others can connect to us
(docs/decisions/0053). It is asked again in good time before the port's lease ends, and when others
can no longer connect, and told to close the port at the end; after a crash the lease runs out by
itself, except at routers that know only permanent ones.

miniupnpc is C code that reads what any device of the local network sends, and each of its calls
waits: it is imported when it is first wanted, and called in threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, Protocol

import structlog
import trio

from tequio_client.ipc.snapshot import RouterPort
from tequio_client.worker.swarm import nat_pmp
from tequio_client.worker.swarm.dials import Reach, reach_of

if TYPE_CHECKING:
    from collections.abc import Iterator

log = structlog.get_logger(__name__)

SEARCH_MS = 2_000
"""How long routers may take to answer the search."""
LEASE_S = 3_600
RENEW_S, SOONEST_RENEW_S = 1_500.0, 60.0
"""Longest and shortest pause before the port is asked for again, halfway through its lease."""
RETRY_S = 900.0
"""Pause after a failure: the router may have been restarted, or its settings changed."""
CALL_S = 40.0
"""Longest time of all calls that open a port; a router that hangs is left alone."""
CLOSE_S = 4.0
OTHER_PORTS = 3
"""Ports tried beside our own where another computer of the home has that one."""
PORT_STEP = 1_009
LAST_PORT = 65_535
NAME = "Tequio"
"""Shown in the router's list of open ports."""
_TAKEN = "ConflictInMappingEntry"
_NO_LEASES = "OnlyPermanentLeasesSupported"


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


class OpenedGateway(Protocol):
    """A router that has opened a port, and closes it."""

    def deleteportmapping(self, outer: int, protocol: str, /) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RouterAnswer:
    state: RouterPort
    problem: str = ""
    gateway: OpenedGateway | None = None
    port: int = 0
    """The port on the router; 0: none is open."""
    lease_s: int = LEASE_S
    """How long the router keeps the port open."""


class PortMapper:
    """Keeps a port open on the router while that is wanted: one task, `run`."""

    def __init__(self, inner_port: Callable[[], int | None], changed: Callable[[], None]) -> None:
        """`changed` is called when the port was opened, renewed or closed."""
        self._inner_port = inner_port
        self._changed = changed
        self._is_wanted = False
        self._woken = trio.Event()  # replaced whenever the router is to be asked now
        self.answer = RouterAnswer(state=RouterPort.OFF)
        self._opened = self.answer  # the last one with a port, which outlasts a silent router

    @property
    def port(self) -> int | None:
        """The port on the router that is open for us."""
        return self.answer.port or None

    def set_wanted(self, *, is_wanted: bool) -> None:
        if is_wanted is not self._is_wanted:
            self._is_wanted = is_wanted
            self.renew()

    def renew(self) -> None:
        """Ask the router now, not only after the pause: it may have forgotten the port."""
        self._woken.set()
        self._woken = trio.Event()

    async def run(self) -> NoReturn:
        """Open, renew and close the port until cancelled; then it is closed."""
        try:
            while True:
                woken = self._woken
                pause_s = await self._update()
                with trio.move_on_after(pause_s):
                    await woken.wait()
        finally:
            with trio.CancelScope(shield=True):
                await self._close()

    async def _update(self) -> float:
        """Do what is wanted; returns the pause before it is done again."""
        before, inner = self.answer.port, self._inner_port()
        if not self._is_wanted:
            await self._close()
            self.answer = RouterAnswer(state=RouterPort.OFF)
            pause_s = math.inf
        elif inner is None:
            pause_s = RETRY_S
        else:
            if not before:
                self.answer = RouterAnswer(state=RouterPort.SEARCHING)
            self.answer = await self._open(inner, self._opened.port or inner)
            if self.answer.port:
                self._opened = self.answer
            renew_s = min(RENEW_S, max(SOONEST_RENEW_S, self.answer.lease_s / 2))
            pause_s = renew_s if self.answer.port else RETRY_S
        if self.answer.port or before:
            self._changed()
        return pause_s

    async def _open(self, inner: int, outer: int) -> RouterAnswer:
        found = RouterAnswer(state=RouterPort.NO_ROUTER)
        with trio.move_on_after(CALL_S):
            found = await trio.to_thread.run_sync(
                open_port,
                inner,
                outer,
                abandon_on_cancel=True,  # type: ignore[call-arg]  # libp2p brings older stubs
            )
        log.info("port on the router", state=found.state.value, port=found.port, why=found.problem)
        return found

    async def _close(self) -> None:
        opened, self._opened = self._opened, RouterAnswer(state=RouterPort.OFF)
        if opened.gateway is None:
            return
        with trio.move_on_after(CLOSE_S):
            await trio.to_thread.run_sync(
                close_port,
                opened.gateway,
                opened.port,
                abandon_on_cancel=True,  # type: ignore[call-arg]  # libp2p brings older stubs
            )


def open_port(inner: int, outer: int) -> RouterAnswer:
    """Find the router and have it pass a port on to ours, `outer` if it is free; waits.

    By NAT-PMP where UPnP finds none, or is refused.
    """
    found = _open_by_upnp(inner, outer)
    if found.state in (RouterPort.NO_ROUTER, RouterPort.REFUSED):
        other = _open_by_nat_pmp(inner, outer)
        # What a router said in refusing is worth more than that the other way is silent.
        return found if other.state is RouterPort.NO_ROUTER else other
    return found


def _open_by_nat_pmp(inner: int, outer: int) -> RouterAnswer:
    router = nat_pmp.find_router(inner)
    if router is None:
        return RouterAnswer(state=RouterPort.NO_ROUTER)
    if reach_of(router.outside) is not Reach.PUBLIC:
        return RouterAnswer(state=RouterPort.NESTED)
    try:
        port, lease_s = router.open(outer, LEASE_S)
    except (nat_pmp.NatPmpError, OSError) as err:
        return RouterAnswer(state=RouterPort.REFUSED, problem=str(err))
    return RouterAnswer(state=RouterPort.OPEN, gateway=router, port=port, lease_s=lease_s)


def _open_by_upnp(inner: int, outer: int) -> RouterAnswer:
    import miniupnpc  # noqa: PLC0415 - see the top

    gateway: Gateway = miniupnpc.UPnP()
    gateway.discoverdelay = SEARCH_MS
    try:
        gateway.discover()
        gateway.selectigd()
        outside = gateway.externalipaddress() or ""
    except Exception as err:  # noqa: BLE001 - it raises no other kind, also for "nothing found"
        log.debug("no router answers by UPnP", error=str(err))  # "Success", if there is none
        return RouterAnswer(state=RouterPort.NO_ROUTER)
    if reach_of(outside) is not Reach.PUBLIC:
        # An open port there would only let the next network in: the provider's, or a guest house's.
        return RouterAnswer(state=RouterPort.NESTED)
    problem = ""
    for port in _ports(outer):
        try:
            _ask_for(gateway, port, inner)
        except Exception as err:  # noqa: BLE001 - as above
            problem = str(err)
            if _TAKEN not in problem:
                break
        else:
            return RouterAnswer(state=RouterPort.OPEN, gateway=gateway, port=port)
    return RouterAnswer(state=RouterPort.REFUSED, problem=problem)


def close_port(gateway: OpenedGateway, port: int) -> None:
    """Have the router close the port; waits. A router that does not answer forgets it in time."""
    try:
        gateway.deleteportmapping(port, "TCP")
    except Exception as err:  # noqa: BLE001 - it raises no other kind
        log.info("the port on the router was not closed", port=port, why=str(err))


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
