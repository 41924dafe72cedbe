"""The queue in front of the log: entries go in, committed batches come out.

Rules: only `Sequencer.run` changes the state and calls `Log.append`. While one batch is being
written, the next one gathers, so a higher load makes batches larger, and no timer is needed. An
answer is given only when entry and checkpoint are on the disk. Admission runs in the event loop,
where all else reads the state, and asks neither the database nor a bucket: what it needs of them is
looked up before, in threads. After a failed write no object here is used again: waiting callers are
told to retry, and the ledger builds a new sequencer (`ledger`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import structlog
from sqlalchemy import Connection

from tequio_ledger import metrics
from tequio_ledger.log.clock_guard import ClockGuard
from tequio_ledger.log.documents import DocumentCache, read_with
from tequio_ledger.log.guard import Published
from tequio_ledger.log.log import AdmittedEntry, Earlier, Log
from tequio_ledger.store.database import FAILURES
from tequio_ledger.store.derived import Changes, derive, write
from tequio_shared.errors import PeerError, RefusedError, TequioError
from tequio_shared.ids import ZERO_DIGEST, Digest, PeerKey, to_text
from tequio_shared.served import admission
from tequio_shared.served.coordinator import Coordinator
from tequio_shared.served.state import State
from tequio_shared.statements.network import LogSnapshot
from tequio_shared.statements.statement import Entry, Statement

BATCH_ENTRIES = 2_048
QUEUE_ENTRIES = 4_096
CLOCK_CHECK_S = 1.0
"""Longest wait for a deadline without another look at the clock."""
_WRITE_S = 10.0

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Logged:
    id: Digest
    index: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """The same statement was already in the log."""

    id: Digest
    index: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    id: Digest
    code: str
    detail: str


Outcome = Logged | Known | Refused


@dataclass(frozen=True, slots=True)
class _Job:
    """The entries of one request; the answer is a cancelled future if the caller went away."""

    entries: tuple[Entry, ...]
    answer: asyncio.Future[list[Outcome]]
    work: Callable[[], None] | None = None
    """Runs before the batch that the job belongs to."""


class Sequencer:
    """Decides the order of entries; other code uses only `submit`, `settled` and `changed`."""

    def __init__(
        self,
        log_: Log,
        state: State,
        coordinator: Coordinator,
        documents: DocumentCache,
        timekeeper: ClockGuard,
        changed: ChangeSignal,
    ) -> None:
        self.log = log_
        self.state = state  # written in `run` only
        self.changed = changed
        """Set after each batch is published."""
        self.timekeeper = timekeeper
        self.closed_for: str | None = None
        """Reason why statements are not accepted; None while they are."""
        self.waiting = 0
        """Number of entries that wait for a batch."""
        self._coordinator = coordinator
        self._documents = documents
        self._jobs: asyncio.Queue[_Job] = asyncio.Queue()
        self._current: list[_Job] = []  # jobs of the current batch
        self._is_writing = False
        # Threads of its own: requests that occupy the shared threads must not delay the log. Two,
        # because a bucket that is slow must not silence the session of the log's writer.
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="sequencer")
        self._storer = ThreadPoolExecutor(1, thread_name_prefix="documents")

    def due_ms(self) -> int | None:
        """Give the time of the coordinator's next statement; None if only an entry can cause one.

        Never earlier than the latest signed time: after a clock change the coordinator waits.
        """
        due_ms = self._coordinator.due()
        return None if due_ms is None else max(due_ms, self.timekeeper.latest_ms)

    async def submit(self, entries: Sequence[Entry]) -> list[Outcome]:
        """Queue verified entries and wait until each is committed or refused, in order.

        Raises RefusedError("queue-full") at once when too many wait already, and ("read-only")
        when the log is closed now, or closes before the answer, or the clock is far behind.
        """
        if self.closed_for is not None:
            raise RefusedError("read-only", self.closed_for)
        self.timekeeper.check()
        if self.waiting + len(entries) > QUEUE_ENTRIES:
            raise RefusedError("queue-full", f"{self.waiting} statements are waiting")
        answer: asyncio.Future[list[Outcome]] = asyncio.get_running_loop().create_future()
        self.waiting += len(entries)
        self._jobs.put_nowait(_Job(tuple(entries), answer))
        return await answer

    async def settled(self) -> Published:
        """Wait until everything in the state is signed; usually returns at once."""
        # The state is ahead of the disk while a batch is written. An answer read from it then
        # could describe entries that a failed write never logs.
        while self._is_writing:
            await self.changed.wait(_WRITE_S)
        return self.log.published

    async def run(self) -> None:
        """Log what is queued or due until closed; raises when a write fails. `give_up` after it."""
        # The first batch has no jobs: after a restart the coordinator may be overdue.
        while self.closed_for is None:
            await self._log_batch(self._current)
            self._current = await self._gather()

    def close(self, reason: str) -> None:
        """Accept no more statements; `run` ends when the current batch is written."""
        self.closed_for = reason
        self._jobs.put_nowait(_Job((), asyncio.get_running_loop().create_future()))  # wakes `run`

    def give_up(self) -> None:
        """Tell waiting callers to retry, and stop; the state is not read any more."""
        self.reject_waiting()
        self._is_writing = False
        # Without waiting: a thread may hang in a database that does not answer.
        self._writer.shutdown(wait=False)
        self._storer.shutdown(wait=False)
        self.changed.set()

    def reject_waiting(self) -> None:
        """Tell waiting callers to retry; whether their batch was written is unknown."""
        # Safe to retry: the same bytes are answered with `Known` if they were logged after all.
        while self._jobs.qsize():
            self._current.append(self._jobs.get_nowait())
        for job in self._current:
            if not job.answer.done():
                job.answer.set_exception(RefusedError("read-only", self.closed_for or "closed"))
        self._current = []

    async def run_alone(self, work: Callable[[], None]) -> None:
        """Run `work` in a thread while no statement is admitted or written.

        Raises what it raises, RefusedError("read-only") when the log is closed.
        """
        if self.closed_for is not None:
            raise RefusedError("read-only", self.closed_for)
        answer: asyncio.Future[list[Outcome]] = asyncio.get_running_loop().create_future()
        self._jobs.put_nowait(_Job((), answer, work))
        await answer

    async def state_snapshot(self, body: LogSnapshot) -> None:
        """Let the coordinator name a snapshot whose bytes are stored; waits until it is logged.

        Raises RefusedError("read-only") when the log is closed, or closes before.
        """
        if self.closed_for is not None:
            raise RefusedError("read-only", self.closed_for)
        self._coordinator.snapshot = body
        answer: asyncio.Future[list[Outcome]] = asyncio.get_running_loop().create_future()
        self._jobs.put_nowait(_Job((), answer))
        await answer

    async def run_between_batches(self, work: Callable[[], None]) -> None:
        """Run `work` between two batches, in the thread that writes them."""
        await asyncio.get_running_loop().run_in_executor(self._writer, work)

    async def _gather(self) -> list[_Job]:
        """Wait for a job or the coordinator's next deadline, then collect all queued jobs."""
        first = await self._next_job()
        if first is None:
            return []
        jobs = [first]
        while self._jobs.qsize() and _count(jobs) < BATCH_ENTRIES:
            jobs.append(self._jobs.get_nowait())
        self.waiting -= _count(jobs)
        return jobs

    async def _next_job(self) -> _Job | None:
        """Wait for a job; None when the coordinator's next deadline comes first."""
        due_ms = self.due_ms()
        if due_ms is None:
            return await self._jobs.get()
        while True:
            left_s = (due_ms - self.timekeeper.clock()) / 1000
            try:
                # Not wait_for: in Python 3.11 it loses a cancellation that comes with the result.
                # In short waits: a clock that is corrected meanwhile brings the deadline nearer.
                async with asyncio.timeout(min(max(left_s, 0.0), CLOCK_CHECK_S)):
                    return await self._jobs.get()
            except TimeoutError:
                if left_s <= CLOCK_CHECK_S:
                    return None

    async def _log_batch(self, jobs: list[_Job]) -> None:
        for job in jobs:
            if job.work is not None:
                await self._run_alone(job)
        earlier = await self._look_up([entry for job in jobs for entry in job.entries])
        now_ms = self.timekeeper.clock()
        batch = Batch(self.state, self.log.size, earlier, self._documents, now_ms)
        outcomes = [[batch.admit(entry) for entry in job.entries] for job in jobs]
        # After the clients' entries: what the coordinator signs then answers them in one commit.
        if not self.timekeeper.is_behind(batch.now_ms):
            self._coordinate(batch)
        if batch.admitted:
            self._is_writing = True  # stays set until `give_up` if the write fails
            await self._write(batch)
            self._is_writing = False
        for job, answers in zip(jobs, outcomes, strict=True):
            if not job.answer.done():  # a client that disconnected has cancelled it
                job.answer.set_result(answers)
        if batch.admitted:
            self.changed.set()

    async def _look_up(self, entries: Sequence[Entry]) -> Earlier:
        """Fetch the documents that entries name, and find those that were logged before."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._storer, self._documents.look_up, *self._sort(entries))
        # A new number cannot be known: this saves a query for nearly every entry.
        repeated = [one for one in entries if self._is_repeated(one)]
        if not repeated:
            return Earlier()
        return await loop.run_in_executor(self._writer, self.log.find_earlier, repeated)

    def _is_repeated(self, entry: Entry) -> bool:
        chain = self.state.peers.get(entry.statement.author)
        return chain is not None and entry.statement.seq <= chain.seq

    def _sort(self, entries: Sequence[Entry]) -> tuple[list[Statement], list[Statement]]:
        """List the statements whose documents may be read, and all that name one.

        The rest is refused or known before: a fetch takes long, and costs the author nothing.
        """
        naming = [one.statement for one in entries if read_with(one.statement) is not None]
        said = {one.statement.digest for one in entries} if naming else set()
        return [one for one in naming if self._may_be_next(one, said)], naming

    def _may_be_next(self, statement: Statement, said: Collection[Digest]) -> bool:
        chain = self.state.peers.get(statement.author)
        seq, last = (chain.seq, chain.last) if chain else (0, ZERO_DIGEST)
        follows = statement.prev == last or statement.prev in said
        return follows and statement.seq > seq and not self._documents.is_refused(statement)

    async def _run_alone(self, job: _Job) -> None:
        assert job.work is not None  # noqa: S101 - for types
        try:
            await asyncio.get_running_loop().run_in_executor(self._storer, job.work)
        except (TequioError, OSError, *FAILURES) as err:
            if not job.answer.done():
                job.answer.set_exception(err)

    def _coordinate(self, batch: Batch) -> None:
        """Add the coordinator's statements to this batch."""
        for entry, code in batch.refused:
            self._coordinator.fault_reporter.consider(entry, code, batch.find_leaf)
        while due := self._coordinator.next_statement(batch.now_ms):
            self._documents.add(due.document)  # first: admission reads the document
            outcome = batch.admit(due.entry)
            self.timekeeper.record(batch.now_ms)
            if not isinstance(outcome, Logged):
                # This is a bug. Without the pause the same statement would be tried forever, and
                # this loop, in which the whole service runs, would never end.
                run = due.run.hex() if due.run else None
                log.error("own statement refused", run=run, outcome=outcome)
                self._coordinator.back_off(due.run, batch.now_ms)

    async def _write(self, batch: Batch) -> None:
        loop = asyncio.get_running_loop()
        metrics.BATCH_ENTRIES.observe(len(batch.admitted))
        with metrics.BATCH_S.time():
            # First: an entry in the log must not name a missing document.
            await loop.run_in_executor(self._storer, self._documents.store)
            await loop.run_in_executor(self._writer, self.log.append, batch.admitted, batch.write)


