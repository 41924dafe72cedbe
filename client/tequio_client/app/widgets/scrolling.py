"""Scrolled parts: the content of a page, and what a low screen has no room for."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRect, QSize, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

AROUND = 150
"""Height in pixels of the screen that a dialog's content leaves to its buttons, its title bar and
the panels of the desktop."""
LEAST_CONTENT = 120


def room_on_screen(widget: QWidget) -> QRect:
    """The part of the widget's screen that panels leave free, in logical pixels.

    Not by `QWidget.screen`: PySide makes the screen a child of the widget that was asked, and may
    delete it together with the widget.
    """
    middle = widget.window().frameGeometry().center()
    screen = QGuiApplication.screenAt(middle) or QGuiApplication.primaryScreen()
    return screen.availableGeometry()


class ScrolledContent(QWidget):
    """The scrolled part of a page or dialog, as high as its text is at the current width.

    A scroll area asks for that height by itself, but also respects the minimum size, and for that
    a layout counts the height of each text in the narrowest column.
    """

    def minimumSizeHint(self) -> QSize:
        least, layout = super().minimumSizeHint(), self.layout()
        has_height = layout is not None and layout.hasHeightForWidth()
        return QSize(least.width(), 0) if has_height else least


class _DialogContent(ScrolledContent):
    def event(self, event: QEvent) -> bool:
        """Let the dialog grow with its content."""
        if event.type() is QEvent.Type.LayoutRequest:
            viewport = self.parentWidget()
            scroll = viewport.parentWidget() if viewport is not None else None
            if scroll is not None:
                scroll.updateGeometry()
        return super().event(event)


class PlainScroll(QScrollArea):
    """Scrolls its content up and down, without a frame, on the colour of what is behind it."""

    def __init__(self, content: QWidget) -> None:
        super().__init__()
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWidget(content)
        for part in (self.viewport(), content):  # they would paint the colour of a field
            part.setAutoFillBackground(False)


class DialogScroll(PlainScroll):
    """The content of a dialog, which scrolls only where the screen is lower than the dialog.

    A screen of 1080 lines at 200 % has 540, less than some dialogs: without scrolling their buttons
    would be below its edge.
    """

    def __init__(self) -> None:
        content = _DialogContent()
        super().__init__(content)
        self.content = content

    def sizeHint(self) -> QSize:
        return self.minimumSizeHint()

    def minimumSizeHint(self) -> QSize:
        """The whole content, or as much of it as the screen has room for."""
        layout = self.content.layout()
        if layout is None:
            return super().minimumSizeHint()
        least = layout.totalMinimumSize()
        width = max(least.width(), self.width() if self.isVisible() else self.window().width())
        needed = layout.totalHeightForWidth(width) if layout.hasHeightForWidth() else least.height()
        most = max(room_on_screen(self).height() - AROUND, LEAST_CONTENT)
        return QSize(least.width(), min(needed, most))
