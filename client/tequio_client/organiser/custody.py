"""A key split among custodians: Shamir's scheme over GF(2^128), on each half of the key.

The shares are those of the program ssss without its diffusion layer (`ssss-combine -x -D`), so that
a custodian needs nothing of ours. The library's arithmetic takes a time that depends on what it
computes: split and combine on a computer that nobody else is on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from Crypto.Protocol.SecretSharing import Shamir

if TYPE_CHECKING:
    from collections.abc import Mapping

_HALF = 16


def split(key: bytes, needed: int, shares: int) -> list[bytes]:
    """Split 32 bytes into as many shares of 32; the first is that of index 1."""
    front = Shamir.split(needed, shares, key[:_HALF], ssss=True)
    back = Shamir.split(needed, shares, key[_HALF:], ssss=True)
    return [one + other for (_, one), (_, other) in zip(front, back, strict=True)]


def combine(shares: Mapping[int, bytes]) -> bytes:
    """Join exactly as many shares as are needed, by index, into the key, or into nonsense."""
    halves = (slice(_HALF), slice(_HALF, None))
    return b"".join(
        Shamir.combine([(at, one[half]) for at, one in shares.items()], ssss=True)
        for half in halves
    )
