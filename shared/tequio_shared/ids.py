"""Identifiers, their text form, the limits that both ends must agree on, and field types."""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import Annotated, NewType

from msgspec import Meta

from tequio_shared.errors import MalformedError

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
    """Base64url without padding: the form of keys, digests and bytes in JSON."""
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode("ascii")


def from_text(text: str, size_bytes: int | None = DIGEST_BYTES) -> bytes:
    """Read `to_text` back, strictly: only its one spelling of each value passes.

    Raises MalformedError for other characters, another size, or unused bits that are set.
    """
    try:
        value = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError) as err:
        raise MalformedError(f"invalid base64url {text[:60]!r}") from err
    # Spare bits in the last character would give one key several names.
    if to_text(value) != text:
        raise MalformedError(f"base64url in a non-canonical spelling: {text[:60]!r}")
    if size_bytes is not None and len(value) != size_bytes:
        raise MalformedError(f"expected {size_bytes} bytes, got {len(value)}: {text[:60]!r}")
    return value


def digest_from_text(text: str) -> Digest:
    return Digest(from_text(text))


def key_from_text(text: str) -> PeerKey:
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
    # Before the loop: its big integer would cost a square of the length that a stranger chose.
    if len(text) > _PEER_ID_CHARS:
        raise MalformedError(f"peer id of {len(text)} characters; at most {_PEER_ID_CHARS}")
    for char in text:
        digit = _BASE58.find(char)
        if digit < 0:
            raise MalformedError(f"invalid base58 {text!r}")
        number = number * 58 + digit
    try:
        raw = number.to_bytes(38, "big")
    except OverflowError as err:
        raise MalformedError(f"not an Ed25519 peer id: {text!r}") from err
    if not text.startswith("1") or not raw.startswith(_PEER_ID_PREFIX):
        raise MalformedError(f"not an Ed25519 peer id: {text!r}")
    return PeerKey(raw[len(_PEER_ID_PREFIX) :])


# Limits that both ends must agree on: sizes in bytes, times in milliseconds.

STATEMENT_BYTES = 16_384
"""Largest statement (its JSON)."""
ENTRY_BYTES = 65_535
"""Largest log entry; bundles prefix it with its length as u16."""
SIGNATURES_PER_ENTRY = 16
JSON_DEPTH = 6
JSON_INTEGER = 2**53 - 1
"""Largest magnitude of an integer in a statement or document (RFC 8259, section 6)."""
STATEMENT_LIFE_MS = 900_000
"""`exp` is at most this long after `ts`."""
CLOCK_SKEW_MS = 300_000
"""Most that `ts` may differ from the ledger's clock on entry."""
POST_STATEMENTS = 256
"""Most entries in one batch."""
POST_BYTES = 1 << 20

BLOB_BYTES = 64 << 20
"""Largest blob that the ledger stores; larger objects are trees of chunks."""
DOCUMENT_BYTES = 4 << 20
"""Largest JSON document named by a statement (manifest, roster, result)."""
FRAME_BYTES = (1 << 20) + 4096
"""Largest frame between peers: one chunk of at most 1 MiB, and its envelope."""
PIECE_BYTES = 1 << 20
"""Chunk of heads and data shards; contributions have their own size (docs/protocol.md)."""
GOSSIP_BYTES = 100_000

WITNESSES = 16
"""Witnesses elected per round; all members when there are fewer."""
CONTRIBUTORS = 4_095
"""Most trainer slots in a round: the bound under which integer sums stay below 2^53."""
SPEED_ROUNDS = 5
"""Verified speed is the median over this many of a peer's last accepted rounds."""

