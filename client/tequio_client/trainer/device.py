"""The device that computes: its choice, precision and limits, and its engine for the outer step.

The engine runs in torch on any device that adds int64 (not MPS). Integers make the order of atomic
additions irrelevant, so scatters give the same bits every time. DisTrO's transform and the down
link's top-k, both rare, run the reference on the host.

Shapes: P members, c chunks of a block, k entries of a record, R bytes of a record.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from tequio_client.trainer.engines import Block
from tequio_shared.errors import UserFacingError
from tequio_shared.head import head
from tequio_shared.head.aggregate import STEP_SHIFT
from tequio_shared.head.contribution import LEVELS
from tequio_shared.head.head import OuterParams
from tequio_shared.head.layout import CHUNK, Padding

FORWARD_ERRORS = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
"""Exceptions of torch and transformers in a network that makes no sense to them."""
_MIB = 1 << 20
_VOLTA, _AMPERE = (7, 0), (8, 0)  # first CUDA capabilities with units for float16, bfloat16
_AMD_WITH_BFLOAT16 = ("gfx908", "gfx90a", "gfx94", "gfx95", "gfx11", "gfx12")
_NO_TENSOR_CORES = "GTX 16"  # of capability 7.5, but without them
_OUT_OF_MEMORY = "DefaultCPUAllocator", "MPS backend out of memory", "Invalid buffer size"
_INT32 = torch.iinfo(torch.int32)
_BYTE = 8


class DeviceError(UserFacingError):
    """The requested device is missing."""


def is_out_of_memory(err: Exception) -> bool:
    """Check whether memory did not suffice; a CPU and MPS raise a plain RuntimeError."""
    is_named = isinstance(err, (torch.OutOfMemoryError, MemoryError))
    return is_named or any(one in str(err) for one in _OUT_OF_MEMORY)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputeDevice:
    """One device; `memory_mb` is its own memory in MiB, 0 for a CPU and where it is unknown."""

    handle: torch.device
    name: str
    memory_mb: int
    precision: torch.dtype

    @property
    def label(self) -> str:
        """Kind and number, such as `cuda:0`."""
        return str(self.handle)

    def autocast(self) -> AbstractContextManager[object]:
        """Compute in this device's precision while the context is open."""
        if self.precision == torch.float32:
            return contextlib.nullcontext()
        # A cache would hold 16 bits of every weight throughout a forward pass that stores hardly
        # anything else where layers are recomputed. Other passes use each weight once anyway.
        return torch.autocast(self.handle.type, dtype=self.precision, cache_enabled=False)

    def release_memory(self) -> None:
        """Return unused accelerator memory to the system."""
        if self.handle.type == "cuda":  # 64 MiB on the largest cards
            torch._C._cuda_clearCublasWorkspaces()  # noqa: SLF001 - no public name
        if self.handle.type != "cpu":
            torch.get_device_module(self.handle).empty_cache()

    def held_mb(self) -> int:
        """Accelerator memory that tensors of this process have or that is kept for later ones, MiB.

        On MPS that of tensors alone: the driver's figure has Apple's own caches in it. CPU: 0.
        """
        if self.handle.type == "cpu":
            return 0
        module = torch.get_device_module(self.handle)
        if self.handle.type == "mps":
            return int(module.current_allocated_memory()) // _MIB
        return int(module.memory_reserved(self.handle)) // _MIB


def open_device(wanted: str) -> ComputeDevice:
    """Open a device such as `cuda:0`; `auto` takes the best one. Raises DeviceError."""
    # Read when CUDA is first asked: cuda:0 is the probe's first card then.
    os.environ.setdefault("CUDA_DEVICE_ORDER", "PCI_BUS_ID")
    kind, _, number = wanted.partition(":")
    if kind == "auto":
        kind = next(name for name in ("cuda", "xpu", "mps", "cpu") if _count(name))
    if kind != "cpu" and int(number or 0) >= _count(kind):  # a processor is one, however numbered
        raise DeviceError(
            f"device {wanted} was not found; this build of torch {torch.__version__} sees "
            f"{torch.cuda.device_count()} CUDA devices"
        )
    if kind in ("cuda", "xpu"):
        return _gpu(torch.device(kind, int(number or 0)))
    return ComputeDevice(handle=torch.device(kind), name=kind, memory_mb=0, precision=torch.float32)


