"""Numbers with their nouns or units, for the English texts of commands and pages.

The app writes its own instead, with Qt, in every language.
"""

from __future__ import annotations

import math

SCALES = ((12, "T"), (9, "B"), (6, "M"), (3, "k"))
"""Powers of ten, and the letters that stand for them."""


def plural(number: int, one: str, many: str | None = None) -> str:
    """Write a number with its noun: 1 round, 12 rounds, 1,024 entries."""
    return f"{number:,} {noun(number, one, many)}"


def noun(number: int, one: str, many: str | None = None) -> str:
    """Write the noun of a number that is shown elsewhere; `many` is `one` with an s by default."""
    return one if number == 1 else many or one + "s"


def short_count(number: float) -> str:
    """Write a large number in three digits: 950, 12.4k, 350M, 1.31B."""
    for power, letter in SCALES:
        part = number / 10**power
        if part >= 1:
            places = 0 if part >= 100 else 1 if part >= 10 else 2  # noqa: PLR2004 - three digits
            return f"{part:.{places}f}{letter}"
    return f"{number:,.0f}" if number >= 10 or number == int(number) else f"{number:.1f}"  # noqa: PLR2004


def size_text(size_bytes: int) -> str:
    """Write bytes in decimal units."""
    if size_bytes < 1_000:  # noqa: PLR2004 - a kilobyte
        return f"{size_bytes} B"
    power = min(int(math.log10(size_bytes)) // 3, 4)
    return f"{size_bytes / 1_000**power:.3g} {'kMGT'[power - 1]}B"
