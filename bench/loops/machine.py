"""The machine and its load, printed with every figure, and the arithmetic of cards."""

from __future__ import annotations

import os
import platform
from pathlib import Path

PEAK_TFLOPS = {
    "H200": 989.0,
    "H100": 989.0,
    "A100": 312.0,
    "L40S": 362.0,
    "RTX 4090": 165.2,
    "RTX 3090": 71.0,
}
"""Dense bfloat16, as the makers' data sheets state them; looked up by a part of the name."""


def machine() -> dict[str, object]:
    """Processor, cores, system, Python, and the load of the last minute."""
    return {
        "machine": _processor(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 2),
    }


def mfu(
    card: str, tokens_per_s: float, *, parameters: int, layers: int, width: int, sequence: int
) -> float | None:
    """Share of a card's arithmetic that a training uses; None for a card of unknown peak.

    Operations of a forward and a backward pass over the densest bfloat16 peak that the maker states
    (Chowdhery et al. 2022, appendix B).
    """
    peak = next((one for part, one in PEAK_TFLOPS.items() if part in card), None)
    flops = 6 * parameters + 12 * layers * width * sequence
    return None if peak is None else tokens_per_s * flops / (peak * 1e12)


def _processor() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    flags = next((line.split() for line in lines if line.startswith("flags")), [])
    shown = [one for one in ("avx2", "avx512f", "sha_ni") if one in flags]
    return f"{names[0] if names else platform.machine()} {' '.join(shown)}"
