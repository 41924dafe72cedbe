"""The compiled engine of the outer step, and its kernels: machine code that numba makes.

A chunk stays in the first-level cache from decoding to the new weights: its sum is 4096 int64.
Bytes must come from contributions that passed `validate`; others give wrong numbers, but no access
outside the arrays (indices are masked, and no more than k entries are read).

Importing this module loads numba, 70 MB of memory, and 110 MB once a kernel ran, so it is imported
for large models only (`engines.pays_off`). Kernels are compiled on first use and stored in
NUMBA_CACHE_DIR, a folder that only this user can write: numba trusts its content. Without that
variable numba stores them beside the source, or in the user's cache folder, or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]  # it has no types
from numba import njit, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from tequio_client.trainer.engines import Block
from tequio_shared.head import head
from tequio_shared.head.aggregate import STEP_SHIFT
from tequio_shared.head.contribution import LEVELS, SCALES, RecordShape
from tequio_shared.head.head import OuterParams
from tequio_shared.head.layout import CHUNK, Padding

Value: TypeAlias = Any  # an array, a tuple or a number: numba derives what it is from the call
_Function = TypeVar("_Function", bound="Callable[..., Any]")

_MASK = np.uint64(CHUNK - 1)
_STEP_HALF = 1 << (STEP_SHIFT - 1)
_DECAY_SHIFT = 30
_DECAY_HALF = 1 << (_DECAY_SHIFT - 1)
_SLOW_SHIFT = 15
_SLOW_HALF = 1 << (_SLOW_SHIFT - 1)
_LEAST = -(1 << 31)
_MOST = (1 << 31) - 1


def record_fields(shape: RecordShape) -> NDArray[np.int64]:
    """Where the parts of a sparse record are, as the kernels take it."""
    return np.array([shape.k, shape.low_bits, shape.high_at, shape.codes_at, shape.bits], np.int64)


class CompiledEngine:
    """SparseLoCo and DiLoCo in compiled code; the down link's top-k runs the reference."""

    leaves = 2

    def __init__(self, params: OuterParams) -> None:
        self._params = params
        shape = params.shape
        self._dense = shape.is_dense
        self._limits = np.array([params.delta, shape.largest_scale], np.int64)
        if not self._dense:
            self._fields = record_fields(shape)
            self._levels = LEVELS[shape.bits].astype(np.int64)

    def agreement(self, records: NDArray[np.uint8], padding: Padding) -> NDArray[np.int64]:
        measured = np.zeros((len(records), 2), np.int64)
        if self._dense:
            agree_dense(records, padding.chunks, padding.masks, measured)
        else:
            signs = np.sign(self._levels)
            agree_sparse(records, self._fields, signs, padding.chunks, padding.masks, measured)
        return measured

    def move(
        self, block: Block, factors: Sequence[int]
    ) -> tuple[NDArray[np.int32], NDArray[Any] | None]:
        params, padding = self._params, (block.padding.chunks, block.padding.masks)
        weights = np.array(factors, np.int64)
        if params.down_k or self._dense:
            total = np.empty(block.weights.size, np.int64)
            if self._dense:
                sum_dense(block.records, (SCALES, self._limits, weights), padding, total)
            else:
                sum_sparse(block.records, self._tables(weights), padding, total)
            return self._apply(block, total)
        out = np.empty_like(block.weights)
        scalars = (block.matrix_elements, params.lambda_q)
        tables = self._tables(weights)
        move_sparse(block.records, tables, padding, (block.weights, out), scalars)
        return out, None

    def _tables(self, weights: NDArray[np.int64]) -> tuple[NDArray[Any], ...]:
        """Tables of sparse kernels: fields of a record, levels, scales, limits, multipliers."""
        return self._fields, self._levels, SCALES, self._limits, weights

    def _apply(
        self, block: Block, total: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[Any] | None]:
        params = self._params
        if params.down_k:
            step, aux = head.outer_step(params, total, block.aux, block.padding)
            weights = head.apply_move(block.weights, step, params.lambda_q, block.matrix_elements)
            return weights, aux
        out = np.empty_like(block.weights)
        scalars = (block.matrix_elements, params.lambda_q)
        if block.aux is None:
            apply_sum(total, (block.weights, out), scalars)
            return out, None
        velocity = np.empty_like(block.aux)
        apply_momentum(total, (block.weights, out), (block.aux, velocity), scalars, params.mu_q)
        return out, velocity


