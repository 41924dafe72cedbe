"""`tequio-ledger doctor`: checks a ledger, running or not, and changes nothing.

Every check gives findings; one that fails does not hide the others. All checks of the database see
it as of one moment. Blobs in a bucket are fetched to be read, as the ledger itself does.
"""

from __future__ import annotations

import enum
import os
import shutil
import sqlite3
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from itertools import zip_longest

import click
import msgspec
from msgspec import Struct
from sqlalchemy import Connection, ExceptionContext, Table, create_engine, event, select
from sqlalchemy.exc import DatabaseError

from tequio_ledger import runtime
from tequio_ledger.config.options import with_found
from tequio_ledger.config.settings import LEDGER, LedgerSettings
from tequio_ledger.config.sources import FoundSettings
from tequio_ledger.data_folder import DataFolder
from tequio_ledger.genesis import check_keys, has_default_name, key_paths, read_genesis
from tequio_ledger.log import documents, guard
from tequio_ledger.log.clock_guard import REPORTED_STEP_MS
from tequio_ledger.log.documents import DocumentCache
from tequio_ledger.log.log import Integrity
from tequio_ledger.log.proofs import root_at
from tequio_ledger.runtime import Clock
from tequio_ledger.signing import client
from tequio_ledger.store import derived, files, log_rows
from tequio_ledger.store.blobs import BlobFolder, open_blobs
from tequio_ledger.store.database import Database
from tequio_ledger.store.files import UnwritableError
from tequio_ledger.store.log_rows import SignedHead, StoredEntry
from tequio_ledger.store.models import DERIVED, METADATA
from tequio_ledger.web.server import bind
from tequio_shared.errors import FatalLogError, TequioError, UserFacingError
from tequio_shared.ids import Digest
from tequio_shared.network.genesis import Genesis
from tequio_shared.served.state import State
from tequio_shared.statements.statement import Entry
from tequio_shared.wording import plural

RESTORE = "restore the folder from a backup"
"""Advice for most damage."""
LEAST_FREE_BYTES = 256 << 20
"""Less free space than this is a warning."""
COMPARED = 1_000
"""Rows of a table that are compared at a time."""


class Grade(enum.IntEnum):
    """Severity; the worst one is the exit status of `doctor`."""

    OK = 0
    WARNING = 1
    """The ledger works, but not for long, or not as intended."""
    ERROR = 2
    """Something is damaged, or the ledger cannot work."""


class Finding(Struct, frozen=True, kw_only=True):
    check: str
    grade: Grade
    found: str
    to_do: str = ""
    """Empty when all is well."""


def ok(check: str, found: str) -> Finding:
    return Finding(check=check, grade=Grade.OK, found=found)


def warning(check: str, found: str, to_do: str) -> Finding:
    return Finding(check=check, grade=Grade.WARNING, found=found, to_do=to_do)


def error(check: str, found: str, to_do: str) -> Finding:
    return Finding(check=check, grade=Grade.ERROR, found=found, to_do=to_do)


def worst(findings: Iterable[Finding]) -> Grade:
    return max((finding.grade for finding in findings), default=Grade.OK)


@click.command("doctor")
@with_found(LEDGER)
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def doctor(found: FoundSettings[LedgerSettings], *, as_json: bool) -> None:
    """Check everything and say what to do.

    The exit status is 0 if all is well, 1 for warnings, and 2 for errors.
    """
    runtime.configure("critical")
    try:
        settings = found.convert()
    except UserFacingError as err:
        findings = [error("settings", str(err), "the ledger does not start before this is mended")]
    else:
        findings = examine(settings, DataFolder(settings.folder), runtime.now_ms)
    if as_json:
        click.echo(msgspec.json.encode(findings))
    else:
        for one in findings:
            text = f"{one.grade.name.lower():8}{one.check}: {one.found}"
            click.echo(f"{text}; {one.to_do}" if one.to_do else text)
    sys.exit(worst(findings))


