"""Draws that were made before our view of a run began: what may still be wanted of us.

Who was away, or restarts, has the weights of old heads in its store, and may have been drawn to
measure one of them. A draw follows from one round's roster and from what its members stated up to
the promotion: so that part of that round is read, with proofs, and folded. The ledger's list of
rounds only says where to look. Nothing but a measure hangs on it: what cannot be had is let be.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import structlog

from tequio_client.ledger.http import LedgerUnavailableError
from tequio_client.ledger.proofs import read_entries
from tequio_shared.errors import PeerError, RefusedError
from tequio_shared.ids import to_text
from tequio_shared.limits import MEASURED_HEADS
from tequio_shared.measures import is_due
from tequio_shared.round import NextHead
from tequio_shared.run import RunView
from tequio_shared.run_documents import needed_document

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tequio_client.worker.node import Node
    from tequio_shared.api.runs import RoundAnswer
    from tequio_shared.ids import Digest
    from tequio_shared.manifest import Manifest
    from tequio_shared.measures import Draw
    from tequio_shared.round import Head

log = structlog.get_logger(__name__)

ROUNDS = 16
"""Rounds that are looked through for the one that began with a head: those before it are void."""
ENTRIES = 2_048
"""Most entries that are read for one draw."""
_PASSING = (LedgerUnavailableError, PeerError, RefusedError)


async def recall(node: Node, view: RunView, after: int, heads: Iterable[Head]) -> None:
    """Tell a view that begins after that entry of the draws that fell on us before.

    `heads` are those whose weights we may have. Raises LogForkedError.
    """
    for head in _candidates(node, view.manifest, heads):
        try:
            draw = await _draw(node, view, after, head)
        except _PASSING as err:
            log.warning("not looking who was drawn", round=head.round, error=str(err))
            continue
        if draw is not None and node.signer.key in draw.drawn:
            log.info("drawn to measure a head before", round=head.round)
            view.draws.recall(draw)


def _candidates(node: Node, manifest: Manifest, heads: Iterable[Head]) -> Sequence[Head]:
    """The newest that are due and here; measures are taken of no more."""
    found = [
        one
        for one in sorted(heads, key=lambda one: -one.round)
        if is_due(manifest, one.round, is_last=False) and node.store.has_tree(one.weights_root)
    ]
    return found[:MEASURED_HEADS]


async def _draw(node: Node, view: RunView, after: int, head: Head) -> Draw | None:
    """The draw for a head; None where the view sees it by itself, or where it is too far to see."""
    run = view.manifest.run_id
    rounds = await node.ledger.rounds(run, after=head.round, limit=ROUNDS)
    began = next((one for one in rounds if one.opened_index is not None), None)
    if began is None or not _is_before(began, head, after):
        return None
    found = await read_entries(
        node.ledger, node.network_info, range(began.roster_index, began.opened_index or 0)
    )
    pending = NextHead(round=head.round, parent=head.parent, set_root=head.set_root)
    past = RunView.light(view.net, view.manifest, head=None, next_head=pending)
    for index, entry in sorted(found.items()):
        if entry.statement.run == run:
            name = needed_document(entry.statement)
            document = await node.exchange.blob(name) if name else b""
            past.apply(index, entry.statement, 0, partial(_given, document))
    return past.drawn if past.head == head else None


def _is_before(began: RoundAnswer, head: Head, after: int) -> bool:
    """Whether that round began with the head, before that entry, and is not too long to read."""
    opened = began.opened_index or 0
    is_near = opened <= after and 0 < opened - began.roster_index <= ENTRIES
    return is_near and began.head == to_text(head.hash)


def _given(document: bytes, _: Digest) -> bytes:
    return document
