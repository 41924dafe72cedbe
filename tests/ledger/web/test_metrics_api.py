"""The metrics: what was done is counted, on an address of its own, and strangers add no names."""

from __future__ import annotations

import re
import socket
import time
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from tequio_shared.log.tiles import encode_bundle
from tests.ledger.test_app_main import failed
from tests.support.attack_table import attack
from tests.support.authors import Author, newcomers
from tests.support.dashboards import INSTALLER, declared, metrics_in, targets
from tests.support.ledgers import Served, served

if TYPE_CHECKING:
    from collections.abc import Iterator

GAUGES = "--metrics-port", "0"

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("ledger"), *GAUGES) as running:
        yield running


def samples(program: Served) -> Samples:
    assert program.metrics is not None
    families = text_string_to_metric_families(httpx.get(program.metrics).text)
    return {
        (one.name, frozenset(one.labels.items())): one.value
        for family in families
        for one in family.samples
    }


def value(found: Samples, name: str, **labels: str) -> float:
    return found.get((f"tequio_ledger_{name}", frozenset(labels.items())), 0)


def rise(program: Served, before: Samples, name: str, **labels: str) -> float:
    return value(samples(program), name, **labels) - value(before, name, **labels)


def size(http: httpx.Client) -> int:
    return int(http.get("/log/checkpoint").text.split("\n")[1])


@attack("P27", layer="net", ends="refused, where only this computer can ask at all")
def test_a_page_whose_name_resolves_to_this_computer_reads_no_metrics(program: Served) -> None:
    assert program.metrics is not None
    for name in ("evil.example", "evil.example:8602", "127.0.0.1.evil.example"):
        answer = httpx.get(program.metrics, headers={"host": name})
        assert answer.status_code == 421
        assert name in answer.text
        assert "tequio_ledger" not in answer.text
    for own in ("localhost:8602", "[::1]", "127.0.0.1"):
        assert "tequio_ledger" in httpx.get(program.metrics, headers={"host": own}).text


def test_statements_are_counted_by_what_became_of_them(
    program: Served, http: httpx.Client, author: Author, now_ms: int
) -> None:
    before = samples(program)
    entry = author.register(now_ms)
    for content in (encode_bundle([entry.leaf()]), encode_bundle([entry.leaf(), b"no statement"])):
        assert http.post("/v1/statements", content=content).status_code == 200
    assert rise(program, before, "statements_total", outcome="logged", code="") == 1
    assert rise(program, before, "statements_total", outcome="known", code="") == 1
    assert rise(program, before, "statements_total", outcome="refused", code="malformed") == 1
    assert rise(program, before, "receipt_seconds_count") == 2
    assert 0 < rise(program, before, "receipt_seconds_sum") < 20


def test_batches_and_the_log_are_measured(program: Served, http: httpx.Client, now_ms: int) -> None:
    before = samples(program)
    leaves = [one.leaf() for one in newcomers("measured", program.net, 5, now_ms)]
    http.post("/v1/statements", content=encode_bundle(leaves))
    assert rise(program, before, "batch_entries_count") == 1
    assert rise(program, before, "batch_entries_sum") == 5
    assert rise(program, before, "batch_entries_bucket", le="4.0") == 0
    assert rise(program, before, "batch_entries_bucket", le="8.0") == 1
    assert rise(program, before, "batch_seconds_count") == 1
    assert rise(program, before, "database_seconds_count", engine="writer") >= 2
    assert rise(program, before, "peers") == 5
    now = samples(program)
    assert value(now, "log_entries") == value(now, "log_committed_entries") == size(http)
    assert 0 <= value(now, "checkpoint_age_seconds") < 60
    assert value(now, "up") == 1
    assert value(now, "health", status="ok") == value(now, "leads") == 1
    assert now["process_resident_memory_bytes", frozenset()] > 1 << 20


def test_listeners_are_counted_while_they_listen(program: Served, http: httpx.Client) -> None:
    with http.stream("GET", "/v1/events") as answer:
        lines = answer.iter_lines()
        next(lines)
        assert value(samples(program), "event_streams") == 1
    deadline = time.monotonic() + 20
    while value(samples(program), "event_streams") and time.monotonic() < deadline:
        http.post("/v1/statements", content=b"")  # anything that takes a moment
    assert value(samples(program), "event_streams") == 0


