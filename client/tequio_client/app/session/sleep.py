"""Word of the system that it is about to sleep, has woken up, or is about to end."""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QAbstractNativeEventFilter, QByteArray, QObject, QTimer, Signal
from PySide6.QtGui import QGuiApplication

from tequio_client.clock import now_ms
from tequio_client.system.dbus import Address, Bus
from tequio_client.system.errors import AbsentError, UnknownError

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QSessionManager

MANAGER = Address(
    "org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager"
)
AGAIN_S = 30.0
"""Before a bus that hung up is listened to again."""
LOOK_MS = 5_000
ASLEEP_MS = 10_000
"""By so much the clock on the wall runs ahead of the steady one while a Mac sleeps, at least."""
_POWER_BROADCAST, _END_SESSION = 0x0218, 0x0016
_SUSPEND, _RESUMED = 0x0004, 0x0012


class SleepWatch(QObject):
    """Emits in the thread of the window, whatever the system's way is."""

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
            self._filter = _Messages(self.windows_said)
            application.installNativeEventFilter(self._filter)
        elif system == "linux":
            self._listener = _Listener(Bus(bus), self._heard)
        elif system == "darwin":
            self._ahead_ms = self._ahead()
            self._look = QTimer(self, interval=LOOK_MS)
            self._look.timeout.connect(self.look)
            self._look.start()

    def close(self) -> None:
        """Emit nothing more."""
        if self._listener is not None:
            self._listener.close()
        application = QGuiApplication.instance()
        if self._filter is not None and application is not None:
            application.removeNativeEventFilter(self._filter)
        self._filter = None  # it holds us

    def look(self) -> None:
        """Tell that a Mac has slept, once it is awake: the steady clock stood meanwhile."""
        before_ms, self._ahead_ms = self._ahead_ms, self._ahead()
        if self._ahead_ms - before_ms > ASLEEP_MS:
            self.woke.emit()

    def _ahead(self) -> int:
        return self._wall_ms() - round(self._steady_s() * 1_000)

    def windows_said(self, message: int, word: int) -> None:
        """Take a message of Windows."""
        if message == _POWER_BROADCAST and word == _SUSPEND:
            self.sleeping.emit()
        elif message == _POWER_BROADCAST and word == _RESUMED:
            self.woke.emit()
        elif message == _END_SESSION and word:
            self.ending.emit()

    def _on_commit(self, _: QSessionManager) -> None:
        self.ending.emit()

    def _heard(self, name: str, said: tuple[object, ...]) -> None:
        if name == "PrepareForSleep":
            (self.sleeping if said[:1] == (True,) else self.woke).emit()
        elif name == "PrepareForShutdown" and said[:1] == (True,):
            self.ending.emit()


class _Listener:
    """Listens in a thread of its own, which holds nothing of the window after `close`."""

    def __init__(self, bus: Bus, hear: Callable[[str, tuple[object, ...]], None]) -> None:
        self._bus = bus
        self._hear: Callable[[str, tuple[object, ...]], None] | None = hear
        self._lock, self._closed = threading.Lock(), threading.Event()
        threading.Thread(target=self._run, daemon=True).start()

    def close(self) -> None:
        """Hear nothing more."""
        with self._lock:
            self._hear = None
        self._closed.set()
        self._bus.interrupt()

    def _run(self) -> None:
        while not self._closed.is_set():
            try:
                self._bus.listen(MANAGER, self._heard)
            except (AbsentError, UnknownError):
                self._closed.wait(AGAIN_S)

    def _heard(self, name: str, said: tuple[object, ...]) -> None:
        with self._lock:
            if self._hear is not None:
                self._hear(name, said)


class _Messages(QAbstractNativeEventFilter):
    """Hands the messages of Windows on; never swallows one."""

    def __init__(self, hear: Callable[[int, int], None]) -> None:
        super().__init__()
        self._hear = hear

    def nativeEventFilter(
        self, kind: QByteArray | bytes | bytearray | memoryview[int], message: int
    ) -> tuple[bool, int]:
        """See Qt; `message` is the address of a MSG."""
        if QByteArray(kind).data() == b"windows_generic_MSG" and int(message):
            fields = ctypes.cast(int(message), ctypes.POINTER(ctypes.c_size_t))
            self._hear(fields[1] & 0xFFFFFFFF, fields[2])
        return False, 0
