"""Which head can be had at all: peers are asked, and when nobody has the present one, an older one.

When everybody left, a seed may be all that is there, and it keeps one head in so many. Whoever
joins then begins at the nearest head that somebody holds, and computes the rounds since. Peers are
not believed: what they give is hashed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog
import trio

from tequio_client.ledger.proofs import read_entries
from tequio_client.worker.replay import head_ref
from tequio_client.worker.resuming import CLOSED, start_after
from tequio_shared.errors import PeerError
from tequio_shared.ids import HeadHash, digest_from_text
from tequio_shared.round import Head
from tequio_shared.run import first_head
from tequio_shared.statements.rounds import HeadPromote

if TYPE_CHECKING:
    from tequio_client.worker.node import Node
    from tequio_client.worker.resuming import Earlier
    from tequio_shared.api.runs import RoundAnswer
    from tequio_shared.manifest import Manifest
    from tequio_shared.statement import Statement


log = structlog.get_logger(__name__)

PROBE_S = 8.0
"""How long the present head is asked for before an older one will do."""
POLL_S = 0.5
ASKED = 16
"""Most peers asked at a time."""
BEFORE_OPENING = 8
"""Entries before a round's opening among which the promotion of its head is looked for."""


async def nearest_start(node: Node, manifest: Manifest, target: Head) -> Earlier | None:
    """Where to begin when nobody has the target; None when somebody has, or nobody has any.

    Raises PeerError when the ledger's answers do not hold, LedgerUnavailableError.
    """
    if not target.round or await _is_had_soon(node, manifest, target):
        return None
    after = max(target.round - 2 * CLOSED, 0)
    rounds = await node.ledger.rounds(manifest.run_id, after=after, limit=4 * CLOSED)
    rounds = tuple(one for one in rounds if one.round <= target.round)
    for at in range(len(rounds) - 1, -1, -1):
        if sum(one.result is not None for one in rounds[at:]) > CLOSED:
            break
        base = await _head_before(node, manifest, rounds[at])
        is_next = base is not None and base.round + 1 == rounds[at].round
        if base is not None and is_next and await _is_had(node, manifest, base):
            log.info("nobody has the present head", round=target.round, beginning_at=base.round)
            return await start_after(node, manifest, base, rounds[at:])
    return None


def head_of(manifest: Manifest, statement: Statement) -> Head:
    """The head that this statement makes canonical; raises PeerError when it makes none."""
    body = statement.body
    if not isinstance(body, HeadPromote) or statement.run != manifest.run_id:
        raise PeerError("the entry that the ledger names is no promotion of this run's head")
    return Head(
        hash=HeadHash(digest_from_text(body.head)),
        round=statement.round or 0,
        parent=HeadHash(digest_from_text(body.parent)),
        set_root=digest_from_text(body.set_root),
        weights_root=digest_from_text(body.weights_root),
        aux_root=digest_from_text(body.aux_root),
    )


async def _is_had_soon(node: Node, manifest: Manifest, head: Head) -> bool:
    """Whether somebody says to have it, asked for a while; also when there is nobody to ask."""
    until_s, is_anybody_there = trio.current_time() + PROBE_S, False
    while trio.current_time() < until_s:
        is_anybody_there = is_anybody_there or bool(node.network.connected())
        with trio.move_on_at(until_s):
            if await _is_had(node, manifest, head):
                return True
        await trio.sleep(POLL_S)
    return not is_anybody_there


async def _is_had(node: Node, manifest: Manifest, head: Head) -> bool:
    """Whether we or a peer that is connected have all of the weights."""
    ref = head_ref(manifest, head)
    peers = node.rng.sample(sorted(node.network.connected()), len(node.network.connected()))
    for peer in peers[:ASKED]:
        try:
            if await node.fetcher.client.held(peer, ref) is None:  # all of it
                return True
        except PeerError:
            continue
    return node.store.has_tree(ref.root)


async def _head_before(node: Node, manifest: Manifest, row: RoundAnswer) -> Head | None:
    """The head that this round started from, if it was promoted in it."""
    if row.opened_index is None:
        return None
    if row.round == 1:
        return first_head(manifest)
    for index in range(row.opened_index - 1, row.opened_index - 1 - BEFORE_OPENING, -1):
        if index <= row.roster_index:
            return None
        try:
            (entry,) = (await read_entries(node.ledger, node.network_info, [index])).values()
            return head_of(manifest, entry.statement)
        except PeerError:
            continue
    return None
