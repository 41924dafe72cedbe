"""The organisers' commitment before a competition: documents that nobody else can read yet.

A leaf is SHA-256(0x00 || salt || document), so the root reveals nothing about documents that could
be guessed, and each can be revealed alone later. docs/protocol.md, section 18.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

import msgspec
from msgspec import Meta

from tequio_shared import encoding
from tequio_shared.errors import MalformedError
from tequio_shared.ids import (
    DIGEST_BYTES,
    Bytes32Text,
    Digest,
    Positive,
    from_text,
    sha256,
    to_text,
)
from tequio_shared.limits import STATEMENT_BYTES

SALT_BYTES = 16
TEXT_BYTES = 64 << 20
"""Largest document of a sealed set; each has to fit a blob when it is revealed."""
TEXTS = 1 << 20
"""Most documents of a sealed set."""
CUSTODIANS = 16
"""Most shares of a key, one per custodian."""

_SHARE_PREFIX = b"tequio/v1/share\x00"
KEY_BYTES = 32
SHARE_MARK = "tequio-share:"
ShareText = Annotated[str, Meta(max_length=109, pattern=r"\Atequio-share:[A-Za-z0-9_-]{96}\Z")]
"""A share's line, as a statement holds it."""
_VERSION = 1
_HEAD_BYTES = 4
_CHECK_BYTES = 4
_BYTES = _HEAD_BYTES + DIGEST_BYTES + KEY_BYTES + _CHECK_BYTES


class SealedSet(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The public half of a sealed set, small enough for a statement."""

    root: Bytes32Text
    """Merkle root over the leaves, in the order of the archive."""
    documents: Annotated[int, msgspec.Meta(ge=1, le=TEXTS)]
    size_bytes: Positive
    """Of all documents together."""
    archive: Bytes32Text
    """SHA-256 of the encrypted archive."""
    needed: Annotated[int, msgspec.Meta(ge=1, le=CUSTODIANS)]
    """Number of shares that open it."""
    shares: Annotated[tuple[Bytes32Text, ...], msgspec.Meta(min_length=1, max_length=CUSTODIANS)]
    """`share_name` of each share, that of index 1 first: it exposes a wrong share."""

    def encode(self) -> bytes:
        return encoding.encode(self)

    @classmethod
    def parse(cls, raw: bytes) -> SealedSet:
        """Read a commitment; raises MalformedError."""
        sealed = encoding.decode(raw, cls, STATEMENT_BYTES)
        if sealed.needed > len(sealed.shares):
            raise MalformedError(f"{sealed.needed} shares needed of {len(sealed.shares)}")
        if len(set(sealed.shares)) < len(sealed.shares):
            raise MalformedError("the commitment lists a share twice")
        if sealed.size_bytes < sealed.documents:
            raise MalformedError(f"{sealed.documents} documents in {sealed.size_bytes} bytes")
        return sealed


def document_leaf(salt: bytes, document: Iterable[bytes]) -> Digest:
    """Hash one document, given in parts, into its leaf."""
    state = hashlib.sha256(b"\x00" + salt)
    for piece in document:
        state.update(piece)
    return Digest(state.digest())


def share_name(payload: bytes) -> Digest:
    """Identify a share without revealing it: its value is 32 random bytes, beyond guessing."""
    return sha256(_SHARE_PREFIX, payload)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyShare:
    """Share `index` of 1..`shares` of a sealed set's key; `needed` of them restore it.

    As text a line that detects typing errors: `tequio-share:` and 96 characters of base64url with
    version, index, needed and shares, a byte each; the root of the set; the value; and the first
    4 bytes of SHA-256 of all that.
    """

    index: int
    needed: int
    shares: int
    root: Digest
    value: bytes

    def __repr__(self) -> str:
        """Name the share; its value stays out of logs and tracebacks."""
        return f"KeyShare({self.index} of {self.shares})"

    @property
    def name(self) -> Digest:
        return share_name(self._payload())

    def encode(self) -> str:
        payload = self._payload()
        return SHARE_MARK + to_text(payload + sha256(payload)[:_CHECK_BYTES])

    @classmethod
    def parse(cls, text: str) -> KeyShare:
        """Read the line from a share's file, in which lines with `#` are for people.

        Raises MalformedError, also for one wrong character.
        """
        lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
        line = "".join("".join(lines).split())
        if not line.startswith(SHARE_MARK):
            raise MalformedError(f"no line begins with {SHARE_MARK}")
        raw = from_text(line.removeprefix(SHARE_MARK), _BYTES)
        payload, check = raw[:-_CHECK_BYTES], raw[-_CHECK_BYTES:]
        if sha256(payload)[:_CHECK_BYTES] != check:
            raise MalformedError("the share's checksum does not match: a character is wrong")
        return cls._of(payload)

    @classmethod
    def _of(cls, payload: bytes) -> KeyShare:
        version, index, needed, shares = payload[:_HEAD_BYTES]
        if version != _VERSION:
            raise MalformedError(f"unknown share version {version}")
        if not (1 <= index <= shares <= CUSTODIANS and 1 <= needed <= shares):
            raise MalformedError(f"impossible share {index} of {shares} with {needed} needed")
        root, value = payload[_HEAD_BYTES:-KEY_BYTES], payload[-KEY_BYTES:]
        return cls(index=index, needed=needed, shares=shares, root=Digest(root), value=value)

    def _payload(self) -> bytes:
        head = bytes((_VERSION, self.index, self.needed, self.shares))
        return head + self.root + self.value
