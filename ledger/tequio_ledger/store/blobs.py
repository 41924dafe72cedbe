"""Blobs: files named by their SHA-256 under `ab/cd/<hex>`; a row for each names its author.

A blob is written to a temporary file, hashed on the way, synced and renamed: a file with a name has
that content. Reading checks the hash again. When several processes share their blobs (`Bucket`), a
blob gets its row when it is in the bucket, and the folder is a cache of the blobs requested here.

Quotas count what a blob occupies, not only its bytes: a million tiny files fill a disk too. They
leave out the coordinator's, which after some months would leave no room for uploads. A blob that
nobody named in the log for `UNNAMED_DAYS` is deleted (`ledger`), unless it is an organiser's or the
coordinator's; sending it again begins the time again.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import re
import threading
import time
from collections import Counter
from collections.abc import Collection, Iterator
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import structlog
from sqlalchemy import delete, func, select, update

from tequio_ledger.runtime import Clock
from tequio_ledger.store.database import FAILURES, Database
from tequio_ledger.store.files import (
    UnwritableError,
    blob_path,
    explain,
    is_passing,
    make_folder,
    rename,
    sync,
)
from tequio_ledger.store.insertion import upsert
from tequio_ledger.store.models import BLOB
from tequio_shared.errors import RefusedError
from tequio_shared.ids import Digest, PeerKey, sha256, to_text
from tequio_shared.limits import BLOB_BYTES

if TYPE_CHECKING:
    from tequio_ledger.config.settings import LedgerSettings
    from tequio_ledger.store.bucket import Bucket

BLOCK_BYTES = 4_096
FILE_BYTES = 2 * BLOCK_BYTES
"""Space that a file occupies besides its content: its folders, its inode, its row."""
UNNAMED_DAYS = 7
UNKNOWN_AUTHOR = PeerKey(bytes(32))
"""Author of a file that a killed process left without a row; not a point, so not a key."""
CHECKED = 256
"""Number of blobs remembered as sound: those of the newest rounds are requested repeatedly."""
RECOUNT_S = 60.0
"""Age at which the sums by author are read again: other processes store and delete blobs, too."""
_NAME = re.compile("[0-9a-f]{64}")

log = structlog.get_logger(__name__)


class BlobFolder:
    """All blobs of a ledger. Methods block: call them from a thread."""

    def __init__(
        self,
        folder: Path,
        database: Database,
        clock: Clock,
        quota_bytes: int,
        bucket: Bucket | None = None,
    ) -> None:
        self.folder = folder
        self._bucket = bucket
        self._database = database
        self._clock = clock
        self._quota_bytes = quota_bytes
        self._numbers = itertools.count()  # makes names of unfinished files unique
        self._checked: dict[Digest, tuple[int, int, int, int]] = {}  # what `open` hashed, by stamp
        self._uploads: set[Upload] = set()  # unfinished: each may still fill its whole size
        self._stored: Counter[PeerKey | None] = Counter()  # bytes occupied, by author
        self._recount_at_s = 0.0  # when these are read again
        self._lock = threading.Lock()  # held while room is counted and reserved
        self._places = threading.Lock()  # held while the folder of a blob must exist

    def clean_up(self) -> None:
        """Clean up after a killed process; only for the process that holds the folder's lock.

        A file that was renamed but has no row yet gets one, and lapses like any other unless it is
        named or sent again. Costs as much as was unfinished. Raises UnwritableError, OSError.
        """
        with self._explained():
            make_folder(self.folder / "new")
            for left_over in (self.folder / "new").iterdir():
                if self._bucket is None and _NAME.fullmatch(left_over.name):
                    self._count(Digest(bytes.fromhex(left_over.name)))
                left_over.unlink()

    def _count(self, digest: Digest) -> None:
        """Write the row that a killed process did not write."""
        query = select(BLOB.c.size).where(BLOB.c.sha256 == digest)
        with self._database.reader.begin() as connection:
            has_row = connection.scalar(query) is not None
        if self.path(digest).exists() and not has_row:
            # Not without an author, as the coordinator's: those never lapse.
            self._insert(digest, self.path(digest).stat().st_size, UNKNOWN_AUTHOR)

    def digests(self) -> set[Digest]:
        if self._bucket is not None:
            return self._bucket.digests()
        names = (path.name for path in self.folder.glob("sha256/??/??/*"))
        return {Digest(bytes.fromhex(name)) for name in names if _NAME.fullmatch(name)}

    def rows(self) -> dict[Digest, int]:
        """List every blob with a row, with its size."""
        with self._database.reader.begin() as connection:
            found = connection.execute(select(BLOB.c.sha256, BLOB.c.size)).all()
        return {Digest(name): size for name, size in found}

    def unnamed(
        self, before_ms: int, named: Collection[Digest], favoured: Collection[PeerKey]
    ) -> list[Digest]:
        """List the blobs of others than the favoured that were last sent before that time.

        `named` are left out. Costs as much as there are blobs of such authors.
        """
        # The coordinator's have no author, and are most of all: the index leaves them out.
        query = select(BLOB.c.sha256, BLOB.c.author).where(
            BLOB.c.author > b"", BLOB.c.at < before_ms
        )
        with self._explained(), self._database.reader.begin() as connection:
            found = connection.execute(query).all()
        names = (Digest(name) for name, author in found if author not in favoured)
        return [name for name in names if name not in named]

    def delete(self, digests: Collection[Digest], before_ms: int) -> None:
        """Delete blobs unless they were sent again since; nothing may come to need one meanwhile.

        Raises UnwritableError, OSError.
        """
        for digest in digests:
            # One by one: if the bucket fails, the rows of the blobs before are gone with them.
            with self._explained(), self._database.writer.begin() as connection:
                # The row's lock is held to the end: another process that is sent the blob again
                # waits, and finds it gone.
                is_old = (BLOB.c.sha256 == digest) & (BLOB.c.at < before_ms)
                if connection.execute(delete(BLOB).where(is_old)).rowcount:
                    self._remove(digest)
        self._recount_at_s = 0.0

    def _remove(self, digest: Digest) -> None:
        if self._bucket is not None:
            self._bucket.delete(digest)
        path = self.path(digest)
        with self._places:
            path.unlink(missing_ok=True)
            for folder in (path.parent, path.parent.parent):
                with contextlib.suppress(OSError):  # it holds other blobs
                    folder.rmdir()

    def path(self, digest: Digest) -> Path:
        """Give the path of a blob, stored or not."""
        return self.folder / blob_path(digest)

    def has(self, digest: Digest) -> bool:
        return self.size(digest) is not None

    def size(self, digest: Digest) -> int | None:
        """Give the size of a blob in bytes; None when it is not stored."""
        try:
            return self.path(digest).stat().st_size
        except FileNotFoundError:
            return None if self._bucket is None else self.listed_size(digest)

    def listed_size(self, digest: Digest) -> int | None:
        """Give the size of a blob in bytes; None when it is not, or no longer, the ledger's.

        A file in the folder does not tell: another process may have deleted the blob.
        """
        if self._bucket is None:
            return self.size(digest)
        # The row and not the bucket, which would take a request: a blob gets its row when it is
        # in the bucket.
        query = select(BLOB.c.size).where(BLOB.c.sha256 == digest)
        with self._database.translated_errors(), self._database.reader.begin() as connection:
            return connection.scalar(query)

    def fetch(self, digest: Digest) -> bool:
        """Bring a blob into the folder; False if it is neither there nor in the bucket.

        Raises UnwritableError.
        """
        if self._bucket is not None and not self.path(digest).exists():
            self._fetch(digest, self._bucket)
        return self.path(digest).exists()

    def renew(
        self, digest: Digest, author: PeerKey | None, favoured: Collection[PeerKey] = ()
    ) -> bool:
        """Record that a blob was sent again; False if it is not stored.

        A favoured author takes it over: it does not lapse then. Raises UnwritableError.
        """
        if self._bucket is None and not self.path(digest).exists():
            return False
        row = BLOB.c.sha256 == digest
        with self._explained(), self._database.writer.begin() as connection:
            found = connection.execute(update(BLOB).where(row).values(at=self._clock())).rowcount
            if author is None or author in favoured:
                # A stranger who sent a copy first must not decide how long it is stored.
                others = update(BLOB).where(row, BLOB.c.author > b"")
                if connection.execute(others.values(author=author)).rowcount:
                    self._recount_at_s = 0.0
        return found > 0

    def read(self, digest: Digest) -> bytes:
        """Read a blob; raises KeyError when absent or damaged: never gives wrong bytes."""
        with self.open(digest) as file:
            return file.read()

    def open(self, digest: Digest) -> BinaryIO:
        """Open a blob after checking its bytes; raises KeyError when absent or damaged.

        Raises UnwritableError when it cannot be opened for now.
        """
        with self._explained():
            file = self._open_here(digest)
        if file is None and self._bucket is not None:
            self._fetch(digest, self._bucket)
            with self._explained():
                file = self._open_here(digest)
        if file is None:
            raise KeyError(to_text(digest))
        return file

    def _open_here(self, digest: Digest) -> BinaryIO | None:
        try:
            file = self.path(digest).open("rb")
        except FileNotFoundError:
            return None
        with contextlib.ExitStack() as unless_sound:
            unless_sound.callback(file.close)
            if self._is_sound(digest, file):
                unless_sound.pop_all()
                file.seek(0)
                return file
        log.error("blob damaged on the disk", path=str(self.path(digest)))
        return None

    def _fetch(self, digest: Digest, bucket: Bucket) -> None:
        """Copy a blob from the bucket if it is there and sound; raises UnwritableError."""
        content = bucket.get(digest)
        if content is None:
            return
        with self._explained():
            make_folder(self.folder / "new")
            upload = self._new_upload(digest, None, BLOB_BYTES)
            try:
                upload.write(content)
                self._place(upload)
            except RefusedError:
                log.error("blob damaged", bucket=bucket.url, sha256=digest.hex())  # noqa: TRY400 - it says enough
            finally:
                upload.discard()

    def _is_sound(self, digest: Digest, file: BufferedReader) -> bool:
        """Return whether the content has the hash in its name; hashes a changed file again."""
        # Each member of a round reads the same documents: hashing them every time would cost as
        # much as serving them. A file changed by others has another inode, size or time.
        found = os.fstat(file.fileno())
        stamp = (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
        if self._checked.get(digest) == stamp:
            return True
        if hashlib.file_digest(file, "sha256").digest() != digest:
            self._checked.pop(digest, None)
            return False
        if len(self._checked) >= CHECKED:
            self._checked.clear()
        self._checked[digest] = stamp
        return True

    def begin_upload(
        self,
        digest: Digest,
        author: PeerKey,
        peer_quota_bytes: int | None,
        *,
        claimed_bytes: int = BLOB_BYTES,
        favoured: Collection[PeerKey] = (),
    ) -> Upload:
        """Begin an upload of at most that size; call `end_upload` in every case.

        Space is reserved here, so that parallel uploads cannot fill it twice. Half of the quota is
        for the favoured keys, if any: registering a key is cheap, and strangers may be many.
        Raises RefusedError("quota") when no space is left.
        """
        with self._lock:
            room = self._room(author, peer_quota_bytes, favoured) - FILE_BYTES
            room -= room % BLOCK_BYTES
            if room <= 0:
                raise RefusedError("quota", "the quota for blobs is used up")
            most = min(room, max(claimed_bytes, 1), BLOB_BYTES)
            with self._explained():
                upload = self._new_upload(digest, author, most)
            self._uploads.add(upload)
            return upload

    def end_upload(self, upload: Upload) -> None:
        """End an upload: releases its space, and deletes its file unless it was stored."""
        upload.discard()
        self._uploads.discard(upload)

    def write(self, upload: Upload, chunk: bytes) -> None:
        """Add bytes to an upload; raises RefusedError("too-large"), UnwritableError."""
        with self._explained():
            upload.write(chunk)

    def store(self, upload: Upload) -> None:
        """Store a complete upload: its file gets its name, and a row its author.

        Raises RefusedError when its bytes are wrong, UnwritableError when the disk is full.
        """
        with self._explained():
            upload.finish()
            # Bucket, file, row, in this order: a row promises the blob to every process, and a
            # process killed in between leaves an uncounted file, which `clean_up` finds by its
            # note: looking for it among all blobs would take long at every start.
            if self._bucket is not None:
                self._bucket.put(upload.digest, upload.path)
            note = self.folder / "new" / upload.digest.hex()
            note.touch()
            self._place(upload)
            self._insert(upload.digest, upload.size, upload.author)
            note.unlink(missing_ok=True)  # two threads may have stored the same blob

    def _place(self, upload: Upload) -> None:
        upload.finish()
        place = self.path(upload.digest)
        with self._places:
            make_folder(place.parent)
            rename(upload.path, place)

    def put(self, content: bytes) -> Digest:
        """Store a document of the coordinator, regardless of the quota.

        Raises UnwritableError, OSError.
        """
        digest = sha256(content)
        if not self.renew(digest, None):
            with self._explained():
                upload = self._new_upload(digest, None, BLOB_BYTES)
                try:
                    upload.write(content)
                    self.store(upload)
                finally:
                    upload.discard()
        return digest

    def _insert(self, digest: Digest, size: int, author: PeerKey | None) -> None:
        row = {"sha256": digest, "size": size, "author": author, "at": self._clock()}
        with self._database.writer.begin() as connection:
            upsert(connection, BLOB, [row], fresh=("at",))  # of two authors the first one pays
        if author is not None:
            with self._lock:
                self._stored[author] += occupied_bytes(size)

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """Translate errors that pass, such as those of a full disk, to UnwritableError."""
        try:
            yield
        except OSError as err:
            if not is_passing(err):
                raise
            raise UnwritableError(explain(err, self.folder)) from err
        except FAILURES as err:
            raise self._database.failed_write(err) from err

    def _new_upload(self, digest: Digest, author: PeerKey | None, most_bytes: int) -> Upload:
        path = self.folder / "new" / f"{digest.hex()}-{next(self._numbers)}"
        return Upload(path, digest, author, most_bytes)

    def _room(
        self,
        author: PeerKey,
        peer_quota_bytes: int | None,
        favoured: Collection[PeerKey],
    ) -> int:
        used = self._used()
        room = self._quota_bytes - sum(used.values())
        if peer_quota_bytes is not None:
            room = min(room, peer_quota_bytes - used[author])
        if favoured and author not in favoured:
            strangers = sum(size for key, size in used.items() if key not in favoured)
            room = min(room, self._quota_bytes // 2 - strangers)
        return room

    def _used(self) -> Counter[PeerKey | None]:
        """Sum up what is occupied by author, stored or reserved, without the coordinator's."""
        if time.monotonic() >= self._recount_at_s:
            self._stored = self._count_stored()
            self._recount_at_s = time.monotonic() + RECOUNT_S
        used = self._stored.copy()
        for upload in tuple(self._uploads):  # another thread may end one meanwhile
            used[upload.author] += occupied_bytes(upload.most_bytes)
        return used

    def _count_stored(self) -> Counter[PeerKey | None]:
        # All rows are read: at each upload, one key could occupy the ledger's threads with it.
        blocks = (BLOB.c.size + (BLOCK_BYTES - 1)) // BLOCK_BYTES
        occupied = func.sum(blocks * BLOCK_BYTES + FILE_BYTES)
        query = select(BLOB.c.author, occupied).where(BLOB.c.author > b"").group_by(BLOB.c.author)
        with self._database.reader.begin() as connection:
            rows = connection.execute(query).all()
        return Counter({PeerKey(key): int(size) for key, size in rows if key})


