"""Encoding in machine code that numba makes: what `codecs.SparseLoCo` does, chunk by chunk.

A chunk stays in the processor's cache from its pseudo-gradient to its record. Like `kernels`, it is
imported for large models only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tequio_client.trainer.kernels import Value, blank, compiled, record_fields
from tequio_client.trainer.levels import (
    CONTRIBUTION_UNIT,
    FOUR_BIT_LEVEL,
    FOUR_BIT_TOP,
    ONE_BIT,
    TWO_BIT_PASSES,
    TWO_BIT_SPLIT,
    TWO_BIT_START,
    TWO_BITS,
)
from tequio_shared.head.contribution import SCALES, RecordShape, empty_record
from tequio_shared.head.layout import CHUNK, Padding

_MAGNITUDE = np.uint32(0x7FFFFFFF)  # of a binary32, as bits
_LEADING = np.uint32(19)  # bits below its exponent and first four fraction bits


def encode_chunks(
    shape: RecordShape,
    delta: NDArray[np.float32],
    feedback: NDArray[np.uint16] | None,
    decay: float,
    padding: Padding,
    left: NDArray[np.uint16],
) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """Encode a run of chunks as `codecs.SparseLoCo` does; returns records uint8[c, R] and 2 sums.

    Arrays are in flat order; the new feedback is written to `left`, as bfloat16 bits. The sums:
    energy of that feedback, energy of the pseudo-gradient.
    """
    rows, sums = np.zeros((delta.size // CHUNK, shape.record_bytes), np.uint8), np.zeros(2)
    values = SCALES.astype(np.float32) * np.float32(CONTRIBUTION_UNIT)
    largest = shape.largest_scale
    middles = (SCALES[1 : largest + 1] + SCALES[:largest]) * (CONTRIBUTION_UNIT / 2)
    before = np.empty(0, np.uint16) if feedback is None else feedback
    _encode_sparse(
        (delta, before, np.float32(decay)),
        (record_fields(shape), values, middles.astype(np.float32), empty_record(shape)),
        (padding.chunks, padding.masks),
        (rows, left, sums),
    )
    return rows, sums


@compiled
def _encode_sparse(given: Value, tables: Value, pads: Value, out: Value) -> None:
    delta, before, decay = given
    fields, values, middles, empty = tables
    rows, after, sums = out
    total = np.empty(CHUNK, np.float32)
    old = np.zeros(CHUNK, np.uint32)
    counts = np.zeros((_MAGNITUDE >> _LEADING) + 1, np.int32)
    near = np.zeros(CHUNK + 1, np.int64)
    index = np.zeros(fields[0], np.int64)
    next_pad = 0
    for chunk in range(rows.shape[0]):
        inside = slice(chunk * CHUNK, (chunk + 1) * CHUNK)
        moved = delta[inside]
        if before.size:
            _widen(before[inside], old)
        _add(old.view(np.float32), decay, moved, total)
        _largest(total.view(np.uint32), counts, near, index)
        scale = _fitted(total, index, fields[4])
        byte = np.searchsorted(middles, scale)
        if byte == 0:
            rows[chunk, :] = empty
        else:
            rows[chunk, 0] = byte
            _send(rows[chunk], fields, index, values[byte], total)
        next_pad = blank(pads, next_pad, chunk, total)
        _narrow(total.view(np.uint32), after[inside])
        sums[0] += _energy(total)
        sums[1] += _energy(moved)


@compiled
def _widen(before: Value, words: Value) -> None:
    """From bfloat16 to binary32, both as bits."""
    for at in range(CHUNK):
        words[at] = np.uint32(before[at]) << np.uint32(16)


@compiled
def _narrow(words: Value, after: Value) -> None:
    """From binary32 to bfloat16, to nearest, ties to even, both as bits."""
    for at in range(CHUNK):
        odd = (words[at] >> np.uint32(16)) & np.uint32(1)
        after[at] = (words[at] + np.uint32(0x7FFF) + odd) >> np.uint32(16)


@compiled
def _add(feedback: Value, decay: Value, moved: Value, total: Value) -> None:
    for at in range(CHUNK):
        total[at] = feedback[at] * decay + moved[at]


@compiled
def _energy(values: Value) -> Value:
    """Sum of squares, in four sums so that none waits for the one before."""
    first, second, third, fourth = 0.0, 0.0, 0.0, 0.0
    for at in range(0, CHUNK, 4):
        first += np.float64(values[at]) * np.float64(values[at])
        second += np.float64(values[at + 1]) * np.float64(values[at + 1])
        third += np.float64(values[at + 2]) * np.float64(values[at + 2])
        fourth += np.float64(values[at + 3]) * np.float64(values[at + 3])
    return (first + second) + (third + fourth)


@compiled
def _largest(words: Value, counts: Value, near: Value, index: Value) -> None:
    """Places of the k largest magnitudes of binary32 bits, ascending; of equals the lower."""
    # Leading bits are counted first: most places are below the last ones that are needed, and only
    # the `near` ones are looked at again.
    counts[:] = 0
    for at in range(CHUNK):
        counts[(words[at] & _MAGNITUDE) >> _LEADING] += 1
    leading, missing = counts.size - 1, index.size
    while counts[leading] < missing:
        missing -= counts[leading]
        leading -= 1
    least = np.uint32(leading) << _LEADING
    found = 0
    for at in range(CHUNK):
        near[found] = at
        found += (words[at] & _MAGNITUDE) >= least
    _choose(words, near[:found], least, index)


@compiled
def _choose(words: Value, near: Value, least: Value, index: Value) -> None:
    """Choose among those places; `least` has the leading bits of the smallest that is sent."""
    smallest = least
    for shift in range(_LEADING - np.uint32(1), -1, -1):  # bit by bit
        wanted = smallest | np.uint32(1) << np.uint32(shift)
        count = 0
        for at in near:
            count += (words[at] & _MAGNITUDE) >= wanted
        if count >= index.size:
            smallest = wanted
    equals: Value = index.size  # places left for those that equal the smallest
    for at in near:
        equals -= (words[at] & _MAGNITUDE) > smallest
    sent = 0
    for at in near:
        word = words[at] & _MAGNITUDE
        is_equal = word == smallest and equals > 0
        equals -= is_equal
        if word > smallest or is_equal:
            index[sent] = at
            sent += 1


@compiled
def _fitted(total: Value, index: Value, bits: Value) -> Value:
    """The scale of level 1, as `levels.fitted_scale` fits it."""
    whole, most = 0.0, 0.0
    count: Value = 0
    for at in index:
        size = abs(np.float64(total[at]))
        whole += size
        most = max(most, size)
        count += size > 0
    if count == 0:
        return np.float32(0)
    if bits == ONE_BIT:
        return np.float32(whole / count)
    if bits != TWO_BITS:
        return np.float32(most / FOUR_BIT_TOP)
    scale: Value = np.float32(whole / count / TWO_BIT_START)
    for _ in range(TWO_BIT_PASSES):
        product, square = 0.0, 0.0
        for at in index:
            size = abs(total[at])
            if size > 0:
                level = 3.0 if size > np.float32(TWO_BIT_SPLIT) * scale else 2.0
                product += size * level
                square += level * level
        scale = np.float32(product / square)
    return scale


@compiled
def _send(row: Value, fields: Value, index: Value, step: Value, total: Value) -> None:
    """Write a record's entries, and take what they say from `total`."""
    low_bits, high_at, codes_at, bits = fields[1], fields[2], fields[3], fields[4]
    mask = (1 << low_bits) - 1
    for entry in range(index.size):
        at = index[entry]
        value = total[at]
        size = abs(value)
        if bits == ONE_BIT:
            level, code = np.float32(1), 0
        elif bits == TWO_BITS:
            is_large = size > np.float32(TWO_BIT_SPLIT) * step
            level, code = (np.float32(3), 1) if is_large else (np.float32(2), 0)
        else:
            level = min(np.float32(np.rint(size / step)), np.float32(FOUR_BIT_LEVEL))
            level = max(level, np.float32(1))
            code = int(level) - 1
        if value < 0:
            level = -level
            code += 1 << (bits - 1)
        total[at] = value - level * step
        bit = entry * low_bits
        low = (at & mask) << (bit & 7)
        row[1 + (bit >> 3)] |= low & 255
        if low > 255:  # noqa: PLR2004  (a byte)
            row[2 + (bit >> 3)] |= low >> 8
        bit = (at >> low_bits) + entry
        row[high_at + (bit >> 3)] |= 1 << (bit & 7)
        bit = entry * bits
        row[codes_at + (bit >> 3)] |= code << (bit & 7)