def compiled(function: _Function) -> _Function:
    """Compile on first use, and store the machine code for the next process where possible."""
    compiler: Any = njit  # its result is used as the function, but typed otherwise
    try:
        kernel: _Function = compiler(cache=True, nogil=True)(function)
    except RuntimeError:  # numba found no folder to store it in
        kernel = compiler(nogil=True)(function)
    return kernel


_intrinsic: Any = intrinsic


@_intrinsic  # type: ignore[untyped-decorator]  # numba's decorator takes any function
def trailing_zeros(_typing: Value, _word: Value) -> Value:
    """Count the zero bits below the lowest set bit of a uint64 that is not 0."""

    def build(_context: Value, builder: Value, _signature: Value, args: Value) -> Value:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), build


@compiled
def _word(records: Value, member: Value, chunk: Value, at: Value, size: Value) -> Value:
    """Read `size` (at most 8) bytes of a record as one little-endian number."""
    word = np.uint64(0)
    if size == 8:  # noqa: PLR2004  (written out, this becomes a single load)
        for byte in range(8):
            word |= np.uint64(records[member, chunk, at + byte]) << np.uint64(8 * byte)
    else:
        for byte in range(size):
            word |= np.uint64(records[member, chunk, at + byte]) << np.uint64(8 * byte)
    return word


@compiled
def _limit(records: Value, chunk: Value, limits: Value, counts: Value) -> Value:
    """The largest scale byte that the chunk's lower median allows."""
    members = records.shape[0]
    counts[:] = 0
    for member in range(members):
        counts[records[member, chunk, 0]] += 1
    rank = (members - 1) // 2
    median, seen = 0, counts[0]
    while seen <= rank:
        median += 1
        seen += counts[median]
    return min(median + limits[0], limits[1]) if median > 0 else 0


@compiled
def decode_record(records: Value, where: Value, fields: Value, index: Value, code: Value) -> None:
    """Read a sparse record's entries: indices uint16[k] and codes uint8[k]."""
    member, chunk = where
    k, high_at = np.uint64(fields[0]), fields[2]
    low_bits, codes_at, bits = np.uint64(fields[1]), np.uint64(fields[3]), np.uint64(fields[4])
    low_mask = (np.uint64(1) << low_bits) - np.uint64(1)
    code_mask = (np.uint64(1) << bits) - np.uint64(1)
    size = fields[3] - high_at
    entry = np.uint64(0)
    for first in range(0, size, 8):
        word = _word(records, member, chunk, high_at + first, min(8, size - first))
        base = np.uint64(8 * first)
        while word != 0 and entry < k:
            high = base + trailing_zeros(word) - entry
            word &= word - np.uint64(1)
            bit = entry * low_bits
            byte = np.uint64(1) + (bit >> np.uint64(3))
            pair = np.uint64(records[member, chunk, byte])
            pair |= np.uint64(records[member, chunk, byte + np.uint64(1)]) << np.uint64(8)
            low = (pair >> (bit & np.uint64(7))) & low_mask
            index[entry] = ((high << low_bits) | low) & _MASK
            bit = entry * bits
            byte = codes_at + (bit >> np.uint64(3))
            pair = np.uint64(records[member, chunk, byte])
            code[entry] = (pair >> (bit & np.uint64(7))) & code_mask
            entry += np.uint64(1)


