"""Applies one of the two sets of colours to every widget.

Setting the application's style sheet sends each widget a `StyleChange`, which repaints it; code
that paints calls `current_tokens()` then and stores no colour.
"""

from __future__ import annotations

from enum import StrEnum

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QColor, QPalette, QWindow
from PySide6.QtWidgets import QApplication, QScrollArea, QStyle, QStyleFactory, QWidget
from shiboken6 import isValid

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
RING = "ring"
"""The property of the widget that has the ring; the style sheet knows it, too."""
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
        self._focus = FocusVisibility(app)
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


class FocusVisibility(QObject):
    """Marks the widget with the focus while the user works with the keyboard, as `has_focus_ring`.

    With the mouse the focus moves, too: to the first widget of a window, or away from a hidden one.
    A ring there would look like a second selection. What the keyboard moves to is scrolled into
    view; Qt does that only within one scroll area.
    """

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self._app, self._is_keyboard = app, False
        app.focusWindowChanged.connect(self._watch)
        app.focusChanged.connect(self._move)
        app.focusChanged.connect(self._scroll)
        self._watch(app.focusWindow())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Only windows are watched, which receive no events while they are hidden."""
        kind = event.type()
        if kind in (QEvent.Type.KeyPress, QEvent.Type.MouseButtonPress):
            is_keyboard = kind is QEvent.Type.KeyPress
            if is_keyboard is not self._is_keyboard:
                self._is_keyboard = is_keyboard
                self._move(None, self._app.focusWidget())
        return super().eventFilter(watched, event)

    def _watch(self, window: QWindow | None) -> None:
        if window is not None:
            window.installEventFilter(self)

    def _move(self, old: QWidget | None, new: QWidget | None) -> None:
        for widget, has_ring in ((old, False), (new, self._is_keyboard)):
            if widget is not None and isValid(widget) and has_focus_ring(widget) is not has_ring:
                widget.setProperty(RING, has_ring)
                widget.style().unpolish(widget)
                widget.style().polish(widget)
                widget.update()

    def _scroll(self, old: QWidget | None, new: QWidget | None) -> None:
        if self._is_keyboard and old is not None and new is not None and isValid(new):
            outer = new.parentWidget()
            while outer is not None:
                if isinstance(outer, QScrollArea):
                    outer.ensureWidgetVisible(new)
                outer = outer.parentWidget()


def has_focus_ring(widget: QWidget) -> bool:
    return bool(widget.property(RING))


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
