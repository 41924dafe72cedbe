"""The ledger's own check of its derived tables: row by row against the log, again and again.

Rules. A row is right if it follows from the log, and every row that follows must be there. A pass
goes over all tables in slices that cost milliseconds: keys against the state, which contains all of
them; the entries of the log, each with the rows of its round; and rows that no entry explains. A
start checks for START_S before it serves, which is all of a small log; while it serves, pass
follows pass, for at most a tenth of the time. No answer is made from a table with a wrong row
(`Database.damaged`) until `tequio-ledger replay` has rewritten it: such a row means that somebody
else writes to this database, or that the disk fails, so nothing is repaired in silence.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NoReturn, Protocol

import structlog
from sqlalchemy import Connection

from tequio_ledger.log.documents import DocumentCache
from tequio_ledger.log.guard import Published
from tequio_ledger.log.log import AdmittedEntry
from tequio_ledger.log.proofs import TileProofs
from tequio_ledger.store import entries, log_rows, queries, ranking
from tequio_ledger.store.models import (
    CREDIT,
    MEASURED,
    OPENED_RUN,
    PEER,
    ROUND,
    STANDING,
    TIER,
)
from tequio_shared.errors import TequioError
from tequio_shared.ids import PeerKey, RunId, to_text
from tequio_shared.log.merkle import leaf_hash, verify_inclusion
from tequio_shared.round.documents import Roster
from tequio_shared.served.rows import Row, columns, round_rows, run_row
from tequio_shared.served.state import State, key_rows
from tequio_shared.statements.runs import RoundRoster, RunOpen
from tequio_shared.statements.statement import Entry

if TYPE_CHECKING:
    from tequio_ledger.store.database import Database
    from tequio_ledger.store.log_rows import StoredEntry
    from tequio_shared.ids import NetworkId

START_S = 0.2
"""Time for which a start checks before it serves."""
KEYS, ENTRIES, ROWS = 64, 128, 512
"""Largest contents of one slice."""
COUNTED = 20_000
"""Most rounds of keys, in all, that are counted in one slice of several keys."""
RANKED = 1_000
"""Places of the ranking that are checked before everything else."""
TRIES = 5
"""Attempts to read keys while the log does not grow."""
PAUSE_S, PASS_PAUSE_S = 0.02, 5.0
"""Least pauses after a slice, and after a pass."""
BUSY = 0.1
"""Greatest part of the time in which a slice is checked."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongRow:
    """One column of a stored row that is not what follows from the log."""

    table: str
    row: str
    """Primary key of the row."""
    column: str
    """Empty if the whole row is missing, or has no reason to be there."""
    stored: str
    due: str

    def __str__(self) -> str:
        what = f"{self.column} of row {self.row}" if self.column else f"row {self.row}"
        return f"table {self.table}: {what} is {self.stored}, but {self.due} by the log"


Work = Callable[[Connection], Iterable[WrongRow]]
"""Reads rows in one transaction and yields the wrong ones; runs in a thread."""
Slice = Callable[[State, Published], Work]
"""Prepares the work from a state that is true for that size; runs where the state is changed."""


class StateHolder(Protocol):
    """The part of the sequencer, or of the follower in its place, that the check uses."""

    @property
    def state(self) -> State: ...

    async def settled(self) -> Published: ...


