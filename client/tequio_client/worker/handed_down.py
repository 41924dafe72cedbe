"""What a child process gets of our environment: what it needs to find its libraries and devices."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_NAMES = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TEMP", "SYSTEMROOT", "LD_LIBRARY_PATH")
_LINE = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR")
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


def evaluator_environment(folder: Path, hub: Path) -> dict[str, str]:
    """What an evaluator of that worker gets, who asks the ledger and the Hub by itself."""
    line = {
        name: value
        for name, value in os.environ.items()
        if name.upper() in _LINE or name == "HF_ENDPOINT"
    }
    quiet = {"HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
    return {**trainer_environment(folder), **line, **quiet, "HF_HUB_CACHE": str(hub)}
