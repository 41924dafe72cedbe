"""A ledger shows what enough witnesses cosigned, and takes statements whether they do or not."""

from __future__ import annotations

import shutil
import signal
import sqlite3
import time
from contextlib import closing
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING

import httpx
import pytest

from tequio_ledger.log.publisher import read_policy
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import to_text
from tequio_shared.keys import Signer
from tequio_shared.log import merkle
from tequio_shared.log.cosigning import AddCheckpoint
from tequio_shared.log.notes import (
    Checkpoint,
    KeyKind,
    VerifierKey,
    cosignature_line,
    note_text,
    open_checkpoint,
)
from tequio_shared.log.policy import Policy, TlogProof
from tests.support.cosigned_ledger import (
    WitnessGroup,
    cosigned,
    published_checkpoint,
    register_keys,
    wait_until_published,
)
from tests.support.http_servers import serving
from tests.support.ledgers import start

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.ledgers import Served


@pytest.fixture
def ring(tmp_path: Path) -> Iterator[WitnessGroup]:
    with WitnessGroup(tmp_path, 3) as started:
        yield started


def status(ledger: Served) -> dict[str, object]:
    answer: dict[str, object] = httpx.get(f"{ledger.url}/v1/witnesses", timeout=30).json()
    return answer


def test_two_of_three_are_enough_and_one_is_not(ring: WitnessGroup) -> None:
    """Killed witnesses delay what is shown, never what is taken; back again, they catch up."""
    policy = ring.policy("2")
    with cosigned(ring, policy) as ledger:
        register_keys(ledger, "all", 20)
        assert wait_until_published(ledger, policy, 21).size == 21
        ring.witnesses[0].kill()
        register_keys(ledger, "two", 20)
        assert wait_until_published(ledger, policy, 41).size == 41
        ring.witnesses[1].kill()
        assert register_keys(ledger, "one", 20)[-1] == 60, "taken, committed and signed"
        time.sleep(1.0)
        held = published_checkpoint(ledger, policy)
        assert held is not None
        assert held.size == 41, "not shown"
        assert httpx.get(f"{ledger.url}/log/tile/0/000.p/41", timeout=30).status_code == 200
        for path in ("tile/0/000.p/42", "tile/entries/000.p/61"):
            assert httpx.get(f"{ledger.url}/log/{path}", timeout=30).status_code == 404
        assert events(ledger, 2.0) == 41
        found = status(ledger)
        assert (found["published"], found["signed"], found["quorum"]) == (41, 61, "g")
        assert isinstance(found["late_ms"], int)
        assert found["late_ms"] > 1000
        problems = [one["problem"] for one in found["witnesses"]]  # type: ignore[attr-defined]
        assert [bool(one) for one in problems] == [True, True, False]
        ring.start(1)
        assert wait_until_published(ledger, policy, 61).size == 61


def events(ledger: Served, seconds: float) -> int:
    """Count the events that a stream from the beginning gives in that time."""
    count, until_s = 0, time.monotonic() + seconds
    with httpx.stream("GET", f"{ledger.url}/v1/events", timeout=seconds) as stream:
        try:
            for line in stream.iter_lines():
                count += line.startswith("id: ")
                if time.monotonic() > until_s:
                    break
        except httpx.ReadTimeout:
            pass
    return count


def test_killed_at_any_moment_the_ledger_shows_no_less_than_before(ring: WitnessGroup) -> None:
    policy = ring.policy("all")
    seen, taken = 0, 1
    for at in range(3):
        with cosigned(ring, policy) as ledger:
            if seen:
                first = published_checkpoint(ledger, policy)
                assert first is not None
                assert first.size >= seen
            wait_until_published(ledger, policy, taken)
            taken = register_keys(ledger, f"time {at}", 10)[-1] + 1
            found = published_checkpoint(ledger, policy)
            seen = found.size if found else seen
            ledger.kill()
    with cosigned(ring, policy) as ledger:
        assert wait_until_published(ledger, policy, taken).size == taken == 31


def test_an_old_copy_of_the_disk_signs_nothing_while_its_witnesses_know_better(
    ring: WitnessGroup, tmp_path: Path
) -> None:
    policy = ring.policy("2")
    with cosigned(ring, policy) as ledger:
        register_keys(ledger, "before", 5)
        wait_until_published(ledger, policy, 6)
        ledger.process.send_signal(signal.SIGTERM)
        ledger.process.wait(10)
    shutil.copytree(ring.ledger, tmp_path / "old")
    with cosigned(ring, policy) as ledger:
        register_keys(ledger, "after", 5)
        wait_until_published(ledger, policy, 11)
        ledger.process.send_signal(signal.SIGTERM)
        ledger.process.wait(10)
    shutil.rmtree(ring.ledger)
    (tmp_path / "old").rename(ring.ledger)
    with cosigned(ring, policy) as ledger:
        health = httpx.get(f"{ledger.url}/healthz", timeout=30)
        assert (health.status_code, health.json()["status"]) == (503, "lost")
        held = published_checkpoint(ledger, policy)
        assert held is not None
        assert held.size == 6, "what it has is served on"


