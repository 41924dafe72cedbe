"""The layout of a sealed set's archive: a plain head, and chunks, each encrypted separately.

The encrypted content is the leaves of all documents, then for each its salt, its size as u64 and
its bytes. The leaves come first, so that each document can be checked while it is read.

A chunk's nonce is its number (11 bytes) and whether it is the last (1 byte), as in age's STREAM;
the head is associated data of each. So no chunk can move, be left out, or follow the last. A key
encrypts one archive only. The cipher itself is not in this file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from tequio_shared.errors import MalformedError
from tequio_shared.ids import DIGEST_BYTES, Digest
from tequio_shared.log import merkle
from tequio_shared.sealed_set import KEY_BYTES, SALT_BYTES, TEXT_BYTES, TEXTS

_HALF_BYTES = KEY_BYTES // 2
_BITS = 8 * _HALF_BYTES
_MODULUS = 1 << _BITS | 0x87
CHUNK_BYTES = 1 << 16
TAG_BYTES = 16
_MAGIC = b"tqseal\x00\x01"
_SIZE_BYTES = 8
_NUMBER_BYTES = 11
HEAD_BYTES = len(_MAGIC) + DIGEST_BYTES + 2 * _SIZE_BYTES
_DOCUMENT_BYTES = DIGEST_BYTES + SALT_BYTES + _SIZE_BYTES
"""Size of a document's record without the document."""


def combine_shares(shares: Mapping[int, bytes]) -> bytes:
    """Combine the values of exactly as many shares as are needed, by index, into the key.

    Shamir's scheme over GF(2^128) modulo x^128 + x^7 + x^2 + x + 1, on each half of the key, as in
    the program ssss without its diffusion layer (docs/protocol.md, section 18.3). The shares are
    public by then, so nothing here needs constant time; splitting or combining in secret needs a
    library. Shares of different keys give a key too, which opens nothing.
    """
    weights = {at: _weight(at, shares) for at in shares}
    power = {at: _power(at, len(shares)) for at in shares}
    key = b""
    for half in (slice(_HALF_BYTES), slice(_HALF_BYTES, None)):
        found = 0  # interpolated at 0; in this field minus is plus
        for at, share in shares.items():
            found ^= _times(int.from_bytes(share[half], "big") ^ power[at], weights[at])
        key += found.to_bytes(_HALF_BYTES, "big")
    return key


def _weight(at: int, shares: Mapping[int, bytes]) -> int:
    """Lagrange's weight of a share: the product of x / (x - at) over the others."""
    above, below = 1, 1
    for other in shares:
        if other != at:
            above, below = _times(above, other), _times(below, other ^ at)
    return _times(above, _inverse(below))


def _power(base: int, exponent: int) -> int:
    found = 1
    for _ in range(exponent):
        found = _times(found, base)
    return found


def _times(one: int, other: int) -> int:
    product = 0
    while other:
        product ^= one if other & 1 else 0
        other >>= 1
        one <<= 1
        one ^= _MODULUS if one >> _BITS else 0
    return product


