"""The two ways to a worker: pipes of one that we start, and the door of one that runs already."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QProcess, QTimer, Signal
from PySide6.QtNetwork import QAbstractSocket, QLocalSocket, QTcpSocket

from tequio_client import control_socket

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

LOG = "worker.log"
LOG_BYTES = 4 << 20
"""A log of that length is put aside, before a start or under way; the one before it goes."""
LOOK_MS = 10_000
"""Between two looks at how long it has become."""
TAIL_BYTES = 8_192
BYE_MS, TERMINATE_MS, KILL_MS = 2_500, 1_000, 2_000
"""How long a worker may take to say goodbye, to end when told by the system, and to be ended."""
PROOF_MS = 5_000
"""How long what has a worker's port may take to show that it is that worker."""
OURS = "tequio: "
"""How the last words of a program of ours begin."""


class Link(QObject):
    """A way to a worker; `ended` comes once, and nothing after it."""

    ready = Signal()
    heard = Signal(bytes)
    ended = Signal(str)
    """It is over, and why, as far as the other end or the system said."""
    is_ours = True
    """Whether we started what is there, and may end it."""

    def start(self) -> None:
        """Begin; `ready` or `ended` follows."""
        raise NotImplementedError

    def write(self, line: bytes) -> None:
        """Send that; what cannot be sent is dropped, and `ended` says why."""
        raise NotImplementedError

    def stop(self) -> None:
        """Have it ended at once, without waiting for it."""
        raise NotImplementedError

    def leave(self) -> None:
        """Have it end by itself now that goodbye was said, without waiting for it."""
        raise NotImplementedError

    def close(self) -> None:
        """End it now that goodbye was said, and wait until it is gone. `ended` is not emitted."""
        raise NotImplementedError


