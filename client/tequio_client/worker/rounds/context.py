"""What a volunteer does its duties with, and what it asks of whoever follows the run."""

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
    """What the deeds are done with."""

    key: PeerKey
    manifest: Manifest
    corpus: Corpus
    roles: tuple[Role, ...]
    store: Store
    kept: KeptHeads
    base: Head | None  # the older head to go on from first, if any
    exchange: Exchange
    outbox: Outbox
    announcer: Announcer
    secrets: BeaconSecrets
    workroom: Workroom
    feedback: Feedback
    ledger_clock: LedgerClock
    points: Points
    measures_every: int  # heads of which rounds are measured for ourselves; 0: of none


class Tracker(Protocol):
    """Whoever follows the run: what a deed asks it."""

    view: RunView

    def lately(self) -> Sequence[AcceptedSet]:
        """What the last rounds accepted, oldest first, as far as we were there."""


def current_round(rounds: Tracker, number: int) -> RoundView:
    """The round of that number; raises RefusedError when it is no longer the last one."""
    current = rounds.view.round
    if current is None or current.number != number:
        raise RefusedError("not-in-round", f"round {number} is no longer under way")
    return current
