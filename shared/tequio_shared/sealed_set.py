"""What organisers commit to before a competition: documents that nobody else can read yet.

A leaf is SHA-256(0x00 || salt || document), so that the root tells nothing about documents that
somebody could guess, and each can be shown alone later. docs/protocol.md, section 18.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

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
        return encoding.encode(self)

    @classmethod
    def parse(cls, raw: bytes) -> SealedSet:
        """Read a commitment; raises MalformedError."""
        sealed = encoding.decode(raw, cls, STATEMENT_BYTES)
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


# --- A custodian's share of a sealed set's key, as a line of text that finds its own mistakes.
#
# `tequio-share:` and 96 characters of base64url: version, index, how many are needed, how many
# there are, a byte each; the root of the set; the value; the first 4 bytes of SHA-256 of all
# that.

KEY_BYTES = 32
MARK = "tequio-share:"
ShareText = Annotated[str, Meta(max_length=109, pattern=r"\Atequio-share:[A-Za-z0-9_-]{96}\Z")]
"""The line, as a statement holds it."""

_VERSION = 1
_HEAD_BYTES = 4
_CHECK_BYTES = 4
_BYTES = _HEAD_BYTES + DIGEST_BYTES + KEY_BYTES + _CHECK_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyShare:
    """Share `index` of 1..`shares`; `needed` of them give the key of the set with that root."""

    index: int
    needed: int
    shares: int
    root: Digest
    value: bytes

    def __repr__(self) -> str:
        """Name it; the value stays out of logs and tracebacks."""
        return f"KeyShare({self.index} of {self.shares})"

    @property
    def name(self) -> Digest:
        """What the commitment knows it by."""
        return share_name(self._payload())

    def encode(self) -> str:
        """Write the line."""
        payload = self._payload()
        return MARK + to_text(payload + sha256(payload)[:_CHECK_BYTES])

    @classmethod
    def parse(cls, text: str) -> KeyShare:
        """Read the line out of a share's file, whose lines with `#` are for people.

        Raises MalformedError, also for one wrong character.
        """
        lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
        line = "".join("".join(lines).split())
        if not line.startswith(MARK):
            raise MalformedError(f"no line that begins with {MARK}")
        raw = from_text(line.removeprefix(MARK), _BYTES)
        payload, check = raw[:-_CHECK_BYTES], raw[-_CHECK_BYTES:]
        if sha256(payload)[:_CHECK_BYTES] != check:
            raise MalformedError("its checksum does not fit: a character is wrong")
        return cls._of(payload)

    @classmethod
    def _of(cls, payload: bytes) -> KeyShare:
        version, index, needed, shares = payload[:_HEAD_BYTES]
        if version != _VERSION:
            raise MalformedError(f"share of version {version}")
        if not (1 <= index <= shares <= CUSTODIANS and 1 <= needed <= shares):
            raise MalformedError(f"share {index} of {shares}, {needed} needed")
        root, value = payload[_HEAD_BYTES:-KEY_BYTES], payload[-KEY_BYTES:]
        return cls(index=index, needed=needed, shares=shares, root=Digest(root), value=value)

    def _payload(self) -> bytes:
        head = bytes((_VERSION, self.index, self.needed, self.shares))
        return head + self.root + self.value
