"""The blob folder: quotas, wrong bytes, and damage on the disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tequio_ledger.store.blobs import BlobFolder
from tequio_ledger.store.database import Database
from tequio_shared.errors import RefusedError
from tequio_shared.ids import PeerKey, sha256
from tests.support.ledgers import VirtualClock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ALICE, BOB = PeerKey(b"a" * 32), PeerKey(b"b" * 32)


@pytest.fixture
def blobs(tmp_path: Path, either_database: str) -> Iterator[BlobFolder]:
    database = Database(either_database or tmp_path / "db")
    database.migrate()
    folder = BlobFolder(tmp_path / "blobs", database, VirtualClock(), 1000)
    folder.clean_up()
    yield folder
    database.close()


def put(blobs: BlobFolder, author: PeerKey, content: bytes, quota: int) -> None:
    upload = blobs.begin_upload(sha256(content), author, quota)
    try:
        upload.write(content)
        blobs.store(upload)
    finally:
        blobs.end_upload(upload)


def test_a_peers_quota_is_its_own(blobs: BlobFolder) -> None:
    put(blobs, ALICE, b"x" * 90, 100)
    with pytest.raises(RefusedError, match="more than the 10 bytes"):
        put(blobs, ALICE, b"y" * 11, 100)
    put(blobs, ALICE, b"z" * 10, 100)
    with pytest.raises(RefusedError, match="used up"):
        put(blobs, ALICE, b"!", 100)
    put(blobs, BOB, b"y" * 11, 100)


def test_all_blobs_together_have_a_quota(blobs: BlobFolder) -> None:
    put(blobs, ALICE, b"x" * 600, 10_000)
    with pytest.raises(RefusedError, match="more than the 400 bytes"):
        put(blobs, BOB, b"y" * 401, 10_000)


def test_a_refused_upload_leaves_no_file(blobs: BlobFolder, tmp_path: Path) -> None:
    upload = blobs.begin_upload(sha256(b"right"), ALICE, 100)
    upload.write(b"wrong")
    with pytest.raises(RefusedError, match="does not have the hash in its name"):
        blobs.store(upload)
    blobs.end_upload(upload)
    assert not blobs.has(sha256(b"right"))
    assert not list((tmp_path / "blobs" / "new").iterdir())


def test_a_damaged_blob_is_absent_rather_than_wrong(blobs: BlobFolder) -> None:
    digest = blobs.put(b"document")
    blobs.path(digest).write_bytes(b"Document")
    with pytest.raises(KeyError):
        blobs.read(digest)


def test_unfinished_files_are_swept_at_a_start(
    tmp_path: Path, blobs: BlobFolder, either_database: str
) -> None:
    killed = blobs.begin_upload(sha256(b"never ends"), ALICE, 100)
    database = Database(either_database or tmp_path / "db")
    BlobFolder(tmp_path / "blobs", database, VirtualClock(), 1000).clean_up()
    database.close()
    assert not list((tmp_path / "blobs" / "new").iterdir())
    killed.discard()


def test_a_blob_is_hashed_again_once_its_file_was_touched(blobs: BlobFolder) -> None:
    content = b"as it was put"
    put(blobs, ALICE, content, 100)
    assert blobs.read(sha256(content)) == content
    blobs.path(sha256(content)).write_bytes(b"as it was pot")
    with pytest.raises(KeyError):
        blobs.read(sha256(content))
    blobs.path(sha256(content)).write_bytes(content)
    assert blobs.read(sha256(content)) == content
