"""Properties of the whole API: its description, paging, tags, problems, and an orderly stop."""

from __future__ import annotations

import json
import signal
import socket
import sqlite3
import time
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tequio_ledger.web.app import ROUTES
from tequio_ledger.web.openapi import DECLARED_EXCHANGES
from tequio_shared.api.answer import PAGE_ROWS
from tequio_shared.ids import sha256, to_text
from tequio_shared.limits import JSON_INTEGER, POST_BYTES
from tequio_shared.log.tiles import encode_bundle
from tests.support.attackers import put_headers
from tests.support.authors import Author
from tests.support.ledger_with_history import live_yesterday, open_competitions
from tests.support.ledgers import ORGANISER, Served, served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


UNDERIVED = {"/healthz", "/v1/seeds", "/v1/openapi.json", "/v1/witnesses"}
"""JSON that follows from no entry of the log."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger that has seen two closed rounds and a void one."""
    folder = tmp_path_factory.mktemp("ledger")
    live_yesterday(folder)
    open_competitions(folder)
    return folder


@pytest.fixture(scope="module")
def program(folder: Path) -> Iterator[Served]:
    with served(folder) as running:
        yield running


def described(http: httpx.Client) -> dict[str, Any]:
    found: dict[str, Any] = http.get("/v1/openapi.json").json()
    return found


def schema_of(operation: dict[str, Any]) -> dict[str, Any] | None:
    content = operation["responses"].get("200", {}).get("content", {})
    found: dict[str, Any] | None = content.get("application/json", {}).get("schema")
    return found


def test_the_api_describes_every_route_for_programs(http: httpx.Client) -> None:
    found = {
        (method.upper(), path) for path, item in described(http)["paths"].items() for method in item
    }
    routes = {(route.method, route.template) for route in ROUTES if route.is_described}
    assert found == routes
    operations = [one for item in described(http)["paths"].values() for one in item.values()]
    assert {one["operationId"] for one in operations} >= set(DECLARED_EXCHANGES)
    assert all(one["description"] for one in operations)


def test_every_error_is_described_as_a_problem(http: httpx.Client) -> None:
    for item in described(http)["paths"].values():
        for operation in item.values():
            said = operation["responses"]
            assert set(said) - {"200", "201", "204", "503"} == {"4XX", "5XX"}
            for status in ("4XX", "5XX"):
                schema = said[status]["content"]["application/problem+json"]["schema"]
                assert schema == {"$ref": "#/components/schemas/Problem"}


def test_every_derived_answer_says_at_which_checkpoint_it_was_derived(
    http: httpx.Client,
) -> None:
    run = http.get("/v1/runs").json()["runs"][0]["run"]
    peers = http.get("/v1/peers").json()["peers"]
    key = peers[-1]["key"]
    team = next(peer["team"] for peer in peers if peer["team"])
    competition = http.get("/v1/competitions").json()["competitions"][0]["competition"]
    size, root = http.get("/log/checkpoint").text.split("\n")[1:3]
    checked = 0
    for path, item in described(http)["paths"].items():
        schema = schema_of(item.get("get", {"responses": {}}))
        if schema is None or path in UNDERIVED:
            continue
        url = path.replace("{run}", run).replace("{key}", key).replace("{number}", "1")
        url = url.replace("{competition}", competition).replace("{team}", str(team))
        answer = http.get(url)
        assert answer.status_code == 200, answer.text
        as_of = answer.json()["as_of"]
        assert (str(as_of["size"]), decoded(as_of["root"])) == (size, root), path
        checked += 1
    assert checked >= 10


def decoded(text: str) -> str:
    """Base64url without padding, as a checkpoint writes it."""
    return text.replace("-", "+").replace("_", "/") + "="


PAGED = {
    "/v1/runs": ("runs", "after", "run"),
    "/v1/runs/{run}/rounds": ("rounds", "after", "round"),
    "/v1/peers": ("peers", "after", "key"),
    "/v1/peers/{key}/rounds": ("rounds", "before", "closed_index"),
    "/v1/ranking": ("rows", "behind", "key"),
    "/v1/quarantine": ("peers", "after", "key"),
    "/v1/competitions": ("competitions", "after", "competition"),
}


@pytest.mark.parametrize("path", PAGED)
def test_every_list_is_read_page_by_page(http: httpx.Client, path: str) -> None:
    rows, parameter, name = PAGED[path]
    run = http.get("/v1/runs").json()["runs"][0]["run"]
    best = http.get("/v1/ranking").json()["rows"][0]["key"]
    url = path.replace("{run}", run).replace("{key}", best)
    whole = http.get(url).json()
    page = http.get(url, params={"limit": 1}).json()
    paged = page[rows]
    while page["next"] is not None:
        page = http.get(url, params={"limit": 1, parameter: page["next"]}).json()
        assert len(page[rows]) <= 1
        paged += page[rows]
    assert [one[name] for one in paged] == [one[name] for one in whole[rows]]
    assert whole["next"] is None
    assert whole[rows] or path == "/v1/quarantine"


