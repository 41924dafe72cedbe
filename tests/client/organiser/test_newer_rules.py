"""A run whose rules only a newer version can read: `tequio run show` prints what it knows."""

from __future__ import annotations

import time
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING

import httpx
from click.testing import CliRunner

from tequio_client.__main__ import cli
from tequio_shared import encoding
from tequio_shared.ids import sha256, to_text
from tests.support.http_servers import serving
from tests.support.ledgers import make_settings, served
from tests.support.sample_ledger import fill_back

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.ledgers import Served


def test_a_run_with_unknown_rules_is_shown_with_the_advice_to_update(tmp_path: Path) -> None:
    fill_back(make_settings(tmp_path), time.time_ns() // 1_000_000 - 30_000)
    with served(tmp_path) as ledger:
        name, output = show_through_newer(ledger)
    told = " ".join(output.replace("│", " ").split())
    assert name in told
    assert "cannot read the rules of the run" in told
    assert "zz_newer" in told


def show_through_newer(ledger: Served) -> tuple[str, str]:
    """Show the run with an unknown field in its rules; returns its id and what was printed."""
    (known,) = httpx.get(f"{ledger.url}/v1/runs").json()["runs"]
    rules = httpx.get(f"{ledger.url}/v1/blobs/{known['run']}").json()
    newer = encoding.encode({**rules, "zz_newer": 1})
    name = to_text(sha256(newer))

    class NewerLedger(BaseHTTPRequestHandler):
        """The ledger, with the id and the bytes of the newer rules in place of the run's."""

        def do_GET(self) -> None:
            if self.path.endswith(f"/blobs/{name}"):
                self._answer(200, newer)
                return
            found = httpx.get(ledger.url + self.path.replace(name, known["run"]))
            body = found.content.replace(known["run"].encode(), name.encode())
            self._answer(found.status_code, body)

        def _answer(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with serving(NewerLedger) as url:
        done = CliRunner().invoke(cli, ("run", "show", "nova-350m", "--ledger", url))
    assert done.exit_code == 0, done.exception
    return name, done.output
