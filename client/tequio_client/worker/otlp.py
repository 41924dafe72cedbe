"""Push the metrics of a worker or a seed to an OpenTelemetry collector; off by default.

Prometheus and OpenTelemetry get the same families: those of metrics.py, read on the event loop
right before each push. OpenTelemetry's own library encodes and sends them (OTLP over HTTP, with
protobuf) and reads its own variables for headers, certificates, compression, time limit and
attributes of the resource. The extra `otlp` brings it.

A push costs one reading, some kilobytes and a thread for its duration. A collector that is away
costs one attempt each interval, of ATTEMPT_S at most; the first failure is logged, and the next
success.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, NoReturn
from urllib.parse import urlsplit

import requests
import structlog
import trio
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.sdk.metrics import export as sdk
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from prometheus_client import Metric, ProcessCollector

from tequio_shared.version import BUILD

if TYPE_CHECKING:
    from tequio_client.worker.settings import OtlpEndpoint

log = structlog.get_logger(__name__)

METRICS_PATH = "v1/metrics"
"""Below the endpoint: OpenTelemetry's specification of the protocol."""
ATTEMPT_S = 10.0
"""Longest time for one push, its retries included: the specification's own default."""
_REDIRECTS = range(300, 400)


async def push(target: OtlpEndpoint, read: Callable[[], Iterable[Metric]], role: str) -> NoReturn:
    """Push now and after each interval, until cancelled; `role` is worker or seed."""
    resource = Resource.create({"service.name": f"tequio-{role}", "service.version": BUILD})
    session = requests.Session()
    session.hooks["response"].append(_refuse_redirect)
    exporter = OTLPMetricExporter(
        endpoint=f"{target.url.rstrip('/')}/{METRICS_PATH}", timeout=ATTEMPT_S, session=session
    )
    process = ProcessCollector(registry=None)
    start_ns = time.time_ns()
    is_away = False

    def send(families: list[Metric]) -> bool:
        families.extend(process.collect())
        data = metrics_data(families, resource, start_ns, time.time_ns())
        return exporter.export(data) is sdk.MetricExportResult.SUCCESS

    log.info("metrics", otlp=_place(target.url), every_s=target.every_s)
    try:
        while True:
            is_sent = await trio.to_thread.run_sync(
                send,
                list(read()),
                abandon_on_cancel=True,  # type: ignore[call-arg]  # libp2p brings older stubs
            )
            if is_sent is is_away:
                _log_change(target, is_sent=is_sent)
            is_away = not is_sent
            await trio.sleep(target.every_s)
    finally:
        exporter.shutdown()


def _refuse_redirect(response: requests.Response, *_: object, **__: object) -> None:
    """Make a failure of a redirect, which OpenTelemetry's client neither follows nor reports."""
    if response.status_code in _REDIRECTS:
        raise requests.HTTPError(f"it answers {response.status_code}, a redirect")


def metrics_data(
    families: Iterable[Metric], resource: Resource, start_ns: int, now_ns: int
) -> sdk.MetricsData:
    """Convert what Prometheus would read; counters count since `start_ns`, of the Unix epoch.

    A counter loses the `_total` that Prometheus appends, and gets it back from a collector that
    writes to Prometheus.
    """
    scope = sdk.ScopeMetrics(
        scope=InstrumentationScope("tequio", BUILD),
        metrics=[_metric(family, start_ns, now_ns) for family in families],
        schema_url="",
    )
    whole = sdk.ResourceMetrics(resource=resource, scope_metrics=[scope], schema_url="")
    return sdk.MetricsData(resource_metrics=[whole])


def _metric(family: Metric, start_ns: int, now_ns: int) -> sdk.Metric:
    is_count = family.type == "counter"
    points = list(_points(family, start_ns, now_ns))
    data: sdk.Sum | sdk.Gauge
    if is_count:
        data = sdk.Sum(
            data_points=points,
            aggregation_temporality=sdk.AggregationTemporality.CUMULATIVE,
            is_monotonic=True,
        )
    else:
        data = sdk.Gauge(data_points=points)
    return sdk.Metric(name=family.name, description=family.documentation, unit="", data=data)


def _points(family: Metric, start_ns: int, now_ns: int) -> Iterator[sdk.NumberDataPoint]:
    for sample in family.samples:
        yield sdk.NumberDataPoint(
            attributes=sample.labels,
            start_time_unix_nano=start_ns,
            time_unix_nano=now_ns,
            value=float(sample.value),
        )


def _log_change(target: OtlpEndpoint, *, is_sent: bool) -> None:
    if is_sent:
        log.info("metrics are sent again", otlp=_place(target.url))
    else:
        log.warning(
            "metrics could not be sent; this is logged once, and retried",
            otlp=_place(target.url),
            every_s=target.every_s,
        )


def _place(url: str) -> str:
    """The host and port of a URL: it may have a password in it."""
    return urlsplit(url).netloc.rpartition("@")[2]
