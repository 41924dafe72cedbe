"""Metrics pushed to an OpenTelemetry collector: the families that Prometheus would read."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from queue import Queue
from typing import TYPE_CHECKING, Any

import pytest
import trio
from click.testing import CliRunner

from tequio_client.__main__ import cli
from tequio_client.worker import metrics
from tequio_client.worker.settings import NetSettings, OtlpEndpoint
from tequio_shared.errors import UserFacingError
from tequio_shared.version import BUILD
from tests.client.worker.test_metrics import SHOWN, STATUS
from tests.support.http_servers import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client import Metric

pytest.importorskip("opentelemetry.sdk.metrics", reason="the extra `otlp` is not installed")

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.metrics.v1.metrics_pb2 import AGGREGATION_TEMPORALITY_CUMULATIVE

Point = tuple[str, tuple[tuple[str, str], ...]]


class OtlpCollector:
    """Receives pushes as a collector does, and answers each with an empty message."""

    def __init__(self) -> None:
        self.pushes: Queue[ExportMetricsServiceRequest] = Queue()
        self.headers: list[dict[str, str]] = []
        self.status = 200

    @contextmanager
    def listening(self, port: int = 0) -> Iterator[int]:
        collector = self

        class OtlpHandler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                assert self.path == "/v1/metrics"
                body = self.rfile.read(int(self.headers["content-length"]))
                if self.headers["content-encoding"] == "gzip":
                    body = gzip.decompress(body)
                collector.headers.append({k.lower(): v for k, v in self.headers.items()})
                collector.pushes.put(ExportMetricsServiceRequest.FromString(body))
                self.send_response(collector.status)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None: ...

        with serving(OtlpHandler, port) as url:
            yield int(url.rpartition(":")[2])

    async def next_push(self) -> ExportMetricsServiceRequest:
        with trio.fail_after(30):
            return await trio.to_thread.run_sync(self.pushes.get, True, 30)  # noqa: FBT003 - Queue's


def settings(url: str, folder: Path) -> NetSettings:
    target = OtlpEndpoint(url=url, every_s=0.05)
    return NetSettings(ledger="http://ledger.example", folder=folder, otlp=target)


def read() -> Iterator[Metric]:
    yield from metrics.worker_metrics(SHOWN, [("cuda:0", STATUS)])


def points(push: ExportMetricsServiceRequest) -> dict[Point, float]:
    return {
        (metric.name, tuple(sorted(attributes(point).items()))): point.as_double
        for resource in push.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        for point in (metric.sum if metric.HasField("sum") else metric.gauge).data_points
    }


def attributes(of: Any) -> dict[str, str]:  # noqa: ANN401 - protobuf's
    return {one.key: one.value.string_value for one in of.attributes}


def metric_named(push: ExportMetricsServiceRequest, name: str) -> Any:  # noqa: ANN401 - protobuf's
    (scope,) = push.resource_metrics[0].scope_metrics
    (found,) = (one for one in scope.metrics if one.name == name)
    return found


@pytest.mark.trio
async def test_a_collector_gets_what_prometheus_would_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20abc")
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "host.name=attic")
    collector = OtlpCollector()
    with collector.listening() as port:
        async with trio.open_nursery() as nursery:
            target = settings(f"http://127.0.0.1:{port}", tmp_path)
            nursery.start_soon(metrics.publish, target, read, "worker")
            push = await collector.next_push()
            nursery.cancel_scope.cancel()
    sent = points(push)
    wanted = {
        (family.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in read()
        for sample in family.samples
    }
    assert wanted.items() <= sent.items()
    assert {name for name, _ in sent.keys() - wanted.keys()} <= {
        *("process_virtual_memory_bytes", "process_resident_memory_bytes", "process_open_fds"),
        *("process_start_time_seconds", "process_cpu_seconds", "process_max_fds"),
    }
    resource = attributes(push.resource_metrics[0].resource)
    assert resource["service.name"] == "tequio-worker"
    assert resource["service.version"] == BUILD
    assert resource["host.name"] == "attic"
    assert collector.headers[0]["authorization"] == "Bearer abc"


@pytest.mark.trio
async def test_counters_are_sums_since_the_start_and_the_rest_are_gauges(tmp_path: Path) -> None:
    collector = OtlpCollector()
    with collector.listening() as port:
        async with trio.open_nursery() as nursery:
            target = settings(f"http://127.0.0.1:{port}/", tmp_path)
            nursery.start_soon(metrics.publish, target, read, "worker")
            pushes = [await collector.next_push() for _ in range(2)]
            nursery.cancel_scope.cancel()
    tokens = [metric_named(push, "tequio_worker_tokens").sum for push in pushes]
    assert all(one.is_monotonic for one in tokens)
    assert all(one.aggregation_temporality == AGGREGATION_TEMPORALITY_CUMULATIVE for one in tokens)
    first, second = (one.data_points[0] for one in tokens)
    assert first.start_time_unix_nano == second.start_time_unix_nano <= first.time_unix_nano
    assert first.time_unix_nano < second.time_unix_nano
    assert metric_named(pushes[0], "tequio_node_peers").gauge.data_points[0].as_double == 7


@pytest.mark.trio
async def test_a_collector_that_is_away_is_logged_once_and_gets_metrics_when_it_is_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from tequio_client.worker import otlp  # noqa: PLC0415 - needs the extra

    monkeypatch.setattr(otlp, "ATTEMPT_S", 0.3)
    with OtlpCollector().listening() as port:
        pass
    reads = 0
    has_tried_often = trio.Event()

    def counted() -> Iterator[Metric]:
        nonlocal reads
        reads += 1
        if reads == 4:
            has_tried_often.set()
        return read()

    collector = OtlpCollector()
    async with trio.open_nursery() as nursery:
        url = f"http://ana:secret@127.0.0.1:{port}"
        nursery.start_soon(metrics.publish, settings(url, tmp_path), counted, "seed")
        with trio.fail_after(30):
            await has_tried_often.wait()
        with collector.listening(port):
            await collector.next_push()
            await collector.next_push()
            nursery.cancel_scope.cancel()
    logged = capsys.readouterr()
    lines = (logged.out + logged.err).splitlines()
    assert sum("metrics could not be sent" in line for line in lines) == 1
    assert sum("metrics are sent again" in line for line in lines) == 1
    assert "secret" not in logged.out + logged.err


@pytest.mark.trio
async def test_a_redirect_is_no_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    collector = OtlpCollector()
    collector.status = 308
    with collector.listening() as port:
        async with trio.open_nursery() as nursery:
            target = settings(f"http://127.0.0.1:{port}", tmp_path)
            nursery.start_soon(metrics.publish, target, read, "seed")
            for _ in range(3):
                await collector.next_push()
            collector.status = 200
            for _ in range(3):
                await collector.next_push()
            nursery.cancel_scope.cancel()
    logged = capsys.readouterr()
    lines = (logged.out + logged.err).splitlines()
    assert sum("metrics could not be sent" in line for line in lines) == 1
    assert sum("metrics are sent again" in line for line in lines) == 1


@pytest.mark.trio
async def test_a_push_that_hangs_does_not_hold_the_program(tmp_path: Path) -> None:
    with trio.socket.socket() as silent:
        await silent.bind(("127.0.0.1", 0))
        silent.listen(1)
        target = settings(f"http://127.0.0.1:{silent.getsockname()[1]}", tmp_path)
        with trio.move_on_after(0.5) as scope:
            await metrics.publish(target, read, "worker")
    assert scope.cancelled_caught


@pytest.mark.trio
async def test_nothing_is_pushed_unless_an_endpoint_is_set(tmp_path: Path) -> None:
    def never() -> Iterator[Metric]:
        raise AssertionError("metrics were read")

    quiet = NetSettings(ledger="http://ledger.example", folder=tmp_path)
    with trio.fail_after(5):
        await metrics.publish(quiet, never, "worker")


def test_the_missing_library_is_named_with_its_extra() -> None:
    code = (
        "import sys, trio; sys.modules['opentelemetry'] = None\n"
        "from pathlib import Path\n"
        "from tequio_client.worker import metrics\n"
        "from tequio_client.worker.settings import NetSettings, OtlpEndpoint\n"
        "target = OtlpEndpoint(url='http://127.0.0.1:1')\n"
        "net = NetSettings(ledger='http://ledger.example', folder=Path('.'), otlp=target)\n"
        "try:\n    trio.run(metrics.publish, net, list, 'worker')\n"
        "except* BaseException as group:\n    print(repr(group.exceptions[0]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "UserFacingError" in done.stdout
    assert "tequio[otlp]" in done.stdout


@pytest.mark.parametrize("by", ["option", "variable"])
def test_an_endpoint_without_a_scheme_is_told(by: str, tmp_path: Path) -> None:
    words = ["seed", "--ledger", "http://ledger.example", "--dir", str(tmp_path)]
    env = {"OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4318"} if by == "variable" else {}
    if by == "option":
        words += ["--otlp-endpoint", "collector:4318"]
    done = CliRunner(env=env).invoke(cli, words)
    assert isinstance(done.exception, UserFacingError), done.output
    assert "'collector:4318'" in str(done.exception)


def test_the_apps_worker_ignores_the_variable(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tequio_client", "worker", "--link", "--dir", str(tmp_path)]
    done = subprocess.run(
        [*command, "--ledger", "http://ledger.example"],
        env={**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4318"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert "collector" not in done.stderr, done.stderr
    assert done.returncode == 0, done.stderr
