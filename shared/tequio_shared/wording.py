"""Numbers with their nouns or units, for the English texts of commands and pages.

The app writes its own instead, with Qt, in every language.
"""

from __future__ import annotations

SCALES = {12: "T", 9: "B", 6: "M", 3: "k"}
"""The letters that stand for powers of ten."""
SIZE_UNITS = {12: "TB", 9: "GB", 6: "MB", 3: "kB", 0: "B"}


def plural(number: int, one: str, many: str | None = None) -> str:
    """Write a number with its noun: 1 round, 12 rounds, 1,024 entries."""
    return f"{number:,} {noun(number, one, many)}"


def noun(number: int, one: str, many: str | None = None) -> str:
    """Write the noun of a number that is shown elsewhere; `many` is `one` with an s by default."""
    return one if number == 1 else many or one + "s"


def three_digits(number: float) -> tuple[float, int, int]:
    """Round to three digits: the number in its unit, its decimals, and the unit's power of ten."""
    rounded = float(f"{number:.2e}")  # first, for 999,999 is 1 million and not 1,000 thousand
    power = next((power for power in SCALES if rounded >= 10**power), 0)
    part = rounded / 10**power
    return part, 0 if part >= 100 else 1 if part >= 10 else 2, power  # noqa: PLR2004


def short_count(number: float) -> str:
    """Write a large number in three digits: 950, 12.4k, 350M, 1.31B."""
    part, places, power = three_digits(number)
    if power:
        return f"{part:.{places}f}{SCALES[power]}"
    return f"{number:,.0f}" if number >= 10 or number == int(number) else f"{number:.1f}"  # noqa: PLR2004


def size_text(size_bytes: float) -> str:
    """Write bytes in decimal units, in three digits: 950 B, 8.19 kB, 107 GB."""
    part, _, power = three_digits(size_bytes)
    return f"{part} {SIZE_UNITS[power]}".replace(".0 ", " ")