class TableCheck:
    """Owned by the ledger; finds wrong rows and marks their tables in the database."""

    def __init__(
        self,
        database: Database,
        net: NetworkId,
        documents: DocumentCache,
        pass_pause_s: float = PASS_PAUSE_S,
    ) -> None:
        self._database = database
        self._net = net
        self._documents = documents
        self._pass_pause_s = pass_pause_s
        self._found: dict[tuple[str, str, str], WrongRow] = {}
        self._unsure: list[PeerKey] = []  # keys that were read while the log grew

    @property
    def reason(self) -> str | None:
        """Sentence that names the first wrong row and the way out; None while all are right."""
        if not self._found:
            return None
        first, *others = self._found.values()
        more = f" (and {len(others)} more)" if others else ""
        return f"{first}{more}: {WAY_OUT}"

    def start(self, state: State, published: Published, spent_s: float = START_S) -> None:
        """Check for some time at most, before anything is served."""
        end_s = time.monotonic() + spent_s
        for one in self._pass(state, published.size):
            try:
                self._read(one(state, published))
            except (OSError, ValueError, TypeError) as err:
                log.warning("a row cannot be read", error=str(err))
            if time.monotonic() > end_s:
                return

    async def run(self, holder: Callable[[], StateHolder]) -> NoReturn:
        """Check pass after pass, until cancelled."""
        while True:
            state, published = await _settled(holder)
            for one in self._pass(state, published.size):
                await asyncio.sleep(await self._check(holder, one))
            await asyncio.sleep(self._pass_pause_s)

    async def _check(self, holder: Callable[[], StateHolder], one: Slice) -> float:
        """Check a slice; gives the pause after it."""
        work = one(*await _settled(holder))
        since_s = time.monotonic()
        try:
            await asyncio.to_thread(self._read, work)
        # A database that does not answer, which the sequencer reports too, or a stored value or
        # document that cannot be read: no page can show that one either.
        except (TequioError, OSError, ValueError, TypeError) as err:
            log.warning("tables could not be checked", error=str(err))
            return self._pass_pause_s
        return max(PAUSE_S, (time.monotonic() - since_s) / BUSY)

    def _read(self, work: Work) -> None:
        with self._database.translated_errors(), self._database.log_reader.begin() as connection:
            for one in work(connection):
                self._report(one)

    def _report(self, one: WrongRow) -> None:
        name = one.table, one.row, one.column
        if name in self._found:
            return
        self._found[name] = one
        self._database.damaged.setdefault(one.table, f"{one}: {WAY_OUT}")
        log.error(
            "a row does not follow from the log",
            table=one.table,
            row=one.row,
            column=one.column,
            stored=one.stored,
            due=one.due,
        )

    # --- One pass: the ranking, keys, rows without a reason, and rounds with their entries.

    def _pass(self, state: State, size: int) -> Iterator[Slice]:
        yield _check_runs
        yield _check_ranking
        for some in _slices(state):
            yield from self._keys(some)
        for table in (PEER, STANDING, TIER, OPENED_RUN, ROUND, CREDIT, MEASURED):
            yield from self._strays(table.name)
        # The newest entries first: these are what most people look at.
        for end in range(size, 0, -ENTRIES):
            yield partial(self._entries, max(end - ENTRIES, 0), end)

    def _keys(self, keys: list[PeerKey]) -> Iterator[Slice]:
        self._unsure = keys
        for _ in range(TRIES):
            if self._unsure:
                yield partial(self._check_keys, self._unsure)

    def _check_keys(self, keys: Sequence[PeerKey], state: State, published: Published) -> Work:
        # A state that was read again after a failed write may know fewer keys than the one before.
        known = [key for key in keys if key in state.peers]
        due = {key: (key_rows(state, key), state.attended[key]) for key in known}

        def work(connection: Connection) -> Iterator[WrongRow]:
            # The database may be ahead of the state from which the rows are due.
            head = log_rows.read_head(connection)
            is_sure = head is not None and head.size == published.size
            stored = {PeerKey(one.peer.key): one for one in queries.keys(connection, keys)}
            counts = queries.attended_counts(connection, keys)
            self._unsure = []
            for key, (rows, count) in due.items():
                found = stored.get(key)
                tables = (
                    ("peer", rows.peer, found.peer if found else None),
                    ("standing", rows.standing, found.standing if found else None),
                    ("tier", rows.tier, found.tier if found else None),
                )
                wrong = [one for table in tables for one in _differ(to_text(key), *table)]
                if counts.get(key, 0) != count:
                    stated = f"{counts.get(key, 0)} rounds"
                    wrong.append(_wrong("attended", to_text(key), stated, f"{count} rounds"))
                if wrong and is_sure:
                    yield from wrong
                elif wrong:
                    self._unsure.append(key)

        return work

    def _strays(self, table: str) -> Iterator[Slice]:
        cursor: list[tuple[object, ...] | None] = [None]
        while cursor:
            yield lambda state, _: partial(self._read_strays, table, cursor, state.founders)

    def _read_strays(
        self,
        table: str,
        cursor: list[tuple[object, ...] | None],
        founders: Iterable[PeerKey],
        connection: Connection,
    ) -> Iterator[WrongRow]:
        """Read the next page of a table; empties the cursor at the end."""
        rows = queries.reasons(connection, table, cursor.pop(), ROWS)
        for key, has_reason in rows:
            if not has_reason and key[0] not in founders:
                yield _wrong(table, _text(key), "there", "no such row")
        if len(rows) == ROWS:
            cursor.append(rows[-1][0])

    def _entries(self, first: int, end: int, state: State, published: Published) -> Work:
        return partial(self._read_entries, first, min(end, published.size), published, state)

    def _read_entries(
        self, first: int, end: int, published: Published, state: State, connection: Connection
    ) -> Iterator[WrongRow]:
        """Check entries under the signed root, and the rows of the rounds that begin there."""
        proofs = TileProofs(partial(log_rows.read_tile, connection), published.size)
        rows = list(log_rows.each_entry(connection, first, end))
        if [one.index for one in rows] != list(range(first, end)):
            yield _wrong("log_entry", f"{first} to {end - 1}", f"{len(rows)} rows", "one each")
            return
        for stored in rows:
            entry = self._checked(stored, proofs, published)
            if entry is None:
                yield _wrong("log_entry", str(stored.index), "another entry", "the one signed")
                return
            statement = entry.statement
            if isinstance(statement.body, RunOpen):
                due = run_row(stored.index, statement)
                found = queries.run_row(connection, due.run)
                yield from _differ(_text((due.run,)), "run", due, found)
                yield from self._round(connection, RunId(due.run), 0, state)
            if isinstance(statement.body, RoundRoster) and statement.run and statement.round:
                yield from self._round(connection, statement.run, statement.round, state)

    def _checked(
        self, stored: StoredEntry, proofs: TileProofs, published: Published
    ) -> Entry | None:
        """Parse an entry; None unless it is the one under the signed root, and filed as such."""
        try:
            path = proofs.inclusion(stored.index)
            hashed = leaf_hash(stored.leaf)
            verify_inclusion(hashed, stored.index, published.size, path, published.root)
            entry = Entry.parse(stored.leaf)
        except (TequioError, IndexError):
            return None
        due = AdmittedEntry.of(entry, self._net, stored.at_ms).row(stored.index)
        return entry if due == stored else None

    def _round(
        self, connection: Connection, run: RunId, number: int, state: State
    ) -> Iterator[WrongRow]:
        """Derive the rows of a round again, and compare; the state gives teams and ends."""
        leaves = entries.leaves_of_round(connection, run, number)
        of_round = [(index, Entry.parse(leaf).statement) for index, leaf, _ in leaves]
        name = f"{to_text(run)} {number}"
        try:
            due = round_rows(
                of_round,
                lambda digest: Roster.parse(self._documents.read(digest)),
                self._documents.read,
                state.teams.at,
                state.links.is_paid,
            )
        except KeyError as err:
            log.warning("a round could not be checked", round=name, missing=str(err.args[0]))
            return
        found = queries.stored_round(connection, run, number, due.attended)
        yield from _differ(name, "round", due.round, found.round)
        yield from _differ_all(
            "credit", due.credits, found.credits, ("run", "round", "peer", "kind", "author")
        )
        yield from _differ_all("measured", due.measures, found.measures, ("run", "round", "peer"))
        yield from _differ_all("attended", due.attended, found.attended, ("peer", "closed_index"))


