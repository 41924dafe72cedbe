"""The outlines of an OpenType font with cubic curves (CFF), as line segments for `drawing`.

A font file is a list of tables. `cmap` maps characters to glyphs, `hmtx` gives their widths, and
`CFF ` holds one small program per glyph, a charstring, for a machine with a stack: numbers are
pushed, and an operator draws with all of them. Hints, which serve screens of few pixels, are
skipped. (OpenType 1.9; Adobe technical notes 5176 and 5177)

The fonts are installed files that this project depends on, never uploads: a damaged one raises
whatever Python raises.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tequio_ledger.web.pages.static import CONTENT

Segments = NDArray[np.float64]
"""Rows of x0, y0, x1, y1."""
STEPS = 6
"""Straight lines that draw a curve."""
_SPACE_EM = 0.25
_STEMS, _MASKS = {1, 3, 18, 23}, {19, 20}
_CALLS = {10: 0, 29: 1}
_RETURN, _END = 11, 14
_SHORT, _FIXED, _ESCAPE = 28, 255, 12
_CHAR_STRINGS, _PRIVATE, _SUBROUTINES = 17, 18, 19


@cache
def font(name: str) -> Font | None:
    """Read one of the pages' fonts; None if their package is missing."""
    return Font(CONTENT[name]) if name in CONTENT else None


class Font:
    """One font; glyphs are read when they are first drawn."""

    def __init__(self, raw: bytes) -> None:
        count = struct.unpack_from(">H", raw, 4)[0]
        records = [struct.unpack_from(">4sIII", raw, 12 + 16 * at) for at in range(count)]
        tables = {tag: raw[start : start + size] for tag, _, start, size in records}
        self._units: int = struct.unpack_from(">H", tables[b"head"], 18)[0]
        metrics = struct.unpack_from(">H", tables[b"hhea"], 34)[0]
        self._widths: list[int] = [
            struct.unpack_from(">H", tables[b"hmtx"], 4 * at)[0] for at in range(metrics)
        ]
        self._glyphs = _characters(tables[b"cmap"])
        cff = tables[b"CFF "]
        _, at = _index(cff, cff[2])
        tops, at = _index(cff, at)
        _, at = _index(cff, at)
        shared, _ = _index(cff, at)
        top = _dictionary(tops[0])
        self._programs, _ = _index(cff, top[_CHAR_STRINGS][0])
        size, start = top[_PRIVATE]
        own = _dictionary(cff[start : start + size]).get(_SUBROUTINES)
        self._subroutines = (_index(cff, start + own[0])[0] if own else [], shared)
        self._drawn: dict[int, Segments] = {}

    def covers(self, text: str) -> bool:
        """Report whether the font has every character of a text."""
        return all(ord(char) in self._glyphs for char in text)

    def width(self, text: str, size: float) -> float:
        """Give the width of a text in pixels; `size` is that of an em."""
        return sum(self._advance(char) for char in text) * size

    def outline(self, text: str, size: float, x: float, y: float) -> Segments:
        """Outline a text that begins at x, on the base line y; y grows downwards."""
        parts, scale = [np.empty((0, 4))], size / self._units
        for char in text:
            glyph = self._glyphs.get(ord(char))
            if glyph is not None:
                parts.append(self._outline(glyph) * [scale, -scale, scale, -scale] + [x, y, x, y])
            x += self._advance(char) * size
        return np.concatenate(parts)

    def _advance(self, char: str) -> float:
        """Give the width of a character in ems; an unknown one leaves a gap."""
        glyph = self._glyphs.get(ord(char))
        if glyph is None:
            return _SPACE_EM
        return self._widths[min(glyph, len(self._widths) - 1)] / self._units

    def _outline(self, glyph: int) -> Segments:
        if glyph not in self._drawn:
            pen = _Pen(self._subroutines)
            pen.run(self._programs[glyph])
            self._drawn[glyph] = pen.segments()
        return self._drawn[glyph]


def _characters(cmap: bytes) -> dict[int, int]:
    """Read glyphs by code point, from the table for the basic multilingual plane."""
    count = struct.unpack_from(">H", cmap, 2)[0]
    starts = {struct.unpack_from(">I", cmap, 8 + 8 * at)[0] for at in range(count)}
    start = next(one for one in starts if struct.unpack_from(">H", cmap, one)[0] == 4)  # noqa: PLR2004 - the format
    segments = struct.unpack_from(">H", cmap, start + 6)[0] // 2

    def column(at: int, kind: str = "H") -> tuple[int, ...]:
        return struct.unpack_from(f">{segments}{kind}", cmap, start + at)

    ends, begins = column(14), column(16 + 2 * segments)
    deltas, offsets = column(16 + 4 * segments, "h"), column(16 + 6 * segments)
    found = {}
    for at, (first, last, delta, offset) in enumerate(
        zip(begins, ends, deltas, offsets, strict=True)
    ):
        for code in range(first, min(last, 0xFFFE) + 1):
            glyph = code
            if offset:
                place = start + 16 + 6 * segments + 2 * at + offset + 2 * (code - first)
                glyph = struct.unpack_from(">H", cmap, place)[0]
            if glyph:
                found[code] = (glyph + delta) & 0xFFFF
    return found


