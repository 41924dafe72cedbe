"""One look for the whole application, changed while it runs; shapes that need no colour."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFontDatabase, QFontInfo, QFontMetricsF, QImage, QPainter
from PySide6.QtWidgets import QLabel

from tequio_client.app.pages import PAGES
from tequio_client.app.theme import icons, style
from tequio_client.app.theme.look import Appearance, current_tokens
from tequio_client.app.theme.style import DARK, LIGHT, style_sheet
from tequio_client.ipc.snapshot import LendingState
from tests.support.window_contents import contrast

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtWidgets import QApplication
    from pytestqt.qtbot import QtBot

    from tequio_client.app.pages import PageEntry
    from tequio_client.app.theme.look import Theme
    from tequio_client.app.theme.style import ColourTokens

pytestmark = pytest.mark.usefixtures("theme")
PANELS = ("#1e1e1e", "#2d2d2d", "#f2f2f2", "#ffffff")
SHAPED = (LendingState.LENDING, LendingState.WAITING, LendingState.PAUSED, LendingState.ATTENTION)


@pytest.fixture(autouse=True)
def _dark_again(theme: Theme) -> Iterator[None]:
    yield
    theme.choose(Appearance.DARK)


def test_a_choice_changes_every_widget_at_once(theme: Theme, qtbot: QtBot) -> None:
    label = QLabel("x")
    qtbot.addWidget(label)
    label.ensurePolished()
    with qtbot.waitSignal(theme.changed) as signal:
        theme.choose(Appearance.LIGHT)
    assert signal.args == [LIGHT]
    assert current_tokens() is LIGHT
    assert label.palette().windowText().color() == QColor(LIGHT.text)
    theme.choose(Appearance.DARK)
    assert label.palette().windowText().color() == QColor(DARK.text)


def test_the_same_choice_again_changes_nothing(theme: Theme, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(theme.changed):
        theme.choose(Appearance.DARK)


def test_the_system_is_followed_unless_a_choice_was_made(theme: Theme, qapp: QApplication) -> None:
    theme.choose(Appearance.SYSTEM)
    hints = qapp.styleHints()
    hints.colorSchemeChanged.emit(Qt.ColorScheme.Light)  # as the system's switch does
    assert current_tokens() is LIGHT
    hints.colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert current_tokens() is DARK
    theme.choose(Appearance.LIGHT)
    hints.colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert current_tokens() is LIGHT


@pytest.mark.parametrize("colours", [DARK, LIGHT], ids=lambda colours: colours.name)
def test_the_style_sheet_has_no_place_left_open(colours: ColourTokens) -> None:
    assert "$" not in style_sheet(colours)


def test_the_typeface_is_ours_and_figures_are_of_one_width() -> None:
    assert style.FAMILY in QFontDatabase.families()
    for kind in style.TextStyle:
        font = style.font(kind)
        assert QFontInfo(font).family() == style.FAMILY
        assert QFontInfo(font).pixelSize() == kind.value[0]
        metrics = QFontMetricsF(font)
        ones, noughts = metrics.horizontalAdvance("1111"), metrics.horizontalAdvance("0000")
        assert ones == pytest.approx(noughts, abs=0.1)


@pytest.mark.parametrize("entry", PAGES, ids=lambda entry: entry.name)
def test_each_page_has_an_icon(entry: PageEntry) -> None:
    picture = icons.pixmap(entry.picture, "#ff0000", 18, 2.0)
    assert (picture.width(), picture.devicePixelRatio()) == (36, 2.0)
    assert _inked(picture.toImage(), "#ff0000") > 20


def test_an_icon_that_the_set_lacks_is_an_error() -> None:
    with pytest.raises(KeyError):
        icons.icon("no-such-icon", "#ffffff")


@pytest.mark.parametrize("size", [16, 22, 32])
def test_states_differ_by_shape_and_not_only_by_colour(size: int) -> None:
    masks = {state: _mask(state, size) for state in SHAPED}
    for one, other in combinations(SHAPED, 2):
        different = sum(a != b for a, b in zip(masks[one], masks[other], strict=True))
        assert different >= size * size * 0.12, (one, other)


@pytest.mark.parametrize("panel", PANELS)
@pytest.mark.parametrize("shape", list(icons.StateShape))
def test_a_tray_icon_stands_out_from_dark_and_light_panels(
    shape: icons.StateShape, panel: str
) -> None:
    assert contrast(icons.TRAY_COLOURS[shape], panel) >= 3.0


def test_every_state_has_a_shape_and_every_size_a_picture() -> None:
    assert set(icons.STATE_SHAPES) == set(LendingState)
    for state in LendingState:
        sizes = {size.width() for size in icons.tray_icon(state).availableSizes()}
        assert sizes == set(icons.TRAY_SIZES)


def _mask(state: LendingState, size: int) -> list[bool]:
    image = QImage(size, size, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    icons.tray_icon(state).paint(painter, 0, 0, size, size)
    painter.end()
    return [image.pixelColor(x, y).alpha() > 127 for y in range(size) for x in range(size)]


def _inked(image: QImage, colour: str) -> int:
    wanted = QColor(colour)
    return sum(
        image.pixelColor(x, y) == wanted
        for x in range(image.width())
        for y in range(image.height())
    )
