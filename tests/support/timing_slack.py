"""How much longer than promised a thing may take where tests run."""

from __future__ import annotations

SLACK = 6.0
"""A machine that runs tests is busy, and may be slow. What is promised of one that has time is
measured in `bench/`; a test only tells it from what would never come, or come by luck."""


def allowed_s(promised_s: float) -> float:
    """Seconds to wait for what is promised within `promised_s`."""
    return SLACK * promised_s
