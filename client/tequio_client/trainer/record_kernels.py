"""Records in machine code that numba makes: checking, measuring and comparing them.

Each does what a function of `tequio_shared.head.contribution`, `screen` or `likeness` does, chunk
by chunk and so within the processor's cache. Like `kernels`, it is imported for large models only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tequio_client.trainer.kernels import (
    Value,
    compiled,
    decode_record,
    record_fields,
    trailing_zeros,
)
from tequio_shared.head.contribution import LEVELS, SCALES, RecordShape, empty_record
from tequio_shared.head.layout import CHUNK, Padding

_RULES = (None, "scale", "filler", "popcount", "high", "ascending")
_DENSE_RULES = (None, "scale", "filler", "level", "hollow")


# --- checking ------------------------------------------------------------------------------------


def first_broken_record(payload: bytes | memoryview, shape: RecordShape) -> str | None:
    """As `contribution.first_broken_record`."""
    rows = shape.rows(payload)
    if shape.is_dense:
        return _DENSE_RULES[_check_dense(rows, shape.largest_scale)]
    fields, empty = record_fields(shape), empty_record(shape)
    return _RULES[_check_sparse(rows, fields, shape.largest_scale, empty)]


@compiled
def _check_sparse(rows: Value, fields: Value, largest: Value, empty: Value) -> Value:
    """Number of the first rule that the lowest bad record breaks; 0 for none."""
    for at in range(rows.shape[0]):
        broken = _broken_sparse(rows[at], fields, largest, empty)
        if broken:
            return broken
    return 0


@compiled
def _broken_sparse(row: Value, fields: Value, largest: Value, empty: Value) -> Value:
    if row[0] > largest:
        return 1
    if row[0] == 0:
        for at in range(row.size):
            if row[at] != empty[at]:
                return 2
        return 0
    return _broken_entries(row, fields)


@compiled
def _broken_entries(row: Value, fields: Value) -> Value:
    k, low_bits, high_at = fields[0], fields[1], fields[2]
    mask = (1 << low_bits) - 1
    entry, before, is_descending = 0, -1, False
    for at in range(high_at, fields[3]):
        word = np.uint64(row[at])
        while word != 0:
            if entry == k:
                return 3
            high = 8 * (at - high_at) + np.int64(trailing_zeros(word)) - entry
            word &= word - np.uint64(1)
            bit = entry * low_bits
            pair = np.int64(row[1 + (bit >> 3)]) | np.int64(row[2 + (bit >> 3)]) << 8
            index = (high << low_bits) | ((pair >> (bit & 7)) & mask)
            is_descending |= index <= before
            before = index
            entry += 1
    if entry < k:
        return 3
    if before >= CHUNK:
        return 4
    return 5 if is_descending else 0


@compiled
def _check_dense(rows: Value, largest: Value) -> Value:
    for at in range(rows.shape[0]):
        scale, has_levels, has_odd_level = rows[at, 0], False, False
        for place in range(1, rows.shape[1]):
            has_levels |= rows[at, place] != 0
            has_odd_level |= rows[at, place] == 128  # noqa: PLR2004  (-128 as a byte)
        if scale > largest:
            return 1
        if scale == 0 and has_levels:
            return 2
        if has_odd_level:
            return 3
        if scale > 0 and not has_levels:
            return 4
    return 0


# --- measuring -----------------------------------------------------------------------------------


def read_block(
    records: NDArray[np.uint8],
    shape: RecordShape,
    padding: Padding,
    own: NDArray[np.float32],
) -> NDArray[np.float64]:
    """Measure a block of valid records uint8[P, c, R]: float64[P, 4].

    The columns: square of the norm; number, sum and sum of squares of the chunks' cosines with
    `own` float32[c * 4096], which may be empty.
    """
    sums = np.zeros((len(records), 4))
    # Dense records have a level in each place, and nothing to decode.
    fields = np.zeros(0, np.int64) if shape.is_dense else record_fields(shape)
    levels = np.zeros(0, np.int64) if shape.is_dense else LEVELS[shape.bits].astype(np.int64)
    pads = (padding.chunks, padding.masks)
    _read_records(records, (fields, levels, SCALES), pads, own, sums)
    return sums


@compiled
def _read_records(records: Value, tables: Value, pads: Value, own: Value, sums: Value) -> None:
    fields, levels, scales = tables
    padded, masks = pads
    entries = fields[0] if fields.size else CHUNK
    index = np.arange(entries).astype(np.uint16)
    code = np.zeros(entries, np.uint8)
    sent = np.zeros(entries, np.int64)
    next_pad = 0
    for chunk in range(records.shape[1]):
        is_padded = next_pad < padded.size and padded[next_pad] == chunk
        mask = masks[next_pad] if is_padded else np.zeros(0, np.bool_)
        mine = own[chunk * CHUNK : (chunk + 1) * CHUNK]
        for member in range(records.shape[0]):
            scale = scales[records[member, chunk, 0]]
            if scale == 0:
                continue
            if fields.size:
                decode_record(records, (member, chunk), fields, index, code)
                for entry in range(entries):
                    sent[entry] = levels[code[entry]] * scale
            else:
                for entry in range(entries):
                    sent[entry] = np.int64(np.int8(records[member, chunk, entry + 1])) * scale
            _add_chunk(index, sent, mask, mine, sums[member])
        next_pad += is_padded


@compiled
def _add_chunk(index: Value, sent: Value, mask: Value, own: Value, sums: Value) -> None:
    product, square, ours = 0.0, 0.0, 0.0
    for entry in range(index.size):
        at = index[entry]
        if sent[entry] == 0 or (mask.size and mask[at]):
            continue
        value = np.float64(sent[entry])
        square += value * value
        if own.size:
            there = np.float64(own[at])
            product += value * there
            ours += there * there
    sums[0] += square
    scale = np.sqrt(square * ours)
    if scale > 0:
        cosine = product / scale
        sums[1] += 1
        sums[2] += cosine
        sums[3] += cosine * cosine


# --- comparing -----------------------------------------------------------------------------------


def count_common(
    indices: NDArray[np.uint16], signs: NDArray[np.int8], candidates: int
) -> NDArray[np.int64]:
    """Count positions in common, and equal signs there: int64[2, P, T].

    Of T sketches uint16[T, m, k] and int8[T, m, k], the last P are candidates. Each is counted with
    all sketches before it.
    """
    common = np.zeros((2, candidates, len(signs)), np.int64)
    _count_common(indices, signs, common)
    return common


@compiled
def _count_common(indices: Value, signs: Value, common: Value) -> None:
    sketches, chunks, k = signs.shape
    newest = np.empty(CHUNK, np.int32)  # of each position, the last entry there
    earlier = np.empty(sketches * k, np.int32)  # of each entry, the one before it at its position
    owner = np.empty(sketches * k, np.int32)
    sent = np.empty(sketches * k, np.int8)
    for chunk in range(chunks):
        newest[:] = -1
        used = 0
        for one in range(sketches):
            candidate = one - (sketches - common.shape[1])
            for entry in range(k):
                sign = signs[one, chunk, entry]
                if sign == 0:
                    continue
                at = indices[one, chunk, entry]
                other = newest[at]
                while candidate >= 0 and other >= 0:
                    common[0, candidate, owner[other]] += 1
                    common[1, candidate, owner[other]] += sent[other] == sign
                    other = earlier[other]
                earlier[used], owner[used], sent[used] = newest[at], one, sign
                newest[at] = used
                used += 1
