"""Two transports to a worker: pipes of a child process, and the socket of one that already runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, QProcess, QTimer, Signal
from PySide6.QtNetwork import QAbstractSocket, QLocalSocket, QTcpSocket

from tequio_client import control_socket, files

LOG = "worker.log"
TAIL_BYTES = 8_192
ERROR_PREFIX = "tequio: "
"""Prefix of the last error that our programs write to stderr."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerLimits:
    """Limits of transport, conversation and supervision: milliseconds, and sizes in bytes."""

    log_bytes: int = 4 << 20
    """A log of this size is rotated before a start and, except on Windows, while it grows; one old
    log is preserved."""
    log_check_ms: int = 10_000
    """Interval of the check for the log's size."""
    goodbye_ms: int = 2_500
    terminate_ms: int = 1_000
    kill_ms: int = 2_000
    """Grace after goodbye, after SIGTERM and after SIGKILL."""
    proof_ms: int = 5_000
    """Time for the process on a worker's port to prove that it is that worker."""
    command_repeat_ms: int = 500
    facts_repeat_ms: int = 7_000
    """Longer than a resting session takes to have new ones, which are sent at once."""
    answer_ms: int = 30_000
    """A question that waits longer counts as refused."""
    slow_answer_ms: int = 135_000
    """The same for a benchmark and for requests about the key: longer than the worker allows
    itself for them."""
    silence_ms: int = 5_000
    """The worker hangs after two such periods without a snapshot; a single one may be the
    computer's sleep."""
    starting_ms: int = 60_000
    """Until the welcome: loading a worker's libraries from a cold disk takes long."""
    joining_ms: int = 360_000
    """Until the first snapshot of a worker that joins by an invitation first: the ledger may be
    slow."""
    pauses_ms: tuple[int, ...] = (500, 1_000, 2_000, 4_000)
    """Before the second attempt to start a worker, the third, and so on."""


WORKER_LIMITS = WorkerLimits()


class WorkerTransport(QObject):
    """A transport to a worker; `ended` is emitted once, and nothing after it."""

    ready = Signal()
    received = Signal(bytes)
    ended = Signal(str)
    """The reason, as far as the other end or the system gave one."""

    def __init__(self, parent: QObject | None) -> None:
        super().__init__(parent)
        self._is_over = False

    def start(self) -> None:
        """Connect; emits `ready` or `ended`."""
        raise NotImplementedError

    def write(self, line: bytes) -> None:
        """Send a line; if it cannot be sent, `ended` reports the reason."""
        raise NotImplementedError

    def stop(self) -> None:
        """End the worker at once, without waiting."""
        raise NotImplementedError

    def let_end(self) -> None:
        """Let the worker end by itself after goodbye, without waiting."""
        self.stop()

    def close(self) -> None:
        """End the worker after goodbye and wait for it. `ended` is not emitted."""
        raise NotImplementedError

    def _end(self, why: str) -> None:
        if not self._is_over:
            self._is_over = True
            self.ended.emit(why)


