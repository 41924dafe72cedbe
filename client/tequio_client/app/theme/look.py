"""Applies one of the two sets of colours to every widget.

Setting the application's style sheet sends each widget a `StyleChange`, which repaints it; code
that paints calls `current_tokens()` then and stores no colour.
"""

from __future__ import annotations

from enum import StrEnum

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication, QStyle, QStyleFactory

from tequio_client.app.theme import style
from tequio_client.app.theme.style import DARK, LIGHT, ColourTokens, style_sheet


class Appearance(StrEnum):
    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


SCHEMES = {
    Appearance.SYSTEM: Qt.ColorScheme.Unknown,
    Appearance.LIGHT: Qt.ColorScheme.Light,
    Appearance.DARK: Qt.ColorScheme.Dark,
}
ROLES = {
    QPalette.ColorRole.Window: "page",
    QPalette.ColorRole.Base: "card",
    QPalette.ColorRole.AlternateBase: "hover",
    QPalette.ColorRole.Button: "card",
    QPalette.ColorRole.ToolTipBase: "card",
    QPalette.ColorRole.WindowText: "text",
    QPalette.ColorRole.Text: "text",
    QPalette.ColorRole.ButtonText: "text",
    QPalette.ColorRole.ToolTipText: "text",
    QPalette.ColorRole.PlaceholderText: "text_sub",
    QPalette.ColorRole.Highlight: "button",
    QPalette.ColorRole.HighlightedText: "on_button",
    QPalette.ColorRole.Accent: "button",
    QPalette.ColorRole.Link: "text_accent",
    QPalette.ColorRole.Mid: "edge",
}
DISABLED_ROLES = (
    QPalette.ColorRole.WindowText,
    QPalette.ColorRole.Text,
    QPalette.ColorRole.ButtonText,
)


class Theme(QObject):
    """Owns the application's appearance; one for each application."""

    changed = Signal(object)
    """The tokens in force."""

    def __init__(self, app: QApplication, choice: Appearance = Appearance.SYSTEM) -> None:
        super().__init__(app)
        self._app, self.choice = app, choice
        style.load_typeface()
        app.setStyle(QStyleFactory.create("Fusion"))
        app.setFont(style.font(style.TextStyle.BODY))
        self._hints = app.styleHints()
        self._scheme = self._hints.colorScheme()
        self.choose(choice)
        self._hints.colorSchemeChanged.connect(self._follow)

    def choose(self, choice: Appearance) -> None:
        """Follow the system, or use one set of colours."""
        self.choice = choice
        self._hints.setColorScheme(SCHEMES[choice])
        self._apply()

    def reduce_motion(self, *, is_wanted: bool) -> None:
        """Reduce motion whatever the system says; False: follow the system."""
        _InForce.is_still = is_wanted

    def _follow(self, scheme: Qt.ColorScheme) -> None:
        self._scheme = scheme
        self._apply()

    def _apply(self) -> None:
        is_dark = self.choice is Appearance.DARK
        if self.choice is Appearance.SYSTEM:
            is_dark = self._scheme is not Qt.ColorScheme.Light
        wanted = DARK if is_dark else LIGHT
        if wanted is current_tokens() and self._app.styleSheet():
            return
        _InForce.tokens = wanted
        self._app.setPalette(_palette(wanted))
        self._app.setStyleSheet(style_sheet(wanted))
        self.changed.emit(wanted)


class _InForce:
    tokens = DARK
    is_still = False


def current_tokens() -> ColourTokens:
    return _InForce.tokens


def is_motion_reduced() -> bool:
    """True if the user or the system asks for reduced motion."""
    hint = QStyle.StyleHint.SH_Widget_Animation_Duration
    return _InForce.is_still or QApplication.style().styleHint(hint) == 0


def _palette(colours: ColourTokens) -> QPalette:
    made = QPalette()
    for role, name in ROLES.items():
        made.setColor(role, QColor(getattr(colours, name)))
    for role in DISABLED_ROLES:
        made.setColor(QPalette.ColorGroup.Disabled, role, QColor(colours.text_off))
    return made
