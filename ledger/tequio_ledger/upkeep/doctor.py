"""Looks at a ledger from outside, serving or not, and changes nothing.

Every check gives findings; one that fails does not hide the others. What needs the database sees
it as of one moment.
"""

from __future__ import annotations

import os
import shutil
import stat
from contextlib import closing
from typing import TYPE_CHECKING

from sqlalchemy.exc import DatabaseError

from tequio_ledger import founding
from tequio_ledger.log import guard
from tequio_ledger.signing import places
from tequio_ledger.store import files
from tequio_ledger.store.engine import Database
from tequio_ledger.upkeep import medical
from tequio_ledger.upkeep.findings import RESTORE, Finding, error, ok, warning
from tequio_ledger.web.server import bind
from tequio_shared.errors import TequioError, UserFacingError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from tequio_ledger.clock import Clock
    from tequio_ledger.config.settings import LedgerSettings
    from tequio_ledger.folder import Folder
    from tequio_shared.genesis import Genesis

LEAST_FREE_BYTES = 256 << 20
"""Less free room than this is a warning."""


def examine(settings: LedgerSettings, folder: Folder, clock: Clock) -> list[Finding]:
    """Check everything that can be checked."""
    if not settings.database and not folder.database.exists():
        found = f"{folder.path} holds no ledger"
        return [error("folder", found, "choose its folder with --dir, or serve it to found one")]
    findings = [*_folder(folder), *_room(folder)]
    running = folder.is_locked()
    with closing(Database(settings.database or folder.database)) as database:
        findings += _signing(folder, database)
        findings += _database(settings, folder, database, clock)
    return [*findings, *_port(settings, is_running=running)]


def _folder(folder: Folder) -> Iterator[Finding]:
    for path in (folder.path, *founding.key_paths(folder)):
        if not path.exists():
            yield error("folder", f"{path} is missing", f"put it back, or {RESTORE}")
        elif path.suffix != ".pub" and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            mode = "700" if path.is_dir() else "600"
            yield warning("folder", f"others may use {path}", f"run chmod {mode} {path}")
    if not os.access(folder.path, os.W_OK | os.X_OK):
        yield error("folder", f"{folder.path} may not be written", "change its owner or its rights")
    else:
        yield ok("folder", str(folder.path))


def _room(folder: Folder) -> Iterator[Finding]:
    free = shutil.disk_usage(folder.path).free
    if free < files.PROBE_BYTES:
        yield error("disk", f"{free >> 20} MiB are free: nothing can be written", "free some space")
    elif free < LEAST_FREE_BYTES:
        yield warning("disk", f"only {free >> 20} MiB are free", "free some space soon")
    else:
        yield ok("disk", f"{free >> 20} MiB are free")


def _signing(folder: Folder, database: Database) -> Iterator[Finding]:
    try:
        mark = guard.mark_of(folder.mark, database)
    except UserFacingError as err:
        yield error("signing", str(err), RESTORE)
        return
    except (TequioError, DatabaseError):
        return  # of the database, which is looked at by itself
    if mark is None and places.forgot(folder):
        found = f"{folder.path / places.MEMORY} is missing, so the log's key signs nothing"
        yield error(
            "signing", found, "bring it back, or promise: `tequio-ledger restore --confirm`"
        )
    elif mark is None:
        yield ok("signing", "the ledger may sign")
    elif mark.cause is guard.Cause.RESTORED:
        yield warning("signing", guard.what(mark), guard.way_out(mark))
    else:
        yield error("signing", guard.what(mark), guard.way_out(mark))


def _database(
    settings: LedgerSettings, folder: Folder, database: Database, clock: Clock
) -> Iterator[Finding]:
    try:
        with database.reader.begin() as connection:
            yield from _pages(database, connection)
            genesis = founding.stored(database)
            if genesis is None:
                yield error("log", "the database holds no entry", "serve the ledger once")
                return
            yield from _keys(folder, genesis)
            yield from _settings(settings, genesis)
            yield from _network(settings, genesis)
            yield from medical.log(connection, folder, database, genesis, clock)
    except DatabaseError as err:
        yield error("database", database.explain(err), RESTORE)
    except UserFacingError as err:
        yield error("log", str(err), RESTORE)
    except TequioError as err:
        yield error("log", f"the log does not hold: {err}", RESTORE)


def _pages(database: Database, connection: Connection) -> Iterator[Finding]:
    faults = list(database.check_pages(connection))
    if not faults:
        yield ok("database", f"{database.name} finds its pages sound")
    for fault in faults:
        yield error("database", f"{database.name} finds: {fault}", RESTORE)


def _keys(folder: Folder, genesis: Genesis) -> Iterator[Finding]:
    try:
        founding.check_keys(genesis, folder)
    except UserFacingError as err:
        yield error("keys", str(err), "the ledger does not start before that")
    else:
        yield ok("keys", "log and coordinator sign with the keys of the genesis")


def _settings(settings: LedgerSettings, genesis: Genesis) -> Iterator[Finding]:
    said = {
        "--network": (settings.network, genesis.name),
        "--origin": (settings.origin, genesis.origin),
    }
    for option, (given, held) in said.items():
        if given != held:
            yield warning(
                "settings",
                f"{option} is {given!r}, but this ledger was founded with {held!r}",
                f"use {option} {held}",
            )
    yield ok("settings", f"network {genesis.name}, log {genesis.origin}")


def _network(settings: LedgerSettings, genesis: Genesis) -> Iterator[Finding]:
    anew = "found another network, in a new folder,"
    if not genesis.organisers:
        found = "this network was founded without organisers: nobody can open a run in it"
        yield warning("network", found, f"{anew} with --organiser KEY (`tequio run key`)")
    if founding.has_no_name(genesis.origin, settings.host):
        found = f"others are served the log {genesis.origin!r}, a name that many logs have"
        yield warning("network", found, f"{anew} with an --origin of your own")


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
