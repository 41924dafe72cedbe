"""The whole ledger in one process, put together: folder, database, log, state, sequencer.

What is built on the log (log, state, sequencer) is never repaired. When a write fails or the guard
forbids to sign, it is thrown away and read anew from the disk, for reading only: what is published
is served on, statements are answered with `read-only`. When only the disk was the cause, writing is
tried again with growing pauses, each time from the disk.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from tequio_ledger import founding
from tequio_ledger.coordinator import Coordinator
from tequio_ledger.guard import Guard, NotSigningError
from tequio_ledger.log import Log
from tequio_ledger.replay import load_anew
from tequio_ledger.sequencer import Sequencer, Signal
from tequio_ledger.shelf import Shelf
from tequio_ledger.state import State
from tequio_ledger.store import derived, disk
from tequio_ledger.store.blobs import BlobFolder
from tequio_ledger.store.disk import UnwritableError
from tequio_ledger.store.engine import Database
from tequio_ledger.timekeeper import Timekeeper
from tequio_shared.errors import FatalLogError, UserFacingError

if TYPE_CHECKING:
    from tequio_ledger.clock import Clock
    from tequio_ledger.folder import Folder
    from tequio_ledger.settings import Settings
    from tequio_ledger.store.log_rows import StoredEntry
    from tequio_shared.genesis import Genesis
    from tequio_shared.statement import Entry

RETRY_S = 1.0
RETRY_MOST_S = 30.0
"""Pauses between two tries to write again: doubled from the first up to the second."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """How the ledger is: `ok`, or in one word and one sentence what keeps it from its work."""

    status: str
    detail: str | None = None


class Ledger:
    """An open ledger; `run` must run for it to take statements.

    `log`, `state` and `sequencer` belong together and are replaced together: hold the ledger, not
    one of them.
    """

    log: Log
    state: State
    sequencer: Sequencer

    def __init__(self, settings: Settings, folder: Folder, clock: Clock) -> None:
        """Prepare the tables and read who we are; raises UserFacingError, UnwritableError."""
        self.settings = settings
        self.clock = clock
        self.database = Database(folder.database)
        self.database.migrate()
        self.blobs = BlobFolder(folder.blobs, self.database, clock, settings.blob_quota_bytes)
        self.genesis: Genesis = founding.genesis(settings, folder, self.database)
        self.guard = Guard(folder.mark, self.genesis)
        self._folder = folder
        self._changed = Signal()

    def open(self) -> None:
        """Check every stored byte and take office, or serve what is there if that cannot be.

        Raises UserFacingError when the stored log is damaged, or nothing is there to serve.
        """
        try:
            self.blobs.tidy()
            self._adopt(self._take_office())
        except (UnwritableError, NotSigningError) as err:
            view = self._read_only(str(err))
            if view.log.published.size == 0:
                raise UserFacingError(str(err)) from err
            self._adopt(view)

    async def run(self) -> None:
        """Log statements for ever; raises FatalLogError when a write fails for no passing cause."""
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

    async def show(self, note: bytes) -> bool:
        """Hear of a checkpoint that somebody holds; False: we do not, and sign nothing any more.

        Raises PeerError when it does not bear our signature.
        """
        judge = self.guard.judge
        is_held = await asyncio.to_thread(judge, note, self.log.published, self.database)
        reason = self.guard.reason
        if reason is not None and reason != self.sequencer.closed_for:
            self.sequencer.close(reason)
        return is_held

    def health(self) -> Health:
        """Say how the ledger is."""
        if self.guard.mark is not None:
            return Health(status=self.guard.mark.cause.value, detail=self.guard.reason)
        if self.sequencer.closed_for is not None:
            return Health(status="read-only", detail=self.sequencer.closed_for)
        late = self.sequencer.timekeeper.reason
        return Health(status="ok") if late is None else Health(status="clock", detail=late)

    def close(self) -> None:
        """Close the database."""
        self.database.close()

    async def _sequence(self) -> None:
        """Run the sequencer to its end, then put a view in its place that only reads."""
        sequencer = self.sequencer
        try:
            await sequencer.run()
        except (UnwritableError, NotSigningError) as err:
            sequencer.closed_for = str(err)
        except FatalLogError as err:
            sequencer.closed_for = str(err)
            sequencer.give_up()
            raise
        reason = sequencer.closed_for or ""
        try:
            self._adopt(await asyncio.to_thread(self._read_only, reason))
        finally:
            sequencer.give_up()

    async def _try_again(self) -> None:
        with suppress(UnwritableError, NotSigningError):
            office = await asyncio.to_thread(self._take_office)
            former = self.sequencer
            self._adopt(office)
            former.give_up()
            log.info("takes statements again", size=self.log.size)

    def _take_office(self) -> _Office:
        """Read everything anew and take office; raises UnwritableError, NotSigningError."""
        self.guard.check()
        self.database.close()
        try:
            disk.probe(self._folder.path)
        except OSError as err:
            if not disk.is_passing(err):
                raise UserFacingError(disk.explain(err, self._folder.path)) from err
            raise UnwritableError(disk.explain(err, self._folder.path)) from err
        office = self._build()
        self._load(office)
        if office.log.size == 0:
            self.blobs.put(founding.rules())
            founding.log_genesis(office.log, office.state, office.coordinator, self.clock())
        office.sequencer.timekeeper.note(office.log.published_at_ms)
        return office

    def _load(self, office: _Office) -> None:
        """Read the log into a new office; what an older program did not derive is derived now."""
        with self.database.reader.begin() as connection:
            is_short = derived.is_short(connection)
        if is_short:
            log.info("writes derived tables anew", reason="an older program wrote them")
            load_anew(self.database, office.log, office.state, office.take)
        else:
            office.log.load(office.take)

    def _read_only(self, reason: str) -> _Office:
        """Read everything anew, to be served as it is."""
        self.database.close()
        office = self._build()
        office.log.read(office.take)
        office.sequencer.closed_for = reason
        return office

    def _build(self) -> _Office:
        folder, genesis, clock = self._folder, self.genesis, self.clock
        shelf = Shelf(self.blobs)
        state = State(genesis, shelf.read)
        log_ = Log(self.database, genesis, folder.signer(founding.LOG_KEY), self.guard, clock)
        coordinator = Coordinator(folder.signer(founding.COORDINATOR_KEY), state)
        late = Timekeeper(clock)
        sequencer = Sequencer(log_, state, coordinator, shelf, late, self._changed)
        return _Office(log=log_, state=state, sequencer=sequencer, coordinator=coordinator)

    def _adopt(self, office: _Office) -> None:
        self.log, self.state, self.sequencer = office.log, office.state, office.sequencer


@dataclass(frozen=True, slots=True, kw_only=True)
class _Office:
    """What is built on the log, from the disk in one go."""

    log: Log
    state: State
    sequencer: Sequencer
    coordinator: Coordinator

    def take(self, stored: StoredEntry, entry: Entry) -> None:
        """Fold one entry."""
        self.state.apply(stored.index, entry, stored.at_ms)
        statement = entry.statement
        if statement.author == self.state.genesis.coordinator_key:
            self.sequencer.timekeeper.note(statement.ts)


def open_ledger(settings: Settings, folder: Folder, clock: Clock) -> Ledger:
    """Open or found the ledger in a folder, every stored byte checked; raises UserFacingError."""
    try:
        ledger = Ledger(settings, folder, clock)
        ledger.open()
    except OSError as err:
        raise UserFacingError(disk.explain(err, folder.path)) from err
    return ledger
