"""How much longer than promised an operation may take where tests run."""

from __future__ import annotations

SLACK = 6.0
"""A machine that runs tests is busy, and may be slow. `bench/` measures the promises on an idle
machine; a test only distinguishes them from what never happens, or happens by luck."""


def allowed_s(promised_s: float) -> float:
    """Seconds to wait for a result that is promised within `promised_s`."""
    return SLACK * promised_s
