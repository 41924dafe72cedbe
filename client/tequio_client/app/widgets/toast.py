"""A short word that something was done; goes by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPropertyAnimation, QTimer
from PySide6.QtGui import QAccessible, QAccessibleEvent
from PySide6.QtWidgets import QApplication, QFrame, QGraphicsOpacityEffect, QHBoxLayout

from tequio_client.app.theme.look import is_still
from tequio_client.app.widgets.button import Button
from tequio_client.app.widgets.text import Paragraph

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

STAYS_MS = 5_000
FADE_MS = 150
ABOVE = 22
WIDEST = 520


class Toast(QFrame):
    """Lies above the foot of its parent while it says something."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._above = parent
        self.setProperty("kind", "toast")
        self._words = Paragraph()
        self.button = Button("", "quiet")
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 9, 10, 9)
        row.addWidget(self._words, 1)
        row.addWidget(self.button)
        self._effect = QGraphicsOpacityEffect(self)
        self.setGraphicsEffect(self._effect)
        self._fade = QPropertyAnimation(self._effect, b"opacity", self)
        self._fade.setDuration(FADE_MS)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.hide)
        self.button.clicked.connect(self.hide)
        parent.installEventFilter(self)
        self.hide()

    def say(self, words: str, button: str = "") -> None:
        """Say this, instead of what it said."""
        self._words.setText(words)
        self.button.setText(button)
        self.button.setVisible(bool(button))
        self.setAccessibleName(words)
        self._settle()
        self.show()
        self.raise_()
        self._appear()
        self._timer.start(STAYS_MS)
        QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.Alert))

    @property
    def words(self) -> str:
        """What it says."""
        return self._words.text()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay in place when the parent changes its size."""
        if event.type() is QEvent.Type.Resize and self.isVisible():
            self._settle()
        return super().eventFilter(watched, event)

    def _appear(self) -> None:
        app = QApplication.instance()
        self._fade.stop()
        if isinstance(app, QApplication) and is_still(app):
            self._effect.setOpacity(1.0)
            return
        self._fade.setStartValue(0.0)
        self._fade.setEndValue(1.0)
        self._fade.start()

    def _settle(self) -> None:
        parent = self._above
        words = self._words.fontMetrics().horizontalAdvance(self._words.text()) + 8
        button = self.button.sizeHint().width() + 8 if self.button.text() else 0
        width = min(words + button + 40, WIDEST, parent.width() - 32)
        height = max(self.heightForWidth(width), self.sizeHint().height())
        left = (parent.width() - width) // 2
        self.setGeometry(left, parent.height() - height - ABOVE, width, height)
