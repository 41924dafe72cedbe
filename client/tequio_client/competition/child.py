"""The evaluator as a worker's child: it scores in one competition, and has no key to sign with.

Three threads: one reads, one reports the progress every second, the first one works. The reader
ends the process at once when the worker is gone or wants the device back; the journal has what is
scored, so the next child continues there. A model that hangs, or takes all memory, ends the
process, and the next child scores the others first. When it has to wait for other evaluators, the
child exits, so that a trainer can use the device meanwhile.
"""

from __future__ import annotations

import itertools
import os
import queue
import signal
import stat
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, NoReturn

import psutil
import structlog

from tequio_client.checkpoint.export import WEIGHTS_FETCHED
from tequio_client.clock import now_ms
from tequio_client.competition.evaluator import Evaluator, EvaluatorContext
from tequio_client.ipc import evaluator as link
from tequio_client.ipc.evaluator import EvaluatorLimits
from tequio_client.ledger.http import LedgerRefusedError
from tequio_client.platform.child import ParentPipe
from tequio_client.runtime import configure_logging, locked
from tequio_client.trainer import device as devices
from tequio_client.trainer.pacing import Pacing
from tequio_client.verify.reader import LedgerReader
from tequio_client.worker.children import evaluator as evaluator_files
from tequio_shared import encoding
from tequio_shared.errors import MalformedError, TequioError, UserFacingError, first_error
from tequio_shared.ids import Digest, digest_from_text, key_from_text
from tequio_shared.log.policy import Policy
from tequio_shared.statements.statement import Body

log = structlog.get_logger(__name__)

HEARTBEAT_S = 1.0
POLL_S = 1.0
IDLE_S = 10.0
"""Time without anything to do after which it ends for now."""
FORMER_CHILD_S = 5.0
"""Longest time in which a former child, whose worker was killed, notices that."""
OVERDUE_MS = 60_000
"""Longest time that a model may exceed its own."""
MIN_FREE_BYTES = 512 << 20
"""Memory of this computer that no model may take."""
_SCORING = "documents of "
_LOCK_POLL_S = 0.2
_MIB = 1 << 20


