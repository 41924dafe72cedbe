"""GET /metrics, on an address of its own: what is counted, and what the ledger is just now.

Nobody but the operator has business here, so it listens on loopback unless told otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import make_asgi_app
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from tequio_ledger import SOFTWARE, metrics
from tequio_shared.ids import to_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client import CollectorRegistry, Metric
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from tequio_ledger.ledger import Ledger
    from tequio_ledger.web.events import Streams

PATH = "/metrics"


class Measures(Collector):
    """Reads the ledger when Prometheus asks; belongs to the event loop, as what it reads does."""

    def __init__(self, ledger: Ledger, streams: Streams) -> None:
        self._ledger = ledger
        self._streams = streams

    def collect(self) -> Iterator[Metric]:
        """Give what is so just now."""
        ledger = self._ledger
        status = ledger.health().status
        yield _labelled("info", "The program.", {"software": SOFTWARE}, 1)
        yield _gauge("up", "1 when all is well, as /healthz has it.", status == "ok")
        yield _labelled("health", "How the ledger is, in one word.", {"status": status}, 1)
        yield _gauge("leads", "1 when this process writes the log.", ledger.is_leading)
        yield _gauge("queue_entries", "Statements that wait for a batch.", ledger.sequencer.waiting)
        yield _gauge("peers", "Keys that are registered.", len(ledger.state.peers))
        yield _gauge("event_streams", "Event streams that are open.", self._streams.limit.total)
        yield from self._log()
        yield from self._witnesses()
        yield from self._runs()

    def _log(self) -> Iterator[Metric]:
        ledger = self._ledger
        at_ms = ledger.log.published_at_ms
        yield _gauge("log_entries", "Entries that everybody may see.", ledger.published.size)
        yield _gauge("log_signed_entries", "Entries under a signature.", ledger.log.published.size)
        yield _gauge("log_committed_entries", "Entries that are committed.", ledger.log.size)
        yield _gauge(
            "checkpoint_timestamp_seconds", "When the newest checkpoint was signed.", at_ms / 1000
        )
        yield _gauge(
            "checkpoint_age_seconds",
            "How long ago that was.",
            max(0, ledger.clock() - at_ms) / 1000,
        )

    def _witnesses(self) -> Iterator[Metric]:
        publisher = self._ledger.publisher
        found = publisher.publication() if publisher else None
        late = "For how long something signed has waited for its cosignatures."
        yield _gauge("publish_late_seconds", late, found.late_s if found else 0)
        family = GaugeMetricFamily(
            "tequio_ledger_witness_up", "1 when it cosigned when last asked.", labels=("witness",)
        )
        for one in found.witnesses if found else ():
            family.add_metric((one.name,), one.problem is None)
        yield family

    def _runs(self) -> Iterator[Metric]:
        rounds = CounterMetricFamily(
            "tequio_ledger_rounds", "Rounds that ended.", labels=("run", "outcome")
        )
        members = GaugeMetricFamily(
            "tequio_ledger_run_members", "Active members of a run.", labels=("run",)
        )
        tokens = CounterMetricFamily(
            "tequio_ledger_run_tokens", "Tokens that were accepted.", labels=("run",)
        )
        number = GaugeMetricFamily(
            "tequio_ledger_run_round", "Number of a run's last round.", labels=("run",)
        )
        for run, view in self._ledger.state.runs.items():
            name = to_text(run)
            rounds.add_metric((name, "closed"), view.closed)
            rounds.add_metric((name, "void"), view.voided)
            number.add_metric((name,), view.number)
            members.add_metric((name,), len(view.accounts.active()))
            tokens.add_metric((name,), view.accounts.tokens)
        yield from (rounds, members, tokens, number)


class MetricsApp:
    """The one page, as ASGI has it."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._page: ASGIApp = make_asgi_app(registry)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Give the metrics under their path, and 404 elsewhere."""
        if scope["type"] == "http" and scope["path"] == PATH:
            await self._page(scope, receive, send)
        elif scope["type"] == "http":
            headers = [(b"content-type", b"text/plain")]
            start: Message = {"type": "http.response.start", "status": 404, "headers": headers}
            await send(start)
            await send({"type": "http.response.body", "body": b"the metrics are at /metrics\n"})


def app(ledger: Ledger, streams: Streams) -> MetricsApp:
    """Make the application that shows this ledger, with all that the process counts."""
    metrics.REGISTRY.register(Measures(ledger, streams))
    return MetricsApp(metrics.REGISTRY)


def _gauge(name: str, says: str, value: float) -> Metric:
    return GaugeMetricFamily(f"tequio_ledger_{name}", says, value=value)


def _labelled(name: str, says: str, labels: dict[str, str], value: float) -> Metric:
    family = GaugeMetricFamily(f"tequio_ledger_{name}", says, labels=tuple(labels))
    family.add_metric(tuple(labels.values()), value)
    return family
