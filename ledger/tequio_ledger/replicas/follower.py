"""A process of a ledger that does not write the log: it reads the log and forwards statements.

Rules: new entries are checked as at a start (`Integrity`), applied in the event loop, and published
only then. Statements are verified here, as in every process, and go through the database to the
process that writes the log (`Intake`); the answer returns the same way. No receipt is given before
that answer: a client that is told to retry sends the same bytes, and gets `known` if they were
logged.
"""

from __future__ import annotations

import asyncio
import secrets
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import msgspec
import structlog
from msgspec import Struct

from tequio_ledger.log.documents import NAMING, document_of
from tequio_ledger.log.sequencer import Known, Logged, Outcome, Refused
from tequio_ledger.store import submissions
from tequio_ledger.store.files import UnwritableError
from tequio_shared.errors import RefusedError
from tequio_shared.ids import Digest
from tequio_shared.log.tiles import encode_bundle

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tequio_ledger.log.guard import Guard
    from tequio_ledger.log.log import Log, Published
    from tequio_ledger.log.sequencer import ChangeSignal, ClockGuard
    from tequio_ledger.state import State
    from tequio_ledger.store.database import Database
    from tequio_ledger.store.log_rows import StoredEntry
    from tequio_shared.statements.statement import Entry


PATIENCE_S = 1.0
P = ParamSpec("P")
R = TypeVar("R")


async def run_in_thread(work: Callable[P, R], *given: P.args, **named: P.kwargs) -> R:
    """Run `work` in a thread; when cancelled, wait up to PATIENCE_S for its end."""
    # A thread cannot be cancelled. Without the wait the engine could be closed while the thread
    # still holds one of its connections.
    errand = asyncio.ensure_future(asyncio.to_thread(work, *given, **named))
    try:
        return await asyncio.shield(errand)
    except asyncio.CancelledError:
        done, _ = await asyncio.wait({errand}, timeout=PATIENCE_S)
        for one in done:
            one.exception()  # asked for: nobody else will
        raise


# --- The outcomes of forwarded statements, as bytes in the database.

_LOGGED, _KNOWN = "logged", "known"


class _Said(Struct, frozen=True, array_like=True):
    """One outcome: `code` is `logged`, `known` or the code of a refusal."""

    id: bytes
    code: str
    index: int = -1
    detail: str = ""


class _Answer(Struct, frozen=True, array_like=True):
    """All outcomes of a bundle; or none, and the reason why it was refused as a whole."""

    outcomes: list[_Said]
    code: str = ""
    detail: str = ""


def encode(outcomes: Sequence[Outcome]) -> bytes:
    return msgspec.msgpack.encode(_Answer([_said(one) for one in outcomes]))


def encode_refusal(err: RefusedError) -> bytes:
    """Encode the refusal of a whole bundle."""
    return msgspec.msgpack.encode(_Answer([], err.code, str(err)))


def decode(raw: bytes) -> list[Outcome]:
    """Decode outcomes; raises RefusedError when the whole bundle was refused."""
    answer = msgspec.msgpack.decode(raw, type=_Answer)
    if answer.code:
        raise RefusedError(answer.code, answer.detail)
    return [_outcome(one) for one in answer.outcomes]


def _said(outcome: Outcome) -> _Said:
    match outcome:
        case Logged(id=name, index=index):
            return _Said(name, _LOGGED, index)
        case Known(id=name, index=index):
            return _Said(name, _KNOWN, index)
        case Refused(id=name, code=code, detail=detail):
            return _Said(name, code, detail=detail)


def _outcome(said: _Said) -> Outcome:
    name = Digest(said.id)
    if said.code == _LOGGED:
        return Logged(id=name, index=said.index)
    if said.code == _KNOWN:
        return Known(id=name, index=said.index)
    return Refused(id=name, code=said.code, detail=said.detail)


if TYPE_CHECKING:
    Take = Callable[[StoredEntry, Entry], None]

POLL_S = 0.025
"""Interval of queries for new entries."""
OFFICE_POLL_S = 0.25
"""Interval of queries for the process that writes the log."""
ANSWER_S = 15.0
"""Time after which a statement without an answer is withdrawn."""
QUEUE_ENTRIES = 4_096
_ID_BYTES = 16

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ForwardedBundle:
    """A forwarded bundle that waits for its answer."""

    entries: tuple[Entry, ...]
    answer: asyncio.Future[list[Outcome]]


