"""Entries of a round over gossip: the trainers' commitments, and the members' attestations.

A message is the log entry itself, so that its author's signatures travel with it. A member that
receives a commitment for the round under way fetches the contribution at once, before the log has
it. Attestations tell peers what a ledger was told: each is sent when the ledger is sent it,
whatever that answers, and `omissions` watches which of them the log never has. Delivery is best
effort.

A message is checked in the order of cost: sender and length, then content, then signatures. A
message that an honest peer may pass on because its clock or its log is ahead is only ignored; a
message that nobody may send is a `PeerError`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NoReturn, TypeAlias

import structlog
import trio

from tequio_client.worker.node import Node
from tequio_client.worker.swarm.peers import Announcement, PeerNetwork, TopicFilter
from tequio_shared.errors import MalformedError, PeerError, RefusedError
from tequio_shared.head.contribution import ContributionHeader
from tequio_shared.ids import NetworkId, PeerKey, RunId, from_text, peer_id_text
from tequio_shared.network.run import RunView
from tequio_shared.round.round import RoundPhase, is_trainer
from tequio_shared.statements.runs import HeadAttest, WorkCommit
from tequio_shared.statements.statement import Entry, Statement

log = structlog.get_logger(__name__)

MAX_LEAF_BYTES = 4_096
"""Longest leaf of an entry, with all its signatures."""
MAX_PER_AUTHOR = 2
"""Different entries of one author that are passed on per round: two commitments prove
equivocation, and a member whose ledger is busy signs its attestation again."""
_AUTHOR = slice(2, 34)  # of a leaf

MAX_WAITING = 8
"""Own entries of a topic that wait to be published; a round has one, and a few copies of it."""

RoundOf: TypeAlias = Callable[[PeerKey], int | None]
"""Number of the round under way if the key may send such an entry in it now, else None."""
OnConflict: TypeAlias = Callable[[Entry, Entry], None]
"""Receives two signed entries of one author that claim different work for one round."""
Gossiped: TypeAlias = type[WorkCommit] | type[HeadAttest]
_TOPICS: dict[Gossiped, str] = {WorkCommit: "work", HeadAttest: "attest"}


class EntryFilter:
    """Decides which messages of one run's topic are passed on (a `TopicFilter`).

    `check_content` gets sender and entry, and raises MalformedError unless it is one that the
    sender may send here. `on_verified` gets an author's entries of the round, the newest last.
    """

    def __init__(
        self,
        net: NetworkId,
        run: RunId,
        round_of: RoundOf,
        check_content: Callable[[PeerKey, Entry], None],
        on_verified: Callable[[Sequence[Entry]], None] = lambda _: None,
    ) -> None:
        self._net = net
        self._run = run
        self._round_of = round_of
        self._check_content = check_content
        self._on_verified = on_verified
        self._round = 0
        self._verified: dict[PeerKey, list[Entry]] = {}  # of that round, by author

    def screen(self, author: PeerKey, content: bytes) -> bool:
        """True if the message claims to be from a member of the round that may send one more.

        Reads no signature: this runs for every message, also for those of a flood.
        """
        if len(content) > MAX_LEAF_BYTES or content[_AUTHOR] != author:
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
        self._check_content(author, entry)
        if (statement.run, statement.round) != (self._run, number):
            return False
        verified = self._of(number, author)
        # Compared before the signatures are checked: most messages arrive from several peers.
        if any(statement.raw == known.statement.raw for known in verified):
            return False
        entry.verify(self._net)
        verified.append(entry)
        self._on_verified(verified)
        return True

    def _of(self, number: int, author: PeerKey) -> list[Entry]:
        """Verified entries of an author of this round; earlier rounds are dropped."""
        # Only the round under way is remembered: a table of all rounds would grow with the run.
        if number != self._round:
            self._round, self._verified = number, {}
        return self._verified.setdefault(author, [])


def commitment_filter(
    net: NetworkId, run: RunId, round_of: RoundOf, on_conflict: OnConflict
) -> EntryFilter:
    def compare(verified: Sequence[Entry]) -> None:
        first, last = verified[0], verified[-1]
        # Two statements with the same header claim the same work and do not conflict.
        if _work(first.statement) != _work(last.statement):
            on_conflict(first, last)

    return EntryFilter(net, run, round_of, _check_commitment, compare)


def _check_commitment(author: PeerKey, entry: Entry) -> None:
    if not author == entry.statement.author == commitment_header(entry).trainer:
        raise MalformedError("commitment signed, sent and claimed by different keys")


def commitment_header(entry: Entry) -> ContributionHeader:
    """The header of a commitment; raises MalformedError for anything else."""
    return ContributionHeader.parse(from_text(_work(entry.statement), None))


def _work(statement: Statement) -> str:
    if not isinstance(statement.body, WorkCommit):
        raise MalformedError(f"expected work.commit, got {statement.type}")
    return statement.body.header


def attestation_filter(net: NetworkId, run: RunId, round_of: RoundOf) -> EntryFilter:
    return EntryFilter(net, run, round_of, _check_attestation)


def _check_attestation(author: PeerKey, entry: Entry) -> None:
    statement = entry.statement
    if statement.author != author or not isinstance(statement.body, HeadAttest):
        raise MalformedError(f"expected the sender's head.attest, got {statement.type}")


def log_conflict(first: Entry, second: Entry) -> None:
    one, other = first.statement, second.statement
    log.warning(
        "two commitments for one round",
        author=peer_id_text(one.author),
        round=one.round,
        seqs=(one.seq, other.seq),
    )


def topic_of(net: NetworkId, run: RunId, kind: Gossiped) -> str:
    return f"/tequio/{net.hex()[:16]}/{_TOPICS[kind]}/{run.hex()[:16]}/1"


async def relay(
    network: PeerNetwork, net: NetworkId, run: RunId, kind: Gossiped, passing: TopicFilter
) -> None:
    """Forward what the filter accepts until `stop_relaying`, and keep nothing."""
    (await network.subscribe(topic_of(net, run, kind), passing)).close()


async def stop_relaying(network: PeerNetwork, net: NetworkId, run: RunId) -> None:
    """Leave the topics of the run; raises PeerError."""
    for kind in _TOPICS:
        await network.unsubscribe(topic_of(net, run, kind))


async def join_commitments(node: Node, view: RunView, on_conflict: OnConflict) -> EntryGossip:
    """Join the topic of the run's commitments; the view decides whose count."""

    def round_of(key: PeerKey) -> int | None:
        current = view.round
        return current.number if current and is_trainer(current, key) else None

    net, run = node.network_info.id, view.manifest.run_id
    passing = commitment_filter(net, run, round_of, on_conflict)
    return await EntryGossip.join(node.network, net, run, WorkCommit, passing)


