"""What organisers commit to before a competition: documents that nobody else can read yet.

A leaf is SHA-256(0x00 || salt || document), so that the root tells nothing about documents that
somebody could guess, and each can be shown alone later. docs/protocol.md, section 18.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Annotated

import msgspec

from tequio_shared import canonical
from tequio_shared.errors import MalformedError
from tequio_shared.fields import Bytes32Text, Positive
from tequio_shared.ids import Digest, sha256
from tequio_shared.limits import STATEMENT_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable

SALT_BYTES = 16
TEXT_BYTES = 64 << 20
"""Largest document of a sealed set; each has to fit a blob when it is shown."""
TEXTS = 1 << 20
"""Most documents of a sealed set."""
CUSTODIANS = 16
"""Most shares of a key."""

_SHARE_PREFIX = b"tequio/v1/share\x00"


class SealedSet(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The public half of a sealed set, fit to stand in a statement."""

    root: Bytes32Text
    """Merkle root over the leaves, in the order of the archive."""
    documents: Annotated[int, msgspec.Meta(ge=1, le=TEXTS)]
    size_bytes: Positive
    """Of all documents together."""
    archive: Bytes32Text
    """SHA-256 of the encrypted archive."""
    needed: Annotated[int, msgspec.Meta(ge=1, le=CUSTODIANS)]
    """How many shares open it."""
    shares: Annotated[tuple[Bytes32Text, ...], msgspec.Meta(min_length=1, max_length=CUSTODIANS)]
    """`share_name` of each share, the first of index 1: a wrong share is known by it."""

    def encode(self) -> bytes:
        """Write the canonical bytes."""
        return canonical.encode(self)

    @classmethod
    def parse(cls, raw: bytes) -> SealedSet:
        """Read a commitment; raises MalformedError."""
        sealed = canonical.decode(raw, cls, STATEMENT_BYTES)
        if sealed.needed > len(sealed.shares):
            raise MalformedError(f"{sealed.needed} shares needed of {len(sealed.shares)}")
        if len(set(sealed.shares)) < len(sealed.shares):
            raise MalformedError("a share stands twice in the commitment")
        if sealed.size_bytes < sealed.documents:
            raise MalformedError(f"{sealed.documents} documents in {sealed.size_bytes} bytes")
        return sealed


def leaf(salt: bytes, document: Iterable[bytes]) -> Digest:
    """Hash one document, given in pieces, into its leaf."""
    state = hashlib.sha256(b"\x00" + salt)
    for piece in document:
        state.update(piece)
    return Digest(state.digest())


def share_name(payload: bytes) -> Digest:
    """Name a share without telling it: its value is 32 random bytes, which nobody can guess."""
    return sha256(_SHARE_PREFIX, payload)
