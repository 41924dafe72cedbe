"""`tequio key recovery|replace|revoke` on a real ledger, whose answers an audit checks."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import httpx
import pytest
import trio

from tequio_client.clock import now_ms
from tequio_client.keys import identity
from tequio_client.keys.backup import read_backup, to_words
from tequio_client.keys.cli import open_store
from tequio_client.keys.successor import prepare
from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import (
    LedgerRefusedError,
    LedgerUnavailableError,
    UnansweredError,
    UnnamedRefusalError,
)
from tequio_client.worker.ledger.key_changes import replace
from tequio_shared.ids import to_text
from tequio_shared.keys import Signer
from tests.support.authors import Author
from tests.support.equivocators import key_folder
from tests.support.forked_program import CLIENT, run_forked
from tests.support.ledgers import UNLIMITED, Served, served
from tests.support.memory_log import MemoryLog, Reply, problem, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tequio_shared.api.peers import PeerAnswer
    from tequio_shared.ids import PeerKey

PHRASE = "eight or more letters"


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("ledger"), *UNLIMITED) as one:
        yield one


def told(ledger: Served, folder: Path, *words: object, stdin: str = "") -> str:
    """Run `tequio key …`, which must not crash; what it says."""
    place = ("--ledger", ledger.url, "--dir", str(folder), "--stdin")
    done = run_forked(CLIENT, "key", *map(str, words), *place, timeout_s=60, stdin=stdin)
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout + done.stderr


def registered(ledger: Served, name: str, folder: Path) -> Author:
    author = Author(f"{name} of the key commands", ledger.net)

    async def register() -> None:
        async with LedgerApi(ledger.url) as api:
            await api.post_entries([author.register(now_ms())])

    trio.run(register)
    key_folder(folder, author.signer)
    return author


def described(ledger: Served, key: PeerKey) -> PeerAnswer:
    async def ask() -> PeerAnswer:
        async with LedgerApi(ledger.url) as api:
            return await api.peer(key)

    return trio.run(ask)


def own_key(folder: Path) -> PeerKey:
    return identity.load(folder).key


def test_a_replacement_is_dated_by_one_look_at_the_clock(
    ledger: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A millisecond between two looks made it expire too late, and so be refused."""
    former, successor = registered(ledger, "dated", tmp_path / "home"), Signer(bytes(31) + b"d")
    times = itertools.count(now_ms())
    monkeypatch.setattr("tequio_client.worker.ledger.key_changes.now_ms", lambda: next(times))

    async def follow() -> None:
        async with LedgerApi(ledger.url) as api:
            await replace(api, former.key, successor, former.signer)

    trio.run(follow)
    assert described(ledger, former.key).replaced_by == to_text(successor.key)


def test_a_stolen_key_is_stopped_and_followed_from_another_computer(
    ledger: Served, tmp_path: Path
) -> None:
    home, thief, new = tmp_path / "home", tmp_path / "thief", tmp_path / "new"
    stolen = registered(ledger, "stolen", home)
    file = tmp_path / "recovery.tequio-key"
    assert "is bound to" in told(ledger, home, "recovery", file, stdin=f"{PHRASE}\n")
    recovery = Signer(read_backup(file, PHRASE))
    assert described(ledger, stolen.key).recovery == to_text(recovery.key)
    key_folder(thief, stolen.signer)
    wrong = tmp_path / "wrong.tequio-key"
    said = told(ledger, thief, "recovery", wrong, "--recovery", file, stdin="not this one\n")
    assert "passphrase does not open" in said
    # The owner has nothing but the recovery file, on a computer with a key of its own.
    other = registered(ledger, "other", new)
    key = to_text(stolen.key)
    with_file = ("--recovery", file)
    assert f"revoked {key}" in told(ledger, new, "revoke", key, *with_file, stdin=f"{PHRASE}\n")
    assert described(ledger, stolen.key).standing.standing == "revoked"
    said = told(ledger, new, "replace", key, *with_file, stdin=f"{PHRASE}\n")
    assert f"took the place of {key}" in said
    heir = own_key(new)
    assert heir not in {other.key, stolen.key}
    ended, account = described(ledger, stolen.key), described(ledger, heir)
    assert (ended.replaced_by, ended.standing.standing) == (to_text(heir), "replaced")
    assert (account.replaces, account.recovery) == (key, to_text(recovery.key))
    assert ended.standing.since == account.registered_index
    page = httpx.get(f"{ledger.url}/peers/{key}", timeout=30).text
    assert "This key has ended" in page
    assert to_text(heir) in page
    # The thief's program is told plainly, and the owner's goes on with the new key.
    place = ("--ledger", ledger.url, "--dir")
    done = run_forked(CLIENT, "team", "leave", *place, str(thief), timeout_s=60)
    assert f"replaced key {key}" in done.stderr
    done = run_forked(CLIENT, "team", "leave", *place, str(new), timeout_s=60)
    assert "the key is in no team" in done.stderr
    done = run_forked(CLIENT, "audit", "--ledger", ledger.url, timeout_s=120)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_key_without_recovery_key_replaces_and_revokes_itself(
    ledger: Served, tmp_path: Path
) -> None:
    folder = tmp_path / "own"
    one = registered(ledger, "own", folder)
    assert "took the place" in told(ledger, folder, "replace")
    heir = own_key(folder)
    assert described(ledger, heir).replaces == to_text(one.key)
    assert (folder / "identity.key.old").read_bytes() == one.signer.seed
    said = told(ledger, folder, "revoke")
    assert "no recovery key" in said
    assert described(ledger, heir).standing.standing == "revoked"
    assert "revoked key" in told(ledger, folder, "revoke")


