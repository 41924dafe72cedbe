"""The charts' smooth line as an SVG path."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_shared import curve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tequio_shared.curve import Point


def smooth(points: Sequence[Point]) -> str:
    """The line through the points, whose x must rise; none: an empty path."""
    if not points:
        return ""
    pieces = ("C" + " ".join(map(_pair, piece)) for piece in curve.smooth(points))
    return f"M{_pair(points[0])}" + "".join(pieces)


def _pair(point: Point) -> str:
    return f"{point[0]:.1f},{point[1]:.1f}"
