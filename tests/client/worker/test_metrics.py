"""Metrics of workers and seeds: off unless asked for, and of what the program itself shows."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import httpx
import msgspec
import pytest
import trio
from prometheus_client import CollectorRegistry, generate_latest

from tequio_client.ipc.snapshot import (
    CurrentRoundView,
    DiskView,
    PointsView,
    ReachabilityView,
    ReachState,
    RouterPort,
    Snapshot,
    Status,
    TrainerView,
)
from tequio_client.worker import metrics
from tequio_client.worker.settings import MetricsAddress
from tequio_shared.errors import UserFacingError
from tests.support.attack_table import attack
from tests.support.dashboards import declared, metrics_in, targets, values

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from prometheus_client import Metric

STATUS = Status(
    peer="12D3KooW",
    key="k",
    roles=("trainer", "witness"),
    run="r",
    round=12,
    head_round=11,
    peers=7,
    sent_bytes=1_000,
    received_bytes=2_000,
    rounds_trained=3,
    tokens=4_096,
)
SHOWN = Snapshot(
    points=PointsView(total=20_000, unvested=5_000),
    disk=DiskView(store_bytes=10, cap_bytes=100),
    trainers=(
        TrainerView(
            device="cuda:0",
            state="computing",
            resident_mb=2,
            round=CurrentRoundView(run="r", bits_per_byte=1.5),
        ),
    ),
    reach=ReachabilityView(state=ReachState.REACHABLE, router=RouterPort.OPEN),
)


class Read:
    """Reads as a program does; `text` is what Prometheus would get."""

    def __init__(self, made: Iterable[Metric]) -> None:
        self.made = made

    def collect(self) -> Iterable[Metric]:
        return self.made


def text_of(made: Iterable[Metric]) -> str:
    registry = CollectorRegistry()
    registry.register(Read(list(made)))
    return generate_latest(registry).decode()


def test_a_worker_tells_what_it_shows() -> None:
    found = values(text_of(metrics.worker_metrics(SHOWN, [("cuda:0", STATUS)])))
    assert found["tequio_worker_tokens_total", "cuda:0", "r"] == 4_096
    assert found["tequio_worker_head_round", "cuda:0", "r"] == 11
    assert found["tequio_worker_points_gflop", "verified"] == 20_000
    assert found["tequio_worker_points_gflop", "unvested"] == 5_000
    assert found["tequio_worker_trainer", "cuda:0", "computing"] == 1
    assert found["tequio_worker_trainer_resident_bytes", "cuda:0"] == 2 << 20
    assert found["tequio_worker_bits_per_byte", "cuda:0", "r"] == 1.5
    assert found["tequio_node_sent_bytes_total",] == 1_000
    assert found["tequio_node_store_limit_bytes",] == 100
    assert found["tequio_node_reachability", "open", "reachable"] == 1


def test_a_worker_without_a_run_still_tells_of_itself() -> None:
    found = values(text_of(metrics.worker_metrics(Snapshot(), [])))
    assert found["tequio_worker_may_compute",] == 0
    assert not any(name.startswith("tequio_node_peers") for name, *_ in found)


@pytest.mark.trio
async def test_the_state_is_read_at_each_request_and_on_the_event_loop() -> None:
    asked = []

    def read() -> Iterator[Metric]:
        asked.append(trio.lowlevel.current_task())  # raises outside the event loop
        status = msgspec.structs.replace(STATUS, peers=len(asked))
        yield from metrics.node_metrics(status)

    port = free_port()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(metrics.serve, MetricsAddress(host="127.0.0.1", port=port), read)
        for peers in (1, 2):
            text = await trio.to_thread.run_sync(get, port)
            assert values(text)["tequio_node_peers",] == peers
        nursery.cancel_scope.cancel()
    with pytest.raises(httpx.ConnectError):
        await trio.to_thread.run_sync(httpx.get, url(port))


@attack("P27", layer="net", ends="refused, where only this computer can ask at all")
@pytest.mark.trio
async def test_a_page_whose_name_resolves_to_this_computer_reads_no_metrics() -> None:
    port = free_port()
    async with trio.open_nursery() as nursery:
        address = MetricsAddress(host="127.0.0.1", port=port)
        nursery.start_soon(metrics.serve, address, lambda: metrics.node_metrics(STATUS))
        await trio.to_thread.run_sync(get, port)
        async with httpx.AsyncClient(base_url=url(port)) as http:
            for name in ("evil.example", f"evil.example:{port}", "localhost.evil.example"):
                answer = await http.get("", headers={"host": name})
                assert answer.status_code == 421
                assert name in answer.text
                assert "tequio" not in answer.text
            for own in ("localhost", f"127.0.0.1:{port}", "[::1]:9464"):
                answer = await http.get("", headers={"host": own})
                assert "tequio_node_peers" in answer.text, own
        nursery.cancel_scope.cancel()


@pytest.mark.trio
async def test_a_busy_port_is_told_with_its_option() -> None:
    with socket.create_server(("127.0.0.1", 0)) as busy:
        address = MetricsAddress(host="127.0.0.1", port=busy.getsockname()[1])
        with pytest.raises(UserFacingError, match="choose another --metrics-port"):
            await metrics.serve(address, list)


@pytest.mark.trio
async def test_a_host_that_is_not_this_computers_is_told() -> None:
    address = MetricsAddress(host="192.0.2.1", port=0)
    with pytest.raises(UserFacingError, match=r"192\.0\.2\.1"):
        await metrics.serve(address, list)


def test_every_metric_that_is_drawn_exists_and_every_one_is_drawn() -> None:
    text = text_of(metrics.worker_metrics(SHOWN, [("cuda:0", STATUS)]))
    text += text_of(metrics.waiting_metrics({"recent": 1}))
    known = {name for name in declared(text) if name.startswith("tequio_")}
    used = set().union(*(metrics_in(one["expr"]) for one in targets("grafana-nodes.json")))
    drawn = {name for name in used if name.startswith("tequio_")}
    assert drawn - known == set()
    assert known - drawn == {"tequio_node_info"}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def url(port: int) -> str:
    return f"http://127.0.0.1:{port}/metrics"


def get(port: int) -> str:
    transport = httpx.HTTPTransport(retries=20)  # the server's thread may not listen yet
    with httpx.Client(transport=transport) as http:
        return http.get(url(port), timeout=30).text