class ChildTransport(WorkerTransport):
    """A child process; its log is a file in its folder."""

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        parent: QObject | None = None,
        *,
        limits: WorkerLimits = WORKER_LIMITS,
    ) -> None:
        super().__init__(parent)
        self._limits = limits
        self._log = folder / LOG
        self._log_start = 0
        self._process = QProcess(self)
        self._process.setProgram(command[0])
        self._process.setArguments(list(command[1:]))
        self._process.readyReadStandardOutput.connect(self._read)
        self._process.started.connect(self.ready)
        self._process.finished.connect(self._finish)
        self._process.errorOccurred.connect(self._fail)
        self._killing = QTimer(self, singleShot=True)
        self._killing.timeout.connect(self._process.kill)
        self._was_cut = False
        self._log_timer = QTimer(self, interval=limits.log_check_ms)
        self._log_timer.timeout.connect(self._trim)

    @property
    def pid(self) -> int:
        """0: no process."""
        return self._process.processId()

    def start(self) -> None:
        try:
            self._log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._log_start = _room_for(self._log, self._limits.log_bytes)
        except OSError as err:
            self._end(f"{self._log.parent}: {err.strerror or err}")
            return
        self._process.setStandardErrorFile(str(self._log), QProcess.OpenModeFlag.Append)
        self._process.start()
        # On Windows Qt lets the process write, but not append: behind the cut it would go on where
        # it was, and leave a gap of zero bytes before that.
        if sys.platform != "win32":
            self._log_timer.start()

    def write(self, line: bytes) -> None:
        if self._process.state() is not QProcess.ProcessState.NotRunning:
            self._process.write(line)

    def stop(self) -> None:
        self._ask_to_end(self._process.terminate, self._limits.terminate_ms)

    def let_end(self) -> None:
        # The worker ends when its stdin closes.
        self._ask_to_end(self._process.closeWriteChannel, self._limits.goodbye_ms)

    def _ask_to_end(self, ask: Callable[[], None], grace_ms: int) -> None:
        """Kill the process if it still runs after the grace."""
        if self._process.state() is QProcess.ProcessState.NotRunning:
            self._end("")
            return
        ask()
        self._killing.start(grace_ms)

    def close(self) -> None:
        self._is_over = True
        self._killing.stop()
        self._log_timer.stop()
        process, limits = self._process, self._limits
        if process.state() is QProcess.ProcessState.NotRunning:
            return
        # The kill ladder: goodbye, SIGTERM, SIGKILL. Each wait is bounded, because a desktop ends
        # programs that take too long to quit, and the worker must not outlive the app unnoticed.
        process.closeWriteChannel()
        if process.waitForFinished(limits.goodbye_ms):
            return
        process.terminate()
        if not process.waitForFinished(limits.terminate_ms):
            process.kill()
            process.waitForFinished(limits.kill_ms)

    def _read(self) -> None:
        if not self._is_over:
            self.received.emit(self._process.readAllStandardOutput().data())

    def _finish(self, code: int, status: QProcess.ExitStatus) -> None:
        self._killing.stop()
        if status is QProcess.ExitStatus.CrashExit:
            why = self.tr("The worker was ended from outside ({code}).").format(code=code)
        else:
            why = self.tr("The worker has ended ({code}).").format(code=code)
        # The worker's own error says more than an exit code, so read it from the log. A rotation
        # may have moved it to the old log meanwhile.
        text = _last_words(self._log, self._log_start)
        if not text and self._was_cut:
            text = _last_words(_aside(self._log), 0)
        self._end(text or why)

    def _trim(self) -> None:
        """Rotate the log in place: the worker's own children write to it too."""
        most_bytes = self._limits.log_bytes
        with suppress(OSError):
            if self._log.stat().st_size >= most_bytes:
                with self._log.open("rb+") as log, _aside(self._log).open("wb") as aside:
                    log.seek(-most_bytes, os.SEEK_END)
                    aside.write(log.read(most_bytes))
                    aside.write(log.read())  # written since the first read
                    log.truncate(0)  # the writers append, so they continue at offset 0
                self._log_start, self._was_cut = 0, True

    def _fail(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart:
            self._end(self._process.errorString())

    def _end(self, why: str) -> None:
        self._log_timer.stop()
        super()._end(why)


class ControlSocketTransport(WorkerTransport):
    """A worker of another program, by its control socket; it keeps running when we leave."""

    def __init__(
        self,
        folder: Path,
        parent: QObject | None = None,
        *,
        limits: WorkerLimits = WORKER_LIMITS,
    ) -> None:
        super().__init__(parent)
        self._folder = folder
        self._was_ready = False
        self._socket: QLocalSocket | QTcpSocket | None = None
        self._address: control_socket.ControlAddress | None = None
        self._proof = b""  # as much of it as has come
        self._proof_timer = QTimer(self, interval=limits.proof_ms, singleShot=True)
        self._proof_timer.timeout.connect(self.stop)

    def start(self) -> None:
        address = self._address = control_socket.read_address(self._folder)
        if address is None:
            self._end("")
            return
        socket = QTcpSocket(self) if address.port else QLocalSocket(self)
        self._socket = socket
        # Any program may occupy a port that a dead worker has left in the file, so the other end
        # must prove its identity before the conversation begins.
        socket.connected.connect(lambda: self.write(address.caller_line))
        socket.errorOccurred.connect(self._fail)
        socket.readyRead.connect(self._read)
        socket.disconnected.connect(lambda: self._end(""))
        self._proof_timer.start()
        if isinstance(socket, QTcpSocket):
            socket.connectToHost("127.0.0.1", address.port)
        else:
            socket.connectToServer(str(self._folder / control_socket.SOCKET))

    def write(self, line: bytes) -> None:
        if self._socket is not None and not self._is_over:
            self._socket.write(line)

    def stop(self) -> None:
        self._proof_timer.stop()
        if self._socket is not None:
            self._socket.abort()
        self._end("")

    def close(self) -> None:
        self._is_over = True
        self._proof_timer.stop()
        if self._socket is not None:
            self._socket.abort()

    def _read(self) -> None:
        if self._socket is not None and not self._is_over:
            chunk = self._socket.readAll().data()
            if self._was_ready:
                self.received.emit(chunk)
            elif self._address is not None:
                self._check(self._proof + chunk, self._address)

    def _check(self, text: bytes, address: control_socket.ControlAddress) -> None:
        """Begin once the other end has proved that it wrote the address file."""
        self._proof = text
        if address.is_worker_line(text):
            self._proof_timer.stop()
            self._was_ready = True
            self.ready.emit()
        elif not address.worker_line.startswith(text):
            self.stop()

    def _fail(self, _: QLocalSocket.LocalSocketError | QAbstractSocket.SocketError) -> None:
        self._end("" if self._was_ready or self._socket is None else self._socket.errorString())


def _room_for(log: Path, most_bytes: int) -> int:
    """Rotate a large log; returns the offset of the next line. Raises OSError."""
    size = log.stat().st_size if log.exists() else 0
    if size < most_bytes:
        return size
    try:
        files.move(log, _aside(log))
    except PermissionError:  # on Windows: a former worker's trainer may be writing its last line
        return size
    return 0


def _aside(log: Path) -> Path:
    return log.with_name(f"{log.name}.1")


def _last_words(log: Path, start: int) -> str:
    """The last error that the worker reported, if there is one."""
    try:
        with log.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(start, size - TAIL_BYTES))
            lines = file.read(TAIL_BYTES).decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    text = [line.removeprefix(ERROR_PREFIX) for line in lines if line.startswith(ERROR_PREFIX)]
    return text[-1][:1_000] if text else ""
