"""Buttons, whose icon follows the colours in force."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtWidgets import QPushButton, QSizePolicy

from tequio_client.app.theme import sizes
from tequio_client.app.theme.fonts import Type, font
from tequio_client.app.theme.icons import icon
from tequio_client.app.theme.look import tokens

if TYPE_CHECKING:
    from PySide6.QtWidgets import QMenu

TONES = {"primary": "on_button", "quiet": "text_accent", "danger": "danger"}


class Button(QPushButton):
    """A button of one kind (`plain`, `primary`, `quiet`, `danger`)."""

    def __init__(self, words: str, kind: str = "plain", picture: str = "") -> None:
        super().__init__(words)
        self._picture, self._kind = picture, kind
        self.setProperty("kind", kind)
        self.setFont(font(Type.STRONG))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAutoDefault(False)
        self.setIconSize(QSize(sizes.ICON + 2, sizes.ICON - 2))
        self.setSizePolicy(QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Fixed)
        self._colour()

    def show_as(self, words: str, picture: str = "") -> None:
        """Be called something else from now on."""
        if (words, picture) != (self.text(), self._picture):
            self._picture = picture
            self.setText(words)
            self._colour()

    def open_menu(self, menu: QMenu) -> None:
        """Open that menu when clicked."""
        self.setMenu(menu)
        self.setLayoutDirection(_reversed(self.layoutDirection()))  # the icon stands behind

    def changeEvent(self, event: QEvent) -> None:
        """Take the new colours."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.StyleChange, QEvent.Type.EnabledChange):
            self._colour()

    def _colour(self) -> None:
        if self._picture:
            name = TONES.get(self._kind, "text") if self.isEnabled() else "text_off"
            self.setIcon(icon(self._picture, getattr(tokens(), name), sizes.ICON - 2))


def _reversed(direction: Qt.LayoutDirection) -> Qt.LayoutDirection:
    if direction is Qt.LayoutDirection.LeftToRight:
        return Qt.LayoutDirection.RightToLeft
    return Qt.LayoutDirection.LeftToRight
