"""The colours, once for dark and once for light surroundings, as the pages of the ledger have them.

Text stands out from every surface by 4.5 to 1, graphics and edges of controls by 3 to 1; hairlines
and the tracks of bars are decoration. A test holds each pair to that.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib.resources import files

BRIGHT = 0.03928
"""Where the sRGB curve bends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
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
    """Of controls that cannot be used now; no contrast is asked of it."""
    # graphics
    accent: str
    accent2: str
    ring: str
    """Around what has the keyboard."""
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


def _read(name: str) -> Tokens:
    text = (files("tequio_assets") / "theme.toml").read_text(encoding="utf-8")
    return Tokens(name=name, **tomllib.loads(text)[name])


DARK = _read("dark")
LIGHT = _read("light")


def contrast(one: str, other: str) -> float:
    """How far two colours stand apart by WCAG 2: from 1 to 21."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    red, green, blue = (_linear(int(colour[at : at + 2], 16) / 255) for at in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    return float(part / 12.92 if part <= BRIGHT else ((part + 0.055) / 1.055) ** 2.4)
