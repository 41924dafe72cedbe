"""The whole ledger in one process, put together: folder, database, log, state, sequencer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_ledger import founding
from tequio_ledger.coordinator import Coordinator
from tequio_ledger.log import Log
from tequio_ledger.sequencer import Sequencer
from tequio_ledger.shelf import Shelf
from tequio_ledger.state import State
from tequio_ledger.store.blobs import BlobFolder
from tequio_ledger.store.engine import Database

if TYPE_CHECKING:
    from tequio_ledger.clock import Clock
    from tequio_ledger.folder import Folder
    from tequio_ledger.settings import Settings
    from tequio_shared.genesis import Genesis


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """An open ledger; `sequencer.run` must run for it to take statements."""

    settings: Settings
    clock: Clock
    database: Database
    blobs: BlobFolder
    genesis: Genesis
    log: Log
    state: State
    sequencer: Sequencer

    def close(self) -> None:
        """Close the database."""
        self.database.close()


def open_ledger(settings: Settings, folder: Folder, clock: Clock) -> Ledger:
    """Open or found the ledger in a folder, every stored byte checked; raises UserFacingError."""
    database = Database(folder.database)
    database.migrate()
    blobs = BlobFolder(folder.blobs, database, clock, settings.blob_quota_bytes)
    genesis = founding.genesis(settings, folder, database)
    shelf = Shelf(blobs)
    state = State(genesis, shelf.read)
    log = Log(database, genesis, folder.signer(founding.LOG_KEY), clock)
    log.load(lambda stored, entry: state.apply(stored.index, entry, stored.at_ms))
    coordinator = Coordinator(folder.signer(founding.COORDINATOR_KEY), state)
    if log.size == 0:
        blobs.put(founding.rules())
        founding.log_genesis(log, state, coordinator, clock())
    return Ledger(
        settings=settings,
        clock=clock,
        database=database,
        blobs=blobs,
        genesis=genesis,
        log=log,
        state=state,
        sequencer=Sequencer(log, state, coordinator, shelf, clock),
    )
