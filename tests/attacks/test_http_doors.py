"""Attackers on the ledger's HTTP port: slow, greedy and masked ones. Layer: net (limits)."""

from __future__ import annotations

import socket
import time
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

import httpx
import psutil
import pytest

from tequio_shared.ids import sha256, to_text
from tests.support.attackers import put_headers
from tests.support.ledgers import ORGANISER, PROGRAM, Served, served

if TYPE_CHECKING:
    from collections.abc import Iterator

BLOB = bytes(24 << 20)
READERS = 24


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    options = ("--trusted-proxy", "127.0.0.0/8", "--address-rate", "3")
    with served(tmp_path_factory.mktemp("ledger"), *options, program=PROGRAM) as program:
        yield program


def is_well(ledger: Served) -> bool:
    return httpx.get(f"{ledger.url}/healthz", timeout=5).status_code == 200


def dialled(ledger: Served) -> socket.socket:
    host, port = ledger.url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=20)


def garbage_from(ledger: Served, address: str) -> int:
    headers = {"x-forwarded-for": f"203.0.113.9, {address}"}
    content = b"\x00\x01x" * 20
    return httpx.post(f"{ledger.url}/v1/statements", content=content, headers=headers).status_code


def test_behind_a_proxy_the_flood_of_one_address_costs_no_other(ledger: Served) -> None:
    assert [garbage_from(ledger, "198.51.100.7") for _ in range(3)] == [200, 429, 429]
    assert garbage_from(ledger, "198.51.100.200") == 429, "the same network"
    assert garbage_from(ledger, "192.0.2.1") == 200


def test_headers_that_trickle_are_given_up_and_others_are_served(ledger: Served) -> None:
    with ExitStack() as lines:
        slow = [lines.enter_context(closing(dialled(ledger))) for _ in range(100)]
        for one in slow:
            one.sendall(b"GET /v1/network HTTP/1.1\r\nhost: x\r\nx-slow: ")
        assert is_well(ledger)
        for one in slow:
            assert _ends(one)
    assert is_well(ledger)


def _ends(line: socket.socket) -> bool:
    """Read until the other end closes, which it has 20 s to do."""
    try:
        while line.recv(4096):
            pass
    except ConnectionError:
        pass
    return True


def test_a_head_without_end_is_refused(ledger: Served) -> None:
    with closing(dialled(ledger)) as line:
        try:
            line.sendall(b"GET / HTTP/1.1\r\nhost: x\r\n")
            for _ in range(64):
                line.sendall(b"x-more: " + b"y" * 8_000 + b"\r\n")
        except ConnectionError:
            pass
        assert _ends(line)
    assert is_well(ledger)


def test_readers_that_take_nothing_take_no_memory_either(ledger: Served) -> None:
    digest = sha256(BLOB)
    headers = put_headers(ORGANISER, ledger.net, digest, time.time_ns() // 1_000_000)
    path = f"/v1/blobs/{to_text(digest)}"
    url = ledger.url + path
    assert httpx.put(url, content=BLOB, headers=headers, timeout=60).status_code == 201
    assert len(httpx.get(url, timeout=60).content) == len(BLOB)
    process = psutil.Process(ledger.process.pid)
    before = process.memory_info().rss
    with ExitStack() as lines:
        for _ in range(READERS):
            line = lines.enter_context(closing(dialled(ledger)))
            line.sendall(f"GET {path} HTTP/1.1\r\nhost: x\r\n\r\n".encode())
            assert line.recv(12) == b"HTTP/1.1 200"
        assert is_well(ledger)
        grown = process.memory_info().rss - before
    assert grown < READERS * len(BLOB) // 4
    assert is_well(ledger)