def apply_limits(device: ComputeDevice, *, threads: int, memory_mb: int) -> None:
    """Limit CPU threads and accelerator memory (0 for all of it; on MPS what Metal recommends)."""
    limit_threads(threads)
    kind = device.handle.type
    if kind == "cpu":
        return
    module = torch.get_device_module(device.handle)
    most_mb = module.recommended_max_memory() // _MIB if kind == "mps" else device.memory_mb
    share = min(memory_mb / most_mb, 1.0) if memory_mb and most_mb else 1.0
    which = () if kind == "mps" else (device.handle,)
    module.set_per_process_memory_fraction(share, *which)


def limit_threads(threads: int) -> None:
    if torch.get_num_threads() != threads:
        torch.set_num_threads(threads)


def thread_count() -> int:
    return torch.get_num_threads()


def _count(kind: str) -> int:
    if kind == "cuda":
        return torch.cuda.device_count()
    if kind == "xpu":
        return torch.xpu.device_count() if torch.xpu.is_available() else 0
    if kind == "mps":
        return int(torch.backends.mps.is_available())
    return 1


def _gpu(device: torch.device) -> ComputeDevice:
    module = torch.get_device_module(device)
    module.set_device(device)  # kernels of Triton run on the current one, whatever their arguments
    traits = module.get_device_properties(device)
    return ComputeDevice(
        handle=device,
        name=traits.name,
        memory_mb=traits.total_memory // _MIB,
        precision=fastest_precision(device),
    )


@cache
def fastest_precision(device: torch.device) -> torch.dtype:
    """The type in which the device multiplies matrices fastest, of those that it has units for."""
    if device.type == "xpu":
        return torch.bfloat16
    if device.type != "cuda":
        return torch.float32
    if torch.version.hip:
        name = torch.cuda.get_device_properties(device).gcnArchName
        return torch.bfloat16 if name.startswith(_AMD_WITH_BFLOAT16) else torch.float32
    return _cuda_precision(
        torch.cuda.get_device_capability(device), torch.cuda.get_device_name(device)
    )


def _cuda_precision(capability: tuple[int, int], name: str) -> torch.dtype:
    if capability >= _AMPERE:
        return torch.bfloat16
    # Without such units float16 is slower than float32, or adds up products in float16.
    has_cores = capability >= _VOLTA and _NO_TENSOR_CORES not in name
    return torch.float16 if has_cores else torch.float32


@dataclass(frozen=True, slots=True, kw_only=True)
class _Decoded:
    """Entries of P members: scales int64[P, c], positions and levels int64[P, c, k].

    Entries of empty chunks and at padding have level 0.
    """

    scales: torch.Tensor
    positions: torch.Tensor
    levels: torch.Tensor


