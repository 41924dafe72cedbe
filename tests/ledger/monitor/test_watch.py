"""A monitor reads an honest ledger in silence, and rings for each lie with evidence to check."""

from __future__ import annotations

import errno
import sqlite3
import subprocess
import sys
from contextlib import closing, contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler
from typing import TYPE_CHECKING

import httpx
import pytest
from sqlalchemy import event

from tequio_client.clock import now_ms
from tequio_ledger.data_folder import DataFolder
from tequio_ledger.monitor.alarms import FINAL, AlarmKind, Alarms, FoundError
from tequio_ledger.monitor.mirror import Mirror
from tequio_ledger.monitor.remote import RemoteLedger, UnreachableError
from tequio_ledger.monitor.watch import LAG_S, LATE_S, Watch
from tequio_ledger.store import blobs
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import Digest, sha256, to_text
from tequio_shared.keys import Signer
from tequio_shared.log.notes import (
    Checkpoint,
    KeyKind,
    VerifierKey,
    add_lines,
    cosignature_line,
    note_text,
    sign_checkpoint,
)
from tequio_shared.log.policy import STALE_S, Policy
from tequio_shared.log.tiles import TILE_WIDTH, Tile, hashes_at
from tequio_shared.statements.network import NetNotice
from tequio_shared.statements.statement import Entry, make, sign
from tests.support.cosigned_ledger import (
    WitnessGroup,
    cosigned,
    register_keys,
    wait_until_published,
)
from tests.support.dishonest_log import DishonestLog
from tests.support.fork_evidence import proves_fork
from tests.support.http_servers import serving
from tests.support.ledgers import Served
from tests.support.memory_log import LOG_SIGNER, NET, NOW_MS, MemoryLog, chain_of, genesis
from tests.support.watched_ledger import (
    InterceptedLedger,
    SteadyClock,
    genesis_of,
    opened,
    other_root,
    rung,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from sqlalchemy import Connection


def log_signer(ledger_folder: Path) -> Signer:
    return DataFolder(ledger_folder).signer("log")


def test_an_honest_ledger_is_read_to_its_end_and_on_and_after_a_restart(
    tmp_path: Path, ledger: Served, remote: InterceptedLedger, alarms: Alarms
) -> None:
    with closing(opened(remote, tmp_path / "m", alarms)) as watch:
        assert watch.check()
        assert watch.mirror.size == 301
        register_keys(ledger, "third", 20)
        assert watch.check()
        assert watch.mirror.size == 321
    register_keys(ledger, "fourth", 3)
    with closing(opened(remote, tmp_path / "m", alarms)) as watch:
        assert watch.mirror.size == 321
        watch.check()
        assert watch.mirror.size == 324
    assert rung(tmp_path) == []
    with closing(sqlite3.connect(tmp_path / "m" / "mirror.sqlite")) as database:
        (count,) = database.execute("SELECT count(*) FROM peer").fetchone()
    assert count == 325, "all who registered, coordinator and organiser"


def test_a_flipped_byte_in_what_is_served_is_named(
    tmp_path: Path, remote: InterceptedLedger, alarms: Alarms
) -> None:
    for number, part in enumerate(("tile/entries", "tile/0/")):
        remote.change = (
            lambda path, raw, part=part: (  # type: ignore[misc]
                raw[:40] + bytes([raw[40] ^ 1]) + raw[41:] if part in path else raw
            )
        )
        with (
            closing(opened(remote, tmp_path / f"m{number}", alarms)) as watch,
            pytest.raises(FoundError, match=r"^entries: ") as caught,
        ):
            watch.check()
        assert caught.value.alarm.kind is AlarmKind.ENTRIES
        assert caught.value.alarm.note.startswith("ledger.example/test\n")


@pytest.mark.parametrize("size", [301, 200])
def test_another_history_under_the_logs_key_is_a_fork_with_evidence(
    tmp_path: Path, home: Path, remote: InterceptedLedger, alarms: Alarms, size: int
) -> None:
    with closing(opened(remote, tmp_path / "m", alarms)) as watch:
        watch.check()
        here = watch.mirror.size
        forged = Checkpoint(
            origin="ledger.example/test", size=here + size - 301, root=other_root(size)
        )
        note = sign_checkpoint(forged, log_signer(home))
        remote.change = lambda path, raw: note if path == "/log/checkpoint" else raw
        with pytest.raises(FoundError, match=r"^fork: ") as caught:
            watch.check()
    evidence = caught.value.alarm.fork
    assert evidence is not None
    assert evidence.notes[1].encode() == note
    assert proves_fork(evidence) is (size == 301)
    alarms.ring(caught.value.alarm)
    alarms.ring(caught.value.alarm)
    (before,) = rung(tmp_path)
    assert before.kind is AlarmKind.FORK
    later = Alarms(tmp_path / "alarms", remote.url, lambda: before.at_ms + 5_000)
    later.ring(later.make(AlarmKind.FORK, "found again after a restart", fork=evidence, note=note))
    assert rung(tmp_path) == [before], "the file keeps its name, and what it says"
    assert later.rang


def test_what_is_final_keeps_its_name_and_what_passes_has_a_file_each_time(tmp_path: Path) -> None:
    for at_ms in (1, 2):
        alarms = Alarms(tmp_path / "alarms", "http://ledger.test", lambda now_ms=at_ms: now_ms)  # type: ignore[misc]
        for kind in AlarmKind:
            alarms.ring(alarms.make(kind, "the same", note=b"note"))
    kinds = [one.kind for one in rung(tmp_path)]
    assert {kind: kinds.count(kind) for kind in AlarmKind} == {
        kind: 1 if kind in FINAL else 2 for kind in AlarmKind
    }


def test_an_older_checkpoint_is_an_alarm_when_it_stays(
    tmp_path: Path, ledger: Served, remote: InterceptedLedger, alarms: Alarms, steady_s: SteadyClock
) -> None:
    old = httpx.get(f"{ledger.url}/log/checkpoint", timeout=30).content
    register_keys(ledger, "after the old one", 2)
    with closing(opened(remote, tmp_path / "m", alarms, steady_s=steady_s)) as watch:
        watch.check()
        remote.change = lambda path, raw: old if path == "/log/checkpoint" else raw
        assert not watch.check()
        assert rung(tmp_path) == [], "caches lag"
        steady_s.ahead_s = LAG_S
        watch.check()
        (alarm,) = rung(tmp_path)
        assert (alarm.kind, alarm.note.encode()) == (AlarmKind.ROLLBACK, old)


def test_a_checkpoint_that_nobody_signed_and_one_without_its_quorum_are_not_believed(
    tmp_path: Path, ledger: Served, remote: InterceptedLedger, alarms: Alarms, steady_s: SteadyClock
) -> None:
    key = VerifierKey.parse(genesis_of(remote).log_key)
    witness = VerifierKey(name="w", kind=KeyKind.COSIGNER, key=Signer(bytes([5]) * 32).key)
    text = f"log {key.text()}\nwitness w {witness.text()}\nquorum w\n"
    quorum = Policy.parse(text.encode())
    with closing(opened(remote, tmp_path / "q", alarms, quorum, steady_s=steady_s)) as watch:
        assert not watch.check()
        assert watch.mirror.size == 0, "nothing is read without the quorum"
        steady_s.ahead_s = LATE_S
        watch.check()
        assert [one.kind for one in rung(tmp_path)] == [AlarmKind.QUORUM]
    other = VerifierKey(name=key.name, kind=KeyKind.LOG, key=witness.key)
    elsewhere = Policy.parse(f"log {other.text()}\nquorum none\n".encode())
    with pytest.raises(UserFacingError, match="names other logs only"):
        opened(remote, tmp_path / "o", alarms, elsewhere)
    assert ledger.url


def test_two_short_times_without_a_quorum_are_not_one_long_time(
    tmp_path: Path, remote: InterceptedLedger, alarms: Alarms, steady_s: SteadyClock
) -> None:
    key, witness = VerifierKey.parse(genesis_of(remote).log_key), Signer(bytes([5]) * 32)
    named = VerifierKey(name="w", kind=KeyKind.COSIGNER, key=witness.key)
    policy = Policy.parse(f"log {key.text()}\nwitness w {named.text()}\nquorum w\n".encode())

    def cosign(path: str, raw: bytes) -> bytes:
        if path != "/log/checkpoint":
            return raw
        checkpoint = Checkpoint.parse(note_text(raw))
        return add_lines(raw, [cosignature_line(checkpoint, "w", witness, 1_800_000_000)])

    with closing(opened(remote, tmp_path / "m", alarms, policy, steady_s=steady_s)) as watch:
        watch.check()
        remote.change = cosign
        watch.check()
        assert watch.mirror.size >= 301
        remote.change = lambda _path, raw: raw
        steady_s.ahead_s = LATE_S
        watch.check()
    assert rung(tmp_path) == []


@pytest.mark.parametrize(
    "shown", [b"<!doctype html>\n<title>Back soon</title>\n", b"\xff", b"ledger.example/test\n3\n"]
)
def test_what_is_no_checkpoint_is_no_fork_and_rings_when_it_stays(
    tmp_path: Path, remote: InterceptedLedger, alarms: Alarms, steady_s: SteadyClock, shown: bytes
) -> None:
    with closing(opened(remote, tmp_path / "m", alarms, steady_s=steady_s)) as watch:
        remote.change = lambda path, raw: shown if path == "/log/checkpoint" else raw
        assert not watch.check()
        assert rung(tmp_path) == [], "a proxy may show its own page for a while"
        steady_s.ahead_s = LATE_S
        watch.check()
        (alarm,) = rung(tmp_path)
        assert (alarm.kind, alarm.why) == (AlarmKind.AWAY, "the checkpoint is not valid")
        remote.change = lambda _path, raw: raw
        watch.check()
        assert watch.mirror.size >= 301


@pytest.mark.parametrize("follower", ["new", "old"])
@pytest.mark.parametrize("withheld", ["/log/tile/entries/", "/log/tile/0/", "/v1/peers"])
def test_withholding_rings_though_the_checkpoint_comes(
    tmp_path: Path,
    ledger: Served,
    remote: InterceptedLedger,
    alarms: Alarms,
    withheld: str,
    follower: str,
) -> None:
    steady_s = SteadyClock()
    with closing(opened(remote, tmp_path / "m", alarms, steady_s=steady_s)) as watch:
        if follower == "old":
            watch.check()
            register_keys(ledger, f"while it follows, without {withheld}", 2)
        remote.withheld = (withheld,)
        assert not watch.check()
        assert rung(tmp_path) == [], "another process behind the same address may not have it yet"
        steady_s.ahead_s = LATE_S
        watch.check()
        assert [one.kind for one in rung(tmp_path)] == [AlarmKind.AWAY]
        remote.withheld = ()
        watch.check()
        assert watch.mirror.size >= 301


@pytest.mark.parametrize(
    "spoil",
    [
        lambda _: b"<!doctype html>\n<title>Back soon</title>\n",
        lambda raw: raw[:40] + bytes([raw[40] ^ 1]) + raw[41:],
    ],
    ids=["a page", "a flipped bit"],
)
def test_a_spoiled_tile_is_no_second_history(
    tmp_path: Path,
    ledger: Served,
    remote: InterceptedLedger,
    alarms: Alarms,
    spoil: Callable[[bytes], bytes],
) -> None:
    with closing(opened(remote, tmp_path / "m", alarms)) as watch:
        watch.check()
        register_keys(ledger, f"before {spoil(bytes(64))!r}", 2)
        remote.change = lambda path, raw: spoil(raw) if path.startswith("/log/tile/0/") else raw
        with pytest.raises(FoundError, match=r"^entries: tiles of .* are not those that were sig"):
            watch.check()


def test_a_log_that_no_witness_has_cosigned_for_a_day_rings(
    tmp_path: Path, alarms: Alarms, steady_s: SteadyClock
) -> None:
    with WitnessGroup(tmp_path, 1) as ring:
        policy = ring.policy("all")
        with cosigned(ring, policy) as still, InterceptedLedger(still.url) as remote:
            wait_until_published(still, policy, 1)
            trust = Policy.parse(policy.read_bytes())
            later_ms = now_ms() + STALE_S * 1_000

            def clock() -> int:
                return later_ms

            place = tmp_path / "m"
            with closing(
                opened(remote, place, alarms, trust, steady_s=steady_s, clock=clock)
            ) as watch:
                watch.check()
                steady_s.ahead_s = LATE_S
                watch.check()
                (alarm,) = rung(tmp_path)
                assert alarm.kind is AlarmKind.QUORUM
                assert "newer entries are withheld" in alarm.differences[0]
                assert watch.mirror.size == 0


class Operator(RemoteLedger):
    """A ledger whose operator logs and signs whatever he likes; it answers no questions."""

    def __init__(self, log: MemoryLog) -> None:
        super().__init__("http://log.test")
        self._log = log

    def checkpoint(self) -> bytes:
        """Sign the log as it is."""
        return sign_checkpoint(self._log.checkpoint(), LOG_SIGNER)

    def entries(self, first: int, end: int) -> list[bytes]:
        """Give leaves."""
        return self._log.leaves[first:end]

    def tile(self, level: int, index: int, size: int) -> bytes:
        """Give a tile."""
        width = min(TILE_WIDTH, hashes_at(level, size) - index * TILE_WIDTH)
        return self._log.tile(Tile(level=level, index=index, width=width))

    def ask(self, path: str) -> dict[str, object]:
        """Answer nothing."""
        raise UnreachableError(path)


@pytest.mark.parametrize(
    ("what", "why"),
    [
        ("unsigned", "verify: the signature by"),
        ("unregistered", "follow: key .* was not registered before"),
        ("twice", "follow: seq 1 after seq 1"),
        ("no organiser's", "follow: only organisers may sign"),
    ],
)
def test_an_entry_that_must_not_be_there_is_kept_as_evidence(
    tmp_path: Path, what: str, why: str
) -> None:
    """The root over it is right and signed: only who checks the entries finds it."""
    log = MemoryLog.founded()
    people = [Signer(bytes([at]) * 32) for at in range(30, 34)]
    log.extend(chain_of(one, 1)[0] for one in people)
    bad = chain_of(people[0], 3)
    notice = make(
        body=NetNotice(text="Stop"),
        author=people[0].key,
        seq=2,
        ts=NOW_MS,
        exp=NOW_MS + 60_000,
        prev=bad[0].statement.digest,
    )
    entry = {
        "unsigned": bad[1],
        "unregistered": chain_of(Signer(bytes([50]) * 32), 2)[1],
        "twice": bad[0],
        "no organiser's": sign(NET, notice, people[0]),
    }[what]
    if what == "unsigned":
        ((author, signature),) = entry.signatures
        entry = Entry(((author, signature[:9] + bytes(55)),), entry.statement)
    log.append(entry)
    log.extend(chain_of(one, 2)[1] for one in people[1:2])
    alarms = Alarms(tmp_path / "alarms", "http://log.test", lambda: 0)
    with Operator(log) as remote:

        def open_mirror() -> Mirror:
            mirror = Mirror(tmp_path / "m", genesis(), remote.blob, lambda: 0)
            mirror.load()
            return mirror

        (tmp_path / "m").mkdir()
        with closing(Watch(remote, open_mirror, alarms, None, lambda: 0)) as watch:
            with pytest.raises(FoundError, match=rf"^rules: entry 5 does not {why}") as caught:
                watch.check()
            assert watch.mirror.size == 0
    assert caught.value.alarm.entries == {"5": to_text(entry.leaf())}


@contextmanager
def watched_contest(folder: Path, alarms: Alarms) -> Iterator[tuple[Watch, int]]:
    """Watch a log of that many entries, some of which name documents, from a fresh folder."""
    contest = DishonestLog().play("open")

    class WithDocuments(Operator):
        def blob(self, digest: Digest) -> bytes:
            return contest.blobs[digest]

    folder.mkdir()
    with WithDocuments(contest.log) as remote:

        def open_mirror() -> Mirror:
            mirror = Mirror(folder, genesis(), remote.blob, lambda: 0)
            mirror.load()
            return mirror

        with closing(Watch(remote, open_mirror, alarms, None, lambda: 0)) as watch:
            yield watch, len(contest.log.leaves)


def test_a_fresh_folder_takes_the_documents_that_entries_name(tmp_path: Path) -> None:
    alarms = Alarms(tmp_path / "alarms", "http://log.test", lambda: 0)
    with watched_contest(tmp_path / "m", alarms) as (watch, size):
        watch.check()
        assert watch.mirror.size == size
    assert not alarms.rang


@pytest.mark.parametrize("for_what", ["a document", "a row"])
def test_a_monitor_whose_own_disk_is_full_accuses_nobody_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, for_what: str
) -> None:
    def fail(_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    def stop_growth(connection: Connection) -> None:
        connection.exec_driver_sql("PRAGMA max_page_count=1")

    alarms = Alarms(tmp_path / "alarms", "http://log.test", lambda: 0)
    with watched_contest(tmp_path / "m", alarms) as (watch, size):
        with monkeypatch.context() as full:
            if for_what == "a document":
                full.setattr(blobs, "sync", fail)
            else:
                event.listen(watch.mirror.database.writer, "begin", stop_growth)
            assert not watch.check()
        assert watch.mirror.is_torn
        watch.check()
        assert watch.mirror.size == size
    assert not alarms.rang


def test_a_ledger_that_is_away_rings_when_it_stays_away(
    tmp_path: Path, remote: InterceptedLedger, alarms: Alarms, steady_s: SteadyClock
) -> None:
    def away(path: str, _raw: bytes) -> bytes:
        raise UnreachableError(path)

    with closing(opened(remote, tmp_path / "m", alarms, steady_s=steady_s)) as watch:
        remote.change = away
        watch.check()
        assert rung(tmp_path) == []
        steady_s.ahead_s = LATE_S
        watch.check()
        assert [one.kind for one in rung(tmp_path)] == [AlarmKind.AWAY]
        remote.change = lambda _path, raw: raw
        watch.check()
        assert watch.mirror.size > 300


def watch_once(url: str, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    words = ("monitor", url, "--once", "--log-json", "--dir", str(folder), *options)
    return subprocess.run(
        [sys.executable, "-m", "tequio_ledger", *words],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_the_program_says_it_with_its_exit_status(
    tmp_path: Path, ledger: Served, remote: InterceptedLedger
) -> None:
    done = watch_once(ledger.url, tmp_path / "m")
    assert done.returncode == 0, done.stderr
    assert '"read on"' in done.stderr
    key = VerifierKey.parse(genesis_of(remote).log_key).text()
    witness = VerifierKey(name="w", kind=KeyKind.COSIGNER, key=Signer(bytes([5]) * 32).key).text()
    policy = tmp_path / "policy"
    policy.write_text(f"log {key}\nwitness w {witness}\nquorum w\n")
    done = watch_once(ledger.url, tmp_path / "m", "--trust", str(policy))
    assert done.returncode == 3, "nothing was checked"
    assert '"no quorum"' in done.stderr
    with closing(sqlite3.connect(tmp_path / "m" / "mirror.sqlite")) as database, database:
        database.execute("UPDATE log_head SET root = ?", (sha256(b"other"),))
    done = watch_once(ledger.url, tmp_path / "m")
    assert done.returncode == 1
    assert "damaged" in done.stderr, "its own copy is checked too"


def test_a_first_check_tells_a_ledger_that_is_away_from_a_wrong_address(tmp_path: Path) -> None:
    with serving(partial(SimpleHTTPRequestHandler, directory=str(tmp_path))) as elsewhere:
        done = watch_once(elsewhere, tmp_path / "m")
    assert done.returncode == 1
    assert f"{elsewhere} is not the address of a ledger: /v1/network: status 404" in done.stderr
    done = watch_once(elsewhere, tmp_path / "m")
    assert done.returncode == 3, "nothing listens there now"
    assert '"the ledger does not answer, or withholds something"' in done.stderr
