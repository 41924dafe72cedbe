"""Description of the machine and its load, printed with every figure."""

from __future__ import annotations

import os
import platform
from pathlib import Path


def machine() -> dict[str, object]:
    """Processor, cores, system, Python, and the load of the last minute."""
    return {
        "machine": _processor(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 2),
    }


def _processor() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    flags = next((line.split() for line in lines if line.startswith("flags")), [])
    shown = [one for one in ("avx2", "avx512f", "sha_ni") if one in flags]
    return f"{names[0] if names else platform.machine()} {' '.join(shown)}"
