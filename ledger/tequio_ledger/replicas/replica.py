"""One of several processes that serve a ledger from a shared database.

Rules: one of them has the office, and writes the log; the others follow it (`follower`). The office
is a lock of the database session that writes. Its holder uses the session every BEAT_S; when the
session is gone, or silent for too long, the next process takes over from where it has read. A
process that lost the office notices that by its session, or by a head that is no longer its own, at
the latest when it writes: it builds everything from the database again, and follows.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Never

import structlog

from tequio_ledger.log.guard import NotSigningError
from tequio_ledger.log.sequencer import Sequencer
from tequio_ledger.replicas import follower
from tequio_ledger.replicas import follower as replicas_follower
from tequio_ledger.replicas.follower import (
    ANSWER_S,
    OFFICE_POLL_S,
    POLL_S,
    Follower,
    ForwardedBundle,
)
from tequio_ledger.store import submissions
from tequio_ledger.store.database import Database
from tequio_ledger.store.files import UnwritableError
from tequio_ledger.store.log_rows import StoredEntry
from tequio_ledger.store.postgresql import LEASE_S, OfficeTakenError
from tequio_ledger.store.submissions import WaitingBundle
from tequio_shared.errors import FatalLogError, PeerError, RefusedError
from tequio_shared.limits import POST_STATEMENTS
from tequio_shared.log.tiles import parse_bundle
from tequio_shared.statements.statement import Entry

if TYPE_CHECKING:
    from tequio_ledger.replicas.build import Builder, Leadership
    from tequio_ledger.runtime import Clock

# --- The intake: logs the statements that other processes of the ledger forward (`follower`).
#
# Those processes have verified the signatures. Checking again would not protect the log: a process
# with write access to the database could write to the log's tables just as well.

_AT_ONCE = 64
_SWEEP_S = 30.0
_KEPT_MS = int(4 * ANSWER_S * 1000)


class SubmissionIntake:
    """One term of office."""

    def __init__(self, database: Database, sequencer: Sequencer, clock: Clock) -> None:
        self._database = database
        self._sequencer = sequencer
        self._clock = clock
        self._taken: set[int] = set()  # bundles that are in the queue
        self._answered: set[int] = set()  # since the last query, which may have read them before

    async def run(self) -> None:
        """Work until cancelled; raises UnwritableError when the database does not answer."""
        sweep_s = 0.0
        async with asyncio.TaskGroup() as tasks:
            while True:
                if sweep_s <= 0:
                    sweep_s = _SWEEP_S
                    await follower.run_in_thread(self._sweep)
                self._taken -= self._answered
                self._answered.clear()
                found = await follower.run_in_thread(self._find)
                for waiting in found:
                    self._taken.add(waiting.n)
                    tasks.create_task(self._log(waiting))
                await asyncio.sleep(0 if len(found) == _AT_ONCE else POLL_S)
                sweep_s -= POLL_S

    async def _log(self, waiting: WaitingBundle) -> None:
        try:
            leaves = parse_bundle(waiting.leaves, POST_STATEMENTS)
            entries = [Entry.parse(leaf) for leaf in leaves]
            said = follower.encode(await self._sequencer.submit(entries))
        except RefusedError as err:
            said = follower.encode_refusal(err)
        except PeerError as err:  # no ledger writes such a row, but it must not end this process
            said = follower.encode_refusal(RefusedError("malformed", str(err)))
        await follower.run_in_thread(self._answer, waiting.n, said)
        self._answered.add(waiting.n)

    def _find(self) -> list[WaitingBundle]:
        with self._database.translated_errors(), self._database.office_reader.begin() as connection:
            return submissions.waiting(connection, tuple(self._taken), _AT_ONCE)

    def _answer(self, n: int, said: bytes) -> None:
        with self._database.translated_errors(), self._database.writer.begin() as connection:
            submissions.answer(connection, n, said)

    def _sweep(self) -> None:
        with self._database.translated_errors(), self._database.writer.begin() as connection:
            submissions.sweep(connection, self._clock() - _KEPT_MS)


BEAT_S = 0.5
_REJOIN_S = 0.5

log = structlog.get_logger(__name__)


class Replica:
    """Owns the office of this process."""

    def __init__(
        self, builder: Builder, office: Leadership, adopt: Callable[[Leadership], None]
    ) -> None:
        self._builder = builder
        self._database = builder.database
        self._office = office
        self._adopt = adopt
        self._logged: Follower | None = None  # the follower that was last logged
        self._passed: list[
            ForwardedBundle
        ] = []  # bundles that still waited when this process took over

    async def run(self) -> Never:
        """Serve until cancelled; raises FatalLogError when a write fails for a lasting cause."""
        while True:
            line = self._office.sequencer
            if isinstance(line, Follower):
                await self._follow(line)
            else:
                await self._lead(line)

    async def _follow(self, follower: Follower) -> None:
        """Follow until the office is free, and try to take it."""
        if follower is not self._logged:  # each failed attempt to take office comes back here
            self._logged = follower
            log.info("follows the log", size=self._office.log.published.size)
        await follower.run(self._office.apply)
        rest: list[tuple[StoredEntry, Entry]] = []
        try:
            await self._take_over(follower, rest)
        except (UnwritableError, NotSigningError) as err:
            self._database.leave_office()
            if not isinstance(err, OfficeTakenError):  # another process was faster, which is fine
                follower.set_reason(str(err))
            # The log object has read entries that the state does not have: build both again.
            if rest:
                follower.closed_for = str(err)
                await self._rejoin(str(err))
            else:
                await asyncio.sleep(OFFICE_POLL_S)

    async def _take_over(self, follower: Follower, rest: list[tuple[StoredEntry, Entry]]) -> None:
        """Read the rest of the log, take office, and replace the follower by a sequencer."""
        load = self._office.log.load
        await replicas_follower.run_in_thread(
            load, lambda stored, entry: rest.append((stored, entry))
        )
        for stored, entry in rest:
            self._office.apply(stored, entry)
        self._passed = follower.release_waiting()
        self._put(self._builder.succeed(self._office))

    async def _lead(self, sequencer: Sequencer) -> None:
        """Write the log until the office is lost."""
        log.info("writes the log", size=self._office.log.size, term=self._office.log.term)
        intake = SubmissionIntake(self._database, sequencer, self._builder.clock)
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(_sequence(sequencer))
                tasks.create_task(intake.run())
                tasks.create_task(self._keep_office(sequencer))
                for one in self._passed:
                    tasks.create_task(_submit_again(sequencer, one))
        except* (UnwritableError, NotSigningError) as group:
            sequencer.closed_for = str(_first(group))
        except* FatalLogError:
            sequencer.closed_for = "the log cannot be written"
            sequencer.reject_waiting()
            raise
        log.warning("writes the log no longer", reason=sequencer.closed_for)
        sequencer.reject_waiting()
        self._database.leave_office()
        await self._rejoin(sequencer.closed_for or "closed")
        sequencer.give_up()

    async def _rejoin(self, reason: str) -> None:
        """Build everything again as soon as the database answers, and follow.

        The new follower stays closed, for `reason`, until its first successful query.
        """
        while True:
            try:
                office = await replicas_follower.run_in_thread(self._builder.follow)
            except UnwritableError:
                await asyncio.sleep(_REJOIN_S)
            else:
                office.sequencer.closed_for = reason
                self._put(office)
                return

    async def _keep_office(self, sequencer: Sequencer) -> Never:
        """Use the session of the office regularly; raises UnwritableError if it does not answer."""
        # In the sequencer's own thread: if that hangs, the session falls silent, and another
        # process can take over. A heartbeat from elsewhere would hide it.
        while True:
            await asyncio.sleep(BEAT_S)
            try:
                await asyncio.wait_for(
                    sequencer.run_between_batches(self._database.hold_office), LEASE_S
                )
            except TimeoutError as err:
                raise UnwritableError("the database does not answer") from err
            await replicas_follower.run_in_thread(self._builder.guard.refresh)

    def _put(self, office: Leadership) -> None:
        former, self._office = self._office, office
        self._adopt(office)
        if isinstance(former.sequencer, Follower):
            former.sequencer.give_up()


async def _sequence(sequencer: Sequencer) -> Never:
    await sequencer.run()
    raise UnwritableError(sequencer.closed_for or "closed")


async def _submit_again(sequencer: Sequencer, passed: ForwardedBundle) -> None:
    """Submit a bundle that was forwarded to the former writer, who may have logged it already."""
    try:
        outcomes = await sequencer.submit(passed.entries)
    except RefusedError as err:
        if not passed.answer.done():
            passed.answer.set_exception(err)
    else:
        if not passed.answer.done():
            passed.answer.set_result(outcomes)


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
