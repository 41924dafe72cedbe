"""The visible contents of a window: its controls, their names, its texts, and cut texts."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QAbstractButton, QAbstractItemView, QLabel, QWidget

from tequio_client.app.widgets.base import ElidedLabel

BRIGHT = 0.03928
"""Where the sRGB curve becomes linear."""


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


def is_elided(label: QLabel) -> bool:
    """True if a label ends in an ellipsis because it has too little room."""
    needed = label.fontMetrics().horizontalAdvance(label.text())
    return isinstance(label, ElidedLabel) and needed > label.contentsRect().width()


def ink_centre(widget: QWidget) -> float | None:
    """The window's column around which the widget's paint lies; None: it paints nothing."""
    image = widget.grab().toImage().convertToFormat(QImage.Format.Format_Grayscale8)
    if image.isNull():
        return None
    smooth = Qt.TransformationMode.SmoothTransformation
    line = image.scaled(image.width(), 1, mode=smooth)
    ground = image.pixelColor(0, 0).red()
    weights = [abs(line.pixelColor(at, 0).red() - ground) for at in range(line.width())]
    if not sum(weights):
        return None
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
