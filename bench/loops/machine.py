"""What stands beside every figure: the machine, and how busy it is."""

from __future__ import annotations

import os
import platform


def machine() -> dict[str, object]:
    """Processor kind, cores, system, Python, and the load of the last minute."""
    return {
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 2),
    }
