"""Scales and levels of a contribution: how a trainer rounds magnitudes to a few bits."""

from __future__ import annotations

import torch
from torch import Tensor

from tequio_shared.head.contribution import SCALES

CONTRIBUTION_UNIT = 2.0**-32
"""Value of level 1 at scale 1."""
ONE_BIT, TWO_BITS = 1, 2
TWO_BIT_START, TWO_BIT_SPLIT, TWO_BIT_PASSES = 2.35, 2.5, 3  # levels 2 and 3 split at 2.5
FOUR_BIT_TOP, FOUR_BIT_LEVEL = 8.2, 8


def fitted_scale(sizes: Tensor, bits: int) -> Tensor:
    """Fit the scale of level 1 to magnitudes [n, k], by least squares for two bits.

    Zeros carry nothing and do not count.
    """
    counts = (sizes > 0).sum(dim=1, keepdim=True).clamp_(min=1)
    mean = sizes.sum(dim=1, keepdim=True) / counts
    if bits == ONE_BIT:
        return mean
    if bits != TWO_BITS:
        return sizes.amax(dim=1, keepdim=True) / FOUR_BIT_TOP
    scale = mean / TWO_BIT_START
    for _ in range(TWO_BIT_PASSES):
        level = _two_bit_sizes(sizes, scale) * (sizes > 0)
        scale = (sizes * level).sum(dim=1, keepdim=True) / level.square().sum(
            dim=1, keepdim=True
        ).clamp_(min=1)
    return scale


def nearest_levels(picked: Tensor, step: Tensor, bits: int) -> Tensor:
    sign = torch.where(picked < 0, -1.0, 1.0)
    if bits == ONE_BIT:
        return sign
    if bits == TWO_BITS:
        return sign * _two_bit_sizes(picked.abs(), step)
    sizes = (picked.abs() / step.clamp(min=CONTRIBUTION_UNIT)).round_()
    return sign * sizes.clamp_(1, FOUR_BIT_LEVEL)


def _two_bit_sizes(sizes: Tensor, scale: Tensor) -> Tensor:
    return torch.where(sizes > TWO_BIT_SPLIT * scale, 3.0, 2.0)


def nearest_byte(scale: Tensor, largest: int) -> Tensor:
    """The scale byte whose value is nearest: int64, same shape; 0 is the empty chunk."""
    table = torch.from_numpy(SCALES[: largest + 1]).to(torch.float64) * CONTRIBUTION_UNIT
    middles = ((table[1:] + table[:-1]) / 2).to(scale.dtype)
    return torch.bucketize(scale.contiguous(), middles)


def byte_above(scale: Tensor, largest: int) -> Tensor:
    """The smallest scale byte that reaches a scale, so that no level is clipped."""
    table = torch.from_numpy(SCALES[: largest + 1]).to(torch.float64) * CONTRIBUTION_UNIT
    return torch.bucketize(scale.to(torch.float64), table).clamp_(max=largest)


def scale_value(scale_byte: Tensor) -> Tensor:
    table = torch.from_numpy(SCALES).to(torch.float32) * CONTRIBUTION_UNIT
    return table[scale_byte]
