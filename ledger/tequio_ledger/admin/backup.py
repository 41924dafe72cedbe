"""Backup of a running ledger, and its restoration.

Order: the database first, as of one moment; then the blobs that it names. A blob's file exists
before its row and before any entry that needs it, and only a blob that no entry names is ever
deleted, so every one that the copy needs exists. Keys are included: a backup can sign, so protect
it like the ledger itself. A backup is written to a temporary folder and renamed last: a folder with
its name is complete. Nothing is ever overwritten.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import click
import msgspec
from msgspec import Struct
from sqlalchemy.exc import DatabaseError

from tequio_ledger import SOFTWARE, runtime
from tequio_ledger.config.options import with_found
from tequio_ledger.config.settings import LEDGER, LedgerLocation
from tequio_ledger.config.sources import FoundSettings
from tequio_ledger.data_folder import DataFolder
from tequio_ledger.genesis import check_keys, existing_genesis, key_paths, read_own_genesis
from tequio_ledger.log import documents, guard
from tequio_ledger.log.documents import DocumentCache
from tequio_ledger.log.guard import Cause, Guard, Mark, write_mark
from tequio_ledger.log.log import Log
from tequio_ledger.runtime import Clock, now_ms
from tequio_ledger.signing import client
from tequio_ledger.store import files, log_rows
from tequio_ledger.store.blobs import BlobFolder
from tequio_ledger.store.database import Database
from tequio_shared import encoding
from tequio_shared.errors import MalformedError, PeerError, UserFacingError
from tequio_shared.ids import Digest, to_text
from tequio_shared.log.notes import NOTE_BYTES
from tequio_shared.network.genesis import Genesis
from tequio_shared.served.state import State
from tequio_shared.wording import plural

NAME = "manifest.json"
VERSION = 1
DATABASE = "ledger.sqlite"
BLOBS = "blobs"
_MOST_BYTES = 1 << 30
_PATH = click.Path(path_type=Path)


class File(Struct, frozen=True, forbid_unknown_fields=True):
    """One file of a backup, by its path inside."""

    path: str
    size: int
    sha256: str
    """In hex."""


class BackupManifest(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The content of a backup; a folder without this file is incomplete."""

    v: int
    software: str
    made_ms: int
    network: str
    origin: str
    network_id: str
    size: int
    """Entries in the log."""
    published: int
    """Size of the newest checkpoint."""
    files: tuple[File, ...]
    left_out: tuple[str, ...]
    """Blobs that no entry of the log needs and whose bytes were missing or damaged."""


def read(folder: Path) -> BackupManifest:
    """Read the manifest of a backup; raises UserFacingError."""
    place = folder / NAME
    try:
        with place.open("rb") as file:
            found = encoding.read(file.read(_MOST_BYTES), BackupManifest)
    except FileNotFoundError as err:
        raise UserFacingError(
            f"{folder} is not a complete backup: it has no {NAME}; choose another with --from"
        ) from err
    except (OSError, MalformedError) as err:
        raise UserFacingError(f"{place} cannot be read ({err}): choose another backup") from err
    if found.v != VERSION:
        raise UserFacingError(
            f"{place} has version {found.v}: use the tequio-ledger that made it, {found.software}"
        )
    return found


def copy(source: Path, target: Path, name: str) -> File:
    """Copy one file into a new folder, mode 0600, and hash it on the way; raises OSError."""
    # Synced with the whole folder at the end: one by one, many blobs take long.
    files.make_folder(target.parent, durably=False)
    digest, size = hashlib.sha256(), 0
    with source.open("rb") as old, target.open("xb") as new:
        target.chmod(0o600)
        while chunk := old.read(files.PROBE_BYTES):
            digest.update(chunk)
            size += new.write(chunk)
    return File(name, size, digest.hexdigest())


def backup(source: DataFolder, target: Path, clock: Clock) -> BackupManifest:
    """Copy a ledger's folder to a new folder; complete and durable when this returns.

    Raises UserFacingError, and then leaves nothing behind.
    """
    with closing(Database(source.database)) as running:
        _genesis(source, running)
    with files.new_folder(target) as fresh:
        try:
            listed = [_copy_database(source, fresh), *_copy_keys(source, fresh)]
            with closing(Database(fresh / DATABASE)) as copied:
                blobs, left_out = _copy_blobs(source, fresh, copied, clock)
                made = _manifest(source, copied, clock(), (*listed, *blobs), left_out)
        except DatabaseError as err:
            raise UserFacingError(Database(source.database).dialect.explain(err)) from err
        files.write_file(fresh / NAME, msgspec.json.format(msgspec.json.encode(made)))
    return made


