"""The blob folder: quotas, wrong bytes, and damage on the disk."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import event

from tequio_ledger.store import blobs as stored_blobs
from tequio_ledger.store.blobs import BLOCK_BYTES, FILE_BYTES, BlobFolder, occupied_bytes
from tequio_ledger.store.database import Database
from tequio_shared.errors import RefusedError
from tequio_shared.ids import PeerKey, sha256
from tests.support.ledgers import VirtualClock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ALICE, BOB, CAROL = PeerKey(b"a" * 32), PeerKey(b"b" * 32), PeerKey(b"c" * 32)
CLOCK = VirtualClock()
SMALL = BLOCK_BYTES + FILE_BYTES
"""Space that a small blob counts as."""


@pytest.fixture
def blobs(tmp_path: Path, either_database: str) -> Iterator[BlobFolder]:
    database = Database(either_database or tmp_path / "db")
    database.migrate()
    folder = BlobFolder(tmp_path / "blobs", database, CLOCK, 3 * SMALL)
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
    put(blobs, ALICE, b"x" * 90, 2 * SMALL)
    with pytest.raises(RefusedError, match=f"more than the {BLOCK_BYTES} bytes"):
        put(blobs, ALICE, b"y" * (BLOCK_BYTES + 1), 2 * SMALL)
    put(blobs, ALICE, b"z" * BLOCK_BYTES, 2 * SMALL)
    with pytest.raises(RefusedError, match="used up"):
        put(blobs, ALICE, b"!", 2 * SMALL)
    put(blobs, BOB, b"y" * 11, SMALL)


def test_a_quota_without_room_for_one_byte_is_used_up(blobs: BlobFolder) -> None:
    put(blobs, ALICE, b"x", SMALL + FILE_BYTES)
    with pytest.raises(RefusedError, match="used up") as refused:
        put(blobs, ALICE, b"y", SMALL + FILE_BYTES)
    assert refused.value.code == "quota"


def test_an_upload_reserves_no_more_than_it_announced(blobs: BlobFolder) -> None:
    uploads = [
        blobs.begin_upload(sha256(content), ALICE, 2 * SMALL, claimed_bytes=1)
        for content in (b"1", b"2")
    ]
    with pytest.raises(RefusedError, match="used up"):
        blobs.begin_upload(sha256(b"3"), ALICE, 2 * SMALL, claimed_bytes=1)
    with pytest.raises(RefusedError, match="more than the 1 bytes allowed"):
        uploads[0].write(b"12")
    for one in uploads:
        blobs.end_upload(one)
    put(blobs, ALICE, bytes(2 * BLOCK_BYTES), 2 * SMALL)


def test_all_blobs_together_have_a_quota(blobs: BlobFolder) -> None:
    put(blobs, ALICE, b"x" * BLOCK_BYTES * 2, 10 * SMALL)
    with pytest.raises(RefusedError, match=f"more than the {3 * BLOCK_BYTES} bytes"):
        put(blobs, BOB, b"y" * (3 * BLOCK_BYTES + 1), 10 * SMALL)


def test_documents_of_the_coordinator_leave_the_room_to_others(blobs: BlobFolder) -> None:
    for number in range(4):
        blobs.put(b"roster %d" % number)
    put(blobs, ALICE, bytes(3 * BLOCK_BYTES), 10 * SMALL)
    blobs.put(b"result")


def test_a_byte_counts_as_much_as_its_file_occupies(blobs: BlobFolder) -> None:
    for content in (b"1", b"2", b"3"):
        put(blobs, ALICE, content, 10 * SMALL)
    with pytest.raises(RefusedError, match="used up"):
        put(blobs, BOB, b"4", 10 * SMALL)
    assert occupied_bytes(0) < occupied_bytes(1) == occupied_bytes(BLOCK_BYTES) == SMALL


def test_uploads_do_not_read_all_rows_again_and_again(
    tmp_path: Path, either_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    with closing(Database(either_database or tmp_path / "many")) as database:
        database.migrate()
        one, other = (
            BlobFolder(tmp_path / name, database, CLOCK, 4 * SMALL) for name in ("one", "other")
        )
        one.clean_up()
        other.clean_up()
        event.listen(
            database.reader, "before_cursor_execute", lambda _, __, query, *___: read.append(query)
        )
        for content in (b"1", b"2", b"3"):
            put(one, ALICE, content, 3 * SMALL)
        with pytest.raises(RefusedError, match="used up"):
            put(one, ALICE, b"4", 3 * SMALL)
        assert sum("sum(" in query for query in read) == 1
        put(other, BOB, b"from another process", 3 * SMALL)
        monkeypatch.setattr(stored_blobs, "RECOUNT_S", 0.0)
        one.delete([sha256(b"1")], CLOCK() + 1)
        put(one, ALICE, b"5", 3 * SMALL)
        with pytest.raises(RefusedError, match="used up"):
            put(one, CAROL, b"6", 3 * SMALL)


def test_only_old_unnamed_blobs_of_others_are_found_and_deleted(blobs: BlobFolder) -> None:
    put(blobs, ALICE, b"old", 10 * SMALL)
    put(blobs, BOB, b"named", 10 * SMALL)
    own = blobs.put(b"the coordinator's")
    later = CLOCK() + 1
    found = blobs.unnamed(later, {sha256(b"named")}, {CAROL})
    assert found == [sha256(b"old")]
    assert blobs.unnamed(CLOCK(), (), ()) == []
    blobs.delete([*found, sha256(b"absent")], later)
    assert not blobs.has(sha256(b"old"))
    assert not blobs.path(sha256(b"old")).parent.exists()
    assert blobs.read(own)
    assert sha256(b"old") not in blobs.rows()
    put(blobs, ALICE, b"old", 10 * SMALL)
    assert blobs.read(sha256(b"old")) == b"old"


def test_a_blob_that_is_sent_again_is_not_deleted(tmp_path: Path, either_database: str) -> None:
    clock, database = VirtualClock(), Database(either_database or tmp_path / "again")
    database.migrate()
    blobs = BlobFolder(tmp_path / "blobs", database, clock, 3 * SMALL)
    blobs.clean_up()
    put(blobs, ALICE, b"again", 10 * SMALL)
    clock.pass_ms(1_000)
    before_ms = clock()
    found = blobs.unnamed(before_ms, (), ())
    assert blobs.renew(sha256(b"again"), BOB)
    blobs.delete(found, before_ms)
    assert blobs.has(sha256(b"again"))
    assert not blobs.renew(sha256(b"absent"), BOB)
    database.close()


def test_an_organisers_copy_of_a_strangers_blob_does_not_lapse(blobs: BlobFolder) -> None:
    put(blobs, ALICE, b"copied", 10 * SMALL)
    put(blobs, BOB, b"predicted", 10 * SMALL)
    assert blobs.renew(sha256(b"copied"), CAROL, {CAROL})
    blobs.put(b"predicted")
    assert blobs.unnamed(CLOCK() + 1, (), {CAROL}) == []
    assert blobs.renew(sha256(b"predicted"), CAROL, {CAROL})
    assert blobs.unnamed(CLOCK() + 1, (), ()) == [sha256(b"copied")], "the coordinator's stays"


def test_an_organiser_that_takes_a_blob_over_frees_the_strangers_quota(blobs: BlobFolder) -> None:
    put(blobs, ALICE, b"shared", SMALL)
    with pytest.raises(RefusedError, match="used up"):
        put(blobs, ALICE, b"another", SMALL)
    assert blobs.renew(sha256(b"shared"), BOB, {BOB})
    put(blobs, ALICE, b"another", SMALL)


def test_of_two_that_upload_one_blob_side_by_side_the_first_is_its_author(
    blobs: BlobFolder,
) -> None:
    uploads = [blobs.begin_upload(sha256(b"both"), author, SMALL) for author in (CAROL, ALICE)]
    for upload in uploads:
        upload.write(b"both")
        blobs.store(upload)
        blobs.end_upload(upload)
    assert blobs.unnamed(CLOCK() + 1, (), {CAROL}) == []
    assert blobs.unnamed(CLOCK() + 1, (), {ALICE}) == [sha256(b"both")]


def test_a_refused_upload_leaves_no_file(blobs: BlobFolder, tmp_path: Path) -> None:
    upload = blobs.begin_upload(sha256(b"right"), ALICE, SMALL)
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
    killed = blobs.begin_upload(sha256(b"never ends"), ALICE, SMALL)
    database = Database(either_database or tmp_path / "db")
    BlobFolder(tmp_path / "blobs", database, CLOCK, 3 * SMALL).clean_up()
    database.close()
    assert not list((tmp_path / "blobs" / "new").iterdir())
    killed.discard()


def test_a_file_that_a_killed_process_left_without_a_row_lapses(
    tmp_path: Path, either_database: str
) -> None:
    clock, database = VirtualClock(), Database(either_database or tmp_path / "lapses")
    database.migrate()
    blobs = BlobFolder(tmp_path / "lapsing", database, clock, 100 * SMALL)
    contents = (b"of nobody", b"of the coordinator")
    for content in contents:
        path = blobs.path(sha256(content))
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
        note = tmp_path / "lapsing" / "new" / sha256(content).hex()
        note.parent.mkdir(exist_ok=True)
        note.touch()
    blobs.clean_up()
    assert not list(note.parent.iterdir())
    nobodys, coordinators = map(sha256, contents)
    assert blobs.put(contents[1]) == coordinators
    clock.pass_ms(1_000)
    assert blobs.unnamed(clock(), (), ()) == [nobodys]
    assert blobs.unnamed(clock(), {nobodys}, ()) == []
    blobs.delete([nobodys], clock())
    assert not blobs.has(nobodys)
    assert blobs.has(coordinators)
    database.close()


def test_a_blob_is_hashed_again_once_its_file_was_touched(blobs: BlobFolder) -> None:
    content = b"as it was put"
    put(blobs, ALICE, content, SMALL)
    assert blobs.read(sha256(content)) == content
    blobs.path(sha256(content)).write_bytes(b"as it was pot")
    with pytest.raises(KeyError):
        blobs.read(sha256(content))
    blobs.path(sha256(content)).write_bytes(content)
    assert blobs.read(sha256(content)) == content