@compiled
def _sum_chunk(records: Value, chunk: Value, tables: Value, scratch: Value, total: Value) -> None:
    fields, levels, scales, limits, weights = tables
    counts, values, index, code = scratch
    limit = _limit(records, chunk, limits, counts)
    total[:] = 0
    for member in range(records.shape[0]):
        unit = scales[min(np.int64(records[member, chunk, 0]), limit)] * weights[member]
        if unit != 0:
            for at in range(levels.size):
                values[at] = levels[at] * unit
            decode_record(records, (member, chunk), fields, index, code)
            for entry in range(index.size):
                total[index[entry]] += values[code[entry]]


@compiled
def _scratch(tables: Value) -> Value:
    """Working memory of a thread: byte counts, values of codes, entries of a record."""
    k = tables[0][0]
    return (
        np.zeros(256, np.int64),
        np.zeros(16, np.int64),
        np.zeros(k, np.uint16),
        np.zeros(k, np.uint8),
    )


@compiled
def blank(padding: Value, next_pad: Value, chunk: Value, total: Value) -> Value:
    """Set the padding of a chunk to 0; returns the number of the next padded chunk."""
    pads, masks = padding
    if next_pad < pads.size and pads[next_pad] == chunk:
        for at in range(CHUNK):
            if masks[next_pad, at]:
                total[at] = 0
        return next_pad + 1
    return next_pad


@compiled
def sum_sparse(records: Value, tables: Value, padding: Value, out: Value) -> None:
    """Write the weighted sums int64[c * 4096] of a block of sparse records."""
    scratch = _scratch(tables)
    next_pad = 0
    for chunk in range(records.shape[1]):
        total = out[chunk * CHUNK : (chunk + 1) * CHUNK]
        _sum_chunk(records, chunk, tables, scratch, total)
        next_pad = blank(padding, next_pad, chunk, total)


@compiled
def move_sparse(
    records: Value, tables: Value, padding: Value, weights: Value, scalars: Value
) -> None:
    """Sum and apply chunk by chunk: weights is (before, after), both int32[c * 4096]."""
    before, after = weights
    matrix, rate = scalars
    scratch = _scratch(tables)
    total = np.zeros(CHUNK, np.int64)
    next_pad = 0
    for chunk in range(records.shape[1]):
        _sum_chunk(records, chunk, tables, scratch, total)
        next_pad = blank(padding, next_pad, chunk, total)
        first = chunk * CHUNK
        _apply_range(
            total,
            before[first : first + CHUNK],
            after[first : first + CHUNK],
            rate if first < matrix else 0,
        )


@compiled
def _apply_range(total: Value, before: Value, after: Value, rate: Value) -> None:
    for at in range(before.size):
        weight = np.int64(before[at])
        step = (total[at] + _STEP_HALF) >> STEP_SHIFT
        decay = (weight * rate + _DECAY_HALF) >> _DECAY_SHIFT
        after[at] = min(max(weight - decay - step, _LEAST), _MOST)


@compiled
def apply_sum(total: Value, weights: Value, scalars: Value) -> None:
    """Apply the sums of a block: the matrix part with decay, the pool without."""
    before, after = weights
    matrix, rate = scalars
    _apply_range(total[:matrix], before[:matrix], after[:matrix], rate)
    _apply_range(total[matrix:], before[matrix:], after[matrix:], 0)


@compiled
def apply_momentum(
    total: Value, weights: Value, velocity: Value, scalars: Value, mu: Value
) -> None:
    """Apply the sums of a block through Nesterov momentum (before, after), both int32."""
    before, after = weights
    slow, fast = velocity
    matrix, rate = scalars
    for at in range(before.size):
        weight = np.int64(before[at])
        step = (total[at] + _STEP_HALF) >> STEP_SHIFT
        speed = ((np.int64(slow[at]) * mu + _SLOW_HALF) >> _SLOW_SHIFT) + step
        speed = min(max(speed, _LEAST), _MOST)
        fast[at] = speed
        step += (speed * mu + _SLOW_HALF) >> _SLOW_SHIFT
        decay = (weight * (rate if at < matrix else 0) + _DECAY_HALF) >> _DECAY_SHIFT
        after[at] = min(max(weight - decay - step, _LEAST), _MOST)


