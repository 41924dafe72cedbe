"""ChaCha20-Poly1305 over the chunks of a sealed set's archive."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from tequio_shared.errors import MalformedError
from tequio_shared.sealed_archive import CHUNK_BYTES, TAG_BYTES, chunked

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tequio_shared.sealed_archive import Head


def encrypted(key: bytes, head: Head, pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Make an archive of what `head` announces, piece by piece."""
    cipher, clear = ChaCha20Poly1305(key), head.encode()
    yield clear
    for number, chunk in enumerate(chunked(pieces)):
        yield cipher.encrypt(head.nonce(number), chunk, clear)


def decrypted(key: bytes, head: Head, file: BinaryIO) -> Iterator[bytes]:
    """Decrypt the chunks that follow the head in a file.

    Raises MalformedError when one is not what stood there under this key, or there are more or
    fewer.
    """
    cipher, clear = ChaCha20Poly1305(key), head.encode()
    for number in range(head.chunks):
        left = head.plain_bytes - number * CHUNK_BYTES
        chunk = file.read(min(left, CHUNK_BYTES) + TAG_BYTES)
        try:
            yield cipher.decrypt(head.nonce(number), chunk, clear)
        except InvalidTag as err:
            raise MalformedError(
                f"part {number + 1} of {head.chunks} is damaged, or the key is another's"
            ) from err
    if file.read(1):
        raise MalformedError("something follows the last part")
