"""A port on the router: asked for, renewed, and closed again; with a simulated router.

`test_home_networks` asks a real one.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from functools import partial
from random import Random
from types import SimpleNamespace
from typing import TYPE_CHECKING

import psutil
import pytest
import trio
from structlog.testing import capture_logs
from trio.testing import wait_all_tasks_blocked

from tequio_client.ipc.snapshot import ReachState, RouterPort
from tequio_client.worker.swarm import nat_pmp, router_port
from tequio_client.worker.swarm.reachability import DialBack, ReachabilityCheck
from tequio_client.worker.swarm.router_calls import (
    LEASE_S,
    Report,
    RouterAnswer,
    decode_answer,
    open_port,
    run,
)
from tequio_client.worker.swarm.router_port import PortMapper
from tests.support.loopback import two_peers

if TYPE_CHECKING:
    from collections.abc import Callable

OWN = 4001


@dataclass(slots=True, kw_only=True)
class SimulatedRouter:
    """Answers as the library does, its errors included."""

    outside: str = "45.0.1.2"
    is_there: bool = True
    taken: set[int] = field(default_factory=set)
    """Ports of other computers."""
    knows_leases: bool = True
    refusal: str = ""
    open: dict[int, int] = field(default_factory=dict)
    """The lease of each port that is open for us, in seconds; 0: permanent."""
    discoverdelay: int = 0
    lanaddr: str = "192.168.1.5"

    def discover(self) -> int:
        if not self.is_there:
            raise Exception("Success")  # noqa: TRY002 - as the library does
        return 1

    def selectigd(self) -> str:
        return "http://192.168.1.1"

    def externalipaddress(self) -> str:
        return self.outside

    def addportmapping(  # noqa: PLR0913, PLR0917 - the library's own
        self, outer: int, protocol: str, host: str, inner: int, name: str, remote: str, lease: int
    ) -> bool:
        assert (protocol, host, inner, remote) == ("TCP", self.lanaddr, OWN, "")
        assert name
        problem = self.refusal
        if outer in self.taken:
            problem = "ConflictInMappingEntry"
        elif lease and not self.knows_leases:
            problem = "OnlyPermanentLeasesSupported"
        if problem:
            raise Exception(problem)  # noqa: TRY002 - as the library does
        self.open[outer] = lease
        return True

    def deleteportmapping(self, outer: int, _protocol: str) -> bool:
        if self.refusal:
            raise Exception(self.refusal)  # noqa: TRY002 - as the library does
        del self.open[outer]
        return True


def ignore(_: RouterAnswer) -> None:
    """Hear of a request for a port."""


async def in_this_process(report: Report, *words: str) -> None:
    """Make a call to the simulated router, which no other process would see."""
    await trio.to_thread.run_sync(run, words, report)


@pytest.fixture
def plug(monkeypatch: pytest.MonkeyPatch) -> Callable[[SimulatedRouter], SimulatedRouter]:
    """Puts a router in the place of the library's."""

    def replace(router: SimulatedRouter) -> SimulatedRouter:
        library = SimpleNamespace(UPnP=lambda: router)
        monkeypatch.setattr(nat_pmp, "gateways", list)  # the real router is left alone
        monkeypatch.setitem(sys.modules, "miniupnpc", library)
        return router

    return replace


def test_the_port_is_opened_for_an_hour(
    plug: Callable[[SimulatedRouter], SimulatedRouter],
) -> None:
    router = plug(SimulatedRouter())
    assert (found := open_port(OWN, OWN, ignore)).state is RouterPort.OPEN
    assert found.port == OWN
    assert router.open == {OWN: LEASE_S}


def test_a_port_that_another_computer_has_is_replaced(
    plug: Callable[[SimulatedRouter], SimulatedRouter],
) -> None:
    router = plug(SimulatedRouter(taken={OWN}))
    found = open_port(OWN, OWN, ignore)
    assert found.state is RouterPort.OPEN
    assert list(router.open) == [found.port] != [OWN]


def test_a_router_without_leases_opens_it_until_it_is_closed(
    plug: Callable[[SimulatedRouter], SimulatedRouter],
) -> None:
    router = plug(SimulatedRouter(knows_leases=False))
    assert open_port(OWN, OWN, ignore).state is RouterPort.OPEN
    assert router.open == {OWN: 0}


def test_a_refusal_is_told_in_the_words_of_the_router(
    plug: Callable[[SimulatedRouter], SimulatedRouter],
) -> None:
    router = plug(SimulatedRouter(refusal="Action Not Authorized"))
    found = open_port(OWN, OWN, ignore)
    assert (found.state, found.problem) == (RouterPort.REFUSED, "Action Not Authorized")
    assert router.open == {}


def test_without_a_router_there_is_no_problem_to_show(
    plug: Callable[[SimulatedRouter], SimulatedRouter],
) -> None:
    plug(SimulatedRouter(is_there=False))
    assert open_port(OWN, OWN, ignore) == RouterAnswer(state=RouterPort.NO_ROUTER)