def test_who_meets_a_rate_limit_is_counted(tmp_path: Path) -> None:
    with served(tmp_path, *GAUGES, "--address-rate", "1", "--address-streams", "1") as program:
        url = f"{program.url}/v1/statements"
        assert httpx.post(url, content=encode_bundle([b"x"] * 10)).status_code == 200
        assert httpx.post(url, content=encode_bundle([b"x"] * 10)).status_code == 429
        with httpx.stream("GET", f"{program.url}/v1/events") as answer:
            lines = answer.iter_lines()
            next(lines)
            assert httpx.get(f"{program.url}/v1/events").status_code == 503
        found = samples(program)
        assert value(found, "rate_limited_total", limit="address rate") == 1
        assert value(found, "rate_limited_total", limit="address streams") == 1


def test_requests_are_counted_by_route_and_strangers_add_no_names(
    program: Served, http: httpx.Client
) -> None:
    before = samples(program)
    for number in range(5):
        http.get(f"/v1/peers/{number}")
        http.get(f"/nowhere/{number}")
        http.request(f"METHOD{number}", "/v1/network")
    assert (
        rise(program, before, "requests_total", method="GET", route="/v1/peers/{key}", status="400")
        == 5
    )
    assert rise(program, before, "requests_total", method="GET", route="none", status="404") == 5
    assert rise(program, before, "requests_total", method="other", route="none", status="405") == 5
    assert rise(program, before, "request_seconds_count", route="none") == 10
    text = "".join(str(sorted(labels)) for _, labels in samples(program))
    assert "nowhere" not in text
    assert "METHOD" not in text


def test_the_metrics_are_on_their_own_address_only(program: Served, http: httpx.Client) -> None:
    assert http.get("/metrics").status_code == 404
    assert program.metrics is not None
    assert program.metrics.startswith("http://127.0.0.1:")
    other = program.metrics.replace("/metrics", "/v1/network")
    assert httpx.get(other).status_code == 404


def test_no_metrics_are_served_unless_a_port_is_named(tmp_path: Path) -> None:
    with served(tmp_path) as program:
        assert program.metrics is None


def test_a_busy_port_for_metrics_is_told_with_its_option(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as busy:
        said = failed(tmp_path, "--metrics-port", str(busy.getsockname()[1]))
    assert "choose another --metrics-port" in said


def test_every_metric_that_is_drawn_or_rings_an_alarm_exists(program: Served) -> None:
    assert program.metrics is not None
    known = {"up"} | declared(httpx.get(program.metrics).text)
    drawn = [target["expr"] for target in targets("grafana.json")]
    rules = yaml.safe_load((INSTALLER / "alerts.yml").read_text("utf-8"))["groups"][0]["rules"]
    used = [metrics_in(expr) for expr in [*drawn, *(rule["expr"] for rule in rules)]]
    assert all(used), "each asks for something"
    assert set().union(*used) - known == set()
    ours = {name for name in known if name.startswith("tequio_ledger_")}
    unused = {name for name in ours - set().union(*used) if not name.endswith(("_sum", "_count"))}
    assert unused == {"tequio_ledger_info", "tequio_ledger_checkpoint_timestamp_seconds"}


def test_an_alarm_about_a_rise_sees_the_first_one(program: Served) -> None:
    """A labelled series begins with its first event, and Prometheus sees no rise in that."""
    rules = yaml.safe_load((INSTALLER / "alerts.yml").read_text("utf-8"))["groups"][0]["rules"]
    rises = [rule["expr"] for rule in rules if "increase(" in rule["expr"]]
    assert rises
    found = samples(program)
    for name in set().union(*map(metrics_in, rises)):
        assert (name, frozenset()) in found, name


def test_no_query_adds_up_what_each_ledger_of_a_database_says_of_the_network() -> None:
    network = r"tequio_ledger_(run_\w+|rounds_total|peers|log_\w+|witness_up|tiles_\w+)"
    added = re.compile(rf"\b(sum|count|avg)( by \([^)]*\))? ?\(((rate|increase)\()?{network}")
    drawn = [target["expr"] for target in targets("grafana.json")]
    assert sum(re.search(network, expr) is not None for expr in drawn) > 8
    assert [expr for expr in drawn if added.search(expr)] == []
