"""A sealed set's archive: what is read is what was written, or nothing."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tequio_shared import sealed_set
from tequio_shared.competition.sealed_archive import (
    CHUNK_BYTES,
    ArchiveHead,
    DocumentStart,
    chunked,
    read_documents,
)
from tequio_shared.errors import MalformedError
from tequio_shared.log import merkle
from tequio_shared.sealed_set import TEXT_BYTES

SALTS = [bytes([at]) * 16 for at in range(3)]
TEXTS = [b"milpa", b"mano" * 20_000, b"metate"]


def _leaves(texts: list[bytes]) -> list[bytes]:
    return [
        sealed_set.document_leaf(salt, (text,)) for salt, text in zip(SALTS, texts, strict=True)
    ]


def _head(texts: list[bytes], leaves: list[bytes]) -> ArchiveHead:
    return ArchiveHead(
        root=merkle.root_of_hashes(leaves), documents=len(texts), size_bytes=sum(map(len, texts))
    )


def _plain(texts: list[bytes], leaves: list[bytes]) -> bytes:
    documents = (
        DocumentStart(index=at, salt=SALTS[at], size_bytes=len(text)).encode() + text
        for at, text in enumerate(texts)
    )
    return b"".join((*leaves, *documents))


def _texts(plain: bytes, head: ArchiveHead) -> list[bytes]:
    found: list[bytes] = []
    for event in read_documents(chunked([plain]), head):
        if isinstance(event, DocumentStart):
            assert event.salt == SALTS[event.index]
            found.append(b"")
        else:
            found[-1] += event
    return found


LEAVES = _leaves(TEXTS)
HEAD = _head(TEXTS, LEAVES)
PLAIN = _plain(TEXTS, LEAVES)


def test_documents_come_back_in_their_order() -> None:
    assert _texts(PLAIN, HEAD) == TEXTS
    assert len(PLAIN) == HEAD.plain_bytes


def test_a_leaf_is_that_of_the_merkle_tree_over_salt_and_document() -> None:
    assert LEAVES[1] == merkle.leaf_hash(SALTS[1] + TEXTS[1])
    assert sealed_set.document_leaf(SALTS[1], (TEXTS[1][:7], TEXTS[1][7:])) == LEAVES[1]
    assert LEAVES[1] == hashlib.sha256(b"\x00" + SALTS[1] + TEXTS[1]).digest()


def test_a_swapped_document_is_named() -> None:
    swapped = _plain([TEXTS[0], b"masa" * 20_000, TEXTS[2]], LEAVES)
    with pytest.raises(MalformedError, match="document 1 does not match its commitment"):
        _texts(swapped, HEAD)


def test_documents_in_another_order_are_refused() -> None:
    turned = [TEXTS[2], TEXTS[1], TEXTS[0]]
    with pytest.raises(MalformedError, match="document 0 does not match its commitment"):
        _texts(_plain(turned, LEAVES), HEAD)
    with pytest.raises(MalformedError, match="do not match the root"):
        _texts(_plain(turned, _leaves(turned)), HEAD)


@pytest.mark.parametrize("end", [0, 31, 96, 110, 130, len(PLAIN) - 1])
def test_an_archive_that_ends_early_is_refused(end: int) -> None:
    with pytest.raises(MalformedError, match="is truncated"):
        _texts(PLAIN[:end], HEAD)


def test_what_follows_the_documents_is_refused() -> None:
    more = replace(HEAD, size_bytes=HEAD.size_bytes + 1)
    for plain, head in ((PLAIN + b"x", HEAD), (PLAIN, more)):
        with pytest.raises(MalformedError, match="archive holds more"):
            _texts(plain, head)


@pytest.mark.parametrize(
    ("size_bytes", "together_bytes"),
    [
        (0, HEAD.size_bytes),
        (HEAD.size_bytes + 1, HEAD.size_bytes),
        (TEXT_BYTES + 1, TEXT_BYTES + 1),
        (1 << 60, HEAD.size_bytes),
    ],
)
def test_a_document_of_an_impossible_size_is_refused_before_it_is_read(
    size_bytes: int, together_bytes: int
) -> None:
    at = len(TEXTS) * 32 + 16
    wrong = PLAIN[:at] + size_bytes.to_bytes(8, "big") + PLAIN[at + 8 :]
    with pytest.raises(MalformedError, match=f"impossible size of {size_bytes} bytes"):
        _texts(wrong, replace(HEAD, size_bytes=together_bytes))


def test_a_head_comes_back_and_a_wrong_one_does_not() -> None:
    assert ArchiveHead.parse(HEAD.encode()) == HEAD
    none = replace(HEAD, documents=0, size_bytes=0).encode()
    too_many = replace(HEAD, documents=2, size_bytes=1).encode()
    for wrong in (HEAD.encode()[:-1], b"x" + HEAD.encode()[1:], b"", none, too_many):
        with pytest.raises(MalformedError):
            ArchiveHead.parse(wrong)


def test_every_chunk_has_a_nonce_of_its_own_and_only_the_last_says_so() -> None:
    nonces = [HEAD.nonce(number) for number in range(HEAD.chunks)]
    assert HEAD.chunks == 2
    assert nonces == [bytes(12), bytes(10) + b"\x01\x01"]


@given(st.lists(st.integers(0, 3 * CHUNK_BYTES), max_size=6))
def test_chunks_are_full_but_for_the_last(sizes: list[int]) -> None:
    pieces = [bytes([at]) * size for at, size in enumerate(sizes)]
    chunks = list(chunked(pieces))
    assert b"".join(chunks) == b"".join(pieces)
    assert all(len(chunk) == CHUNK_BYTES for chunk in chunks[:-1])
    assert all(0 < len(chunk) <= CHUNK_BYTES for chunk in chunks[-1:])
