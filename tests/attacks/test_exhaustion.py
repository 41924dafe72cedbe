"""Attacks that use up what the ledger's process has. Layers: net (limits), adm (documents)."""

from __future__ import annotations

import os
import resource
import sqlite3
import threading
import time
from contextlib import closing
from typing import TYPE_CHECKING

import httpx
import pytest

from tequio_client.clock import now_ms
from tequio_shared.ids import sha256, to_text
from tests.support.attack_table import attack
from tests.support.attackers import codes, post
from tests.support.attackers_exhaustion import (
    CHUNKED_HEAD,
    HEAD_ONLY,
    ProcessUse,
    connections,
    folder_bytes,
    nested_arrays,
    put_tiny_blobs,
    under_limit,
    wait_until_released,
)
from tests.support.authors import Author
from tests.support.competition_program import CompetitionProgram
from tests.support.evaluator_bombs import EvaluatorBomb, commit_bomb
from tests.support.ledgers import ORGANISER, PROGRAM, Served, served
from tests.support.synthetic_competition import folder
from tests.support.timing_slack import allowed_s
from tests.support.uploads import put_blob

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tequio_shared.statements.statement import Entry

OPEN_FILES = 1_024
SILENT = 1_200
NETWORKS = 24
WAIT_S = 0.5
MEBIBYTE = 1 << 20
DAY_MS = 86_400_000