SEASONED_WITNESSES = 4
"""With fewer witnesses in good standing than this, newcomers witness too."""
NEWCOMER_WORK = 10
"""Accepted contributions that make a newcomer or a suspected key active."""
PROBATION_WORK = 20
"""Accepted contributions that end a probation."""
STRIKES = 2
"""Measured faults within `STRIKE_ROUNDS` judged contributions that lead to quarantine."""
STRIKE_ROUNDS = 20
DEVIATIONS = 2
"""Deviating proofs, within the last `DEVIATION_PROOFS` of a witness, that end its duty."""
DEVIATION_PROOFS = 10
QUARANTINE_MS = 86_400_000
"""Term of a first quarantine; `REPEATED_QUARANTINE_MS` within `REPEAT_MS` of the last one."""
REPEATED_QUARANTINE_MS = 604_800_000
REPEAT_MS = 15_552_000_000
APPEAL_BYTES = 4_096
"""Longest text of an appeal, UTF-8."""
APPEAL_PAUSE_MS = 86_400_000
"""Least time between two appeals of a key."""
APPEAL_MS = 1_209_600_000
"""An appeal without an answer for this long turns the quarantine into probation."""
MEASURED_HEADS = 4
"""Measures are accepted for this many of the last heads drawn for."""
SAMPLE_PROMPT_BYTES = 64
"""Longest prompt from a held-out text, UTF-8, both for the model and in the log."""
SAMPLE_TOKENS = 64
"""Most tokens that the model adds to it."""
SAMPLE_BYTES = 400
"""Longest continuation that the log accepts, UTF-8."""
MISSED_ROUNDS = 3
"""Commitments in a row that nobody could fetch, after which `member.ready` is needed again."""


# Field types of statements and documents, as constraints that msgspec checks while parsing.
#
# Keys, digests and bytes are base64url without padding in JSON. Each pattern admits exactly one
# spelling of each value: the unused bits of the last character are zero.

ROSTER_SLOTS = 8_192
"""Most slots in a roster, with or without the role trainer."""

Bytes32Text = Annotated[
    str,
    Meta(min_length=43, max_length=43, pattern=r"\A[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]\Z"),
]
"""A digest, key, head hash or secret of 32 bytes (43 characters)."""

MaybeBytes32Text = Annotated[
    str,
    Meta(max_length=43, pattern=r"\A(?:[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048])?\Z"),
]
"""The same, or empty."""

MaybeTeamName = Annotated[str, Meta(max_length=32, pattern=r"\A(?:[a-z0-9][a-z0-9-]{0,31})?\Z")]
"""The name of a team, or empty."""

HeaderText = Annotated[str, Meta(min_length=288, max_length=288, pattern=r"\A[A-Za-z0-9_-]{288}\Z")]
"""A contribution header of 216 bytes (288 characters)."""

BytesText = Annotated[
    str,
    Meta(
        pattern=r"\A(?:[A-Za-z0-9_-]{4})*"
        r"(?:[A-Za-z0-9_-][AQgw]|[A-Za-z0-9_-]{2}[AEIMQUYcgkosw048])?\Z"
    ),
]
"""Bytes of any length, also empty; the statement's own limit bounds them."""

Natural = Annotated[int, Meta(ge=0, le=JSON_INTEGER)]
"""A count, a round number, a time in milliseconds since 1970."""
Positive = Annotated[int, Meta(ge=1, le=JSON_INTEGER)]
SlotNumber = Annotated[int, Meta(ge=0, le=ROSTER_SLOTS - 1)]
SlotCount = Annotated[int, Meta(ge=0, le=ROSTER_SLOTS)]
ContributionCount = Annotated[int, Meta(ge=0, le=CONTRIBUTORS)]
ReasonCode = Annotated[int, Meta(ge=0, le=65_535)]
"""A number from a table of docs/protocol.md: except for model output, the log has no free text."""

STEERING = (
    r"\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
    r"\ufdd0-\ufdef\ufeff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f"
)
"""Characters that no text in the log contains, as a regular expression class: controls except line
feed, other line ends, direction marks, noncharacters, invisible tags. A fixed list, because what
Unicode says of a character depends on its version."""

Prompt = Annotated[str, Meta(max_length=SAMPLE_PROMPT_BYTES, pattern=rf"\A[^{STEERING}]*\Z")]
"""Beginning of a held-out text, without steering characters."""
Written = Annotated[str, Meta(max_length=SAMPLE_BYTES, pattern=rf"\A[^{STEERING}]*\Z")]
"""Text by a model, without steering characters."""


BUILD = "0.1.0"
"""Version of this software; the packages read theirs from here when they are built."""
