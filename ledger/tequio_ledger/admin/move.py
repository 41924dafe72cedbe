"""`tequio-ledger migrate` and `tequio-ledger move`: the tables of a ledger's database.

Order of a move: the target is marked as unfinished before its first row and until its last; entries
are copied in durable pages, so that an interrupted move continues where it ended; then all other
rows are copied again. The whole tree is built from the rows in the target, and must have the
source's root. Then the source is marked: nothing is signed there any more. Last the target gets its
head and loses its mark. So at no time two ledgers may sign one log. The new mark contains the mark
that the source had before, so a move interrupted between the two steps passes it on too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing

import click
import msgspec
from sqlalchemy import Connection, Table, delete, func, select

from tequio_ledger import runtime
from tequio_ledger.config.options import with_settings
from tequio_ledger.config.settings import LEDGER, LedgerSettings
from tequio_ledger.data_folder import DataFolder
from tequio_ledger.genesis import existing_ledger, read_genesis
from tequio_ledger.log import guard
from tequio_ledger.log.guard import Cause, Mark
from tequio_ledger.log.log import Integrity
from tequio_ledger.store import log_rows
from tequio_ledger.store.database import Database
from tequio_ledger.store.files import UnwritableError
from tequio_ledger.store.insertion import empty, insert_many
from tequio_ledger.store.log_rows import SignedHead, StoredEntry
from tequio_ledger.store.models import LOG_ENTRY, LOG_HEAD, LOG_MARK, METADATA, SUBMISSION
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import to_text
from tequio_shared.network.genesis import Genesis
from tequio_shared.wording import plural

Report = Callable[[int, int], None]

PAGE_ROWS = 4096
_APART = {LOG_ENTRY, LOG_HEAD, LOG_MARK, SUBMISSION}
"""Tables that are not simply copied."""


class Move:
    """One move; after an interruption, `run` may be called again, even by another process."""

    def __init__(
        self,
        folder: DataFolder,
        source: Database,
        target: Database,
        *,
        page_rows: int = PAGE_ROWS,
    ) -> None:
        """`folder` must be locked, and be the source's own if that is SQLite."""
        self._folder = folder
        self._source = source
        self._target = target
        self._page_rows = page_rows

    def run(self, report: Report) -> SignedHead:
        """Move everything; calls `report` with the number of entries copied, and of all entries.

        Gives the log's head in the target. Raises UserFacingError.
        """
        if self._source.name == self._target.name:
            raise UserFacingError(f"{self._source.name} cannot be moved to itself")
        try:
            return self._run(report)
        except UnwritableError as err:
            raise UserFacingError(f"{err} (stop every ledger that serves it)") from err

    def _run(self, report: Report) -> SignedHead:
        self._source.migrate()
        self._target.migrate()
        genesis = read_genesis(self._source)
        head = _head(self._source)
        if genesis is None or head is None:
            raise UserFacingError(f"{self._source.name} holds no log: there is nothing to move")
        with ExitStack() as locks:
            for database in (self._source, self._target):  # keeps out every other writer
                database.hold_leader_lock()
                locks.callback(database.release_leader_lock)
            self._begin(head)
            self._copy_entries(head, report)
            self._copy_rest()
            self._check(genesis, head)
            mark = self._mark_source(genesis, head)
            self._finish(head, mark)
        return head

    def _begin(self, head: SignedHead) -> None:
        """Mark the target; raises UserFacingError unless it is empty or was begun with this log."""
        with self._target.writer.begin() as connection:
            mark = log_rows.read_mark(connection)
            begun = mark is not None and guard.decode_mark(mark).cause is Cause.UNFINISHED
            entries = _count(connection)
            if entries and not begun:
                raise UserFacingError(
                    f"{self._target.name} holds a log of {entries} entries already: choose an "
                    "empty database"
                )
            last = log_rows.read_leaves(connection, entries - 1, entries)
            unfinished = Mark(cause=Cause.UNFINISHED, size=head.size)
            log_rows.write_mark(connection, msgspec.json.encode(unfinished))
        # The last common entry is enough: the tree of the whole target is checked later.
        with self._source.reader.begin() as connection:
            same = log_rows.read_leaves(connection, entries - 1, entries)
        if last != same:
            raise UserFacingError(
                f"{self._target.name} holds the beginning of another log: choose an empty database"
            )

    def _copy_entries(self, head: SignedHead, report: Report) -> None:
        with self._target.reader.begin() as connection:
            first = _count(connection)
        with self._source.reader.begin() as connection:
            page: list[StoredEntry] = []
            for entry in log_rows.each_entry(connection, first, head.size):
                page.append(entry)
                if len(page) == self._page_rows or entry.index + 1 == head.size:
                    with self._target.writer.begin() as target:
                        log_rows.insert_entries(target, page)
                    page.clear()
                    report(entry.index + 1, head.size)

    def _copy_rest(self) -> None:
        tables = [one for one in METADATA.sorted_tables if one not in _APART]  # parents first
        with self._source.reader.begin() as source, self._target.writer.begin() as target:
            empty(target, tables[::-1])
            for table in tables:
                for rows in _pages(source, table, self._page_rows):
                    insert_many(target, table, rows)

    def _check(self, genesis: Genesis, head: SignedHead) -> None:
        """Build the tree from what the target holds; raises UserFacingError when it differs."""
        with self._target.reader.begin() as connection:
            check = Integrity(genesis.network_id).check
            check(connection, head, lambda _stored, _entry: None)

    def _mark_source(self, genesis: Genesis, head: SignedHead) -> Mark | None:
        """Forbid signing at the source; gives the mark that the target inherits."""
        found = guard.Guard(self._folder.mark, genesis, self._source).mark
        former = found.former if found is not None and found.cause is Cause.MOVED else found
        moved = Mark(cause=Cause.MOVED, size=head.size, former=former)
        guard.store_mark(self._folder.mark, self._source, moved)
        return former

    def _finish(self, head: SignedHead, mark: Mark | None) -> None:
        with self._target.writer.begin() as connection:
            connection.execute(delete(LOG_HEAD))
            log_rows.create_head(connection, head)
            log_rows.delete_mark(connection)
            if mark is not None:
                log_rows.write_mark(connection, msgspec.json.encode(mark))


