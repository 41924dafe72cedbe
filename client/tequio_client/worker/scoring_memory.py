"""Whether this computer has the memory to score a model; said before anything is promised."""

from __future__ import annotations

import psutil

BYTES_A_PARAMETER = 5
"""Weights in binary32, and a quarter of that for what is read and computed beside them."""
BESIDE_BYTES = 1 << 30
"""Programs, and the predictions of one batch."""
_GIGA = 10**9


def needed_bytes(parameters: int) -> int:
    """How much scoring a model takes."""
    return BESIDE_BYTES + BYTES_A_PARAMETER * parameters


def lacking(parameters: int, available_bytes: int | None = None) -> str:
    """What is missing, in words; empty when there is enough."""
    there = psutil.virtual_memory().available if available_bytes is None else available_bytes
    needed = needed_bytes(parameters)
    if there >= needed:
        return ""
    return (
        f"a model of {parameters:,} parameters takes {needed / _GIGA:.1f} GB to score, and "
        f"{there / _GIGA:.1f} GB are free"
    )
