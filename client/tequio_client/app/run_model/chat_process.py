"""The program that runs a model for the app: `tequio chat --json`, started for the first question.

It computes on the processor at low priority, so that it takes no graphics memory away from training
or a game. It ends when told to, and after `IDLE_MS` without a question.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from PySide6.QtCore import QObject, QProcess, QTimer, Signal

from tequio_client import cli
from tequio_client.ipc import chat
from tequio_client.ipc.chat import (
    AnswerEnd,
    AnswerPiece,
    AskModel,
    ChatFailed,
    ChatProblem,
    ForgetTurns,
    FromChat,
    ModelReady,
    PreparingModel,
    StopAnswer,
    ToChat,
)
from tequio_client.platform import programs
from tequio_shared.errors import MalformedError

IDLE_MS = 5 * 60_000
END_MS = 2_000
TOKENS = 200
"""Longest answer."""


class ChatState(StrEnum):
    OFF = "off"
    PREPARING = "preparing"
    READY = "ready"
    ANSWERING = "answering"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatTarget:
    """The run whose newest head answers."""

    run: str
    """The run's id."""
    ledger: str
    folder: Path
    """The worker's folder, whose store has the weights."""


def chat_command(target: ChatTarget, *, also_seeds: bool) -> tuple[str, ...]:
    """The command line; `also_seeds`: weights that the store lacks are fetched."""
    folder = target.folder
    is_usual = folder == cli.default_folder("worker")
    heads = cli.default_folder("chat") if is_usual else folder / "chat"
    threads = max((os.cpu_count() or 2) // 2, 1)
    return programs.runtime_module(
        "tequio_client",
        *("chat", "--json", f"--run={target.run}", "--ledger", target.ledger),
        *("--store", str(folder), "--consents", str(folder), "--dir", str(heads)),
        *("--device", "cpu", "--threads", str(threads), "--tokens", str(TOKENS)),
        *(("--seeds",) if also_seeds else ()),
    )


class ChatProcess(QObject):
    """At most one program; `end` ends it, and must be called before this object goes."""

    changed = Signal()
    written = Signal(str)
    """More of the answer."""
    answered = Signal()
    """The answer is complete, or was stopped."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.state = ChatState.OFF
        self.failure: ChatFailed | None = None
        """Why the last program ended; None: it was told to, or has not ended."""
        self.progress: PreparingModel | None = None
        self.ready: ModelReady | None = None
        """The head that answers."""
        self._process: QProcess | None = None
        self._number = 0
        self._waiting: AskModel | None = None  # until the model is ready
        self._idle = QTimer(self, singleShot=True, interval=IDLE_MS)
        self._idle.timeout.connect(self.end)

    @property
    def pid(self) -> int:
        """0: no program runs."""
        return self._process.processId() if self._process is not None else 0

    def ask(self, text: str, command: Sequence[str]) -> None:
        """Answer that, with a program started by this command unless one runs."""
        if self.failure is not None:
            self.end()  # it says why it ends before it has ended
        self._number += 1
        question = AskModel(number=self._number, text=text[: chat.MAX_CHARACTERS])
        self.failure = None
        self._idle.stop()
        if self._process is None:
            self._start(command)
        if self.state is ChatState.READY:
            self._send_question(question)
        else:
            self._waiting = question
        self.changed.emit()

    def stop_answer(self) -> None:
        """Ask for no more of the answer; `answered` follows."""
        if self.state is ChatState.PREPARING:
            self.end()
            self.answered.emit()
        elif self.state is ChatState.ANSWERING:
            self._send(StopAnswer(number=self._number))

    def forget(self) -> None:
        """Start a new conversation."""
        if self.state is ChatState.READY:
            self._send(ForgetTurns())

    def end(self) -> None:
        """End the program at once."""
        self._idle.stop()
        process, self._process = self._process, None
        if process is None:
            return
        # Its signals must not be taken for those of the next program.
        process.blockSignals(True)  # noqa: FBT003 - Qt's own
        process.kill()
        process.waitForFinished(END_MS)
        process.deleteLater()
        self._reset()

    def _reset(self) -> None:
        self.state, self._waiting = ChatState.OFF, None
        self.progress, self.ready = None, None
        self.changed.emit()

    def _start(self, command: Sequence[str]) -> None:
        program, *words = command
        process = QProcess(self)
        process.setProgram(program)
        process.setArguments(words)
        process.readyReadStandardOutput.connect(self._read)
        process.finished.connect(self._finish)
        process.errorOccurred.connect(self._fail_to_start)
        self._process, self.state = process, ChatState.PREPARING
        process.start()

    def _send(self, message: ToChat) -> None:
        if self._process is not None:
            self._process.write(chat.encode(message))

    def _send_question(self, question: AskModel) -> None:
        self.state, self._waiting = ChatState.ANSWERING, None
        self._send(question)

    def _read(self) -> None:
        while (process := self._process) is not None and process.canReadLine():
            try:
                message: FromChat = chat.decode_from_chat(bytes(process.readLine().data()))
            except MalformedError:
                continue  # a library's own words
            self._receive(message)

    def _receive(self, message: FromChat) -> None:
        if isinstance(message, (AnswerPiece, AnswerEnd)):
            if message.number == self._number:
                self._receive_answer(message)
            return
        if isinstance(message, ModelReady):
            self.ready, self.progress, self.state = message, None, ChatState.READY
            if self._waiting is not None:
                self._send_question(self._waiting)
        elif isinstance(message, PreparingModel):
            self.progress = message
        else:
            self.failure = message
        self.changed.emit()

    def _receive_answer(self, message: AnswerPiece | AnswerEnd) -> None:
        if isinstance(message, AnswerPiece):
            self.written.emit(message.text)
            return
        self.state = ChatState.READY
        self._idle.start()
        self.answered.emit()
        self.changed.emit()

    def _finish(self) -> None:
        self._read()
        process, self._process = self._process, None
        if process is None:
            return
        was_answering = self._waiting is not None or self.state is ChatState.ANSWERING
        if self.failure is None:
            said = bytes(process.readAllStandardError().data()).decode(errors="replace")
            self._fail(next(reversed(said.strip().splitlines()), ""))
        process.deleteLater()
        self._reset()
        if was_answering:
            self.answered.emit()

    def _fail_to_start(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart and self._process is not None:
            self._fail(self._process.errorString())
            self._finish()

    def _fail(self, reason: str) -> None:
        self.failure = ChatFailed(problem=ChatProblem.OTHER, reason=reason)
