"""Sources of a log: a live ledger, or a mirror, a folder of the ledger's files; and its copying.

Nothing that a source gives is trusted. `reader` holds it against the log's signature, `audit`
holds the ledger's answers against what follows from the log. A bundle is a source too (`bundle`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Protocol, TypeVar

import trio

from tequio_client import files
from tequio_client.ledger.http import LedgerRefusedError, LedgerUnavailableError
from tequio_client.worker.store.trees import TreeRef
from tequio_shared.errors import MalformedError, PeerError, TequioError, UserFacingError
from tequio_shared.ids import DIGEST_BYTES, Digest, to_text
from tequio_shared.log.notes import Checkpoint, VerifierKey, note_text
from tequio_shared.log.tiles import (
    BUNDLE_LEVEL,
    TILE_WIDTH,
    Tile,
    TileTree,
    encode_bundle,
    next_range,
    open_signed,
    parse_bundle,
)
from tequio_shared.network.genesis import Genesis

if TYPE_CHECKING:
    from tequio_client.ledger.api import LedgerApi


_T = TypeVar("_T")
ANSWER_BYTES = 16 << 20
"""Of one answer about the log, which has at most 1000 rows."""
_CHECKPOINT = "log/checkpoint"


class NotAvailableError(TequioError):
    """Something could not be read: the source is out of reach, or does not have it."""


class DocumentSource(Protocol):
    """Documents by hash. Raises NotAvailableError, PeerError for answers that cannot be right."""

    def blob(self, name: Digest) -> bytes | None:
        """Get a document; None when the source does not have it."""


class LogSource(DocumentSource, Protocol):
    """A log. Raises NotAvailableError, and PeerError for answers that cannot be right."""

    def genesis(self) -> bytes: ...

    def signed_note(self) -> bytes: ...

    def entries(self, first: int, end: int) -> list[bytes]:
        """Get leaves first..end-1, all of one bundle."""


class TileSource(LogSource, Protocol):
    """A log whose tree is served as tiles."""

    def tile(self, level: int, index: int, width: int) -> list[Digest]:
        """Get the first `width` hashes of a tile."""


class LedgerSource(TileSource, Protocol):
    """A log, and what its ledger derived from it."""

    def answer(self, url: str) -> bytes | None:
        """Get an answer about the log, by path and query, as JSON; None for an archive."""


class LiveLog:
    """A ledger over HTTP, for a reader in a worker thread of trio.

    `api` is set by the owner for as long as a connection is open.
    """

    def __init__(self, api: LedgerApi | None = None) -> None:
        self.api = api

    def genesis(self) -> bytes:
        return _wait_for(self._open.network).genesis.encode()

    def signed_note(self) -> bytes:
        return _wait_for(self._open.checkpoint_note)[1]

    def tile(self, level: int, index: int, width: int) -> list[Digest]:
        return _wait_for(partial(self._open.tile, level, index, width))

    def entries(self, first: int, end: int) -> list[bytes]:
        return _wait_for(partial(self._open.entries, first, end))

    def blob(self, name: Digest) -> bytes | None:
        return _wait_for(partial(self._open.get_blob, name))

    def answer(self, url: str) -> bytes | None:
        return _wait_for(partial(self._open.http.call, url, most=ANSWER_BYTES))

    @property
    def _open(self) -> LedgerApi:
        if self.api is None:
            raise NotAvailableError("no connection to the ledger is open")
        return self.api


def _wait_for(call: Callable[[], Awaitable[_T]]) -> _T:
    """Call the API from the reader's thread."""
    try:
        return trio.from_thread.run(call)
    except (LedgerUnavailableError, LedgerRefusedError) as err:
        raise NotAvailableError(str(err)) from err


@contextmanager
def open_copy(source: LedgerSource, folder: Path) -> Iterator[LogCopy]:
    """Keep the log that is read from the source in a folder, to be a `MirrorFolder`.

    Raises UserFacingError for a folder that cannot be written.
    """
    with _explain_write_error(folder):
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = TemporaryDirectory(
            dir=folder, prefix=".unfinished-", ignore_cleanup_errors=True
        )
    with unfinished as name:
        yield LogCopy(source, folder, Path(name))


