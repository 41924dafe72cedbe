"""NAT-PMP, asked of a daemon on a socket of this computer; `test_home_networks` has a router."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
import trio

from tequio_client.ipc.snapshot import RouterPort
from tequio_client.worker.swarm import nat_pmp, router_calls, router_port
from tequio_client.worker.swarm.nat_pmp import NatPmpError, NatPmpRouter, find_router
from tequio_client.worker.swarm.router_calls import RouterAnswer
from tequio_client.worker.swarm.router_port import PortMapper
from tests.client.worker.swarm.test_router_port import ignore, in_this_process, until
from tests.support.nat_pmp_router import NatPmpDaemon, serve

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HOST, OWN, LEASE_S = "127.0.0.1", 4001, 3_600
ROUTES = """\
Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask
eth0\t00000000\t0107A8C0\t0003\t0\t0\t0\t00000000
eth0\t0007A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF
"""


def test_a_port_is_opened_and_closed() -> None:
    daemon = NatPmpDaemon(outside="45.0.1.2")
    with running(daemon) as router:
        assert router.outside == "45.0.1.2"
        assert router.open(OWN, LEASE_S) == (OWN, LEASE_S)
        assert daemon.open == {OWN: (HOST, OWN, LEASE_S)}
        router.close()
        assert daemon.open == {}


def test_a_port_of_another_computer_is_replaced_by_the_router() -> None:
    daemon = NatPmpDaemon(outside="45.0.1.2", taken={OWN})
    with running(daemon) as router:
        assert router.open(OWN, LEASE_S) == (OWN + 1, LEASE_S)


def test_a_router_may_grant_a_shorter_lease() -> None:
    with running(NatPmpDaemon(outside="45.0.1.2", longest_s=600)) as router:
        assert router.open(OWN, LEASE_S) == (OWN, 600)


def test_a_request_that_is_lost_is_sent_again() -> None:
    daemon = NatPmpDaemon(outside="45.0.1.2", silent=1)
    with running(daemon) as router:
        daemon.silent = 1
        assert router.open(OWN, LEASE_S) == (OWN, LEASE_S)


def test_a_refusal_is_told_in_words() -> None:
    with (
        running(NatPmpDaemon(outside="45.0.1.2", code=2)) as router,
        pytest.raises(NatPmpError, match="not authorized"),
    ):
        router.open(OWN, LEASE_S)


@pytest.mark.parametrize("answer", [b"", b"\x00", b"\x00\x80" + bytes(9), bytes(12), b"\xff" * 64])
def test_what_is_no_answer_is_passed_over(answer: bytes) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listening:
        listening.bind((HOST, 0))
        listening.settimeout(5)

        def lie() -> None:
            for _ in nat_pmp.WAITS_S:
                _, sender = listening.recvfrom(64)
                listening.sendto(answer, sender)

        thread = threading.Thread(target=lie)
        thread.start()
        assert find_router(OWN, listening.getsockname()[1]) is None
        thread.join()


def test_the_default_route_is_where_the_router_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    (tmp_path / "route").write_text(ROUTES)
    monkeypatch.setattr(nat_pmp, "ROUTES", tmp_path / "route")
    assert list(nat_pmp._default_routes()) == ["192.168.7.1"]  # noqa: SLF001 - of Linux alone
    assert all("." in one for one in nat_pmp._network_ends())  # noqa: SLF001 - of other systems


@pytest.mark.parametrize(
    ("daemon", "state"),
    [
        (NatPmpDaemon(outside="45.0.1.2"), RouterPort.OPEN),
        (NatPmpDaemon(outside="192.168.0.7"), RouterPort.NESTED),
        (NatPmpDaemon(outside="45.0.1.2", code=2), RouterPort.REFUSED),
    ],
    ids=lambda one: one.value if isinstance(one, RouterPort) else "",
)
def test_a_router_without_upnp_is_asked_by_nat_pmp(
    monkeypatch: pytest.MonkeyPatch, daemon: NatPmpDaemon, state: RouterPort
) -> None:
    none = RouterAnswer(state=RouterPort.NO_ROUTER)
    monkeypatch.setattr(router_calls, "_open_by_upnp", lambda *_: none)
    with running(daemon) as router:
        monkeypatch.setattr(nat_pmp, "find_router", lambda _: router)
        found = router_calls.open_port(OWN, OWN, ignore)
        assert found.state is state
        assert bool(daemon.open) is (state is RouterPort.OPEN)
        if found.port:
            router_calls.close_port(found.way, found.inner, found.port)
            assert not daemon.open


@pytest.mark.trio
async def test_a_port_is_asked_for_again_before_the_lease_that_was_granted_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    none = RouterAnswer(state=RouterPort.NO_ROUTER)
    monkeypatch.setattr(router_calls, "_open_by_upnp", lambda *_: none)
    monkeypatch.setattr(router_port, "SOONEST_RENEW_S", 0.01)
    daemon = NatPmpDaemon(outside="45.0.1.2", longest_s=1)
    with running(daemon) as router:
        monkeypatch.setattr(nat_pmp, "find_router", lambda _: router)
        mapper = PortMapper(lambda: OWN, lambda: None, in_this_process)
        mapper.set_wanted(is_wanted=True)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(mapper.run)
            for _ in range(2):
                await until(lambda: bool(daemon.open))
                daemon.open.clear()
            nursery.cancel_scope.cancel()


@pytest.fixture(autouse=True)
def router_is_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nat_pmp, "gateways", lambda: [HOST])
    monkeypatch.setattr(nat_pmp, "WAITS_S", (0.1, 0.2, 5.0))


@contextmanager
def running(daemon: NatPmpDaemon) -> Iterator[NatPmpRouter]:
    """Run the daemon in a thread, and find it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listening:
        listening.bind((HOST, 0))
        listening.settimeout(0.2)
        ended = threading.Event()

        def run() -> None:
            while not ended.is_set():
                try:
                    serve(daemon, listening)
                except TimeoutError:
                    continue

        thread = threading.Thread(target=run)
        thread.start()
        try:
            router = find_router(OWN, listening.getsockname()[1])
            assert router is not None
            yield router
        finally:
            ended.set()
            thread.join()
