"""A process of a ledger that does not write the log: it reads on in it, and passes statements on.

Rules: what is read is checked as at a start (`integrity`), folded in the event loop, and shown only
then. Statements are verified here, as anywhere, and go through the database to whoever writes the
log (`intake`); an answer comes back the same way. Nobody is promised anything before that answer:
who is told to come back sends the same bytes again and hears `known` if they were logged.
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

    from tequio_ledger.log.clock_guard import Timekeeper
    from tequio_ledger.log.guard import Guard
    from tequio_ledger.log.log import Log, Published
    from tequio_ledger.log.sequencer import Signal
    from tequio_ledger.state import State
    from tequio_ledger.store.database import Database
    from tequio_ledger.store.log_rows import StoredEntry
    from tequio_shared.statements.statement import Entry

# --- Work in a thread that is seen to its end even when nobody wants its result any more.

PATIENCE_S = 1.0
P = ParamSpec("P")
R = TypeVar("R")


async def run(work: Callable[P, R], *given: P.args, **named: P.kwargs) -> R:
    """Run it in a thread; when cancelled, wait a little until it has put its connection back."""
    errand = asyncio.ensure_future(asyncio.to_thread(work, *given, **named))
    try:
        return await asyncio.shield(errand)
    except asyncio.CancelledError:
        done, _ = await asyncio.wait({errand}, timeout=PATIENCE_S)
        for one in done:
            one.exception()  # asked for: nobody else will
        raise


# --- What became of statements that one process passed on to another, as bytes between them.

_LOGGED, _KNOWN = "logged", "known"


class _Said(Struct, frozen=True, array_like=True):
    """One outcome: `code` is `logged`, `known` or what a refusal says."""

    id: bytes
    code: str
    index: int = -1
    detail: str = ""


class _Answer(Struct, frozen=True, array_like=True):
    """All outcomes of a bundle; or none, and why it was sent back as a whole."""

    outcomes: list[_Said]
    code: str = ""
    detail: str = ""


def encode(outcomes: Sequence[Outcome]) -> bytes:
    """Write the outcomes of a bundle."""
    return msgspec.msgpack.encode(_Answer([_said(one) for one in outcomes]))


def encode_refusal(err: RefusedError) -> bytes:
    """Write that the bundle was not taken at all."""
    return msgspec.msgpack.encode(_Answer([], err.code, str(err)))


def decode(raw: bytes) -> list[Outcome]:
    """Read outcomes; raises RefusedError when the bundle was not taken."""
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
"""How often the database is asked for what is new."""
OFFICE_POLL_S = 0.25
"""How often it is asked whether somebody writes the log."""
ANSWER_S = 15.0
"""After which a statement without an answer is given up."""
QUEUE_ENTRIES = 4_096
_ID_BYTES = 16

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Passed:
    """A bundle that waits for its answer."""

    entries: tuple[Entry, ...]
    answer: asyncio.Future[list[Outcome]]


class Follower:
    """Stands in the sequencer's place while another process writes the log."""

    def __init__(
        self,
        log_: Log,
        state: State,
        database: Database,
        guard: Guard,
        timekeeper: Timekeeper,
        changed: Signal,
    ) -> None:
        self.state = state  # fed in `run` only
        self.changed = changed
        self.timekeeper = timekeeper
        self.closed_for: str | None = None
        """Why statements are not passed on; None while they are."""
        self.published = log_.published
        """What the state says."""
        self._log = log_
        self._database = database
        self._guard = guard
        self._replica = secrets.token_bytes(_ID_BYTES)
        self._passed: dict[int, Passed] = {}  # by the number of the row
        self._early: dict[int, bytes] = {}  # answers that were here before their number was known
        self._fresh: list[tuple[StoredEntry, Entry]] = []  # read, not folded yet
        self._waiting = 0  # entries

    @property
    def waiting(self) -> int:
        """How many entries wait for an answer."""
        return self._waiting

    def due_ms(self) -> int | None:
        """The coordinator speaks elsewhere."""
        return None

    async def submit(self, entries: Sequence[Entry]) -> list[Outcome]:
        """Pass verified entries on and wait until each is committed or refused, in order.

        Raises RefusedError("queue-full") at once when too many wait already, and ("read-only")
        when nobody takes them in time.
        """
        if self.closed_for is not None:
            raise RefusedError("read-only", self.closed_for)
        if self._waiting + len(entries) > QUEUE_ENTRIES:
            raise RefusedError("queue-full", f"{self._waiting} statements are waiting")
        self._waiting += len(entries)
        try:
            return await self._pass_on(tuple(entries))
        finally:
            self._waiting -= len(entries)

    async def settled(self) -> Published:
        """Give what the state says; it is never ahead of what is published."""
        return self.published

    async def run(self, take: Take) -> None:
        """Read on until nobody writes the log and it may be signed.

        While the database does not answer it says so and waits.

        Raises UserFacingError when a stored byte is not what was written.
        """
        office_s = 0.0
        while True:
            try:
                await self._read_on(take)
                await self._collect()
                if office_s <= 0:
                    office_s = OFFICE_POLL_S
                    if await run(self._is_wanted):
                        return
                self.say(self._guard.reason)
            except UnwritableError as err:
                self.say(str(err))
                await asyncio.sleep(OFFICE_POLL_S)
            await asyncio.sleep(POLL_S)
            office_s -= POLL_S

    def close(self, reason: str) -> None:
        """Pass nothing on any more."""
        self.closed_for = reason

    def take_passed(self) -> list[Passed]:
        """Give what still waits for its answer, and wait for it no longer."""
        waiting = [one for one in self._passed.values() if not one.answer.done()]
        self._passed.clear()
        return waiting

    def give_up(self) -> None:
        """Tell those who still wait to come back; this state is not read any more."""
        for job in self.take_passed():
            job.answer.set_exception(RefusedError("read-only", self.closed_for or "closed"))
        self.changed.set()

    def _is_wanted(self) -> bool:
        self._guard.refresh()
        return self._guard.mark is None and self._database.has_no_leader()

    def say(self, reason: str | None) -> None:
        """Pass statements on unless there is a reason not to; logs what changes."""
        if self.closed_for != reason:
            log.warning("takes no statements" if reason else "passes statements on", reason=reason)
        self.closed_for = reason

    async def _pass_on(self, entries: tuple[Entry, ...]) -> list[Outcome]:
        answer: asyncio.Future[list[Outcome]] = asyncio.get_running_loop().create_future()
        number = await run(self._put, encode_bundle(one.leaf() for one in entries))
        self._passed[number] = Passed(entries, answer)
        early = self._early.pop(number, None)
        if early is not None:
            _settle(answer, early)
        try:
            return await asyncio.wait_for(answer, ANSWER_S)
        except TimeoutError as err:
            raise RefusedError("read-only", "nobody writes the log now: come back") from err
        finally:
            if self._passed.pop(number, None) is not None:
                await run(self._withdraw, number)

    def _put(self, leaves: bytes) -> int:
        at_ms = self.timekeeper.clock()
        with self._database.passing_errors(), self._database.writer.begin() as connection:
            return submissions.put(connection, self._replica, leaves, at_ms)

    def _withdraw(self, number: int) -> None:
        with self._database.passing_errors(), self._database.writer.begin() as connection:
            submissions.withdraw(connection, number)

    async def _read_on(self, take: Take) -> None:
        await run(self._read)
        for stored, entry in self._fresh:
            take(stored, entry)
        self._fresh.clear()
        if self.published.size < self._log.published.size:
            self.published = self._log.published
            self.changed.set()

    def _read(self) -> None:
        """Read entries, and what they name, so that folding them waits for nothing."""
        self._log.follow(lambda stored, entry: self._fresh.append((stored, entry)))
        for _, entry in self._fresh:
            if entry.statement.type in NAMING:
                with suppress(KeyError):  # the fold says so
                    self.state.documents(document_of(entry.statement))

    async def _collect(self) -> None:
        """Bring the answers to those who wait."""
        if not self._waiting:
            self._early.clear()
            return
        answers = await run(self._take_answers)
        for number, raw in answers.items():
            waiting = self._passed.pop(number, None)
            if waiting is None:
                self._early[number] = raw
            elif not waiting.answer.done():
                _settle(waiting.answer, raw)

    def _take_answers(self) -> dict[int, bytes]:
        with self._database.passing_errors(), self._database.writer.begin() as connection:
            return submissions.take_answers(connection, self._replica)


def _settle(answer: asyncio.Future[list[Outcome]], raw: bytes) -> None:
    try:
        answer.set_result(decode(raw))
    except RefusedError as err:
        answer.set_exception(err)
