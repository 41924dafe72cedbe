"""A bundle says everything one way: what is cut off is missing, what is changed is refused."""

from __future__ import annotations

import os
import tarfile
from typing import TYPE_CHECKING

import pytest

from tequio_client.verify.bundle import BundleFile, BundleInfo, RecordedLog, write_bundle
from tequio_client.verify.source import NotAvailableError
from tequio_shared.errors import MalformedError
from tequio_shared.ids import ZERO_DIGEST, sha256, to_text
from tequio_shared.limits import BLOB_BYTES
from tequio_shared.log.notes import NOTE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

LEAVES = [bytes([at % 256]) * (at % 7 + 1) for at in range(300)]
DOCUMENTS = [b"a document", b"", b"x" * 513]
ABOUT = BundleInfo(competition=to_text(sha256(b"competition")))


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return written(tmp_path, "bundle.tar")


def written(folder: Path, name: str) -> Path:
    kept = folder / "kept"
    kept.mkdir(exist_ok=True)
    for raw in DOCUMENTS:
        (kept / to_text(sha256(raw))).write_bytes(raw)
    write_bundle(
        folder / name,
        about=ABOUT,
        genesis=b"{}",
        note=b"note\n",
        leaves=(LEAVES[:256], LEAVES[256:]),
        blobs=((sha256(raw), kept / to_text(sha256(raw))) for raw in DOCUMENTS),
    )
    return folder / name


def tar_header(name: str, size: int = 0) -> bytes:
    info = tarfile.TarInfo(name)
    info.size = size
    return info.tobuf(tarfile.USTAR_FORMAT)


def test_what_was_written_is_read_back(bundle: Path) -> None:
    with BundleFile(bundle) as found:
        assert found.about == ABOUT
        assert (found.genesis(), found.signed_note()) == (b"{}", b"note\n")
        assert found.entries(0, 256) + found.entries(256, 300) == LEAVES
        assert found.entries(260, 262) == LEAVES[260:262]
        assert [found.blob(sha256(raw)) for raw in DOCUMENTS] == DOCUMENTS
        assert found.blob(sha256(b"another")) is None
        with pytest.raises(NotAvailableError, match="300"):
            found.entries(256, 301)


def test_a_large_document_goes_to_a_file(bundle: Path, tmp_path: Path) -> None:
    with BundleFile(bundle) as found:
        assert found.extract(sha256(DOCUMENTS[2]), tmp_path / "out")
        assert not found.extract(sha256(b"another"), tmp_path / "none")
    assert (tmp_path / "out").read_bytes() == DOCUMENTS[2]


def test_the_same_content_is_the_same_file(bundle: Path, tmp_path: Path) -> None:
    assert written(tmp_path, "again.tar").read_bytes() == bundle.read_bytes()
    assert bundle.read_bytes().startswith(b"about\0")


def test_any_program_reads_it_as_a_tar_of_plain_files(bundle: Path) -> None:
    with tarfile.open(bundle) as tar:
        members = tar.getmembers()
    assert [one.name for one in members[:5]] == [
        "about",
        "genesis",
        "checkpoint",
        "entries-0000000",
        "entries-0000001",
    ]
    assert all(one.isreg() and "/" not in one.name and not one.mtime for one in members)


def test_one_that_is_cut_off_anywhere_is_incomplete(bundle: Path, tmp_path: Path) -> None:
    raw = bundle.read_bytes()
    cut = tmp_path / "cut.tar"
    for length in {*range(0, len(raw), 256), len(raw) - 1, len(raw) - 1_024}:
        cut.write_bytes(raw[:length])
        with pytest.raises(NotAvailableError):
            BundleFile(cut)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda raw: raw + b"\0" * 512, "unexpected bytes after"),
        (lambda raw: raw.replace(b"genesis\0", b"../gene\0", 1), "not part of a bundle"),
        (lambda raw: tar_header("../gene") + raw[512:], "not part of a bundle"),
        (lambda raw: tar_header("genesis2") + raw[512:], "not part of a bundle"),
        (lambda raw: tar_header("génesis") + raw[512:], "not part of a bundle"),
        (lambda raw: raw[:1024] + raw[:1024] + raw[1024:], "out of order"),
        (lambda raw: raw[:100] + b"0000777\0" + raw[108:], "not part of a bundle"),
        (lambda raw: raw[:156] + b"2" + raw[157:], "not part of a bundle"),
        (lambda raw: b"PK\x03\x04" + raw[4:], "not part of a bundle"),
        (lambda raw: raw[:1023] + b"x" + raw[1024:], "unexpected bytes after about"),
        (lambda raw: raw.replace(b'"version":1', b'"versio":11', 1), "versio"),
    ],
)
def test_one_that_says_it_another_way_is_refused(
    bundle: Path, change: Callable[[bytes], bytes], says: str
) -> None:
    bundle.write_bytes(change(bundle.read_bytes()))
    with pytest.raises(MalformedError, match=says):
        BundleFile(bundle)


@pytest.mark.parametrize(
    ("name", "most", "read"),
    [
        ("checkpoint", NOTE_BYTES, BundleFile.signed_note),
        (f"blob-{to_text(ZERO_DIGEST)}", BLOB_BYTES, lambda found: found.blob(ZERO_DIGEST)),
    ],
)
def test_a_member_that_is_too_large_is_not_read(
    bundle: Path, name: str, most: int, read: Callable[[BundleFile], bytes]
) -> None:
    about = bundle.read_bytes()[:1024]
    for size in (most, most + 1):
        bundle.write_bytes(about + tar_header(name, size))
        os.truncate(bundle, bundle.stat().st_size + size + -size % 512 + 1024)
        with BundleFile(bundle) as found:
            if size > most:
                with pytest.raises(
                    MalformedError, match=f"{name} of the bundle has {size:,} bytes"
                ):
                    read(found)
            else:
                assert len(read(found)) == most


def test_a_document_of_another_hash_is_not_recorded(bundle: Path, tmp_path: Path) -> None:
    bundle.write_bytes(bundle.read_bytes().replace(DOCUMENTS[0], b"b document"))
    with BundleFile(bundle) as source:
        recorded = RecordedLog(source, tmp_path / "log", with_entries=True)
        with pytest.raises(MalformedError, match="comes with another hash"):
            recorded.blob(sha256(DOCUMENTS[0]))
        assert recorded.blob(sha256(DOCUMENTS[2])) == DOCUMENTS[2]
    names = [path.name for path in (tmp_path / "log" / "blobs").iterdir()]
    assert names == [to_text(sha256(DOCUMENTS[2]))]


def failing() -> Iterator[list[bytes]]:
    yield LEAVES[:256]
    raise RuntimeError


def test_a_writer_that_fails_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "bundle.tar"
    with pytest.raises(RuntimeError):
        write_bundle(path, about=ABOUT, genesis=b"{}", note=b"", leaves=failing(), blobs=())
    assert not list(tmp_path.iterdir())
