"""Builds log, state and sequencer of a ledger from the disk. They are never repaired."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import structlog

from tequio_ledger import genesis as tequio_ledger_genesis
from tequio_ledger.data_folder import DataFolder
from tequio_ledger.log.coordinator import Coordinator
from tequio_ledger.log.documents import DocumentCache
from tequio_ledger.log.guard import Guard
from tequio_ledger.log.log import Log
from tequio_ledger.log.sequencer import ChangeSignal, ClockGuard, Sequencer
from tequio_ledger.replay import load_and_derive
from tequio_ledger.replicas.follower import Follower
from tequio_ledger.runtime import Clock
from tequio_ledger.signing import client
from tequio_ledger.state import State
from tequio_ledger.store import derived
from tequio_ledger.store.blobs import BlobFolder
from tequio_ledger.store.database import Database
from tequio_ledger.store.log_rows import StoredEntry
from tequio_shared.log.notes import VerifierKey
from tequio_shared.network.genesis import Genesis
from tequio_shared.statements.statement import Entry

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Leadership:
    """Log, state and sequencer, which belong together."""

    log: Log
    state: State
    sequencer: Sequencer | Follower
    shelf: DocumentCache

    def apply(self, stored: StoredEntry, entry: Entry) -> None:
        """Apply one entry to the state."""
        self.state.apply(stored.index, entry, stored.at_ms)
        statement = entry.statement
        if statement.author == self.state.genesis.coordinator_key:
            self.sequencer.timekeeper.record(statement.ts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Builder:
    """Makes offices of one ledger; reads everything from the disk again."""

    genesis: Genesis
    folder: DataFolder
    database: Database
    blobs: BlobFolder
    guard: Guard
    clock: Clock
    changed: ChangeSignal
    signer: Path | None = None
    """Socket of `tequio-ledger sign`; None when the log's key is in the folder."""

    def lead(self) -> Leadership:
        """Read everything and take office; founds the network in an empty database.

        Raises UserFacingError, UnwritableError, NotSigningError; TakenError when another process
        has the office.
        """
        office = self._leading(self._bare())
        self._load(office)
        if office.log.size == 0:
            self.blobs.put(tequio_ledger_genesis.rules())
            coordinator = self._coordinator(office.state)
            tequio_ledger_genesis.log_genesis(office.log, office.state, coordinator, self.clock())
        office.sequencer.timekeeper.record(office.log.published_at_ms)
        return office

    def view(self, reason: str) -> Leadership:
        """Read everything, to be served as it is; raises UserFacingError."""
        office = self._leading(self._bare())
        office.log.read(office.apply)
        office.sequencer.closed_for = reason
        return office

    def follow(self) -> Leadership:
        """Load the published log so that it can be followed; UserFacingError, UnwritableError."""
        bare = self._bare()
        bare.log.follow(bare.apply)
        late = bare.sequencer.timekeeper
        follower = Follower(bare.log, bare.state, self.database, self.guard, late, self.changed)
        return replace(bare, sequencer=follower)

    def succeed(self, former: Leadership) -> Leadership:
        """Replace a follower whose log has taken office by a sequencer."""
        office = self._leading(former)
        office.sequencer.timekeeper.record(office.log.published_at_ms)
        return office

    def _load(self, office: Leadership) -> None:
        """Read the log into a new office; derives rows that an older program did not."""
        with self.database.reader.begin() as connection:
            is_short = derived.is_incomplete(connection)
        if is_short:
            log.info("rewriting derived tables", reason="an older program wrote them")
            load_and_derive(self.database, office.log, office.state, office.apply)
        else:
            office.log.load(office.apply)

    def _bare(self) -> Leadership:
        """Make a log and a state without entries, and a follower in the sequencer's place."""
        key = VerifierKey.parse(self.genesis.log_key).key
        signer = client.open_signer(self.folder, self.signer, key)
        shelf = DocumentCache(self.blobs)
        state = State(self.genesis, shelf.read, shelf.size)
        log_ = Log(self.database, self.genesis, signer, self.guard, self.clock)
        late = ClockGuard(self.clock)
        nobody = Follower(log_, state, self.database, self.guard, late, self.changed)
        return Leadership(log=log_, state=state, sequencer=nobody, shelf=shelf)

    def _leading(self, former: Leadership) -> Leadership:
        late = former.sequencer.timekeeper
        coordinator = self._coordinator(former.state)
        sequencer = Sequencer(
            former.log, former.state, coordinator, former.shelf, late, self.changed
        )
        return replace(former, sequencer=sequencer)

    def _coordinator(self, state: State) -> Coordinator:
        return Coordinator(self.folder.signer(tequio_ledger_genesis.COORDINATOR_KEY), state)
