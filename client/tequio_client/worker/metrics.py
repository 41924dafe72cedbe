"""Metrics of a worker or a seed for Prometheus or OpenTelemetry; off by default.

prometheus_client serves them from its own threads, on an address of their own; otlp.py pushes the
same families. They are read on the event loop, which owns that state, when Prometheus scrapes or a
push is due; nothing is counted for it in between. Names end in their unit, and no label is one that
a stranger chooses freely: runs, devices and states of this program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NoReturn

import structlog
import trio
from prometheus_client import CollectorRegistry, Metric, ProcessCollector, start_http_server
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from tequio_shared.addresses import is_address_or_localhost, is_loopback_host
from tequio_shared.errors import UserFacingError
from tequio_shared.version import BUILD

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

    from tequio_client.ipc.snapshot import ReachabilityView, Snapshot, Status
    from tequio_client.worker.settings import MetricsAddress, NetSettings

log = structlog.get_logger(__name__)
_MIB = 1 << 20
_BY_RUN = ("device", "run")
Read = Callable[[], Iterable[Metric]]
"""Reads all metrics; called on the event loop."""


async def publish(settings: NetSettings, read: Read, role: str) -> None:
    """Serve and push the metrics, each if the settings ask for it; `role` is worker or seed.

    Raises UserFacingError if the address cannot be used, or OpenTelemetry's library is missing.
    """
    async with trio.open_nursery() as nursery:
        if settings.metrics is not None:
            nursery.start_soon(serve, settings.metrics, read)
        if settings.otlp is not None:
            try:
                from tequio_client.worker import otlp  # noqa: PLC0415 - an extra brings its library
            except ModuleNotFoundError as err:
                raise UserFacingError(
                    f"metrics for OpenTelemetry need its library ({err}), which the extra `otlp` "
                    "brings: install tequio[otlp], or start without --otlp-endpoint and "
                    "OTEL_EXPORTER_OTLP_ENDPOINT"
                ) from err
            nursery.start_soon(otlp.push, settings.otlp, read, role)


async def serve(address: MetricsAddress, read: Read) -> NoReturn:
    """Serve the metrics until cancelled; raises UserFacingError if the address cannot be used."""
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    registry.register(_LoopCollector(read, trio.lowlevel.current_trio_token()))
    try:
        server, thread = start_http_server(address.port, address.host, registry)
        app = server.get_app()
        if is_loopback_host(address.host) and app is not None:
            server.set_app(_without_strange_names(app))
    except OSError as err:
        raise UserFacingError(
            f"metrics cannot be served at {address.host}:{address.port} "
            f"({err.strerror or err}): choose another --metrics-port"
        ) from err
    log.info("metrics", url=f"http://{address.host}:{server.server_port}/metrics")
    try:
        await trio.sleep_forever()
    finally:
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(server.shutdown)
            await trio.to_thread.run_sync(thread.join)
        server.server_close()
    raise AssertionError("unreachable")


def _without_strange_names(app: WSGIApplication) -> WSGIApplication:
    """Refuse requests under a name that a stranger may have given this computer."""

    def checked(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        host = str(environ.get("HTTP_HOST", ""))
        if is_address_or_localhost(host):
            return app(environ, start_response)
        start_response("421 Misdirected Request", [("Content-Type", "text/plain; charset=utf-8")])
        return [f"{host[:100]!r} is not a name of this service: use its address\n".encode()]

    return checked


class _LoopCollector(Collector):
    """Asks the event loop from the server's threads."""

    def __init__(self, read: Read, token: trio.lowlevel.TrioToken) -> None:
        self._read = read
        self._token = token

    def collect(self) -> Iterable[Metric]:
        try:
            return trio.from_thread.run_sync(lambda: list(self._read()), trio_token=self._token)
        except (trio.RunFinishedError, trio.Cancelled):
            return ()


def node_metrics(status: Status) -> Iterator[Metric]:
    """Metrics that workers and seeds have in common."""
    labels = {"software": BUILD, "peer": status.peer, "role": "+".join(status.roles)}
    yield _labelled("tequio_node_info", "The program.", labels)
    yield _gauge("tequio_node_peers", "Connected peers.", status.peers)
    yield _count("tequio_node_sent_bytes", "Content sent to peers.", status.sent_bytes)
    yield _count("tequio_node_received_bytes", "Verified content received.", status.received_bytes)
    yield _count("tequio_node_wire_sent_bytes", "All bytes sent to peers.", status.wire_sent_bytes)
    yield _count(
        "tequio_node_wire_received_bytes",
        "All bytes received from peers.",
        status.wire_received_bytes,
    )
    yield _gauge("tequio_node_sources", "Peers that sent verified content.", status.sources)
    bad = "Peers whose content was wrong, of the latest."
    yield _gauge("tequio_node_bad_sources", bad, len(status.bad_sources))


def reachability_metrics(shown: ReachabilityView) -> Iterator[Metric]:
    state = {"state": shown.state.value, "router_port": shown.router.value}
    yield _labelled("tequio_node_reachability", "Whether other peers can connect.", state)


def store_metrics(used_bytes: int, quota_bytes: int) -> Iterator[Metric]:
    yield _gauge("tequio_node_store_bytes", "Stored content.", used_bytes)
    yield _gauge("tequio_node_store_limit_bytes", "Most content to store.", quota_bytes)


