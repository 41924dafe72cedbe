"""The contribution: a 216-byte header and a payload of records, one byte string.

The header binds the payload through `payload_root`; the contribution id is a hash of the header and
is what a trainer signs in its commitment. `validate` decides alone whether a contribution is valid,
and names the first broken rule. (docs/protocol.md, contribution)

A record is one chunk: a scale byte b, the low bits of k ascending indices, their high bits as a
unary bitmap (Elias-Fano), and one code per entry; diloco has 4096 signed bytes instead of the last
three. All fields are whole bytes, bits count from the least significant. An entry's value is
level * s(b) in units of 2^-32. An empty chunk (b = 0) has indices 0..k-1 and codes 0, so each
record has exactly one spelling.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal, cast

import numpy as np

from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.head.layout import CHUNK
from tequio_shared.ids import ZERO_DIGEST, ContributionId, Digest, HeadHash, PeerKey, RunId, sha256
from tequio_shared.log import merkle

if TYPE_CHECKING:
    from numpy.typing import NDArray

    BrokenRecord = Callable[[bytes | memoryview, "RecordShape"], str | None]
    Bytes = bytes | bytearray | memoryview | NDArray[np.uint8]

Algorithm = Literal["sparseloco", "distro", "diloco"]
ALGORITHM_CODES: Mapping[str, int] = {"sparseloco": 1, "distro": 2, "diloco": 3}
LARGEST_SCALE: Mapping[str, int] = {"sparseloco": 200, "distro": 1, "diloco": 168}
KS = (8, 16, 32, 64, 128, 256, 512)
DENSE_K = 4096
"""The k of diloco: every element of the chunk is sent."""
BITS: Mapping[str, tuple[int, ...]] = {"sparseloco": (1, 2, 4), "distro": (1,), "diloco": (8,)}
_K_BY_TRAINERS = ((6, 256), (13, 128), (27, 64), (54, 32))
_DENSE_GROUP = 128
_SPARSE_GROUP = 256
_STEPS_PER_OCTAVE = 8
_BLOCK = 4096  # records checked at once: bounds the memory of a check
MAGIC = b"TQC1"
VERSION = 1
HEADER_BYTES = 216
_ID_PREFIX = b"tequio/v1/contribution\0"
_SEAL_PREFIX = b"tequio/v1/seal\0"
_LAYOUT = struct.Struct("<4sHBBHHIQQIIQ32s32s32s32s32sii")

LEVELS: Mapping[int, NDArray[np.int8]] = {
    1: np.array([1, -1], np.int8),
    2: np.array([2, 3, -2, -3], np.int8),
    4: np.array([*range(1, 9), *range(-1, -9, -1)], np.int8),
}
"""Level of each code, by bits per entry."""

SCALES: NDArray[np.int64] = np.array(
    [0] + [(8 + b % _STEPS_PER_OCTAVE) << (b // _STEPS_PER_OCTAVE) for b in range(200)], np.int64
)
"""s(b) for b = 0..200, in units of 2^-32: eight steps to an octave."""

EMPTY_LEVEL: Mapping[int, int] = {1: 1, 2: 2, 4: 1, 8: 0}
"""Level that fills an empty chunk, by bits: the first of its table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordShape:
    """The form of every record in a round; raises MalformedError for a disallowed pair."""

    algorithm: Algorithm
    k: int
    bits: int

    def __post_init__(self) -> None:
        ks = (DENSE_K,) if self.algorithm == "diloco" else KS
        if self.bits not in BITS.get(self.algorithm, ()) or self.k not in ks:
            raise MalformedError(f"{self.algorithm} does not allow k={self.k} bits={self.bits}")

    @property
    def is_dense(self) -> bool:
        """True when every element of the chunk has a level."""
        return self.algorithm == "diloco"

    @property
    def low_bits(self) -> int:
        """l: bits of an index that are stored as they are (sparse records)."""
        return low_bits(self.k)

    @property
    def high_at(self) -> int:
        """Offset of the bitmap in a sparse record, in bytes."""
        return 1 + self.k * self.low_bits // 8

    @property
    def codes_at(self) -> int:
        """Offset of the codes in a sparse record, in bytes."""
        return self.high_at + 2 * self.k // 8

    @property
    def record_bytes(self) -> int:
        """R: size of a record."""
        if self.is_dense:
            return 1 + CHUNK
        return self.codes_at + self.k * self.bits // 8

    @property
    def group_bytes(self) -> int:
        """Size of one leaf of the payload tree: G records (the last leaf may have fewer)."""
        return (_DENSE_GROUP if self.is_dense else _SPARSE_GROUP) * self.record_bytes

    def count_pieces(self, chunks: int) -> int:
        """Leaves of the payload tree of a contribution with that many records."""
        return -(-chunks * self.record_bytes // self.group_bytes)

    @property
    def largest_scale(self) -> int:
        """B: largest scale byte allowed."""
        return LARGEST_SCALE[self.algorithm]

    @property
    def largest_level(self) -> int:
        """L: largest magnitude of a level."""
        return 127 if self.is_dense else int(LEVELS[self.bits].max())

    def rows(self, payload: Bytes) -> NDArray[np.uint8]:
        """View the payload as uint8[n, R] without a copy; raises MalformedError for a remainder."""
        flat = np.frombuffer(payload, np.uint8)
        if flat.size % self.record_bytes:
            raise MalformedError(f"{flat.size} bytes are not a multiple of {self.record_bytes}")
        return flat.reshape(-1, self.record_bytes)


def low_bits(k: int) -> int:
    """Bits of an index that are stored as they are, in records of k entries."""
    return 12 - (k.bit_length() - 1)


def k_for_trainers(trainers: int) -> int:
    """Choose k for a round whose manifest says 0, by trainer slots in its roster."""
    for most, k in _K_BY_TRAINERS:
        if trainers <= most:
            return k
    return 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """Decoded records: scale bytes uint8[n], indices uint16[n, k], levels int8[n, k]."""

    scales: NDArray[np.uint8]
    indices: NDArray[np.uint16]
    levels: NDArray[np.int8]


def decode_records(payload: Bytes, shape: RecordShape) -> Records:
    """Decode a payload that `first_broken_record` accepts; an empty chunk yields its filler.

    Raises MalformedError when the bytes are not whole records, or a bitmap has not k bits set.
    """
    rows = shape.rows(payload)
    if shape.is_dense:
        every = np.broadcast_to(np.arange(CHUNK, dtype=np.uint16), (len(rows), CHUNK))
        return Records(scales=rows[:, 0], indices=every, levels=rows[:, 1:].view(np.int8))
    indices, codes = _entries(rows[:, 1:], shape.k, shape.bits)
    return Records(scales=rows[:, 0], indices=indices, levels=LEVELS[shape.bits][codes])


def _entries(
    rows: NDArray[np.uint8], k: int, bits: int
) -> tuple[NDArray[np.uint16], NDArray[np.uint16]]:
    """Indices and codes uint16[n, k] of rows as `pack_entries` makes them.

    Raises MalformedError when a bitmap has not k bits set.
    """
    high_at = k * low_bits(k) // 8
    codes_at = high_at + 2 * k // 8
    bitmap = np.unpackbits(rows[:, high_at:codes_at], axis=1, bitorder="little")
    if not (bitmap.sum(axis=1) == k).all():
        raise MalformedError(f"a record's bitmap has not exactly {k} bits set")
    return _indices(rows, bitmap, k), _fields(rows, codes_at, bits, k)


def _indices(rows: NDArray[np.uint8], bitmap: NDArray[np.uint8], k: int) -> NDArray[np.uint16]:
    """Indices of rows that begin with low bits, with the bitmaps uint8[n, 2k] of the high ones."""
    where = np.flatnonzero(bitmap).reshape(-1, k) % (2 * k)
    high = (where - np.arange(k)) << low_bits(k)
    return high.astype(np.uint16) | _fields(rows, 0, low_bits(k), k)


def _fields(rows: NDArray[np.uint8], at: int, bits: int, count: int) -> NDArray[np.uint16]:
    """`count` numbers of `bits` bits (at most 9) from byte `at` of each row: uint16[n, count]."""
    first = np.arange(count) * bits
    byte = at + first // 8
    # A number that ends with its byte needs no second one, and the last may have none.
    wide = np.where(first % 8 + bits > 8, 1, 0)  # noqa: PLR2004  (bits in a byte)
    pair = rows[:, byte].astype(np.uint16) | (rows[:, byte + wide].astype(np.uint16) << 8)
    mask = np.uint16((1 << bits) - 1)
    return np.asarray(pair >> (first % 8).astype(np.uint16), np.uint16) & mask


def encode_records(records: Records, shape: RecordShape) -> bytes:
    """Encode records as a payload; the content of an empty chunk (scale 0) is ignored.

    Raises RefusedError when the shape cannot encode a scale, index or level.
    """
    empty = records.scales == 0
    levels = np.where(empty[:, None], EMPTY_LEVEL[shape.bits], records.levels).astype(np.int8)
    if shape.is_dense:
        payload = np.concatenate([records.scales[:, None], levels.view(np.uint8)], axis=1)
    else:
        filler = np.arange(shape.k, dtype=np.uint16)
        payload = _sparse_rows(
            records.scales, np.where(empty[:, None], filler, records.indices), levels, shape
        )
    # The check of the reader, applied to our own bytes: nothing leaves that a witness would reject.
    if first_broken_record(payload, shape) is not None:
        raise RefusedError("records", "no record can hold these scales, indices or levels")
    return payload.tobytes()


def _sparse_rows(
    scales: NDArray[np.uint8],
    indices: NDArray[np.uint16],
    levels: NDArray[np.int8],
    shape: RecordShape,
) -> NDArray[np.uint8]:
    entries = pack_entries(indices, _codes(levels, shape.bits), shape.bits)
    return np.concatenate([scales[:, None], entries], axis=1)


def pack_entries(
    indices: NDArray[np.uint16], codes: NDArray[np.uint16], bits: int
) -> NDArray[np.uint8]:
    """Low bits, bitmap and codes of each row of indices and codes uint16[n, k], as bytes.

    Raises RefusedError for an index of 4096 or more.
    """
    if (indices >= CHUNK).any():
        raise RefusedError("records", f"an index is {CHUNK} or more")
    count, k = indices.shape
    low = low_bits(k)
    bitmap = np.zeros((count, 2 * k), np.uint8)
    where = (indices >> low).astype(np.int64) + np.arange(k)
    np.put_along_axis(bitmap, where, 1, axis=1)
    fields = (_bits_of(indices & np.uint16((1 << low) - 1), low), bitmap, _bits_of(codes, bits))
    return np.concatenate([np.packbits(one, axis=1, bitorder="little") for one in fields], axis=1)


def unpack_entries(
    rows: NDArray[np.uint8], k: int, bits: int
) -> tuple[NDArray[np.uint16], NDArray[np.uint16]]:
    """Read what `pack_entries` wrote: indices and codes uint16[n, k].

    Raises MalformedError for a bitmap without exactly k bits, or an index of 4096 or more.
    """
    indices, codes = _entries(rows, k, bits)
    if (indices >= CHUNK).any():
        raise MalformedError(f"an index is {CHUNK} or more")
    return indices, codes


def _codes(levels: NDArray[np.int8], bits: int) -> NDArray[np.uint16]:
    table = LEVELS[bits]
    code = np.full(256, -1, np.int16)
    code[table.view(np.uint8)] = np.arange(table.size)
    codes = code[levels.view(np.uint8)]
    if (codes < 0).any():
        raise RefusedError("records", f"a level has no code of {bits} bits")
    return codes.astype(np.uint16)


def _bits_of(values: NDArray[np.uint16], bits: int) -> NDArray[np.uint8]:
    """Split uint16[n, k] into bits uint8[n, k * bits], least significant first."""
    split = (values[:, :, None] >> np.arange(bits, dtype=np.uint16)) & 1
    return split.reshape(len(values), -1).astype(np.uint8)


def first_broken_record(payload: Bytes, shape: RecordShape) -> str | None:
    """Name of the first rule that the lowest bad chunk breaks, or None.

    The rules of one record, in order: `scale`, `filler`, `popcount`, `high`, `ascending`; for
    diloco `scale`, `filler`, `level`, `hollow`. Takes milliseconds per million parameters.
    """
    rows = shape.rows(payload)
    check = _broken_dense if shape.is_dense else _broken_sparse
    for first in range(0, len(rows), _BLOCK):
        rules = check(rows[first : first + _BLOCK], shape)
        broken = np.stack([mask for _, mask in rules])
        bad = np.flatnonzero(broken.any(axis=0))
        if bad.size:
            return rules[int(broken[:, bad[0]].argmax())][0]
    return None


_Broken = list[tuple[str, "NDArray[np.bool_]"]]


def _broken_dense(rows: NDArray[np.uint8], shape: RecordShape) -> _Broken:
    scales, levels = rows[:, 0], rows[:, 1:].view(np.int8)
    hollow = ~levels.any(axis=1)
    return [
        ("scale", scales > shape.largest_scale),
        ("filler", (scales == 0) & ~hollow),
        ("level", (levels == -128).any(axis=1)),  # noqa: PLR2004  (the one int8 without a negative)
        ("hollow", (scales > 0) & hollow),
    ]


def _broken_sparse(rows: NDArray[np.uint8], shape: RecordShape) -> _Broken:
    empty = empty_record(shape)
    bitmap = np.unpackbits(rows[:, shape.high_at : shape.codes_at], axis=1, bitorder="little")
    miscounted = bitmap.sum(axis=1) != shape.k
    # A wrong bitmap has no indices to compare: a harmless one stands in, and `popcount` reports it.
    bitmap[miscounted] = np.unpackbits(empty[shape.high_at : shape.codes_at], bitorder="little")
    indices = _indices(rows[:, 1:], bitmap, shape.k)
    return [
        ("scale", rows[:, 0] > shape.largest_scale),
        ("filler", (rows[:, 0] == 0) & (rows != empty).any(axis=1)),
        ("popcount", miscounted),
        ("high", indices[:, -1] >= CHUNK),
        ("ascending", (indices[:, 1:] <= indices[:, :-1]).any(axis=1)),
    ]


def empty_record(shape: RecordShape) -> NDArray[np.uint8]:
    """Record of an empty chunk, uint8[R]; there is only one."""
    if shape.is_dense:
        return np.zeros(shape.record_bytes, np.uint8)
    filler = np.arange(shape.k, dtype=np.uint16)[None]
    level = np.full((1, shape.k), EMPTY_LEVEL[shape.bits], np.int8)
    record: NDArray[np.uint8] = _sparse_rows(np.zeros(1, np.uint8), filler, level, shape)[0]
    return record


@dataclass(frozen=True, slots=True, kw_only=True)
class ContributionHeader:
    """The header's fields, in the order of its bytes.

    Losses are the trainer's own claim, in 2^-16 nats, and unused. `feedback_root` is 32 zero
    bytes without error feedback.
    """

    magic: bytes = MAGIC
    version: int = VERSION
    algorithm: int
    bits: int
    k: int
    inner_steps: int
    chunk_count: int
    round: int
    window_first: int
    window_count: int
    flags: int = 0
    tokens: int
    run_id: RunId
    base_head: HeadHash
    trainer: PeerKey
    payload_root: Digest
    feedback_root: Digest = ZERO_DIGEST
    claimed_loss_first_q16: int = 0
    claimed_loss_last_q16: int = 0

    def pack(self) -> bytes:
        """Encode 216 bytes; raises MalformedError when a field does not fit its width."""
        try:
            return _LAYOUT.pack(*(getattr(self, name) for name in _ORDER))
        except struct.error as err:
            raise MalformedError(f"a header field does not fit its width: {err}") from err

    @classmethod
    def parse(cls, raw: bytes) -> ContributionHeader:
        """Decode 216 bytes, without checking the values: that is up to `validate`.

        Raises MalformedError for another size.
        """
        if len(raw) != HEADER_BYTES:
            raise MalformedError(
                f"contribution header of {len(raw)} bytes, expected {HEADER_BYTES}"
            )
        return cls(**dict(zip(_ORDER, _LAYOUT.unpack(raw), strict=True)))


_ORDER = tuple(one.name for one in fields(ContributionHeader))


def shape_of(header: ContributionHeader) -> RecordShape:
    """Form of the records that a header announces; raises MalformedError for an unknown one."""
    name = next((name for name, code in ALGORITHM_CODES.items() if code == header.algorithm), None)
    if name is None:
        raise MalformedError(f"unknown algorithm number {header.algorithm}")
    return RecordShape(algorithm=cast("Algorithm", name), k=header.k, bits=header.bits)


def contribution_id(header: bytes) -> ContributionId:
    """SHA-256 of the 216 header bytes under their prefix."""
    return ContributionId(sha256(_ID_PREFIX, header))


def payload_root(payload: bytes | memoryview, shape: RecordShape) -> Digest:
    """Root of the RFC 6962 tree whose leaves are groups of G records."""
    groups = _groups(payload, shape)
    return Digest(merkle.root_of_hashes([merkle.leaf_hash(group) for group in groups]))


def payload_seal(trainer: PeerKey, blocks: Iterable[bytes]) -> Digest:
    """Seal of a trainer on the payload that these blocks make: SHA-256 over prefix, key, payload.

    A payload root is public as soon as it is gossiped. The seal binds it to the committer: a key
    that does not have the payload cannot compute its own seal, and so cannot commit to it first.
    """
    state = hashlib.sha256(_SEAL_PREFIX + trainer)
    for block in blocks:
        state.update(block)
    return Digest(state.digest())


def _groups(payload: bytes | memoryview, shape: RecordShape) -> Iterator[bytes]:
    view, size = memoryview(payload), shape.group_bytes
    return (bytes(view[at : at + size]) for at in range(0, len(view), size))


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowAssignment:
    """Windows first..first+count-1, assigned to one trainer for one round."""

    first: int
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedContribution:
    """A round's requirements on contributions; `assigned` is keyed by the trainer's key."""

    shape: RecordShape
    chunks: int
    run_id: RunId
    round: int
    base_head: HeadHash
    assigned: Mapping[PeerKey, WindowAssignment]
    window_tokens: int
    max_inner_steps: int


def validate(
    header: bytes,
    payload: bytes | memoryview,
    expected: ExpectedContribution,
    seal: bytes,
    broken_record: BrokenRecord = first_broken_record,
) -> str | None:
    """Name of the first broken rule in the normative order; None for a valid contribution.

    `seal` is the commitment's, `broken_record` does what `first_broken_record` does. A valid
    contribution re-encodes to its own bytes. Cost: one pass over the payload for root and seal, and
    one over the records, in blocks of 4096 chunks. A wrong size is refused before anything is read.
    """
    size = expected.chunks * expected.shape.record_bytes
    if len(header) != HEADER_BYTES or memoryview(payload).nbytes != size:
        return "length"
    rule = next(broken_header(ContributionHeader.parse(header), expected), None)
    if rule is not None:
        return rule
    # After the header's rules, so a bad header costs no hash; before the records, so a witness that
    # names a broken record has the bytes that the trainer committed to.
    parsed = ContributionHeader.parse(header)
    root, sealed = _root_and_seal(parsed.trainer, payload, expected.shape)
    if parsed.payload_root != root:
        return "payload_root"
    rule = broken_record(payload, expected.shape)
    return rule or (None if sealed == seal else "seal")


def _root_and_seal(
    trainer: PeerKey, payload: bytes | memoryview, shape: RecordShape
) -> tuple[bytes, bytes]:
    sealed, leaves = hashlib.sha256(_SEAL_PREFIX + trainer), []
    # Both hashes of a group while it is in the processor's cache: a payload has up to a gigabyte.
    for group in _groups(payload, shape):
        sealed.update(group)
        leaves.append(merkle.leaf_hash(group))
    return merkle.root_of_hashes(leaves), sealed.digest()


def broken_header(header: ContributionHeader, expected: ExpectedContribution) -> Iterator[str]:
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


def _windows_hold(header: ContributionHeader, assigned: WindowAssignment | None) -> bool:
    if assigned is None:
        return False
    return header.window_first == assigned.first and 0 < header.window_count <= assigned.count