def test_a_recovery_key_is_bound_in_words_and_changed_with_the_former_one(
    ledger: Served, tmp_path: Path
) -> None:
    folder = tmp_path / "words"
    one = registered(ledger, "words", folder)
    said = told(ledger, folder, "recovery")
    words = " ".join(line for line in said.splitlines() if line[:3].strip(" 0123456789") == ".")
    assert len([word for word in words.split() if word.isalpha()]) == 24
    first = described(ledger, one.key).recovery
    assert first is not None
    said = told(ledger, folder, "recovery", stdin="\n")
    assert "24 words" in said
    assert described(ledger, one.key).recovery == first
    told(ledger, folder, "recovery", stdin=f"{words}\n")
    assert described(ledger, one.key).recovery not in {None, first}


def test_a_replacement_whose_answer_was_lost_is_not_made_twice(
    ledger: Served, tmp_path: Path
) -> None:
    one = registered(ledger, "lost answer", tmp_path / "folder")
    heir, other = Signer(bytes([9]) * 32), Signer(bytes([10]) * 32)

    async def run() -> None:
        async with LedgerApi(ledger.url) as api:
            for _ in range(2):
                await replace(api, one.key, heir, one.signer)
            with pytest.raises(LedgerRefusedError) as caught:
                await replace(api, one.key, other, one.signer)
            assert caught.value.code == "key-ended"

    trio.run(run)


@pytest.mark.parametrize(
    ("reply", "error", "words"),
    [
        (
            problem("read-only", "the disk of the ledger is full", 503),
            UnansweredError,
            r"gave no clear answer \(.*disk of the ledger is full\), and may still accept",
        ),
        (
            Reply(status=302, headers={"location": "https://portal.example"}),
            UnnamedRefusalError,
            "moved to https://portal.example",
        ),
    ],
)
@pytest.mark.trio
async def test_a_replacement_without_a_clear_answer_tells_what_came_instead(
    reply: Reply, error: type[LedgerUnavailableError], words: str
) -> None:
    former, successor = Signer(bytes([11]) * 32), Signer(bytes([12]) * 32)

    def tamper(method: str, path: str, given: Reply) -> Reply:
        if path == f"/v1/peers/{to_text(successor.key)}":
            return problem("not-found", "a new key", 404)
        return reply if method == "POST" else given

    async with serving(MemoryLog.founded()) as server, LedgerApi(server.url) as api:
        server.tamper = tamper
        with pytest.raises(error, match=words) as caught:
            await replace(api, former.key, successor, former)
        assert caught.type is error


def test_a_waiting_key_that_has_another_account_is_installed_rather_than_lost(
    ledger: Served, tmp_path: Path
) -> None:
    folder = tmp_path / "here"
    lost, own = registered(ledger, "a", tmp_path / "lost"), registered(ledger, "b", folder)
    waiting = prepare(open_store(folder))

    async def accept_and_lose_the_answer() -> None:
        async with LedgerApi(ledger.url) as api:
            await replace(api, lost.key, waiting, lost.signer)

    trio.run(accept_and_lose_the_answer)
    key = to_text(lost.key)
    assert f"run `tequio key replace {key}`" in told(ledger, folder, "replace")
    assert own_key(folder) == own.key
    words = " ".join(to_words(lost.signer.seed))
    assert f"took the place of {key}" in told(ledger, folder, "replace", key, stdin=f"{words}\n")
    assert own_key(folder) == waiting.key


def test_a_waiting_key_that_is_registered_for_itself_is_moved_rather_than_removed(
    ledger: Served, tmp_path: Path
) -> None:
    folder = tmp_path / "here"
    registered(ledger, "present", folder)
    registered(ledger, "restored before", folder / identity.SUCCESSOR)
    assert "move the folder `successor`" in told(ledger, folder, "replace")
