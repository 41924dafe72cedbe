"""What a child process gets of our environment: what it needs to find its libraries and devices."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_NAMES = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TEMP", "SYSTEMROOT", "LD_LIBRARY_PATH")
_PREFIXES = ("CUDA_", "NVIDIA_", "HIP_", "ROCR_", "ZE_", "PYTHON")


def environment() -> dict[str, str]:
    """The little that every child gets; no secret is among it."""
    return {
        name: value
        for name, value in os.environ.items()
        if name in _NAMES or name.startswith(_PREFIXES)
    }


def trainer_environment(folder: Path) -> dict[str, str]:
    """What a trainer of the worker in that folder gets."""
    cache = str(folder / "cache")
    return {**environment(), "NUMBA_CACHE_DIR": cache, "TOKENIZERS_PARALLELISM": "false"}
