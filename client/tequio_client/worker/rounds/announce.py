"""Commitments over gossip: faster than the log, and independent of the ledger.

The message is the log entry itself, so its author's signature travels with it. A member that
receives a commitment for the round under way fetches the contribution at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import structlog

from tequio_client.worker.node import Node
from tequio_client.worker.rounds.entry_filter import EntryFilter, RoundOf
from tequio_client.worker.swarm.membership import RunGossip
from tequio_shared.errors import MalformedError, PeerError
from tequio_shared.head.contribution import ContributionHeader
from tequio_shared.ids import NetworkId, PeerKey, RunId, from_text, peer_id_text
from tequio_shared.network.run import RunView
from tequio_shared.round.round import is_trainer
from tequio_shared.statements.runs import WorkCommit
from tequio_shared.statements.statement import Entry, Statement

log = structlog.get_logger(__name__)

OnConflict: TypeAlias = Callable[[Entry, Entry], None]
"""Receives two signed entries of one author that claim different work for one round."""


def commitment_filter(
    net: NetworkId, run: RunId, round_of: RoundOf, on_conflict: OnConflict
) -> EntryFilter:
    """The filter of a run's commitments, for `RunGossip`."""

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
        commitments = commitment_filter(net, run, round_of, on_conflict)
        return cls(await RunGossip.join(node.network, net, run, commitments))

    async def leave(self) -> None:
        """Leave the run's topic; raises PeerError."""
        await self._gossip.leave()

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
