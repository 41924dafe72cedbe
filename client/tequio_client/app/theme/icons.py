"""Icons of the Lucide set, in any colour and cached, and the shapes that we draw ourselves.

The package stores its drawings in one archive; only those requested are read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import lru_cache
from importlib.resources import as_file, files
from typing import TYPE_CHECKING
from zipfile import ZipFile

from PySide6.QtCore import QByteArray, QPointF, QRectF, Qt
from PySide6.QtGui import (
    QColor,
    QGuiApplication,
    QIcon,
    QLinearGradient,
    QPainter,
    QPainterPath,
    QPainterPathStroker,
    QPixmap,
)

from tequio_client.app.theme import style
from tequio_client.ipc.snapshot import LendingState
from tequio_shared.avatar import svg
from tequio_shared.ids import key_from_text

if TYPE_CHECKING:
    from PySide6.QtSvg import QSvgRenderer

RATIOS = (1.0, 2.0)
"""Device pixel ratios that an icon contains; Qt scales the next greater one for those between."""


def forward() -> str:
    """The name of the arrow towards what comes next, in the direction of the app's language."""
    is_mirrored = QGuiApplication.layoutDirection() is Qt.LayoutDirection.RightToLeft
    return "arrow-left" if is_mirrored else "arrow-right"


@lru_cache(maxsize=256)
def icon(name: str, colour: str, size: int = style.ICON, gap: int = 0) -> QIcon:
    """Raises KeyError for a name that is not in the set; `gap` is as of `pixmap`."""
    made = QIcon()
    for ratio in RATIOS:
        made.addPixmap(pixmap(name, colour, size, ratio, gap))
    return made


@lru_cache(maxsize=256)
def pixmap(
    name: str, colour: str, size: int = style.ICON, ratio: float = 1.0, gap: int = 0
) -> QPixmap:
    """The icon as a picture for one device pixel ratio, with space after it, or before (< 0)."""
    drawing = _drawing(name, colour)
    made = QPixmap(round((size + abs(gap)) * ratio), round(size * ratio))
    made.setDevicePixelRatio(ratio)
    made.fill(Qt.GlobalColor.transparent)
    painter = QPainter(made)
    drawing.render(painter, QRectF(max(-gap, 0), 0, size, size))
    painter.end()
    return made


def draw_icon(painter: QPainter, name: str, colour: str, place: QRectF) -> None:
    _drawing(name, colour).render(painter, place)


@lru_cache(maxsize=256)
def _drawing(name: str, colour: str) -> QSvgRenderer:
    from PySide6.QtSvg import QSvgRenderer  # noqa: PLC0415 - a hidden app draws none of the set

    return QSvgRenderer(QByteArray(_markup(name).replace("currentColor", colour).encode()))


@lru_cache(maxsize=256)
def avatar(key: str, size: int) -> QIcon:
    """The picture of a key; raises MalformedError for a text that is not a key's."""
    from PySide6.QtSvg import QSvgRenderer  # noqa: PLC0415 - as above

    drawing = QSvgRenderer(QByteArray(svg(key_from_text(key), size).encode()))
    made = QIcon()
    for ratio in RATIOS:
        picture = QPixmap(round(size * ratio), round(size * ratio))
        picture.setDevicePixelRatio(ratio)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        drawing.render(painter, QRectF(0, 0, size, size))
        painter.end()
        made.addPixmap(picture)
    return made


@lru_cache(maxsize=128)
def _markup(name: str) -> str:
    text = _archive().read(f"{name}.svg").decode()
    return text.replace('stroke-width="2"', f'stroke-width="{style.ICON_STROKE}"')


@lru_cache(maxsize=1)
def _archive() -> ZipFile:
    """All icons of the set: the list of its 1,700 names is long to read, and takes 1 MB."""
    with as_file(files("lucide") / "lucide.zip") as path:
        return ZipFile(path)


def close_archive() -> None:
    """Free the list of names until an icon is drawn for the first time again."""
    if _archive.cache_info().currsize:
        _archive().close()
        _archive.cache_clear()


# States differ by shape, so that colour is never needed: lending is a filled disc, waiting a hollow
# ring, paused two bars, attention a triangle. The tray's colours contrast with dark and light
# panels, since no system tells which one it has.
TRAY_SIZES = (16, 22, 24, 32, 44, 48, 64)


class StateShape(StrEnum):
    DISC = "disc"
    RING = "ring"
    BARS = "bars"
    TRIANGLE = "triangle"


