"""A backup of a ledger, made while it serves.

Order: the database first, as of one moment; then the blobs that it names. A blob's file is in its
place before its row and before any entry that needs it, and is never removed, so whatever the copy
names is there. Keys come along: a backup can sign, so keep it as safe as the ledger itself. All is
written beside its place and gets its name last: what bears the name is whole. Nothing is ever
overwritten.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from sqlalchemy.exc import DatabaseError

from tequio_ledger import SOFTWARE, founding
from tequio_ledger.sequencing import needed
from tequio_ledger.store import files, log_rows
from tequio_ledger.store.blobs import BlobFolder
from tequio_ledger.store.engine import Database
from tequio_ledger.upkeep import manifest
from tequio_ledger.upkeep.manifest import File, Manifest
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import to_text

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_ledger.clock import Clock
    from tequio_ledger.folder import Folder
    from tequio_shared.ids import Digest

DATABASE = "ledger.sqlite"
BLOBS = "blobs"


def backup(source: Folder, target: Path, clock: Clock) -> Manifest:
    """Copy a ledger's folder to a new folder; whole and durable when this returns.

    Raises UserFacingError, and leaves nothing behind then.
    """
    if not source.database.exists():
        raise UserFacingError(f"{source.path} holds no ledger: choose its folder with --dir")
    with files.building(target) as fresh:
        try:
            return _Copying(source, fresh, clock).run()
        except DatabaseError as err:
            raise UserFacingError(Database(source.database).explain(err)) from err


class _Copying:
    """One backup on its way."""

    def __init__(self, source: Folder, target: Path, clock: Clock) -> None:
        self._source = source
        self._target = target
        self._clock = clock
        self._left_out: list[str] = []

    def run(self) -> Manifest:
        """Copy everything and write the manifest."""
        listed = [*self._database(), *self._keys()]
        with closing(Database(self._target / DATABASE)) as copied:
            listed += self._blobs(copied)
            made = self._manifest(copied, listed)
        manifest.write(self._target, made)
        return made

    def _database(self) -> list[File]:
        place = self._target / DATABASE
        with closing(Database(self._source.database)) as running:
            running.copy(place)
        place.chmod(0o600)
        with place.open("rb") as file:
            files.sync(file)
        return [manifest.describe(place, DATABASE)]

    def _keys(self) -> list[File]:
        paths = founding.key_paths(self._source)
        if self._source.mark.exists():  # what stopped it stops the restored one too
            paths.append(self._source.mark)
        return [manifest.copy(path, self._target / path.name, path.name) for path in paths]

    def _blobs(self, copied: Database) -> list[File]:
        found = []
        with copied.reader.begin() as connection:
            wanted = {digest: index for index, digest in needed.documents(connection)}
        blobs = BlobFolder(self._target / BLOBS, copied, self._clock, 0)
        for digest in sorted(blobs.rows().keys() | wanted.keys()):
            file = self._blob(digest, blobs.path(digest))
            if file is not None:
                found.append(file)
            elif digest in wanted:
                raise UserFacingError(
                    f"entry {wanted[digest]} needs the blob {digest.hex()}, which is missing or "
                    "damaged: run `tequio-ledger doctor`"
                )
            else:
                self._left_out.append(digest.hex())
        return found

    def _blob(self, digest: Digest, target: Path) -> File | None:
        name = str(target.relative_to(self._target))
        try:
            file = manifest.copy(self._source.path / name, target, name)
        except FileNotFoundError:
            return None
        if file.sha256 != digest.hex():
            target.unlink()
            return None
        return file

    def _manifest(self, copied: Database, listed: list[File]) -> Manifest:
        with copied.reader.begin() as connection:
            head = log_rows.read_head(connection)
            last = log_rows.read_last_checkpoint(connection)
        genesis = founding.read(self._source, copied)
        if head is None or genesis is None:
            raise UserFacingError(f"{self._source.path} holds no log yet: serve it once")
        return Manifest(
            v=manifest.VERSION,
            software=SOFTWARE,
            made_ms=self._clock(),
            network=genesis.name,
            origin=genesis.origin,
            network_id=to_text(genesis.network_id),
            size=head.size,
            published=last.size if last else 0,
            files=tuple(listed),
            left_out=tuple(self._left_out),
        )
