"""Between a head's integers and binary32, without losing one of them.

Theory. A parameter is W x 2^-24 with W an int32, and its float view is the nearest binary32, which
has 24 bits: exact up to |W| = 2^24, that is up to weights of one. Beyond, W less the float view is
the *remainder*, at most 64 either way, and few weights have one (scales of norms, mostly). Floats
and remainders together give W back, and each W has one such pair only: floats that are not the
nearest, lie between two integers, or are a negative zero are refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tequio_shared.errors import MalformedError
from tequio_shared.head import WEIGHT_UNIT

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK = 1 << 22
"""Weights that are turned at once: 16 MiB of each kind."""
_INT32 = np.iinfo(np.int32)


def floats_of(integers: NDArray[np.int32]) -> NDArray[np.float32]:
    """The float view: the nearest binary32, times 2^-24."""
    return integers.astype(np.float32) * np.float32(WEIGHT_UNIT)


def remainders_of(
    integers: NDArray[np.int32], floats: NDArray[np.float32]
) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
    """Positions at which the float view says too little, ascending, and what it lacks there."""
    lacking = integers.astype(np.int64) - _units(floats).astype(np.int64)
    at = np.flatnonzero(lacking)
    return at, lacking[at].astype(np.int8)


def integers_of(
    floats: NDArray[np.float32], at: NDArray[np.int64], remainders: NDArray[np.int8]
) -> NDArray[np.int32]:
    """The integers that floats and remainders stand for.

    Raises MalformedError with what is wrong when they are not exactly what an export writes.
    """
    units = _units(floats)
    if not np.isfinite(units).all():
        raise MalformedError("a weight is not a finite number")
    if (units != np.rint(units)).any() or (np.abs(units) > 2.0**31).any():
        raise MalformedError("a weight is no multiple of 2^-24 within +-128")
    integers = units.astype(np.int64)
    integers[at] += remainders
    if ((integers < _INT32.min) | (integers > _INT32.max)).any():
        raise MalformedError("a weight with its remainder is not within +-128")
    found = integers.astype(np.int32)
    if (floats_of(found).view(np.uint32) != floats.view(np.uint32)).any():
        raise MalformedError("a weight is not the nearest number to what it stands for")
    return found


def _units(floats: NDArray[np.float32]) -> NDArray[np.float64]:
    return floats.astype(np.float64) / WEIGHT_UNIT