STATE_SHAPES = {
    LendingState.LENDING: StateShape.DISC,
    LendingState.FINISHING: StateShape.DISC,
    LendingState.WAITING: StateShape.RING,
    LendingState.PAUSED: StateShape.BARS,
    LendingState.SNOOZED: StateShape.BARS,
    LendingState.ATTENTION: StateShape.TRIANGLE,
}
TRAY_COLOURS = {
    StateShape.DISC: "#12986b",
    StateShape.RING: "#7c5cff",
    StateShape.BARS: "#858c9c",
    StateShape.TRIANGLE: "#d1740a",
}
LOGO_COLOURS = ("#7c5cff", "#22a6d8")
PETALS = 6
UNIT = 100.0
"""Side of the square in which shapes are described; a smaller one would lose its curves."""


def shape_path(shape: StateShape) -> QPainterPath:
    path = QPainterPath()
    if shape is StateShape.DISC:
        path.addEllipse(QRectF(10, 10, 80, 80))
    elif shape is StateShape.RING:
        path.addEllipse(QRectF(10, 10, 80, 80))
        path.addEllipse(QRectF(28, 28, 44, 44))
    elif shape is StateShape.BARS:
        path.addRoundedRect(QRectF(19, 12, 22, 76), 7, 7)
        path.addRoundedRect(QRectF(59, 12, 22, 76), 7, 7)
    else:
        return _triangle()
    return path


def _triangle() -> QPainterPath:
    outline = QPainterPath(QPointF(50, 16))
    for corner in ((88, 82), (12, 82)):
        outline.lineTo(*corner)
    outline.closeSubpath()
    stroker = QPainterPathStroker()
    stroker.setWidth(14)
    stroker.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    sign = QPainterPath()
    sign.addRoundedRect(QRectF(44.5, 36, 11, 25), 5, 5)
    sign.addEllipse(QPointF(50, 71.5), 6.2, 6.2)
    return outline.united(stroker.createStroke(outline)).subtracted(sign)


def draw_shape(painter: QPainter, shape: StateShape, colour: str, place: QRectF) -> None:
    _fill(painter, shape_path(shape), QColor(colour), place)


def draw_logo(painter: QPainter, place: QRectF) -> None:
    """Draw the logo: six discs around a seventh, connected."""
    colours = QLinearGradient(10, 5, 90, 95)
    for at, colour in zip((0.0, 1.0), LOGO_COLOURS, strict=True):
        colours.setColorAt(at, QColor(colour))
    _fill(painter, _logo_path(), colours, place)


def _fill(
    painter: QPainter, path: QPainterPath, brush: QColor | QLinearGradient, place: QRectF
) -> None:
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(place.topLeft())
    painter.scale(place.width() / UNIT, place.height() / UNIT)
    painter.fillPath(path, brush)
    painter.restore()


@lru_cache(maxsize=1)
def _logo_path() -> QPainterPath:
    middle, hands = QPointF(50, 50), QPainterPath()
    ends = [
        middle + QPointF(36 * math.sin(turn), -36 * math.cos(turn))
        for turn in (math.tau * petal / PETALS for petal in range(PETALS))
    ]
    hands.moveTo(ends[-1])
    for end in ends:
        hands.lineTo(end)
    stroker = QPainterPathStroker()
    stroker.setWidth(8.5)
    stroker.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    path = stroker.createStroke(hands)
    for end in ends:
        path = path.united(_disc(end, 12.5))
    return path.united(_disc(middle, 15))


def _disc(middle: QPointF, radius: float) -> QPainterPath:
    path = QPainterPath()
    path.addEllipse(middle, radius, radius)
    return path


@lru_cache(maxsize=16)
def tray_icon(state: LendingState) -> QIcon:
    shape = STATE_SHAPES[state]
    return _drawn(
        TRAY_SIZES, lambda painter, room: draw_shape(painter, shape, TRAY_COLOURS[shape], room)
    )


@lru_cache(maxsize=1)
def app_icon() -> QIcon:
    """The logo for windows and task bars."""
    return _drawn((*TRAY_SIZES, 128, 256), draw_logo)


def _drawn(sizes: Sequence[int], draw: Callable[[QPainter, QRectF], None]) -> QIcon:
    made = QIcon()
    for size in sizes:
        picture = QPixmap(size, size)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        draw(painter, QRectF(0, 0, size, size))
        painter.end()
        made.addPixmap(picture)
    return made
