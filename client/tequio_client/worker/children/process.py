"""What a child process gets of our environment: what it needs to find its libraries and devices."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

import trio

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


# --- The kill ladder: end of input, SIGTERM, SIGKILL; the last two the same where no signals are.

POLITE_S = 0.7
"""How long each step may take: what a child leaves half-done harms nobody."""


async def end(process: trio.Process) -> None:
    """Let the child be gone."""
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            await stream.aclose()
    for press in (None, process.terminate, process.kill):
        if press is not None:
            with suppress(ProcessLookupError):
                press()
        with trio.move_on_after(POLITE_S):
            await process.wait()
            return


async def farewell(process: trio.Process) -> str:
    """Say how a child ended that closed its output; it may hang all the same."""
    with trio.move_on_after(POLITE_S):
        await process.wait()
    status = process.returncode
    return "it closed its output" if status is None else f"exit status {status}"
