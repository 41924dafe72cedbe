"""The Bloom filter in a witness proof: which contributions the witness saw.

m = ceil(14.4 n) bits and k = 10 indices, so one item in a thousand is found without being in it.
The seed is the round's, so nobody grinds items that collide. Theory of the fill bound: with
c = k n / m, each bit stays zero with probability exp(-c); the count of ones has mean
e = m (1 - exp(-c)) and variance m exp(-c) (1 - (1 + c) exp(-c)). More than e + 5 standard
deviations is no chance: such a filter vouches for contributions that its author never saw.
"""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING

from tequio_shared.errors import MalformedError, RefusedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HASHES = 10

_PREFIX = b"tequio/v1/bloom\x00"
_INDEX_BYTES = 4
_DEVIATIONS = 5


def size_bits(n: int) -> int:
    """Count the bits of a filter meant for n items: ceil(14.4 n)."""
    return -(-144 * n // 10)


def size_bytes(n: int) -> int:
    """Count the bytes that hold those bits."""
    return -(-size_bits(n) // 8)


def build(seed: bytes, items: Iterable[bytes], n: int) -> bytes:
    """Make the filter for at most n items; bit i&7 of byte i>>3 is bit i.

    Raises RefusedError for more items than n: the filter would fail its own check.
    """
    bits = bytearray(size_bytes(n))
    for number, item in enumerate(items):
        if number == n:
            raise RefusedError("malformed", f"more than {n} items for a filter of {n}")
        for index in _indices(seed, item, n):
            bits[index >> 3] |= 1 << (index & 7)
    return bytes(bits)


def contains(bits: bytes, seed: bytes, item: bytes, n: int) -> bool:
    """Tell if the item may be among the n; a no is certain, a yes errs once in a thousand.

    Raises MalformedError for a filter of another size.
    """
    _check_size(bits, n)
    return n > 0 and all(bits[i >> 3] >> (i & 7) & 1 for i in _indices(seed, item, n))


def max_ones(n: int) -> int:
    """Bound the ones of an honest filter: mean and five standard deviations, rounded down."""
    if n == 0:
        return 0
    bits = size_bits(n)
    load = HASHES * n / bits
    zero = math.exp(-load)
    mean = bits * (1 - zero)
    variance = bits * zero * (1 - (1 + load) * zero)
    return math.floor(mean + _DEVIATIONS * math.sqrt(variance))


def check_fill(bits: bytes, n: int) -> bool:
    """Tell if so many ones can be an honest filter's for n items.

    Raises MalformedError for another size or for ones beyond the last bit.
    """
    _check_size(bits, n)
    value = int.from_bytes(bits, "little")
    if value >> size_bits(n):
        raise MalformedError("filter with ones beyond its last bit")
    return value.bit_count() <= max_ones(n)


def _check_size(bits: bytes, n: int) -> None:
    if len(bits) != size_bytes(n):
        raise MalformedError(f"filter of {len(bits)} bytes; {size_bytes(n)} are due for {n} items")


def _indices(seed: bytes, item: bytes, n: int) -> Iterator[int]:
    stream = hashlib.shake_256(_PREFIX + seed + item).digest(HASHES * _INDEX_BYTES)
    for at in range(0, len(stream), _INDEX_BYTES):
        yield int.from_bytes(stream[at : at + _INDEX_BYTES], "big") * size_bits(n) >> 32
