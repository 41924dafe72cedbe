"""Commitments over gossip: faster than the log, and independent of the ledger.

The message is the log entry itself, so its author's signature travels with it. A member that
receives a commitment for the round under way fetches the contribution at once.

A message is checked in the order of cost: sender and length, then content, then signatures. A
message that an honest peer may pass on because its clock or its log is ahead is only ignored; a
message that nobody may send is a `PeerError`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import structlog

from tequio_client.worker.node import Node
from tequio_client.worker.swarm.membership import RunGossip
from tequio_shared.errors import MalformedError, PeerError, RefusedError
from tequio_shared.head.contribution import ContributionHeader
from tequio_shared.ids import NetworkId, PeerKey, RunId, from_text, peer_id_text
from tequio_shared.network.run import RunView
from tequio_shared.round.round import is_trainer
from tequio_shared.statements.runs import WorkCommit
from tequio_shared.statements.statement import Entry, Statement

log = structlog.get_logger(__name__)

MAX_COMMITMENT_BYTES = 4_096
"""Longest leaf of a commitment, with all its signatures."""
MAX_PER_AUTHOR = 2
"""Different commitments of one author that are passed on per round: two prove equivocation."""
_AUTHOR = slice(2, 34)  # of a leaf

RoundOf: TypeAlias = Callable[[PeerKey], int | None]
"""Number of the round under way if the key trains in it, else None."""
OnConflict: TypeAlias = Callable[[Entry, Entry], None]
"""Receives two signed entries of one author that claim different work for one round."""


class CommitmentFilter:
    """Decides which messages of one run's topic are passed on (a `TopicFilter` for `RunGossip`)."""

    def __init__(
        self, net: NetworkId, run: RunId, round_of: RoundOf, on_conflict: OnConflict
    ) -> None:
        self._net = net
        self._run = run
        self._round_of = round_of
        self._on_conflict = on_conflict
        self._round = 0
        self._verified: dict[PeerKey, list[Entry]] = {}  # of that round, by author

    def screen(self, author: PeerKey, content: bytes) -> bool:
        """True if the message claims to be from a trainer of the round that may send one more.

        Reads no signature: this runs for every message, also for those of a flood.
        """
        if len(content) > MAX_COMMITMENT_BYTES or content[_AUTHOR] != author:
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
        if not author == statement.author == commitment_header(entry).trainer:
            raise MalformedError("commitment signed, sent and claimed by different keys")
        if (statement.run, statement.round) != (self._run, number):
            return False
        return self._is_new(entry, self._of(number, author))

    def _is_new(self, entry: Entry, verified: list[Entry]) -> bool:
        # Compared before the signatures are checked: most messages arrive from several peers.
        if any(entry.statement.raw == known.statement.raw for known in verified):
            return False
        entry.verify(self._net)
        verified.append(entry)
        # Two statements with the same header claim the same work and do not conflict.
        if len(verified) > 1 and _work(verified[0].statement) != _work(entry.statement):
            self._on_conflict(verified[0], entry)
        return True

    def _of(self, number: int, author: PeerKey) -> list[Entry]:
        """Verified entries of a trainer of this round; earlier rounds are dropped."""
        # Only the round under way is remembered: a table of all rounds would grow with the run.
        if number != self._round:
            self._round, self._verified = number, {}
        return self._verified.setdefault(author, [])


def commitment_header(entry: Entry) -> ContributionHeader:
    """The header of a commitment; raises MalformedError for anything else."""
    return ContributionHeader.parse(from_text(_work(entry.statement), None))


def _work(statement: Statement) -> str:
    if not isinstance(statement.body, WorkCommit):
        raise MalformedError(f"expected work.commit, got {statement.type}")
    return statement.body.header


class CommitmentGossip:
    """Publishes this key's commitments and receives those of others; created by `join`."""

    def __init__(self, gossip: RunGossip) -> None:
        self._gossip = gossip

    @classmethod
    async def join(cls, node: Node, view: RunView, on_conflict: OnConflict) -> CommitmentGossip:
        """Join the run's topic; the view decides whose commitments count."""

        def round_of(key: PeerKey) -> int | None:
            current = view.round
            return current.number if current and is_trainer(current, key) else None

        net, run = node.network_info.id, view.manifest.run_id
        commitments = CommitmentFilter(net, run, round_of, on_conflict)
        return cls(await RunGossip.join(node.network, net, run, commitments))

    async def announce(self, entry: Entry) -> None:
        try:
            await self._gossip.announce(entry.leaf())
        except PeerError as err:  # the log carries it too: a lost message costs only time
            log.warning("announcement not sent", error=str(err))

    async def listen(self, receive: Callable[[PeerKey, ContributionHeader], None]) -> None:
        """Call `receive` with trainer and header of each commitment, until cancelled."""
        while True:
            # Parsed a second time: a filter answers yes or no, so what it parsed is gone.
            entry = Entry.parse((await self._gossip.receive()).content)
            receive(entry.statement.author, commitment_header(entry))


def log_conflict(first: Entry, second: Entry) -> None:
    one, other = first.statement, second.statement
    log.warning(
        "two commitments for one round",
        author=peer_id_text(one.author),
        round=one.round,
        seqs=(one.seq, other.seq),
    )
