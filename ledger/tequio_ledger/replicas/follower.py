"""A process of a ledger that does not write the log: it reads the log and forwards statements.

Rules: new entries are checked as at a start (`Integrity`), applied in the event loop, and published
only then. Statements are verified here, as in every process, and go through the database to the
process that writes the log (`SubmissionIntake`); the answer returns the same way. No receipt is
given before that answer: a client that is told to retry sends the same bytes, and gets `known` if
they were logged.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import Callable, Sequence
from typing import Concatenate, ParamSpec, TypeVar

import msgspec
import structlog
from msgspec import Struct
from sqlalchemy import Connection

from tequio_ledger.log.clock_guard import ClockGuard
from tequio_ledger.log.documents import DocumentCache, missing_document
from tequio_ledger.log.guard import Published
from tequio_ledger.log.log import Apply, Log
from tequio_ledger.log.sequencer import ChangeSignal, Known, Logged, Outcome, Refused
from tequio_ledger.runtime import run_in_thread
from tequio_ledger.store import submissions
from tequio_ledger.store.database import Database
from tequio_ledger.store.files import UnwritableError
from tequio_ledger.store.log_rows import StoredEntry
from tequio_shared.errors import RefusedError
from tequio_shared.ids import Digest
from tequio_shared.log.tiles import encode_bundle
from tequio_shared.served.state import State
from tequio_shared.statements.statement import Entry

POLL_S = 0.025
"""Interval of queries for new entries."""
LEADER_POLL_S = 0.25
"""Interval of queries for the process that writes the log."""
ANSWER_S = 15.0
"""Time after which a statement without an answer is withdrawn."""
QUEUE_ENTRIES = 4_096
_ID_BYTES = 16

P = ParamSpec("P")
R = TypeVar("R")

log = structlog.get_logger(__name__)


class Follower:
    """Used in the sequencer's place while another process writes the log."""

    def __init__(
        self,
        log_: Log,
        state: State,
        documents: DocumentCache,
        timekeeper: ClockGuard,
        changed: ChangeSignal,
    ) -> None:
        self.log = log_
        self.state = state  # changed by `apply` only
        self.documents = documents
        self.timekeeper = timekeeper
        self.changed = changed
        self.closed_for: str | None = None
        """Reason why statements are not forwarded; None while they are."""
        self.published = log_.published
        """The part of the log that the state contains."""
        self.waiting = 0
        """Number of entries that wait for an answer."""
        self._replica = secrets.token_bytes(_ID_BYTES)
        self._forwarded: dict[int, asyncio.Future[list[Outcome]]] = {}  # by the number of the row
        self._early: dict[int, bytes] = {}  # answers that came before their number was known
        self.unapplied: deque[tuple[StoredEntry, Entry]] = deque()
        """Entries that the log has read, in a thread, and that the state does not contain."""

    def load(self) -> None:
        """Read the published log; raises UserFacingError, UnwritableError."""
        self.log.follow(self.apply)
        self.published = self.log.published

    def apply(self, stored: StoredEntry, entry: Entry) -> None:
        """Apply one entry to the state; raises UserFacingError when its document is missing."""
        try:
            self.state.apply(stored.index, entry, stored.at_ms)
        except KeyError as err:
            raise missing_document(stored.index, entry.statement) from err
        self.timekeeper.record(self.state.coordinator_ms)

    def due_ms(self) -> int | None:
        """Return None: the coordinator runs in the process that writes the log."""
        return None

    async def submit(self, entries: Sequence[Entry]) -> list[Outcome]:
        """Forward verified entries and wait until each is committed or refused, in order.

        Raises RefusedError("queue-full") at once when too many wait already, and ("read-only")
        when no process answers in time.
        """
        if self.closed_for is not None:
            raise RefusedError("read-only", self.closed_for)
        if self.waiting + len(entries) > QUEUE_ENTRIES:
            raise RefusedError("queue-full", f"{self.waiting} statements are waiting")
        self.waiting += len(entries)
        try:
            return await self._forward(entries)
        finally:
            self.waiting -= len(entries)

    async def settled(self) -> Published:
        """Return `published`; here the state is never ahead of it."""
        return self.published

    async def run(self) -> None:
        """Follow the log until no process writes it and it may be signed.

        While the database does not answer, `closed_for` says so. Raises UserFacingError when a
        stored byte is not what was written.
        """
        leader_check_s = 0.0
        while True:
            try:
                await self._read_on()
                await self._deliver_answers()
                if leader_check_s <= 0:
                    leader_check_s = LEADER_POLL_S
                    if await run_in_thread(self._may_lead):
                        return
                self.set_reason(self.log.guard.reason)
            except UnwritableError as err:
                self.set_reason(str(err))
                await asyncio.sleep(LEADER_POLL_S)
            await asyncio.sleep(POLL_S)
            leader_check_s -= POLL_S

    async def lead(self) -> None:
        """Read the rest of the log and become its writer; raises as `Log.load` does."""
        await run_in_thread(self._read, self.log.load)
        self._apply_read()

    def close(self, reason: str) -> None:
        """Forward nothing any more."""
        self.closed_for = reason

    def set_reason(self, reason: str | None) -> None:
        """Forward statements unless there is a reason not to; logs a change."""
        if self.closed_for != reason:
            change = "accepts no statements" if reason else "forwards statements"
            log.warning(change, reason=reason)
        self.closed_for = reason

    def give_up(self) -> None:
        """Tell waiting callers to retry; the state is not read any more."""
        # Their bundles stay in the database for the next writer, which may be this process.
        reason = self.closed_for or "the log has a new writer: send this again"
        for answer in self._forwarded.values():
            if not answer.done():
                answer.set_exception(RefusedError("read-only", reason))
        self._forwarded.clear()
        self.changed.set()

    def _may_lead(self) -> bool:
        self.log.guard.refresh()
        return self.log.guard.mark is None and self.log.database.has_no_leader()

    async def _forward(self, entries: Sequence[Entry]) -> list[Outcome]:
        answer: asyncio.Future[list[Outcome]] = asyncio.get_running_loop().create_future()
        leaves, at_ms = encode_bundle(one.leaf() for one in entries), self.timekeeper.clock()
        database = self.log.database
        number = await write(database, submissions.put, self._replica, leaves, at_ms)
        self._forwarded[number] = answer
        # The answer may have been collected while the thread still returned the number.
        early = self._early.pop(number, None)
        if early is not None:
            _settle(answer, early)
        try:
            async with asyncio.timeout(ANSWER_S):
                return await answer
        except TimeoutError as err:
            raise RefusedError("read-only", "no process writes the log now: retry later") from err
        finally:
            if self._forwarded.pop(number, None) is not None:
                await write(database, submissions.withdraw, number)

    async def _read_on(self) -> None:
        await run_in_thread(self._read, self.log.follow)
        self._apply_read()
        if self.published.size < self.log.published.size:
            self.published = self.log.published
            self.changed.set()

    def _read(self, read_log: Callable[[Apply], None]) -> None:
        """Read new entries, and fetch the documents that they name."""
        read_log(self._add_unapplied)
        # Here, in the thread, because the state reads them in the event loop: to wait there for the
        # bucket or the database would stop the whole service.
        self.documents.look_up(entry.statement for _, entry in self.unapplied)

    def _add_unapplied(self, stored: StoredEntry, entry: Entry) -> None:
        self.unapplied.append((stored, entry))

    def _apply_read(self) -> None:
        while self.unapplied:
            self.apply(*self.unapplied[0])
            self.unapplied.popleft()  # only now: one whose document cannot be read now is next

    async def _deliver_answers(self) -> None:
        if not self.waiting:
            self._early.clear()
            return
        answers = await write(self.log.database, submissions.pop_answers, self._replica)
        for number, raw in answers.items():
            answer = self._forwarded.pop(number, None)
            if answer is None:
                self._early[number] = raw
            elif not answer.done():
                _settle(answer, raw)


