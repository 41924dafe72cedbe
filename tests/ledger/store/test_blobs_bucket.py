"""Blobs that several processes share, in a folder and behind a server that speaks S3."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tequio_ledger.store.blobs import BLOCK_BYTES, BlobFolder, occupied_bytes
from tequio_ledger.store.bucket import Bucket
from tequio_ledger.store.database import Database
from tequio_ledger.store.files import UnwritableError
from tequio_shared.errors import RefusedError
from tequio_shared.ids import PeerKey, sha256
from tests.ledger.store.test_blobs import put
from tests.support import object_store
from tests.support.ledgers import VirtualClock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ALICE = PeerKey(b"a" * 32)
CONTENT = b"what everybody wants " * 5_000


@pytest.fixture(scope="module")
def server() -> Iterator[dict[str, str]]:
    with object_store.served_or_skipped() as environment:
        yield environment


@pytest.fixture(params=["folder", "s3"])
def url(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "folder":
        return (tmp_path / "shared").as_uri()
    for name, value in request.getfixturevalue("server").items():
        monkeypatch.setenv(name, value)
    return f"s3://{object_store.BUCKET}/{tmp_path.name}"


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with closing(Database(tmp_path / "db")) as database:
        database.migrate()
        yield database


def replica(tmp_path: Path, database: Database, url: str, name: str) -> BlobFolder:
    folder = BlobFolder(tmp_path / name, database, VirtualClock(), 1 << 20, Bucket(url))
    folder.clean_up()
    return folder


def test_what_is_put_at_one_replica_is_read_at_another(
    tmp_path: Path, database: Database, url: str
) -> None:
    one, other = (replica(tmp_path, database, url, name) for name in ("one", "other"))
    digest = sha256(CONTENT)
    assert (other.has(digest), other.size(digest)) == (False, None)
    put(one, ALICE, CONTENT, 1 << 20)
    assert (other.has(digest), other.size(digest)) == (True, len(CONTENT))
    assert not other.path(digest).exists()
    assert other.read(digest) == CONTENT
    assert other.path(digest).read_bytes() == CONTENT, "the next reader waits for nobody"
    assert one.digests() == other.digests() == {digest}


def test_a_damaged_copy_is_fetched_anew(tmp_path: Path, database: Database, url: str) -> None:
    blobs = replica(tmp_path, database, url, "one")
    digest = blobs.put(CONTENT)
    assert blobs.put(CONTENT) == digest, "twice is as good as once"
    blobs.path(digest).write_bytes(b"something else")
    assert blobs.read(digest) == CONTENT


def test_what_is_damaged_there_is_absent_rather_than_wrong(
    tmp_path: Path, database: Database, url: str
) -> None:
    wrong = tmp_path / "wrong"
    wrong.write_bytes(b"certainly not it")
    Bucket(url).put(sha256(CONTENT), wrong)
    blobs = replica(tmp_path, database, url, "one")
    with pytest.raises(KeyError):
        blobs.read(sha256(CONTENT))


def test_what_nobody_put_is_absent(tmp_path: Path, database: Database, url: str) -> None:
    with pytest.raises(KeyError):
        replica(tmp_path, database, url, "one").read(sha256(b"nothing"))


def test_all_replicas_share_one_quota(tmp_path: Path, database: Database, url: str) -> None:
    one, other = (replica(tmp_path, database, url, name) for name in ("one", "other"))
    quota = occupied_bytes(len(CONTENT)) + occupied_bytes(1)
    put(one, ALICE, CONTENT, quota)
    with pytest.raises(RefusedError, match=f"more than the {BLOCK_BYTES} bytes"):
        put(other, ALICE, b"x" * (BLOCK_BYTES + 1), quota)


def test_what_one_replica_deletes_counts_for_no_other(
    tmp_path: Path, database: Database, url: str
) -> None:
    one, other = (replica(tmp_path, database, url, name) for name in ("one", "other"))
    put(one, ALICE, CONTENT, 1 << 20)
    digest = sha256(CONTENT)
    assert other.read(digest) == CONTENT
    one.delete([digest], VirtualClock()() + 1)
    assert Bucket(url).get(digest) is None
    assert other.has(digest), "cached there"
    assert other.listed_size(digest) is None
    assert not other.renew(digest, ALICE)
    put(other, ALICE, CONTENT, 1 << 20)
    assert one.read(digest) == CONTENT


def test_a_server_that_is_away_is_a_reason_to_come_back(
    tmp_path: Path, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "nobody")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    bucket = Bucket("s3://nowhere/at-all", retries={"max_retries": 0})
    blobs = BlobFolder(tmp_path / "one", database, VirtualClock(), 1 << 20, bucket)
    blobs.clean_up()
    with pytest.raises(UnwritableError, match="cannot be reached"):
        blobs.put(CONTENT)
    assert not blobs.has(sha256(CONTENT))
