"""What a volunteer does its duties with, and what it asks of whoever follows the run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tequio_shared.errors import RefusedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tequio_client.worker.announce import Announcer
    from tequio_client.worker.beacon_secrets import BeaconSecrets
    from tequio_client.worker.feedback import Feedback
    from tequio_client.worker.kept_heads import KeptHeads
    from tequio_client.worker.ledger.outbox import Outbox
    from tequio_client.worker.ledger_clock import LedgerClock
    from tequio_client.worker.points import Points
    from tequio_client.worker.store.store import Store
    from tequio_client.worker.swarm.transfer import Exchange
    from tequio_client.worker.workroom import Workroom
    from tequio_shared.accepted import AcceptedSet
    from tequio_shared.corpus import Corpus
    from tequio_shared.ids import PeerKey
    from tequio_shared.manifest import Manifest
    from tequio_shared.round import Head, RoundView
    from tequio_shared.run import RunView
    from tequio_shared.statements.members import Role


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
