"""Pictures of keys: the same everywhere, and visible on every ground."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from tequio_shared.avatar import GROUNDS, INK, SIDE, picture, svg
from tequio_shared.ids import PeerKey

KEYS = [PeerKey(bytes([at]) * 32) for at in range(200)]
LIGHT, DARK = "#ffffff", "#16181d"


def luminance(colour: str) -> float:
    """WCAG 2.2, relative luminance."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        one / 12.92 if one <= 0.03928 else ((one + 0.055) / 1.055) ** 2.4 for one in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("ground", GROUNDS)
def test_figure_and_ground_are_easily_told_apart(ground: str) -> None:
    assert contrast(INK, ground) > 4.5
    assert min(contrast(ground, one) for one in (LIGHT, DARK)) > 3


def test_a_key_has_one_picture() -> None:
    key = KEYS[7]
    assert picture(key) == (
        "#4367d3",
        "M6 6L2 6L2 2L6 2ZM18 6L18 2L22 2L22 6ZM18 18L22 18L22 22L18 22ZM6 18L6 22L2 22L2 18Z"
        "M16 8L8 4L8 0L12 0ZM16 16L20 8L24 8L24 12ZM8 16L16 20L16 24L12 24ZM8 8L4 16L0 16L0 12Z"
        "M8 8L16 8L16 16L8 16Z",
    )
    assert len({picture(one) for one in KEYS}) > len(KEYS) - 3


def test_figures_stay_in_the_square() -> None:
    for key in KEYS:
        path = picture(key)[1]
        numbers = [
            int(one) for one in path.replace("M", " ").replace("L", " ").replace("Z", " ").split()
        ]
        assert min(numbers) >= 0
        assert max(numbers) <= SIDE


def test_the_drawing_is_plain_svg() -> None:
    drawn = ET.fromstring(svg(KEYS[1], 40))  # noqa: S314 - made here
    assert drawn.get("width") == drawn.get("height") == "40"
    assert [one.tag.rpartition("}")[2] for one in drawn] == ["rect", "path"]
