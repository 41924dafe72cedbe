"""Qt's application, ours by name: it hears when the system wants it to quit, or to open a link."""

from __future__ import annotations

import sys

from PySide6.QtCore import QEvent, QUrl, Signal
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication

from tequio_client.app.theme.marks import app_icon
from tequio_client.invitation_link import SCHEME


class Application(QApplication):
    """Tells when the system asks us to quit, before it closes the window."""

    quitting = Signal()
    handed = Signal(str)
    """A link that macOS wants us to open."""

    def event(self, event: QEvent) -> bool:
        """See Qt."""
        if event.type() is QEvent.Type.Quit:
            self.quitting.emit()
        elif isinstance(event, QFileOpenEvent) and event.url().scheme() == SCHEME:
            self.handed.emit(event.url().toString(QUrl.ComponentFormattingOption.FullyEncoded))
        return super().event(event)


def application() -> Application:
    """Make it; a program has one."""
    qt = Application(sys.argv[:1])
    qt.setApplicationName("tequio")
    qt.setApplicationDisplayName("Tequio")
    qt.setDesktopFileName("tequio")
    qt.setWindowIcon(app_icon())
    qt.setQuitOnLastWindowClosed(False)
    return qt
