"""GET /metrics, on a separate address: counters of the process and gauges of the ledger.

The metrics are for the operator only, so they listen on loopback unless the settings say otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from prometheus_client import Metric, make_asgi_app
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse

from tequio_ledger import SOFTWARE, metrics
from tequio_shared.addresses import is_address_or_localhost
from tequio_shared.ids import to_text

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from tequio_ledger.ledger import Ledger
    from tequio_ledger.web.events import EventStreams

PATH = "/metrics"


class LedgerCollector(Collector):
    """Reads the ledger when Prometheus scrapes; used on the event loop, which owns that state."""

    def __init__(self, ledger: Ledger, streams: EventStreams) -> None:
        self._ledger = ledger
        self._streams = streams

    def collect(self) -> Iterator[Metric]:
        ledger = self._ledger
        status = ledger.health().status
        yield _labelled("info", "The program.", {"software": SOFTWARE}, 1)
        yield _gauge("up", "1 when /healthz reports ok.", status == "ok")
        yield _labelled("health", "Status of the ledger, as a label.", {"status": status}, 1)
        yield _gauge("leads", "1 when this process writes the log.", ledger.is_leading)
        yield _gauge("queue_entries", "Statements waiting for a batch.", ledger.sequencer.waiting)
        yield _gauge("peers", "Registered keys.", len(ledger.state.peers))
        yield _gauge("event_streams", "Open event streams.", self._streams.limit.total)
        yield from self._log()
        yield from self._witnesses()
        yield from self._runs()

    def _log(self) -> Iterator[Metric]:
        ledger = self._ledger
        at_ms = ledger.log.published_at_ms
        yield _gauge("log_entries", "Published entries.", ledger.published.size)
        yield _gauge("log_signed_entries", "Signed entries.", ledger.log.published.size)
        yield _gauge("log_committed_entries", "Committed entries.", ledger.log.size)
        copied = "Entries whose full tiles this process has copied, or found copied; 0 without."
        yield _gauge("tiles_copied_entries", copied, ledger.tiles.copied if ledger.tiles else 0)
        signed = "Unix time of the newest checkpoint's signature."
        yield _gauge("checkpoint_timestamp_seconds", signed, at_ms / 1000)
        age_s = max(0, ledger.clock() - at_ms) / 1000
        yield _gauge("checkpoint_age_seconds", "Age of the newest checkpoint.", age_s)

    def _witnesses(self) -> Iterator[Metric]:
        publisher = self._ledger.publisher
        found = publisher.publication() if publisher else None
        waiting = "How long signed entries have waited for cosignatures."
        yield _gauge("publish_late_seconds", waiting, found.late_s if found else 0)
        family = GaugeMetricFamily(
            "tequio_ledger_witness_up",
            "1 when the witness cosigned at the last request.",
            labels=("witness",),
        )
        for one in found.witnesses if found else ():
            family.add_metric((one.name,), one.problem is None)
        yield family

    def _runs(self) -> Iterator[Metric]:
        prefix, by_run = "tequio_ledger_run", ("run",)
        rounds = CounterMetricFamily(
            "tequio_ledger_rounds", "Ended rounds.", labels=("run", "outcome")
        )
        members = GaugeMetricFamily(f"{prefix}_members", "Active members of a run.", labels=by_run)
        tokens = CounterMetricFamily(f"{prefix}_tokens", "Accepted tokens.", labels=by_run)
        number = GaugeMetricFamily(
            f"{prefix}_round", "Number of a run's last round.", labels=by_run
        )
        for run, view in self._ledger.state.runs.items():
            name = to_text(run)
            rounds.add_metric((name, "closed"), view.closed)
            rounds.add_metric((name, "void"), view.voided)
            number.add_metric((name,), view.number)
            members.add_metric((name,), len(view.accounts.active()))
            tokens.add_metric((name,), view.accounts.tokens)
        yield from (rounds, members, tokens, number)


def build_app(ledger: Ledger, streams: EventStreams, *, is_loopback: bool) -> ASGIApp:
    """Register the gauges of this ledger; serves them at /metrics, and 404 elsewhere.

    With `is_loopback`, only under an address or localhost: a page in this computer's browser could
    read them under any other name that it has resolve to this computer.
    """
    metrics.REGISTRY.register(LedgerCollector(ledger, streams))
    page: ASGIApp = make_asgi_app(metrics.REGISTRY)

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        host = Headers(scope=scope).get("host", "")
        if is_loopback and not is_address_or_localhost(host):
            strange = PlainTextResponse(f"{host[:100]!r} is not a name of this service\n", 421)
            await strange(scope, receive, send)
        elif scope["path"] == PATH:
            await page(scope, receive, send)
        else:
            await PlainTextResponse("the metrics are at /metrics\n", 404)(scope, receive, send)

    return serve


def _gauge(name: str, help_text: str, value: float) -> Metric:
    return GaugeMetricFamily(f"tequio_ledger_{name}", help_text, value=value)


def _labelled(name: str, help_text: str, labels: dict[str, str], value: float) -> Metric:
    family = GaugeMetricFamily(f"tequio_ledger_{name}", help_text, labels=tuple(labels))
    family.add_metric(tuple(labels.values()), value)
    return family
