"""A conversation with a model as JSON lines on the standard streams, for the app.

A thread reads the questions, so that an answer can be stopped, and so that the end of the input
ends the process at once, whatever it does: what was fetched or written so far is continued later.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import psutil

from tequio_client import clock
from tequio_client.checkpoint import layout
from tequio_client.checkpoint.chat import clean_piece
from tequio_client.checkpoint.export import WeightsMissingError
from tequio_client.ipc import chat as ipc_chat
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
from tequio_shared.errors import MalformedError, TequioError, UserFacingError, first_error

if TYPE_CHECKING:
    from tequio_client.trainer.conversation import ModelChat
    from tequio_client.verify.report import WorkProgress

_REPORT_MS = 200
_FETCHED = "fetched"
"""Part of the name of work that fetches (`checkpoint.export`)."""
_MEMORY_FACTOR = 1.25
"""Memory for a model in 32 bits, beside the size of its files: caches, and what loads it."""
_MEMORY_BYTES = 400 << 20
"""Memory of torch itself."""


class NotEnoughMemoryError(UserFacingError):
    def __init__(self, needed_bytes: int, free_bytes: int) -> None:
        self.needed_bytes, self.free_bytes = needed_bytes, free_bytes
        super().__init__(
            f"the model needs about {needed_bytes / 1e9:.1f} GB of memory and "
            f"{free_bytes / 1e9:.1f} GB are free: close other programs"
        )


class QuestionReader:
    """The lines of the app, read in a thread; `ended` is called at the end of the input."""

    def __init__(self, lines: BinaryIO, ended: Callable[[], object]) -> None:
        self._lines, self._ended = lines, ended
        self._waiting: queue.Queue[AskModel | ForgetTurns] = queue.Queue(16)
        self.stopped = 0
        """Answers up to this number are not wanted any more."""
        threading.Thread(target=self._read, daemon=True).start()

    def next(self) -> AskModel | ForgetTurns:
        """Wait for the next question."""
        return self._waiting.get()

    def _read(self) -> None:
        # A line that cannot be read ends the conversation, too: the app is of another version.
        try:
            while line := self._lines.readline(ipc_chat.LINE_BYTES + 1):
                message: ToChat = ipc_chat.decode_to_chat(line)
                if isinstance(message, StopAnswer):
                    self.stopped = max(self.stopped, message.number)
                else:
                    self._waiting.put(message)
        except MalformedError:
            pass
        self._ended()


class LineProgress:
    """Reports work as lines, a few times a second."""

    def __init__(self, send: Callable[[FromChat], None]) -> None:
        self._send = send

    @contextmanager
    def work(self, what: str, total: int) -> Iterator[Callable[[int], None]]:
        """See WorkProgress."""
        done, sent_ms = 0, 0

        def tick(steps: int) -> None:
            nonlocal done, sent_ms
            done += steps
            if clock.steady_ms() - sent_ms >= _REPORT_MS:
                sent_ms = clock.steady_ms()
                is_fetching = _FETCHED in what
                most = max(total, done)
                self._send(PreparingModel(done=done, total=most, is_fetching=is_fetching))

        yield tick


def converse(
    prepare: Callable[[WorkProgress], Path],
    load: Callable[[Path], ModelChat],
    lines: BinaryIO,
    output: BinaryIO,
) -> None:
    """Prepare and load a head, then answer until the input ends, which ends the process.

    A failure is sent, and ends it with status 1.
    """

    def send(message: FromChat) -> None:
        output.write(ipc_chat.encode(message))
        output.flush()

    failure: BaseException | None = None
    reader = QuestionReader(lines, lambda: os._exit(0 if failure is None else 1))
    try:
        folder = prepare(LineProgress(send))
        claim = layout.HeadClaim.parse((folder / layout.CLAIM).read_bytes())
        check_memory(folder, psutil.virtual_memory().available)
        conversation = load(folder)
        send(ModelReady(round=claim.round, has_turns=conversation.has_turns))
        while True:
            _handle(reader.next(), conversation, reader, send)
    except* TequioError as group:  # also what a ledger or a seed did wrong
        failure = first_error(group.subgroup(UserFacingError) or group)
    if failure is not None:
        send(_failure(failure))
        # At a usual end Python would abort, because the thread holds the standard input.
        os._exit(1)


def check_memory(folder: Path, free_bytes: int) -> None:
    """Raise NotEnoughMemoryError unless the model of the folder fits beside what runs."""
    files_bytes = sum(file.stat().st_size for file in folder.rglob("*.safetensors"))
    needed_bytes = int(files_bytes * _MEMORY_FACTOR) + _MEMORY_BYTES
    if needed_bytes > free_bytes:
        raise NotEnoughMemoryError(needed_bytes, free_bytes)


def _handle(
    message: AskModel | ForgetTurns,
    conversation: ModelChat,
    reader: QuestionReader,
    send: Callable[[FromChat], None],
) -> None:
    if isinstance(message, ForgetTurns):
        conversation.forget()
        return
    number = message.number

    def pass_on(text: str) -> None:
        send(AnswerPiece(number=number, text=clean_piece(text)))

    conversation.answer(message.text, pass_on, lambda: number <= reader.stopped)
    send(AnswerEnd(number=number))


def _failure(error: BaseException) -> ChatFailed:
    if isinstance(error, NotEnoughMemoryError):
        return ChatFailed(
            problem=ChatProblem.MEMORY,
            reason=str(error),
            needed_bytes=error.needed_bytes,
            free_bytes=error.free_bytes,
        )
    is_missing = isinstance(error, WeightsMissingError)
    problem = ChatProblem.WEIGHTS if is_missing else ChatProblem.OTHER
    return ChatFailed(problem=problem, reason=str(error))
