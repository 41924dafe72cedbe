"""Sleep, wake-up and shutdown of the system, and keeping it awake on the user's request.

Sleep is never inhibited otherwise. Requests run in a thread of their own, since a desktop service
may hang. All systems drop an inhibition when the process that asked for it ends.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QAbstractNativeEventFilter, QByteArray, QObject, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QSessionManager

from tequio_client.app.session.linux import SCREEN_SAVER
from tequio_client.app.session.macos import MacInhibitor
from tequio_client.app.session.windows import WindowsInhibitor
from tequio_client.clock import now_ms
from tequio_client.platform.dbus import AbsentError, Bus, BusAddress, NoAnswerError, checked_value

INHIBITOR_NAME, INHIBITOR_REASON = "Tequio", "lending this computer, as its owner asked"


class SleepInhibitor(Protocol):
    """One system's way to stay awake; always called from the same thread."""

    def hold(self) -> None:
        """Raises AbsentError, NoAnswerError, OSError."""

    def release(self) -> None:
        """Raises the same."""


class ScreenSaverInhibitor:
    """org.freedesktop.ScreenSaver, for this session only."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._cookie: int | None = None

    def hold(self) -> None:
        arguments = self._bus.call(
            SCREEN_SAVER, "Inhibit", "ss", (INHIBITOR_NAME, INHIBITOR_REASON)
        )
        self._cookie = checked_value(arguments, int)

    def release(self) -> None:
        cookie, self._cookie = self._cookie, None
        if cookie is not None:
            self._bus.call(SCREEN_SAVER, "UnInhibit", "u", (cookie,))


def system_inhibitor(system: str = sys.platform, bus: str = "SESSION") -> SleepInhibitor:
    if system == "win32":
        return WindowsInhibitor()
    if system == "darwin":
        return MacInhibitor(INHIBITOR_REASON)
    return ScreenSaverInhibitor(Bus(bus))


class KeepAwake:
    """Keeps the system awake while wanted; a level, so repeated calls are harmless."""

    def __init__(self, make: Callable[[], SleepInhibitor] = system_inhibitor) -> None:
        self._make = make
        self._lock = threading.Condition()
        self._wanted = self._is_closed = False
        self._applied = False  # the last level sent to the system; owned by the thread
        self._thread: threading.Thread | None = None
        self.is_held = False
        """The system has agreed."""
        self.problem = ""
        """The last error."""

    def set_wanted(self, *, is_wanted: bool) -> None:
        """Returns at once. A refused request is not repeated automatically."""
        with self._lock:
            if is_wanted == self._wanted:
                return
            self._wanted = is_wanted
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, daemon=True)
                self._thread.start()
            self._lock.notify_all()

    def close(self) -> None:
        """Allow sleep and end the thread; waits up to two seconds for the service."""
        with self._lock:
            self._wanted, self._is_closed = False, True
            self._lock.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join(2.0)

    def _serve(self) -> None:
        inhibitor = self._make()
        while True:
            with self._lock:
                self._lock.wait_for(lambda: self._wanted != self._applied or self._is_closed)
                wanted, is_last = self._wanted, self._is_closed
            if wanted != self._applied:
                self.problem = _try(inhibitor.hold if wanted else inhibitor.release)
                self._applied, self.is_held = wanted, wanted and not self.problem
            if is_last:
                return


def _try(request: Callable[[], None]) -> str:
    try:
        request()
    except (AbsentError, NoAnswerError, OSError) as err:
        return str(err)
    return ""


MANAGER = BusAddress(
    "org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager"
)
RECONNECT_S = 30.0
"""Pause before a lost bus connection is opened again."""
CLOCK_CHECK_MS = 5_000
LEAST_SLEEP_MS = 10_000
"""Least lead of the wall clock over the monotonic clock that counts as a Mac's sleep."""
_POWER_BROADCAST, _END_SESSION = 0x0218, 0x0016
_SUSPEND, _RESUMED = 0x0004, 0x0012


