"""The visible contents of a window: controls, names, texts, what is cut, what is painted."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible, QImage
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QWidget,
)

from tequio_client.app.widgets.base import ElidedLabel
from tequio_client.app.widgets.buttons import NavButton, SegmentButton
from tequio_client.app.widgets.charts import Sparkline, StepChart
from tequio_client.app.widgets.indicators import PercentRing
from tequio_client.app.widgets.inputs import WeekGrid

NEAR_PX, NEAR_SHARE = 6, 0.06
"""How far a painted part may be from its mirror image: letters are not mirrored."""
ALWAYS_LEFT_TO_RIGHT = (StepChart, Sparkline, WeekGrid, QPlainTextEdit, PercentRing)
"""Axes of time, the log of the worker, and the ring, which runs as a clock does."""
BRIGHT = 0.03928
"""Where the sRGB curve becomes linear."""


def settle() -> None:
    """Let posted events come to rest: a change of language, then the layouts."""
    for _ in range(3):
        QApplication.processEvents()


def controls(window: QWidget) -> list[QWidget]:
    """Every visible control."""
    kinds = (QAbstractButton, QAbstractItemView)
    return [
        one
        for one in window.findChildren(QWidget)
        if one.isVisible()
        and (isinstance(one, kinds) or one.focusPolicy() & Qt.FocusPolicy.TabFocus)
        and one.focusPolicy() != Qt.FocusPolicy.NoFocus
    ]


def name_of(widget: QWidget) -> str:
    """The name that a screen reader reads for the widget."""
    text = widget.text() if isinstance(widget, QAbstractButton) else ""
    return widget.accessibleName() or text


def spoken_name(widget: QWidget) -> str:
    """The name that Qt tells a screen reader."""
    return QAccessible.queryAccessibleInterface(widget).text(QAccessible.Text.Name)


def labels(window: QWidget) -> list[QLabel]:
    """Every visible label."""
    return [label for label in window.findChildren(QLabel) if label.isVisible()]


def texts(window: QWidget) -> set[str]:
    """The texts of all visible labels and buttons."""
    buttons = window.findChildren(QAbstractButton)
    return {label.text() for label in labels(window)} | {
        button.text() for button in buttons if button.isVisible()
    }


def has_words(text: str) -> bool:
    """True if the text has something to translate."""
    return sum(letter.isalpha() for letter in text) > 3


def is_cut(label: QLabel) -> bool:
    """True if a label that may not be cut has too little room."""
    if isinstance(label, ElidedLabel):
        return False
    width = label.width() + 1
    needed = label.heightForWidth(width) if label.wordWrap() else label.sizeHint().height()
    is_too_low = label.height() + 1 < needed
    return is_too_low or (not label.wordWrap() and width < label.sizeHint().width())


def widest_word(label: QLabel) -> int:
    """The width in pixels of the widest part of a text in which no line may end."""
    shown = QLabel.text(label).replace("\u200b", " ")
    return max(map(label.fontMetrics().horizontalAdvance, shown.split()), default=0)


def is_cut_button(widget: QWidget) -> bool:
    """True if a button that may not be cut is too narrow for its words."""
    is_ours = isinstance(widget, (QPushButton, SegmentButton)) and not isinstance(widget, NavButton)
    return is_ours and bool(name_of(widget)) and widget.width() < widget.sizeHint().width()


def is_elided(label: QLabel) -> bool:
    """True if a label ends in an ellipsis because it has too little room."""
    needed = label.fontMetrics().horizontalAdvance(label.text())
    return isinstance(label, ElidedLabel) and needed > label.contentsRect().width()


class PaintedPart(NamedTuple):
    """A part of a window, and where it paints."""

    name: str
    width: int
    centre: float
    """The window's column around which its paint lies."""


def painted_parts(window: QWidget) -> list[PaintedPart]:
    """Every visible part that has no parts of its own, and paints something."""
    parts = [one for one in window.findChildren(QWidget) if one.isVisible() and _is_mirrored(one)]
    return [
        PaintedPart(f"{type(one).__name__} {_words(one)}", one.width(), centre)
        for one in parts
        if (centre := _painted_centre(one)) is not None
    ]


def not_mirrored(usual: list[PaintedPart], window: QWidget) -> list[tuple[PaintedPart, ...]]:
    """The parts of a window from right to left that are not where the usual one's reflection is."""
    mirrored = painted_parts(window)
    assert [part.name for part in mirrored] == [part.name for part in usual]
    return [
        pair
        for pair in zip(usual, mirrored, strict=True)
        if abs(pair[0].centre + pair[1].centre - window.width())
        > NEAR_PX + NEAR_SHARE * pair[0].width
    ]


def _is_mirrored(widget: QWidget) -> bool:
    of_whom = (widget, widget.parent())
    is_fixed = any(isinstance(one, ALWAYS_LEFT_TO_RIGHT) for one in of_whom)
    return not is_fixed and not widget.findChildren(QWidget)


def _words(widget: QWidget) -> str:
    return widget.text() if isinstance(widget, QLabel) else name_of(widget)


def _painted_centre(widget: QWidget) -> float | None:
    grey = QImage.Format.Format_Grayscale8
    image = widget.grab().toImage().convertToFormat(grey)
    if image.isNull():
        return None
    smooth = Qt.TransformationMode.SmoothTransformation
    line = image.scaled(image.width(), 1, mode=smooth).convertToFormat(grey)
    ground = image.pixelColor(0, 0).red()
    weights = [abs(one - ground) for one in bytes(line.constBits())[: line.width()]]
    if not sum(weights):
        return None
    if isinstance(widget, QLineEdit) or (isinstance(widget, QLabel) and widget.wordWrap()):
        # The letters of a line are not mirrored, but the place of its lines is.
        painted = [at for at, weight in enumerate(weights) if weight]
        weights = [int(at in (painted[0], painted[-1])) for at in range(len(weights))]
    centre = sum(at * weight for at, weight in enumerate(weights)) / sum(weights)
    return widget.mapTo(widget.window(), QPoint(0, 0)).x() + centre / image.devicePixelRatio()


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours by WCAG 2, from 1 to 21."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    red, green, blue = (_linear(int(colour[at : at + 2], 16) / 255) for at in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    return float(part / 12.92 if part <= BRIGHT else ((part + 0.055) / 1.055) ** 2.4)
