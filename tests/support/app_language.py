"""A language that nobody speaks: each text in brackets, accented and 40 % longer."""

from __future__ import annotations

import re

from PySide6.QtCore import QTranslator

ACCENTED = str.maketrans("aeioucnstlrdkgyzAEIOUCNSTLRDKGYZ", "áéíóúçñšţĺřďķğýžÁÉÍÓÚÇÑŠŢĹŘĎĶĞÝŽ")
KEPT = re.compile(r"(\{[^}]*\}|%n|%L?\d)")
LONGER = 0.4


class PseudoLocale(QTranslator):
    """Translates everything that is translated at all."""

    def isEmpty(self) -> bool:  # noqa: N802  # Qt's name
        """Never."""
        return False

    def translate(
        self, _context: str, source: str, _disambiguation: str | None = None, _n: int = -1
    ) -> str:
        """The same, hard to overlook."""
        return pseudo(source)


def pseudo(source: str) -> str:
    """Accent, lengthen and bracket a text; places for values stay as they are."""
    if not source:
        return ""
    pieces = KEPT.split(source)
    accented = "".join(one if at % 2 else one.translate(ACCENTED) for at, one in enumerate(pieces))
    return f"[{accented}{'·' * max(1, round(len(source) * LONGER))}]"