def test_pages_of_the_ranking_bear_their_places(http: httpx.Client) -> None:
    whole = http.get("/v1/ranking").json()["rows"]
    behind = http.get("/v1/ranking", params={"behind": whole[0]["key"]}).json()["rows"]
    assert behind == whole[1:]
    stranger = http.get("/v1/ranking", params={"behind": to_text(bytes(32))})
    assert stranger.status_code == 404
    both = http.get("/v1/ranking", params={"behind": whole[0]["key"], "after": 0})
    assert both.status_code == 400


@pytest.mark.parametrize(
    "path", ["/v1/network", "/v1/runs", "/v1/peers", "/log/checkpoint", "/v1/openapi.json"]
)
def test_what_a_reader_holds_already_is_not_sent_again(
    program: Served, http: httpx.Client, path: str, author: Author, now_ms: int
) -> None:
    first = http.get(path)
    tag = first.headers["etag"]
    for held in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        again = http.get(path, headers={"if-none-match": held})
        assert (again.status_code, again.content) == (304, b""), held
        assert again.headers["etag"] == tag
    assert http.get(path, headers={"if-none-match": '"other"'}).content == first.content
    if path == "/v1/openapi.json":
        return
    http.post("/v1/statements", content=encode_bundle([author.register(now_ms).leaf()]))
    changed = http.get(path, headers={"if-none-match": tag})
    assert changed.status_code == 200
    assert changed.headers["etag"] != tag


def test_tiles_bundles_and_blobs_may_be_kept_for_ever(program: Served, http: httpx.Client) -> None:
    content = b"a blob that is kept"
    digest = sha256(content)
    headers = put_headers(ORGANISER, program.net, digest, time.time_ns() // 1_000_000)
    blob = f"/v1/blobs/{to_text(digest)}"
    assert http.put(blob, content=content, headers=headers).status_code == 201
    for path in (blob, "/log/tile/0/000.p/1", "/log/tile/entries/000.p/1"):
        first = http.get(path)
        assert "immutable" in first.headers["cache-control"], path
        again = http.get(path, headers={"if-none-match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b""), path
        assert "immutable" in again.headers["cache-control"], path
    assert http.get(blob).headers["etag"] == f'"{to_text(digest)}"'
    missing = f"/v1/blobs/{to_text(bytes(32))}"
    held = {"if-none-match": f'"{to_text(bytes(32))}"'}
    assert http.get(missing, headers=held).status_code == 404


def test_a_tag_of_anything_turns_no_problem_into_an_unchanged_answer(http: httpx.Client) -> None:
    for path in ("/v1/nowhere", f"/v1/peers/{to_text(bytes(32))}"):
        answer = http.get(path, headers={"if-none-match": "*"})
        assert_problem(answer, 404, "not-found")
        assert "etag" not in answer.headers


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/v1/peers?limit=0", 400),
        (f"/v1/peers?limit={PAGE_ROWS}", 200),
        (f"/v1/peers?limit={PAGE_ROWS + 1}", 400),
        ("/v1/runs?after=-1", 400),
        (f"/v1/runs?after={JSON_INTEGER}", 200),
        (f"/v1/runs?after={JSON_INTEGER + 1}", 400),
        ("/v1/runs/{run}/rounds/0", 404),
        (f"/v1/runs/{{run}}/rounds/{JSON_INTEGER + 1}", 404),
        ("/v1/runs/{run}/measures?after=-1", 200),
        ("/v1/runs/{run}/measures?after=-2", 400),
        ("/v1/ranking?n=100&around={key}", 200),
        ("/v1/ranking?n=101&around={key}", 400),
        (f"/v1/peers/{to_text(bytes(32))}/rounds", 404),
    ],
)
def test_numbers_of_a_request_have_the_bounds_that_the_protocol_names(
    http: httpx.Client, path: str, status: int
) -> None:
    run = http.get("/v1/runs").json()["runs"][0]["run"]
    key = http.get("/v1/peers").json()["peers"][0]["key"]
    assert http.get(path.replace("{run}", run).replace("{key}", key)).status_code == status


def test_a_list_around_a_key_is_not_continued(http: httpx.Client) -> None:
    best = http.get("/v1/ranking").json()["rows"][0]["key"]
    found = http.get("/v1/ranking", params={"around": best, "n": 0, "limit": 1}).json()
    assert [one["key"] for one in found["rows"]] == [best]
    assert found["next"] is None


def assert_problem(answer: httpx.Response, status: int, code: str) -> None:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["x-request-id"]
    told = answer.json()
    assert told.keys() == {"type", "title", "status", "detail"}
    assert (told["type"], told["status"]) == (f"urn:tequio:problem:{code}", status)
    assert told["title"] == code.replace("-", " ")
    assert told["detail"]


def test_every_kind_of_failure_is_a_problem(program: Served, http: httpx.Client) -> None:
    assert_problem(http.get("/v1/nowhere"), 404, "not-found")
    assert_problem(http.get("/v1/peers?limit=x"), 400, "malformed")
    assert_problem(http.get(f"/v1/network?{'x' * 3_000}"), 400, "malformed")
    pieces = (bytes(1 << 16) for _ in range(POST_BYTES >> 15))
    too_large = http.post("/v1/statements", content=pieces)
    assert_problem(too_large, 413, "too-large")
    assert too_large.headers["connection"] == "close", "its body was not read to the end"
    wrong = http.delete("/v1/network")
    assert_problem(wrong, 405, "method-not-allowed")
    assert "GET" in wrong.headers["allow"]


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("/v1/network", "GET, HEAD, OPTIONS"),
        ("/v1/seeds", "GET, HEAD, OPTIONS, PUT"),
        (f"/v1/blobs/{'A' * 43}", "GET, HEAD, OPTIONS, PUT"),
        ("/log/checkpoint", "GET, HEAD, OPTIONS, POST"),
    ],
)
def test_a_path_tells_its_methods(http: httpx.Client, path: str, methods: str) -> None:
    told = http.options(path)
    assert (told.status_code, told.content) == (204, b"")
    assert ", ".join(sorted(told.headers["allow"].split(", "))) == methods
    assert_problem(http.options("/v1/nowhere"), 404, "not-found")