def _count(jobs: Sequence[_Job]) -> int:
    return sum(len(job.entries) for job in jobs)


class Batch:
    """Admits entries one by one against a state that is already ahead of the disk."""

    def __init__(
        self, state: State, size: int, earlier: Earlier, documents: DocumentCache, now_ms: int
    ) -> None:
        """Begin a batch after `size` entries; `earlier` is about those that will be admitted."""
        self.admitted: list[AdmittedEntry] = []
        self.refused: list[tuple[Entry, str]] = []  # with the code of the refusal
        self.now_ms = now_ms
        self._state = state
        self._size = size
        self._known = dict(earlier.indices)  # by id; this batch adds its own
        self._leaves = earlier.leaves
        self._documents = documents
        self._changes = Changes()

    def admit(self, entry: Entry) -> Outcome:
        """Admit or refuse one entry; an admitted one counts for all that follow."""
        candidate = AdmittedEntry.of(entry, self._state.net, self.now_ms)
        # Before admission, which would refuse it as a repeated number: a client that missed its
        # receipt sends the same bytes again and must get the same index.
        known = self._known.get(candidate.id)
        if known is not None:
            return Known(id=candidate.id, index=known)
        try:
            self._documents.check(entry.statement)
            return self._admit(candidate)
        except RefusedError as err:
            refused = err
        except PeerError as err:  # a document that the entry names is invalid
            refused = RefusedError("malformed", str(err))
        statement = entry.statement
        self._documents.remember(statement, refused)
        log.info(
            "statement refused",
            code=refused.code,
            type=statement.type,
            author=to_text(statement.author),
            seq=statement.seq,
            detail=str(refused),
        )
        self.refused.append((entry, refused.code))
        return Refused(id=candidate.id, code=refused.code, detail=str(refused))

    def find_leaf(self, author: PeerKey, seq: int) -> bytes | None:
        """Find an author's entry by its number, in this batch or in the log."""
        for one in reversed(self.admitted):
            statement = one.entry.statement
            if (statement.author, statement.seq) == (author, seq):
                return one.leaf
        return self._leaves.get((author, seq))

    def write(self, connection: Connection) -> None:
        write(connection, self._changes, self._state)

    def _admit(self, candidate: AdmittedEntry) -> Logged:
        index = self._size + len(self.admitted)
        admission.admit(index, candidate.entry, self._state, self.now_ms)
        # Derived at once and not when the batch is written: `derive` needs the state right after
        # this entry, and later entries of the batch change it.
        derive(self._changes, index, candidate.entry, self._state)
        self.admitted.append(candidate)
        self._known[candidate.id] = index
        return Logged(id=candidate.id, index=index)


class ChangeSignal:
    """Wakes all tasks that wait for the next change; later ones wait for the one after."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def set(self) -> None:
        # A new event instead of clear(): a task that was not scheduled yet would miss that one.
        self._event.set()
        self._event = asyncio.Event()

    async def wait(self, timeout_s: float) -> bool:
        """Wait for the next `set`; False when the time is over first."""
        try:
            # Not wait_for: in Python 3.11 it loses a cancellation that comes with the change.
            async with asyncio.timeout(timeout_s):
                await self._event.wait()
        except TimeoutError:
            return False
        return True
