"""Icons of the Lucide set, drawn in any colour and kept once drawn.

The package keeps its drawings in one archive; only those that are asked for are read.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from zipfile import ZipFile

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from tequio_client.app.theme import sizes

RATIOS = (1.0, 2.0)
"""Device pixel ratios that an icon holds; Qt scales the greater one for those between."""


@lru_cache(maxsize=256)
def icon(name: str, colour: str, size: int = sizes.ICON) -> QIcon:
    """The icon of that name in that colour; raises KeyError for a name that the set lacks."""
    made = QIcon()
    for ratio in RATIOS:
        made.addPixmap(pixmap(name, colour, size, ratio))
    return made


@lru_cache(maxsize=256)
def pixmap(name: str, colour: str, size: int = sizes.ICON, ratio: float = 1.0) -> QPixmap:
    """The same as a picture for one device pixel ratio."""
    drawing = _drawing(name, colour)
    made = QPixmap(round(size * ratio), round(size * ratio))
    made.setDevicePixelRatio(ratio)
    made.fill(Qt.GlobalColor.transparent)
    painter = QPainter(made)
    drawing.render(painter, QRectF(0, 0, size, size))
    painter.end()
    return made


def draw(painter: QPainter, name: str, colour: str, place: QRectF) -> None:
    """Draw the icon of that name into the place."""
    _drawing(name, colour).render(painter, place)


def _drawing(name: str, colour: str) -> QSvgRenderer:
    return QSvgRenderer(QByteArray(_markup(name).replace("currentColor", colour).encode()))


@lru_cache(maxsize=128)
def _markup(name: str) -> str:
    with (files("lucide") / "lucide.zip").open("rb") as archive, ZipFile(archive) as drawings:
        text = drawings.read(f"{name}.svg").decode()
    return text.replace('stroke-width="2"', f'stroke-width="{sizes.ICON_STROKE}"')