def _inverse(value: int) -> int:
    """Euclid's algorithm on polynomials; the value is not 0."""
    low, high, found, beside = value, _MODULUS, 1, 0
    while low != 1:
        shift = low.bit_length() - high.bit_length()
        if shift < 0:
            low, high, found, beside, shift = high, low, beside, found, -shift
        low ^= high << shift
        found ^= beside << shift
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveHead:
    """The plain head of an archive, 56 bytes."""

    root: Digest
    documents: int
    size_bytes: int

    def encode(self) -> bytes:
        return _MAGIC + self.root + _u64(self.documents) + _u64(self.size_bytes)

    @classmethod
    def parse(cls, raw: bytes) -> ArchiveHead:
        """Read `encode` back; raises MalformedError."""
        if len(raw) != HEAD_BYTES or not raw.startswith(_MAGIC):
            raise MalformedError("not the archive of a sealed set")
        at = len(_MAGIC) + DIGEST_BYTES
        documents, size_bytes = _number(raw[at : at + _SIZE_BYTES]), _number(raw[-_SIZE_BYTES:])
        if not 1 <= documents <= min(TEXTS, size_bytes):
            raise MalformedError(
                f"impossible archive of {documents} documents in {size_bytes} bytes"
            )
        return cls(root=Digest(raw[len(_MAGIC) : at]), documents=documents, size_bytes=size_bytes)

    @property
    def plain_bytes(self) -> int:
        """Size of all chunks together before encryption."""
        return _DOCUMENT_BYTES * self.documents + self.size_bytes

    @property
    def chunks(self) -> int:
        """Number of chunks; all but the last are full."""
        return -(-self.plain_bytes // CHUNK_BYTES)

    @property
    def archive_bytes(self) -> int:
        return HEAD_BYTES + self.plain_bytes + TAG_BYTES * self.chunks

    def nonce(self, number: int) -> bytes:
        """The 12 bytes for chunk `number`, from 0."""
        return number.to_bytes(_NUMBER_BYTES, "big") + bytes((number == self.chunks - 1,))


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentStart:
    """Start of document `index`, from 0; its bytes follow."""

    index: int
    salt: bytes
    size_bytes: int

    def encode(self) -> bytes:
        return self.salt + _u64(self.size_bytes)


def chunked(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Cut a stream into chunks, of which only the last may be short."""
    held = bytearray()
    for piece in pieces:
        for at in range(0, len(piece), CHUNK_BYTES):
            held += piece[at : at + CHUNK_BYTES]
            if len(held) >= CHUNK_BYTES:
                yield bytes(held[:CHUNK_BYTES])
                del held[:CHUNK_BYTES]
    if held:
        yield bytes(held)


def read_documents(chunks: Iterable[bytes], head: ArchiveHead) -> Iterator[DocumentStart | bytes]:
    """Yield a `DocumentStart` for each document in decrypted chunks, then its bytes in parts.

    A document is checked against its leaf before the next one begins or the end is reached; use
    nothing before that. Raises MalformedError with the number of a document that fails.
    """
    stream = _Stream(chunks)
    leaves = [stream.read_exactly(DIGEST_BYTES) for _ in range(head.documents)]
    if merkle.root_of_hashes(leaves) != head.root:
        raise MalformedError("the leaves in the archive do not match the root in its head")
    left = head.size_bytes
    for index, leaf in enumerate(leaves):
        salt = stream.read_exactly(SALT_BYTES)
        size_bytes = _number(stream.read_exactly(_SIZE_BYTES))
        # Bounded before it is yielded: callers allocate by it.
        if not 1 <= size_bytes <= min(left, TEXT_BYTES):
            raise MalformedError(f"document {index} has an impossible size of {size_bytes} bytes")
        left -= size_bytes
        yield DocumentStart(index=index, salt=salt, size_bytes=size_bytes)
        state = hashlib.sha256(b"\x00" + salt)
        for piece in stream.pieces(size_bytes):
            state.update(piece)
            yield piece
        if state.digest() != leaf:
            raise MalformedError(f"document {index} does not match its commitment")
    if left or not stream.is_done():
        raise MalformedError("the archive holds more than its documents")


class _Stream:
    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._held = b""
        self._at = 0

    def read_exactly(self, size_bytes: int) -> bytes:
        return b"".join(self.pieces(size_bytes))

    def pieces(self, size_bytes: int) -> Iterator[bytes]:
        while size_bytes:
            if self.is_done():
                raise MalformedError("the archive is truncated")
            piece = self._held[self._at : self._at + size_bytes]
            self._at += len(piece)
            size_bytes -= len(piece)
            yield piece

    def is_done(self) -> bool:
        while self._at == len(self._held):
            found = next(self._chunks, None)
            if found is None:
                return True
            self._held, self._at = found, 0
        return False


def _u64(number: int) -> bytes:
    return number.to_bytes(_SIZE_BYTES, "big")


def _number(raw: bytes) -> int:
    return int.from_bytes(raw, "big")