def worker_metrics(shown: Snapshot, sessions: Sequence[tuple[str, Status]]) -> Iterator[Metric]:
    """Metrics of a worker; `sessions` are what its devices do, by the devices' names."""
    if sessions:
        yield from node_metrics(sessions[0][1])
    yield from store_metrics(shown.disk.store_bytes, shown.disk.cap_bytes)
    yield from reachability_metrics(shown.reach)
    state = {"state": shown.decision.state.value, "reason": shown.decision.reason.value}
    yield _labelled("tequio_worker_lending", "State of lending, and its reason.", state)
    may = shown.decision.may_compute
    yield _gauge("tequio_worker_may_compute", "1 while some device may compute.", may)
    yield from _points(shown)
    yield from _surroundings(shown)
    yield from _devices(shown)
    yield from _sessions(sessions)


def _points(shown: Snapshot) -> Iterator[Metric]:
    points = shown.points
    family = GaugeMetricFamily(
        "tequio_worker_points_gflop", "Points of this key, by state.", labels=("state",)
    )
    states = {
        "verified": points.total,
        "unverified": points.unverified,
        "unvested": points.unvested,
        "forfeited": points.forfeited,
    }
    for name, gflop in states.items():
        family.add_metric((name,), gflop)
    yield family
    pending = "Rounds with work of this key that are not closed."
    yield _gauge("tequio_worker_pending_rounds", pending, points.pending)


def _surroundings(shown: Snapshot) -> Iterator[Metric]:
    reached = "1 while the ledger answers."
    yield _gauge("tequio_worker_ledger_reached", reached, shown.ledger.is_reached)
    waiting = "Statements that the ledger has not logged."
    yield _gauge("tequio_worker_statements_waiting", waiting, shown.ledger.waiting)
    entries = "Entries of the log that were read and checked."
    yield _count("tequio_worker_log_entries", entries, shown.ledger.size)
    month = "Traffic of this calendar month, both ways."
    yield _gauge("tequio_worker_month_bytes", month, shown.line.month_bytes)
    most = "Most traffic in a month; 0: no limit."
    yield _gauge("tequio_worker_month_limit_bytes", most, shown.line.month_cap_bytes)
    yield _gauge("tequio_worker_disk_free_bytes", "Free on the disk.", shown.disk.free_bytes)
    energy = "Energy of the lent devices, measured or estimated."
    yield _count("tequio_worker_energy_joules", energy, shown.energy_total_j)


def _devices(shown: Snapshot) -> Iterator[Metric]:
    states = GaugeMetricFamily(
        "tequio_worker_trainer", "State of each device's trainer.", labels=("device", "state")
    )
    memory = GaugeMetricFamily(
        "tequio_worker_trainer_resident_bytes", "Memory of the process.", labels=("device",)
    )
    quality = GaugeMetricFamily(
        "tequio_worker_bits_per_byte", "Held-out loss of the newest measured head.", labels=_BY_RUN
    )
    for one in shown.trainers:
        states.add_metric((one.device, one.state), 1)
        memory.add_metric((one.device,), one.resident_mb * _MIB)
        if one.round is not None and one.round.bits_per_byte is not None:
            quality.add_metric((one.device, one.round.run), one.round.bits_per_byte)
    yield from (states, memory, quality)


def _sessions(sessions: Sequence[tuple[str, Status]]) -> Iterator[Metric]:
    counts: dict[str, tuple[str, Callable[[Status], float]]] = {
        "rounds_trained": ("Rounds with a contribution.", lambda one: one.rounds_trained),
        "proofs": ("Proofs as a witness.", lambda one: one.proofs),
        "tokens": ("Trained tokens.", lambda one: one.tokens),
        "compute_seconds": ("Training, and audits.", lambda one: one.compute_seconds),
        "round_seconds": ("Since the first round.", lambda one: one.round_seconds),
    }
    gauges: dict[str, tuple[str, Callable[[Status], float]]] = {
        "round": ("Number of the current round.", lambda one: one.round),
        "head_round": ("Round of the head that is here; -1: none.", lambda one: one.head_round),
        "training_loss_nats": ("Per token, as the own trainer says.", lambda one: one.loss),
        "problem": ("1 while something prevents work.", lambda one: bool(one.problem)),
    }
    for name, (text, value) in counts.items():
        count = CounterMetricFamily(f"tequio_worker_{name}", text, labels=_BY_RUN)
        for device, status in sessions:
            count.add_metric((device, status.run), value(status))
        yield count
    for name, (text, value) in gauges.items():
        gauge = GaugeMetricFamily(f"tequio_worker_{name}", text, labels=_BY_RUN)
        for device, status in sessions:
            gauge.add_metric((device, status.run), value(status))
        yield gauge


def waiting_metrics(waiting: dict[str, int]) -> Iterator[Metric]:
    """Trees that a seed has yet to fetch, by queue."""
    family = GaugeMetricFamily(
        "tequio_seed_waiting_trees", "Content that is yet to be fetched.", labels=("queue",)
    )
    for name, count in waiting.items():
        family.add_metric((name,), count)
    yield family


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(name, text, value=value)


def _count(name: str, text: str, value: float) -> Metric:
    return CounterMetricFamily(name, text, value=value)


def _labelled(name: str, text: str, labels: dict[str, str]) -> Metric:
    family = GaugeMetricFamily(name, text, labels=tuple(labels))
    family.add_metric(tuple(labels.values()), 1)
    return family