def _copy_database(source: DataFolder, target: Path) -> File:
    place = target / DATABASE
    with closing(Database(source.database)) as running:
        running.copy(place)
    place.chmod(0o600)
    with place.open("r+b") as file:
        files.sync(file)
        digest = hashlib.file_digest(file, "sha256")
    return File(DATABASE, place.stat().st_size, digest.hexdigest())


def _copy_keys(source: DataFolder, target: Path) -> list[File]:
    paths = key_paths(source)
    if source.mark.exists():  # a ledger that must not sign stays so when restored
        paths.append(source.mark)
    return [copy(path, target / path.name, path.name) for path in paths]


def _copy_blobs(
    source: DataFolder, target: Path, copied: Database, clock: Clock
) -> tuple[list[File], list[str]]:
    """Copy the blobs that the copied database names; gives them and those left out."""
    found: list[File] = []
    left_out: list[str] = []
    with copied.reader.begin() as connection:
        wanted = {digest: index for index, digest in documents.documents(connection)}
    blobs = BlobFolder(target / BLOBS, copied, clock, 0)
    for digest in sorted(blobs.rows().keys() | wanted.keys()):
        place = blobs.path(digest)
        file = _copy_blob(source, digest, place, str(place.relative_to(target)))
        if file is not None:
            found.append(file)
        elif digest in wanted:
            raise UserFacingError(
                f"entry {wanted[digest]} needs the blob {digest.hex()}, which is missing or "
                "damaged: run `tequio-ledger doctor`"
            )
        else:
            left_out.append(digest.hex())
    return found, left_out


def _copy_blob(source: DataFolder, digest: Digest, target: Path, name: str) -> File | None:
    try:
        file = copy(source.path / name, target, name)
    except FileNotFoundError:
        return None
    if file.sha256 != digest.hex():
        target.unlink()
        return None
    return file


def _manifest(
    source: DataFolder,
    copied: Database,
    now_ms: int,
    listed: tuple[File, ...],
    left_out: list[str],
) -> BackupManifest:
    with copied.reader.begin() as connection:
        head = log_rows.read_head(connection)
        last = log_rows.read_last_checkpoint(connection)
    genesis = read_own_genesis(source, copied)
    if head is None or genesis is None:
        raise UserFacingError(f"{source.path} holds no log yet: serve it once")
    return BackupManifest(
        v=VERSION,
        software=SOFTWARE,
        made_ms=now_ms,
        network=genesis.name,
        origin=genesis.origin,
        network_id=to_text(genesis.network_id),
        size=head.size,
        published=last.size if last else 0,
        files=listed,
        left_out=tuple(left_out),
    )


# --- Restoring: a folder made from a backup, every byte checked, and marked: it must not sign yet.
#
# A ledger that is restored from an old backup and goes on signing forks the log without noticing.
# So the restored ledger is read-only until `confirm`, which compares the log with every checkpoint
# that it is shown.


def restore(source: Path, target: Path) -> BackupManifest:
    """Make a folder from a backup; complete and durable when this returns.

    Raises UserFacingError, and then leaves nothing behind.
    """
    made = read(source)
    with files.new_folder(target) as fresh:
        for file in made.files:
            _copy(source, fresh, file)
        folder = DataFolder(fresh)
        if not folder.mark.exists():  # one that came with the backup is more serious than ours
            write_mark(folder.mark, Mark(cause=Cause.RESTORED, size=made.published))
        _check(folder)
    return made


def confirm(folder: DataFolder, notes: Iterable[Path], rows: str = "") -> int:
    """Let a ledger sign again if it contains every checkpoint shown; gives its size.

    For a ledger that was restored, or whose key lost its record; `rows` is the URL of its database,
    empty for the one in the folder. Raises UserFacingError.
    """
    with folder, closing(Database(rows or folder.database)) as database:
        genesis = _genesis(folder, database)
        guard = Guard(folder.mark, genesis, database)
        if guard.mark is None and not client.has_no_memory(folder):
            raise UserFacingError(f"{folder.path} was not restored: there is nothing to confirm")
        log = Log(database, genesis, client.open_signer(folder), guard, now_ms)
        log.read(lambda _stored, _entry: None)
        for path in notes:
            try:
                with files.explained(path), path.open("rb") as file:
                    guard.judge(file.read(NOTE_BYTES), log.published, database)
            except PeerError as err:
                raise UserFacingError(f"{path} is not a checkpoint of this log ({err})") from err
        guard.confirm()
        if client.has_no_memory(folder):
            client.begin_memory(folder)
        return log.published.size


