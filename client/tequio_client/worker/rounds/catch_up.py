"""Catching up with a run after an absence: past draws, ended rounds, replay, and rosters.

The ledger's lists say only where to look. What counts is read from the log with inclusion proofs,
and from documents that match their hashes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import structlog
import trio

from tequio_client.ledger.http import LedgerUnavailableError
from tequio_client.ledger.proofs import read_entries
from tequio_client.worker.node import Node
from tequio_client.worker.store.trees import TreeRef
from tequio_shared.errors import MalformedError, PeerError, RefusedError
from tequio_shared.head.chain import AcceptedSet, Head, NextHead, stated_head
from tequio_shared.head.contribution import ContributionHeader, RecordShape, contribution_id
from tequio_shared.ids import Digest, NetworkId, PeerKey, RunId, digest_from_text, to_text
from tequio_shared.limits import MEASURED_HEADS
from tequio_shared.network.key_links import ended_by
from tequio_shared.network.run import RunView, needed_document
from tequio_shared.round.documents import TRAINER, Roster, RoundResult
from tequio_shared.round.manifest import Manifest
from tequio_shared.round.measures import MeasureDraw, is_due
from tequio_shared.round.proof import MEASURED, Verdict
from tequio_shared.statements.runs import HeadPromote, RoundClose, RoundVoid, RunRollback
from tequio_shared.statements.statement import Statement

log = structlog.get_logger(__name__)

MAX_ROUNDS = 16
"""Rounds searched for the one that started from a head; the rounds in between were void."""
MAX_ENTRIES = 2_048
"""Most log entries read for one draw, or to find one promotion."""
ROSTER_TIMEOUT_S = 60.0
"""Longest search for a roster; by then the next one is named."""
TRANSIENT = (LedgerUnavailableError, PeerError, RefusedError)
"""Errors that another attempt may not meet; not so LogForkedError, a PeerError: catch it first."""


async def add_past_draws(node: Node, view: RunView, after: int, heads: Iterable[Head]) -> None:
    """Add earlier draws of this key to a view that begins after that log entry.

    A worker that was away may have been drawn for a head whose weights it has; `heads` are the
    candidates.
    """
    candidates = [
        one
        for one in sorted(heads, key=lambda one: -one.round)
        if is_due(view.manifest, one.round, is_last=False) and node.store.has_tree(one.weights_root)
    ]
    for head in candidates[:MEASURED_HEADS]:
        try:
            if await _is_closed(node, view.manifest.run_id, head):
                return  # the older ones are, too
            draw = await _draw(node, view, after, head)
        except TRANSIENT as err:
            # Only a measurement depends on it, and other members were drawn too: no retry.
            log.warning("past draw not read", round=head.round, error=str(err))
            continue
        if draw is not None and node.signer.key in draw.drawn:
            log.info("past draw found", round=head.round)
            view.draws.add_earlier(draw)


async def _is_closed(node: Node, run: RunId, head: Head) -> bool:
    """True if no more measures of the head are admitted: the last heads drawn for are newer."""
    # Listed heads had a draw. Round numbers alone do not tell: no head is made in a void round.
    newer = await node.ledger.measures(run, after=head.round, limit=MEASURED_HEADS)
    return len(newer.heads) == MEASURED_HEADS


async def _draw(node: Node, view: RunView, after: int, head: Head) -> MeasureDraw | None:
    """The draw for a head; None if the view will see it itself, or if reading it costs too much."""
    # A draw follows from a round's roster and from the statements of its members up to the
    # promotion. That part of the log is read and folded by a view of its own.
    run = view.manifest.run_id
    rounds = await node.ledger.rounds(run, after=head.round, limit=MAX_ROUNDS)
    began = next((one for one in rounds if one.opened_index is not None), None)
    if began is None or began.head != to_text(head.hash):
        return None
    begin, end = began.roster_index, began.opened_index or 0
    if end > after or not 0 < end - begin <= MAX_ENTRIES:
        return None
    found = await read_entries(node.ledger, node.network_info, range(begin, end))
    past = view_before(view.net, view.manifest, head)
    for index, entry in sorted(found.items()):
        ended = ended_by(entry.statement)
        if ended is not None:
            past.end_key(ended)
        if entry.statement.run == run:
            name = needed_document(entry.statement)
            document = await node.exchange.fetch_blob(name) if name else b""
            past.apply(index, entry.statement, 0, {name: document}.__getitem__)
    return past.drawn if past.head == head else None


def view_before(net: NetworkId, manifest: Manifest, head: Head) -> RunView:
    """A light view of the run between the end of the head's round and its promotion."""
    pending = NextHead(round=head.round, parent=head.parent, set_root=head.set_root)
    return RunView.light(net, manifest, head=None, next_head=pending)


async def read_statement(node: Node, index: int) -> Statement:
    """The statement at that log index, proven; raises PeerError and RefusedError."""
    found = await read_entries(node.ledger, node.network_info, [index])
    return found[index].statement


class WorkOutcome(NamedTuple):
    """How the round of a contribution ended for it."""

    is_accepted: bool
    is_audited: bool
    """True if audits are drawn of it, also if it was refused."""


LOST = WorkOutcome(is_accepted=False, is_audited=False)


