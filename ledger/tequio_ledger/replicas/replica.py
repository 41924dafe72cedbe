"""One of several processes that serve a ledger from a shared database.

Rules: one of them is the leader, and writes the log; the others follow it (`follower`). The leader
holds a lock of the database session that writes, and uses the session every BEAT_S; when the
session is gone, or silent for too long, the next process takes over from where it has read. A
process that lost the lead notices that by its session, or by a head that is no longer its own, at
the latest when it writes: it builds everything from the database again, and follows.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Never

import structlog

from tequio_ledger.log.guard import NotSigningError
from tequio_ledger.log.sequencer import Sequencer
from tequio_ledger.replicas.build import Builder
from tequio_ledger.replicas.follower import (
    ANSWER_S,
    LEADER_POLL_S,
    POLL_S,
    Follower,
    encode,
    encode_refusal,
    write,
)
from tequio_ledger.runtime import Clock, run_in_thread
from tequio_ledger.store import submissions
from tequio_ledger.store.database import Database
from tequio_ledger.store.files import UnwritableError
from tequio_ledger.store.postgresql import LEASE_S, NotLeaderError
from tequio_shared.errors import FatalLogError, PeerError, RefusedError, first_error
from tequio_shared.limits import POST_STATEMENTS
from tequio_shared.log.tiles import parse_bundle
from tequio_shared.statements.statement import Entry

BEAT_S = 0.5
_REJOIN_S = 0.5
_AT_ONCE = 64
_SWEEP_S = 30.0
_KEPT_MS = int(4 * ANSWER_S * 1000)

log = structlog.get_logger(__name__)


class Replica:
    """Follows the log or writes it, as the lock of the shared database decides."""

    def __init__(
        self,
        builder: Builder,
        current: Sequencer | Follower,
        adopt: Callable[[Sequencer | Follower], None],
    ) -> None:
        """`adopt` is called with each one that replaces `current`."""
        self._builder = builder
        self._database = builder.database
        self._current = current
        self._adopt = adopt
        self._announced: Follower | None = None  # the follower that was last logged

    async def run(self) -> Never:
        """Serve until cancelled; raises FatalLogError when a write fails for a lasting cause."""
        while True:
            if isinstance(self._current, Follower):
                await self._follow(self._current)
            else:
                await self._lead(self._current)

    async def _follow(self, follower: Follower) -> None:
        """Follow until no process leads, and try to take over."""
        if follower is not self._announced:  # each failed attempt to take over comes back here
            self._announced = follower
            log.info("follows the log", size=follower.log.published.size)
        await follower.run()
        try:
            await follower.lead()
        except (UnwritableError, NotSigningError) as err:
            self._database.release_leader_lock()
            if not isinstance(err, NotLeaderError):  # another process was faster, which is fine
                follower.set_reason(str(err))
            if follower.unapplied:  # its log cannot be read twice: build both again
                follower.closed_for = str(err)
                await self._rejoin(str(err))
            else:
                await asyncio.sleep(LEADER_POLL_S)
        else:
            self._replace(self._builder.succeed(follower))

    async def _lead(self, sequencer: Sequencer) -> None:
        """Write the log until another process does."""
        log.info("writes the log", size=sequencer.log.size, term=sequencer.log.term)
        intake = SubmissionIntake(self._database, sequencer, self._builder.clock)
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(_sequence(sequencer))
                tasks.create_task(intake.run())
                tasks.create_task(self._keep_lead(sequencer))
        except* (UnwritableError, NotSigningError) as group:
            sequencer.closed_for = str(first_error(group))
        except* FatalLogError:
            sequencer.closed_for = "the log cannot be written"
            sequencer.reject_waiting()
            raise
        log.warning("writes the log no longer", reason=sequencer.closed_for)
        sequencer.reject_waiting()
        self._database.release_leader_lock()
        await self._rejoin(sequencer.closed_for or "closed")
        sequencer.give_up()

    async def _rejoin(self, reason: str) -> None:
        """Build everything again as soon as the database answers, and follow.

        The new follower stays closed, for `reason`, until its first successful query.
        """
        while True:
            try:
                follower = await run_in_thread(self._builder.follow)
            except UnwritableError:
                await asyncio.sleep(_REJOIN_S)
            else:
                follower.closed_for = reason
                self._replace(follower)
                return

    async def _keep_lead(self, sequencer: Sequencer) -> Never:
        """Use the leader's session regularly; raises UnwritableError if it does not answer."""
        # In the sequencer's own thread: if that hangs, the session falls silent, and another
        # process can take over. A heartbeat from elsewhere would hide it.
        while True:
            await asyncio.sleep(BEAT_S)
            try:
                async with asyncio.timeout(LEASE_S):
                    await sequencer.run_between_batches(self._database.hold_leader_lock)
            except TimeoutError as err:
                raise UnwritableError("the database does not answer") from err
            await run_in_thread(self._builder.guard.refresh)

    def _replace(self, successor: Sequencer | Follower) -> None:
        former, self._current = self._current, successor
        self._adopt(successor)
        if isinstance(former, Follower):
            former.give_up()


async def _sequence(sequencer: Sequencer) -> Never:
    await sequencer.run()
    raise UnwritableError(sequencer.closed_for or "closed")


class SubmissionIntake:
    """Logs the statements that other processes of the ledger forward, for one term.

    Those processes have verified the signatures. Checking again would not protect the log: a
    process with write access to the database could write to the log's tables just as well.
    """

    def __init__(self, database: Database, sequencer: Sequencer, clock: Clock) -> None:
        self._database = database
        self._sequencer = sequencer
        self._clock = clock
        self._queued: set[int] = set()  # bundles that are in the sequencer's queue
        self._answered: set[int] = set()  # since the last query, which may have read them before

    async def run(self) -> None:
        """Work until cancelled; raises UnwritableError when the database does not answer."""
        sweep_s = 0.0
        async with asyncio.TaskGroup() as tasks:
            while True:
                if sweep_s <= 0:
                    sweep_s = _SWEEP_S
                    await write(self._database, submissions.sweep, self._clock() - _KEPT_MS)
                self._queued -= self._answered
                self._answered.clear()
                found = await run_in_thread(self._find)
                for number, leaves in found.items():
                    self._queued.add(number)
                    tasks.create_task(self._log(number, leaves))
                await asyncio.sleep(0 if len(found) == _AT_ONCE else POLL_S)
                sweep_s -= POLL_S

    def _find(self) -> dict[int, bytes]:
        with self._database.translated_errors(), self._database.log_reader.begin() as connection:
            return submissions.waiting(connection, tuple(self._queued), _AT_ONCE)

    async def _log(self, number: int, bundle: bytes) -> None:
        try:
            entries = [Entry.parse(leaf) for leaf in parse_bundle(bundle, POST_STATEMENTS)]
            answer = encode(await self._sequencer.submit(entries))
        except RefusedError as err:
            answer = encode_refusal(err)
        except PeerError as err:  # no ledger writes such a row, but it must not end this process
            answer = encode_refusal(RefusedError("malformed", str(err)))
        await write(self._database, submissions.answer, number, answer)
        self._answered.add(number)
