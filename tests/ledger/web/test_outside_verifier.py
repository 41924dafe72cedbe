"""A verifier that nobody here wrote reads a log of ten thousand entries, and refuses false ones.

golang.org/x/mod/sumdb is the code behind Go's checksum database.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from tequio_shared.limits import SNAPSHOT_ENTRIES
from tequio_shared.log.notes import KeyKind, VerifierKey
from tests.support.authors import Author
from tests.support.cosigned_ledger import register_keys
from tests.support.http_servers import serving
from tests.support.ledgers import UNLIMITED, Served, served

if TYPE_CHECKING:
    from collections.abc import Iterator

GO_PACKAGES = Path("/usr/share/gocode/src/golang.org/x/mod/sumdb/tlog")
SOURCE = Path(__file__).parents[2] / "support" / "go" / "tlogverify"
SIZE = 10_000
SNAPSHOTS = SIZE // SNAPSHOT_ENTRIES
"""Entries that the ledger adds by itself."""
PATIENCE_S = 120.0
BATCH = 250
ALL_HOLDS, FALSE, UNREADABLE = 0, 2, 3

pytestmark = pytest.mark.skipif(
    not (shutil.which("go") and GO_PACKAGES.exists()),
    reason="needs Go and its x/mod: installer/setup.sh tools",
)


@pytest.fixture(scope="module")
def verifier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build it from what the system has; nothing is downloaded."""
    binary = tmp_path_factory.mktemp("go") / "tlogverify"
    settings = {"GO111MODULE": "off", "GOPATH": "/usr/share/gocode"}
    cache = {"GOCACHE": str(binary.parent / "cache")}
    subprocess.run(
        ["go", "build", "-o", str(binary), "main.go"],  # noqa: S607  # whichever Go there is
        cwd=SOURCE,
        env={**os.environ, **settings, **cache},
        check=True,
    )
    return binary


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fill a ledger's folder over HTTP."""
    folder = tmp_path_factory.mktemp("long") / "ledger"
    with served(folder, *UNLIMITED) as program:
        for first in range(1, SIZE - SNAPSHOTS, BATCH):
            register_keys(program, f"from {first}", min(BATCH, SIZE - SNAPSHOTS - first))
        until = time.monotonic() + PATIENCE_S
        while int(checkpoint_note(program).split(b"\n")[1]) < SIZE:  # it makes them meanwhile
            assert time.monotonic() < until
            time.sleep(0.1)
    return folder


@pytest.fixture(scope="module")
def program(stored: Path) -> Iterator[Served]:
    """Serve it."""
    with served(stored, *UNLIMITED) as running:
        yield running


def run(
    verifier: Path, url: str, key: str, older: Path | None = None
) -> subprocess.CompletedProcess[str]:
    command: list[str | Path] = [verifier, f"{url}/log", key, *([older] if older else [])]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)


def log_key(program: Served) -> str:
    return str(httpx.get(f"{program.url}/v1/network", timeout=30).json()["log_key"])


def checkpoint_note(program: Served) -> bytes:
    return httpx.get(f"{program.url}/log/checkpoint", timeout=30).content


def test_it_accepts_every_entry_and_all_proofs(verifier: Path, program: Served) -> None:
    done = run(verifier, program.url, log_key(program))
    assert done.returncode == ALL_HOLDS, done.stderr
    assert done.stdout == f"ok {SIZE} entries 200 inclusions 50 consistencies\n"


def test_it_refuses_another_key(verifier: Path, program: Served) -> None:
    author = Author("another log", program.net)
    key = VerifierKey(name="ledger.example/test", kind=KeyKind.LOG, key=author.key)
    assert run(verifier, program.url, key.text()).returncode == FALSE


def test_it_refuses_a_log_that_forked(
    verifier: Path, stored: Path, program: Served, tmp_path: Path
) -> None:
    """Both logs are signed by the one key, and each is whole in itself."""
    common, shown = tmp_path / "common", tmp_path / "shown"
    common.write_bytes(checkpoint_note(program))
    for name in ("one", "other"):
        shutil.copytree(stored, tmp_path / name)
    with served(tmp_path / "one", *UNLIMITED) as one:
        register_keys(one, "one history", 7)
        shown.write_bytes(checkpoint_note(one))
        assert run(verifier, one.url, log_key(one), common).returncode == ALL_HOLDS
    with served(tmp_path / "other", *UNLIMITED) as other:
        for name, count in (("smaller", 3), ("as large", 4), ("larger", 250)):
            register_keys(other, name, count)
            done = run(verifier, other.url, log_key(other), shown)
            assert done.returncode == FALSE, name
            assert done.stderr.startswith("consistency: "), done.stderr
        assert run(verifier, other.url, log_key(other), common).returncode == ALL_HOLDS


@pytest.mark.parametrize(
    "path",
    [
        "/log/tile/0/017",
        "/log/tile/1/000.p/39",
        "/log/tile/entries/038",
        "/log/tile/entries/039.p/16",
        "/log/checkpoint",
    ],
)
def test_it_refuses_a_log_with_one_flipped_bit(verifier: Path, program: Served, path: str) -> None:
    with flipping(program.url, path) as (url, touched):
        done = run(verifier, url, log_key(program))
    assert touched, "the verifier reads it"
    assert done.returncode == FALSE, done.stderr


def test_it_cannot_read_what_is_no_log(verifier: Path, program: Served) -> None:
    assert run(verifier, f"{program.url}/v1", log_key(program)).returncode == UNREADABLE


@contextmanager
def flipping(url: str, wanted: str) -> Iterator[tuple[str, list[str]]]:
    """Pass a ledger's answers on, one of them with its last bit flipped; tells when it was."""
    touched: list[str] = []

    class VerifierProxy(BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # the library's name
            answer = http.get(self.path)
            content = answer.content
            if self.path == wanted:
                touched.append(self.path)
                content = _flipped(content)
            self.send_response(answer.status_code)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's
            pass

    with httpx.Client(base_url=url, timeout=30) as http, serving(VerifierProxy) as between:
        yield between, touched


def _flipped(content: bytes) -> bytes:
    """Change one bit near the end: of a hash, of an entry, of a signature's base64."""
    at = len(content) - 8
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]
