"""The languages of tests and pictures, including a pseudo-language.

The pseudo-language puts each text in brackets, adds accents and makes it 40 % longer, if the
Spanish file has that text: a text that stays plain was never given to a translator. `rtl` shows the
same texts as an Arabic reader's app does: from right to left, with Arabic digits.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale, Qt, QTranslator

from tequio_client.app.language import LANGUAGES, load_translations
from tests.support import app_texts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tequio_client.app.language import Language

SPOKEN = ("pseudo", "rtl", *LANGUAGES)
LONG = ("pseudo", "rtl", "de", "es", "fr", "pt")
"""Languages that need more room than English."""
REGIONS = {"en": "en_US", "pseudo": "en_US", "rtl": "ar_EG"}
"""The locale of a language, where Qt would otherwise use the computer's."""

ACCENTED = str.maketrans("aeioucnstlrdkgyzAEIOUCNSTLRDKGYZ", "áéíóúçñšţĺřďķğýžÁÉÍÓÚÇÑŠŢĹŘĎĶĞÝŽ")
KEPT = re.compile(r"(\{[^}]*\}|%n|%L?\d)")
LONGER = 0.4


class PseudoLocale(QTranslator):
    """Translates the texts that translators were given; all others stay plain and stand out."""

    def __init__(self) -> None:
        super().__init__()
        self._texts = _texts()

    def isEmpty(self) -> bool:  # noqa: N802  # Qt's name
        """Never."""
        return False

    def translate(
        self, context: str, source: str, _disambiguation: str | None = None, _n: int = -1
    ) -> str:
        """Give the pseudo-translation of a known text."""
        return pseudo(source) if (context, source) in self._texts else source


@cache
def _texts() -> frozenset[tuple[str, str]]:
    return frozenset(app_texts.messages(app_texts.path_of("es").read_text("utf-8")))


class DirectedLocale(QLocale):
    """A locale of either direction, whose texts can be compared with those of the other."""

    def __init__(self, name: str, direction: Qt.LayoutDirection) -> None:
        super().__init__(name)
        self._direction = direction

    def textDirection(self) -> Qt.LayoutDirection:  # noqa: N802  # Qt's name
        """Give the chosen direction."""
        return self._direction


MIRRORED = ("en", "rtl")
"""Languages whose windows are compared in both directions: short texts, and long Arabic ones."""


def speak_both_ways(language: Language, spoken: str) -> Iterator[None]:
    """Speak one of `MIRRORED` from left to right, and after the first turn from right to left."""
    for direction in (Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft):
        language.apply(DirectedLocale(REGIONS[spoken], direction), _translator(spoken))
        yield


def speak(language: Language, spoken: str) -> None:
    """Switch the app to one of `SPOKEN`, the same on every computer."""
    language.apply(QLocale(REGIONS.get(spoken, spoken)), _translator(spoken))


def _translator(spoken: str) -> QTranslator:
    return load_translations(spoken) if spoken in LANGUAGES else PseudoLocale()


def pseudo(source: str) -> str:
    """Accent, lengthen and bracket a text; places for values stay as they are."""
    if not source:
        return ""
    pieces = KEPT.split(source)
    accented = "".join(one if at % 2 else one.translate(ACCENTED) for at, one in enumerate(pieces))
    return f"[{accented}{'·' * max(1, round(len(source) * LONGER))}]"