def _settle(answer: asyncio.Future[list[Outcome]], raw: bytes) -> None:
    try:
        answer.set_result(decode(raw))
    except RefusedError as err:
        answer.set_exception(err)


async def write(
    database: Database,
    change: Callable[Concatenate[Connection, P], R],
    *args: P.args,
    **named: P.kwargs,
) -> R:
    """Make a change in a short transaction of its own, in a thread.

    Raises UnwritableError, FatalLogError.
    """

    def run() -> R:
        with database.translated_errors(), database.writer.begin() as connection:
            return change(connection, *args, **named)

    return await run_in_thread(run)


# --- The outcomes of forwarded statements, as bytes in the database.
#
# Processes of two versions share the rows while a ledger is upgraded: keep the format.

_LOGGED, _KNOWN = "logged", "known"


class _StoredOutcome(Struct, frozen=True, array_like=True):
    """One outcome: `code` is `logged`, `known` or the code of a refusal."""

    id: bytes
    code: str
    index: int = -1
    detail: str = ""


class _Answer(Struct, frozen=True, array_like=True):
    """All outcomes of a bundle; or none, and the reason why it was refused as a whole."""

    outcomes: list[_StoredOutcome]
    code: str = ""
    detail: str = ""


def encode(outcomes: Sequence[Outcome]) -> bytes:
    return msgspec.msgpack.encode(_Answer([_stored(one) for one in outcomes]))


def encode_refusal(err: RefusedError) -> bytes:
    """Encode the refusal of a whole bundle."""
    return msgspec.msgpack.encode(_Answer([], err.code, str(err)))


def decode(raw: bytes) -> list[Outcome]:
    """Decode outcomes; raises RefusedError when the whole bundle was refused."""
    answer = msgspec.msgpack.decode(raw, type=_Answer)
    if answer.code:
        raise RefusedError(answer.code, answer.detail)
    return [_outcome(one) for one in answer.outcomes]


def _stored(outcome: Outcome) -> _StoredOutcome:
    if isinstance(outcome, Refused):
        return _StoredOutcome(outcome.id, outcome.code, detail=outcome.detail)
    code = _LOGGED if isinstance(outcome, Logged) else _KNOWN
    return _StoredOutcome(outcome.id, code, outcome.index)


def _outcome(stored: _StoredOutcome) -> Outcome:
    name = Digest(stored.id)
    if stored.code in (_LOGGED, _KNOWN):
        made = Logged if stored.code == _LOGGED else Known
        return made(id=name, index=stored.index)
    return Refused(id=name, code=stored.code, detail=stored.detail)
