"""Commitments over gossip: a quicker word than the log's, and one that needs no ledger.

The message is the log entry itself, so its author's signature travels with it; whoever hears a
commitment of the round that it is in fetches the contribution at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from tequio_client.worker.commitments import Commitments, header_of
from tequio_client.worker.swarm.membership import RunGossip
from tequio_shared.errors import PeerError
from tequio_shared.ids import peer_id_text
from tequio_shared.round import is_trainer
from tequio_shared.statement import Entry

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.worker.commitments import OnConflict
    from tequio_client.worker.node import Node
    from tequio_shared.contribution import Header
    from tequio_shared.ids import PeerKey
    from tequio_shared.manifest import Manifest
    from tequio_shared.run import RunView

log = structlog.get_logger(__name__)


class Announcer:
    """Says our commitments, and tells the round driver those of others; made by `join`."""

    def __init__(self) -> None:
        self._gossip: RunGossip
        self._view: RunView | None = None
        self.on_conflict: OnConflict = tell_conflict

    @classmethod
    async def join(cls, node: Node, manifest: Manifest) -> Announcer:
        """Join the run's topic; nothing passes before there is a view to `follow`."""
        announcer, net, run = cls(), node.network_info.id, manifest.run_id
        judge = Commitments(net, run, announcer.round_of, announcer._conflict)
        announcer._gossip = await RunGossip.join(node.network, net, run, judge)
        return announcer

    def follow(self, view: RunView) -> None:
        """Take the view of the run that says whose commitments count."""
        self._view = view

    def round_of(self, key: PeerKey) -> int | None:
        """The number of the round under way if the key is to train in it."""
        current = self._view.round if self._view else None
        return current.number if current and is_trainer(current, key) else None

    def _conflict(self, first: Entry, second: Entry) -> None:
        self.on_conflict(first, second)

    async def announce(self, entry: Entry) -> None:
        """Tell the swarm; losing the message costs only time."""
        try:
            await self._gossip.announce(entry.leaf())
        except PeerError as err:
            log.warning("announcement not sent", error=str(err))

    async def listen(self, hear: Callable[[PeerKey, Header], None]) -> None:
        """Pass on commitments, trainer and header, until cancelled."""
        while True:
            entry = Entry.parse((await self._gossip.receive()).content)
            hear(entry.statement.author, header_of(entry))


def tell_conflict(first: Entry, second: Entry) -> None:
    """Log that one author claims different work twice."""
    one, other = first.statement, second.statement
    log.warning(
        "two commitments for one round",
        author=peer_id_text(one.author),
        round=one.round,
        seqs=(one.seq, other.seq),
    )
