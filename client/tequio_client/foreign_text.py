"""What other programs and computers say of themselves, made fit to be shown, logged and sent on.

Such a text may be endless, hold characters that steer a terminal or turn the line around, begin new
lines that look like ours, or be no Unicode at all (names of programs are any bytes).
"""

from __future__ import annotations


def cleaned(text: str, most: int) -> str:
    """So many characters of it on one line, each one visible or a space."""
    return "".join(one if one.isprintable() else " " for one in text[:most])