class Follower:
    """Takes the sequencer's place while another process writes the log."""

    def __init__(
        self,
        log_: Log,
        state: State,
        database: Database,
        guard: Guard,
        timekeeper: ClockGuard,
        changed: ChangeSignal,
    ) -> None:
        self.state = state  # fed in `run` only
        self.changed = changed
        self.timekeeper = timekeeper
        self.closed_for: str | None = None
        """Reason why statements are not forwarded; None while they are."""
        self.published = log_.published
        """The part of the log that the state contains."""
        self._log = log_
        self._database = database
        self._guard = guard
        self._replica = secrets.token_bytes(_ID_BYTES)
        self._passed: dict[int, ForwardedBundle] = {}  # by the number of the row
        self._early: dict[int, bytes] = {}  # answers that came before their number was known
        self._fresh: list[tuple[StoredEntry, Entry]] = []  # read, not folded yet
        self._waiting = 0  # entries

    @property
    def waiting(self) -> int:
        """Number of entries that wait for an answer."""
        return self._waiting

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
        if self._waiting + len(entries) > QUEUE_ENTRIES:
            raise RefusedError("queue-full", f"{self._waiting} statements are waiting")
        self._waiting += len(entries)
        try:
            return await self._forward(tuple(entries))
        finally:
            self._waiting -= len(entries)

    async def settled(self) -> Published:
        """Return `published`; here the state is never ahead of it."""
        return self.published

    async def run(self, take: Take) -> None:
        """Follow the log until no process writes it and it may be signed.

        While the database does not answer, `closed_for` says so. Raises UserFacingError when a
        stored byte is not what was written.
        """
        office_s = 0.0
        while True:
            try:
                await self._read_on(take)
                await self._collect()
                if office_s <= 0:
                    office_s = OFFICE_POLL_S
                    if await run_in_thread(self._is_wanted):
                        return
                self.set_reason(self._guard.reason)
            except UnwritableError as err:
                self.set_reason(str(err))
                await asyncio.sleep(OFFICE_POLL_S)
            await asyncio.sleep(POLL_S)
            office_s -= POLL_S

    def close(self, reason: str) -> None:
        """Forward nothing any more."""
        self.closed_for = reason

    def release_waiting(self) -> list[ForwardedBundle]:
        """Give up the waiting bundles, and return them."""
        waiting = [one for one in self._passed.values() if not one.answer.done()]
        self._passed.clear()
        return waiting

    def give_up(self) -> None:
        """Tell waiting callers to retry; the state is not read any more."""
        for job in self.release_waiting():
            job.answer.set_exception(RefusedError("read-only", self.closed_for or "closed"))
        self.changed.set()

    def _is_wanted(self) -> bool:
        self._guard.refresh()
        return self._guard.mark is None and self._database.has_no_leader()

    def set_reason(self, reason: str | None) -> None:
        """Forward statements unless there is a reason not to; logs a change."""
        if self.closed_for != reason:
            change = "accepts no statements" if reason else "forwards statements"
            log.warning(change, reason=reason)
        self.closed_for = reason

    async def _forward(self, entries: tuple[Entry, ...]) -> list[Outcome]:
        answer: asyncio.Future[list[Outcome]] = asyncio.get_running_loop().create_future()
        number = await run_in_thread(self._put, encode_bundle(one.leaf() for one in entries))
        self._passed[number] = ForwardedBundle(entries, answer)
        # The answer may have been collected while the thread still returned the number.
        early = self._early.pop(number, None)
        if early is not None:
            _settle(answer, early)
        try:
            return await asyncio.wait_for(answer, ANSWER_S)
        except TimeoutError as err:
            raise RefusedError("read-only", "no process writes the log now: retry later") from err
        finally:
            if self._passed.pop(number, None) is not None:
                await run_in_thread(self._withdraw, number)

    def _put(self, leaves: bytes) -> int:
        at_ms = self.timekeeper.clock()
        with self._database.translated_errors(), self._database.writer.begin() as connection:
            return submissions.put(connection, self._replica, leaves, at_ms)

    def _withdraw(self, number: int) -> None:
        with self._database.translated_errors(), self._database.writer.begin() as connection:
            submissions.withdraw(connection, number)

    async def _read_on(self, take: Take) -> None:
        await run_in_thread(self._read)
        for stored, entry in self._fresh:
            take(stored, entry)
        self._fresh.clear()
        if self.published.size < self._log.published.size:
            self.published = self._log.published
            self.changed.set()

    def _read(self) -> None:
        """Read new entries and the documents that they name."""
        self._log.follow(lambda stored, entry: self._fresh.append((stored, entry)))
        # Documents are read here, in the thread, because the state reads them in the event loop:
        # a fetch from the bucket there would stop the whole service.
        for _, entry in self._fresh:
            if entry.statement.type in NAMING:
                with suppress(KeyError):  # the state reports it
                    self.state.documents(document_of(entry.statement))

    async def _collect(self) -> None:
        """Deliver the answers to the waiting callers."""
        if not self._waiting:
            self._early.clear()
            return
        answers = await run_in_thread(self._read_answers)
        for number, raw in answers.items():
            waiting = self._passed.pop(number, None)
            if waiting is None:
                self._early[number] = raw
            elif not waiting.answer.done():
                _settle(waiting.answer, raw)

    def _read_answers(self) -> dict[int, bytes]:
        with self._database.translated_errors(), self._database.writer.begin() as connection:
            return submissions.pop_answers(connection, self._replica)


def _settle(answer: asyncio.Future[list[Outcome]], raw: bytes) -> None:
    try:
        answer.set_result(decode(raw))
    except RefusedError as err:
        answer.set_exception(err)