def examine(settings: LedgerSettings, folder: DataFolder, clock: Clock) -> list[Finding]:
    """Run every check."""
    if not settings.database and not folder.database.exists():
        found = f"{folder.path} holds no ledger"
        return [error("folder", found, "choose its folder with --dir, or serve it to found one")]
    findings = [*_folder(folder), *_free_space(folder)]
    is_running = folder.is_locked()
    with closing(Database(settings.database or folder.database)) as database:
        findings += _signing(folder, database)
        findings += _database(settings, folder, database, clock)
    return [*findings, *_port(settings, is_running=is_running)]


def _folder(folder: DataFolder) -> Iterator[Finding]:
    for path in (folder.path, *key_paths(folder)):
        if not path.exists():
            yield error("folder", f"{path} is missing", f"put it back, or {RESTORE}")
        elif path.suffix != ".pub" and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            mode = "700" if path.is_dir() else "600"
            yield warning("folder", f"others may use {path}", f"run chmod {mode} {path}")
    if not os.access(folder.path, os.W_OK | os.X_OK):
        yield error("folder", f"{folder.path} may not be written", "change its owner or its rights")
    else:
        yield ok("folder", str(folder.path))


def _free_space(folder: DataFolder) -> Iterator[Finding]:
    free = shutil.disk_usage(folder.path).free
    if free < files.PROBE_BYTES:
        yield error("disk", f"{free >> 20} MiB are free: nothing can be written", "free some space")
    elif free < LEAST_FREE_BYTES:
        yield warning("disk", f"only {free >> 20} MiB are free", "free some space soon")
    else:
        yield ok("disk", f"{free >> 20} MiB are free")


def _signing(folder: DataFolder, database: Database) -> Iterator[Finding]:
    try:
        mark = guard.mark_of(folder.mark, database)
    except UserFacingError as err:
        yield error("signing", str(err), RESTORE)
        return
    except (TequioError, DatabaseError):
        return  # reported by the check of the database
    if mark is None and client.has_no_memory(folder):
        found = f"{folder.path / client.MEMORY} is missing, so the log's key signs nothing"
        to_do = (
            "restore that file, or confirm that nothing was lost: `tequio-ledger restore --confirm`"
        )
        yield error("signing", found, to_do)
    elif mark is None:
        yield ok("signing", "the ledger may sign")
    elif mark.cause is guard.Cause.RESTORED:
        yield warning("signing", guard.describe(mark), guard.remedy(mark))
    else:
        yield error("signing", guard.describe(mark), guard.remedy(mark))


def _database(
    settings: LedgerSettings, folder: DataFolder, database: Database, clock: Clock
) -> Iterator[Finding]:
    try:
        with database.reader.begin() as connection:
            yield from _pages(database, connection)
            genesis = read_genesis(database)
            if genesis is None:
                yield error("log", "the database holds no entry", "serve the ledger once")
                return
            if not database.is_current(connection):
                found = f"{database.name} was made by another version of tequio-ledger"
                yield error("database", found, "run `tequio-ledger migrate`, or use that version")
                return
            yield from _keys(folder, genesis)
            yield from _settings(settings, genesis)
            yield from _network(settings, genesis)
            blobs = open_blobs(settings, folder.blobs, database, clock)
            yield from check_log(connection, blobs, genesis, clock)
    except DatabaseError as err:
        yield error("database", database.dialect.explain(err), RESTORE)
    except UnwritableError as err:
        yield error("blobs", str(err), "mend that, and run `tequio-ledger doctor` again")
    except UserFacingError as err:
        yield error("log", str(err), RESTORE)
    except TequioError as err:
        yield error("log", f"the log is not valid: {err}", RESTORE)


def _pages(database: Database, connection: Connection) -> Iterator[Finding]:
    faults = list(database.dialect.check_pages(connection))
    if not faults:
        yield ok("database", f"{database.name} reports no damaged page")
    for fault in faults:
        yield error("database", f"{database.name} reports: {fault}", RESTORE)


