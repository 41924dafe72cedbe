"""A custodian's share of a sealed set's key, as a line of text that finds its own mistakes.

`tequio-share:` and 96 characters of base64url: version, index, how many are needed, how many there
are, a byte each; the root of the set; the value; the first 4 bytes of SHA-256 of all that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from tequio_shared.errors import MalformedError
from tequio_shared.ids import DIGEST_BYTES, Digest, from_text, sha256, to_text
from tequio_shared.sealed_set import CUSTODIANS, share_name

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
