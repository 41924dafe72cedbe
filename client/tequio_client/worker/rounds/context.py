"""Everything that the duties of one run need, and the view of the run they share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tequio_shared.errors import RefusedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tequio_client.worker.ledger.follower import LedgerClock
    from tequio_client.worker.ledger.outbox import Outbox
    from tequio_client.worker.points.points import Points
    from tequio_client.worker.rounds.announce import Announcer
    from tequio_client.worker.rounds.beacon import BeaconSecrets
    from tequio_client.worker.rounds.feedback import Feedback
    from tequio_client.worker.rounds.workdir import KeptHeads, Workroom
    from tequio_client.worker.store.store import Store
    from tequio_client.worker.swarm.transfer import Exchange
    from tequio_shared.ids import PeerKey
    from tequio_shared.network.run import RunView
    from tequio_shared.round.data import Corpus
    from tequio_shared.round.manifest import Manifest
    from tequio_shared.round.round import AcceptedSet, Head, RoundView
    from tequio_shared.statements.network import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """The parts of the worker that carry out the duties of one run."""

    key: PeerKey
    manifest: Manifest
    corpus: Corpus
    roles: tuple[Role, ...]
    store: Store
    kept: KeptHeads
    base: Head | None  # an older head to replay from, if any
    exchange: Exchange
    outbox: Outbox
    announcer: Announcer
    secrets: BeaconSecrets
    workroom: Workroom
    feedback: Feedback
    ledger_clock: LedgerClock
    points: Points
    measures_every: int  # measure the head of every n-th round for the local charts; 0: never


class Tracker(Protocol):
    """The driver that follows the run, as the duties see it."""

    view: RunView

    def lately(self) -> Sequence[AcceptedSet]:
        """Accepted sets of the last rounds that this worker followed, oldest first."""


def current_round(rounds: Tracker, number: int) -> RoundView:
    """The round of that number; raises RefusedError when it is no longer the last one."""
    current = rounds.view.round
    if current is None or current.number != number:
        raise RefusedError("not-in-round", f"round {number} is over")
    return current
