"""The whole ledger of one process: folder, database, log, state, sequencer.

Log, state and sequencer are never repaired. When a write fails or the guard forbids signing, they
are discarded and read again from the disk, for reading only: the published log is still served, and
statements are refused with `read-only`. If the disk was the only cause, writing is tried again with
growing pauses, each time from the disk.

Several processes can serve from a shared database (`replicas`); those that do not write the log
follow it.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Never

import structlog

from tequio_ledger import resources
from tequio_ledger.config.settings import LedgerSettings
from tequio_ledger.data_folder import DataFolder
from tequio_ledger.genesis import open_genesis, read_genesis
from tequio_ledger.log.documents import DocumentCache
from tequio_ledger.log.guard import Guard, NotSigningError, Published
from tequio_ledger.log.log import Log
from tequio_ledger.log.proofs import ProofCache
from tequio_ledger.log.publisher import Publisher, read_policy
from tequio_ledger.log.sequencer import ChangeSignal, Sequencer
from tequio_ledger.log.snapshots import SnapshotWriter
from tequio_ledger.log.table_check import TableCheck
from tequio_ledger.log.tile_files import TileCopier, open_tile_bucket
from tequio_ledger.log.witness_client import WitnessRecall
from tequio_ledger.replicas.build import Builder
from tequio_ledger.replicas.follower import Follower
from tequio_ledger.replicas.replica import Replica
from tequio_ledger.runtime import Clock, end_tasks
from tequio_ledger.store import files
from tequio_ledger.store.blobs import UNNAMED_DAYS, open_blobs
from tequio_ledger.store.database import FAILURES, Database, closed_on_error
from tequio_ledger.store.files import UnwritableError
from tequio_ledger.store.postgresql import LEASE_S, NotLeaderError
from tequio_ledger.webhooks import Webhooks, read_settings
from tequio_shared.errors import FatalLogError, TequioError, UserFacingError
from tequio_shared.log.notes import VerifierKey
from tequio_shared.served.state import State

FOUNDING_S = 30.0
"""Maximum wait for a network that another process founds."""
FORMER_S = 4 * LEASE_S
"""Maximum wait until a killed or frozen process of this ledger no longer holds the lead."""
JOIN_PAUSE_S = 0.1
RETRY_S = 1.0
RETRY_MOST_S = 30.0
"""Pause between two attempts to write again: doubled from the first value up to the second."""

UNNAMED_CHECK_S = 3_600.0
DELETED_AT_ONCE = 8
_DAY_MS = 86_400_000

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """`ok`, or one word and one sentence that say what is wrong."""

    status: str
    detail: str | None = None


class Ledger:
    """An open ledger; it accepts statements while `run` is running.

    The sequencer, with its log and state, is replaced as a whole: hold the ledger, not one of them.
    """

    sequencer: Sequencer | Follower

    def __init__(self, settings: LedgerSettings, folder: DataFolder, clock: Clock) -> None:
        """Prepare the tables and read the genesis; raises UserFacingError, UnwritableError."""
        self.settings = settings
        self.clock = clock
        self.database = Database(settings.database or folder.database)
        self.proofs = ProofCache(self.database)
        self._folder = folder
        self._changed = ChangeSignal()
        with closed_on_error(self.database):
            self.database.migrate()
            self.blobs = open_blobs(settings, folder.blobs, self.database, clock)
            self._read_genesis()

    def _read_genesis(self) -> None:
        """Read or make the genesis, and make everything that depends on the network's keys."""
        self.genesis = open_genesis(self.settings, self._folder, self.database)
        key = VerifierKey.parse(self.genesis.log_key)
        self.policy = read_policy(self.settings.trust, key)
        self.guard = Guard(self._folder.mark, self.genesis, self.database)
        self.publisher: Publisher | None = None
        if self.policy is not None:
            self.guard.recall = WitnessRecall(self.policy, key).notes
            self.publisher = Publisher(
                ledger=self,
                policy=self.policy,
                key=key,
                database=self.database,
                changed=self._changed,
                clock=self.clock,
                pause_s=self.settings.publish_pause_ms / 1000,
            )
            self.publisher.load()
        self.webhooks: Webhooks | None = None
        if self.settings.webhooks is not None:
            self.webhooks = Webhooks(
                ledger=self,
                genesis=self.genesis,
                database=self.database,
                changed=self._changed,
                settings=read_settings(self.settings.webhooks),
            )
        self.tiles: TileCopier | None = None
        tile_bucket = open_tile_bucket(self.settings.tiles)
        if tile_bucket is not None:
            self.tiles = TileCopier(
                ledger=self,
                network=self.genesis.network_id,
                database=self.database,
                changed=self._changed,
                bucket=tile_bucket,
            )
        documents = DocumentCache(self.blobs)
        self.tables = TableCheck(self.database, self.genesis.network_id, documents)
        self.snapshots = SnapshotWriter(
            self.database, self.genesis, self.blobs, self._changed, self.clock
        )
        self._builder = Builder(
            genesis=self.genesis,
            folder=self._folder,
            database=self.database,
            blobs=self.blobs,
            guard=self.guard,
            clock=self.clock,
            changed=self._changed,
            signer=self.settings.signer,
        )

    def open(self) -> None:
        """Check every stored byte and write the log, or else serve what is published.

        Raises UserFacingError when the stored log is damaged, or nothing is published.
        """
        try:
            self.blobs.clean_up()
            self.sequencer = self._lead()
        except NotLeaderError:
            self.sequencer = self._join()
        except (UnwritableError, NotSigningError) as err:
            # Readers are better served by a ledger that accepts nothing than by none at all.
            view = self._read_only(str(err))
            if view.log.published.size == 0:
                raise UserFacingError(str(err)) from err
            self.sequencer = view
        self.tables.start(self.state, self.sequencer.log.published)

    @property
    def log(self) -> Log:
        return self.sequencer.log

    @property
    def state(self) -> State:
        return self.sequencer.state

    @property
    def published(self) -> Published:
        """The state that readers may see: signed, and cosigned if a policy requires it."""
        return self.log.published if self.publisher is None else self.publisher.published

    @property
    def is_leading(self) -> bool:
        """True if this process writes the log, or is the only one that serves it."""
        return isinstance(self.sequencer, Sequencer) and self.guard.mark is None

    async def run(self) -> None:
        """Log and publish until cancelled; raises FatalLogError for a failure that is final."""
        tasks = [asyncio.create_task(self._run())]
        tasks.append(asyncio.create_task(self._delete_unnamed()))
        tasks.append(asyncio.create_task(self.tables.run(lambda: self.sequencer)))
        tasks.append(asyncio.create_task(self.snapshots.run(lambda: self.sequencer)))
        if self.publisher is not None:
            tasks.append(asyncio.create_task(self.publisher.run()))
        if self.webhooks is not None:
            tasks.append(asyncio.create_task(self.webhooks.run()))
        if self.tiles is not None:
            tasks.append(asyncio.create_task(self.tiles.run()))
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await end_tasks(tasks)

    async def _run(self) -> None:
        if self.database.is_shared:
            await Replica(self._builder, self.sequencer, self._adopt).run()
        pause_s = RETRY_S
        while True:
            if self.sequencer.closed_for is None:
                pause_s = RETRY_S
                await self._sequence()
            log.error("takes no statements", reason=self.sequencer.closed_for)
            while self.sequencer.closed_for is not None:
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, RETRY_MOST_S)
                await self._try_again()

    async def _delete_unnamed(self) -> Never:
        """Delete uploads that no statement names, again and again while this process leads."""
        while True:
            before_ms = self.clock() - UNNAMED_DAYS * _DAY_MS
            try:
                if isinstance(self.sequencer, Sequencer) and self.sequencer.closed_for is None:
                    await self._delete_sent_before(before_ms, self.sequencer)
            except (TequioError, OSError, *FAILURES) as err:
                log.warning("unnamed blobs were not deleted", error=str(err))
            await asyncio.sleep(UNNAMED_CHECK_S)

    async def _delete_sent_before(self, before_ms: int, sequencer: Sequencer) -> None:
        organisers, state = self.genesis.organiser_keys, sequencer.state
        find = partial(self.blobs.unnamed, before_ms, state.named, organisers)
        found = await asyncio.to_thread(find)

        def delete(first: int) -> None:
            # `named` again: a statement may have been logged since.
            chosen = [
                one for one in found[first : first + DELETED_AT_ONCE] if one not in state.named
            ]
            self.blobs.delete(chosen, before_ms)

        for first in range(0, len(found), DELETED_AT_ONCE):
            # Alone, so that no statement is admitted that names one of them.
            await sequencer.run_alone(partial(delete, first))
        if found:
            log.info("deleted blobs that no statement names", blobs=len(found))

    async def judge_checkpoint(self, note: bytes) -> bool:
        """Judge a checkpoint that somebody holds; False if the log lacks it, and signing has ended.

        Raises PeerError when it does not bear our signature.
        """
        judge = self.guard.judge
        is_held = await asyncio.to_thread(judge, note, self.log.published, self.database)
        reason = self.guard.reason
        if reason is not None and reason != self.sequencer.closed_for:
            self.sequencer.close(reason)
        return is_held

    def health(self) -> Health:
        """Report the most serious problem, or `ok`."""
        if self.guard.mark is not None:
            return Health(status=self.guard.mark.cause.value, detail=self.guard.reason)
        if self.sequencer.closed_for is not None:
            return Health(status="read-only", detail=self.sequencer.closed_for)
        damage = self.tables.reason
        if damage is not None:
            return Health(status="damaged", detail=damage)
        reason = self.sequencer.timekeeper.reason
        if reason is not None:
            return Health(status="clock", detail=reason)
        reason = self.publisher.reason if self.publisher else None
        if reason is not None:
            return Health(status="no-quorum", detail=reason)
        reason = self.snapshots.given_up
        return Health(status="no-snapshots", detail=reason) if reason else Health(status="ok")

    async def _sequence(self) -> None:
        """Run the sequencer to its end, then replace it with a read-only view."""
        sequencer = self.sequencer
        if isinstance(sequencer, Follower):
            raise FatalLogError("a ledger whose database is not shared cannot follow another")
        try:
            await sequencer.run()
        except (UnwritableError, NotSigningError) as err:
            sequencer.closed_for = str(err)
        except FatalLogError as err:
            sequencer.closed_for = str(err)
            sequencer.give_up()
            raise
        # The state in memory may be ahead of the disk and must not be served. It is replaced
        # before the waiting callers are told to retry, so that they meet the new one.
        reason = sequencer.closed_for or ""
        try:
            self.sequencer = await self._read_again(reason, sequencer)
        finally:
            sequencer.give_up()

    async def _read_again(self, reason: str, former: Sequencer) -> Sequencer:
        """Read the log to serve it as it is; waits while a passing cause forbids even that."""
        while True:
            try:
                return await asyncio.to_thread(self._read_only, reason)
            except (TequioError, OSError) as err:
                if not self._passes(err):
                    raise
                log.error("the log cannot be read for now", reason=str(err))  # noqa: TRY400 - the sentence says it
            former.reject_waiting()  # they need not wait for that
            await asyncio.sleep(RETRY_S)

    def _passes(self, err: BaseException) -> bool:
        """Return whether an error, or what caused it, may go away while the process lives."""
        cause: BaseException | None = err
        while cause is not None:
            if isinstance(cause, UnwritableError) or resources.is_exhaustion(cause):
                return True
            if isinstance(cause, FAILURES):
                return isinstance(self.database.failed_write(cause), UnwritableError)
            cause = cause.__cause__
        return False

    async def _try_again(self) -> None:
        try:
            successor = await asyncio.to_thread(self._lead)
        except (TequioError, OSError) as err:
            if isinstance(err, NotSigningError) or self._passes(err):
                return
            raise
        former, self.sequencer = self.sequencer, successor
        former.give_up()
        log.info("takes statements again", size=self.log.size)

    def _lead(self) -> Sequencer:
        """Read everything again to write the log; raises UnwritableError, NotSigningError."""
        self.guard.check()
        self.database.close()  # connections that met an I/O error may go on reporting it
        try:
            files.probe(self._folder.path)
        except OSError as err:
            failure = UnwritableError if files.is_passing(err) else UserFacingError
            raise failure(files.explain(err, self._folder.path)) from err
        return self._builder.lead()

    def _read_only(self, reason: str) -> Sequencer:
        self.database.close()
        return self._builder.view(reason)

    def _join(self) -> Follower:
        """Follow the log that another process writes; waits while a network is being founded."""
        deadline_s = time.monotonic() + FOUNDING_S
        while read_genesis(self.database) is None:
            if time.monotonic() > deadline_s:
                raise UserFacingError(
                    f"{self.database.name} is in use by another tequio-ledger that has not founded "
                    "a network: stop it"
                )
            time.sleep(JOIN_PAUSE_S)
        self._read_genesis()
        if not self.settings.blobs:
            self._refuse_other_writer()
        return self._builder.follow()

    def _refuse_other_writer(self) -> None:
        """Raise UserFacingError if another process goes on writing the log.

        Its documents are in its own folder, and without them this one could not follow for long.
        """
        deadline_s = time.monotonic() + FORMER_S
        with suppress(UnwritableError):  # the follower names the cause, and tries again
            while not self.database.has_no_leader():
                if time.monotonic() > deadline_s:
                    raise UserFacingError(
                        f"another tequio-ledger writes the log in {self.database.name}: several "
                        "ledgers need --blobs, one place for blobs that all of them reach"
                    )
                time.sleep(JOIN_PAUSE_S)

    def _adopt(self, sequencer: Sequencer | Follower) -> None:
        self.sequencer = sequencer


def open_ledger(settings: LedgerSettings, folder: DataFolder, clock: Clock) -> Ledger:
    """Open or found the ledger in a folder, and check every stored byte; raises UserFacingError."""
    with files.explained(folder.path):
        ledger = Ledger(settings, folder, clock)
        with closed_on_error(ledger.database):
            ledger.open()
    return ledger
