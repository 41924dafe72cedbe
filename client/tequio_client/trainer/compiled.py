"""Kernels that torch.compile makes on this computer, for the steps of a training on a CUDA card.

Between its matrix products a network moves every activation through memory several times. A
compiled layer does so once or twice, which about doubles the speed on a large card. Making the
kernels takes some seconds; they stay in the caches that the sandbox leaves to a trainer. Triton
makes them, with the system's C compiler. Where either is missing, or fails, a function runs as it
is written. What only goes forwards, such as scoring, is never compiled.

Both ways give the same numbers up to rounding in the 16-bit type.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from functools import cache
from typing import TypeVar, cast

import torch
from torch import Tensor
from torch.utils._triton import has_triton_package

_VOLTA = (7, 0)  # Triton makes no kernels for older cards
_C_COMPILERS = ("cc", "gcc", "clang")

_Function = TypeVar("_Function", bound=Callable[..., object])


@cache
def why_not(device: torch.device) -> str:
    """Say why training on this device is not compiled; empty if it is."""
    if device.type != "cuda":
        return "only training on CUDA is compiled"
    if torch.cuda.get_device_capability(device) < _VOLTA:
        return "the card is too old for Triton"
    if not has_triton_package():
        return "Triton is not installed"
    if not any(map(shutil.which, (os.environ.get("CC", ""), *_C_COMPILERS))):
        return "there is no C compiler"
    return _try_out(device)


def compiled(function: _Function, device: torch.device) -> _Function:
    """The function with kernels of its own on this device, or the function itself."""
    if why_not(device):
        return function
    return cast("_Function", torch.compile(function, dynamic=False))


def any_length(tensor: Tensor) -> Tensor:
    """Mark a tensor whose first dimension varies from call to call, without new kernels for it."""
    torch._dynamo.maybe_mark_dynamic(tensor, 0)  # noqa: SLF001 - torch documents it by this name
    return tensor


def _try_out(device: torch.device) -> str:
    """Make and run one kernel; returns what is wrong, such as missing headers of Python."""
    from torch import _dynamo, _inductor  # noqa: PLC0415 - a second and 77 MB

    # A pool of processes, each with torch, starts more slowly than a few kernels are made.
    _inductor.config.compile_threads = 1
    try:
        torch.compile(_probe, fullgraph=True)(torch.zeros(1 << 10, device=device))
    except Exception as err:  # noqa: BLE001 - of compilers, linkers and drivers
        return f"Triton fails: {str(err).splitlines()[0]}"
    _dynamo.config.suppress_errors = True  # what cannot be compiled runs as it is written
    return ""


def _probe(tensor: Tensor) -> Tensor:
    return (tensor + 1).exp().sum()
