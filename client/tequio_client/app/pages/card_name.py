"""What people call their card."""

from __future__ import annotations

import re

VENDOR = re.compile(r"^(NVIDIA |AMD |Intel\(R\) )?(GeForce |Radeon )?")
"""What a card's name begins with, and everybody knows."""


def short(name: str) -> str:
    """The name of a card without its vendor: RTX 4070."""
    return VENDOR.sub("", name) or name
