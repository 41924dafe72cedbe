"""The contribution: a 216-byte header and a payload of records, one byte string.

The header binds the payload through `payload_root`; the contribution id is a hash of the header and
is what a trainer signs in its commitment. `validate` is the whole of what makes a contribution
valid: it names the first rule that is broken. (docs/protocol.md, contribution)
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from tequio_shared import merkle
from tequio_shared.errors import MalformedError
from tequio_shared.ids import ZERO_DIGEST, ContributionId, Digest, HeadHash, PeerKey, RunId, sha256
from tequio_shared.records import (
    ALGORITHM_CODES,
    KS,
    LARGEST_SCALE,
    LEVELS,
    SCALES,
    Algorithm,
    Records,
    RecordShape,
    decode_records,
    encode_records,
    first_broken_record,
    group_bytes,
    k_for_trainers,
    record_bytes,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = [
    "ALGORITHM_CODES",
    "HEADER_BYTES",
    "KS",
    "LARGEST_SCALE",
    "LEVELS",
    "MAGIC",
    "SCALES",
    "VERSION",
    "Algorithm",
    "Assignment",
    "Expected",
    "Header",
    "RecordShape",
    "Records",
    "broken_header",
    "contribution_id",
    "decode_records",
    "encode_records",
    "first_broken_record",
    "group_bytes",
    "k_for_trainers",
    "payload_root",
    "record_bytes",
    "shape_of",
    "validate",
]

MAGIC = b"TQC1"
VERSION = 1
HEADER_BYTES = 216
_ID_PREFIX = b"tequio/v1/contribution\0"
_LAYOUT = struct.Struct("<4sHBBHHIQQIIQ32s32s32s32s32sii")


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The header's fields. Losses are the trainer's own claim, in 2^-16 nats; nothing uses them.

    `feedback_root` is 32 zero bytes when no error feedback is kept.
    """

    algorithm: int
    bits: int
    k: int
    inner_steps: int
    chunk_count: int
    round: int
    window_first: int
    window_count: int
    tokens: int
    run_id: RunId
    base_head: HeadHash
    trainer: PeerKey
    payload_root: Digest
    feedback_root: Digest = ZERO_DIGEST
    claimed_loss_first_q16: int = 0
    claimed_loss_last_q16: int = 0
    flags: int = 0
    magic: bytes = MAGIC
    version: int = VERSION

    def pack(self) -> bytes:
        """Write the 216 bytes; raises MalformedError when a field does not fit its width."""
        try:
            return _LAYOUT.pack(*(getattr(self, name) for name in _ORDER))
        except struct.error as err:
            raise MalformedError(f"a header field does not fit: {err}") from err

    @classmethod
    def parse(cls, raw: bytes) -> Header:
        """Read 216 bytes; whether the values are right is `validate`'s affair.

        Raises MalformedError for another size.
        """
        if len(raw) != HEADER_BYTES:
            raise MalformedError(f"a contribution header has {HEADER_BYTES} bytes, not {len(raw)}")
        return cls(**dict(zip(_ORDER, _LAYOUT.unpack(raw), strict=True)))


_ORDER = (
    "magic",
    "version",
    "algorithm",
    "bits",
    "k",
    "inner_steps",
    "chunk_count",
    "round",
    "window_first",
    "window_count",
    "flags",
    "tokens",
    "run_id",
    "base_head",
    "trainer",
    "payload_root",
    "feedback_root",
    "claimed_loss_first_q16",
    "claimed_loss_last_q16",
)


def shape_of(header: Header) -> RecordShape:
    """The form of the records that a header announces; raises MalformedError for none we know."""
    name = next((name for name, code in ALGORITHM_CODES.items() if code == header.algorithm), None)
    if name is None:
        raise MalformedError(f"no algorithm has the number {header.algorithm}")
    return RecordShape(algorithm=cast("Algorithm", name), k=header.k, bits=header.bits)


def contribution_id(header: bytes) -> ContributionId:
    """Name a contribution: SHA-256 of its 216 header bytes under their prefix."""
    return ContributionId(sha256(_ID_PREFIX, header))


def payload_root(payload: bytes | memoryview, shape: RecordShape) -> Digest:
    """Root of the RFC 6962 tree whose leaves are groups of G records."""
    view = memoryview(payload)
    size = shape.group_bytes
    groups = (bytes(view[at : at + size]) for at in range(0, len(view), size))
    return Digest(merkle.root_of_hashes([merkle.leaf_hash(group) for group in groups]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """Windows first..first+count-1, given to one trainer for one round."""

    first: int
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What the round demands of every contribution; `assigned` is keyed by trainer slots."""

    shape: RecordShape
    chunks: int
    run_id: RunId
    round: int
    base_head: HeadHash
    assigned: Mapping[PeerKey, Assignment]
    window_tokens: int
    max_inner_steps: int


def validate(header: bytes, payload: bytes | memoryview, expected: Expected) -> str | None:
    """Name the first broken rule in the normative order; None for a valid contribution.

    A valid contribution re-encodes to its own bytes. Cost: one hash of the payload and one pass
    over the records, in blocks of 4096 chunks; refuses by size before it reads anything.
    """
    size = expected.chunks * expected.shape.record_bytes
    if len(header) != HEADER_BYTES or memoryview(payload).nbytes != size:
        return "length"
    rule = next(broken_header(Header.parse(header), expected), None)
    if rule is not None:
        return rule
    if Header.parse(header).payload_root != payload_root(payload, expected.shape):
        return "payload_root"
    return first_broken_record(payload, expected.shape)


def broken_header(header: Header, expected: Expected) -> Iterator[str]:
    """Names of the broken rules that the header alone shows, in order."""
    shape = expected.shape
    wanted = (ALGORITHM_CODES[shape.algorithm], shape.k, shape.bits, expected.chunks)
    checks = (
        ("magic", header.magic == MAGIC),
        ("version", header.version == VERSION),
        ("shape", (header.algorithm, header.k, header.bits, header.chunk_count) == wanted),
        ("flags", header.flags == 0),
        ("run", header.run_id == expected.run_id),
        ("round", header.round == expected.round),
        ("base", header.base_head == expected.base_head),
        ("trainer", header.trainer in expected.assigned),
        ("windows", _windows_hold(header, expected.assigned.get(header.trainer))),
        ("tokens", header.tokens == header.window_count * expected.window_tokens),
        ("steps", 0 < header.inner_steps <= expected.max_inner_steps),
    )
    return (name for name, holds in checks if not holds)


def _windows_hold(header: Header, assigned: Assignment | None) -> bool:
    if assigned is None:
        return False
    return header.window_first == assigned.first and 0 < header.window_count <= assigned.count