@pytest.mark.trio
@pytest.mark.parametrize(
    ("change", "state", "why"),
    [
        ({"is_there": False}, "no-router", ""),
        ({"refusal": "Action Not Authorized"}, "refused", "Action Not Authorized"),
    ],
)
async def test_a_port_that_was_not_closed_is_in_the_log_of_the_worker(
    plug: Callable[[SimulatedRouter], SimulatedRouter],
    change: dict[str, object],
    state: str,
    why: str,
) -> None:
    router = plug(SimulatedRouter())
    mapper = PortMapper(lambda: OWN, lambda: None, in_this_process)
    mapper.set_wanted(is_wanted=True)
    with capture_logs() as logged:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(mapper.run)
            await until(partial(is_in, mapper, RouterPort.OPEN))
            for name, value in change.items():
                setattr(router, name, value)
            nursery.cancel_scope.cancel()
    assert [
        (one["port"], one["state"], one["why"]) for one in logged if "not closed" in one["event"]
    ] == [(OWN, state, why)]


@pytest.mark.parametrize("outside", ["192.168.0.7", "100.64.3.9", "", "no address"])
def test_a_router_without_a_public_address_is_not_asked_for_a_port(
    plug: Callable[[SimulatedRouter], SimulatedRouter], outside: str
) -> None:
    router = plug(SimulatedRouter(outside=outside))
    assert open_port(OWN, OWN, ignore).state is RouterPort.NESTED
    assert router.open == {}


@pytest.mark.trio
async def test_the_port_is_open_while_it_is_wanted_and_closed_at_the_end(
    plug: Callable[[SimulatedRouter], SimulatedRouter],
) -> None:
    router, changes = plug(SimulatedRouter()), list[int | None]()
    mapper = PortMapper(lambda: OWN, lambda: changes.append(mapper.port), in_this_process)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(mapper.run)
        await wait_all_tasks_blocked()
        assert mapper.answer.state is RouterPort.OFF
        assert router.open == {}, "off unless it is wanted"
        for is_wanted, state in ((True, RouterPort.OPEN), (False, RouterPort.OFF)) * 2:
            mapper.set_wanted(is_wanted=is_wanted)
            await until(partial(is_in, mapper, state))
            assert bool(router.open) is is_wanted
        mapper.set_wanted(is_wanted=True)
        await until(lambda: bool(router.open))
        nursery.cancel_scope.cancel()
    assert router.open == {}
    assert changes == [OWN, None, OWN, None, OWN]


@pytest.mark.trio
async def test_a_port_that_the_router_has_forgotten_is_asked_for_as_soon_as_a_peer_misses_it(
    plug: Callable[[SimulatedRouter], SimulatedRouter],
) -> None:
    router = plug(SimulatedRouter())
    async with two_peers() as (first, second), trio.open_nursery() as nursery:
        DialBack(first)
        check = ReachabilityCheck(second, Random(1))
        changes: list[int | None] = []
        mapper = PortMapper(lambda: OWN, lambda: changes.append(mapper.port), in_this_process)
        check.router_port, check.port_lost = lambda: mapper.port, mapper.renew
        mapper.set_wanted(is_wanted=True)
        nursery.start_soon(mapper.run)
        await until(lambda: changes == [OWN])
        router.open.clear()
        for _ in range(2):
            await check.check()
            assert check.verdict.state is ReachState.UNREACHABLE
            await until(lambda: changes == [OWN, OWN])
            assert list(router.open) == [OWN], "asked for once, until it could be reached"
        nursery.cancel_scope.cancel()


@pytest.mark.trio
async def test_an_opened_port_is_not_forgotten_while_the_router_does_not_answer(
    plug: Callable[[SimulatedRouter], SimulatedRouter], monkeypatch: pytest.MonkeyPatch
) -> None:
    for pause in ("RENEW_S", "RETRY_S"):
        monkeypatch.setattr(router_port, pause, 0.01)
    router = plug(SimulatedRouter(taken={OWN}))
    mapper = PortMapper(lambda: OWN, lambda: None, in_this_process)
    mapper.set_wanted(is_wanted=True)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(mapper.run)
        await until(partial(is_in, mapper, RouterPort.OPEN))
        opened = mapper.port
        router.is_there = False
        await until(partial(is_in, mapper, RouterPort.NO_ROUTER))
        router.taken.clear()
        router.is_there = True
        await until(partial(is_in, mapper, RouterPort.OPEN))
        assert list(router.open) == [opened], "the same port is asked for again"
        router.is_there = False
        await until(partial(is_in, mapper, RouterPort.NO_ROUTER))
        router.is_there = True
        mapper.set_wanted(is_wanted=False)
        await until(partial(is_in, mapper, RouterPort.OFF))
        assert router.open == {}
        nursery.cancel_scope.cancel()