@pytest.mark.parametrize(
    "path",
    ["/", "/healthz", "/log/checkpoint", "/log/tile/entries/000.p/1", "/v1/network", "/v1/nowhere"],
)
def test_a_head_has_the_headers_of_a_get_and_no_content(http: httpx.Client, path: str) -> None:
    whole, head = http.get(path), http.head(path)
    assert (head.status_code, head.content) == (whole.status_code, b"")
    for name in ("content-type", "content-length", "etag", "cache-control"):
        assert head.headers.get(name) == whole.headers.get(name), name
    if whole.is_success and "etag" in whole.headers:
        told = http.head(path, headers={"if-none-match": whole.headers["etag"]})
        assert (told.status_code, told.content) == (304, b"")


def test_a_head_of_a_stream_ends_at_once(http: httpx.Client) -> None:
    head = http.head("/v1/events")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-type"].startswith("text/event-stream")
    assert "etag" not in head.headers
    assert http.get("/v1/network").is_success, "the connection goes on"


def test_too_many_requests_are_told_when_to_come_back(tmp_path: Path) -> None:
    with served(tmp_path, "--request-rate", "1") as program, httpx.Client() as http:
        answers = [http.get(f"{program.url}/v1/network") for _ in range(13)]
        assert [one.status_code for one in answers[:10]] == [200] * 10
        assert_problem(answers[12], 429, "rate-limited")
        assert answers[12].headers["retry-after"] == "1"


def test_a_fault_of_ours_is_a_problem_that_tells_nothing_of_us(tmp_path: Path) -> None:
    with served(tmp_path) as program:
        with sqlite3.connect(tmp_path / "ledger.sqlite") as database:
            database.execute("DELETE FROM log_tile")
        answer = httpx.get(f"{program.url}/log/tile/0/000.p/1")
        assert_problem(answer, 500, "internal")
        assert "sqlite" not in answer.text.lower()
        program.process.kill()
        assert program.process.stderr is not None
        lines = [json.loads(line) for line in program.process.stderr]
    (line,) = [one for one in lines if one["event"] == "request failed"]
    assert line["request"] == answer.headers["x-request-id"]


def takes_connections(program: Served) -> bool:
    try:
        httpx.get(f"{program.url}/healthz")
    except httpx.TransportError:
        return False
    return True


def test_what_is_under_way_at_the_end_is_answered(tmp_path: Path, now_ms: int) -> None:
    with served(tmp_path) as program:
        author = Author("late", program.net)
        body = encode_bundle([author.register(now_ms).leaf()])
        host, port = program.url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=20) as line:
            head = f"POST /v1/statements HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n\r\n"
            line.sendall(head.encode() + body[:50])
            assert httpx.get(f"{program.url}/healthz").status_code == 200
            program.process.send_signal(signal.SIGTERM)
            while takes_connections(program):
                time.sleep(0.01)
            line.sendall(body[50:])
            answer = b""
            while piece := line.recv(4096):
                answer += piece
        assert answer.startswith(b"HTTP/1.1 200")
        assert b'"status":"logged"' in answer
        assert program.process.wait(10) == 0
