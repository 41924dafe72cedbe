"""The picture of a key: a small geometric figure, the same wherever the key is shown.

Nine tiles form a square. The four corner tiles are one figure, turned by a quarter each time; so
are the four edge tiles. Figures, turns and the colour of the ground follow from the SHA-256 of the
key. All grounds have nearly the same luminance: the white figures have a contrast of more than
4.5 to 1 on them, and they themselves more than 3 to 1 on the grounds of pages and app, in light and
in dark.

The picture helps to recognise a key and proves nothing: there are some 200,000 pictures, and anyone
can look for a key whose picture is like another one's.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from tequio_shared.ids import sha256

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tequio_shared.ids import PeerKey

SIDE = 24
"""Width and height of a picture, in the units of its path."""
INK = "#ffffff"
GROUNDS = (
    *("#ce3030", "#a95828", "#846b1f", "#69741b", "#4b7a1d", "#2a7e1e", "#1e7e36", "#1d7c59"),
    *("#1d7a7a", "#2674a3", "#4367d3", "#6a5bd8", "#8f4ad4", "#b22ec5", "#c02d9b", "#c92f69"),
)
"""Colours of the ground: sixteen hues of one luminance."""
REMEMBERED = 4_096
"""Pictures that are kept in memory; each has some 300 bytes."""

_FIGURES = (
    # Polygons by their corners, on a grid of 4 by 4 for each tile.
    ("00 40 04",),
    ("00 40 24",),
    ("20 42 24 02",),
    ("11 31 33 13",),
    ("00 40 42 02",),
    ("00 20 22 02",),
    ("00 20 02", "44 24 42"),
    ("00 40 22 44 04",),
    ("00 42 44 24",),
    ("00 22 04", "40 44 22"),
    ("00 40 31 13 04",),
    ("00 20 04 02", "24 40 44"),
)
_CENTRES = ((), ("20 42 24 02",), ("11 31 33 13",), ("00 40 44 04",), _FIGURES[9], ("10 30 34 14",))
_CORNERS, _EDGES = ((0, 0), (2, 0), (2, 2), (0, 2)), ((1, 0), (2, 1), (1, 2), (0, 1))
"""Tiles by column and row, each a quarter turn after the one before it."""
_GRID, _UNIT = 4, 2
"""Steps of a tile's grid, and the length of one in units of the path."""
_QUARTERS = 4


@lru_cache(REMEMBERED)
def picture(key: PeerKey) -> tuple[str, str]:
    """Give the colour of the ground, and the figures as an SVG path in a square of `SIDE`."""
    ground, figures = polygons(key)
    return ground, "".join(f"M{'L'.join(f'{x} {y}' for x, y in corners)}Z" for corners in figures)


def polygons(key: PeerKey) -> tuple[str, list[list[tuple[int, int]]]]:
    """Give the colour of the ground, and the figures by their corners in a square of `SIDE`."""
    corner, edge, centre, turn, other, ground = sha256(key)[:6]
    tiles = [
        *_around(_CORNERS, _FIGURES[corner % len(_FIGURES)], turn % _QUARTERS),
        *_around(_EDGES, _FIGURES[edge % len(_FIGURES)], other % _QUARTERS),
        ((1, 1), _CENTRES[centre % len(_CENTRES)], 0),
    ]
    figures = [_placed(tile, one, turns) for tile, figure, turns in tiles for one in figure]
    return GROUNDS[ground % len(GROUNDS)], figures


def svg(key: PeerKey, size: int) -> str:
    """Draw the picture of a key as SVG, `size` pixels wide; it has no name for screen readers."""
    ground, path = picture(key)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="avatar" width="{size}" height="{size}" '
        f'viewBox="0 0 {SIDE} {SIDE}" aria-hidden="true" focusable="false">'
        f'<rect width="{SIDE}" height="{SIDE}" rx="6" fill="{ground}"/>'
        f'<path transform="translate(3 3) scale(.75)" fill="{INK}" d="{path}"/></svg>'
    )


_Placed = tuple[tuple[int, int], tuple[str, ...], int]


def _around(
    places: tuple[tuple[int, int], ...], figure: tuple[str, ...], turn: int
) -> list[_Placed]:
    return [(place, figure, turn + at) for at, place in enumerate(places)]


def _placed(tile: tuple[int, int], polygon: str, turns: int) -> list[tuple[int, int]]:
    column, row = tile
    return [
        ((column * _GRID + x) * _UNIT, (row * _GRID + y) * _UNIT)
        for x, y in _turned(polygon, turns)
    ]


def _turned(polygon: str, turns: int) -> Iterator[tuple[int, int]]:
    for corner in polygon.split():
        x, y = int(corner[0]), int(corner[1])
        for _ in range(turns % _QUARTERS):
            x, y = _GRID - y, x
        yield x, y
