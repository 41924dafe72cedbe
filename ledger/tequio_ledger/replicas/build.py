"""Builds the sequencer or the follower of a ledger from the disk; neither is ever repaired."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import structlog

from tequio_ledger.data_folder import DataFolder
from tequio_ledger.genesis import COORDINATOR_KEY, log_genesis, rules
from tequio_ledger.log.clock_guard import ClockGuard
from tequio_ledger.log.guard import Guard
from tequio_ledger.log.log import Log
from tequio_ledger.log.sequencer import ChangeSignal, Sequencer
from tequio_ledger.log.snapshots import newest_start
from tequio_ledger.replicas.follower import Follower
from tequio_ledger.runtime import Clock
from tequio_ledger.signing.client import open_signer
from tequio_ledger.store.blobs import BlobFolder
from tequio_ledger.store.database import Database
from tequio_shared.errors import TequioError
from tequio_shared.ids import RunId
from tequio_shared.log.notes import VerifierKey
from tequio_shared.network.genesis import Genesis
from tequio_shared.served.coordinator import Coordinator
from tequio_shared.served.state import State

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Builder:
    """Reads log and state of one ledger, every time from the disk, from the newest snapshot on.

    Each log is read by a follower, also where this process goes on to write it: `succeed` then
    continues with what the follower has read.
    """

    genesis: Genesis
    folder: DataFolder
    database: Database
    blobs: BlobFolder
    guard: Guard
    clock: Clock
    changed: ChangeSignal
    signer: Path | None = None
    """Socket of `tequio-ledger sign`; None when the log's key is in the folder."""

    def lead(self) -> Sequencer:
        """Read everything and become the log's writer; founds the network in an empty database.

        Raises UserFacingError, UnwritableError, NotSigningError; NotLeaderError when another
        process writes the log.
        """
        follower = self._follower()
        follower.log.load(follower.apply)
        if follower.log.size == 0:
            self.blobs.put(rules())
            coordinator = self._coordinator(follower.state)
            log_genesis(follower.log, follower.state, coordinator, self.clock())
        return self.succeed(follower)

    def view(self, reason: str) -> Sequencer:
        """Read everything, to be served as it is; raises UserFacingError."""
        follower = self._follower()
        follower.log.read(follower.apply)
        sequencer = self.succeed(follower)
        sequencer.closed_for = reason
        return sequencer

    def follow(self) -> Follower:
        """Load the published log so that it can be followed; UserFacingError, UnwritableError."""
        follower = self._follower()
        follower.load()
        return follower

    def succeed(self, follower: Follower) -> Sequencer:
        """Make the sequencer that continues where a follower has stopped reading."""
        follower.timekeeper.record(follower.log.published_at_ms)
        return Sequencer(
            follower.log,
            follower.state,
            self._coordinator(follower.state),
            follower.documents,
            follower.timekeeper,
            self.changed,
        )

    def _follower(self) -> Follower:
        key = VerifierKey.parse(self.genesis.log_key).key
        signer = open_signer(self.folder, self.signer, key)
        start = newest_start(self.database, self.genesis, self.blobs)
        log_ = Log(self.database, self.genesis, signer, self.guard, self.clock, start.tree)
        timekeeper = ClockGuard(self.clock)
        timekeeper.record(start.state.coordinator_ms)
        return Follower(log_, start.state, start.documents, timekeeper, self.changed)

    def _coordinator(self, state: State) -> Coordinator:
        return Coordinator(self.folder.signer(COORDINATOR_KEY), state, _log_error)


def _log_error(run: RunId | None, err: TequioError) -> None:
    log.error("the coordinator cannot sign", run=run.hex() if run else None, exc_info=err)
