"""The step of a head as records: what a member fetches that does not compute the head itself.

With a down link a head differs from the one before, besides decay, in at most `down_k` entries of
each chunk, by one of 31 multiples of a quantum. Records of these give the next weights, which have
to have the promoted root: so a step needs no trust, and its size does not grow with the round's
members. A record is the quantum as u32, then `down_k` indices and codes as in a contribution, with
5 bits for each code (16 if negative, or the multiple). (docs/protocol.md, down link)

Both functions work on whole chunks, so a head of any size can be taken in parts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tequio_shared.errors import MalformedError, TequioError
from tequio_shared.head.contribution import low_bits, pack_entries, unpack_entries
from tequio_shared.head.head import apply_move
from tequio_shared.head.layout import CHUNK

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_MULTIPLE = 15
_CODE_BITS = 5
_NEGATIVE = 16
_QUANTUM_BYTES = 4


class NoStepError(TequioError):
    """Two heads that differ by no step."""


def record_bytes(down_k: int) -> int:
    """Size of the record of a chunk."""
    return _QUANTUM_BYTES + down_k * (low_bits(down_k) + 2 + _CODE_BITS) // 8


def encode_step(
    before: NDArray[np.int32],
    after: NDArray[np.int32],
    *,
    lambda_q: int,
    matrix_elements: int,
    down_k: int,
) -> bytes:
    """Encode how int32[c * 4096] became that many others; the first `matrix_elements` decay.

    Raises NoStepError for a difference that a down link cannot make.
    """
    nothing = np.zeros(before.size, np.int64)
    decayed = apply_move(before, nothing, lambda_q, matrix_elements).astype(np.int64)
    step = (decayed - after).reshape(-1, CHUNK)
    # The greatest common divisor is the quantum, or a multiple of it: exact, and the same for all.
    quanta = np.maximum(np.gcd.reduce(np.abs(step), axis=1), 1)
    multiples = step // quanta[:, None]
    counts = np.count_nonzero(step, axis=1)
    if counts.max(initial=0) > down_k or np.abs(multiples).max(initial=0) > MOST_MULTIPLE:
        raise NoStepError(f"no step of {down_k} entries in a chunk leads there")
    indices = _filled(step != 0, counts, down_k)
    chosen = np.take_along_axis(multiples, indices, axis=1)
    codes = (np.abs(chosen) | np.where(chosen < 0, _NEGATIVE, 0)).astype(np.uint16)
    entries = pack_entries(indices.astype(np.uint16), codes, _CODE_BITS)
    begins = quanta.astype("<u4").view(np.uint8).reshape(-1, _QUANTUM_BYTES)
    return np.concatenate([begins, entries], axis=1).tobytes()


def apply_step(
    weights: NDArray[np.int32],
    records: bytes | memoryview,
    *,
    lambda_q: int,
    matrix_elements: int,
    down_k: int,
) -> NDArray[np.int32]:
    """The weights int32[c * 4096] after the step; raises MalformedError for malformed records."""
    rows = np.frombuffer(records, np.uint8)
    if rows.size != weights.size // CHUNK * record_bytes(down_k):
        raise MalformedError(f"a step of {rows.size} bytes for {weights.size // CHUNK} chunks")
    rows = rows.reshape(-1, record_bytes(down_k))
    quanta = np.ascontiguousarray(rows[:, :_QUANTUM_BYTES]).view("<u4").astype(np.int64)
    indices, codes = unpack_entries(rows[:, _QUANTUM_BYTES:], down_k, _CODE_BITS)
    multiples = (codes & MOST_MULTIPLE).astype(np.int64)
    multiples[codes >= _NEGATIVE] *= -1
    step = np.zeros((len(rows), CHUNK), np.int64)
    np.put_along_axis(step, indices.astype(np.int64), multiples * quanta, axis=1)
    return apply_move(weights, step.reshape(-1), lambda_q, matrix_elements)


def _filled(
    is_moved: NDArray[np.bool_], counts: NDArray[np.int64], down_k: int
) -> NDArray[np.int64]:
    """Positions of the moved entries, and of the first others up to `down_k`, ascending [c, k]."""
    room = (down_k - counts)[:, None]
    chosen = is_moved | (~is_moved & (np.cumsum(~is_moved, axis=1) <= room))
    return (np.flatnonzero(chosen) % CHUNK).reshape(-1, down_k)
