"""Whatever a ledger answers, its monitor rings or waits; nothing it says ends the watch unheard."""

from __future__ import annotations

import time
from base64 import b64decode
from contextlib import closing, contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING

import msgspec
import pytest

from tequio_ledger.monitor import remote as monitor_remote
from tequio_ledger.monitor.alarms import Alarm, AlarmKind, Alarms, FoundError
from tequio_ledger.monitor.mirror import Mirror
from tequio_ledger.monitor.remote import RemoteLedger, UnreachableError
from tequio_ledger.monitor.watch import Watch
from tequio_shared.ids import ZERO_DIGEST, to_text
from tequio_shared.keys import Signer
from tequio_shared.log import merkle
from tequio_shared.log.notes import Checkpoint, note_text, sign_checkpoint
from tequio_shared.log.tiles import TILE_WIDTH, Tile, encode_bundle, hashes_at
from tequio_shared.statements.network import InviteOpen
from tequio_shared.statements.statement import Entry, make, sign
from tests.support.http_servers import serving
from tests.support.memory_log import (
    COORDINATOR,
    LOG_SIGNER,
    NET,
    NOW_MS,
    MemoryLog,
    chain_of,
    genesis,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ALICE = chain_of(Signer(bytes([30]) * 32), 1)[0]


class Hostile(RemoteLedger):
    """Serves a log truly, and answers every question with the bytes of the test."""

    def __init__(self, log: MemoryLog, answer: bytes) -> None:
        super().__init__("http://log.test")
        self.log = log
        self._answer = answer

    def _get(self, path: str, most: int) -> bytes:
        del most
        log = self.log
        if path == "/log/checkpoint":
            return sign_checkpoint(log.checkpoint(), LOG_SIGNER)
        if path.startswith("/log/tile/entries"):
            return encode_bundle(log.leaves)
        if path.startswith("/log/tile/"):
            return log.tile(
                Tile(level=0, index=0, width=min(TILE_WIDTH, hashes_at(0, len(log.leaves))))
            )
        return self._answer


@contextmanager
def watching(
    folder: Path, log: MemoryLog, answer: bytes = b"{}"
) -> Iterator[tuple[Watch, Hostile]]:
    alarms = Alarms(folder / "alarms", "http://log.test", lambda: 0)
    with Hostile(log, answer) as remote:

        def open_mirror() -> Mirror:
            mirror = Mirror(folder / "m", genesis(), remote.blob, lambda: 0)
            mirror.load()
            return mirror

        (folder / "m").mkdir()
        with closing(Watch(remote, open_mirror, alarms, None, lambda: 0)) as watch:
            yield watch, remote


def as_of(log: MemoryLog) -> dict[str, object]:
    tree = log.checkpoint()
    return {"size": tree.size, "root": to_text(tree.root)}


@pytest.mark.parametrize(
    "peers",
    [
        '[{"key":"\xff"}]'.encode("latin-1"),
        b"[" * 100_000,
        b'[{"key":"a","tier":' + b"[" * 900 + b"]" * 900 + b"}]",
        b'[{"key":[1]}]',
        b'[{"key":{"a":1}},{"key":null},{}]',
        b'[{"key":1e400}]',
        b"[" + b'{"key":"a"},' * 3 + b'{"key":"a"}]',
    ],
    ids=["no UTF-8", "deep", "deep row", "a list", "no names", "infinite", "twice"],
)
def test_no_answer_ends_the_watch_without_an_alarm(tmp_path: Path, peers: bytes) -> None:
    log = MemoryLog.founded()
    log.append(ALICE)
    head = msgspec.json.encode({"as_of": as_of(log)})[:-1]
    with watching(tmp_path, log, head + b',"peers":' + peers + b',"runs":[]}') as (watch, _):
        watch.check()
    (path,) = (tmp_path / "alarms").glob("*.json")
    assert msgspec.json.decode(path.read_bytes(), type=Alarm).kind is AlarmKind.DERIVED


def test_an_answer_that_comes_byte_by_byte_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(monitor_remote, "ANSWER_S", 0.3)

    class Dripping(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            with suppress(OSError):
                for _ in range(1_000):
                    self.wfile.write(b".")
                    time.sleep(0.02)

    with (
        serving(Dripping) as url,
        RemoteLedger(url) as remote,
        pytest.raises(UnreachableError, match="no whole answer"),
    ):
        remote.checkpoint()


def invite(seq: int, before: Entry | None) -> Entry:
    """The organiser's statement of that number, after another one; the genesis is the first."""
    prev = before.statement.digest if before else ZERO_DIGEST
    guest = Signer(bytes([60 + seq]) * 32)
    body = InviteOpen(invitation=to_text(guest.key), uses=1, until=NOW_MS * 2, run="")
    statement = make(
        body=body,
        author=COORDINATOR.key,
        seq=seq,
        ts=NOW_MS,
        exp=NOW_MS + 60_000,
        prev=prev,
    )
    return sign(NET, statement, COORDINATOR)


@pytest.mark.parametrize("what", ["replayed", "out of order", "not the next"])
def test_a_statement_that_is_replayed_or_reordered_is_an_alarm(tmp_path: Path, what: str) -> None:
    log = MemoryLog.founded()
    first = Entry.parse(log.leaves[0])
    second = invite(2, first)
    third = invite(3, second)
    log.append(ALICE)
    log.extend(
        {
            "replayed": [second, third, second],
            "out of order": [third, second],
            "not the next": [second, invite(3, first)],
        }[what]
    )
    with (
        watching(tmp_path, log) as (watch, _),
        pytest.raises(FoundError, match=r"^rules: entry \d does not follow: ") as caught,
    ):
        watch.check()
    assert caught.value.alarm.kind is AlarmKind.RULES


def test_what_follows_in_order_is_read(tmp_path: Path) -> None:
    log = MemoryLog.founded()
    second = invite(2, Entry.parse(log.leaves[0]))
    log.extend([second, invite(3, second), ALICE])
    with watching(tmp_path, log) as (watch, _):
        watch.check()
        assert watch.mirror.size == 4


@pytest.mark.parametrize("before", [3, 4], ids=["uneven", "a power of two"])
def test_a_longer_history_with_other_entries_is_a_fork(tmp_path: Path, before: int) -> None:
    first, second = MemoryLog.founded(), MemoryLog.founded()
    people = [chain_of(Signer(bytes([at]) * 32), 1)[0] for at in range(30, 40)]
    first.extend(people[: before - len(first.leaves)])
    second.extend(people[5:])
    with watching(tmp_path, first) as (watch, remote):
        watch.check()
        assert watch.mirror.size == before
        remote.log = second
        with pytest.raises(FoundError, match=r"^fork: ") as caught:
            watch.check()
    evidence = caught.value.alarm.fork
    assert evidence is not None
    shown = [Checkpoint.parse(note_text(note.encode())) for note in evidence.notes]
    assert shown == [first.checkpoint(), second.checkpoint()]
    proof = [b64decode(one) for one in evidence.proof]
    began = merkle.root(second.leaves[:before])
    merkle.verify_consistency(before, began, shown[1].size, shown[1].root, proof)
