"""The Qt application, its quit and link events, the system's signals, and the instance lock."""

from __future__ import annotations

import gc
import getpass
import hashlib
import logging
import signal
import socket
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path

from PySide6.QtCore import (
    QEvent,
    QLockFile,
    QObject,
    QSocketNotifier,
    QStandardPaths,
    QTimer,
    QUrl,
    Signal,
)
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtNetwork import QLocalServer, QLocalSocket
from PySide6.QtWidgets import QApplication

from tequio_client import heap
from tequio_client.app.theme.icons import app_icon
from tequio_client.links import SCHEME
from tequio_client.platform import text_scale
from tequio_client.platform.versions import let_another_come_to_the_front

log = logging.getLogger(__name__)

SIGNALS = (signal.SIGTERM, signal.SIGINT)
SHOW_REQUEST, OPEN_REQUEST, ACCEPTED = b"raise\n", b"open ", b"ok\n"
COLLECT_MS = 1_000
"""Interval of garbage collection; the worker's snapshots wake the app as often."""
ANSWER_TIMEOUT_MS = 20_000
"""The first instance may still be starting on a busy computer."""
MOST_BYTES = 4_096
"""Longest request; longer links are refused."""


class Application(QApplication):
    """Reports a request of the system to quit before Qt acts on it, and links that macOS opens."""

    quit_requested = Signal()
    link_received = Signal(str)
    """The address of a `tequio:` link."""

    def event(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Quit:
            self.quit_requested.emit()
        elif isinstance(event, QFileOpenEvent) and event.url().scheme() == SCHEME:
            self.link_received.emit(
                event.url().toString(QUrl.ComponentFormattingOption.FullyEncoded)
            )
        return super().event(event)


def make_application() -> Application:
    with text_scale.followed():
        qt = Application(sys.argv[:1])
    qt.setApplicationName("tequio")
    qt.setApplicationDisplayName("Tequio")
    qt.setDesktopFileName("tequio")
    qt.setWindowIcon(app_icon())
    qt.setQuitOnLastWindowClosed(False)
    _collect_garbage_here(qt)
    return qt


def _collect_garbage_here(qt: Application) -> None:
    """Collect garbage in this thread only: Qt crashes when another one ends its objects.

    CPython itself collects in whichever thread happens to reach a threshold.
    """
    gc.disable()
    gc.freeze()  # collections need not go through the modules
    timer = QTimer(qt, interval=COLLECT_MS)
    timer.timeout.connect(heap.collect_due)
    timer.start()


class TerminationSignals(QObject):
    """Emits `received` when the system or a terminal ends the process with one of `SIGNALS`.

    Python runs its signal handlers only between bytecodes, which an idle Qt loop does not reach. A
    socket pair wakes the loop instead.
    """

    received = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._write_end, self._read_end = socket.socketpair()
        for end in (self._write_end, self._read_end):
            end.setblocking(False)  # noqa: FBT003 - the library's own
        self._notifier = QSocketNotifier(self._read_end.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._read_signals)
        # The default action would end the process before Qt can close it.
        self._before = {number: signal.signal(number, lambda *_: None) for number in SIGNALS}
        self._wakeup = signal.set_wakeup_fd(self._write_end.fileno(), warn_on_full_buffer=False)

    def close(self) -> None:
        """Restore the previous handlers."""
        self._notifier.setEnabled(False)
        signal.set_wakeup_fd(self._wakeup)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._write_end.close()
        self._read_end.close()

    def _read_signals(self) -> None:
        numbers = self._read_end.recv(64)
        if any(number in numbers for number in SIGNALS):
            self.received.emit()


def instance_path(folder: Path) -> str:
    """The path of the lock file and the socket of this folder's instance, without their suffixes.

    It is in a directory that other users cannot write to: the user's runtime directory or, where
    there is none, the folder itself. In a shared directory another user could pretend to be the
    first instance.
    """
    base = ""
    if sys.platform != "win32":  # there it is the folder of people's own files
        base = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.RuntimeLocation)
    base = base or str(folder.absolute())
    identity = f"{getpass.getuser()}\n{folder.absolute()}"
    return str(Path(base) / f"tequio-{hashlib.sha256(identity.encode()).hexdigest()[:16]}")


class SingleInstance(QObject):
    """Allows one app per folder and user: a second start shows the first window, and ends.

    A lock file decides which instance is first; a local socket beside it, accessible to this user
    only, carries the request. Leftovers of a killed instance are reused. A start with a link sends
    that link.
    """

    show_requested = Signal()
    """The app was started again."""
    link_received = Signal(str)
    """The app was started again with this link."""

    def __init__(self, path: str) -> None:
        """`path` as of `instance_path`."""
        super().__init__()
        self._path = path
        self._lock = QLockFile(f"{path}.lock")
        self._lock.setStaleLockTime(0)  # it is held for days; that its holder lives is what counts
        self._callers: set[QLocalSocket] = set()
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._accept_callers)

    def acquire(self) -> bool:
        """Try to become the first instance, until `close`; False: another instance runs."""
        with suppress(OSError):  # what cannot be made cannot be locked either
            Path(self._path).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not self._lock.tryLock(0):
            return False
        name = f"{self._path}.socket"
        QLocalServer.removeServer(name)
        if not self._server.listen(name):  # its path may be too long
            log.warning("a second start will not show this window: %s", self._server.errorString())
        return True

    def notify_first(self, link: str = "") -> bool:
        """Ask the first instance to show its window or to open `link`; False: it did not accept."""
        let_another_come_to_the_front()
        socket = QLocalSocket()
        socket.connectToServer(f"{self._path}.socket")
        if not socket.waitForConnected(ANSWER_TIMEOUT_MS):
            return False
        socket.write(OPEN_REQUEST + link.encode() + b"\n" if link else SHOW_REQUEST)
        agreed = socket.waitForReadyRead(ANSWER_TIMEOUT_MS) and socket.readAll().data() == ACCEPTED
        socket.abort()
        return agreed

    def close(self) -> None:
        self._server.close()
        for caller in list(self._callers):
            caller.abort()
        self._lock.unlock()

    def _accept_callers(self) -> None:
        while (socket := self._server.nextPendingConnection()) is not None:
            socket.setParent(None)  # else it goes with the server, below Python's feet
            self._callers.add(socket)
            socket.readyRead.connect(partial(self._receive, socket))
            socket.disconnected.connect(partial(self._forget, socket))

    def _receive(self, socket: QLocalSocket) -> None:
        request = bytes(socket.peek(MOST_BYTES).data())
        if not request.endswith(b"\n"):
            start = request[: len(OPEN_REQUEST)]
            may_become_one = SHOW_REQUEST.startswith(request) or OPEN_REQUEST.startswith(start)
            if len(request) >= MOST_BYTES or not may_become_one:
                socket.abort()
            return
        socket.readAll()
        if not (request == SHOW_REQUEST or request.startswith(OPEN_REQUEST)):
            socket.abort()
            return
        socket.write(ACCEPTED)
        socket.flush()
        if request == SHOW_REQUEST:
            self.show_requested.emit()
        else:
            self.link_received.emit(
                request.removeprefix(OPEN_REQUEST).strip().decode("utf-8", "replace")
            )

    def _forget(self, socket: QLocalSocket) -> None:
        if socket in self._callers:
            self._callers.discard(socket)
            socket.deleteLater()
