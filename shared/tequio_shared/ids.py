"""The names of things: keys and digests as raw bytes, their text form, and libp2p peer ids."""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import Annotated, NewType

from msgspec import Meta

from tequio_shared.errors import MalformedError
from tequio_shared.limits import (
    CONTRIBUTORS,
    GAIN_MOST,
    JSON_INTEGER,
    NOTICE_CHARS,
    SAMPLE_BYTES,
    SAMPLE_PROMPT_BYTES,
)

Digest = NewType("Digest", bytes)
"""A SHA-256 value, 32 bytes."""
PeerKey = NewType("PeerKey", bytes)
"""An Ed25519 public key, 32 bytes: libp2p identity, ledger account and statement author in one."""
NetworkId = NewType("NetworkId", bytes)
"""SHA-256 of the genesis document, 32 bytes."""
RunId = NewType("RunId", bytes)
"""SHA-256 of the canonical manifest, 32 bytes."""
HeadHash = NewType("HeadHash", bytes)
"""Name of a canonical model, 32 bytes (docs/protocol.md, head)."""
ContributionId = NewType("ContributionId", bytes)
"""SHA-256 of a contribution header under its prefix, 32 bytes."""

DIGEST_BYTES = 32
ZERO_DIGEST = Digest(bytes(32))

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
# multihash "identity" (0x00), 36 bytes, then the protobuf of an Ed25519 public key
_PEER_ID_CHARS = 64  # more than any identity peer id has
_PEER_ID_PREFIX = bytes.fromhex("002408011220")


def sha256(*parts: bytes) -> Digest:
    """SHA-256 of the parts joined."""
    state = hashlib.sha256()
    for part in parts:
        state.update(part)
    return Digest(state.digest())


def to_text(value: bytes) -> str:
    """Base64url without padding: how keys, digests and bytes stand in JSON."""
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode("ascii")


def from_text(text: str, size_bytes: int | None = DIGEST_BYTES) -> bytes:
    """Read `to_text` back, strictly: only its one spelling of each value passes.

    Raises MalformedError for other characters, another size, or unused bits that are set.
    """
    try:
        value = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError) as err:
        raise MalformedError(f"not base64url: {text[:60]!r}") from err
    if to_text(value) != text:
        raise MalformedError(f"not the one base64url spelling: {text[:60]!r}")
    if size_bytes is not None and len(value) != size_bytes:
        raise MalformedError(f"expected {size_bytes} bytes, got {len(value)}: {text[:60]!r}")
    return value


def digest_from_text(text: str) -> Digest:
    """A digest from its base64url text; raises MalformedError."""
    return Digest(from_text(text))


def key_from_text(text: str) -> PeerKey:
    """A public key from its base64url text; raises MalformedError."""
    return PeerKey(from_text(text))


def peer_id_text(key: PeerKey) -> str:
    """The libp2p peer id (`12D3Koo…`) of an Ed25519 key (libp2p peer-ids spec, identity hash)."""
    number = int.from_bytes(_PEER_ID_PREFIX + key, "big")
    digits = []
    while number:
        number, rest = divmod(number, 58)
        digits.append(_BASE58[rest])
    return "1" + "".join(reversed(digits))  # one leading zero byte


def key_from_peer_id(text: str) -> PeerKey:
    """The Ed25519 key inside a `12D3Koo…` peer id; raises MalformedError for any other kind."""
    number = 0
    if len(text) > _PEER_ID_CHARS:
        raise MalformedError(f"peer id of {len(text)} characters")
    for char in text:
        digit = _BASE58.find(char)
        if digit < 0:
            raise MalformedError(f"not base58: {text!r}")
        number = number * 58 + digit
    try:
        raw = number.to_bytes(38, "big")
    except OverflowError as err:
        raise MalformedError(f"not an Ed25519 peer id: {text!r}") from err
    key = PeerKey(raw[len(_PEER_ID_PREFIX) :])
    if peer_id_text(key) != text:  # another kind, or a second spelling: more ones at the beginning
        raise MalformedError(f"not an Ed25519 peer id: {text!r}")
    return key