class Child(Link):
    """A worker that we start; what it logs goes to a file in its folder."""

    def __init__(self, command: Sequence[str], folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._log = folder / LOG
        self._log_start = 0
        self._is_over = False
        self._process = QProcess(self)
        self._process.setProgram(command[0])
        self._process.setArguments(list(command[1:]))
        self._process.readyReadStandardOutput.connect(self._read)
        self._process.started.connect(self.ready)
        self._process.finished.connect(self._finish)
        self._process.errorOccurred.connect(self._err)
        self._killing = QTimer(self, interval=TERMINATE_MS, singleShot=True)
        self._killing.timeout.connect(self._process.kill)
        self._was_cut = False
        self._look = QTimer(self, interval=LOOK_MS)
        self._look.timeout.connect(self._trim)

    @property
    def pid(self) -> int:
        """Of the process; 0: there is none."""
        return self._process.processId()

    def start(self) -> None:
        """See Link."""
        try:
            self._log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._log_start = _room_for(self._log)
        except OSError as err:
            self._end(f"{self._log.parent}: {err.strerror or err}")
            return
        self._process.setStandardErrorFile(str(self._log), QProcess.OpenModeFlag.Append)
        self._process.start()
        self._look.start()

    def write(self, line: bytes) -> None:
        """See Link."""
        if self._process.state() is not QProcess.ProcessState.NotRunning:
            self._process.write(line)

    def stop(self) -> None:
        """See Link."""
        if self._process.state() is QProcess.ProcessState.NotRunning:
            self._end("")
            return
        self._process.terminate()
        self._killing.start(TERMINATE_MS)

    def leave(self) -> None:
        """See Link."""
        if self._process.state() is QProcess.ProcessState.NotRunning:
            self._end("")
            return
        self._process.closeWriteChannel()
        self._killing.start(BYE_MS)

    def close(self) -> None:
        """See Link."""
        self._is_over = True
        self._killing.stop()
        self._look.stop()
        process = self._process
        if process.state() is QProcess.ProcessState.NotRunning:
            return
        process.closeWriteChannel()
        if process.waitForFinished(BYE_MS):
            return
        process.terminate()
        if not process.waitForFinished(TERMINATE_MS):
            process.kill()
            process.waitForFinished(KILL_MS)

    def _read(self) -> None:
        if not self._is_over:
            self.heard.emit(self._process.readAllStandardOutput().data())

    def _finish(self, code: int, status: QProcess.ExitStatus) -> None:
        self._killing.stop()
        if status is QProcess.ExitStatus.CrashExit:
            why = self.tr("The worker was ended from outside ({code}).").format(code=code)
        else:
            why = self.tr("The worker has ended ({code}).").format(code=code)
        said = _last_words(self._log, self._log_start)
        if not said and self._was_cut:
            said = _last_words(_aside(self._log), 0)
        self._end(said or why)

    def _trim(self) -> None:
        """What it starts writes there too, and may never end: begin the file anew."""
        with suppress(OSError):
            if self._log.stat().st_size >= LOG_BYTES:
                with self._log.open("rb+") as log, _aside(self._log).open("wb") as aside:
                    log.seek(-LOG_BYTES, os.SEEK_END)
                    aside.write(log.read(LOG_BYTES))
                    aside.write(log.read())  # what came meanwhile
                    log.truncate(0)  # whoever writes goes on at its end
                self._log_start, self._was_cut = 0, True

    def _err(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart:
            self._end(self._process.errorString())

    def _end(self, why: str) -> None:
        self._look.stop()
        if not self._is_over:
            self._is_over = True
            self.ended.emit(why)


class Visit(Link):
    """A worker that runs already, by its folder's door; when we go it stays."""

    is_ours = False

    def __init__(self, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._folder = folder
        self._is_over = self._was_ready = False
        self._socket: QLocalSocket | QTcpSocket | None = None
        self._port: control_socket.LoopbackPort | None = None
        self._proof = b""  # as much of it as has come
        self._doubt = QTimer(self, interval=PROOF_MS, singleShot=True)
        self._doubt.timeout.connect(self.stop)

    def start(self) -> None:
        """See Link."""
        self._port = control_socket.port_of(self._folder)
        if self._port is None:
            self._over_unix(self._folder / control_socket.SOCKET)
        else:
            self._over_loopback(self._port)

    def _over_unix(self, path: Path) -> None:
        if not path.exists():
            self._end("")
            return
        socket = QLocalSocket(self)
        socket.connected.connect(self._begin)
        socket.errorOccurred.connect(self._err)
        self._hear(socket)
        socket.connectToServer(str(path))

    def _over_loopback(self, port: control_socket.LoopbackPort) -> None:
        socket = QTcpSocket(self)
        socket.connected.connect(lambda: self.write(port.asked))
        socket.errorOccurred.connect(self._err)
        self._hear(socket)
        self._doubt.start()
        socket.connectToHost("127.0.0.1", port.port)

    def _hear(self, socket: QLocalSocket | QTcpSocket) -> None:
        self._socket = socket
        socket.readyRead.connect(self._read)
        socket.disconnected.connect(lambda: self._end(""))

    def write(self, line: bytes) -> None:
        """See Link."""
        if self._socket is not None and not self._is_over:
            self._socket.write(line)

    def stop(self) -> None:
        """See Link."""
        self._doubt.stop()
        if self._socket is not None:
            self._socket.abort()
        self._end("")

    def leave(self) -> None:
        """See Link."""
        self.stop()

    def close(self) -> None:
        """See Link."""
        self._is_over = True
        self._doubt.stop()
        if self._socket is not None:
            self._socket.abort()

    def _begin(self) -> None:
        self._was_ready = True
        self.ready.emit()

    def _read(self) -> None:
        if self._socket is not None and not self._is_over:
            chunk = self._socket.readAll().data()
            if self._was_ready:
                self.heard.emit(chunk)
            elif self._port is not None:
                self._check(self._proof + chunk, self._port)

    def _check(self, said: bytes, port: control_socket.LoopbackPort) -> None:
        """Begin once the other end has shown that it wrote the file: it says nothing before us."""
        self._proof = said
        if port.is_proven(said):
            self._doubt.stop()
            self._begin()
        elif not port.answered.startswith(said):
            self.stop()

    def _err(self, _: QLocalSocket.LocalSocketError | QAbstractSocket.SocketError) -> None:
        self._end("" if self._was_ready or self._socket is None else self._socket.errorString())

    def _end(self, why: str) -> None:
        if not self._is_over:
            self._is_over = True
            self.ended.emit(why)


def _room_for(log: Path) -> int:
    """Put a long log aside; gives where the next line will be written. Raises OSError."""
    size = log.stat().st_size if log.exists() else 0
    if size < LOG_BYTES:
        return size
    log.replace(_aside(log))
    return 0


def _aside(log: Path) -> Path:
    return log.with_name(f"{log.name}.1")


def _last_words(log: Path, start: int) -> str:
    """The sentence with which the worker ended, if it said one."""
    try:
        with log.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(start, size - TAIL_BYTES))
            lines = file.read(TAIL_BYTES).decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    said = [line.removeprefix(OURS) for line in lines if line.startswith(OURS)]
    return said[-1][:1_000] if said else ""
