"""The colours, once for dark and once for light surroundings.

Text stands out from every surface by 4.5 to 1, graphics and edges of controls by 3 to 1; hairlines
and the tracks of bars are decoration. A test holds each pair to that.
"""

from __future__ import annotations

from dataclasses import dataclass

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


DARK = Tokens(
    name="dark",
    page="#0f1117",
    side="#0b0d12",
    card="#171a22",
    hover="#1e222d",
    down="#252a36",
    hairline="#252a36",
    track="#252a36",
    edge="#667085",
    text="#e8eaf0",
    text_sub="#8b93a7",
    text_accent="#9d85ff",
    text_off="#596173",
    accent="#7c5cff",
    accent2="#22d3ee",
    ring="#9d85ff",
    button="#6a47ff",
    button_hover="#7453ff",
    button_down="#5a37ef",
    on_button="#ffffff",
    ok="#34d399",
    warn="#fbbf24",
    danger="#f87171",
    accent_soft="#1d1b33",
    ok_soft="#142823",
    warn_soft="#2a2316",
    danger_soft="#2c1a1f",
)
LIGHT = Tokens(
    name="light",
    page="#f5f6fa",
    side="#ffffff",
    card="#ffffff",
    hover="#eef0f6",
    down="#e3e6ee",
    hairline="#e3e6ee",
    track="#e3e6ee",
    edge="#7f889b",
    text="#161a24",
    text_sub="#5d6679",
    text_accent="#5b38f0",
    text_off="#a3aab9",
    accent="#6a47ff",
    accent2="#0e7490",
    ring="#5b38f0",
    button="#6a47ff",
    button_hover="#5a37ef",
    button_down="#4f2fd6",
    on_button="#ffffff",
    ok="#047857",
    warn="#a34a08",
    danger="#b91c1c",
    accent_soft="#f0edff",
    ok_soft="#e7f6f0",
    warn_soft="#fdf3e3",
    danger_soft="#fdecec",
)


def contrast(one: str, other: str) -> float:
    """How far two colours stand apart by WCAG 2: from 1 to 21."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    red, green, blue = (_linear(int(colour[at : at + 2], 16) / 255) for at in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    return float(part / 12.92 if part <= BRIGHT else ((part + 0.055) / 1.055) ** 2.4)
