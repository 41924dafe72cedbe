"""Modules of a network that stays frozen, and the pairs of small matrices beside some of them.

A frozen matrix keeps the 16 bits of its file, or 4 (`tequio_shared.head.nf4`), whatever the device.
It is widened when it is used, and again in the backward pass, so that no wider copy outlives its
layer. One-dimensional weights (norm scales, biases) and the activations between layers are float32:
with float32 on the device, the results are those of the widened model.

A target's output is W x + (alpha / rank) B (A x), as in `tequio_shared.head.layout`.

Shapes: R rows (outputs), C columns (inputs), K blocks of a row.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import product
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn import functional

from tequio_client.trainer.device import thread_count
from tequio_shared.errors import UserFacingError
from tequio_shared.head import nf4

_AT_ONCE = 1 << 22
"""Numbers of a matrix in 4 bits that are converted at once: 16 MiB of float32."""
_MULTIPLIES = ("FalconLinear",)
"""Subclasses of nn.Linear whose own forward pass computes the same."""


def is_linear(module: nn.Module) -> bool:
    """True for a module that computes x W^T + b and nothing else."""
    return isinstance(module, nn.Linear) and (
        type(module).forward is nn.Linear.forward or type(module).__name__ in _MULTIPLIES
    )


def freeze(weights: Tensor) -> nn.Parameter:
    return nn.Parameter(weights, requires_grad=False)


class FrozenMatrix(Protocol):
    def widen(self, dtype: torch.dtype) -> Tensor:
        """The whole matrix [R, C] in this type."""


class StoredMatrix(nn.Module):
    """A matrix in the type of its file."""

    def __init__(self, weight: nn.Parameter) -> None:
        super().__init__()
        self.weight = weight

    def widen(self, dtype: torch.dtype) -> Tensor:
        return self.weight.to(dtype)


class Nf4Matrix(nn.Module):
    """A matrix in 4 bits: codes uint8 [R, K, 32] and scales float32 [R, K]."""

    codes: Tensor
    scales: Tensor
    pairs: Tensor

    def __init__(self, codes: Tensor, scales: Tensor, columns: int) -> None:
        super().__init__()
        self.columns = columns
        self.register_buffer("codes", codes)
        self.register_buffer("scales", scales)
        both = torch.tensor(list(product(nf4.VALUES.tolist(), repeat=2)))
        self.register_buffer("pairs", both, persistent=False)  # the two values of each byte

    @classmethod
    def of(cls, weight: Tensor) -> Nf4Matrix:
        """Quantise a matrix [R, C] in main memory, some rows at a time."""
        # In numpy, even where the device is an accelerator: exports make the same bytes without
        # torch, and one implementation cannot disagree with itself.
        columns = weight.shape[1]
        parts = torch.split(weight, max(_AT_ONCE // columns, 1))
        with ThreadPoolExecutor(thread_count()) as pool:
            made = list(pool.map(lambda part: nf4.quantise(part.float().numpy()), parts))
        codes, scales = (np.concatenate(one) for one in zip(*made, strict=True))
        return cls(torch.from_numpy(codes), torch.from_numpy(scales), columns)

    def widen(self, dtype: torch.dtype) -> Tensor:
        rows, blocks, _ = self.codes.shape
        wide = torch.empty((rows, self.columns), dtype=dtype, device=self.codes.device)
        step = max(_AT_ONCE // (blocks * nf4.BLOCK), 1)
        for first in range(0, rows, step):
            part = slice(first, first + step)
            values = functional.embedding(self.codes[part].int(), self.pairs).flatten(2)
            values *= self.scales[part, :, None]
            wide[part] = values.flatten(1)[:, : self.columns]
        return wide


class FrozenLinear(nn.Module):
    """A linear map that is not trained."""

    def __init__(self, matrix: StoredMatrix | Nf4Matrix, bias: Tensor | None) -> None:
        super().__init__()
        self.matrix = matrix
        self.bias = None if bias is None else freeze(bias.float())

    def forward(self, wide: Tensor) -> Tensor:
        out: Tensor = _Through.apply(wide, self.matrix)  # type: ignore[no-untyped-call]  # torch's
        return out if self.bias is None else out + self.bias


class AdaptedLinear(FrozenLinear):
    """A frozen linear map with the pair that is trained beside it: A [rank, C], B [R, rank]."""

    def __init__(
        self,
        matrix: StoredMatrix | Nf4Matrix,
        bias: Tensor | None,
        pair: tuple[Tensor, Tensor],
        scale: float,
    ) -> None:
        super().__init__(matrix, bias)
        self.scale = scale
        self.down, self.up = map(nn.Parameter, pair)

    def forward(self, wide: Tensor) -> Tensor:
        narrow = functional.linear(wide, self.down)
        return super().forward(wide) + functional.linear(narrow, self.up) * self.scale


class FrozenEmbedding(nn.Module):
    """A table of embeddings that is not trained; its outputs are float32."""

    def __init__(self, table: nn.Embedding, weight: nn.Parameter) -> None:
        super().__init__()
        self.num_embeddings = table.num_embeddings
        self.table = table
        self.table.weight = weight
        self.table.padding_idx = None  # concerns gradients alone

    def forward(self, ids: Tensor) -> Tensor:
        rows = functional.embedding(ids, self.table.weight).float()
        if type(self.table).forward is nn.Embedding.forward:
            return rows
        # Gemma's tables multiply what they read. They get the rows read as a table of their own:
        # the whole table in float32 would be as large as all layers of a small model.
        places = torch.arange(ids.numel(), device=ids.device).view(ids.shape)
        found: Tensor = functional_call(self.table, {"weight": rows.flatten(0, -2)}, (places,))
        return found


@contextmanager
def check_used(network: nn.Module) -> Iterator[None]:
    """Raise UserFacingError unless every pair of the network is used inside the block."""
    pairs = {name: one for name, one in network.named_modules() if isinstance(one, AdaptedLinear)}
    used: set[nn.Module] = set()
    handles = [
        one.register_forward_hook(lambda module, *_: used.add(module)) for one in pairs.values()
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
    unused = next((name for name, one in pairs.items() if one not in used), None)
    if unused is not None:
        raise UserFacingError(
            f"the network does not use {unused} as a linear map, so an adapter would have no "
            f"effect there: leave {unused.rpartition('.')[2]} out of lora.targets"
        )


class _Through(torch.autograd.Function):
    """x W^T in the current precision; backward returns the gradient of x, none for W.

    Autograd would store the widened W of every layer until the backward pass.
    """

    @staticmethod
    def forward(ctx: Any, wide: Tensor, matrix: FrozenMatrix) -> Tensor:  # noqa: ANN401 - torch's
        kind = wide.device.type
        has_autocast = torch.is_autocast_enabled(kind)
        dtype = torch.get_autocast_dtype(kind) if has_autocast else wide.dtype
        ctx.matrix, ctx.dtype = matrix, wide.dtype
        with torch.autocast(kind, enabled=False):
            return functional.linear(wide.to(dtype), matrix.widen(dtype))

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:  # noqa: ANN401 - torch's
        (grad,) = grads
        return (grad @ ctx.matrix.widen(grad.dtype)).to(ctx.dtype), None