class AcceleratorEngine:
    """Torch on one device, which has one block at a time, whatever the number of threads.

    A block takes up to 64 bytes for each entry of all members there, and 40 for each weight.
    """

    def __init__(self, params: OuterParams, device: str | torch.device) -> None:
        self._turn = threading.Lock()
        self.leaves = 1 if params.shape.is_dense else 4
        self._params = params
        self._device = torch.device(device)
        self._table = torch.from_numpy(head.scale_values(params)).to(self._device)

    def agreement(self, records: NDArray[np.uint8], padding: Padding) -> NDArray[np.int64]:
        with self._turn:
            decoded = self._decode(records, padding)
            sign = decoded.levels.sign()
            total = _scatter(decoded.positions, sign, records.shape[1] * CHUNK)
            rest = (total[decoded.positions] - sign).sign() * sign
            measured = torch.stack([rest.sum((1, 2)), (rest != 0).sum((1, 2))], dim=1)
            return np.asarray(measured.cpu().numpy(), np.int64)

    def move(
        self, block: Block, factors: Sequence[int]
    ) -> tuple[NDArray[np.int32], NDArray[Any] | None]:
        params = self._params
        if params.down_k or params.algorithm == "distro":
            with self._turn:
                total = self._total(block, factors).cpu().numpy()
            step, aux = head.outer_step(params, total, block.aux, block.padding)
            weights = head.apply_move(block.weights, step, params.lambda_q, block.matrix_elements)
            return weights, aux
        with self._turn:
            return self._moved(block, factors)

    def _moved(
        self, block: Block, factors: Sequence[int]
    ) -> tuple[NDArray[np.int32], NDArray[Any] | None]:
        params, total = self._params, self._total(block, factors)
        move = (total + (1 << (STEP_SHIFT - 1))) >> STEP_SHIFT
        new_aux: NDArray[Any] | None = None
        if params.mu_q and block.aux is not None:
            velocity = self._on_device(block.aux).long()
            velocity = (_slowed(velocity, params.mu_q) + move).clamp(_INT32.min, _INT32.max)
            move += _slowed(velocity, params.mu_q)
            new_aux = velocity.int().cpu().numpy()
        return self._update(block, move), new_aux

    def _update(self, block: Block, move: torch.Tensor) -> NDArray[np.int32]:
        wide = self._on_device(block.weights).long()
        matrix = wide[: block.matrix_elements]
        matrix -= (matrix * self._params.lambda_q + (1 << 29)) >> 30
        limited = (wide - move).clamp(_INT32.min, _INT32.max)
        return np.asarray(limited.int().cpu().numpy(), np.int32)

    def _total(self, block: Block, factors: Sequence[int]) -> torch.Tensor:
        decoded = self._decode(block.records, block.padding)
        scales = decoded.scales
        if self._params.algorithm != "distro":
            median = scales.sort(dim=0).values[(len(scales) - 1) // 2]
            limit = (median + self._params.delta).clamp(max=self._params.shape.largest_scale)
            scales = torch.minimum(scales, torch.where(median > 0, limit, 0))
        weights = torch.tensor(list(factors), dtype=torch.int64, device=self._device)
        units = self._table[scales] * weights[:, None]
        return _scatter(decoded.positions, decoded.levels * units[:, :, None], block.weights.size)

    def _decode(self, records: NDArray[np.uint8], padding: Padding) -> _Decoded:
        shape = self._params.shape
        members, chunks, _ = records.shape
        rows = self._on_device(records)
        scales = rows[:, :, 0].long()
        if shape.is_dense:
            index = torch.arange(CHUNK, device=self._device).expand(members, chunks, CHUNK)
            levels = rows[:, :, 1:].contiguous().view(torch.int8).long()
        else:
            index = self._indices(rows)
            table = torch.from_numpy(LEVELS[shape.bits]).to(self._device).long()
            levels = table[_fields(rows, shape.codes_at, shape.bits, shape.k)]
        positions = torch.arange(chunks, device=self._device)[None, :, None] * CHUNK + index
        live = (scales > 0)[:, :, None] & self._counts(padding, chunks)[positions]
        return _Decoded(scales=scales, positions=positions, levels=levels * live)

    def _indices(self, rows: torch.Tensor) -> torch.Tensor:
        """The ascending indices int64[P, c, k] of sparse records uint8[P, c, R]."""
        shape = self._params.shape
        bitmap = rows[:, :, shape.high_at : shape.codes_at]
        bits = (bitmap[..., None] >> torch.arange(_BYTE, device=self._device)) & 1
        where = bits.reshape(-1).nonzero()[:, 0].reshape(*rows.shape[:2], shape.k)
        high = where % (2 * shape.k) - torch.arange(shape.k, device=self._device)
        return (high << shape.low_bits) | _fields(rows, 1, shape.low_bits, shape.k)

    def _counts(self, padding: Padding, chunks: int) -> torch.Tensor:
        """The mask of positions that count: bool[c * 4096]."""
        counts = np.ones((chunks, CHUNK), np.bool_)
        where = head.entry_padding(self._params, padding)
        counts[where.chunks] = ~where.masks
        return self._on_device(counts.reshape(-1))

    def _on_device(self, array: NDArray[Any]) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(self._device)


def _scatter(positions: torch.Tensor, values: torch.Tensor, elements: int) -> torch.Tensor:
    total = torch.zeros(elements, dtype=torch.int64, device=values.device)
    return total.index_add_(0, positions.reshape(-1), values.reshape(-1))


def _fields(rows: torch.Tensor, at: int, bits: int, count: int) -> torch.Tensor:
    """Read `count` numbers of `bits` bits (at most 9) from byte `at` of each record."""
    first = torch.arange(count, device=rows.device) * bits
    byte, shift = at + first // _BYTE, first % _BYTE
    wide = (shift + bits > _BYTE).long()  # the record may end after the first byte
    pair = rows[:, :, byte].long() | (rows[:, :, byte + wide].long() << _BYTE)
    return (pair >> shift) & ((1 << bits) - 1)


def _slowed(velocity: torch.Tensor, mu_q: int) -> torch.Tensor:
    return (velocity * mu_q + (1 << 14)) >> 15
