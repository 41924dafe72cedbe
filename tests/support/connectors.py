"""Connectors for tests: the real program, and volunteers that talk to it over HTTP."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx
import msgspec

from tequio_client.clock import now_ms
from tequio_shared.api import connector
from tequio_shared.ids import NetworkId, from_text, key_from_text, to_text
from tequio_shared.log.tiles import encode_bundle
from tequio_shared.statements.network import RoleGrant
from tequio_shared.statements.statement import Entry, make, sign
from tests.support.account_provider import CLIENT
from tests.support.forked_program import LEDGER, ForkedProgram
from tests.support.ledgers import ORGANISER
from tests.support.timing_slack import allowed_s

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tequio_shared.ids import PeerKey
    from tequio_shared.keys import Signer
    from tests.support.account_provider import AccountProvider
    from tests.support.authors import Author
    from tests.support.ledgers import Served

YEAR_MS = 365 * 86_400_000


@dataclass
class Connector:
    """A running connector, and all lines that it has logged so far."""

    url: str
    key: PeerKey
    net: NetworkId
    process: ForkedProgram
    lines: list[str] = field(default_factory=list)

    def post(self, path: str, what: object) -> httpx.Response:
        """Send JSON."""
        return httpx.post(self.url + path, content=msgspec.json.encode(what), timeout=30)

    def wish(self, key: PeerKey, provider: str) -> bytes:
        """Get a challenge for a key."""
        asked = {"peer": to_text(key), "provider": provider}
        answer = self.post(connector.CHALLENGES, asked)
        assert answer.status_code == 200, answer.text
        return from_text(answer.json()["challenge"], None)

    def begin(
        self,
        signer: Signer,
        provider: str,
        *,
        challenge: bytes | None = None,
        url: str = "",
        peer: PeerKey | None = None,
    ) -> httpx.Response:
        """Ask for a code for a key; correct unless an argument says otherwise."""
        given = challenge or self.wish(signer.key, provider)
        message = connector.signed_message(self.net, url or self.url, provider, given)
        proof = {
            "peer": to_text(peer or signer.key),
            "provider": provider,
            "challenge": to_text(given),
            "signature": to_text(signer.sign(message)),
        }
        return self.post(connector.CONNECTIONS, proof)

    def ask(self, name: str) -> httpx.Response:
        """Ask once for the result of a code."""
        return self.post(connector.ASK, {"id": name})

    def wait(self, name: str) -> httpx.Response:
        """Ask for the result until it is no longer pending."""
        deadline_s = time.monotonic() + allowed_s(20.0)
        while True:
            answer = self.ask(name)
            if answer.status_code != 200 or answer.json()["state"] != "waiting":
                return answer
            assert time.monotonic() < deadline_s, answer.text
            time.sleep(0.2)

    def connect(self, author: Author, provider: AccountProvider) -> httpx.Response:
        """Connect an account; the person agrees."""
        begun = self.begin(author.signer, provider.name)
        assert begun.status_code == 200, begun.text
        return self.wait(begun.json()["id"])

    def stop(self) -> int:
        """Ask the connector to end; returns its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(allowed_s(10.0))


@contextmanager
def connecting_to(
    folder: Path, ledger: Served, *providers: AccountProvider, options: tuple[str, ...] = ()
) -> Iterator[Connector]:
    """Start the real program for these providers: the first as GitHub, the others as OpenID."""
    place = ("--dir", str(folder), "--port", "0", "--ledger", ledger.url)
    known = ["--github", f"{CLIENT}@{providers[0].url}"]
    for one in providers[1:]:
        known += ["--openid", f"{CLIENT}@{one.url}"]
    shown = ("--log-json", "--log-level", "debug")
    process = ForkedProgram(
        LEDGER,
        *("connect", *place, *known, *shown, *options),
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONWARNINGS": "default"},
    )
    lines: list[str] = []
    started = threading.Event()

    def read() -> None:
        assert process.stderr is not None
        for line in process.stderr:
            lines.append(line)
            if '"url"' in line:
                started.set()
        started.set()

    reader = threading.Thread(target=read)
    reader.start()
    try:
        assert started.wait(allowed_s(20.0))
        first = _serving(lines)
        yield Connector(
            url=first["url"],
            key=key_from_text(first["key"]),
            net=NetworkId(from_text(first["network_id"])),
            process=process,
            lines=lines,
        )
    finally:
        process.terminate()
        process.wait(allowed_s(10.0))
        reader.join()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def _serving(lines: list[str]) -> dict[str, Any]:
    for line in lines:
        if line.startswith("{") and '"url"' in line:
            found: dict[str, Any] = json.loads(line)
            return found
    raise AssertionError("".join(lines))


def post(ledger: Served, entry: Entry) -> dict[str, Any]:
    """Post an entry; returns the ledger's result for it."""
    answer = httpx.post(
        f"{ledger.url}/v1/statements", content=encode_bundle([entry.leaf()]), timeout=30
    )
    (item,) = answer.json()["items"]
    found: dict[str, Any] = item
    return found


def name_connector(ledger: Served, key: PeerKey) -> None:
    """Have the organisers allow a key to vouch for others."""
    where = httpx.get(f"{ledger.url}/v1/peers/{to_text(ORGANISER.key)}", timeout=30).json()
    ts = now_ms()
    made = make(
        body=RoleGrant(peer=to_text(key), role="connector", until=ts + YEAR_MS),
        author=ORGANISER.key,
        seq=where["last_seq"] + 1,
        ts=ts,
        exp=ts + 60_000,
        prev=from_text(where["last_hash"]),  # type: ignore[arg-type]  # 32 bytes of a digest
    )
    item = post(ledger, sign(ledger.net, made, ORGANISER))
    assert item["status"] == "logged", item
