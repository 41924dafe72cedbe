"""A folder made again from a backup, checked to the byte, and marked: it must not sign yet.

Whoever restores an old backup and goes on signing forks the log without noticing. So the restored
ledger only reads until `confirm`, which holds the log against every checkpoint that it is shown.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from tequio_ledger import founding
from tequio_ledger.clock import now_ms
from tequio_ledger.folder import Folder
from tequio_ledger.log.guard import Cause, Guard, Mark, write_mark
from tequio_ledger.log.log import Log
from tequio_ledger.sequencing.shelf import Shelf
from tequio_ledger.signing import places
from tequio_ledger.state import State
from tequio_ledger.store import files
from tequio_ledger.store.blobs import BlobFolder
from tequio_ledger.store.engine import Database
from tequio_ledger.upkeep import manifest
from tequio_shared.errors import PeerError, UserFacingError
from tequio_shared.notes import NOTE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tequio_ledger.upkeep.manifest import File, Manifest
    from tequio_shared.genesis import Genesis


def restore(source: Path, target: Path) -> Manifest:
    """Make a folder from a backup; it is there, whole and durable, when this returns.

    Raises UserFacingError, and leaves nothing behind then.
    """
    made = manifest.read(source)
    with files.building(target) as fresh:
        for file in made.files:
            _copy(source, fresh, file)
        _mark(Folder(fresh), made)
        _check(Folder(fresh))
    return made


def confirm(folder: Folder, notes: Iterable[Path], rows: str = "") -> int:
    """Let a ledger sign again if it holds every checkpoint shown; gives its size.

    One that was restored, or whose key lost what it signed; `rows` is its database's URL, empty for
    the folder's own. Raises UserFacingError.
    """
    with folder, closing(Database(rows or folder.database)) as database:
        genesis = _genesis(folder, database)
        guard = Guard(folder.mark, genesis, database)
        if guard.mark is None and not places.forgot(folder):
            raise UserFacingError(f"{folder.path} was not restored: there is nothing to confirm")
        log = Log(database, genesis, places.open_signer(folder), guard, now_ms)
        log.read(lambda _stored, _entry: None)
        for path in notes:
            _show(guard, path, log, database)
        guard.confirm()
        if places.forgot(folder):
            places.begin_memory(folder)
        return log.published.size


def _copy(source: Path, target: Path, file: File) -> None:
    """Copy one file of a backup; raises UserFacingError when it is not what the manifest says."""
    place = target / file.path
    if not place.resolve().is_relative_to(target.resolve()):
        raise UserFacingError(f"{source} names a file outside of it, {file.path!r}: do not use it")
    try:
        found = manifest.copy(source / file.path, place, file.path)
    except FileNotFoundError:
        found = None
    if found != file:
        what = "is missing" if found is None else "is not what was backed up"
        raise UserFacingError(f"{source / file.path} {what}: choose another backup with --from")


def _mark(folder: Folder, made: Manifest) -> None:
    if not folder.mark.exists():
        write_mark(folder.mark, Mark(cause=Cause.RESTORED, size=made.published))


def _check(folder: Folder) -> None:
    """Read the restored log to its end; raises UserFacingError when it does not hold."""
    with closing(Database(folder.database)) as database:
        genesis = _genesis(folder, database)
        blobs = BlobFolder(folder.blobs, database, now_ms, 0)
        state = State(genesis, Shelf(blobs).read)
        guard = Guard(folder.mark, genesis)
        log = Log(database, genesis, places.open_signer(folder), guard, now_ms)
        log.read(lambda stored, entry: state.apply(stored.index, entry, stored.at_ms))


def _genesis(folder: Folder, database: Database) -> Genesis:
    has_tables = database.revision() if database.is_shared else folder.database.exists()
    found = founding.read(folder, database) if has_tables else None
    if found is None:
        raise UserFacingError(f"{folder.path} holds no ledger: choose its folder with --dir")
    return found


def _show(guard: Guard, path: Path, log: Log, database: Database) -> None:
    try:
        with path.open("rb") as file:
            guard.judge(file.read(NOTE_BYTES), log.published, database)
    except OSError as err:
        raise UserFacingError(files.explain(err, path)) from err
    except PeerError as err:
        raise UserFacingError(f"{path} is no checkpoint of this log ({err})") from err
