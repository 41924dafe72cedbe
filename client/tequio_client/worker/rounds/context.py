"""Everything that the duties of one run need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tequio_client.worker.ledger.follower import LedgerClock
    from tequio_client.worker.ledger.outbox import Outbox
    from tequio_client.worker.points.points import PointsRecorder
    from tequio_client.worker.rounds.announce import CommitmentGossip
    from tequio_client.worker.rounds.beacon import BeaconSecrets
    from tequio_client.worker.rounds.feedback import ErrorFeedback
    from tequio_client.worker.rounds.workdir import RecordedHeads, TrainerWorkdir
    from tequio_client.worker.store.store import Store
    from tequio_client.worker.swarm.transfer import Exchange
    from tequio_shared.ids import PeerKey
    from tequio_shared.round.data import Corpus
    from tequio_shared.round.manifest import Manifest
    from tequio_shared.round.round import Head
    from tequio_shared.statements.network import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext:
    """The parts of the worker that carry out the duties of one run."""

    key: PeerKey
    manifest: Manifest
    corpus: Corpus
    roles: tuple[Role, ...]
    store: Store
    kept: RecordedHeads
    base: Head | None  # an older head to replay from, if any
    exchange: Exchange
    outbox: Outbox
    announcer: CommitmentGossip
    secrets: BeaconSecrets
    workroom: TrainerWorkdir
    feedback: ErrorFeedback
    ledger_clock: LedgerClock
    points: PointsRecorder
    measures_every: int  # measure the head of every n-th round for the local charts; 0: never