def _copy(source: Path, target: Path, file: File) -> None:
    """Copy one file of a backup; raises UserFacingError when it is not what the manifest says."""
    place = target / file.path
    if not place.resolve().is_relative_to(target.resolve()):
        raise UserFacingError(f"{source} names a file outside itself, {file.path!r}: do not use it")
    try:
        found = copy(source / file.path, place, file.path)
    except FileNotFoundError:
        found = None
    if found != file:
        what = "is missing" if found is None else "is not the file that was backed up"
        raise UserFacingError(f"{source / file.path} {what}: choose another backup with --from")


def _check(folder: DataFolder) -> None:
    """Read and check the whole restored log; raises UserFacingError."""
    with closing(Database(folder.database)) as database:
        genesis = _genesis(folder, database)
        blobs = BlobFolder(folder.blobs, database, now_ms, 0)
        state = State(genesis, DocumentCache(blobs).read)
        guard = Guard(folder.mark, genesis, database)
        log = Log(database, genesis, client.open_signer(folder), guard, now_ms)
        log.read(lambda stored, entry: state.apply(stored.index, entry, stored.at_ms))


def _genesis(folder: DataFolder, database: Database) -> Genesis:
    found = existing_genesis(folder, database)
    check_keys(found, folder)
    return found


@click.command("backup")
@with_found(LEDGER, LedgerLocation)
@click.option("--to", "target", required=True, type=_PATH, help="New folder for the backup.")
def backup_command(found: FoundSettings[LedgerLocation], target: Path) -> None:
    """Copy the ledger's data and keys to a new folder; the ledger may be running."""
    runtime.configure("warning")
    location = found.convert()
    folder = DataFolder(location.folder)
    check_location(folder, location.database)
    made = backup(folder, target.absolute(), now_ms)
    click.echo(
        f"backed up {plural(made.size, 'entry', 'entries')} and "
        f"{plural(len(made.files), 'file')} to {target}"
    )
    for name in made.left_out:
        click.echo(f"left out: blob {name}, which is missing or damaged here", err=True)


@click.command("restore")
@with_found(LEDGER, LedgerLocation)
@click.option("--from", "source", type=_PATH, help="Backup to restore.")
@click.option("--confirm", "is_confirmed", is_flag=True, help="Let a restored ledger sign again.")
@click.option(
    "--seen-checkpoint",
    "notes",
    multiple=True,
    type=_PATH,
    help="Checkpoint file from a witness or client, to be checked by --confirm. Repeatable.",
)
def restore_command(
    found: FoundSettings[LedgerLocation],
    source: Path | None,
    notes: tuple[Path, ...],
    *,
    is_confirmed: bool,
) -> None:
    """Restore a backup to an empty folder; the ledger is read-only until --confirm.

    --confirm also lets a ledger sign again whose key lost log.signed, wherever its rows are.
    """
    runtime.configure("critical")
    if is_confirmed == (source is not None) or (notes and not is_confirmed):
        raise UserFacingError("use either --from BACKUP, or --confirm with any --seen-checkpoint")
    location = found.convert()
    folder, database = DataFolder(location.folder), location.database
    if not is_confirmed or not client.has_no_memory(folder):
        check_location(folder, database)
    if source is not None:
        made = restore(source.absolute(), folder.path)
        click.echo(
            f"restored {plural(made.size, 'entry', 'entries')} to {folder.path}; serve it, "
            "let its clients show what they hold, then stop it and run "
            "`tequio-ledger restore --confirm`"
        )
    else:
        size = confirm(folder, notes, database)
        click.echo(f"confirmed: the log of {plural(size, 'entry', 'entries')} may be signed again")


def check_location(folder: DataFolder, database: str) -> None:
    """Raise UserFacingError, which says what to use instead, when the rows are elsewhere."""
    # PostgreSQL has its own tools. A copy of the folder's former database would look like a backup,
    # and bring back a log that continues elsewhere.
    if folder.database.exists():
        mark = guard.read_mark(folder.mark)
        is_elsewhere = mark is not None and mark.cause is Cause.MOVED
    else:
        is_elsewhere = any(path.exists() for path in key_paths(folder))
    if database or is_elsewhere:
        raise UserFacingError(
            f"the database of the ledger {folder.path} is not in its folder: back it up and "
            "restore it with pg_dump and pg_restore, and keep the folder with the dump "
            "(docs/operating.md, PostgreSQL)"
        )
