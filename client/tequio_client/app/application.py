"""Qt's application, ours by name: it hears when the system wants it to quit, or to open a link."""

from __future__ import annotations

import getpass
import hashlib
import logging
import signal
import socket
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QLockFile, QObject, QSocketNotifier, QStandardPaths, QUrl, Signal
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtNetwork import QLocalServer, QLocalSocket
from PySide6.QtWidgets import QApplication

from tequio_client.app.theme.icons import app_icon
from tequio_client.invitation_link import SCHEME

if TYPE_CHECKING:
    from types import FrameType


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


# --- SIGTERM and SIGINT as a Qt signal: Python's handlers run only when Python does.

SIGNALS = (signal.SIGTERM, signal.SIGINT)


class EndSignals(QObject):
    """Emits `told` when the system or a terminal tells us to end."""

    told = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theirs, self._ours = socket.socketpair()
        for end in (self._theirs, self._ours):
            end.setblocking(False)  # noqa: FBT003 - the library's own
        self._notifier = QSocketNotifier(self._ours.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._take)
        self._before = {number: signal.signal(number, _nothing) for number in SIGNALS}
        self._wakeup = signal.set_wakeup_fd(self._theirs.fileno(), warn_on_full_buffer=False)

    def close(self) -> None:
        """Leave the signals to whoever had them."""
        self._notifier.setEnabled(False)
        signal.set_wakeup_fd(self._wakeup)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._theirs.close()
        self._ours.close()

    def _take(self) -> None:
        said = self._ours.recv(64)
        if any(number in said for number in SIGNALS):
            self.told.emit()


def _nothing(_number: int, _frame: FrameType | None) -> None:
    """Be there, so that the system does not end us."""


# --- One app for each folder and user: the second start asks the first to show itself, and ends.
#
# A start with a link hands it over in the same way.
#
# A lock file says who is first; a local socket beside it, which only this user may open, carries
# the request. What a killed app left behind of either is taken over.

log = logging.getLogger(__name__)

RAISE, OPEN, AGREED = b"raise\n", b"open ", b"ok\n"
PATIENCE_MS = 20_000
"""How long the first may take to answer: it may just be starting on a busy computer."""
MOST_BYTES = 4_096
"""Of what is said; a longer link is none of ours."""


def place_of(folder: Path) -> str:
    """Lock and socket of the app of that folder, without their endings.

    Where nobody else may lay anything: without a runtime folder of the user's own that is the
    folder itself. In one for everybody another user could say that we run already.
    """
    base = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.RuntimeLocation)
    base = base or str(folder.absolute())
    whose = f"{getpass.getuser()}\n{folder.absolute()}"
    return str(Path(base) / f"tequio-{hashlib.sha256(whose.encode()).hexdigest()[:16]}")


class SingleInstance(QObject):
    """Whether we are the first, and word of those who come later."""

    raised = Signal()
    """Somebody has started the app again."""
    handed = Signal(str)
    """Somebody has started it with this link."""

    def __init__(self, place: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._place = place
        self._lock = QLockFile(f"{place}.lock")
        self._lock.setStaleLockTime(0)  # it is held for days; that its holder lives is what counts
        self._callers: set[QLocalSocket] = set()
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._visit)

    def is_first(self) -> bool:
        """Whether nobody else has this place; then it is ours until `close`."""
        with suppress(OSError):  # what cannot be made cannot be locked either
            Path(self._place).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not self._lock.tryLock(0):
            return False
        name = f"{self._place}.socket"
        QLocalServer.removeServer(name)
        if not self._server.listen(name):  # its path may be too long
            log.warning("a second start will not show this window: %s", self._server.errorString())
        return True

    def raise_first(self, link: str = "") -> bool:
        """Ask the first to show itself, with that link if there is one; whether it agreed."""
        socket = QLocalSocket()
        socket.connectToServer(f"{self._place}.socket")
        if not socket.waitForConnected(PATIENCE_MS):
            return False
        socket.write(OPEN + link.encode() + b"\n" if link else RAISE)
        agreed = socket.waitForReadyRead(PATIENCE_MS) and socket.readAll().data() == AGREED
        socket.abort()
        return agreed

    def close(self) -> None:
        """Leave the place to others."""
        self._server.close()
        for caller in list(self._callers):
            caller.abort()
        self._lock.unlock()

    def _visit(self) -> None:
        while (socket := self._server.nextPendingConnection()) is not None:
            socket.setParent(None)  # else it goes with the server, below Python's feet
            self._callers.add(socket)
            socket.readyRead.connect(partial(self._hear, socket))
            socket.disconnected.connect(partial(self._forget, socket))

    def _hear(self, socket: QLocalSocket) -> None:
        said = bytes(socket.peek(MOST_BYTES).data())
        if not said.endswith(b"\n"):
            if len(said) >= MOST_BYTES or not _may_become_one(said):
                socket.abort()
            return
        socket.readAll()
        if not (said == RAISE or said.startswith(OPEN)):
            socket.abort()
            return
        socket.write(AGREED)
        socket.flush()
        if said == RAISE:
            self.raised.emit()
        else:
            self.handed.emit(said.removeprefix(OPEN).strip().decode("utf-8", "replace"))

    def _forget(self, socket: QLocalSocket) -> None:
        if socket in self._callers:
            self._callers.discard(socket)
            socket.deleteLater()


def _may_become_one(said: bytes) -> bool:
    return RAISE.startswith(said) or OPEN.startswith(said) or said.startswith(OPEN)
