"""Keeps the app reachable: closing the window hides it if the tray shows our icon.

Without a tray the window is minimised instead, and a notice explains it. The window is created when
first needed. A start in the background waits for a tray; if none appears, the window opens.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QShortcut

from tequio_client.app.widgets.scrolling import room_on_screen

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from tequio_client.app.settings_file import SettingsStore
    from tequio_client.app.tray import Tray
    from tequio_client.app.window import AppWindow


PANEL_MS = 60_000
"""Time after a login that a panel may need until it shows tray icons."""


def fit_on_screen(window: QWidget) -> None:
    """Make a window no larger than its screen; its size may be from a larger one."""
    room = room_on_screen(window)
    frame = window.frameGeometry().size() - window.size()
    most = room.size() - frame
    window.setMinimumSize(window.minimumSize().boundedTo(most))
    if not window.isMaximized():
        window.resize(window.size().boundedTo(most))
        left = max(min(window.x(), room.right() - window.frameGeometry().width()), room.left())
        top = max(min(window.y(), room.bottom() - window.frameGeometry().height()), room.top())
        if not room.contains(window.frameGeometry()):
            window.move(left, top)


class WindowController(QObject):
    window_created = Signal(object)
    hidden = Signal()
    """The window was closed, and the app continues in the tray."""
    minimised = Signal()
    """The window was closed, without a tray to continue in."""
    quit_requested = Signal()
    """The user quit in the window."""

    def __init__(
        self,
        make: Callable[[], AppWindow],
        tray: Tray,
        settings_store: SettingsStore,
        parent: QObject | None = None,
        *,
        panel_ms: int = PANEL_MS,
    ) -> None:
        super().__init__(parent)
        self._make, self._tray, self._store = make, tray, settings_store
        self._window: AppWindow | None = None
        self._is_leaving = False
        tray.availability_changed.connect(self._follow_panel)
        self._waiting = QTimer(self, interval=panel_ms, singleShot=True)
        self._waiting.timeout.connect(self._open_without_tray)

    @property
    def window(self) -> AppWindow:
        """The window, created now if necessary."""
        if self._window is None:
            self._window = self._new_window()
        return self._window

    @property
    def is_hidden(self) -> bool:
        return self._window is None or self._window.isHidden()

    @property
    def has_window(self) -> bool:
        return self._window is not None

    def open(self, page: str = "") -> None:
        """Bring the window to the front, on that page or on the current one."""
        window = self.window
        if page:
            window.open_page(page)
        window.setWindowState(window.windowState() & ~Qt.WindowState.WindowMinimized)
        if not window.isVisible():
            window.prepare()
        window.show()
        window.raise_()
        window.activateWindow()

    def wait_for_panel(self) -> None:
        """Show no window unless no tray appears."""
        self._waiting.start()

    def close_window(self) -> None:
        self._is_leaving = True
        self._waiting.stop()
        if self._window is not None:
            self._remember(self._window)
            self._window.close()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        is_close = event.type() is QEvent.Type.Close and watched is self._window
        if not is_close or self._is_leaving or self._window is None:
            return super().eventFilter(watched, event)
        event.ignore()
        self._remember(self._window)
        if self._tray.is_available:
            self._window.hide()
            self._window.release_later()
            self.hidden.emit()
        else:
            self._window.showMinimized()
            self.minimised.emit()
        return True

    def _new_window(self) -> AppWindow:
        window = self._make()
        settings = self._store.settings
        if settings.geometry:
            window.restoreGeometry(QByteArray.fromBase64(settings.geometry.encode()))
        fit_on_screen(window)
        if settings.page and window.has_page(settings.page):
            window.open_page(settings.page)
        window.installEventFilter(self)
        QShortcut(QKeySequence("Ctrl+Q"), window).activated.connect(self.quit_requested)
        QShortcut(QKeySequence("Ctrl+W"), window).activated.connect(window.close)
        self.window_created.emit(window)
        return window

    def _remember(self, window: AppWindow) -> None:
        geometry = bytes(window.saveGeometry().toBase64().data()).decode()
        self._store.change(geometry=geometry, page=window.page_name)

    def _open_without_tray(self) -> None:
        if self._window is None and not self._tray.is_available:
            self.window.showMinimized()
            self.minimised.emit()

    def _follow_panel(self, is_there: bool) -> None:  # noqa: FBT001 - a signal of Qt's kind
        """Minimise a hidden window when the tray disappears: nothing else leads back to it."""
        is_unseen = self.is_hidden
        if is_unseen and not is_there and not self._is_leaving:
            self.window.showMinimized()
