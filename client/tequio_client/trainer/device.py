"""The device that computes: its choice, its precision and the limits on it."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

FORWARD_ERRORS = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
"""Exceptions of torch and transformers in a network that makes no sense to them."""
_MIB = 1 << 20
_AMPERE = (8, 0)  # first CUDA capability whose tensor cores take bfloat16


class DeviceError(UserFacingError):
    """The requested device is missing."""


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
        return torch.autocast(self.handle.type, dtype=self.precision)

    def release_memory(self) -> None:
        """Return unused accelerator memory to the system."""
        if self.handle.type != "cpu":
            torch.get_device_module(self.handle).empty_cache()


def open_device(wanted: str) -> ComputeDevice:
    """Open a device such as `cuda:0`; `auto` takes the best one. Raises DeviceError."""
    kind, _, number = wanted.partition(":")
    if kind == "auto":
        kind = next(name for name in ("cuda", "xpu", "mps", "cpu") if _count(name))
    if int(number or 0) >= _count(kind):
        raise DeviceError(
            f"device {wanted} was not found; this build of torch {torch.__version__} sees "
            f"{torch.cuda.device_count()} CUDA devices"
        )
    if kind in ("cuda", "xpu"):
        return _gpu(torch.device(kind, int(number or 0)))
    return ComputeDevice(handle=torch.device(kind), name=kind, memory_mb=0, precision=torch.float32)


def apply_limits(device: ComputeDevice, *, threads: int, memory_mb: int) -> None:
    """Limit CPU threads and, on CUDA, device memory (0 for no limit)."""
    limit_threads(threads)
    if device.handle.type == "cuda" and memory_mb and device.memory_mb:
        share = min(memory_mb / device.memory_mb, 1.0)
        torch.cuda.set_per_process_memory_fraction(share, device.handle)


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
    traits = module.get_device_properties(device)
    is_fast = device.type == "xpu" or torch.cuda.get_device_capability(device) >= _AMPERE
    return ComputeDevice(
        handle=device,
        name=traits.name,
        memory_mb=traits.total_memory // _MIB,
        precision=torch.bfloat16 if is_fast else torch.float32,
    )
