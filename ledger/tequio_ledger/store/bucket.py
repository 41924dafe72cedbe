"""The bucket: blobs that all processes of a ledger can reach, in S3 or in a shared folder.

Only this file imports obstore. The key of a blob is its hash, so putting it twice changes nothing;
`BlobFolder` checks the hash of what it reads.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, NotFoundError
from obstore.store import LocalStore, ObjectStore, S3Store

from tequio_ledger.store.files import UnwritableError, blob_path
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import Digest

if TYPE_CHECKING:
    from pathlib import Path

    from obstore.store import RetryConfig  # exists for type checkers only

_FOLDER = "file:///"
_RETRIES: RetryConfig = {"max_retries": 4, "retry_timeout": timedelta(seconds=20)}


class Bucket:
    """Blobs by digest. Methods block: call them from a thread."""

    def __init__(self, url: str, *, retries: RetryConfig = _RETRIES) -> None:
        """Open the bucket; raises UserFacingError. Keys and region come from the environment."""
        self.url = url
        try:
            self._store: ObjectStore
            if url.startswith(_FOLDER):
                self._store = LocalStore.from_url(url, mkdir=True)
            else:
                self._store = S3Store.from_url(url, retry_config=retries)
        except (BaseError, ValueError) as err:
            raise UserFacingError(f"--blobs {url!r} cannot be used: {err}") from err

    def put(self, digest: Digest, file: Path) -> None:
        """Put a blob; durable when this returns. Raises UnwritableError, OSError."""
        with file.open("rb") as content:
            try:
                obstore.put(
                    self._store, blob_path(digest), content, mode="create", use_multipart=False
                )
            except AlreadyExistsError:
                pass  # the name is the hash, so the content is the same
            except BaseError as err:
                raise self._silent(err) from err

    def get(self, digest: Digest) -> bytes | None:
        """Get a blob; None when there is none. Raises UnwritableError."""
        try:
            return obstore.get(self._store, blob_path(digest)).bytes().to_bytes()
        except (NotFoundError, FileNotFoundError):
            return None
        except BaseError as err:
            raise self._silent(err) from err

    def delete(self, digest: Digest) -> None:
        """Delete a blob if it is there; raises UnwritableError."""
        try:
            obstore.delete(self._store, blob_path(digest))
        except (NotFoundError, FileNotFoundError):
            pass
        except BaseError as err:
            raise self._silent(err) from err

    def digests(self) -> set[Digest]:
        """List every blob; raises UnwritableError."""
        try:
            pages = obstore.list(self._store, "sha256")
            names = [str(one["path"]).rpartition("/")[2] for page in pages for one in page]
        except BaseError as err:
            raise self._silent(err) from err
        return {Digest(bytes.fromhex(name)) for name in names}

    def _silent(self, err: BaseError) -> UnwritableError:
        first = str(err).strip().splitlines()[0]
        return UnwritableError(f"the blobs at {self.url} cannot be reached: {first}")
