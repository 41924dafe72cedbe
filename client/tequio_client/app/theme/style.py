"""The style sheet of the whole application, with its fonts, lengths and colours.

The sheet, `theme.qss`, colours and spaces what Qt draws; `font` sets the type, and code that paints
asks for the tokens itself. A widget selects its style by its property `kind`.
"""

from __future__ import annotations

import tomllib
from dataclasses import asdict, dataclass
from enum import Enum
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from string import Template

from PySide6.QtCore import QLocale
from PySide6.QtGui import QFont, QFontDatabase

import tequio_assets

FAMILY = "Hanken Grotesk"
FALLBACKS = {
    QLocale.Language.Chinese: ("Microsoft YaHei UI", "PingFang SC", "Noto Sans CJK SC"),
    QLocale.Language.Japanese: ("Yu Gothic UI", "Hiragino Sans", "Noto Sans CJK JP"),
}
"""The system's families for characters that `FAMILY` lacks. Chinese and Japanese draw the same
characters differently, and Qt would take either family whatever the app's language."""
FILES = tuple(f"HankenGrotesk-{cut}.otf" for cut in ("Regular", "Medium", "SemiBold", "Bold"))


class TextStyle(Enum):
    """Styles of text, as (pixels, weight). Figures always have one width."""

    TITLE = (21, 700)
    FIGURE = (26, 700)
    HEADING = (14, 600)
    BODY = (13, 400)
    STRONG = (13, 600)
    CAPTION = (12, 400)
    LABEL = (12, 500)
    SMALL = (11, 500)


def load_typeface() -> None:
    """Register the typeface with Qt; without it the system's font is used."""
    folder = files("font_hanken_grotesk") / "files"
    for name in FILES:
        with as_file(folder / name) as path:
            QFontDatabase.addApplicationFont(str(path))


@cache
def fixed_font() -> QFont:
    """The system's font of one width, for machine output."""
    made = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    made.setPixelSize(12)
    return made


def font(kind: TextStyle) -> QFont:
    return _font(kind, QLocale().language())


@cache
def _font(kind: TextStyle, language: QLocale.Language) -> QFont:
    pixels, weight = kind.value
    made = QFont([FAMILY, *filter(QFontDatabase.hasFamily, FALLBACKS.get(language, ()))])
    made.setPixelSize(pixels)
    made.setWeight(QFont.Weight(weight))
    made.setFeature(QFont.Tag("tnum"), 1)
    made.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    return made


# Lengths in pixels at scale 1: Qt multiplies them on screens of higher density.
WINDOW = (1120, 720)
LEAST_WINDOW = (760, 520)
SIDE_BAR = 206

CARD_RADIUS = 14
BUTTON_RADIUS = 9

PAGE_MARGINS = (26, 22, 26, 22)
CARD_MARGINS = (16, 14, 16, 14)
GAP = 14
"""Between cards."""

RING = 92
RING_STROKE = 8
BAR = 8
FOCUS = 2
ICON = 18
ICON_STROKE = 1.8
LINE = 2.2
"""Of a chart's curve."""


PICTURES = ("check", "dot", "open", "shut")


def style_sheet(tokens: ColourTokens) -> str:
    values = asdict(tokens) | {name: _path(name) for name in PICTURES}
    values |= {"card_radius": CARD_RADIUS, "button_radius": BUTTON_RADIUS}
    return Template(_asset("theme.qss")).substitute(values)


def _path(name: str) -> str:
    """Path of a picture; Qt's style sheets read files only."""
    return (Path(tequio_assets.__file__).parent / "icons" / f"{name}.svg").as_posix()


# The colours, for dark and for light surroundings, are those of the ledger's pages. Text contrasts
# with every surface by 4.5 to 1, graphics and edges of controls by 3 to 1; hairlines and the tracks
# of bars are decoration. A test checks each pair.


@dataclass(frozen=True, slots=True, kw_only=True)
class ColourTokens:
    """One set of colours, `#rrggbb`."""

    name: str
    # surfaces
    page: str
    side: str
    card: str
    hover: str
    down: str
    # lines
    hairline: str
    track: str
    edge: str
    # text
    text: str
    text_sub: str
    text_accent: str
    text_off: str
    """For disabled controls, which need no contrast."""
    # graphics
    accent: str
    accent2: str
    ring: str
    """Around the widget with the keyboard focus."""
    # the primary button, and what is written on it
    button: str
    button_hover: str
    button_down: str
    on_button: str
    # meanings, as text and as graphics
    ok: str
    warn: str
    danger: str
    # soft grounds of those meanings
    accent_soft: str
    ok_soft: str
    warn_soft: str
    danger_soft: str


def _read(name: str) -> ColourTokens:
    return ColourTokens(name=name, **tomllib.loads(_asset("theme.toml"))[name])


def _asset(name: str) -> str:
    return (files("tequio_assets") / name).read_text(encoding="utf-8")


DARK = _read("dark")
LIGHT = _read("light")
