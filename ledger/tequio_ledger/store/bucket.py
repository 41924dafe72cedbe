"""Blobs in a place that all processes of a ledger reach: S3, or a folder that they share.

The only file that imports obstore. A blob's key is its name, so putting it twice changes nothing;
what is read is hashed by whoever asks (`blobs`).
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, NotFoundError
from obstore.store import LocalStore, S3Store

from tequio_ledger.store.files import UnwritableError
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import Digest

if TYPE_CHECKING:
    from pathlib import Path

    from obstore.store import ObjectStore, RetryConfig

_FOLDER = "file:///"
_RETRIES: RetryConfig = {"max_retries": 4, "retry_timeout": timedelta(seconds=20)}


class Bucket:
    """Blobs by digest. Methods block: call them from a thread."""

    def __init__(self, url: str) -> None:
        """Name the place; raises UserFacingError. Keys and region come from the environment."""
        self.url = url
        try:
            self._store: ObjectStore
            if url.startswith(_FOLDER):
                self._store = LocalStore.from_url(url, mkdir=True)
            else:
                self._store = S3Store.from_url(url, retry_config=_RETRIES)
        except (BaseError, ValueError) as err:
            raise UserFacingError(f"--blobs {url!r} cannot be used: {err}") from err

    def put(self, digest: Digest, file: Path) -> None:
        """Put a blob; durable when this returns. Raises UnwritableError, OSError."""
        with file.open("rb") as content:
            try:
                obstore.put(self._store, _key(digest), content, mode="create", use_multipart=False)
            except AlreadyExistsError:
                pass  # under this name there is nothing else
            except BaseError as err:
                raise self._silent(err) from err

    def get(self, digest: Digest) -> bytes | None:
        """Give what lies under the name, None when nothing does; raises UnwritableError."""
        try:
            return obstore.get(self._store, _key(digest)).bytes().to_bytes()
        except (NotFoundError, FileNotFoundError):
            return None
        except BaseError as err:
            raise self._silent(err) from err

    def digests(self) -> set[Digest]:
        """Name every blob that is there; raises UnwritableError."""
        try:
            pages = obstore.list(self._store, "sha256")
            names = [str(one["path"]).rpartition("/")[2] for page in pages for one in page]
        except BaseError as err:
            raise self._silent(err) from err
        return {Digest(bytes.fromhex(name)) for name in names}

    def _silent(self, err: BaseError) -> UnwritableError:
        first = str(err).strip().splitlines()[0]
        return UnwritableError(f"the blobs at {self.url} cannot be reached: {first}")


def _key(digest: Digest) -> str:
    name = digest.hex()
    return f"sha256/{name[:2]}/{name[2:4]}/{name}"