@pytest.fixture(autouse=True)
def _many_files() -> Iterator[None]:
    """Let this process open what it attacks with."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(max(soft, 4 * SILENT), hard), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def registration(ledger: Served, name: str) -> list[Entry]:
    return [Author(name, ledger.net).register(now_ms())]


@attack("D1", layer="net", ends="the oldest silent connections are closed; others are served")
@pytest.mark.parametrize("networks", [1, NETWORKS])
def test_silent_connections_beyond_the_open_files_end_nothing(
    tmp_path: Path, networks: int
) -> None:
    with served(tmp_path, program=under_limit(OPEN_FILES)) as ledger:
        assert codes(post(ledger.url, registration(ledger, "before"))) == ["logged"]
        before = ProcessUse.of(ledger.process.pid)
        with connections(ledger, SILENT, networks):
            for number in range(10):
                assert codes(post(ledger.url, registration(ledger, f"during {number}"))) == [
                    "logged"
                ]
                assert httpx.get(f"{ledger.url}/healthz").json() == {"status": "ok"}
            assert ledger.process.poll() is None
        after = wait_until_released(ledger.process.pid, before.descriptors + 8, allowed_s(12))
        assert after.descriptors <= before.descriptors + 8
        assert codes(post(ledger.url, registration(ledger, "after"))) == ["logged"]


@attack("D1", layer="net", ends="the bodies that came last longest ago are given up")
@pytest.mark.parametrize("networks", [1, NETWORKS])
def test_requests_that_never_end_leave_room_to_others(tmp_path: Path, networks: int) -> None:
    with served(tmp_path, program=under_limit(OPEN_FILES)) as ledger:
        before = ProcessUse.of(ledger.process.pid)
        with connections(ledger, SILENT, networks, HEAD_ONLY):
            assert codes(post(ledger.url, registration(ledger, "during"))) == ["logged"]
            during = ProcessUse.of(ledger.process.pid)
            assert during.descriptors - before.descriptors < OPEN_FILES // 2
        assert ledger.process.poll() is None


@attack("D4", layer="net", ends="others are served meanwhile")
@pytest.mark.parametrize(("size", "count"), [(1, 16), (64, 64), (300, 64)])
def test_bodies_in_small_chunks_keep_nobody_waiting(tmp_path: Path, size: int, count: int) -> None:
    chunk = b"%x\r\n%b\r\n" % (size, b"a" * size)
    chunks = CHUNKED_HEAD + chunk * (MEBIBYTE // len(chunk))
    with served(tmp_path) as ledger:
        assert httpx.get(f"{ledger.url}/healthz").json() == {"status": "ok"}
        with connections(ledger, count, NETWORKS, chunks):
            for number in range(5):
                begun = time.monotonic()
                assert codes(post(ledger.url, registration(ledger, f"during {number}"))) == [
                    "logged"
                ]
                assert time.monotonic() - begun < allowed_s(WAIT_S)


@attack("D5", layer="net", ends="the network with most of them loses the oldest")
def test_bodies_whose_last_byte_never_comes_take_little_memory(tmp_path: Path) -> None:
    with served(tmp_path, program=under_limit(OPEN_FILES)) as ledger:
        assert codes(post(ledger.url, registration(ledger, "before"))) == ["logged"]
        before = ProcessUse.of(ledger.process.pid)
        with connections(ledger, 300, NETWORKS, HEAD_ONLY + bytes(999_999)):
            for number in range(5):
                assert codes(post(ledger.url, registration(ledger, f"during {number}"))) == [
                    "logged"
                ]
                time.sleep(0.5)
            during = ProcessUse.of(ledger.process.pid)
        assert during.resident_bytes - before.resident_bytes < 150 * MEBIBYTE


@attack("D5", layer="net", ends="refused as `queue-full`; others have connections and streams")
def test_event_streams_leave_connections_to_others(tmp_path: Path) -> None:
    stream = b"GET /v1/events HTTP/1.1\r\nhost: x\r\n\r\n"
    with (
        served(tmp_path, program=under_limit(OPEN_FILES)) as ledger,
        connections(ledger, OPEN_FILES, NETWORKS, stream),
    ):
        for number in range(5):
            assert codes(post(ledger.url, registration(ledger, f"during {number}"))) == ["logged"]
        with httpx.stream("GET", f"{ledger.url}/v1/events") as of_another_network:
            assert of_another_network.status_code == 200


@attack("D2", layer="adm", ends="refused before it is read; sending it again costs nothing")
def test_a_drawn_evaluators_huge_document_keeps_nobody_waiting(tmp_path: Path) -> None:
    with (
        served(tmp_path, program=PROGRAM) as ledger,
        httpx.Client(base_url=ledger.url, timeout=120) as http,
    ):
        bomb = commit_bomb(ledger, http, nested_arrays(63 * MEBIBYTE))
        before = ProcessUse.of(ledger.process.pid)
        assert bomb.upload(http) == 413, "larger than any document that this key may publish"
        # Organisers store large files: one of them in league with the evaluator puts it there.
        assert bomb.upload(http, ORGANISER) == 201
        assert posted_again_and_again(bomb) == {"malformed"}
        grown = ProcessUse.of(ledger.process.pid).resident_bytes - before.resident_bytes
        assert grown < 300 * MEBIBYTE


@attack("D2", layer="adm", ends="a document of the allowed size is refused at its first token")
def test_a_document_of_the_allowed_size_costs_little(tmp_path: Path) -> None:
    with (
        served(tmp_path, program=PROGRAM) as ledger,
        httpx.Client(base_url=ledger.url, timeout=120) as http,
    ):
        bomb = commit_bomb(ledger, http, nested_arrays(3_000))
        assert bomb.upload(http) == 201
        assert posted_again_and_again(bomb) == {"malformed"}


def posted_again_and_again(bomb: EvaluatorBomb) -> set[str]:
    """Post the statement five times while somebody reads; returns the codes of the answers."""
    is_over, waits = threading.Event(), []

    def read() -> None:
        with httpx.Client(base_url=bomb.ledger.url, timeout=120) as http:
            while not is_over.is_set():
                begun = time.monotonic()
                http.get("/log/checkpoint").raise_for_status()
                waits.append(time.monotonic() - begun)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        found = {bomb.post() for _ in range(5)}
    finally:
        is_over.set()
        reader.join()
    assert max(waits) < allowed_s(WAIT_S), max(waits)
    return found


@attack("D3", layer="net", ends="refused as `quota`: each file counts with what it occupies")
def test_tiny_blobs_count_with_what_they_occupy(tmp_path: Path) -> None:
    options = ("--address-rate", "0", "--key-rate", "0", "--peer-quota-mb", "1")
    with served(tmp_path, *options) as ledger:
        peer = Author("hoarder", ledger.net)
        assert codes(post(ledger.url, [peer.register(now_ms())])) == ["logged"]
        before = folder_bytes(tmp_path / "blobs")
        assert put_tiny_blobs(ledger, peer.signer, 3_000) < 300
        assert folder_bytes(tmp_path / "blobs") - before <= MEBIBYTE


def inodes_in(folder: Path) -> int:
    """Files and folders; unlike a glob, walking bears that some vanish meanwhile."""
    return sum(len(folders) + len(files) for _, folders, files in os.walk(folder))


@attack("D3", layer="net", ends="a blob that no statement names is deleted after a week")
def test_blobs_that_no_statement_names_are_deleted(tmp_path: Path) -> None:
    with (
        served(tmp_path) as ledger,
        httpx.Client(base_url=ledger.url, timeout=60) as http,
    ):
        place = CompetitionProgram(http, ledger.net)
        alpha = place.people["alpha"]
        place.post_statement("organiser", place.paper.open())
        named, kept = folder("alpha").encode(), b"an organiser's file"
        assert put_blob(http, ledger.net, named, now_ms(), alpha.signer).status_code == 201
        place.post_statement("alpha", place.paper.enter("alpha"))
        place.post_statement("alpha", place.paper.submit("alpha", folder("alpha")))
        assert put_blob(http, ledger.net, kept, now_ms()).status_code == 201
        assert put_tiny_blobs(ledger, alpha.signer, 40) == 40
        inodes = inodes_in(tmp_path / "blobs")
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite")) as database, database:
        database.execute("UPDATE blob SET at = at - ?", (6 * DAY_MS,))
    with served(tmp_path) as ledger, httpx.Client(base_url=ledger.url, timeout=60) as http:
        time.sleep(1)
        assert http.get(f"/v1/blobs/{to_text(sha256(bytes([7])))}").status_code == 200
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite")) as database, database:
        database.execute("UPDATE blob SET at = at - ?", (2 * DAY_MS,))
    with served(tmp_path) as ledger, httpx.Client(base_url=ledger.url, timeout=60) as http:
        tiny = [f"/v1/blobs/{to_text(sha256(bytes([number])))}" for number in range(1, 40)]
        end = time.monotonic() + allowed_s(5)
        while any(http.get(one).status_code != 404 for one in tiny):
            assert time.monotonic() < end
            time.sleep(0.1)
        assert inodes_in(tmp_path / "blobs") < inodes - len(tiny)
        for content in (named, kept, place.paper.rules.encode()):
            assert http.get(f"/v1/blobs/{to_text(sha256(content))}").content == content
        assert codes(post(ledger.url, registration(ledger, "afterwards"))) == ["logged"]