async def outcome_of(node: Node, header: ContributionHeader, after: int) -> WorkOutcome | None:
    """How this contribution's round ended, if it did up to that log index.

    None: the round has not ended there. Raises PeerError when the ledger's answer is wrong.
    """
    rounds = await node.ledger.rounds(header.run_id, after=header.round - 1, limit=1)
    if not rounds or rounds[0].round != header.round:
        raise PeerError(f"the ledger does not know round {header.round}")
    index = rounds[0].closed_index
    if index is None or index > after:
        return None
    statement = await read_statement(node, index)
    if (statement.run, statement.round) != (header.run_id, header.round):
        raise PeerError(f"entry {index} is not about round {header.round}")
    match statement.body:
        case RoundVoid():
            return LOST
        case RoundClose(result=name):
            # By the contribution's id, not by slot: the id covers the payload that was committed.
            result = RoundResult.parse(await node.exchange.fetch_blob(digest_from_text(name)))
            ours = to_text(contribution_id(header.pack()))
            for row in result.slots:
                if row.contribution == ours:
                    is_accepted = row.verdict == Verdict.ACCEPTED
                    return WorkOutcome(is_accepted, is_accepted or row.reason in MEASURED)
            return LOST
    raise PeerError(f"{statement.type} does not end round {header.round}")


def promoted_head(manifest: Manifest, statement: Statement) -> Head:
    """The head that this statement promotes or goes back to; raises PeerError for any other.

    And RefusedError if it names another hash than that of the head's parts.
    """
    body = statement.body
    if statement.run == manifest.run_id:
        if isinstance(body, RunRollback):
            return stated_head(manifest.run_id, body.head_round, body)
        if isinstance(body, HeadPromote):
            return stated_head(manifest.run_id, statement.round or 0, body)
    raise PeerError("the ledger names an entry that does not promote a head of this run")


def payload_ref(root: Digest, chunks: int, shape: RecordShape) -> TreeRef:
    """The tree of a contribution's payload, for a model of that many chunks."""
    size = chunks * shape.record_bytes
    return TreeRef(root=root, size_bytes=size, piece_bytes=shape.group_bytes)


def payload_refs(closed: AcceptedSet) -> Iterator[TreeRef]:
    """The trees of a round's accepted payloads, in the order of `closed.works`."""
    expected = closed.expected
    for one in closed.works:
        yield payload_ref(one.payload_root, expected.chunks, expected.shape)


def is_replay_costlier(
    goal: Sequence[TreeRef],
    way: Iterable[TreeRef],
    missing_bytes: Callable[[TreeRef], int],
) -> bool:
    """True if the trees that lead to the head `goal` move more bytes than its own.

    Both ways give the same bytes, so only the cost decides. Bytes that are here count as free.
    """
    # Every size is a look at each piece on disk: the head's is taken only if there is a way, and
    # the sum stops as soon as the answer is known.
    total, most = 0, -1
    for one in way:
        most = sum(map(missing_bytes, goal)) if most < 0 else most
        total += missing_bytes(one)
        if total > most:
            return True
    return False


class TrainerIndex:
    """The members and trainers of each run's last round, for a reader that folds no runs.

    A roster is fetched once it is named; `serve` runs as one task.
    """

    def __init__(self, document: Callable[[Digest], Awaitable[bytes]]) -> None:
        self._document = document
        self._named: dict[RunId, tuple[int, Digest]] = {}  # round and document
        self._trainers: dict[RunId, tuple[int, frozenset[PeerKey]]] = {}
        self._members: dict[RunId, frozenset[PeerKey]] = {}  # of the same rounds
        self._was_named = trio.Event()  # replaced whenever one was named

    def set_roster(self, run: RunId, number: int, document: Digest) -> None:
        """Name the document with the roster of a round, which replaces that of earlier rounds."""
        self._named[run] = (number, document)
        self._was_named.set()
        self._was_named = trio.Event()

    def drop(self, run: RunId) -> None:
        self._named.pop(run, None)
        self._trainers.pop(run, None)
        self._members.pop(run, None)

    def round_of(self, run: RunId, key: PeerKey) -> int | None:
        """Number of the last round if the key trains in it, else None."""
        number, trainers = self._trainers.get(run, (0, frozenset()))
        return number if key in trainers else None

    def round_of_member(self, run: RunId, key: PeerKey) -> int | None:
        """Number of the last round if the key has a slot in it, else None."""
        is_member = key in self._members.get(run, frozenset())
        return self._trainers[run][0] if is_member else None

    async def serve(self) -> None:
        """Fetch the newest named roster of each run, until cancelled."""
        while True:
            was_named = self._was_named
            for run in list(self._named):
                await self._fetch(run)
            # Compared, not just awaited: a roster that was named during a fetch has replaced the
            # event, and is fetched at once.
            if was_named is self._was_named:
                await was_named.wait()

    async def _fetch(self, run: RunId) -> None:
        number, document = self._named.get(run, (0, None))
        if document is None or self._trainers.get(run, (0, None))[0] == number:
            return
        with trio.move_on_after(ROSTER_TIMEOUT_S) as patience:
            try:
                roster = Roster.parse(await self._document(document))
            except MalformedError as err:
                log.warning("roster does not parse", run=to_text(run)[:10], error=str(err))
                self._named.pop(run, None)
                return
            keys = frozenset(one.key for one in roster.members if TRAINER in one.roles)
            self._trainers[run] = (number, keys)
            self._members[run] = frozenset(one.key for one in roster.members)
        if patience.cancelled_caught and self._named.get(run) == (number, document):
            del self._named[run]  # give up on this one: the next one is named soon
