"""Attestations over gossip, so that peers know what a ledger was told.

A member sends each `head.attest` to its peers when it sends it to the ledger, whatever that
answers. The message is the log entry itself. `omissions` watches which of them the log never has.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn, TypeAlias

import structlog
import trio

from tequio_client.worker.node import Node
from tequio_client.worker.swarm.peers import Announcement, PeerNetwork
from tequio_shared.errors import MalformedError, PeerError, RefusedError
from tequio_shared.ids import NetworkId, PeerKey, RunId
from tequio_shared.network.run import RunView
from tequio_shared.round.round import RoundPhase
from tequio_shared.statements.runs import HeadAttest
from tequio_shared.statements.statement import Entry

log = structlog.get_logger(__name__)

MAX_ATTESTATION_BYTES = 4_096
"""Longest leaf of an attestation, with all its signatures."""
MAX_PER_AUTHOR = 2
"""Attestations of one author that are passed on per round: a busy ledger's member signs again."""
MAX_WAITING = 8
"""Own attestations that wait to be published; a round has one, and a few copies of it."""
_AUTHOR = slice(2, 34)  # of a leaf

RoundOf: TypeAlias = Callable[[PeerKey], int | None]
"""Number of the round whose head the key may attest now, else None."""


def attestation_topic(network_id: NetworkId, run: RunId) -> str:
    return f"/tequio/{network_id.hex()[:16]}/attest/{run.hex()[:16]}/1"


class AttestationFilter:
    """Decides which messages of the topic are passed on (a `TopicFilter`)."""

    def __init__(self, net: NetworkId, run: RunId, round_of: RoundOf) -> None:
        self._net = net
        self._run = run
        self._round_of = round_of
        self._round = 0
        self._verified: dict[PeerKey, list[bytes]] = {}  # statements of that round, by author

    def screen(self, author: PeerKey, content: bytes) -> bool:
        """True if the message claims to be from a member that may send one more in this round."""
        if len(content) > MAX_ATTESTATION_BYTES or content[_AUTHOR] != author:
            return False
        number = self._round_of(author)
        return number is not None and len(self._of(number, author)) < MAX_PER_AUTHOR

    def check(self, author: PeerKey, content: bytes) -> bool:
        """True if the message is passed on; raises MalformedError and SignatureInvalidError."""
        number = self._round_of(author)
        if number is None or not self.screen(author, content):
            return False
        try:
            entry = Entry.parse(content)
        except RefusedError as err:
            raise MalformedError(str(err)) from err
        statement = entry.statement
        if statement.author != author or not isinstance(statement.body, HeadAttest):
            raise MalformedError(f"expected the sender's head.attest, got {statement.type}")
        verified = self._of(number, author)
        if (statement.run, statement.round) != (self._run, number) or statement.raw in verified:
            return False
        entry.verify(self._net)
        verified.append(statement.raw)
        return True

    def _of(self, number: int, author: PeerKey) -> list[bytes]:
        if number != self._round:
            self._round, self._verified = number, {}
        return self._verified.setdefault(author, [])


class AttestationGossip:
    """Publishes this key's attestations and receives those of others; created by `join`."""

    def __init__(
        self, network: PeerNetwork, topic: str, received: trio.MemoryReceiveChannel[Announcement]
    ) -> None:
        self._network = network
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
        received = await node.network.subscribe(topic, AttestationFilter(net, run, round_of))
        return cls(node.network, topic, received)

    @classmethod
    async def relay(
        cls, network: PeerNetwork, net: NetworkId, run: RunId, round_of: RoundOf
    ) -> None:
        """Forward attestations for as long as the network is open, and keep none."""
        passing = AttestationFilter(net, run, round_of)
        (await network.subscribe(attestation_topic(net, run), passing)).close()

    def announce(self, entry: Entry) -> None:
        """Publish the entry if it is an attestation; to be called when it is sent to the ledger."""
        if not isinstance(entry.statement.body, HeadAttest):
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