def parse_key(text: str) -> PeerKey:
    """A public key as people write it: its peer id or its base64url text; raises MalformedError."""
    return key_from_peer_id(text) if text.startswith("12D3Koo") else key_from_text(text)


# --- The types of fields in statements and documents, as constraints that msgspec checks on
# parse.
#
# Keys, digests and bytes stand in JSON as base64url without padding. Each pattern admits exactly
# the one spelling of each value: the unused bits of the last character are zero.

ROSTER_SLOTS = 8_192
"""Most slots in a roster, trainers or not."""

Bytes32Text = Annotated[
    str, Meta(min_length=43, max_length=43, pattern=r"\A[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]\Z")
]
"""A digest, key, head hash or secret of 32 bytes (43 characters)."""

MaybeBytes32Text = Annotated[
    str, Meta(max_length=43, pattern=r"\A(?:[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048])?\Z")
]
"""The same, or nothing at all."""

VrfProofText = Annotated[
    str, Meta(min_length=107, max_length=107, pattern=r"\A[A-Za-z0-9_-]{106}[AEIMQUYcgkosw048]\Z")
]
"""A proof of a verifiable random function, 80 bytes (107 characters)."""

HeaderText = Annotated[str, Meta(min_length=288, max_length=288, pattern=r"\A[A-Za-z0-9_-]{288}\Z")]
"""A contribution header of 216 bytes (288 characters)."""

BytesText = Annotated[
    str,
    Meta(
        pattern=r"\A(?:[A-Za-z0-9_-]{4})*"
        r"(?:[A-Za-z0-9_-][AQgw]|[A-Za-z0-9_-]{2}[AEIMQUYcgkosw048])?\Z"
    ),
]
"""Bytes of any number, none included; the statement's own limit bounds them."""

Natural = Annotated[int, Meta(ge=0, le=JSON_INTEGER)]
"""A count, a round number, a time in milliseconds since 1970."""
Positive = Annotated[int, Meta(ge=1, le=JSON_INTEGER)]
SlotNumber = Annotated[int, Meta(ge=0, le=ROSTER_SLOTS - 1)]
SlotCount = Annotated[int, Meta(ge=0, le=ROSTER_SLOTS)]
ContributionCount = Annotated[int, Meta(ge=0, le=CONTRIBUTORS)]
LossGain = Annotated[int, Meta(ge=-GAIN_MOST, le=GAIN_MOST)]
"""In 2^-16 nats per token."""
ReasonCode = Annotated[int, Meta(ge=0, le=65_535)]
"""A number from a table of docs/protocol.md; only models and organisers write text into the log."""

STEERING = (
    r"\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
    r"\ufdd0-\ufdef\ufeff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f"
)
"""Characters that no text in the log may have, as a class of a regular expression: controls except
line feeds, line ends, direction marks, noncharacters and invisible tags. A fixed list, because
the properties of a character depend on the version of Unicode."""

_NOTICE_END = rf"[^{STEERING}\n ]"
NoticeText = Annotated[
    str,
    Meta(
        max_length=NOTICE_CHARS,
        pattern=rf"\A(?:{_NOTICE_END}(?:[^{STEERING}\n]*{_NOTICE_END})?)?\Z",
    ),
]
"""One line of organisers for volunteers, without spaces around it; empty: none."""
Prompt = Annotated[str, Meta(max_length=SAMPLE_PROMPT_BYTES, pattern=rf"\A[^{STEERING}]*\Z")]
"""The beginning that a model was given, without steering characters."""
Written = Annotated[str, Meta(max_length=SAMPLE_BYTES, pattern=rf"\A[^{STEERING}]*\Z")]
"""Text that a model wrote, without steering characters."""