def main(*, sandbox: str = "") -> NoReturn:
    """Follow the worker's commands on standard input, until there is nothing to do.

    `sandbox` names what confines this process, for people.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for our parent
    configure_logging(style="console")
    log.info("sandbox", by=sandbox or "none")
    pipe, lines = ParentPipe(), sys.stdin.buffer
    begin = link.decode_to_child(lines.readline(link.LINE_BYTES + 1))
    if not isinstance(begin, link.BeginEvaluation):
        raise MalformedError("the first line must say where to begin")
    pace = ScoringPace(begin.limit)
    folder, competition = Path(begin.folder), digest_from_text(begin.competition)
    progress = ChildProgress(
        pace,
        partial(evaluator_files.count_scored_models, folder, competition),
        evaluator_files.hub_cache(folder),
    )
    submitter = WorkerSubmitter(pipe, begin, progress)
    threading.Thread(target=_send_heartbeats, args=(progress, submitter), daemon=True).start()
    threading.Thread(target=_read, args=(lines, pace, submitter), daemon=True).start()
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", "ascii")  # the first process to end
    status = 1
    try:
        is_over = _evaluate(begin, submitter, progress, pace)
        submitter.send(link.EvaluationDone(is_over=is_over))
        status = 0
    except* (TequioError, OSError) as group:
        submitter.report(str(first_error(group)))
    finally:
        if sys.exc_info()[0] is not None:
            traceback.print_exc()
        os._exit(status)  # an ordinary exit would wait for the thread that reads


def _evaluate(
    begin: link.BeginEvaluation,
    submitter: WorkerSubmitter,
    progress: ChildProgress,
    pace: ScoringPace,
) -> bool:
    chosen = devices.open_device(begin.device)
    devices.apply_limits(chosen, threads=begin.limit.threads, memory_mb=begin.memory_mb)
    progress.device = chosen.label
    competition = digest_from_text(begin.competition)
    reader = LedgerReader(begin.ledger, Policy.parse(begin.trust.encode()) if begin.trust else None)
    context = EvaluatorContext(
        folder=submitter.folder,
        device=chosen,
        progress=progress,
        report=submitter.report,
        after_batch=pace.rest,
        set_deadline=progress.set_deadline,
    )
    with ExitStack() as stack:
        _lock(stack, submitter.folder / evaluator_files.EVALUATIONS_FOLDER)
        progress.doing = "reading"
        reader.read()
        return _work(reader, competition, Evaluator(reader, context, submitter), progress)


def _lock(stack: ExitStack, folder: Path) -> None:
    """Lock the folder as soon as a former child is gone; raises UserFacingError."""
    deadline_s = time.monotonic() + FORMER_CHILD_S
    while True:
        try:
            stack.enter_context(locked(folder))
        except UserFacingError:
            if time.monotonic() > deadline_s:
                raise
            time.sleep(_LOCK_POLL_S)
        else:
            return


def _work(
    reader: LedgerReader, competition: Digest, evaluator: Evaluator, progress: ChildProgress
) -> bool:
    """Take step after step; True if nothing is left to do, False if there is nothing for now."""
    idle_since_s: float | None = None
    while True:
        view = reader.competitions.get(competition)
        if view is None:
            raise UserFacingError(f"the log at {reader.ledger} has no such competition")
        completed = progress.completed
        progress.doing, progress.of_models = "fetching", len(view.submissions)
        if not evaluator.step(view):
            return True
        if progress.completed != completed:
            idle_since_s = None
        else:
            idle_since_s = idle_since_s or time.monotonic()
            progress.doing = "waiting"
            if time.monotonic() - idle_since_s > IDLE_S:
                return False
        time.sleep(POLL_S)
        reader.read()


def _read(lines: IO[bytes], pace: ScoringPace, submitter: WorkerSubmitter) -> NoReturn:
    while line := lines.readline(link.LINE_BYTES + 1):
        match link.decode_to_child(line):
            case link.EvaluatorLimits() as limit:
                pace.limit = limit
            case link.StatementResult() as answer:
                submitter.answers.put(answer)
    os._exit(0)


def _send_heartbeats(progress: ChildProgress, submitter: WorkerSubmitter) -> NoReturn:
    process = psutil.Process()
    while True:
        resident_bytes = process.memory_info().rss
        submitter.send(progress.heartbeat(resident_bytes // _MIB))
        free_bytes = psutil.virtual_memory().available
        if why := progress.end_reason(now_ms(), resident_bytes, free_bytes):
            submitter.report(why)
            os._exit(1)
        time.sleep(HEARTBEAT_S)


class WorkerSubmitter:
    """Sends statements to the worker that started this process, which alone has the key."""

    def __init__(
        self, pipe: ParentPipe, begin: link.BeginEvaluation, progress: ChildProgress
    ) -> None:
        self._pipe, self._progress = pipe, progress
        self._number = 0
        self.key = key_from_text(begin.key)
        self.prove = None  # the worker draws the lot
        self.folder = Path(begin.folder)
        self.answers: queue.SimpleQueue[link.StatementResult] = queue.SimpleQueue()
        """Answers to submitted statements; filled by the thread that reads the pipe."""

    def submit(self, body: Body, *documents: bytes) -> None:
        self._number += 1
        names = tuple(evaluator_files.write_document(self.folder, one) for one in documents)
        text = encoding.encode(body).decode()
        self.send(
            link.SubmitStatement(number=self._number, kind=body.TYPE, body=text, documents=names)
        )
        while (answer := self.answers.get()).number != self._number:
            pass  # of a statement that we gave up
        if answer.code == link.NOT_LOGGED:
            raise UserFacingError(answer.why)
        self._progress.completed += 1
        if answer.code:
            raise LedgerRefusedError(answer.code, answer.why)

    def report(self, line: str) -> None:
        self.send(link.EvaluatorMessage(line=line[: link.TEXT]))

    def send(self, message: link.FromChild) -> None:
        self._pipe.send(link.encode(message))


class ChildProgress:
    """Progress of the child (a WorkProgress): written by the thread that works, read by another."""

    def __init__(self, pace: ScoringPace, scored: Callable[[], int], cache: Path) -> None:
        """`scored` counts the models that are done; `cache` is the folder of the Hub's."""
        self._pace, self._scored, self._cache = pace, scored, cache
        self.completed = 0
        """Documents that were scored, and statements that were submitted."""
        self.doing = "starting"
        self.device = ""
        self.of_models = 0
        self.due_ms: int | None = None
        """Time by which the present model has to be scored (ms)."""
        self._entrant, self._documents, self._of_documents = "", 0, 0
        self._cached_bytes = self._cached_at_first = _size_bytes(cache)  # the most, and then
        self._head_bytes = 0

    @contextmanager
    def work(self, what: str, total: int) -> Iterator[Callable[[int], None]]:
        if what == WEIGHTS_FETCHED:
            yield self._head_counter()
            return
        if not what.startswith(_SCORING):
            yield lambda _: None
            return
        self._entrant, self._documents, self._of_documents = what.removeprefix(_SCORING), 0, total
        self.doing = "scoring"
        self._pace.begin()
        yield self._count
        self.doing = "fetching"

    def _head_counter(self) -> Callable[[int], None]:
        calls = itertools.count()

        def count(size_bytes: int) -> None:
            if next(calls):  # the first one is of bytes that an earlier process fetched
                self._head_bytes += size_bytes

        return count

    def set_deadline(self, due_ms: int | None) -> None:
        self.due_ms = due_ms

    def end_reason(self, now_ms: int, resident_bytes: int, free_bytes: int) -> str:
        """The reason to end this process, with the present model; empty for none."""
        if self.due_ms is None:
            return ""
        if now_ms > self.due_ms + OVERDUE_MS:
            return "a model did not end within its part of the time: the others come first"
        if free_bytes < min(MIN_FREE_BYTES, resident_bytes):
            return "a model took nearly all memory: the others come first"
        return ""

    def heartbeat(self, resident_mb: int) -> link.EvaluatorHeartbeat:
        # The most that the cache held, since a file that is renamed may be missed by one look.
        self._cached_bytes = max(self._cached_bytes, _size_bytes(self._cache))
        return link.EvaluatorHeartbeat(
            doing=self.doing,
            entrant=self._entrant,
            documents=self._documents,
            of_documents=self._of_documents,
            models=self._scored(),
            of_models=self.of_models,
            device=self.device,
            resident_mb=resident_mb,
            fetched_bytes=self._cached_bytes - self._cached_at_first + self._head_bytes,
        )

    def _count(self, documents: int) -> None:
        self._documents += documents
        self.completed += documents


def _size_bytes(folder: Path) -> int:
    size_bytes = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):  # it was renamed meanwhile
                found = (Path(place) / name).lstat()
                size_bytes += found.st_size if stat.S_ISREG(found.st_mode) else 0
    return size_bytes


class ScoringPace:
    """Rests between batches; the thread that reads the pipe replaces `limit`."""

    def __init__(self, limit: EvaluatorLimits) -> None:
        self.limit = limit
        self._pacing = Pacing(lambda: self.limit.share_percent)

    def begin(self) -> None:
        devices.limit_threads(self.limit.threads)
        self._pacing.begin()

    def rest(self, _tokens: int = 0) -> None:
        self._pacing.rest()
        devices.limit_threads(self.limit.threads)