def _pages(
    connection: Connection, table: Table, page_rows: int
) -> Iterator[list[dict[str, object]]]:
    rows = connection.execution_options(yield_per=page_rows).execute(select(table))
    for page in rows.mappings().partitions():
        yield [dict(row) for row in page]


def _count(connection: Connection) -> int:
    return connection.scalar(select(func.count()).select_from(LOG_ENTRY)) or 0


@click.command("migrate")
@with_settings(LEDGER)
def migrate(settings: LedgerSettings) -> None:
    """Update the tables to this version, as each start does; the log does not change."""
    runtime.configure("warning")
    with existing_ledger(settings) as (_folder, database):
        before, head = database.revision(), _head(database)
        database.migrate()
        if head is not None and _head(database) != head:
            raise UserFacingError(
                f"the log in {database.name} changed meanwhile: stop every ledger that serves it"
            )
        now = database.revision()
    log = (
        "no log yet"
        if head is None
        else f"{plural(head.size, 'entry', 'entries')}, root {to_text(head.root)}"
    )
    click.echo(f"tables {before or 'none'} -> {now}; {log}")


@click.command("move")
@with_settings(LEDGER)
@click.option("--to", "target", required=True, help="URL of an empty database.")
def move(settings: LedgerSettings, target: str) -> None:
    """Move a ledger to another database; after an interruption, run it again.

    Afterwards nothing is signed in the old database. Blobs and keys stay where they are: serve the
    same folder with --database.
    """
    runtime.configure("warning")
    with existing_ledger(settings) as (folder, old), closing(Database(target)) as new:
        head = Move(folder, old, new).run(_report)
    click.echo(
        f"moved {plural(head.size, 'entry', 'entries')} with root {to_text(head.root)}; "
        f"continue with "
        f"`tequio-ledger serve --database {new.name}`"
    )


def _head(database: Database) -> SignedHead | None:
    if database.revision() is None:
        return None
    with database.reader.begin() as connection:
        return log_rows.read_head(connection)


def _report(done: int, of: int) -> None:
    click.echo(f"{done} of {of} entries", err=True)
