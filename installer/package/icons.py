"""Draw the app's icons into a folder, from the logo that the app itself draws.

    tequio.svg and NxN/tequio.png   for Linux (hicolor)
    tequio.ico, tequio.icns         for Windows and macOS: those pictures, one after another
    side.bmp                        the side of the first page of the installer for Windows

Usage: python installer/package/icons.py FOLDER
"""

from __future__ import annotations

import os
import struct
import sys
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgGenerator

from tequio_client.app.theme.icons import draw_logo
from tequio_client.app.theme.style import DARK

SIZES = (16, 22, 24, 32, 48, 64, 128, 256, 512)
SIZES_OF_WINDOWS = (16, 24, 32, 48, 64, 128, 256)
KINDS_OF_MACOS = {
    "icp4": 16,
    "icp5": 32,
    "icp6": 64,
    "ic07": 128,
    "ic08": 256,
    "ic09": 512,
    "ic11": 32,
    "ic12": 64,
    "ic13": 256,
    "ic14": 512,
    "ic10": 1024,
}
"""Pictures by kind, in pixels: for plain screens, then those for screens of twice as many, where
`ic11` is 16 points wide and `ic10` 512."""
SIDE = 256
SIDE_OF_INSTALLER = QSize(164, 314)


def draw_icons(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    pictures = {size: _png(size) for size in SIZES}
    for size, picture in pictures.items():
        place = folder / f"{size}x{size}" / "tequio.png"
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(picture)
    _draw_svg(folder / "tequio.svg")
    _draw_side(folder / "side.bmp")
    (folder / "tequio.ico").write_bytes(_ico({one: pictures[one] for one in SIZES_OF_WINDOWS}))
    of_macos = {one: pictures.get(one) or _png(one) for one in set(KINDS_OF_MACOS.values())}
    (folder / "tequio.icns").write_bytes(_icns(of_macos))


def _png(size: int) -> bytes:
    image = QImage(size, size, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    draw_logo(painter, QRectF(0, 0, size, size))
    painter.end()
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")
    return bytes(data.data())


def _draw_svg(path: Path) -> None:
    generator = QSvgGenerator()
    generator.setFileName(str(path))
    generator.setSize(QSize(SIDE, SIDE))
    generator.setViewBox(QRect(0, 0, SIDE, SIDE))
    generator.setTitle("Tequio")
    painter = QPainter(generator)
    draw_logo(painter, QRectF(0, 0, SIDE, SIDE))
    painter.end()


def _draw_side(path: Path) -> None:
    image = QImage(SIDE_OF_INSTALLER, QImage.Format.Format_RGB32)
    image.fill(QColor(DARK.side))
    painter = QPainter(image)
    draw_logo(painter, QRectF(34, 48, 96, 96))
    painter.end()
    image.save(str(path), "BMP")


def _ico(pictures: dict[int, bytes]) -> bytes:
    """An icon of Windows: a list of sizes and places, then the pictures."""
    place = 6 + 16 * len(pictures)
    entries = []
    for size, picture in pictures.items():
        side = size % 256  # 0 stands for 256
        entries.append(struct.pack("<BBBBHHII", side, side, 0, 0, 1, 32, len(picture), place))
        place += len(picture)
    head = struct.pack("<HHH", 0, 1, len(pictures))
    return b"".join((head, *entries, *pictures.values()))


def _icns(pictures: dict[int, bytes]) -> bytes:
    """An icon of macOS: pictures, each after its kind and length."""
    chunks = [
        kind.encode() + struct.pack(">I", 8 + len(pictures[size])) + pictures[size]
        for kind, size in KINDS_OF_MACOS.items()
    ]
    return b"icns" + struct.pack(">I", 8 + sum(map(len, chunks))) + b"".join(chunks)


if __name__ == "__main__":
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    drawing = QGuiApplication(sys.argv[:1])
    draw_icons(Path(sys.argv[1]))