def test_an_old_database_beside_the_signers_memory_signs_nothing(tmp_path: Path) -> None:
    """No witness is needed for that: the key's own memory is enough."""
    with WitnessGroup(tmp_path, 1) as ring:
        policy = ring.policy("all")
        with cosigned(ring, policy) as ledger:
            register_keys(ledger, "before", 5)
            wait_until_published(ledger, policy, 6)
            ledger.process.send_signal(signal.SIGTERM)
            ledger.process.wait(10)
        for suffix in ("", "-wal", "-shm"):
            path = ring.ledger / f"ledger.sqlite{suffix}"
            if path.exists():
                shutil.copy(path, tmp_path / path.name)
        with cosigned(ring, policy) as ledger:
            register_keys(ledger, "after", 5)
            ledger.process.send_signal(signal.SIGTERM)
            ledger.process.wait(10)
        for path in ring.ledger.glob("ledger.sqlite*"):
            path.unlink()
        for path in tmp_path.glob("ledger.sqlite*"):
            path.rename(ring.ledger / path.name)
        (forgotten,) = (tmp_path / "w0" / "logs").iterdir()  # the witness forgot
        shutil.rmtree(forgotten)
        ring.witnesses[0].kill()
        ring.start(0)
        with cosigned(ring, policy) as ledger:
            health = httpx.get(f"{ledger.url}/healthz", timeout=30).json()
            assert health["status"] == "read-only"
            assert "was signed already" in health["detail"]


def test_nothing_is_signed_before_enough_witnesses_have_spoken(ring: WitnessGroup) -> None:
    policy = ring.policy("2")
    for one in ring.witnesses[:2]:
        one.kill()
    first = start(ring.ledger, "--port", "0", "--trust", str(policy))
    assert first.wait(60) == 1, "a first start founds nothing"
    assert first.stderr is not None
    assert "no answer from w0, w1" in first.stderr.read()
    first.stderr.close()
    for at in range(2):
        ring.start(at)
    with cosigned(ring, policy) as ledger:
        register_keys(ledger, "some", 3)
        wait_until_published(ledger, policy, 4)
    for one in ring.witnesses[:2]:
        one.kill()
    with cosigned(ring, policy) as ledger:
        health = httpx.get(f"{ledger.url}/healthz", timeout=30).json()
        assert health["status"] == "read-only"
        assert "no answer from w0, w1" in health["detail"]
        held = published_checkpoint(ledger, policy)
        assert held is not None
        assert held.size == 4
        for at in range(2):
            ring.start(at)
        deadline_s = time.monotonic() + 30
        while httpx.get(f"{ledger.url}/healthz", timeout=30).status_code != 200:
            assert time.monotonic() < deadline_s
            time.sleep(0.1)
        register_keys(ledger, "more", 3)
        wait_until_published(ledger, policy, 7)


def test_a_log_that_begins_under_a_policy_shows_nothing_before_its_quorum(tmp_path: Path) -> None:
    with WitnessGroup(tmp_path, 2) as ring:
        policy = ring.policy("2")
        with cosigned(ring, policy) as ledger:
            wait_until_published(ledger, policy, 1)
        with closing(sqlite3.connect(ring.ledger / "ledger.sqlite")) as database, database:
            database.execute("DELETE FROM log_cosigned")
        policy.write_text(policy.read_text().replace("group g 2", "group g 1"))
        try:
            with cosigned(ring, policy) as ledger:
                assert wait_until_published(ledger, policy, 1).size == 1
                ring.witnesses[1].process.send_signal(signal.SIGSTOP)  # it hears, says nothing
                register_keys(ledger, "while one is stuck", 3)
                assert wait_until_published(ledger, policy, 4).size == 4
        finally:
            ring.witnesses[1].process.send_signal(signal.SIGCONT)


def test_a_receipt_can_be_kept_and_checked_offline(tmp_path: Path) -> None:
    with WitnessGroup(tmp_path, 1) as ring:
        policy = ring.policy("all")
        with cosigned(ring, policy) as ledger:
            register_keys(ledger, "receipts", 9)
            wait_until_published(ledger, policy, 10)
            with closing(sqlite3.connect(ring.ledger / "ledger.sqlite")) as database:
                rows = database.execute("SELECT idx, id, leaf FROM log_entry").fetchall()
            for index, name, leaf in rows:
                url = f"{ledger.url}/v1/statements/{to_text(name)}/proof"
                proof = TlogProof.parse(httpx.get(url, timeout=30).content)
                assert (proof.index, proof.extra) == (index, leaf)
                signed = proof.verify(merkle.leaf_hash(leaf), Policy.parse(policy.read_bytes()))
                assert len(signed.cosignatures) == 1
            unknown = f"{ledger.url}/v1/statements/{to_text(bytes(32))}/proof"
            assert httpx.get(unknown, timeout=30).status_code == 404
            given = httpx.get(f"{ledger.url}/log/policy", timeout=30).content
            assert Policy.parse(given) == Policy.parse(policy.read_bytes())


