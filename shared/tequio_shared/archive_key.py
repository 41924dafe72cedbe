"""A sealed set's key out of its shares: what everybody computes once enough of them are public.

Shamir's scheme over GF(2^128) modulo x^128 + x^7 + x^2 + x + 1, on each half of the key, as the
program ssss has it without its diffusion layer. The shares are in the log by then, so that nothing
here is secret and no time need be constant; who splits or joins in secret takes a library for it.
docs/protocol.md, section 18.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_shared.key_share import KEY_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping

_HALF_BYTES = KEY_BYTES // 2
_BITS = 8 * _HALF_BYTES
_MODULUS = 1 << _BITS | 0x87


def combine(shares: Mapping[int, bytes]) -> bytes:
    """Join the values of exactly as many shares as are needed, by index; or give nonsense.

    Shares that were made with different keys give a key too, which opens nothing.
    """
    weights = {at: _weight(at, shares) for at in shares}
    power = {at: _power(at, len(shares)) for at in shares}
    halves = (slice(_HALF_BYTES), slice(_HALF_BYTES, None))
    return b"".join(_half(half, shares, weights, power) for half in halves)


def _half(
    half: slice, shares: Mapping[int, bytes], weights: Mapping[int, int], power: Mapping[int, int]
) -> bytes:
    """Interpolate at 0; in this field minus is plus."""
    found = 0
    for at, share in shares.items():
        found ^= _times(int.from_bytes(share[half], "big") ^ power[at], weights[at])
    return found.to_bytes(_HALF_BYTES, "big")


def _weight(at: int, shares: Mapping[int, bytes]) -> int:
    """Lagrange's weight of a share: the product of x / (x - at) over the others."""
    above, below = 1, 1
    for other in shares:
        if other != at:
            above, below = _times(above, other), _times(below, other ^ at)
    return _times(above, _inverse(below))


def _power(base: int, exponent: int) -> int:
    found = 1
    for _ in range(exponent):
        found = _times(found, base)
    return found


def _times(one: int, other: int) -> int:
    product = 0
    while other:
        product ^= one if other & 1 else 0
        other >>= 1
        one <<= 1
        one ^= _MODULUS if one >> _BITS else 0
    return product


def _inverse(value: int) -> int:
    """Euclid's algorithm on polynomials; the value is not 0."""
    low, high, found, beside = value, _MODULUS, 1, 0
    while low != 1:
        shift = low.bit_length() - high.bit_length()
        if shift < 0:
            low, high, found, beside, shift = high, low, beside, found, -shift
        low ^= high << shift
        found ^= beside << shift
    return found