class LogCopy:
    """A log that is kept in a folder; two may be made in the same one at the same time.

    For a reader that reads all of it, from the first entry on; a copy of an earlier state of the
    same log is continued. Entries wait in `unfinished`, an empty folder in the same file system,
    until `finish` says that the log signed them, so whatever a ledger answers, only its signed
    history is kept. Raises as the source does, and UserFacingError for a folder that cannot be
    written or has another network's log. Two small files for each 256 entries, and each document.
    """

    def __init__(self, source: LedgerSource, folder: Path, unfinished: Path) -> None:
        self._source = source
        self._folder = folder
        self._unfinished = unfinished
        self._genesis = b""

    def kept(self) -> Checkpoint | None:
        """Return the checkpoint of the copy so far, which the log has to continue, if there is one.

        Raises UserFacingError for a damaged one.
        """
        copy = MirrorFolder(self._folder)
        try:
            genesis, note = copy.genesis(), copy.signed_note()
        except NotAvailableError:
            return None
        try:
            return open_signed(note, VerifierKey.parse(Genesis.parse(genesis).log_key)).checkpoint
        except (MalformedError, PeerError) as err:
            raise UserFacingError(
                f"the copy in {self._folder} is damaged ({err}): choose another folder"
            ) from err

    def finish(self, note: bytes) -> None:
        """Keep what was read up to this checkpoint, in place of an earlier one.

        Only for a checkpoint that continues the one `kept`. Raises NotAvailableError and
        MalformedError if the entries that were read are damaged by now, or do not make its root.
        """
        checkpoint, end, tree = Checkpoint.parse(note_text(note)), 0, TileTree()
        read = MirrorFolder(self._unfinished)
        self._write("genesis", self._genesis)
        while end < checkpoint.size:
            first, end = next_range(end, checkpoint.size)
            leaves = read.entries(first, end)
            bundle = Tile(level=BUNDLE_LEVEL, index=first // TILE_WIDTH, width=end - first)
            self._write(f"log/{bundle.path()}", encode_bundle(leaves))
            for leaf in leaves:
                tree.append(leaf)
            grown = tree.pop_full() if end < checkpoint.size else tree.pop_changed()
            for (level, index), hashes in grown.items():
                tile = Tile(level=level, index=index, width=len(hashes) // DIGEST_BYTES)
                self._write(f"log/{tile.path()}", hashes)
        if tree.root() != checkpoint.root:
            raise MalformedError(
                f"what {self._folder} has of the entries does not make the root that the log signed"
            )
        self._write(_CHECKPOINT, note)  # last, when all that it covers is here

    def genesis(self) -> bytes:
        self._genesis, before = self._source.genesis(), self._folder / "genesis"
        if before.is_file() and before.read_bytes() != self._genesis:
            raise UserFacingError(
                f"{self._folder} has a copy of another network's log: choose another folder"
            )
        return self._genesis

    def signed_note(self) -> bytes:
        return self._source.signed_note()

    def tile(self, level: int, index: int, width: int) -> list[Digest]:
        return self._source.tile(level, index, width)

    def entries(self, first: int, end: int) -> list[bytes]:
        found = self._source.entries(first, end)
        tile = Tile(level=BUNDLE_LEVEL, index=first // TILE_WIDTH)
        path = self._unfinished / "log" / tile.path()
        with _explain_write_error(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("ab") as bundle:  # the rest of a bundle goes behind what is there
                bundle.write(encode_bundle(found))
        return found

    def blob(self, name: Digest) -> bytes | None:
        found = self._source.blob(name)
        if found is not None:
            self._write(f"v1/blobs/{to_text(name)}", found)
        return found

    def answer(self, url: str) -> bytes | None:
        return self._source.answer(url)

    def _write(self, name: str, content: bytes) -> None:
        path = self._folder / name
        if path.is_file() and path.read_bytes() == content:  # of an earlier audit
            return
        fresh = self._unfinished / "fresh"  # not beside it, where another audit may write the same
        with _explain_write_error(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            fresh.write_bytes(content)
            files.sync_and_rename(fresh, path)


@contextmanager
def _explain_write_error(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as err:
        raise UserFacingError(f"cannot write to {path} ({err.strerror})") from err


class MirrorFolder:
    """A folder with `genesis`, `log/checkpoint`, `log/tile/...` and `v1/blobs/<base64url>`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def genesis(self) -> bytes:
        return self._read("genesis")

    def signed_note(self) -> bytes:
        return self._read(_CHECKPOINT)

    def tile(self, level: int, index: int, width: int) -> list[Digest]:
        raw = self._tile(Tile(level=level, index=index, width=width))
        if len(raw) < width * DIGEST_BYTES:
            raise MalformedError(f"tile of {len(raw)} bytes for {width} hashes")
        return [Digest(raw[at * DIGEST_BYTES :][:DIGEST_BYTES]) for at in range(width)]

    def entries(self, first: int, end: int) -> list[bytes]:
        start = first - first % TILE_WIDTH
        tile = Tile(level=BUNDLE_LEVEL, index=first // TILE_WIDTH, width=end - start)
        leaves = parse_bundle(self._tile(tile))
        if len(leaves) < end - start:
            raise MalformedError(f"bundle of {len(leaves)} leaves where {end - start} are due")
        return leaves[first - start : end - start]

    def blob(self, name: Digest) -> bytes | None:
        path = self._folder / "v1" / "blobs" / to_text(name)
        return path.read_bytes() if path.exists() else None

    def answer(self, url: str) -> bytes | None:
        del url
        return None

    def _tile(self, tile: Tile) -> bytes:
        """Read a tile, the full one where the partial one is gone."""
        whole = Tile(level=tile.level, index=tile.index)
        for name in (tile, whole):
            if (self._folder / "log" / name.path()).exists():
                return self._read(f"log/{name.path()}")
        raise NotAvailableError(f"the mirror has no {tile.path()}")

    def _read(self, name: str) -> bytes:
        try:
            return (self._folder / name).read_bytes()
        except (FileNotFoundError, NotADirectoryError) as err:
            raise NotAvailableError(f"the mirror has no {name}") from err


# Weights and contributions come from store folders, or from seeds over libp2p. Neither is trusted:
# callers check the content of every file.


class ContributionSource(Protocol):
    """Finds trees of pieces by root; the caller checks what a candidate holds."""

    def candidates(self, ref: TreeRef) -> Iterator[Path]:
        """Files that may hold the tree, one after the other; none when no source has it."""
