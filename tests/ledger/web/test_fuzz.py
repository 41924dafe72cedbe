"""Any input is answered as described, or its connection is closed; the ledger keeps running.

Schemathesis makes valid and invalid requests from the API's own description, and checks the answers
against it. Further inputs are bytes other than HTTP, heads that lie about their bodies, and
corrupted statements.
"""

from __future__ import annotations

import random
import re
import socket
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from tequio_shared.ids import to_text
from tequio_shared.log.tiles import encode_bundle, parse_bundle
from tests.support.authors import Author, newcomers
from tests.support.ledger_with_history import live_yesterday, open_competitions
from tests.support.ledgers import UNLIMITED, Served, served

if TYPE_CHECKING:
    from collections.abc import Iterator


SEED = "20261121"
CASES = 12
"""Requests that schemathesis draws at random for each operation, besides those at the edges."""
UNHEARD = "positive_data_acceptance"
"""The one check that cannot hold: no schema says which bytes are a signed statement."""
PATIENCE_S = 20
REFUSED = """
[checks.negative_data_rejection]
expected-statuses = ["4XX"]
"""
POSTED = ("/v1/statements", "/log/checkpoint")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A ledger with runs, rounds, points and a quarantine, and no limits but those on sizes."""
    folder = tmp_path_factory.mktemp("ledger")
    live_yesterday(folder)
    open_competitions(folder)
    with served(folder, *UNLIMITED) as running:
        yield running


def is_well(program: Served) -> bool:
    answer = httpx.get(f"{program.url}/healthz", timeout=PATIENCE_S)
    return (answer.status_code, answer.json()) == (200, {"status": "ok"})


@pytest.mark.parametrize("known", [False, True], ids=["names of nobody", "names that exist"])
def test_the_api_keeps_to_its_own_description(
    program: Served, tmp_path: Path, *, known: bool
) -> None:
    config = tmp_path / "schemathesis.toml"
    config.write_text(REFUSED + (parameters(program) if known else ""))
    program_file = Path(sys.executable).with_name("schemathesis")
    command = [str(program_file), "--config-file", str(config), "run"]
    options = ("--exclude-path", "/v1/events", "--exclude-checks", UNHEARD, "--seed", SEED)
    drawn = ("--max-examples", str(CASES), "--phases", "coverage,fuzzing", "--no-color")
    done = subprocess.run(
        [*command, f"{program.url}/v1/openapi.json", *options, *drawn],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    tested = re.search(r"Tested: (\d+)", done.stdout)
    assert tested is not None
    assert int(tested[1]) == operations(program) - 1, "all but the stream"
    assert is_well(program)


def operations(program: Served) -> int:
    paths = httpx.get(f"{program.url}/v1/openapi.json").json()["paths"]
    return sum(len(item) for item in paths.values())


def parameters(program: Served) -> str:
    """Names for schemathesis to ask for, so that it comes further than to `not-found`."""
    run = httpx.get(f"{program.url}/v1/runs").json()["runs"][0]
    key = httpx.get(f"{program.url}/v1/ranking").json()["rows"][0]["key"]
    line = httpx.get(f"{program.url}/v1/competitions").json()["competitions"][0]
    named = {"run": run["run"], "number": 1, "key": key, "name": run["manifest"]}
    named["competition"] = line["competition"]
    lines = [f'"path.{name}" = {value!r}' for name, value in named.items()]
    return "\n".join(["[parameters]", *lines, '"path.rest" = "entries/000.p/1"', ""])


def spoken(program: Served, said: bytes) -> bytes:
    """Say bytes on a line of their own; give the answer, empty when the line was closed."""
    host, port = program.url.removeprefix("http://").split(":")
    answer = b""
    with closing(socket.create_connection((host, int(port)), timeout=PATIENCE_S)) as line:
        try:
            line.sendall(said)
            line.shutdown(socket.SHUT_WR)
            while piece := line.recv(1 << 16):
                answer += piece
        except ConnectionError:
            pass
    return answer


def assert_sound(answer: bytes, said: bytes) -> None:
    """Check that every answer is HTTP, and none reports an internal error."""
    if answer:
        first = re.match(rb"HTTP/1\.[01] (\d{3}) ", answer)
        assert first is not None, (said[:200], answer[:200])
        assert int(first[1]) < 500, (said[:200], answer[:200])


def test_bytes_that_are_no_request_do_no_harm(program: Served) -> None:
    rng = random.Random(11)
    for _ in range(200):
        said = rng.randbytes(rng.randrange(1, 400))
        assert_sound(spoken(program, said), said)
    assert is_well(program)


def answer_of(program: Served, target: bytes) -> bytes:
    """Ask for a page by the target of a request; reads until the ledger closes the connection."""
    host, port = program.url.removeprefix("http://").split(":")
    with closing(socket.create_connection((host, int(port)), timeout=PATIENCE_S)) as line:
        head = b"host: ledger.example\r\naccept: text/html\r\nconnection: close\r\n\r\n"
        line.sendall(b"GET %s HTTP/1.1\r\n%s" % (target, head))
        return b"".join(iter(lambda: line.recv(1 << 16), b""))


@pytest.mark.parametrize("target", [b"foo", b"*", b"runs/x?after=1", b"ftp://ledger.example/map"])
def test_a_target_that_does_not_begin_with_a_slash_is_refused(
    program: Served, target: bytes
) -> None:
    assert answer_of(program, target).startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize("origin", [b"", b"http://ledger.example", b"HTTPS://ledger.example"])
def test_a_whole_address_is_answered_as_its_path(program: Served, origin: bytes) -> None:
    answer = answer_of(program, origin + b"/map")
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert b"<title>Live map" in answer


HEADS = (
    b"POST /v1/statements HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\n",
    b"POST /v1/statements HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n5\r\nabcde\r\n"
    b"0\r\n\r\n",
    b"PUT /v1/seeds HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}",
    b"GET /v1/peers?after=A&limit=3 HTTP/1.1\r\nhost: x\r\nif-none-match: \"a\", W/\"b\"\r\n\r\n",
    b"GET /log/tile/entries/000.p/1 HTTP/1.1\r\nhost: x\r\nrange: bytes=0-1\r\n\r\n",
    b"GET /v1/events?after=0 HTTP/1.0\r\nhost: x\r\nlast-event-id: 3\r\n\r\n",
    b"GET /search?q=A HTTP/1.1\r\nhost: x\r\naccept: text/html\r\n\r\n",
    b"OPTIONS /v1/blobs/%00%ff%C3 HTTP/1.1\r\nhost: x\r\nx-forwarded-for: a, b\r\n\r\n",
)  # fmt: skip
SPLICES = (
    b"\r\n", b"\n", b"\0", b"\xff", b" ", b":", b"%", b"%zz", b"content-length: 1\r\n",
    b"content-length: -1\r\n", b"content-length: 99999999999999999999\r\n", b"A" * 3000,
    b"transfer-encoding: chunked\r\n", b"host: y\r\n", b"../", b"//", b"?", b"&limit=-1",
    "\N{SNOWMAN}".encode(), b"x-forwarded-for: ::1\r\n", b"connection: upgrade\r\nupgrade: h2c\r\n",
)  # fmt: skip


def broken(rng: random.Random, said: bytes) -> bytes:
    """Change some bytes, take some away, put some in."""
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(said) + 1)
        match rng.randrange(3):
            case 0:
                said = said[:at] + rng.randbytes(1) + said[at + 1 :]
            case 1:
                said = said[:at] + said[at + rng.randrange(1, 9) :]
            case _:
                said = said[:at] + rng.choice(SPLICES) + said[at:]
    return said


def test_requests_that_somebody_broke_do_no_harm(program: Served) -> None:
    rng = random.Random(12)
    for _ in range(400):
        said = broken(rng, rng.choice(HEADS))
        if b"GET /v1/events" in said:  # a stream that stands has no end to wait for
            said = said.replace(b"GET ", b"PATCH ")
        assert_sound(spoken(program, said), said)
    assert is_well(program)


def test_bodies_that_somebody_broke_are_refused_and_nothing_of_them_is_logged(
    program: Served,
) -> None:
    now_ms = time.time_ns() // 1_000_000
    leaves = [one.leaf() for one in newcomers("broken", program.net, 4, now_ms)]
    rng = random.Random(13)
    before = size(program)
    with httpx.Client(base_url=program.url, timeout=PATIENCE_S) as http:
        for _ in range(400):
            body = broken(rng, encode_bundle(leaves))
            answer = http.post(rng.choice(POSTED), content=body)
            assert answer.status_code in (200, 400, 413), answer.text
            statuses = {item["status"] for item in answer.json().get("items", ())}
            sound = [leaf for leaf in intact(body) if leaf in leaves]
            assert statuses <= ({"logged", "known", "refused"} if sound else {"refused"})
    assert size(program) <= before + len(leaves)
    assert is_well(program)
    author = Author("after all that", program.net)
    posted = httpx.post(
        f"{program.url}/v1/statements", content=encode_bundle([author.register(now_ms).leaf()])
    )
    assert posted.json()["items"][0]["status"] == "logged"
    assert httpx.get(f"{program.url}/v1/peers/{to_text(author.key)}").status_code == 200


def intact(body: bytes) -> list[bytes]:
    try:
        return parse_bundle(body)
    except Exception:  # noqa: BLE001 - whatever it is, nothing of it stands
        return []


def size(program: Served) -> int:
    return int(httpx.get(f"{program.url}/log/checkpoint").text.split("\n")[1])
