"""Unexpected errors become a report to read and copy; the window keeps working.

Exceptions in slots, in threads and in the main program arrive here, and so do Qt's own messages.
One report is open at a time, each error is shown once, and nothing is sent anywhere.
"""

from __future__ import annotations

import re
import sys
import threading
import traceback
from collections import deque
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import (
    QMessageLogContext,
    QObject,
    QSize,
    Qt,
    QtMsgType,
    Signal,
    qInstallMessageHandler,
    qVersion,
)
from PySide6.QtGui import QFontDatabase, QGuiApplication
from PySide6.QtWidgets import QDialog, QPlainTextEdit, QVBoxLayout, QWidget

from tequio_client.app.theme.icons import app_icon
from tequio_client.app.theme.style import TextStyle
from tequio_client.app.widgets.base import IconLabel, Label, WrappedLabel, caption, hbox, vbox
from tequio_client.app.widgets.buttons import Button
from tequio_client.names import redact_names
from tequio_shared.version import BUILD

SIZE = (620, 420)
MOST_LINES = 30
"""Lines of Qt's messages in a report."""
MOST_REMEMBERED = 100
MOST_CHARACTERS = 20_000
REMOVED = "[removed]"
SECRETS = (
    re.compile(r"b'(?:[^'\\]|\\.){12,}'|b\"(?:[^\"\\]|\\.){12,}\""),  # bytes, as Python shows them
    re.compile(r"(?<![\w-])[\w-]{43,44}=?(?![\w-])"),  # 32 bytes in base64, as seeds and tokens are
    re.compile(r"(?<![\w/+])[\w+/]{43}=?(?![\w+/])"),
    re.compile(r"(?<![0-9A-Fa-f])[0-9A-Fa-f]{64}(?![0-9A-Fa-f])"),
    re.compile(r"(?:\b[a-z]{3,8} ){11,}[a-z]{3,8}\b"),  # words of a key's backup
    re.compile(r"(?i)(?<=password=)\S+|(?<=passphrase=)\S+"),
)


def without_secrets(text: str, home: Path | None = None) -> str:
    """The text without keys, tokens, passphrases and the user's name."""
    for pattern in SECRETS:
        text = pattern.sub(REMOVED, text)
    return redact_names(text, home)


class ErrorHooks(QObject):
    """Installs the error hooks; `reported` is emitted in the main thread."""

    reported = Signal(str, str)
    """Summary in one line, and the full report."""
    _caught = Signal(str, str)

    def __init__(self, home: Path | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._home = home or Path.home()
        self._qt_messages: deque[str] = deque(maxlen=MOST_LINES)
        self._known: deque[str] = deque(maxlen=MOST_REMEMBERED)
        self._caught.connect(self._report)

    def install(self) -> None:
        sys.excepthook = self.handle_exception
        threading.excepthook = self._handle_thread
        qInstallMessageHandler(self._handle_qt_message)

    def uninstall(self) -> None:
        sys.excepthook = sys.__excepthook__
        threading.excepthook = threading.__excepthook__
        qInstallMessageHandler(None)

    def handle_exception(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        """Called from any thread."""
        if issubclass(kind, (KeyboardInterrupt, SystemExit)):
            sys.__excepthook__(kind, error, trace)
            return
        whole = "".join(traceback.format_exception(kind, error, trace))
        _print(whole)
        self._caught.emit(f"{kind.__name__}: {error}", whole)

    def _handle_thread(self, hook: threading.ExceptHookArgs) -> None:
        if hook.exc_value is not None:
            self.handle_exception(hook.exc_type, hook.exc_value, hook.exc_traceback)

    def _handle_qt_message(self, kind: QtMsgType, _: QMessageLogContext, message: str) -> None:
        line = f"{kind.name}: {message}"
        if kind is not QtMsgType.QtDebugMsg:
            self._qt_messages.append(line)
            _print(line + "\n")
        if kind is QtMsgType.QtCriticalMsg:
            self._caught.emit(line, line)

    def _report(self, line: str, whole: str) -> None:
        if whole in self._known:
            return
        self._known.append(whole)
        text = "\n".join((_versions(), "", whole.strip(), "", *self._qt_messages))
        self.reported.emit(
            without_secrets(line, self._home)[:300],
            without_secrets(text, self._home)[-MOST_CHARACTERS:],
        )


def _versions() -> str:
    import platform  # noqa: PLC0415 - costs a tenth of the way to the icon

    return (
        f"Tequio {BUILD}, Python {platform.python_version()}, "
        f"Qt {qVersion()}, {platform.system()} {platform.release()} {platform.machine()}"
    )


def _print(text: str) -> None:
    if sys.stderr is not None:  # a windowed program on Windows has none
        sys.stderr.write(text)


class ErrorReportDialog(QDialog):
    """Explains that the app keeps running after an error, with the report to copy."""

    def __init__(self, line: str, report: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Tequio – a fault"))
        self.setWindowIcon(app_icon())
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setModal(False)
        self.resize(*SIZE)
        self._more = 0
        self.count = Label("", TextStyle.CAPTION, "sub")
        self.report = QPlainTextEdit(report)
        self.report.setReadOnly(True)
        self.report.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.report.setAccessibleName(self.tr("Report"))
        self.copy = Button(self.tr("Copy report"), "primary", "copy")
        self.copy.clicked.connect(self._copy)
        close = Button(self.tr("Go on"))
        close.clicked.connect(self.close)
        buttons = hbox((self.count, 1), close, self.copy, spacing=10)
        parts = (self._head(), caption(line), (self.report, 1), buttons)
        vbox(*parts, spacing=12, margins=(24, 22, 24, 20), parent=self)
        self.copy.setDefault(True)
        self.copy.setFocus()

    def count_another(self) -> None:
        self._more += 1
        self.count.setText(self.tr("%n more fault(s) since", "", self._more))

    def _head(self) -> QVBoxLayout:
        # A hidden app loads no cards and banners: 2 MB.
        from tequio_client.app.widgets.messages import LEVEL_ICONS  # noqa: PLC0415

        picture, ink = LEVEL_ICONS["error"]
        title = Label(self.tr("Something went wrong in Tequio's window"), TextStyle.TITLE)
        text = self.tr(
            "Lending is not affected: it runs in a program of its own. Nothing was sent "
            "to anybody. If you want to report this, copy the text below; keys and names "
            "of your folders were taken out of it."
        )
        row = hbox(IconLabel(picture, QSize(20, 20), ink), (title, 1), spacing=10)
        return vbox(row, WrappedLabel(text), spacing=6)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.report.toPlainText())
        self.copy.set_label(self.tr("Copied"), "check")


class ErrorReports:
    """Opens one report at a time."""

    def __init__(self) -> None:
        self.dialog: ErrorReportDialog | None = None

    def present(self, line: str, report: str) -> None:
        """Open the report, or count it while another is open."""
        if self.dialog is not None:
            self.dialog.count_another()
            return
        self.dialog = ErrorReportDialog(line, report)
        self.dialog.destroyed.connect(self._forget)
        self.dialog.show()
        self.dialog.raise_()

    def close(self) -> None:
        if self.dialog is not None:
            self.dialog.close()

    def _forget(self) -> None:
        self.dialog = None
