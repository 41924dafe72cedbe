"""Commitments over gossip: a quicker word than the log's, and one that needs no ledger.

The message is the log entry itself, so its author's signature travels with it; whoever hears a
commitment of the round that it is in fetches the contribution at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from tequio_client.worker.swarm.membership import RunGossip
from tequio_shared.errors import MalformedError, PeerError, RefusedError
from tequio_shared.head.contribution import Header
from tequio_shared.ids import from_text, peer_id_text
from tequio_shared.round.round import is_trainer
from tequio_shared.statements.runs import WorkCommit
from tequio_shared.statements.statement import Entry

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.worker.node import Node
    from tequio_shared.ids import NetworkId, PeerKey, RunId
    from tequio_shared.network.run import RunView
    from tequio_shared.round.manifest import Manifest
    from tequio_shared.statements.statement import Statement

# --- Whose commitments gossip passes on: of the round under way, of its trainers, two of each at
# most.
#
# A message is looked at in the order of what that costs: who says that it comes from them and how
# long it is, then what it says, then its signatures. What an honest peer may pass on because its
# clock or its log is ahead of ours is only passed over; what nobody may send is a `PeerError`.

if TYPE_CHECKING:
    RoundOf = Callable[[PeerKey], int | None]
    """The number of the round under way if the key is to train in it; else None."""
    OnConflict = Callable[[Entry, Entry], None]
    """Takes two signed entries of one author that claim different work for one round."""

COMMITMENT_BYTES = 4_096
"""Longest leaf of a commitment, with every signature that it may have."""
MESSAGES = 2
"""Different commitments of one author in one round that are passed on: two are proof enough."""
_AUTHOR = slice(2, 34)  # of a leaf


class Commitments:
    """Judges the messages of one run's topic (`peers.topics.Judge`)."""

    def __init__(
        self, net: NetworkId, run: RunId, round_of: RoundOf, on_conflict: OnConflict
    ) -> None:
        self._net = net
        self._run = run
        self._round_of = round_of
        self._on_conflict = on_conflict
        self._round = 0
        self._heard: dict[PeerKey, list[Entry]] = {}  # of that round, all signatures checked

    def screen(self, author: PeerKey, content: bytes) -> bool:
        """Whether to look further: a trainer of the round, who says it is theirs, not too often."""
        if len(content) > COMMITMENT_BYTES or content[_AUTHOR] != author:
            return False
        number = self._round_of(author)
        return number is not None and len(self._of(number, author)) < MESSAGES

    def check(self, author: PeerKey, content: bytes) -> bool:
        """Whether to pass the message on; raises MalformedError and SignatureInvalidError."""
        number = self._round_of(author)
        if number is None or not self.screen(author, content):
            return False
        entry, header = _parse(content)
        statement = entry.statement
        if not author == statement.author == header.trainer:
            raise MalformedError("a commitment in somebody else's name")
        if (statement.run, statement.round) != (self._run, number):
            return False
        return self._is_news(entry, self._of(number, author))

    def _is_news(self, entry: Entry, heard: list[Entry]) -> bool:
        if any(entry.statement.raw == known.statement.raw for known in heard):
            return False
        entry.verify(self._net)
        heard.append(entry)
        if len(heard) > 1 and _work(heard[0].statement) != _work(entry.statement):
            self._on_conflict(heard[0], entry)
        return True

    def _of(self, number: int, author: PeerKey) -> list[Entry]:
        """What was heard of a trainer of the round; of rounds before, nothing is kept."""
        if number != self._round:
            self._round, self._heard = number, {}
        return self._heard.setdefault(author, [])


def header_of(entry: Entry) -> Header:
    """The header of a commitment; raises MalformedError for anything else."""
    return Header.parse(from_text(_work(entry.statement), None))


def _work(statement: Statement) -> str:
    if not isinstance(statement.body, WorkCommit):
        raise MalformedError(f"{statement.type} where commitments are due")
    return statement.body.header


def _parse(content: bytes) -> tuple[Entry, Header]:
    try:
        entry = Entry.parse(content)
    except RefusedError as err:
        raise MalformedError(str(err)) from err
    return entry, header_of(entry)


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