@pytest.mark.trio
async def test_a_port_that_was_asked_for_is_closed_where_nobody_waited_for_the_answer(
    plug: Callable[[SimulatedRouter], SimulatedRouter],
) -> None:
    router = plug(SimulatedRouter(knows_leases=False))

    async def interrupted(report: Report, *words: str) -> None:
        await in_this_process(report, *words)
        if words[0] == "open":
            report(asked[0])  # the last that is heard of the process
            is_silent.set()
            await trio.sleep_forever()

    is_silent = trio.Event()
    asked: list[RouterAnswer] = []
    open_port(OWN, OWN, asked.append)
    assert (asked[0].state, asked[0].port) == (RouterPort.SEARCHING, OWN)
    router.open.clear()
    mapper = PortMapper(lambda: OWN, lambda: None, interrupted)
    mapper.set_wanted(is_wanted=True)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(mapper.run)
        await is_silent.wait()
        assert router.open == {OWN: 0}
        nursery.cancel_scope.cancel()
    assert router.open == {}


@pytest.mark.trio
@pytest.mark.parametrize("is_wanted", [True, False])
async def test_a_worker_that_ends_closes_its_port_once_and_opens_none(
    plug: Callable[[SimulatedRouter], SimulatedRouter], *, is_wanted: bool
) -> None:
    router, closings = plug(SimulatedRouter()), 0

    async def slow(report: Report, *words: str) -> None:
        nonlocal closings
        if words[0] == "close":
            closings += 1
            is_closing.set()
            await trio.sleep(0.05)
        await in_this_process(report, *words)

    is_closing = trio.Event()
    mapper = PortMapper(lambda: OWN, lambda: None, slow)
    mapper.set_wanted(is_wanted=True)
    with trio.fail_after(20):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(mapper.run)
            await until(partial(is_in, mapper, RouterPort.OPEN))
            mapper.set_wanted(is_wanted=is_wanted)
            if not is_wanted:  # closed already when the worker ends
                await is_closing.wait()
            mapper.end()
            await is_closing.wait()
            mapper.set_wanted(is_wanted=True)
            nursery.cancel_scope.cancel()
    assert (router.open, closings) == ({}, 1)


SILENT = "import sys; sys.stdin.read()"
LARGE = """
import sys
from tequio_client.worker.swarm import router_calls
router_calls.MOST_BYTES = 1
router_calls.run = lambda *_: sys.stdin.read()
router_calls.main()
"""
ANSWERS = """
from tequio_client.worker.swarm import router_calls
from tequio_client.worker.swarm.router_calls import RouterAnswer, RouterPort
def run(words, report):
    for state in (RouterPort.SEARCHING, RouterPort.OPEN):
        report(RouterAnswer(state=state, inner=int(words[1]), port=int(words[2])))
router_calls.run = run
router_calls.main()
"""
CHATTY = """
import os, sys
from types import SimpleNamespace
from tequio_client.worker.swarm import nat_pmp, router_calls
class Chatty:
    def discover(self):
        os.write(2, b"connect: Connection refused")
        raise Exception("Success")
nat_pmp.gateways = list
sys.modules["miniupnpc"] = SimpleNamespace(UPnP=Chatty)
router_calls.main()
"""


@pytest.mark.parametrize("words", [("open", "4001", "4001"), ("close", "upnp", "4001", "4001")])
def test_a_call_writes_nothing_but_its_answer(words: tuple[str, ...]) -> None:
    command = (sys.executable, "-c", CHATTY, *words)
    ended = subprocess.run(command, capture_output=True, check=True)
    assert decode_answer(ended.stdout.strip()) == RouterAnswer(state=RouterPort.NO_ROUTER)
    assert ended.stderr == b""


@pytest.mark.trio
@pytest.mark.parametrize(
    ("script", "state", "port"),
    [
        (SILENT, RouterPort.NO_ROUTER, None),
        (LARGE, RouterPort.NO_ROUTER, None),
        ("print('no answer')", RouterPort.NO_ROUTER, None),
        (ANSWERS, RouterPort.OPEN, OWN),
    ],
    ids=["silent", "large", "strange", "answers"],
)
async def test_a_call_is_a_process_that_is_ended_and_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, script: str, state: RouterPort, port: int | None
) -> None:
    monkeypatch.setattr(router_port, "CALLS", (sys.executable, "-c", script))
    monkeypatch.setattr(router_port, "CALL_S", 1.0 if script is SILENT else 60.0)
    before = psutil.Process().children()
    mapper = PortMapper(lambda: OWN, lambda: None)
    mapper.set_wanted(is_wanted=True)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(mapper.run)
        await until(lambda: mapper.answer.state not in (RouterPort.OFF, RouterPort.SEARCHING))
        assert (mapper.answer.state, mapper.port) == (state, port)
        assert psutil.Process().children() == before
        monkeypatch.setattr(router_port, "CLOSE_S", 0.1)
        nursery.cancel_scope.cancel()
    assert psutil.Process().children() == before


def is_in(mapper: PortMapper, state: RouterPort) -> bool:
    return mapper.answer.state is state


async def until(holds: Callable[[], bool]) -> None:
    with trio.fail_after(20):
        while not holds():  # noqa: ASYNC110 - a router has no event
            await trio.sleep(0.01)
