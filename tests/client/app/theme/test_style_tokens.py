"""The colours can be told apart: WCAG 2 contrast of every pair that is used."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from tequio_client.app.theme.style import DARK, LIGHT, ColourTokens
from tests.support.window_contents import contrast

SURFACES = ("page", "side", "card", "hover")
TEXTS = ("text", "text_sub", "text_accent", "ok", "warn", "danger")
GRAPHICS = ("edge", "accent", "accent2", "ring", "ok", "warn", "danger")
SOFT = (
    ("accent_soft", "text_accent"),
    ("ok_soft", "ok"),
    ("warn_soft", "warn"),
    ("danger_soft", "danger"),
)
BUTTONS = ("button", "button_hover", "button_down")
THEMES = pytest.mark.parametrize("tokens", [DARK, LIGHT], ids=lambda tokens: tokens.name)


@THEMES
@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("text", TEXTS)
def test_text_stands_out_from_every_surface(tokens: ColourTokens, text: str, surface: str) -> None:
    colours = asdict(tokens)
    assert contrast(colours[text], colours[surface]) >= 4.5


@THEMES
@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("graphic", GRAPHICS)
def test_graphics_stand_out_from_every_surface(
    tokens: ColourTokens, graphic: str, surface: str
) -> None:
    colours = asdict(tokens)
    assert contrast(colours[graphic], colours[surface]) >= 3.0


@THEMES
@pytest.mark.parametrize(("ground", "word"), SOFT)
def test_words_stand_out_from_their_soft_ground(
    tokens: ColourTokens, ground: str, word: str
) -> None:
    colours = asdict(tokens)
    assert contrast(colours[word], colours[ground]) >= 4.5
    assert contrast(colours["text"], colours[ground]) >= 4.5


@THEMES
@pytest.mark.parametrize("button", BUTTONS)
def test_the_primary_button_can_be_read_in_each_of_its_states(
    tokens: ColourTokens, button: str
) -> None:
    assert contrast(tokens.on_button, asdict(tokens)[button]) >= 4.5


@THEMES
@pytest.mark.parametrize("bar", ["accent", "accent2", "warn"])
def test_a_bar_stands_out_from_its_track(tokens: ColourTokens, bar: str) -> None:
    assert contrast(asdict(tokens)[bar], tokens.track) >= 2.9


def test_contrast_is_that_of_wcag() -> None:
    assert contrast("#ffffff", "#000000") == pytest.approx(21.0)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)
    assert contrast("#123456", "#123456") == 1.0
