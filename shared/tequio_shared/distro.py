"""The transform of distro: an inverse 64 x 64 DCT-II in integers, exact on every device.

T[f][p] is the basis times 2^14; both passes round half up. All partial sums stay below 2^48, so
binary64 adds them exactly in any order, also inside a matrix product. Coefficients are multiples of
2^16, hence only the second pass rounds. (docs/protocol.md, head)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tequio_shared.layout import TILE

if TYPE_CHECKING:
    from numpy.typing import NDArray

COEFFICIENT_SHIFT = 16
"""A coefficient is the sum of signs times 2^16."""
_PASS_SHIFT = 14
_COSINES = (
    *(2896, 2895, 2893, 2888, 2882, 2875, 2865, 2854, 2841, 2826, 2810, 2791, 2772, 2750, 2727),
    *(2702, 2676, 2648, 2618, 2587, 2554, 2520, 2484, 2447, 2408, 2368, 2326, 2283, 2239, 2193),
    *(2146, 2098, 2048, 1997, 1945, 1892, 1837, 1782, 1725, 1668, 1609, 1550, 1489, 1428, 1365),
    *(1302, 1238, 1174, 1108, 1042, 976, 909, 841, 772, 704, 635, 565, 495, 425, 355, 284, 213),
    *(142, 71),
)
"""C[j]: 2^14 / sqrt(32) * cos(j pi / 128), rounded, for j = 0..63."""


def _basis() -> NDArray[np.int64]:
    frequency = np.arange(TILE)[:, None]
    angle = (2 * np.arange(TILE)[None, :] + 1) * frequency % (4 * TILE)
    angle = np.minimum(angle, 4 * TILE - angle)
    quarter = np.array([*_COSINES, 0], np.int64)
    table = np.where(angle <= TILE, quarter[np.minimum(angle, TILE)], 0)
    table -= np.where(angle > TILE, quarter[np.minimum(2 * TILE - angle, TILE)], 0)
    table[0] = 2048
    return table


BASIS: NDArray[np.int64] = _basis()
"""T[f][p], int64[64, 64]."""


def inverse_dct(coefficients: NDArray[np.int64]) -> NDArray[np.int64]:
    """Coefficients int64[n, 4096] (index f * 64 + g) to tile elements int64[n, 4096]."""
    basis = BASIS.astype(np.float64)
    tiles = coefficients.reshape(-1, TILE, TILE).astype(np.float64)
    rows = _round(basis.T @ tiles)
    return _round(rows @ basis).astype(np.int64).reshape(coefficients.shape)


def _round(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """(x + 2^13) >> 14 on integers in binary64; scaling by 2^-14 is exact."""
    half = float(1 << (_PASS_SHIFT - 1))
    return np.asarray(np.floor((values + half) * 2.0**-_PASS_SHIFT))
