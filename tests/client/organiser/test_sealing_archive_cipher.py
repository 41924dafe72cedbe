"""The encrypted archive under attack: parts that move, go missing, or are added."""

from __future__ import annotations

import io
import tracemalloc
from typing import TYPE_CHECKING

import pytest
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from tequio_client.organiser import sealing
from tequio_shared import sealed_set
from tequio_shared.competition import sealed_archive
from tequio_shared.competition.sealed_archive import (
    CHUNK_BYTES,
    HEAD_BYTES,
    TAG_BYTES,
    ArchiveHead,
    DocumentStart,
)
from tequio_shared.errors import MalformedError
from tequio_shared.ids import Digest
from tequio_shared.log import merkle
from tequio_shared.sealed_set import TEXT_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KEY = bytes(range(32))
PLAIN = b"".join(bytes([at]) * 1000 for at in range(256))  # 3.9 chunks
HEAD = ArchiveHead(root=Digest(bytes(32)), documents=1, size_bytes=len(PLAIN) - 56)
ARCHIVE = b"".join(sealing.encrypt(KEY, HEAD, [PLAIN]))
STEP = CHUNK_BYTES + TAG_BYTES
PARTS = [ARCHIVE[at : at + STEP] for at in range(HEAD_BYTES, len(ARCHIVE), STEP)]


def _opened(parts: list[bytes], *, key: bytes = KEY, head: ArchiveHead = HEAD) -> bytes:
    return b"".join(sealing.decrypt(key, head, io.BytesIO(b"".join(parts))))


def test_what_was_encrypted_comes_back() -> None:
    assert len(PARTS) == HEAD.chunks == 4
    assert len(ARCHIVE) == HEAD.archive_bytes
    assert _opened(PARTS) == PLAIN


def test_a_part_is_what_the_page_says() -> None:
    nonce = bytes(10) + b"\x03\x01"
    assert ChaCha20Poly1305(KEY).decrypt(nonce, PARTS[3], ARCHIVE[:56]) == PLAIN[3 * CHUNK_BYTES :]


@pytest.mark.parametrize(
    ("parts", "broken"),
    [
        ([PARTS[1], PARTS[0], *PARTS[2:]], "part 1 of 4"),
        ([PARTS[0], PARTS[2], PARTS[1], PARTS[3]], "part 2 of 4"),
        ([PARTS[0], PARTS[0], *PARTS[2:]], "part 2 of 4"),
        (PARTS[:-1], "part 4 of 4"),
        ([*PARTS[:-1], PARTS[-1][:-1]], "part 4 of 4"),
        ([PARTS[0], *PARTS[2:]], "part 2 of 4"),
        ([*PARTS, b"x"], "extra bytes"),
        ([*PARTS, PARTS[-1]], "extra bytes"),
        ([], "part 1 of 4"),
        ([PARTS[0][:7]], "part 1 of 4"),
    ],
)
def test_parts_that_moved_are_missing_or_too_many_are_found(
    parts: list[bytes], broken: str
) -> None:
    with pytest.raises(MalformedError, match=broken):
        _opened(parts)


def test_every_bit_of_head_key_and_parts_counts() -> None:
    flipped = bytes([PARTS[2][5] ^ 1])
    with pytest.raises(MalformedError, match="part 3"):
        _opened([*PARTS[:2], PARTS[2][:5] + flipped + PARTS[2][6:], PARTS[3]])
    with pytest.raises(MalformedError, match="part 1"):
        _opened(PARTS, key=bytes(32))
    other = ArchiveHead(root=Digest(b"\x01" * 32), documents=1, size_bytes=HEAD.size_bytes)
    with pytest.raises(MalformedError, match="part 1"):
        _opened(PARTS, head=other)


def test_a_head_that_says_less_does_not_cut_the_archive() -> None:
    """Only the last part has the nonce of a last one, and each has the head in its tag."""
    shorter = ArchiveHead(root=HEAD.root, documents=1, size_bytes=3 * CHUNK_BYTES - 56)
    assert shorter.chunks == 3
    with pytest.raises(MalformedError, match="part 1 of 3"):
        _opened(PARTS[:3], head=shorter)


def test_the_largest_document_passes_in_little_memory(tmp_path: Path) -> None:
    piece, salt = b"milpa " * 10_922 + b"1234", bytes(16)
    assert len(piece) == CHUNK_BYTES

    def document() -> Iterator[bytes]:
        return (piece for _ in range(TEXT_BYTES // CHUNK_BYTES))

    leaf = sealed_set.document_leaf(salt, document())
    head = ArchiveHead(root=merkle.root_of_hashes([leaf]), documents=1, size_bytes=TEXT_BYTES)

    def plain() -> Iterator[bytes]:
        yield leaf
        yield DocumentStart(index=0, salt=salt, size_bytes=TEXT_BYTES).encode()
        yield from document()

    tracemalloc.start()
    try:
        with (tmp_path / "archive").open("w+b") as file:
            file.writelines(sealing.encrypt(KEY, head, plain()))
            assert file.tell() == head.archive_bytes > TEXT_BYTES
            file.seek(HEAD_BYTES)
            chunks = sealing.decrypt(KEY, head, file)
            found = sealed_archive.read_documents(chunks, head)
            size = sum(len(one) for one in found if isinstance(one, bytes))
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert size == TEXT_BYTES
    assert peak_bytes < 2 << 20