@compiled
def sum_dense(records: Value, tables: Value, padding: Value, out: Value) -> None:
    """Write the weighted sums int64[c * 4096] of a block of dense records."""
    scales, limits, weights = tables
    counts = np.zeros(256, np.int64)
    total = np.zeros(CHUNK, np.float64)  # exact: every partial sum stays below 2^53
    next_pad = 0
    for chunk in range(records.shape[1]):
        limit = _limit(records, chunk, limits, counts)
        total[:] = 0.0
        for member in range(records.shape[0]):
            unit = scales[min(np.int64(records[member, chunk, 0]), limit)] * weights[member]
            if unit != 0:
                _add_levels(records[member, chunk], np.float64(unit), total)
        next_pad = blank(padding, next_pad, chunk, total)
        for at in range(CHUNK):
            out[chunk * CHUNK + at] = np.int64(total[at])


@compiled
def _add_levels(record: Value, unit: Value, total: Value) -> None:
    for at in range(CHUNK):
        total[at] += unit * np.float64(np.int8(record[at + 1]))


@compiled
def agree_sparse(
    records: Value, fields: Value, signs: Value, pads: Value, masks: Value, out: Value
) -> None:
    """Add each member's (a, t) within a block of sparse records to out int64[P, 2]."""
    members, chunks, _ = records.shape
    total = np.zeros(CHUNK, np.int16)
    index = np.zeros((members, fields[0]), np.uint16)
    code = np.zeros(fields[0], np.uint8)
    sign = np.zeros((members, fields[0]), np.int16)
    next_pad = 0
    for chunk in range(chunks):
        is_padded = next_pad < pads.size and pads[next_pad] == chunk
        total[:] = 0
        for member in range(members):
            if records[member, chunk, 0] == 0:
                sign[member, :] = 0
                continue
            decode_record(records, (member, chunk), fields, index[member], code)
            for entry in range(code.size):
                at = index[member, entry]
                own = signs[code[entry]]
                if is_padded and masks[next_pad, at]:
                    own = 0
                sign[member, entry] = own
                total[at] += own
        next_pad += is_padded
        for member in range(members):
            _compare(total, index[member], sign[member], out[member])


@compiled
def _compare(total: Value, index: Value, sign: Value, out: Value) -> None:
    agreed, compared = np.int64(0), np.int64(0)
    for entry in range(index.size):
        own = np.int64(sign[entry])
        rest = np.int64(total[index[entry]]) - own
        way = np.int64(rest > 0) - np.int64(rest < 0)
        agreed += own * way
        compared += own * own * way * way
    out[0] += agreed
    out[1] += compared


@compiled
def agree_dense(records: Value, pads: Value, masks: Value, out: Value) -> None:
    """Add each member's (a, t) within a block of dense records to out int64[P, 2]."""
    members, chunks, _ = records.shape
    total = np.zeros(CHUNK, np.int16)
    next_pad = 0
    for chunk in range(chunks):
        total[:] = 0
        for member in range(members):
            if records[member, chunk, 0] > 0:
                _add_signs(records[member, chunk], total)
        live = np.ones(CHUNK, np.int16)
        next_pad = blank((pads, masks), next_pad, chunk, live)
        for member in range(members):
            if records[member, chunk, 0] > 0:
                _compare_dense(records[member, chunk], total, live, out[member])


@compiled
def _add_signs(record: Value, total: Value) -> None:
    for at in range(CHUNK):
        level = np.int8(record[at + 1])
        total[at] += np.int16(level > 0) - np.int16(level < 0)


@compiled
def _compare_dense(record: Value, total: Value, live: Value, out: Value) -> None:
    agreed, compared = np.int32(0), np.int32(0)
    for at in range(CHUNK):
        level = np.int8(record[at + 1])
        own = np.int16(level > 0) - np.int16(level < 0)
        rest = np.int16(total[at] - own)
        way = (np.int16(rest > 0) - np.int16(rest < 0)) * live[at]
        agreed += np.int32(own * way)
        compared += np.int32(own * own * way * way)
    out[0] += agreed
    out[1] += compared
