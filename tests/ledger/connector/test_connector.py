"""`tequio-ledger connect`, the real program between a real ledger and a provider of the test's."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import httpx
import pytest

from tequio_client.clock import now_ms
from tequio_ledger.connector.ledger import LEAP
from tequio_shared.api.connector import ABOUT, ASK, CHALLENGES, CONNECTIONS
from tequio_shared.ids import to_text
from tequio_shared.keys import Signer
from tequio_shared.log.tiles import Tile, parse_bundle
from tequio_shared.statements.network import KeyReplace, KeyRevoke, MemberVouch
from tequio_shared.statements.statement import Entry
from tests.ledger.config.test_settings import run
from tests.support.account_provider import (
    DEVICE_CODE,
    NUMBER,
    SUBJECT,
    TOKEN,
    AccountProvider,
    providing,
)
from tests.support.attack_table import attack
from tests.support.authors import Author, registration
from tests.support.connectors import Connector, connecting_to, name_connector, post
from tests.support.ledgers import UNLIMITED, served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.ledgers import Served


OPTIONS = ("--keys-per-account", "2", "--term-days", "30", "--codes-per-hour", "0")
TERM_MS = 30 * 86_400_000


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("ledger"), *UNLIMITED) as running:
        yield running


@pytest.fixture(scope="module")
def accounts() -> Iterator[AccountProvider]:
    with providing() as running:
        yield running


@pytest.fixture(scope="module")
def issuer() -> Iterator[AccountProvider]:
    with providing() as running:
        yield running


@pytest.fixture(scope="module")
def connector(
    tmp_path_factory: pytest.TempPathFactory,
    ledger: Served,
    accounts: AccountProvider,
    issuer: AccountProvider,
) -> Iterator[Connector]:
    folder = tmp_path_factory.mktemp("connector")
    with connecting_to(folder, ledger, accounts, issuer, options=OPTIONS) as running:
        name_connector(ledger, running.key)
        yield running


@pytest.fixture(autouse=True)
def of_somebody_else(accounts: AccountProvider, issuer: AccountProvider) -> None:
    """Every test has an account of its own, at providers that do nothing strange."""
    accounts.number += 1
    issuer.subject += "x"
    for one in (accounts, issuer):
        one.answers.clear()
        one.asked.clear()


def volunteer(ledger: Served, name: str) -> Author:
    author = Author(name, ledger.net)
    assert post(ledger, author.register(now_ms()))["status"] in ("logged", "known")
    return author


def entry(ledger: Served, index: int) -> Entry:
    tile = Tile(level=-1, index=index // 256, width=index % 256 + 1)
    raw = httpx.get(f"{ledger.url}/log/{tile.path()}", timeout=30).content
    return Entry.parse(parse_bundle(raw)[index % 256])


def vouch_in(ledger: Served, answer: httpx.Response) -> MemberVouch:
    assert answer.status_code == 200, answer.text
    body = entry(ledger, answer.json()["index"]).statement.body
    assert isinstance(body, MemberVouch)
    return body


def revoke(ledger: Served, author: Author) -> None:
    revoking = author.sign(KeyRevoke(peer=to_text(author.key)), now_ms())
    assert post(ledger, revoking)["status"] == "logged"


def test_it_says_who_it_is(
    connector: Connector, accounts: AccountProvider, issuer: AccountProvider
) -> None:
    told = httpx.get(connector.url + ABOUT, timeout=30).json()
    assert told == {
        "network": to_text(connector.net),
        "key": to_text(connector.key),
        "url": connector.url,
        "providers": [accounts.name, issuer.name],
        "keys_per_account": 2,
        "term_days": 30,
    }
    assert httpx.get(f"{connector.url}/healthz", timeout=30).json() == {"status": "ok"}


@pytest.mark.parametrize("which", ["accounts", "issuer"])
def test_an_account_vouches_for_a_key_in_the_log(
    connector: Connector, ledger: Served, request: pytest.FixtureRequest, which: str
) -> None:
    provider: AccountProvider = request.getfixturevalue(which)
    provider.answers.append("authorization_pending")
    author = volunteer(ledger, f"honest {which}")
    begun = now_ms()
    answer = connector.connect(author, provider)
    body = vouch_in(ledger, answer)
    assert body.peer == to_text(author.key)
    assert begun + TERM_MS <= body.until == answer.json()["until"] <= now_ms() + TERM_MS
    logged = entry(ledger, answer.json()["index"]).statement
    assert logged.author == connector.key
    again = vouch_in(ledger, connector.connect(author, provider))
    assert again.owner == body.owner
    assert again.until > body.until


def test_one_account_has_one_owner_and_others_have_others(
    connector: Connector, ledger: Served, accounts: AccountProvider
) -> None:
    one, two = volunteer(ledger, "first key"), volunteer(ledger, "second key")
    owners = [vouch_in(ledger, connector.connect(each, accounts)).owner for each in (one, two)]
    assert owners[0] == owners[1]
    accounts.number += 1_000
    assert vouch_in(ledger, connector.connect(two, accounts)).owner != owners[0]


def test_an_account_vouches_for_so_many_keys_and_no_more(
    connector: Connector, ledger: Served, accounts: AccountProvider
) -> None:
    keys = [volunteer(ledger, f"of many {at}") for at in range(3)]
    for each in keys[:2]:
        vouch_in(ledger, connector.connect(each, accounts))
    refused = connector.connect(keys[2], accounts)
    assert (refused.status_code, refused.json()["title"]) == (409, "owner full")
    assert "already vouches for 2 keys" in refused.json()["detail"]
    assert "ends in 30 days" in refused.json()["detail"]
    vouch_in(ledger, connector.connect(keys[0], accounts))  # one of the two may again
    kept = accounts.number
    accounts.number += 2_000
    vouch_in(ledger, connector.connect(keys[1], accounts))  # goes over to another account
    accounts.number = kept
    vouch_in(ledger, connector.connect(keys[2], accounts))


def test_keys_that_have_ended_do_not_count_but_their_successors_do(
    connector: Connector, ledger: Served, accounts: AccountProvider
) -> None:
    former, lost, further = (volunteer(ledger, f"ending {at}") for at in range(3))
    assert post(ledger, lost.bind_recovery(0, now_ms()))["status"] == "logged"
    ended = volunteer(ledger, "ended for good")
    for each in (former, ended):
        vouch_in(ledger, connector.connect(each, accounts))
    heir = Author("heir", ledger.net)
    nonce = registration(ledger.net, heir.key).nonce
    replacing = KeyReplace(former=to_text(former.key), nonce=nonce)
    assert post(ledger, heir.sign(replacing, now_ms(), former.signer))["status"] == "logged"
    assert connector.connect(further, accounts).json()["title"] == "owner full"
    vouch_in(ledger, connector.connect(heir, accounts))
    assert connector.connect(lost, accounts).json()["title"] == "owner full"
    revoke(ledger, ended)
    vouch_in(ledger, connector.connect(lost, accounts))
    revoke(ledger, lost)
    refused = connector.connect(further, accounts).json()
    assert refused["title"] == "owner full", "the recovery key may still replace it"
    assert "already vouches for 2 keys" in refused["detail"]


@pytest.mark.parametrize(
    ("answer", "status", "code"),
    [
        ("access_denied", 409, "denied"),
        ("expired_token", 409, "code-expired"),
        ("invalid_client", 409, "provider-wrong"),
        ("garbage", 409, "provider-wrong"),
        ("other-key", 409, "provider-wrong"),
    ],
)
def test_every_refusal_is_one_sentence_and_the_end(
    connector: Connector,
    ledger: Served,
    issuer: AccountProvider,
    answer: str,
    status: int,
    code: str,
) -> None:
    issuer.answers.append(answer)
    name = connector.begin(volunteer(ledger, f"refused {answer}").signer, issuer.name).json()["id"]
    refused = connector.wait(name)
    assert (refused.status_code, refused.json()["type"]) == (status, f"urn:tequio:problem:{code}")
    assert len(refused.json()["detail"]) > 20
    assert connector.ask(name).status_code == 404


def test_a_provider_that_is_away_delays_and_is_named(
    connector: Connector, ledger: Served, accounts: AccountProvider
) -> None:
    author = volunteer(ledger, "patient")
    accounts.answers.append("away")
    name = connector.begin(author.signer, accounts.name).json()["id"]
    while not (told := connector.ask(name).json())["problem"]:
        assert told["state"] == "waiting"
    assert told["problem"] == f"{accounts.name} does not answer now"
    assert told["interval_s"] == 2, "twice as long as before"
    vouch_in(ledger, connector.wait(name))
    accounts.status = 503
    away = connector.begin(author.signer, accounts.name)
    accounts.status = 0
    assert (away.status_code, away.json()["title"]) == (503, "provider away")


def test_the_provider_is_asked_no_more_often_than_it_wants(
    connector: Connector, ledger: Served, accounts: AccountProvider
) -> None:
    accounts.answers.append("slow_down")
    name = connector.begin(volunteer(ledger, "hasty").signer, accounts.name).json()["id"]
    for _ in range(10):
        told = connector.ask(name).json()
        assert told["state"] == "waiting"
        assert told["interval_s"] == 6, "RFC 8628: five seconds more"
    assert accounts.times("/login/oauth/access_token") == 1


# --- whose key it is


@attack("A26", layer="env", ends="refused as `bad-signature`; the provider is not asked")
def test_nobody_has_the_key_of_somebody_else_vouched_for(
    connector: Connector, ledger: Served, accounts: AccountProvider
) -> None:
    victim, thief = volunteer(ledger, "victim"), volunteer(ledger, "thief")
    challenge = connector.wish(victim.key, accounts.name)
    for refused in (
        connector.begin(thief.signer, accounts.name, challenge=challenge, peer=victim.key),
        connector.begin(victim.signer, accounts.name, url="http://other.example"),
    ):
        assert (refused.status_code, refused.json()["title"]) == (400, "bad signature")
    assert not accounts.asked, "nobody outside was troubled"


@attack("A26", layer="env", ends="refused as `expired`")
def test_a_challenge_is_good_once_for_one_key_and_one_provider(
    connector: Connector, ledger: Served, accounts: AccountProvider, issuer: AccountProvider
) -> None:
    one, other = volunteer(ledger, "one"), volunteer(ledger, "other")
    challenge = connector.wish(one.key, accounts.name)
    for refused in (
        connector.begin(other.signer, accounts.name, challenge=challenge),
        connector.begin(one.signer, issuer.name, challenge=challenge),
        connector.begin(one.signer, accounts.name, challenge=bytes(len(challenge))),
        connector.begin(one.signer, accounts.name, challenge=b"short"),
    ):
        assert (refused.status_code, refused.json()["title"]) == (422, "expired")
    assert connector.begin(one.signer, accounts.name, challenge=challenge).status_code == 200
    replayed = connector.begin(one.signer, accounts.name, challenge=challenge)
    assert (replayed.status_code, replayed.json()["title"]) == (422, "expired")


def test_a_key_that_is_not_in_the_log_troubles_no_provider(
    connector: Connector, accounts: AccountProvider
) -> None:
    refused = connector.begin(Signer(bytes([77]) * 32), accounts.name)
    assert (refused.status_code, refused.json()["title"]) == (403, "not admitted")
    assert "start your worker once" in refused.json()["detail"]
    assert not accounts.asked


def test_a_new_code_of_a_key_ends_the_one_before(
    connector: Connector, ledger: Served, accounts: AccountProvider
) -> None:
    author = volunteer(ledger, "twice")
    accounts.answers.extend(["authorization_pending"] * 5)
    first, second = (connector.begin(author.signer, accounts.name).json()["id"] for _ in range(2))
    assert connector.ask(first).status_code == 404
    assert connector.ask(second).status_code == 200


def test_one_sender_gets_so_many_codes_and_no_more(tmp_path: Path, ledger: Served) -> None:
    hourly = ("--codes-per-hour", "18")
    with (
        providing() as accounts,
        connecting_to(tmp_path, ledger, accounts, options=hourly) as running,
    ):
        senders = [volunteer(ledger, f"greedy {at}") for at in range(4)]
        answers = [running.begin(each.signer, accounts.name) for each in senders]
        assert [one.status_code for one in answers] == [200, 200, 200, 429]
        assert "try again later" in answers[-1].json()["detail"]
        assert accounts.times("/login/device/code") == 3


@pytest.mark.parametrize("path", [CHALLENGES, CONNECTIONS, ASK])
@pytest.mark.parametrize(
    "body",
    [b"", b"{}", b"[]", b"\xff", b"{" * 2_000, b'{"id":5}', b'{"peer":"x","provider":"y"}'],
    ids=repr,
)
def test_garbage_is_refused(connector: Connector, path: str, body: bytes) -> None:
    answer = httpx.post(connector.url + path, content=body, timeout=30)
    assert (answer.status_code, answer.json()["title"]) == (400, "malformed")
    large = httpx.post(connector.url + path, content=b"a" * 5_000, timeout=30)
    assert large.status_code == 413


def test_a_provider_that_is_not_known_here_is_told(connector: Connector, ledger: Served) -> None:
    key = to_text(volunteer(ledger, "elsewhere").key)
    asked = {"peer": key, "provider": "elsewhere.example"}
    answer = connector.post(CHALLENGES, asked)
    assert answer.status_code == 404
    assert "unknown provider elsewhere.example" in answer.json()["detail"]


# --- what it keeps, and what it never tells


@attack("A27", layer="adm", ends="nothing but the owner's keyed hash is written")
def test_nothing_of_an_account_is_in_the_log_of_the_process_or_on_its_disk(
    tmp_path: Path, ledger: Served
) -> None:
    secrets = [TOKEN, DEVICE_CODE, SUBJECT, str(NUMBER)]
    with providing() as accounts, providing() as issuer:
        issuer.answers.extend(["other-key", "garbage", "granted"])
        with connecting_to(tmp_path, ledger, accounts, issuer) as running:
            unnamed = running.connect(volunteer(ledger, "unnamed"), accounts)
            name_connector(ledger, running.key)
            for at, each in enumerate((accounts, issuer, issuer, issuer)):
                running.connect(volunteer(ledger, f"quiet {at}"), each)
            assert running.stop() == 0
            stdout = running.process.stdout
            assert stdout is not None
            said = "".join(running.lines) + stdout.read()
    assert unnamed.status_code == 403
    assert "have not admitted this connector" in unnamed.json()["detail"]
    assert said.count('"event": "vouched"') == 2
    assert '"event": "stopped"' in said
    identities = [issuer.identity().split(".")[0]]
    for path in sorted(tmp_path.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
        raw = path.read_bytes().decode()
        if path.suffix == ".key":
            secrets.append(raw.strip())
        else:
            said += raw
    assert len(secrets) == 6
    assert [one for one in secrets + identities if one in said] == []


def test_killed_and_started_anew_it_counts_on(tmp_path: Path, ledger: Served) -> None:
    with providing() as accounts:
        keys = [volunteer(ledger, f"counted {at}") for at in range(3)]
        with connecting_to(tmp_path, ledger, accounts, options=OPTIONS) as running:
            name_connector(ledger, running.key)
            before = [vouch_in(ledger, running.connect(each, accounts)) for each in keys[:2]]
            waiting = running.begin(keys[2].signer, accounts.name).json()["id"]
            running.process.kill()
        with (tmp_path / "said.jsonl").open("ab") as file:
            file.write(b'{"seq":9,"peer":"half a li')  # a power cut
        with connecting_to(tmp_path, ledger, accounts, options=OPTIONS) as running:
            assert running.ask(waiting).status_code == 404
            refused = running.connect(keys[2], accounts)
            assert refused.json()["title"] == "owner full"
            again = vouch_in(ledger, running.connect(keys[0], accounts))
    assert again.owner == before[0].owner == before[1].owner


def test_an_old_copy_of_its_folder_uses_no_number_twice(tmp_path: Path, ledger: Served) -> None:
    one, two = volunteer(ledger, "before the copy"), volunteer(ledger, "after the copy")
    book = tmp_path / "said.jsonl"
    with providing() as accounts:
        with connecting_to(tmp_path, ledger, accounts) as running:
            name_connector(ledger, running.key)
            vouch_in(ledger, running.connect(one, accounts))
            copy = book.read_bytes()
            last = entry(ledger, running.connect(two, accounts).json()["index"]).statement
        book.write_bytes(copy)
        with connecting_to(tmp_path, ledger, accounts) as running:
            index = running.connect(two, accounts).json()["index"]
    made = entry(ledger, index).statement
    assert made.prev == last.digest
    assert made.seq > last.seq + LEAP


def test_a_ledger_that_goes_away_delays_a_vouch_and_nothing_is_said_twice(
    tmp_path: Path,
) -> None:
    place = tmp_path / "ledger"
    with (
        providing() as accounts,
        served(place, *UNLIMITED) as first,
        connecting_to(tmp_path / "connector", first, accounts) as running,
    ):
        name_connector(first, running.key)
        author = volunteer(first, "delayed")
        name = running.begin(author.signer, accounts.name).json()["id"]
        first.kill()
        while not (told := running.ask(name).json())["problem"]:
            assert told["state"] == "waiting"
        assert told["problem"] == "the ledger does not answer now"
        with served(place, *UNLIMITED, "--port", first.url.rpartition(":")[2]) as second:
            body = vouch_in(second, running.wait(name))
            assert body.peer == to_text(author.key)
            said = httpx.get(f"{second.url}/v1/peers/{to_text(running.key)}", timeout=30)
            assert said.json()["last_seq"] == 2, "its registration, and one vouch"


def test_settings_are_told_all_at_once(tmp_path: Path) -> None:
    options = ("--port", "x", "--github", "", "--term-days", "0", "--url", "ftp://x")
    done = run("connect", "--dir", str(tmp_path), *options, TEQUIO_CONNECTOR_TERMDAYS="1")
    assert done.returncode == 1
    faults = done.stderr.removeprefix("tequio-ledger: ").strip().split("; ")
    assert [fault.split(" ")[0] for fault in faults] == [
        "TEQUIO_CONNECTOR_TERMDAYS", "--port", "--url", "--term-days", "--github",
    ]  # fmt: skip


def test_a_provider_that_hangs_does_not_hold_up_the_end(tmp_path: Path, ledger: Served) -> None:
    with providing() as accounts:
        accounts.answers.append("hanging")
        with connecting_to(tmp_path, ledger, accounts) as running:
            name = running.begin(volunteer(ledger, "hung").signer, accounts.name).json()["id"]
            with ThreadPoolExecutor(1) as pool:
                asking = pool.submit(running.ask, name)
                while not accounts.times("/login/oauth/access_token"):
                    assert not asking.done()
                assert running.stop() == 0
                assert asking.exception() is not None or asking.result().status_code != 200
        assert '"event": "stopped"' in "".join(running.lines)


def test_two_providers_of_one_name_are_refused(tmp_path: Path) -> None:
    place = "http://127.0.0.1:1"
    known = ("--github", f"a@{place}", "--openid", f"a@{place}")
    done = run("connect", "--dir", str(tmp_path), "--port", "0", *known)
    assert done.returncode == 1
    assert "two providers have the name 127.0.0.1:1" in done.stderr


def test_without_a_ledger_it_says_so(tmp_path: Path) -> None:
    options = ("--port", "0", "--github", "id", "--ledger", "http://127.0.0.1:1")
    done = run("connect", "--dir", str(tmp_path), *options)
    assert done.returncode == 1
    assert "the ledger at http://127.0.0.1:1 does not answer" in done.stderr
