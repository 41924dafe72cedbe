"""A log of any length with a snapshot near its end: ten million entries in ten minutes of a core.

Members of one run come and go, and at the end all are gone. The first and the last entries go
through the fold, as in a ledger. Those between are the same cycle again and again, of which only
the chains, the counts and the schedule of snapshots differ: they are written from templates, and
the state is moved on by what a cycle changes. `check` folds a short log entry by entry and compares
the two states, so that a longer one can be believed. Signatures are not computed: neither a start
nor a snapshot verifies them.
"""

from __future__ import annotations

import hashlib
from contextlib import closing
from typing import TYPE_CHECKING, cast

from tests.support.signing_swarm import manifest

from ledgers.million import AUTHORS, UnsignedMember
from ledgers.program import ORGANISER, settings_of
from tequio_ledger.data_folder import DataFolder
from tequio_ledger.genesis import COORDINATOR_KEY
from tequio_ledger.ledger import open_ledger
from tequio_ledger.log.log import AdmittedEntry, Log
from tequio_ledger.runtime import now_ms
from tequio_ledger.signing.client import open_signer
from tequio_ledger.store import derived, log_rows
from tequio_ledger.store.log_rows import StoredEntry
from tequio_shared.errors import FatalLogError, TequioError
from tequio_shared.ids import Digest, RunId, sha256, to_text
from tequio_shared.keys import Signer
from tequio_shared.limits import SNAPSHOT_ENTRIES
from tequio_shared.log.notes import VerifierKey
from tequio_shared.log.tiles import TileTree
from tequio_shared.network.run import first_head
from tequio_shared.network_view import AuthorChain
from tequio_shared.served import snapshot
from tequio_shared.served.coordinator import Coordinator
from tequio_shared.served.state import State
from tequio_shared.statements.network import KeyRegister, LogSnapshot, MemberLeave, MemberReady
from tequio_shared.statements.runs import RunOpen
from tequio_shared.statements.statement import Entry

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from pathlib import Path

    from tequio_ledger.ledger import Ledger
    from tequio_shared.ids import PeerKey, RunId
    from tequio_shared.statements.statement import Body

CYCLE = 2 * AUTHORS
FOLDED_CYCLES = 2 + SNAPSHOT_ENTRIES // CYCLE
"""Cycles at the end that are folded: a snapshot is due in them."""
BATCH = 262_144
"""Entries in one transaction: each of them changes random pages of the index of ids."""
_FILLING = ("synchronous=OFF", "cache_size=-1000000")
"""A log that is interrupted while it is filled is filled again."""
_PREFIX = b"tequio/v1/statement\0"


class TemplatedMember:
    """A member whose statements of one kind differ in `seq` and `prev` alone."""

    def __init__(self, member: UnsignedMember, run: RunId, at_ms: int) -> None:
        self.key = member.key
        self._run = run
        self._at_ms = at_ms
        self._bodies = (
            MemberReady(head=to_text(sha256(b"head")), roles=("trainer", "witness")),
            MemberLeave(reason=1),
        )
        self._parts = [self._split(member, body) for body in self._bodies]
        self.member = member

    def _split(self, member: UnsignedMember, body: Body) -> tuple[bytes, bytes, bytes]:
        """Text before `prev`, between it and `seq`, and after that."""
        example = UnsignedMember(member.key)
        raw = example.next_entry(body, self._at_ms, self._run).statement.raw
        head, _, rest = raw.partition(b'"prev":"')
        _, _, rest = rest.partition(b'"')
        middle, _, tail = rest.partition(b'"seq":1,')
        return head + b'"prev":"', b'"' + middle + b'"seq":', b"," + tail

    def next_raw(self, kind: int) -> bytes:
        """The next statement: 0 is ready, 1 leaves."""
        head, middle, tail = self._parts[kind]
        seq, last = self.member.end
        raw = head + to_text(last).encode() + middle + str(seq + 1).encode() + tail
        self.member.end = seq + 1, Digest(hashlib.sha256(raw).digest())
        return raw

    def next_entry(self, kind: int) -> Entry:
        return self.member.next_entry(self._bodies[kind], self._at_ms, self._run)