def _keys(folder: DataFolder, genesis: Genesis) -> Iterator[Finding]:
    try:
        check_keys(genesis, folder)
    except UserFacingError as err:
        yield error("keys", str(err), "the ledger does not start until then")
    else:
        yield ok("keys", "log and coordinator have the keys of the genesis")


def _settings(settings: LedgerSettings, genesis: Genesis) -> Iterator[Finding]:
    founded = {
        "--network": (settings.network, genesis.name),
        "--origin": (settings.origin, genesis.origin),
    }
    for option, (value, first) in founded.items():
        if value != first:
            found = f"{option} is {value!r}, but this ledger was founded with {first!r}"
            yield warning("settings", found, f"use {option} {first}")
    yield ok("settings", f"network {genesis.name}, log {genesis.origin}")


def _network(settings: LedgerSettings, genesis: Genesis) -> Iterator[Finding]:
    again = "found another network, in a new folder,"
    if not genesis.organisers:
        found = "this network was founded without organisers: nobody can open a run in it"
        yield warning("network", found, f"{again} with --organiser KEY (`tequio run key`)")
    if has_default_name(genesis.origin, settings.host):
        found = f"others can reach the log {genesis.origin!r}, a name that many logs have"
        yield warning("network", found, f"{again} with an --origin of your own")


def _port(settings: LedgerSettings, *, is_running: bool) -> Iterator[Finding]:
    if is_running:
        yield ok("port", "the ledger is running")
        return
    try:
        bind(settings.host, settings.port).close()
    except UserFacingError as err:
        yield error("port", str(err), "free it or choose another")
    else:
        yield ok("port", f"{settings.host} port {settings.port} is free; the ledger is not running")


# --- Checks of stored data: entries, checkpoints, derived tables, blobs, times.


def check_log(
    connection: Connection, blobs: BlobFolder, genesis: Genesis, clock: Clock
) -> Iterator[Finding]:
    """Check the log and everything derived from it; raises UserFacingError if the log is damaged.

    `connection` is inside one transaction, so that a running ledger does not change what it sees.
    """
    head = log_rows.read_head(connection)
    if head is None:
        raise UserFacingError("the log has no head")
    broken = list(_documents(connection, blobs))
    yield from broken
    yield from _checkpoints(connection, head, genesis)
    if broken:  # without them the log cannot be folded
        return
    with _fresh_tables() as fresh:
        fold = _Fold(genesis, blobs, fresh)
        Integrity(genesis.network_id).check(connection, head, fold.apply)
        yield ok("log", f"{plural(head.size, 'entry', 'entries')}, every byte as it was written")
        yield from fold.compare(connection)
    yield from _blobs(blobs)
    yield from _clock(connection, fold.latest_ms, clock())


def _documents(connection: Connection, blobs: BlobFolder) -> Iterator[Finding]:
    for index, digest in documents.documents(connection):
        if not _is_sound(blobs, digest):
            found = f"the document {digest.hex()} of entry {index} is missing or damaged"
            place = files.blob_path(digest)
            to_do = f"copy it from a backup to {place} in the folder or bucket of blobs"
            yield error("documents", found, to_do)


def _checkpoints(connection: Connection, head: SignedHead, genesis: Genesis) -> Iterator[Finding]:
    count = last = 0
    for stored in log_rows.each_checkpoint(connection):
        guard.newest(stored, head, genesis.log_key)
        try:
            is_ours = root_at(connection, stored.size) == stored.root
        except FatalLogError:
            is_ours = False
        if not is_ours:
            found = f"checkpoint {stored.size} was signed over other entries"
            yield error("checkpoints", found, f"do not serve this ledger: {RESTORE}")
        count, last = count + 1, stored.size
    if last < head.size:
        found = f"entries {last} to {head.size - 1} have no checkpoint yet"
        yield warning("checkpoints", found, "start the ledger: it signs what is committed")
    yield ok("checkpoints", f"{count}, the last of {plural(last, 'entry', 'entries')}")