async def join_attestations(node: Node, view: RunView) -> EntryGossip:
    """Join the topic of the run's attestations; the view decides whose count."""

    def round_of(key: PeerKey) -> int | None:
        current = view.round
        if current is None or current.phase is not RoundPhase.ATTEST:
            return None
        return current.number if key in current.slot_of else None

    net, run = node.network_info.id, view.manifest.run_id
    passing = attestation_filter(net, run, round_of)
    return await EntryGossip.join(node.network, net, run, HeadAttest, passing)


class EntryGossip:
    """A topic of a run: publishes this key's entries and receives those of others."""

    def __init__(
        self,
        network: PeerNetwork,
        run: RunId,
        kind: Gossiped,
        topic: str,
        received: trio.MemoryReceiveChannel[Announcement],
    ) -> None:
        self._network, self._run, self._kind = network, run, kind
        self._topic = topic
        self._received = received
        self._in, self._out = trio.open_memory_channel[Entry](MAX_WAITING)

    @classmethod
    async def join(
        cls,
        network: PeerNetwork,
        net: NetworkId,
        run: RunId,
        kind: Gossiped,
        passing: TopicFilter,
    ) -> EntryGossip:
        """Join the topic; what the filter does not accept is neither received nor forwarded."""
        topic = topic_of(net, run, kind)
        return cls(network, run, kind, topic, await network.subscribe(topic, passing))

    async def leave(self) -> None:
        """Leave the topic; raises PeerError."""
        await self._network.unsubscribe(self._topic)

    def announce(self, entry: Entry) -> None:
        """Publish the entry if it belongs to this topic."""
        statement = entry.statement
        if not isinstance(statement.body, self._kind) or statement.run != self._run:
            return
        with suppress(trio.WouldBlock):  # the copies before it are of the same round
            self._in.send_nowait(entry)

    async def exchange(self, receive: Callable[[Entry], None]) -> NoReturn:
        """Publish what is announced, and call `receive` with each entry of others."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._publish)
            async for announcement in self._received:
                if announcement.author != self._network.key:
                    # Parsed a second time: a filter answers yes or no, so what it parsed is gone.
                    receive(Entry.parse(announcement.content))
        raise AssertionError("the peer network ended before its reader")

    async def _publish(self) -> None:
        async for entry in self._out:
            try:
                await self._network.publish(self._topic, entry.leaf())
            except PeerError as err:  # the ledger gets it too: a lost message costs only time
                log.warning("entry not announced", type=entry.statement.type, error=str(err))