def open_blobs(
    settings: LedgerSettings, folder: Path, database: Database, clock: Clock
) -> BlobFolder:
    """Open the blobs of a ledger, in a folder or in its bucket; raises UserFacingError."""
    bucket = None
    if settings.blobs:
        from tequio_ledger.store.bucket import Bucket  # noqa: PLC0415 - most ledgers have none

        bucket = Bucket(settings.blobs)
    return BlobFolder(folder, database, clock, settings.blob_quota_bytes, bucket)


def occupied_bytes(size: int) -> int:
    """Space on the disk that counts for a blob of `size` bytes."""
    return -(-size // BLOCK_BYTES) * BLOCK_BYTES + FILE_BYTES


class Upload:
    """An unfinished upload; `write` from one thread at a time, then `finish` or `discard`."""

    def __init__(self, path: Path, digest: Digest, author: PeerKey | None, most_bytes: int) -> None:
        self.size = 0
        self.digest = digest
        self.author = author
        self.path = path
        self.most_bytes = most_bytes
        self._hash = hashlib.sha256()
        self._file: BinaryIO = path.open("xb")

    def write(self, chunk: bytes) -> None:
        """Add bytes; raises RefusedError("too-large") past the limit."""
        self.size += len(chunk)
        if self.size > self.most_bytes:
            raise RefusedError("too-large", f"more than the {self.most_bytes} bytes allowed")
        self._hash.update(chunk)
        self._file.write(chunk)

    def finish(self) -> None:
        """Flush all bytes to the disk; raises RefusedError when their hash is not the name."""
        if self._file.closed:
            return
        if self._hash.digest() != self.digest:
            raise RefusedError("malformed", "the body does not have the hash in its name")
        sync(self._file)
        self._file.close()

    def discard(self) -> None:
        """Delete the bytes; harmless after `finish` and a rename."""
        with contextlib.suppress(OSError):  # a full disk does not even accept the file's buffer
            self._file.close()
        self.path.unlink(missing_ok=True)
