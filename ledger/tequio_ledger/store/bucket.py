"""Buckets, in S3 or in a shared folder: of blobs that all processes of a ledger reach, of tiles.

Only this file imports obstore. Keys and region come from the environment. The key of a blob is its
hash, so putting it twice changes nothing; `BlobFolder` checks the hash of what it reads. Tiles are
never read here: their readers check them against the log's signature.
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

    from obstore import Attributes
    from obstore.store import RetryConfig  # exists for type checkers only

_FOLDER = "file:///"
_RETRIES: RetryConfig = {"max_retries": 4, "retry_timeout": timedelta(seconds=20)}


class Bucket:
    """Blobs by digest. Methods block: call them from a thread."""

    def __init__(self, url: str, *, retries: RetryConfig = _RETRIES) -> None:
        """Open the bucket; raises UserFacingError."""
        self.url = url
        self._store = _open(url, "--blobs", retries)

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
        return UnwritableError(f"the blobs at {self.url} cannot be reached: {_first_line(err)}")


class TileBucket:
    """Full tiles and bundles under the paths that a ledger gives them below `/log`."""

    def __init__(self, url: str, *, retries: RetryConfig = _RETRIES) -> None:
        """Open the bucket; raises UserFacingError."""
        self.url = url
        self._store = _open(url, "--tiles", retries)
        # A folder stores content alone: its web server names the type.
        self._attributes: Attributes | None = None
        if isinstance(self._store, S3Store):
            self._attributes = {
                "Content-Type": "application/octet-stream",
                "Cache-Control": "public, max-age=31536000, immutable",
            }

    async def put(self, path: str, content: bytes) -> None:
        """Put a file, also in place of another; raises UnwritableError."""
        try:
            await obstore.put_async(
                self._store, path, content, attributes=self._attributes, use_multipart=False
            )
        except (BaseError, OSError) as err:
            raise UnwritableError(
                f"the tiles at {self.url} cannot be written: {_first_line(err)}"
            ) from err


def _open(url: str, option: str, retries: RetryConfig) -> ObjectStore:
    try:
        if url.startswith(_FOLDER):
            return LocalStore.from_url(url, mkdir=True)
        return S3Store.from_url(url, retry_config=retries)
    except (BaseError, ValueError) as err:
        raise UserFacingError(f"{option} {url!r} cannot be used: {err}") from err


def _first_line(err: Exception) -> str:
    return str(err).strip().splitlines()[0]
