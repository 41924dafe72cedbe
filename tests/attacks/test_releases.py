"""Mirrors of releases that mean to keep a computer from its updates, or to use it. Layer: cli."""

from __future__ import annotations

import re
import time
from contextlib import suppress
from http.server import SimpleHTTPRequestHandler
from typing import TYPE_CHECKING

import pytest

from tequio_client.platform.bundle import Chunk
from tequio_client.platform.versions import TRUST_VARIABLE
from tequio_client.releases import mirror as mirrors
from tequio_client.releases.mirror import ChunkMirror, MirrorError, Mirrors, read_trust
from tequio_shared.version import BUILD
from tests.support.attack_table import attack
from tests.support.mirrors import Mirror, package, served

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PATIENCE_S, SOON_S = 1, 20.0


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mirror]:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(mirrors, "_PATIENCE_S", PATIENCE_S)
    with served(tmp_path / "mirror") as made:
        made.create(tmp_path / "keys")
        runtime = package(tmp_path / "runtime", "tequio-runtime")
        made.publish(BUILD, ("runtime", "cpu", runtime))
        monkeypatch.setenv(TRUST_VARIABLE, str(made.trust(tmp_path / "trust")))
        yield made


def _write_on(handler: SimpleHTTPRequestHandler, part: bytes, pause_s: float = 0.0) -> bool:
    """Write until nobody listens any more; a test that fails ends this after 25 s."""
    until_s = time.monotonic() + 25
    with suppress(OSError):
        while time.monotonic() < until_s:
            handler.wfile.write(part)
            time.sleep(pause_s)
    handler.close_connection = True
    return True


def head_without_end(handler: SimpleHTTPRequestHandler) -> bool:
    handler.wfile.write(b"HTTP/1.0 200 OK\r\nx-slow: ")
    return _write_on(handler, b"x", 0.05)


def interim_without_end(handler: SimpleHTTPRequestHandler) -> bool:
    return _write_on(handler, b"HTTP/1.1 100 Continue\r\n\r\n")


def redirect_without_end(handler: SimpleHTTPRequestHandler) -> bool:
    handler.wfile.write(b"HTTP/1.0 302 Found\r\nlocation: /elsewhere\r\n\r\n")
    return _write_on(handler, bytes(1_000))


def trailers_without_end(handler: SimpleHTTPRequestHandler) -> bool:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n")
    return _write_on(handler, b"x-more: y\r\n")


def body_without_end(handler: SimpleHTTPRequestHandler) -> bool:
    handler.wfile.write(b"HTTP/1.0 200 OK\r\n\r\n")
    return _write_on(handler, bytes(100_000))


ENDLESS = [
    head_without_end,
    interim_without_end,
    redirect_without_end,
    trailers_without_end,
    body_without_end,
]


@attack("P24", layer="cli", ends="given up within half a minute, and the next mirror is asked")
@pytest.mark.parametrize("disturb", ENDLESS)
def test_a_mirror_whose_answer_never_ends_holds_up_no_update(
    mirror: Mirror, tmp_path: Path, disturb: Callable[[SimpleHTTPRequestHandler], bool]
) -> None:
    mirror.disturb, mirror.disturbed = disturb, "timestamp.json"
    with served(mirror.snapshot()) as honest:
        mirror.trust(tmp_path / "trust", honest.url)
        opened, since_s = Mirrors(read_trust(), tmp_path / "seen"), time.monotonic()
        opened.refresh()
        assert time.monotonic() - since_s < SOON_S
        assert opened.newest_version() == BUILD
    assert any("timestamp.json" in path for path in mirror.asked)


@attack("P24", layer="cli", ends="given up as soon as a chunk is late")
@pytest.mark.parametrize("disturb", ENDLESS)
def test_a_chunk_whose_answer_never_ends_is_given_up(
    mirror: Mirror, disturb: Callable[[SimpleHTTPRequestHandler], bool]
) -> None:
    stored = mirror.chunks()[0]
    chunk = Chunk(digest=stored.stem, size=100, stored=stored.stat().st_size)
    mirror.disturb = disturb
    since_s = time.monotonic()
    with pytest.raises(MirrorError, match=re.escape(mirror.url)):
        ChunkMirror(mirror.url).fetch(chunk, lambda: False)
    assert time.monotonic() - since_s < SOON_S


@attack("P25", layer="cli", ends="no redirect is followed: nothing is connected to")
def test_a_mirror_sends_no_computer_to_its_own_network(mirror: Mirror, tmp_path: Path) -> None:
    with served(tmp_path / "router") as router:

        def send_there(handler: SimpleHTTPRequestHandler) -> bool:
            handler.send_response(302)
            handler.send_header("location", f"{router.url}restart")
            handler.end_headers()
            return True

        mirror.disturb, mirror.disturbed = send_there, "timestamp.json"
        with pytest.raises(MirrorError):
            Mirrors(read_trust(), tmp_path / "seen").refresh()
        assert router.asked == []
    assert any("timestamp.json" in path for path in mirror.asked)