class _Liar(BaseHTTPRequestHandler):
    """Answers every question with whatever the test wants."""

    answer = (200, b"")
    signer = Signer(bytes([44]) * 32)
    times = 0
    """How often it answers its sound line instead, if at all."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.times:
            note = AddCheckpoint.parse(body).note
            now_s = time.time_ns() // 1_000_000_000
            line = cosignature_line(Checkpoint.parse(note_text(note)), "w", self.signer, now_s)
            type(self).answer = (200, line.encode() * self.times)
        self.do_GET()

    def do_GET(self) -> None:
        status, body = self.answer
        if self.path.endswith("/checkpoint") and self.command == "GET":
            status, body = 404, b""
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_witnesses_that_lie_or_babble_stop_nobody(tmp_path: Path) -> None:
    with WitnessGroup(tmp_path, 1) as ring, serving(_Liar) as liar:
        stranger = VerifierKey(name="w", kind=KeyKind.COSIGNER, key=_Liar.signer.key)
        line = f"witness liar {stranger.text()} {liar}\n"
        policy = ring.policy("1")
        policy.write_text(line + policy.read_text().replace("group g 1 w0", "group g 1 w0 liar"))
        try:
            with cosigned(ring, policy) as ledger:
                size = 1
                for at, answer in enumerate(
                    (
                        (200, b"\xff" * 100),
                        (200, b"x" * 200_000),
                        (409, b"99999999\n"),
                        (409, b"no number"),
                        (422, b""),
                        (500, b"\n" * 10),
                    )
                ):
                    _Liar.answer = answer
                    register_keys(ledger, f"answer {at}", 2)
                    size += 2
                    assert wait_until_published(ledger, policy, size).size == size
                _Liar.times = 150
                register_keys(ledger, "one line too often", 2)
                wait_until_published(ledger, policy, size + 2)
                note = httpx.get(f"{ledger.url}/log/checkpoint", timeout=30).content
                assert len(note.partition(b"\n\n")[2].splitlines()) <= 3, "one line a key"
                assert httpx.get(f"{ledger.url}/healthz", timeout=30).json()["status"] == "ok"
        finally:
            _Liar.times = 0


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("quorum", "is not a valid policy"),
        ("log {other}\nquorum none\n", "names other logs only"),
        ("witness w {witness}\nquorum w\n", "too few of its witnesses have an address"),
        ("witness w {witness} ftp://x\nquorum w\n", "'ftp://x' is not the address"),
        ("witness w {witness} http://[\nquorum w\n", "is not the address"),
        ("witness w {witness} http://x?\nquorum none\n", "it contains"),
        ("witness w {witness} http://x:99999\nquorum none\n", "no port of this number"),
        ("witness w {witness} http://x:80a\nquorum none\n", "Invalid port"),
        ("witness w {witness} http://x..example\nquorum none\n", "is not the address"),
        ("witness w {witness} http://xn--a.example\nquorum none\n", "is not the address"),
    ],
)
def test_a_policy_that_cannot_be_kept_is_refused_at_the_start(
    tmp_path: Path, text: str, why: str
) -> None:
    key = VerifierKey(name="log.example", kind=KeyKind.LOG, key=Signer(bytes([1]) * 32).key)
    other = VerifierKey(name="log.example", kind=KeyKind.LOG, key=Signer(bytes([2]) * 32).key)
    witness = VerifierKey(name="w", kind=KeyKind.COSIGNER, key=other.key)
    (tmp_path / "policy").write_text(text.format(other=other.text(), witness=witness.text()))
    with pytest.raises(UserFacingError, match=why):
        read_policy(tmp_path / "policy", key)
    with pytest.raises(UserFacingError, match="cannot be used"):
        read_policy(tmp_path / "none", key)


def test_a_ledger_whose_key_is_elsewhere_publishes_too(tmp_path: Path) -> None:
    from tests.support.signers import signing  # noqa: PLC0415 - nobody else here

    with signing(tmp_path / "signer", "ledger.example/test") as socket:
        options = ("--signer", str(socket))
        from tests.support.ledgers import UNLIMITED, served  # noqa: PLC0415 - as above

        with served(tmp_path / "ledger", *UNLIMITED, *options) as ledger:
            register_keys(ledger, "signed elsewhere", 30)
            key = VerifierKey.parse(
                httpx.get(f"{ledger.url}/v1/network", timeout=30).json()["log_key"]
            )
            note = httpx.get(f"{ledger.url}/log/checkpoint", timeout=30).content
            assert open_checkpoint(note, key).checkpoint.size == 31
        assert not (tmp_path / "ledger" / "log.key").exists()
        with served(tmp_path / "ledger", *UNLIMITED, *options) as ledger:
            assert register_keys(ledger, "and again", 1) == [31]