@contextmanager
def _fresh_tables() -> Iterator[Connection]:
    """Make empty tables in a temporary file of SQLite's, which is deleted in the end."""
    engine = create_engine("sqlite://", creator=lambda: sqlite3.connect(""))

    @event.listens_for(engine, "handle_error")
    def blame_the_file(context: ExceptionContext) -> None:
        raise UnwritableError(
            f"the temporary file for comparing tables cannot be used ({context.original_exception})"
            ": free some space, or name another folder in SQLITE_TMPDIR"
        )

    try:
        METADATA.create_all(engine)
        with engine.begin() as connection:
            yield connection
    finally:
        engine.dispose()


class _Fold:
    """The state and the derived rows, computed again from the log."""

    def __init__(self, genesis: Genesis, blobs: BlobFolder, fresh: Connection) -> None:
        self.latest_ms = 0
        """Latest time signed by the coordinator."""
        self._state = State(genesis, DocumentCache(blobs).read)
        self._fresh = fresh
        self._rebuild = derived.Rebuild(fresh, self._state)
        self._coordinator = genesis.coordinator_key

    def apply(self, stored: StoredEntry, entry: Entry) -> None:
        self._state.apply(stored.index, entry, stored.at_ms)
        self._rebuild.add(stored.index, entry)
        if entry.statement.author == self._coordinator:
            self.latest_ms = max(self.latest_ms, entry.statement.ts)

    def compare(self, connection: Connection) -> Iterator[Finding]:
        """Compare the stored derived tables with those computed from the log."""
        # Written to a database of SQLite's and read back, so that both sides went through the same
        # types; the stored one may be PostgreSQL.
        self._rebuild.finish()
        for table in DERIVED:
            both = zip_longest(_rows(connection, table), _rows(self._fresh, table))
            if any(stored != due for stored, due in both):
                found = f"the table {table.name} does not follow from the log"
                yield error("tables", found, "stop the ledger and run `tequio-ledger replay`")
        yield ok("tables", "derived tables were compared with a replay")


def _rows(connection: Connection, table: Table) -> Iterator[tuple[object, ...]]:
    query = select(table).order_by(*table.primary_key)
    for row in connection.execute(query, execution_options={"yield_per": COMPARED}):
        yield tuple(row)


def _blobs(blobs: BlobFolder) -> Iterator[Finding]:
    rows, files = blobs.rows(), blobs.digests()
    for digest in sorted(rows.keys() - files):
        yield warning("blobs", f"the file of blob {digest.hex()} is missing", "upload it again")
    for digest in sorted(files):
        if not _is_sound(blobs, digest):
            found = f"{blobs.path(digest)} does not have the hash in its name"
            yield warning("blobs", found, "remove the file and upload the blob again")
        elif digest not in rows:
            found = f"{blobs.path(digest)} has no row in the database"
            yield warning("blobs", found, "restart the ledger: it counts the file")
    yield ok("blobs", f"{plural(len(files), 'file was', 'files were')} read and hashed")


def _clock(connection: Connection, latest_ms: int, now_ms: int) -> Iterator[Finding]:
    last = log_rows.read_last_checkpoint(connection)
    behind_ms = max(latest_ms, last.at_ms if last else 0) - now_ms
    if behind_ms > REPORTED_STEP_MS:
        found = f"the clock is {behind_ms // 1000} s behind the last signed time"
        yield error("clock", found, "correct it: rounds stand still until then")
    else:
        yield ok("clock", "it is not behind the last signed time")


def _is_sound(blobs: BlobFolder, digest: Digest) -> bool:
    try:
        blobs.open(digest).close()
    except KeyError:
        return False
    return True
