"""The typeface, and the sizes that the app writes in; figures are of one width everywhere."""

from __future__ import annotations

from enum import Enum
from functools import cache
from importlib.resources import as_file, files

from PySide6.QtGui import QFont, QFontDatabase

FAMILY = "Hanken Grotesk"
FILES = tuple(f"HankenGrotesk-{cut}.otf" for cut in ("Regular", "Medium", "SemiBold", "Bold"))


class Type(Enum):
    """What a text is, as (pixels, weight)."""

    TITLE = (21, 700)
    FIGURE = (26, 700)
    HEADING = (14, 600)
    BODY = (13, 400)
    STRONG = (13, 600)
    CAPTION = (12, 400)
    LABEL = (12, 500)
    SMALL = (11, 500)


def load() -> None:
    """Give the typeface to Qt; without it the system's own is used."""
    folder = files("font_hanken_grotesk") / "files"
    for name in FILES:
        with as_file(folder / name) as path:
            QFontDatabase.addApplicationFont(str(path))


@cache
def mono() -> QFont:
    """The system's font of one width, for what a machine wrote."""
    made = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    made.setPixelSize(12)
    return made


@cache
def font(kind: Type) -> QFont:
    """The font for that kind of text."""
    pixels, weight = kind.value
    made = QFont(FAMILY)
    made.setPixelSize(pixels)
    made.setWeight(QFont.Weight(weight))
    made.setFeature(QFont.Tag("tnum"), 1)
    made.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    return made
