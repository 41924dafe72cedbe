"""Documents at hand: those that are being logged right now, and all that lie in the blob folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_ledger.store.files import explain
from tequio_shared.errors import FatalLogError
from tequio_shared.ids import Digest, sha256

if TYPE_CHECKING:
    from tequio_ledger.store.blobs import BlobFolder


class Shelf:
    """Lets a batch use a document before its thread has written it; owned by the sequencer."""

    def __init__(self, blobs: BlobFolder) -> None:
        self._blobs = blobs
        self._fresh: dict[Digest, bytes] = {}

    def lay(self, document: bytes | None) -> None:
        """Put a document at hand, to be written by `store`."""
        if document is not None:
            self._fresh[sha256(document)] = document

    def read(self, digest: Digest) -> bytes:
        """Give a document; raises KeyError when it is nowhere."""
        fresh = self._fresh.get(digest)
        return self._blobs.read(digest) if fresh is None else fresh

    def size(self, digest: Digest) -> int | None:
        """Say how many bytes a document has; None when it is nowhere."""
        fresh = self._fresh.get(digest)
        return self._blobs.size(digest) if fresh is None else len(fresh)

    def store(self) -> None:
        """Write what was laid here to the blob folder, before the entries that name it.

        Raises UnwritableError or FatalLogError: entries that wait for it must not be logged.
        """
        try:
            for document in self._fresh.values():
                self._blobs.put(document)
        except OSError as err:
            raise FatalLogError(explain(err, self._blobs.folder)) from err
        self._fresh.clear()