def _slices(state: State) -> Iterator[list[PeerKey]]:
    """Cut the keys into slices; one with more than COUNTED rounds is alone."""
    some, counted = list[PeerKey](), 0
    for key in list(state.peers):
        rounds = state.attended[key]
        if some and (len(some) == KEYS or counted + rounds > COUNTED):
            yield some
            some, counted = [], 0
        some.append(key)
        counted += rounds
    if some:
        yield some


async def _settled(holder: Callable[[], StateHolder]) -> tuple[State, Published]:
    """Wait for a state that is true for a signed size."""
    while True:
        one = holder()
        published = await one.settled()
        # After a failed write the state is ahead for good, and another holder takes its place.
        if holder() is one:
            return one.state, published


WAY_OUT = (
    "stop the ledger, find out who changed its database or whether the disk fails, and run "
    "`tequio-ledger replay`"
)


def _check_runs(state: State, published: Published) -> Work:
    """Check the last round of each run, and how many rounds there are."""
    numbers = {run: view.number for run, view in state.runs.items()}

    def work(connection: Connection) -> Iterator[WrongRow]:
        head = log_rows.read_head(connection)
        if head is None or head.size != published.size:
            return
        for run, number in numbers.items():
            last = queries.last_rounds(connection, run, 1)
            stored = last[0].round if last else 0
            if stored != number:
                yield _wrong("round", to_text(run), f"{stored} rounds", f"{number} rounds")

    return work


def _check_ranking(state: State, published: Published) -> Work:
    """Check the top of the ranking: that a stranger is there shows in no row of another key."""
    known = state.peers

    def work(connection: Connection) -> Iterator[WrongRow]:
        head = log_rows.read_head(connection)
        if head is None or head.size != published.size:
            return  # the database is ahead: it may rank a key that the state does not know yet
        for one in ranking.after(connection, 0, RANKED):
            if one.key not in known:
                place = f"at rank {one.rank}"
                yield _wrong("peer", to_text(one.key), place, "no such key")

    return work


def _wrong(table: str, row: str, stored: str, due: str) -> WrongRow:
    return WrongRow(table=table, row=row, column="", stored=stored, due=due)


def _differ(name: str, table: str, due: Row | None, found: Row | None) -> Iterator[WrongRow]:
    if due is None or found is None:
        if due is not found:
            stored, expected = ("there", "no such row") if found else ("missing", "there")
            yield _wrong(table, name, stored, expected)
        return
    in_table = columns(found)
    for column, value in columns(due).items():
        if in_table[column] != value:
            was, should = _shown(in_table[column]), _shown(value)
            yield WrongRow(table=table, row=name, column=column, stored=was, due=should)


def _differ_all(
    table: str, due: Iterable[Row], found: Iterable[Row], key: Sequence[str]
) -> Iterator[WrongRow]:
    ours, theirs = _by_key(due, key), _by_key(found, key)
    for name in ours.keys() | theirs.keys():
        yield from _differ(_text(name), table, ours.get(name), theirs.get(name))


def _by_key(rows: Iterable[Row], key: Sequence[str]) -> Mapping[tuple[object, ...], Row]:
    return {tuple(getattr(row, name) for name in key): row for row in rows}


def _text(key: Iterable[object]) -> str:
    return " ".join(map(_shown, key))


def _shown(value: object) -> str:
    return to_text(value) if isinstance(value, bytes) else repr(value)[:200]