def _index(raw: bytes, at: int) -> tuple[list[bytes], int]:
    """Read a list of byte strings, and the place behind it."""
    count = struct.unpack_from(">H", raw, at)[0]
    if not count:
        return [], at + 2
    size, first = raw[at + 2], at + 3
    places = [
        int.from_bytes(raw[first + size * one : first + size * (one + 1)], "big")
        for one in range(count + 1)
    ]
    base = first + size * (count + 1) - 1
    items = [raw[base + a : base + b] for a, b in pairwise(places)]
    return items, base + places[-1]


def _dictionary(raw: bytes) -> dict[int, list[int]]:
    """Read operators with their whole numbers; real numbers are skipped."""
    found, stack, at = dict[int, list[int]](), list[int](), 0
    while at < len(raw):
        first = raw[at]
        if first == 30:  # noqa: PLR2004 - a real number ends with the half byte 15
            while raw[at + 1] & 15 != 15 and raw[at + 1] >> 4 != 15:  # noqa: PLR2004
                at += 1
            at += 2
        elif first == 29:  # noqa: PLR2004 - a number of four bytes
            stack.append(struct.unpack_from(">i", raw, at + 1)[0])
            at += 5
        elif first >= 32 or first == _SHORT:  # noqa: PLR2004 - see `_number`
            value, at = _number(raw, at)
            stack.append(int(value))
        else:
            at += 2 if first == _ESCAPE else 1
            found[256 + raw[at - 1] if first == _ESCAPE else first] = stack
            stack = []
    return found


def _number(raw: bytes, at: int) -> tuple[float, int]:
    """Read a number, and the place behind it."""
    first = raw[at]
    if first == _SHORT:
        return struct.unpack_from(">h", raw, at + 1)[0], at + 3
    if first == _FIXED:
        return struct.unpack_from(">i", raw, at + 1)[0] / 65_536, at + 5
    if first < 247:  # noqa: PLR2004 - the ranges of the format, here and below
        return first - 139, at + 1
    if first < 251:  # noqa: PLR2004
        return (first - 247) * 256 + raw[at + 1] + 108, at + 2
    return -(first - 251) * 256 - raw[at + 1] - 108, at + 2


