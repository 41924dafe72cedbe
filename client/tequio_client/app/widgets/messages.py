"""Messages: banners, empty states and toasts."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QPropertyAnimation, QSize, Qt, QTimer
from PySide6.QtGui import QAccessible, QAccessibleEvent, QGuiApplication, QResizeEvent
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QGraphicsOpacityEffect,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from tequio_client.app.theme import style
from tequio_client.app.theme.look import is_motion_reduced
from tequio_client.app.theme.style import TextStyle, fixed_font
from tequio_client.app.widgets.base import IconLabel, WrappedLabel, fill, hbox, vbox
from tequio_client.app.widgets.buttons import Button
from tequio_client.app.widgets.cards import IconTile

LEVEL_ICONS = {
    "info": ("info", "text_accent"),
    "good": ("circle-check", "ok"),
    "warning": ("triangle-alert", "warn"),
    "error": ("octagon-x", "danger"),
}
WIDEST = 420
STAYS_MS = 5_000
FADE_MS = 150
ABOVE = 22
TOAST_WIDEST = 520
DETAILS_SIZE = (520, 240)


class DetailsButton(Button):
    """Opens the technical details of a problem; hidden while there are none."""

    def __init__(self) -> None:
        super().__init__("", "quiet")
        self.setText(self.tr("Details"))
        self._details = ""
        self.dialog: DetailsDialog | None = None
        self.clicked.connect(self._open)
        self.hide()

    def set_details(self, details: str) -> None:
        self._details = details
        self.setVisible(bool(details))

    def _open(self) -> None:
        self.dialog = DetailsDialog(self._details, self)
        self.dialog.open()


class DetailsDialog(QDialog):
    def __init__(self, details: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Details"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(*DETAILS_SIZE)
        self.text = QPlainTextEdit(details)
        self.text.setReadOnly(True)
        self.text.setFont(fixed_font())
        self.text.setAccessibleName(self.tr("Details"))
        copy = Button(self.tr("Copy"), picture="copy")
        self.closes = Button(self.tr("Close"), "primary")
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(details))
        self.closes.clicked.connect(self.accept)
        self.closes.setDefault(True)
        buttons = hbox(None, copy, self.closes, spacing=10)
        vbox((self.text, 1), buttons, spacing=12, margins=(20, 18, 20, 18), parent=self)
        self.closes.setFocus()


class Banner(QFrame):
    """A sentence of one level (`info`, `good`, `warning`, `error`), with an optional button.

    Technical details open in a dialog.
    """

    def __init__(self, level: str = "info", words: str = "", button: str = "") -> None:
        super().__init__()
        self.setProperty("kind", "banner")
        self._picture, self.words = IconLabel("info", QSize(20, 20)), WrappedLabel()
        self.button, self.details = Button(""), DetailsButton()
        parts = (self._picture, (self.words, 1), self.details, self.button)
        hbox(*parts, spacing=12, margins=style.CARD_MARGINS, parent=self)
        self.show_words(level, words, button)

    def show_words(self, level: str, words: str, button: str = "", details: str = "") -> None:
        """An empty label hides the button."""
        if self.property("level") != level:
            self.setProperty("level", level)
            self.style().unpolish(self)
            self.style().polish(self)
        self._picture.set_icon(*LEVEL_ICONS[level])
        self.words.setText(words)
        self.button.setText(button)
        self.button.setVisible(bool(button))
        self.details.set_details(details)
        self.setAccessibleName(words)


class EmptyState(QWidget):
    """A picture, a heading and a sentence in place of missing content, with an optional button."""

    def __init__(self, picture: str, heading: str, words: str, button: str = "") -> None:
        super().__init__()
        self._heading = WrappedLabel(heading, TextStyle.HEADING)
        self.words = WrappedLabel(words, tone="sub")
        self.button, self.details = Button(button, "primary"), DetailsButton()
        self._column = column = QVBoxLayout(self)
        column.setSpacing(8)
        fill(column, None, (IconTile(picture), Qt.AlignmentFlag.AlignHCenter))
        for part in (self._heading, self.words):
            part.setAlignment(Qt.AlignmentFlag.AlignCenter)
            column.addWidget(part)
        buttons = hbox(None, self.details, self.button, None, spacing=10)
        column.addLayout(buttons)
        self.button.setVisible(bool(button))
        column.addStretch(1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep lines short enough to read."""
        super().resizeEvent(event)
        beside = max((self.width() - WIDEST) // 2, 8)
        self._column.setContentsMargins(beside, 8, beside, 8)

    def minimumSizeHint(self) -> QSize:
        """The minimum of the parts: the space around them is optional."""
        hint, beside = super().minimumSizeHint(), self._column.contentsMargins().left()
        return QSize(hint.width() - 2 * beside + 16, hint.height())

    def show_words(self, heading: str, words: str, details: str = "") -> None:
        self._heading.setText(heading)
        self.words.setText(words)
        self.details.set_details(details)


class Toast(QFrame):
    """A short message over the bottom of its parent that disappears after a while."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._above = parent
        self.setProperty("kind", "toast")
        self.words = WrappedLabel()
        self.button = Button("", "quiet")
        hbox((self.words, 1), self.button, margins=(16, 9, 10, 9), parent=self)
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

    def open(self, words: str, button: str = "") -> None:
        self.words.setText(words)
        self.button.setText(button)
        self.button.setVisible(bool(button))
        self.setAccessibleName(words)
        self._settle()
        self.show()
        self.raise_()
        self._appear()
        self._timer.start(STAYS_MS)
        QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.Alert))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the parent's size."""
        if event.type() is QEvent.Type.Resize and self.isVisible():
            self._settle()
        return super().eventFilter(watched, event)

    def _appear(self) -> None:
        self._fade.stop()
        if is_motion_reduced():
            self._effect.setOpacity(1.0)
            return
        self._fade.setStartValue(0.0)
        self._fade.setEndValue(1.0)
        self._fade.start()

    def _settle(self) -> None:
        parent = self._above
        words = self.words.fontMetrics().horizontalAdvance(self.words.text()) + 8
        button = self.button.sizeHint().width() + 8 if self.button.text() else 0
        width = min(words + button + 40, TOAST_WIDEST, parent.width() - 32)
        height = max(self.heightForWidth(width), self.sizeHint().height())
        left = (parent.width() - width) // 2
        self.setGeometry(left, parent.height() - height - ABOVE, width, height)


class UndoToast(Toast):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._undo: Callable[[], None] | None = None
        self.button.clicked.connect(self._take_back)

    def open_with_undo(self, words: str, undo: Callable[[], None]) -> None:
        """`undo` reverts the change while the toast is visible."""
        self._undo = undo
        self.open(words, self.tr("Undo"))

    def _take_back(self) -> None:
        undo, self._undo = self._undo, None
        if undo is not None:
            undo()
