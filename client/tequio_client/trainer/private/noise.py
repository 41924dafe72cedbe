"""Random bits, and the Gaussian noise made of them.

The noise is all that hides a document, so a reader of the weights must not be able to compute it.
torch's generator of a CPU uses 32 bits of its seed (`manual_seed(1)` and `manual_seed(1 + 2**32)`
give the same numbers), and Mersenne Twister's numbers follow from earlier ones. So the bits come
from the operating system's cryptographic generator, 32 bytes for each weight and step.

Floating-point numbers are not evenly spread: from the low bits of a result one can sometimes tell
which noise it can have come from (Mironov 2012). The sum of four Gaussians, halved, is a Gaussian
of the same variance, and has too many origins to search: 2^159 (Holohan and Braghin 2021, section
5.1; Opacus does the same in its secure mode).
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

RandomBits: TypeAlias = Callable[[int], NDArray[np.uint64]]
"""Gives that many numbers of 64 random bits."""
_GAUSSIANS = 4
_BLOCK = 1 << 18
"""Numbers that are drawn at once: 24 MiB while they are."""


def system_bits(count: int) -> NDArray[np.uint64]:
    """Bits of the operating system's generator."""
    return np.frombuffer(os.urandom(8 * count), np.uint64)


def seeded_bits(seed: int) -> RandomBits:
    """Bits that can be repeated, and so hide nothing: for tests."""
    generator = np.random.Generator(np.random.PCG64(seed))
    return lambda count: generator.integers(0, 1 << 64, count, np.uint64)


def uniforms(bits: RandomBits, count: int) -> NDArray[np.float64]:
    """Numbers from 0 to below 1, multiples of 2^-53."""
    return (bits(count) >> np.uint64(11)).astype(np.float64) * np.float64(2.0**-53)


def add_noise(tensors: Sequence[Tensor], std: float, bits: RandomBits) -> None:
    """Add an independent Gaussian of this standard deviation to each number, in place."""
    for tensor in tensors:
        flat = tensor.view(-1)
        for part in torch.split(flat, _BLOCK):
            part.add_(_gaussians(bits, len(part)).to(part.dtype).to(part.device), alpha=std)


def _gaussians(bits: RandomBits, count: int) -> Tensor:
    """Standard Gaussians, float64 [count]."""
    total = torch.zeros(count, dtype=torch.float64)
    for _ in range(_GAUSSIANS):
        total += _box_muller(bits, count)
    return total / math.sqrt(_GAUSSIANS)


def _box_muller(bits: RandomBits, count: int) -> Tensor:
    """Two Gaussians for each pair of uniforms (Box and Muller 1958)."""
    pairs = (count + 1) // 2
    first, second = torch.from_numpy(uniforms(bits, 2 * pairs)).view(2, pairs)
    radius = torch.log1p(-first).mul_(-2).sqrt_()
    angle = second * (2 * math.pi)
    return torch.cat((radius * angle.cos(), radius * angle.sin()))[:count]
