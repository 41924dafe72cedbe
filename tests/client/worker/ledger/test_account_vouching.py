"""`tequio connect`, the real program, at real connectors and at one that lies."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any

import httpx
import pytest
import trio

from tequio_client.clock import now_ms
from tequio_client.ipc.account import (
    AccountReply,
    AskConnection,
    ConnectionReply,
    RequestConnection,
)
from tequio_client.keys import identity
from tequio_client.keys.state import KeyProtection
from tequio_client.ledger.api import ConnectorApi, ConnectorUnavailableError, LedgerApi
from tequio_client.ledger.http import ApiLimits
from tequio_client.worker.ledger import connection, key_changes
from tequio_client.worker.ledger.account import connect_account
from tequio_shared.api.connector import ABOUT, ASK, CHALLENGES, CONNECTIONS
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import NetworkId, from_text, to_text
from tequio_shared.keys import Signer, verify
from tequio_shared.statements.network import MemberVouch
from tests.support.account_provider import USER_CODE, AccountProvider, providing
from tests.support.attack_table import attack
from tests.support.authors import Author
from tests.support.connectors import Connector, connecting_to, name_connector, post
from tests.support.forked_program import CLIENT, run_forked
from tests.support.http_servers import serving
from tests.support.ledgers import UNLIMITED, served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.ledgers import Served


CODE = {
    "id": to_text(bytes(32)),
    "user_code": "AAAA-BBBB",
    "url": "https://github.example/device",
    "expires_s": 2,
    "interval_s": 1,
}


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("ledger"), *UNLIMITED) as running:
        yield running


@pytest.fixture(scope="module")
def accounts() -> Iterator[AccountProvider]:
    with providing() as running:
        yield running


@pytest.fixture(scope="module")
def connector(
    tmp_path_factory: pytest.TempPathFactory, ledger: Served, accounts: AccountProvider
) -> Iterator[Connector]:
    folder = tmp_path_factory.mktemp("connector")
    with (
        providing() as issuer,
        connecting_to(folder, ledger, accounts, issuer, options=("--keys-per-account", "1")) as one,
    ):
        name_connector(ledger, one.key)
        yield one


def volunteer(ledger: Served, folder: Path, name: str) -> Author:
    """A volunteer with its key in `folder`, registered at the ledger."""
    author = Author(name, ledger.net)
    identity.write(folder, author.signer.seed, KeyProtection.OPEN)
    assert post(ledger, author.register(now_ms()))["status"] == "logged"
    return author


def tequio(
    folder: Path, ledger: Served, connector: str, *options: str, **environ: str
) -> subprocess.CompletedProcess[str]:
    place = ("--dir", str(folder), "--ledger", ledger.url, "--connector", connector)
    return run_forked(
        CLIENT, "connect", *place, *options, timeout_s=120, env={**os.environ, **environ}
    )


def test_a_volunteer_is_told_what_to_do_and_what_the_key_is_then(
    tmp_path: Path, ledger: Served, connector: Connector, accounts: AccountProvider
) -> None:
    author = volunteer(ledger, tmp_path / "worker", "Ana")
    visited = tmp_path / "visited"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" >> {visited}\n')
    browser.chmod(0o755)
    accounts.answers.append("authorization_pending")
    options = ("--provider", accounts.name.upper(), "--open")
    done = tequio(tmp_path / "worker", ledger, connector.url, *options, BROWSER=f"{browser} %s")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[:2] == [f"open   {accounts.url}/login/device", f"enter  {USER_CODE}"]
    assert "within 15 minutes" in lines[2]
    assert lines[-1].startswith("your key has tier 1 (linked to an account); log entry ")
    assert visited.read_text() == f"{accounts.url}/login/device\n"
    known = httpx.get(f"{ledger.url}/v1/peers/{to_text(author.key)}", timeout=30).json()
    assert known["tier"]["tier"] == 1

    other = tmp_path / "other"
    volunteer(ledger, other, "Ana's second key")
    full = tequio(other, ledger, connector.url, "--provider", accounts.name)
    assert full.returncode == 1
    assert full.stderr.startswith(
        "tequio: the connector refused: this account already vouches for 1 keys"
    )


def test_a_running_worker_links_an_account_for_its_app(
    tmp_path: Path, ledger: Served, accounts: AccountProvider
) -> None:
    author = volunteer(ledger, tmp_path / "worker", "Bruno")
    options = ("--keys-per-account", "2")

    async def link(url: str) -> list[ConnectionReply]:
        async with LedgerApi(ledger.url) as api:
            question = RequestConnection(connector=url, provider=accounts.name)
            replies = [await connection.answer(api, author.signer, question)]
            asked = AskConnection(connector=url, code=replies[0].code)
            while not replies[-1].outcome:
                await trio.sleep(max(replies[-1].interval_s, 1))
                replies.append(await connection.answer(api, author.signer, asked))
            return replies

    with (
        providing() as issuer,
        connecting_to(tmp_path / "connector", ledger, accounts, issuer, options=options) as one,
    ):
        name_connector(ledger, one.key)
        accounts.answers.append("authorization_pending")
        code, *waiting, last = trio.run(link, one.url)
    assert (code.user_code, code.url) == (USER_CODE, f"{accounts.url}/login/device")
    assert code.expires_s > code.interval_s > 0
    assert [one.code for one in waiting] == [code.code] * len(waiting)
    assert last.outcome.startswith("your key has tier 1 (linked to an account); log entry ")


def test_a_key_is_linked_until_its_vouch_ends_and_keeps_the_right_to_a_name(
    ledger: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    linker, author = Author("a connector", ledger.net), Author("Carla", ledger.net)
    for one in (linker, author):
        post(ledger, one.register(now_ms()))
    name_connector(ledger, linker.key)
    until = now_ms() + 86_400_000
    vouch = MemberVouch(peer=to_text(author.key), owner=to_text(bytes(32)), until=until)
    assert post(ledger, linker.sign(vouch, now_ms()))["status"] == "logged"

    async def describe(at_ms: int) -> AccountReply:
        monkeypatch.setattr(key_changes, "now_ms", lambda: at_ms)
        async with LedgerApi(ledger.url) as api:
            return await key_changes.describe(api, author.signer)

    replies = [trio.run(describe, at_ms) for at_ms in (until - 1, until)]
    assert [(one.tier, one.can_be_named) for one in replies] == [(1, True), (0, True)]


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (
            "access_denied",
            "the connector refused: the person refused the request at the provider\n",
        ),
        ("expired_token", "the connector refused: the code was not used in time\n"),
    ],
)
def test_a_refusal_is_one_sentence(
    tmp_path: Path,
    ledger: Served,
    connector: Connector,
    accounts: AccountProvider,
    answer: str,
    sentence: str,
) -> None:
    volunteer(ledger, tmp_path, f"refused {answer}")
    accounts.answers.append(answer)
    done = tequio(tmp_path, ledger, connector.url, "--provider", accounts.name)
    assert (done.returncode, done.stderr) == (1, f"tequio: {sentence}")


def test_what_is_missing_is_asked_for(
    tmp_path: Path, ledger: Served, connector: Connector, accounts: AccountProvider
) -> None:
    said = tequio(tmp_path, ledger, connector.url).stderr
    assert "no key found in" in said
    identity.write(tmp_path, bytes([91]) * 32, KeyProtection.OPEN)
    said = tequio(tmp_path, ledger, connector.url).stderr
    assert "choose an account provider:" in said
    assert accounts.name in said
    said = tequio(tmp_path, ledger, connector.url, "--provider", accounts.name).stderr
    assert "this key is not in the log yet: start your worker once" in said
    port = connector.url.rpartition(":")[2]
    said = tequio(tmp_path, ledger, f"http://localhost:{port}").stderr
    assert f"reports its address as {connector.url}" in said
    said = tequio(tmp_path, ledger, "http://127.0.0.1:1").stderr
    assert "the connector at http://127.0.0.1:1 is unavailable" in said
    said = tequio(tmp_path, ledger, ledger.url).stderr
    assert said.startswith("tequio: the connector refused")


# --- connectors that lie


@dataclass
class LyingConnector:
    """A connector with an answer for each path; a callable builds its answer from the request."""

    url: str = ""
    answers: dict[str, Any] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)


@contextmanager
def lying(net: NetworkId, **about: object) -> Iterator[LyingConnector]:
    """Serve a connector whose answers the test sets."""
    liar = LyingConnector()

    class LyingConnectorHandler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer({})

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["content-length"]))
            self._answer(json.loads(raw))

        def _answer(self, said: dict[str, Any]) -> None:
            liar.asked.append((self.path, said))
            told = liar.answers[self.path]
            if told is None:
                liar.released.wait(60)
            raw = told if isinstance(told, bytes) else json.dumps(told).encode()
            try:
                self.send_response(200)
                self.send_header("content-length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)
            except OSError:
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    with serving(LyingConnectorHandler) as liar.url:
        liar.answers = {
            ABOUT: {
                "network": to_text(net),
                "key": to_text(bytes(32)),
                "url": liar.url,
                "providers": ["github.example"],
                "keys_per_account": 3,
                "term_days": 90,
            }
            | about,
            CHALLENGES: {"challenge": to_text(b"sign this")},
            CONNECTIONS: CODE,
            ASK: {"state": "vouched", "index": 0, "until": 1},
        }
        try:
            yield liar
        finally:
            liar.released.set()


@pytest.mark.parametrize(
    ("path", "lie", "sentence"),
    [
        (ABOUT, {"network": to_text(bytes(32))}, "serves a different network"),
        (
            ABOUT,
            {"url": "https://another.example"},
            "reports its address as https://another",
        ),
        (CONNECTIONS, {"url": "http://github.example/device"}, "not encrypted"),
        (CONNECTIONS, {"url": "javascript:alert(1)"}, "not a trustworthy connector"),
        (CONNECTIONS, {"user_code": "A\x1b[2JB"}, "not a trustworthy connector"),
        (CONNECTIONS, {"interval_s": 0}, "not a trustworthy connector"),
        (ASK, {"index": 0}, "but that entry is about something else: do not trust"),
        (ASK, {"state": "waiting", "interval_s": 1}, "the code was not used in time"),
        (ASK, {"state": "waiting", "problem": "\x1b]0;x"}, "not a trustworthy connector"),
    ],
    ids=str,
)
def test_a_lie_is_found_and_never_shown_as_it_came(
    ledger: Served, path: str, lie: dict[str, object], sentence: str
) -> None:
    told: list[str] = []
    with lying(ledger.net) as liar:
        liar.answers[path] = {**liar.answers[path], **lie}
        with pytest.RaisesGroup(
            pytest.RaisesExc(UserFacingError, match=sentence),
            allow_unwrapped=True,
            flatten_subgroups=True,
        ) as caught:
            connect_account(
                ledger.url,
                Signer(bytes([92]) * 32),
                connector=liar.url,
                provider="",
                show=told.append,
                visit=told.append,
            )
    assert "\x1b" not in "".join(told) + str(caught.value)
    assert path == ASK or not told, "nothing is shown of it"


@attack("A26", layer="cli", ends="the proof names the dialled address: no other one accepts it")
def test_a_proof_is_for_one_address_network_and_provider() -> None:
    signer, net = Signer(bytes([93]) * 32), NetworkId(bytes([5]) * 32)

    async def asking() -> None:
        async with ConnectorApi(liar.url) as api:
            await api.begin(signer, net, "github.example")

    with lying(net) as liar:
        trio.run(asking)
    (_, said) = next(one for one in liar.asked if one[0] == CONNECTIONS)
    url = liar.url.encode()
    message = (
        b"tequio/v1/connect\0" + net + len(url).to_bytes(2, "big") + url
        + b"\0\x0egithub.example" + b"sign this"
    )  # fmt: skip
    verify(signer.key, from_text(said["signature"], None), message)


@pytest.mark.parametrize(
    ("answer", "error"),
    [(b" " * 20_000, MalformedError), (b"{", MalformedError), (None, ConnectorUnavailableError)],
)
def test_an_endless_or_hanging_connector_is_given_up(
    answer: object, error: type[Exception]
) -> None:
    async def asking() -> None:
        limits = ApiLimits(call_s=0.3, answer_bytes=16_384, connections=1)
        async with ConnectorApi(liar.url, limits) as api:
            await api.about()

    with lying(NetworkId(bytes(32))) as liar:
        liar.answers[ABOUT] = answer
        with pytest.raises(error):
            trio.run(asking)
