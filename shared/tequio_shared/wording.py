"""Numbers with their nouns, for the English texts of commands and pages.

The app counts by Qt's plural forms instead, which know every language.
"""

from __future__ import annotations


def plural(number: int, one: str, many: str | None = None) -> str:
    """Write a number with its noun: 1 round, 12 rounds, 1,024 entries."""
    return f"{number:,} {noun(number, one, many)}"


def noun(number: int, one: str, many: str | None = None) -> str:
    """Write the noun of a number that is shown elsewhere; `many` is `one` with an s by default."""
    return one if number == 1 else many or one + "s"
