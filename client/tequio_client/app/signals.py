"""SIGTERM and SIGINT as a Qt signal: Python's handlers run only when Python does."""

from __future__ import annotations

import signal
import socket
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSocketNotifier, Signal

if TYPE_CHECKING:
    from types import FrameType

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