class LongLog:
    """Writes one log into a folder with SQLite."""

    def __init__(self, folder: DataFolder, ledger: Ledger) -> None:
        self._folder = folder
        self._ledger = ledger
        self._state: State = ledger.state
        self._size = ledger.log.size
        with ledger.database.writer.connect() as connection:  # SQLite's writer is one connection
            driver = cast("sqlite3.Connection", connection.connection.driver_connection)
            for pragma in _FILLING:
                driver.execute(f"PRAGMA {pragma}")
        with ledger.database.reader.begin() as connection:
            self._tree = TileTree.resume(
                self._size, lambda tile: log_rows.read_tile(connection, tile)
            )
            head = log_rows.read_head(connection)
        if head is None:
            raise FatalLogError("the ledger has no head")
        self._head = head
        self._changes = derived.Changes()
        self._at_ms = now_ms()
        self._rules = manifest()
        self._run = self._rules.run_id
        names = (b"member %d" % number for number in range(AUTHORS))
        members = [UnsignedMember(Signer(sha256(name)).key) for name in names]
        self._members = [TemplatedMember(one, self._run, self._at_ms) for one in members]
        self._snapshot: LogSnapshot | None = None

    def write(self, entries: int, *, folds_all: bool = False) -> State:
        """Write at least that many entries, and a snapshot; gives the state."""
        self._fold(self._opening())
        cycles = max((entries - self._size) // CYCLE, FOLDED_CYCLES)
        self._fold(self._cycle())
        between = cycles - 1 - FOLDED_CYCLES
        if folds_all:
            for _ in range(between):
                self._fold(self._cycle())
        elif between > 0:
            self._repeat(between)
        for _ in range(FOLDED_CYCLES):
            self._fold(self._cycle())
        self._name_snapshot()
        self._sign()
        return self._state

    def _opening(self) -> Iterator[Entry]:
        self._ledger.blobs.put(self._rules.encode())
        head = to_text(first_head(self._rules).hash)
        opening = RunOpen(manifest=to_text(self._run), head=head)
        yield UnsignedMember(ORGANISER.key).next_entry(opening, self._at_ms, self._run)
        for one in self._members:
            yield one.member.next_entry(KeyRegister(nonce=0), self._at_ms)

    def _cycle(self) -> Iterator[Entry]:
        for kind in (0, 1):
            for one in self._members:
                yield one.next_entry(kind)

    def _fold(self, entries: Iterator[Entry]) -> None:
        rows: list[StoredEntry] = []
        for entry in entries:
            index = self._size + len(rows)
            self._state.apply(index, entry, self._at_ms)
            derived.derive(self._changes, index, entry, self._state)
            rows.append(AdmittedEntry.of(entry, self._state.net, self._at_ms).row(index))
            if index + 1 in self._state.snapshots.due:
                raw = snapshot.encode(self._state, index + 1)
                self._snapshot = LogSnapshot(
                    layout=to_text(snapshot.layout()),
                    size=index + 1,
                    state=to_text(self._ledger.blobs.put(raw)),
                )
        self._insert(rows)

    def _repeat(self, cycles: int) -> None:
        """Write whole cycles without folding them, and move the state on."""
        net, at_ms, rows = self._state.net, self._at_ms, list[StoredEntry]()
        kinds = MemberReady.TYPE, MemberLeave.TYPE
        for _ in range(cycles):
            for kind, name in enumerate(kinds):
                for one in self._members:
                    raw = one.next_raw(kind)
                    row = StoredEntry(
                        index=self._size + len(rows),
                        id=Digest(hashlib.sha256(_PREFIX + net + raw).digest()),
                        leaf=b"\x01\x01" + one.key + bytes(64) + raw,
                        type=name,
                        author=one.key,
                        run=self._run,
                        round=None,
                        at_ms=at_ms,
                    )
                    rows.append(row)
            if len(rows) >= BATCH:
                self._insert(rows)
                rows.clear()
        self._insert(rows)
        for one in self._members:
            self._move_chain(one.key, *one.member.end)
        for name in kinds:
            self._state.types[name] += cycles * AUTHORS
        for size in range(self._size - cycles * CYCLE + 1, self._size + 1):
            self._state.snapshots.advance(size, self._state.count_keys_and_heads)

    def _move_chain(self, key: PeerKey, seq: int, last: Digest) -> None:
        first = self._state.peers[key].registered_index
        self._state.peers[key] = AuthorChain(registered_index=first, seq=seq, last=last)

    def _insert(self, rows: list[StoredEntry]) -> None:
        for row in rows:
            self._tree.append(row.leaf)
        with self._ledger.database.writer.begin() as connection:
            log_rows.insert_entries(connection, rows)
            log_rows.write_tiles(connection, self._tree.pop_changed())
        self._size = self._tree.size

    def _name_snapshot(self) -> None:
        if self._snapshot is None:
            raise FatalLogError("no snapshot was due in the cycles that were folded")
        coordinator = Coordinator(self._folder.signer(COORDINATOR_KEY), self._state, _stop)
        entry = coordinator.sign(self._snapshot, self._at_ms, None, None)
        self._snapshot = None
        self._fold(iter([entry]))

    def _sign(self) -> None:
        """Write the derived rows and the head, and sign it."""
        ledger, genesis = self._ledger, self._ledger.genesis
        grown = log_rows.SignedHead(
            origin=self._head.origin,
            size=self._size,
            root=self._tree.root(),
            term=self._head.term,
        )
        with ledger.database.writer.begin() as connection:
            derived.write(connection, self._changes, self._state)
            log_rows.swap_head(connection, self._head, grown)
        signer = open_signer(self._folder, None, VerifierKey.parse(genesis.log_key).key)
        log = Log(ledger.database, genesis, signer, ledger.guard, now_ms, self._tree)
        log.load(lambda _row, _entry: None)


def write(folder: Path, entries: int, *, folds_all: bool = False) -> bytes:
    """Write a log into a new folder; gives the hash of its state."""
    with DataFolder(folder) as held:
        ledger = open_ledger(settings_of(folder), held, now_ms)
        with closing(ledger.database):
            state = LongLog(held, ledger).write(entries, folds_all=folds_all)
            return sha256(snapshot.encode(state, 0))


def check(folder: Path) -> None:
    """Compare the state that is moved on with the one that a ledger folds from entry 0."""
    entries = 20 * CYCLE
    moved_on = write(folder, entries)
    for path in (folder / "blobs").rglob("*"):  # without its snapshot a ledger folds all
        if path.is_file() and path.stat().st_size > SNAPSHOT_ENTRIES:
            path.unlink()
    with DataFolder(folder) as held:
        ledger = open_ledger(settings_of(folder), held, now_ms)
        with closing(ledger.database):
            folded = sha256(snapshot.encode(ledger.state, 0))
    if folded != moved_on:
        raise SystemExit("the written log does not lead to the state that its snapshot has")


def _stop(_run: RunId | None, err: TequioError) -> None:
    raise err
