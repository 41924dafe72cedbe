"""The outlines of a font, as line segments for `drawing`; fontTools reads its file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from io import BytesIO
from itertools import pairwise

import numpy as np
from fontTools.pens.recordingPen import RecordingPen
from numpy.typing import NDArray

from tequio_ledger.web.pages.static import CONTENT

Point = NDArray[np.float64] | tuple[float, float]
Segments = NDArray[np.float64]
"""Rows of x0, y0, x1, y1."""
STEPS = 6
"""Straight lines that draw a curve."""
_SPACE_EM = 0.25
_T = np.linspace(0, 1, STEPS + 1)[1:, None]
_WEIGHTS = np.hstack([(1 - _T) ** 3, 3 * _T * (1 - _T) ** 2, 3 * _T * _T * (1 - _T), _T**3])
"""Shares of a curve's four points in each point of its lines."""


@cache
def font(name: str) -> Font | None:
    """Read one of the pages' fonts; None if their package is missing."""
    return Font(CONTENT[name]) if name in CONTENT else None


class Font:
    """One font; glyphs are read when they are first drawn."""

    def __init__(self, raw: bytes) -> None:
        from fontTools.ttLib import TTFont  # noqa: PLC0415 - most ledgers draw no card, at first

        file = TTFont(BytesIO(raw), lazy=True)
        self._units: int = file["head"].unitsPerEm
        self._names = file.getBestCmap() or {}
        self._glyphs = file.getGlyphSet()
        self._drawn: dict[str, Segments] = {}

    def covers(self, text: str) -> bool:
        """Report whether the font has every character of a text."""
        return all(ord(char) in self._names for char in text)

    def width(self, text: str, size: float) -> float:
        """Give the width of a text in pixels; `size` is that of an em."""
        return sum(self._advance(char) for char in text) * size

    def outline(self, text: str, size: float, x: float, y: float) -> Segments:
        """Outline a text that begins at x, on the base line y; y grows downwards."""
        parts, scale = [np.empty((0, 4))], size / self._units
        for char in text:
            name = self._names.get(ord(char))
            if name is not None:
                parts.append(self._outline(name) * [scale, -scale, scale, -scale] + [x, y, x, y])
            x += self._advance(char) * size
        return np.concatenate(parts)

    def _advance(self, char: str) -> float:
        """Give the width of a character in ems; an unknown one leaves a gap."""
        name = self._names.get(ord(char))
        return _SPACE_EM if name is None else self._glyphs[name].width / self._units

    def _outline(self, name: str) -> Segments:
        if name not in self._drawn:
            pen = RecordingPen()
            self._glyphs[name].draw(pen)
            rows = [row for contour in _contours(pen.value) for row in pairwise(contour)]
            self._drawn[name] = np.array(rows, dtype=np.float64).reshape(-1, 4)
        return self._drawn[name]


def _contours(drawn: Iterable[tuple[str, tuple[Point, ...]]]) -> Iterator[list[Point]]:
    """Give the points of each contour, the first one again at its end."""
    contour: list[Point] = []
    for step, points in drawn:
        match step:
            case "moveTo":
                contour = [*points]
            case "lineTo":
                contour += points
            case "curveTo":
                contour.extend(_WEIGHTS @ np.array([contour[-1], *points]))
            case "closePath":
                yield [*contour, contour[0]]
