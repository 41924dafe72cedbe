"""Commitments over gossip: a quicker word than the log's, and one that needs no ledger.

The message is the log entry itself, so its author's signature travels with it; whoever hears a
commitment of the round that it is in fetches the contribution at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from tequio_client.worker.gossip import Gossip
from tequio_shared.contribution import Header
from tequio_shared.errors import PeerError, RefusedError
from tequio_shared.ids import from_text
from tequio_shared.statement import Entry
from tequio_shared.statements.rounds import WorkCommit

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.worker.node import Node
    from tequio_shared.ids import NetworkId, PeerKey
    from tequio_shared.manifest import Manifest

log = structlog.get_logger(__name__)


class Announcer:
    """Says our commitments, and tells the round driver those of others; made by `join`."""

    def __init__(self, gossip: Gossip, manifest: Manifest) -> None:
        self._gossip = gossip
        self._run = manifest.run_id

    @classmethod
    async def join(cls, node: Node, manifest: Manifest) -> Announcer:
        """Join the network's topic."""
        net = node.network_info.id

        def check(_forwarder: PeerKey, content: bytes) -> bool:
            return is_commitment(net, content)

        return cls(await Gossip.join(node.network, net, check), manifest)

    async def announce(self, entry: Entry) -> None:
        """Tell the swarm; losing the message costs only time."""
        try:
            await self._gossip.announce(entry.leaf())
        except PeerError as err:
            log.warning("announcement not sent", error=str(err))

    async def listen(self, hear: Callable[[PeerKey, Header], None]) -> None:
        """Pass on commitments of our run, trainer and header, until cancelled."""
        while True:
            heard = await self._gossip.receive()
            statement = Entry.parse(heard.content).statement
            if statement.run == self._run and isinstance(statement.body, WorkCommit):
                header = Header.parse(from_text(statement.body.header, None))
                hear(statement.author, header)


def is_commitment(net: NetworkId, content: bytes) -> bool:
    """Whether the bytes are a commitment signed by its author for this network."""
    try:
        entry = Entry.parse(content)
        if not isinstance(entry.statement.body, WorkCommit):
            return False
        entry.verify(net)
        header = Header.parse(from_text(entry.statement.body.header, None))
    except (PeerError, RefusedError):
        return False
    return header.trainer == entry.statement.author
