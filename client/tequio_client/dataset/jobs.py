"""Worker processes that encode the chunks of a source; results come in the order of the chunks.

At most `CHUNKS_PER_JOB` chunks for each process have been read and are not yet handed on, so the
memory that this takes does not grow with the source: 2 chunks for each process, of at most
`CHUNK_ROWS` rows and about `CHUNK_BYTES` bytes of text (a longer row is a chunk of its own).

A process gets the encoder once and then one chunk after another through a pipe. It ends when the
pipe does, so also when this process is killed.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import TypeAlias

from tequio_client.dataset.encode import (
    DocumentEncoder,
    EncodedChunk,
    EncodingRules,
    encode_chunk,
)
from tequio_client.dataset.mixture import TextChunk
from tequio_client.platform import child
from tequio_shared.errors import UserFacingError

CHUNKS_PER_JOB = 2
"""One is encoded while the next one waits for the process."""
MOST_JOBS = 64
_END_S = 5.0

EncoderStart: TypeAlias = Callable[[], AbstractContextManager[DocumentEncoder]]
"""Opens an encoder in a worker process; pickled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Jobs:
    """How many processes encode, and how each of them opens its encoder.

    Without `start`, the encoder itself is sent to them.
    """

    count: int = 1
    start: EncoderStart | None = None


def default_jobs() -> int:
    """Processor cores that this process may use, at most `MOST_JOBS`."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, min(cores or 1, MOST_JOBS))


class ChunkEncoding:
    """Encodes chunks in this process, or in several; iterate it once.

    With one job, and for a source of a single chunk, no process is started: one costs about a
    second.
    """

    def __init__(self, encoder: DocumentEncoder, rules: EncodingRules, jobs: Jobs) -> None:
        self._encoder, self._rules, self._jobs = encoder, rules, jobs
        self.rows_in_flight = 0
        """Rows that were read and whose ids were not yet handed on."""

    def results(self, chunks: Iterable[TextChunk]) -> Iterator[tuple[TextChunk, EncodedChunk]]:
        """Give each chunk with its documents, in their order. Raises UserFacingError."""
        waiting: deque[tuple[TextChunk, Callable[[], EncodedChunk]]] = deque()
        left = iter(chunks)
        with self._submitter(left) as (submit, most, rest):
            for chunk in rest:
                self.rows_in_flight += len(chunk.texts)
                waiting.append((chunk, submit(chunk)))
                if len(waiting) == most:
                    yield self._finished(waiting)
            while waiting:
                yield self._finished(waiting)

    def _finished(
        self, waiting: deque[tuple[TextChunk, Callable[[], EncodedChunk]]]
    ) -> tuple[TextChunk, EncodedChunk]:
        chunk, result = waiting.popleft()
        encoded = result()
        self.rows_in_flight -= len(chunk.texts)
        return chunk, encoded

    @contextmanager
    def _submitter(
        self, chunks: Iterator[TextChunk]
    ) -> Iterator[
        tuple[Callable[[TextChunk], Callable[[], EncodedChunk]], int, Iterator[TextChunk]]
    ]:
        """Give a function that starts to encode a chunk, most chunks at once, and the chunks."""
        first = [one for _, one in zip(range(2), chunks, strict=False)]
        rest = chain(first, chunks)
        if self._jobs.count == 1 or len(first) < 2:  # noqa: PLR2004 - the second of them
            yield self._encode_later, 1, rest
            return
        with _processes(self._encoder, self._rules, self._jobs) as (threads, ask):
            yield (
                lambda chunk: threads.submit(ask, chunk).result,
                CHUNKS_PER_JOB * self._jobs.count,
                rest,
            )

    def _encode_later(self, chunk: TextChunk) -> Callable[[], EncodedChunk]:
        return partial(encode_chunk, self._encoder, self._rules, chunk.part, chunk.texts)


@contextmanager
def _processes(
    encoder: DocumentEncoder, rules: EncodingRules, jobs: Jobs
) -> Iterator[tuple[ThreadPoolExecutor, Callable[[TextChunk], EncodedChunk]]]:
    """Start the processes, and a thread for each that talks to it; ends all of them."""
    start = jobs.start or partial(_opened, encoder)
    threads = ThreadPoolExecutor(jobs.count, "encoding")
    workers: list[_Worker] = []
    idle: SimpleQueue[_Worker] = SimpleQueue()

    def ask(chunk: TextChunk) -> EncodedChunk:
        worker = idle.get()
        try:
            return worker.encode(chunk)
        finally:
            idle.put(worker)

    try:
        for _ in range(jobs.count):
            workers.append(_Worker(start, rules))
            idle.put(workers[-1])
        yield threads, ask
    except BaseException:
        for worker in workers:
            worker.kill()  # also ends a thread's wait for its answer
        raise
    finally:
        threads.shutdown(cancel_futures=True)
        for worker in workers:
            worker.close()


def _opened(encoder: DocumentEncoder) -> AbstractContextManager[DocumentEncoder]:
    return nullcontext(encoder)


class _Worker:
    """A process that encodes, seen from its parent; used by one thread at a time."""

    def __init__(self, start: EncoderStart, rules: EncodingRules) -> None:
        spawn = multiprocessing.get_context("spawn")
        self._pipe, theirs = spawn.Pipe()
        self._process = spawn.Process(target=_serve, args=(theirs, start, rules), daemon=True)
        self._process.start()
        theirs.close()
        if self._process.pid is not None:
            child.end_with_us(self._process.pid)

    def encode(self, chunk: TextChunk) -> EncodedChunk:
        """Encode a chunk; raises UserFacingError, also for a process that has ended."""
        try:
            self._pipe.send((chunk.part, chunk.texts))
            answer: EncodedChunk | str = self._pipe.recv()
        except (EOFError, OSError) as err:
            raise UserFacingError(
                f"a process that encodes documents ended at {chunk.behind.row:,} rows, perhaps for "
                "lack of memory: give the same command again with fewer --jobs, and it continues"
            ) from err
        if isinstance(answer, str):
            raise UserFacingError(answer)
        return answer

    def kill(self) -> None:
        self._process.kill()

    def close(self) -> None:
        """End the process, by the end of its input, or else at once."""
        self._pipe.close()
        self._process.join(_END_S)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()


def _serve(pipe: Connection, start: EncoderStart, rules: EncodingRules) -> None:
    """Encode what comes through the pipe until it ends: the process's program."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent too, which decides
    child.end_with_parent()
    with suppress(EOFError, OSError):
        part, texts = pipe.recv()
        try:
            with start() as encoder:
                while True:
                    pipe.send(encode_chunk(encoder, rules, part, texts))
                    part, texts = pipe.recv()
        except UserFacingError as err:
            pipe.send(str(err))