class SleepWatch(QObject):
    """Emits sleep, wake-up and shutdown in the thread of the window."""

    sleeping = Signal()
    woke = Signal()
    ending = Signal()

    def __init__(
        self,
        bus: str = "SYSTEM",
        system: str = sys.platform,
        *,
        wall_ms: Callable[[], int] = now_ms,
        steady_s: Callable[[], float] = time.monotonic,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._wall_ms, self._steady_s = wall_ms, steady_s
        self._filter: _Messages | None = None
        self._listener: _Listener | None = None
        application = QGuiApplication.instance()
        if isinstance(application, QGuiApplication):
            application.commitDataRequest.connect(self._on_commit)
        if system == "win32" and application is not None:
            self._filter = _Messages(self.handle_windows_message)
            application.installNativeEventFilter(self._filter)
        elif system == "linux":
            self._listener = _Listener(Bus(bus), self._receive_signal)
        elif system == "darwin":
            self._ahead_ms = self._ahead()
            self._timer = QTimer(self, interval=CLOCK_CHECK_MS)
            self._timer.timeout.connect(self.check_clocks)
            # macOS announces sleep to a native run loop only; comparing two clocks needs none.
            self._timer.start()

    def close(self) -> None:
        if self._listener is not None:
            self._listener.close()
        application = QGuiApplication.instance()
        if self._filter is not None and application is not None:
            application.removeNativeEventFilter(self._filter)
        self._filter = None  # it refers to this object

    def check_clocks(self) -> None:
        """Detect a Mac's sleep after the fact: the monotonic clock stands still meanwhile."""
        before_ms, self._ahead_ms = self._ahead_ms, self._ahead()
        if self._ahead_ms - before_ms > LEAST_SLEEP_MS:
            self.woke.emit()

    def _ahead(self) -> int:
        return self._wall_ms() - round(self._steady_s() * 1_000)

    def handle_windows_message(self, message: int, word: int) -> None:
        if message == _POWER_BROADCAST and word == _SUSPEND:
            self.sleeping.emit()
        elif message == _POWER_BROADCAST and word == _RESUMED:
            self.woke.emit()
        elif message == _END_SESSION and word:
            self.ending.emit()

    def _on_commit(self, _: QSessionManager) -> None:
        self.ending.emit()

    def _receive_signal(self, name: str, arguments: tuple[object, ...]) -> None:
        if name == "PrepareForSleep":
            (self.sleeping if arguments[:1] == (True,) else self.woke).emit()
        elif name == "PrepareForShutdown" and arguments[:1] == (True,):
            self.ending.emit()


class _Listener:
    """Listens in its own thread, which holds no reference to the window after `close`."""

    def __init__(self, bus: Bus, callback: Callable[[str, tuple[object, ...]], None]) -> None:
        self._bus = bus
        self._callback: Callable[[str, tuple[object, ...]], None] | None = callback
        self._lock, self._closed = threading.Lock(), threading.Event()
        threading.Thread(target=self._run, daemon=True).start()

    def close(self) -> None:
        with self._lock:
            self._callback = None
        self._closed.set()
        self._bus.interrupt()

    def _run(self) -> None:
        while not self._closed.is_set():
            try:
                self._bus.listen(MANAGER, self._call_back)
            except (AbsentError, NoAnswerError):
                self._closed.wait(RECONNECT_S)

    def _call_back(self, name: str, arguments: tuple[object, ...]) -> None:
        with self._lock:
            if self._callback is not None:
                self._callback(name, arguments)


class _Messages(QAbstractNativeEventFilter):
    """Forwards messages of Windows and consumes none."""

    def __init__(self, callback: Callable[[int, int], None]) -> None:
        super().__init__()
        self._callback = callback

    def nativeEventFilter(
        self, kind: QByteArray | bytes | bytearray | memoryview[int], message: int
    ) -> tuple[bool, int]:
        """`message` is the address of a MSG."""
        if QByteArray(kind).data() == b"windows_generic_MSG" and int(message):
            fields = ctypes.cast(int(message), ctypes.POINTER(ctypes.c_size_t))
            self._callback(fields[1] & 0xFFFFFFFF, fields[2])
        return False, 0
