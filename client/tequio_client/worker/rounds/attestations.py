"""Attestations over gossip, so that peers know what a ledger was told.

A member sends each `head.attest` to its peers when it sends it to the ledger, whatever that
answers. The message is the log entry itself. `omissions` watches which of them the log never has.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

import structlog
import trio

from tequio_client.worker.node import Node
from tequio_client.worker.rounds.entry_filter import EntryFilter, RoundOf
from tequio_client.worker.swarm.peers import Announcement, PeerNetwork
from tequio_shared.errors import MalformedError, PeerError
from tequio_shared.ids import NetworkId, PeerKey, RunId
from tequio_shared.network.run import RunView
from tequio_shared.round.round import RoundPhase
from tequio_shared.statements.runs import HeadAttest
from tequio_shared.statements.statement import Entry

log = structlog.get_logger(__name__)

MAX_WAITING = 8
"""Own attestations that wait to be published; a round has one, and a few copies of it."""


def attestation_topic(network_id: NetworkId, run: RunId) -> str:
    return f"/tequio/{network_id.hex()[:16]}/attest/{run.hex()[:16]}/1"


def attestation_filter(net: NetworkId, run: RunId, round_of: RoundOf) -> EntryFilter:
    return EntryFilter(net, run, round_of, _check_attestation)


def _check_attestation(author: PeerKey, entry: Entry) -> None:
    statement = entry.statement
    if statement.author != author or not isinstance(statement.body, HeadAttest):
        raise MalformedError(f"expected the sender's head.attest, got {statement.type}")


class AttestationGossip:
    """Publishes this key's attestations and receives those of others; created by `join`."""

    def __init__(
        self,
        network: PeerNetwork,
        run: RunId,
        topic: str,
        received: trio.MemoryReceiveChannel[Announcement],
    ) -> None:
        self._network = network
        self._run = run
        self._topic = topic
        self._received = received
        self._in, self._out = trio.open_memory_channel[Entry](MAX_WAITING)

    @classmethod
    async def join(cls, node: Node, view: RunView) -> AttestationGossip:
        """Join the run's topic; the view decides whose attestations count."""

        def round_of(key: PeerKey) -> int | None:
            current = view.round
            if current is None or current.phase is not RoundPhase.ATTEST:
                return None
            return current.number if key in current.slot_of else None

        net, run = node.network_info.id, view.manifest.run_id
        topic = attestation_topic(net, run)
        received = await node.network.subscribe(topic, attestation_filter(net, run, round_of))
        return cls(node.network, run, topic, received)

    @classmethod
    async def relay(
        cls, network: PeerNetwork, net: NetworkId, run: RunId, round_of: RoundOf
    ) -> None:
        """Forward attestations for as long as the network is open, and keep none."""
        passing = attestation_filter(net, run, round_of)
        (await network.subscribe(attestation_topic(net, run), passing)).close()

    async def leave(self) -> None:
        """Leave the run's topic; raises PeerError."""
        await self._network.unsubscribe(self._topic)

    def announce(self, entry: Entry) -> None:
        """Publish the entry if it is an attestation in the run; called when the ledger gets it."""
        statement = entry.statement
        if not isinstance(statement.body, HeadAttest) or statement.run != self._run:
            return
        with suppress(trio.WouldBlock):  # the copies before it are of the same round
            self._in.send_nowait(entry)

    async def run(self, receive: Callable[[Entry], None]) -> NoReturn:
        """Publish what is announced, and call `receive` with each attestation of others."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._publish)
            async for announcement in self._received:
                if announcement.author != self._network.key:
                    receive(Entry.parse(announcement.content))
        raise AssertionError("the peer network ended before its reader")

    async def _publish(self) -> None:
        async for entry in self._out:
            try:
                await self._network.publish(self._topic, entry.leaf())
            except PeerError as err:  # the ledger gets it too
                log.warning("attestation not announced", error=str(err))