class _Pen:
    """Runs the program of one glyph."""

    def __init__(self, subroutines: tuple[list[bytes], list[bytes]]) -> None:
        self._subroutines = subroutines
        self._stack: list[float] = []
        self._stems = 0
        self._x = self._y = 0.0
        self._contours: list[list[tuple[float, float]]] = []

    def segments(self) -> Segments:
        """Give all contours, each closed."""
        rows = [
            (*a, *b) for one in self._contours for a, b in zip(one, [*one[1:], one[0]], strict=True)
        ]
        return np.array(rows, dtype=np.float64).reshape(-1, 4)

    def run(self, program: bytes) -> bool:
        """Run a program or subroutine; False when the glyph is complete."""
        at = 0
        while at < len(program):
            first = program[at]
            if first >= 32 or first == _SHORT:  # noqa: PLR2004 - see `_number`
                value, at = _number(program, at)
                self._stack.append(value)
                continue
            at += 1
            if first in _CALLS:
                called = self._subroutines[_CALLS[first]]
                bias = 107 if len(called) < 1_240 else 1_131 if len(called) < 33_900 else 32_768  # noqa: PLR2004
                if not self.run(called[int(self._stack.pop()) + bias]):
                    return False
            elif first == _RETURN:
                return True
            elif first == _END:
                return False
            elif first in _STEMS or first in _MASKS:
                self._stems += len(self._stack) // 2
                self._stack.clear()
                at += (self._stems + 7) // 8 if first in _MASKS else 0
            else:
                code = 256 + program[at] if first == _ESCAPE else first
                at += first == _ESCAPE
                self._draw(code)
                self._stack.clear()
        return True

    def _draw(self, code: int) -> None:
        if code not in _OPERATORS:
            raise ValueError(f"the font uses operator {code} of charstrings, which draws nothing")
        _OPERATORS[code](self, self._stack)

    def move(self, dx: float, dy: float) -> None:
        self._x, self._y = self._x + dx, self._y + dy
        self._contours.append([(self._x, self._y)])

    def _line(self, dx: float, dy: float) -> None:
        self._x, self._y = self._x + dx, self._y + dy
        self._contours[-1].append((self._x, self._y))

    def lines(self, numbers: list[float]) -> None:
        for at in range(0, len(numbers), 2):
            self._line(*numbers[at : at + 2])

    def curves(self, numbers: list[float]) -> None:
        for at in range(0, len(numbers), 6):
            self._curve(*numbers[at : at + 6])

    def curves_and_line(self, numbers: list[float]) -> None:
        self.curves(numbers[:-2])
        self.lines(numbers[-2:])

    def lines_and_curve(self, numbers: list[float]) -> None:
        self.lines(numbers[:-6])
        self.curves(numbers[-6:])

    def _curve(self, *d: float) -> None:
        """Draw a curve by the distances of its points, each from the one before."""
        x, y = [self._x], [self._y]
        for at in range(0, 6, 2):
            x.append(x[-1] + d[at])
            y.append(y[-1] + d[at + 1])
        for step in range(1, STEPS + 1):
            t = step / STEPS
            weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
            at_t = (sum(w * p for w, p in zip(weights, axis, strict=True)) for axis in (x, y))
            self._contours[-1].append((next(at_t), next(at_t)))
        self._x, self._y = x[-1], y[-1]

    def straight(self, numbers: list[float], *, is_upright: bool) -> None:
        """Draw curves that begin and end in one direction, the first perhaps a little aside."""
        aside = numbers.pop(0) if len(numbers) % 4 else 0.0
        for at in range(0, len(numbers), 4):
            a, b, c, d = numbers[at : at + 4]
            self._curve(*((aside, a, b, c, 0, d) if is_upright else (a, aside, b, c, d, 0)))
            aside = 0.0

    def alternate(self, numbers: list[float], *, is_upright: bool) -> None:
        """Draw curves that begin upright and end flat, or the reverse, by turns."""
        last = numbers.pop() if len(numbers) % 4 else 0.0
        for at in range(0, len(numbers), 4):
            a, b, c, d = numbers[at : at + 4]
            aside = last if at + 4 == len(numbers) else 0.0
            self._curve(*((0, a, b, c, d, aside) if is_upright else (a, 0, b, c, aside, d)))
            is_upright = not is_upright

    def turns(self, numbers: list[float], *, is_flat: bool) -> None:
        """Draw flat and upright lines by turns."""
        for one in numbers:
            self._line(*((one, 0) if is_flat else (0, one)))
            is_flat = not is_flat

    def flex(self, s: list[float]) -> None:
        """Draw a shallow bow; its last number is of the direction in which it is longer."""
        dx, dy = sum(s[0:10:2]), sum(s[1:10:2])
        self.curves([*s[:10], *((s[10], -dy) if abs(dx) > abs(dy) else (-dx, s[10]))])


_OPERATORS: dict[int, Callable[[_Pen, list[float]], None]] = {
    # Before the numbers of a move there may be a width.
    21: lambda pen, s: pen.move(s[-2], s[-1]),  # rmoveto
    22: lambda pen, s: pen.move(s[-1], 0),  # hmoveto
    4: lambda pen, s: pen.move(0, s[-1]),  # vmoveto
    5: _Pen.lines,  # rlineto
    6: lambda pen, s: pen.turns(s, is_flat=True),  # hlineto
    7: lambda pen, s: pen.turns(s, is_flat=False),  # vlineto
    8: _Pen.curves,  # rrcurveto
    24: _Pen.curves_and_line,  # rcurveline
    25: _Pen.lines_and_curve,  # rlinecurve
    26: lambda pen, s: pen.straight(s, is_upright=True),  # vvcurveto
    27: lambda pen, s: pen.straight(s, is_upright=False),  # hhcurveto
    30: lambda pen, s: pen.alternate(s, is_upright=True),  # vhcurveto
    31: lambda pen, s: pen.alternate(s, is_upright=False),  # hvcurveto
    # Flexes are two curves that form a shallow bow.
    256 + 34: lambda pen, s: pen.curves(
        [s[0], 0, s[1], s[2], s[3], 0, s[4], 0, s[5], -s[2], s[6], 0]
    ),
    256 + 35: lambda pen, s: pen.curves(s[:12]),
    256 + 36: lambda pen, s: pen.curves([*s[:5], 0, s[5], 0, *s[6:9], -(s[1] + s[3] + s[7])]),
    256 + 37: _Pen.flex,
}
"""Methods that draw with the numbers on the stack, by operator (of two bytes: 256 and more)."""
