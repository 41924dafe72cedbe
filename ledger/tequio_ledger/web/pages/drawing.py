"""Draws pictures without a graphics library: shapes with smooth edges, as PNG.

Theory. A shape is a set of directed lines. Along each of `SUBROWS` lines of sight per row of
pixels, the lines that cross it are noted with their direction, weighted by the part of the pixel
that lies behind them; running sums from left to right then tell how often the shape winds around
each pixel. What it winds around at all is filled, so shapes may overlap themselves.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tequio_ledger.web.pages.outlines import Segments

SUBROWS = 4
_CORNERS = 48
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_RGB = 2
_LEVEL = 6

Point = tuple[float, float]


class Canvas:
    """A picture in the making: rows of pixels, each red, green and blue from 0 to 255."""

    def __init__(self, width: int, height: int, colour: str) -> None:
        self.pixels = np.empty((height, width, 3), dtype=np.float32)
        self.pixels[:] = parse_colour(colour)

    def fill(self, shape: Segments, *colours: str, opacity: float = 1.0) -> None:
        """Fill a shape with a colour, or with a gradient of two from left to right."""
        height, width, _ = self.pixels.shape
        if not len(shape):
            return
        left = max(math.floor(shape[:, [0, 2]].min()), 0)
        right = min(math.ceil(shape[:, [0, 2]].max()) + 1, width)
        top = max(math.floor(shape[:, [1, 3]].min()), 0)
        bottom = min(math.ceil(shape[:, [1, 3]].max()) + 1, height)
        if left >= right or top >= bottom:
            return
        covered = _coverage(shape - [left, top, left, top], right - left, bottom - top) * opacity
        ends = [parse_colour(one) for one in (colours[0], colours[-1])]
        share = np.linspace(0, 1, right - left, dtype=np.float32)[:, None]
        paint = ends[0] * (1 - share) + ends[1] * share
        part = self.pixels[top:bottom, left:right]
        part += covered[:, :, None] * (paint - part)

    def png(self) -> bytes:
        """Encode the picture."""
        height, width, _ = self.pixels.shape
        rows = np.zeros((height, 1 + 3 * width), dtype=np.uint8)  # each begins with filter 0: none
        rows[:, 1:] = self.pixels.round().astype(np.uint8).reshape(height, -1)
        header = struct.pack(">IIBBBBB", width, height, 8, _RGB, 0, 0, 0)
        data = zlib.compress(rows.tobytes(), _LEVEL)
        chunks = ((b"IHDR", header), (b"IDAT", data), (b"IEND", b""))
        return _SIGNATURE + b"".join(_chunk(*one) for one in chunks)


def _chunk(kind: bytes, content: bytes) -> bytes:
    check = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)


def parse_colour(text: str) -> NDArray[np.float32]:
    """Read a colour such as #1a2b3c."""
    return np.array(list(bytes.fromhex(text[1:])), dtype=np.float32)


def _coverage(shape: Segments, width: int, height: int) -> NDArray[np.float32]:
    """Give the covered part of each pixel of a picture, from 0 to 1."""
    x0, y0, x1, y1 = shape.T
    way = np.where(y1 > y0, 1.0, -1.0)
    low, high = np.minimum(y0, y1) * SUBROWS - 0.5, np.maximum(y0, y1) * SUBROWS - 0.5
    first = np.clip(np.ceil(low), 0, height * SUBROWS).astype(np.int64)
    counts = np.clip(np.ceil(high), 0, height * SUBROWS).astype(np.int64) - first
    line = np.repeat(np.arange(len(shape)), counts)
    row = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + first[line]
    y = (row + 0.5) / SUBROWS
    x = x0[line] + (y - y0[line]) / (y1 - y0)[line] * (x1 - x0)[line]
    x = np.clip(x, 0, width)
    column = np.floor(x).astype(np.int64)
    behind = 1 - (x - column)
    winds = np.zeros((height * SUBROWS, width + 2), dtype=np.float32)
    np.add.at(winds, (row, column), way[line] * behind)
    np.add.at(winds, (row, column + 1), way[line] * (1 - behind))
    filled = np.minimum(np.abs(np.cumsum(winds, axis=1)[:, :width]), 1)
    covered: NDArray[np.float32] = filled.reshape(height, SUBROWS, width).mean(axis=1)
    return covered


# --- Shapes. All have the same direction, so that those which overlap add up.


def polygon(points: Sequence[Point]) -> Segments:
    made = np.array(points, dtype=np.float64)
    return np.hstack([made, np.roll(made, -1, axis=0)])


def rectangle(x: float, y: float, width: float, height: float) -> Segments:
    return polygon([(x, y), (x + width, y), (x + width, y + height), (x, y + height)])


def circle(x: float, y: float, radius: float) -> Segments:
    turns = [2 * math.pi * at / _CORNERS for at in range(_CORNERS)]
    return polygon([(x + radius * math.cos(one), y + radius * math.sin(one)) for one in turns])


def rounded(x: float, y: float, side: float, radius: float) -> Segments:
    """Draw a square with round corners."""
    near, far = radius, side - radius
    cross = (rectangle(x + near, y, far - near, side), rectangle(x, y + near, side, far - near))
    corners = (circle(x + a, y + b, radius) for a in (near, far) for b in (near, far))
    return np.concatenate([*cross, *corners])


def ring(x: float, y: float, radius: float, width: float) -> Segments:
    """Draw a circle as a line of some width."""
    inner = circle(x, y, radius - width / 2)[:, [2, 3, 0, 1]]  # backwards: it is cut out
    return np.concatenate([circle(x, y, radius + width / 2), inner])


def stroke(points: Sequence[Point], width: float) -> Segments:
    """Draw a line through points, with round corners and ends."""
    half, parts = width / 2, [circle(*one, width / 2) for one in points]
    for (ax, ay), (bx, by) in pairwise(points):
        length = math.hypot(bx - ax, by - ay)
        if length:
            nx, ny = (by - ay) / length * half, (ax - bx) / length * half
            corners = [
                (ax + nx, ay + ny),
                (bx + nx, by + ny),
                (bx - nx, by - ny),
                (ax - nx, ay - ny),
            ]
            parts.append(polygon(corners))
    return np.concatenate(parts)
