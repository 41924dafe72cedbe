"""The head whose weights we hold: fetched from others, or computed from a closed round."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog
import trio

from tequio_client.link import messages as link
from tequio_client.worker.trees import TreeRef
from tequio_shared.errors import PeerError, RefusedError
from tequio_shared.ids import ZERO_DIGEST, HeadHash, digest_from_text, peer_id_text, to_text
from tequio_shared.limits import PIECE_BYTES
from tequio_shared.round import Head

if TYPE_CHECKING:
    from tequio_client.worker.means import Means
    from tequio_shared.accepted import AcceptedSet
    from tequio_shared.ids import Digest

log = structlog.get_logger(__name__)

HEADS_KEPT = 2
PATIENCE_S = 60.0
"""How long accepted contributions are looked for before the promoted head is fetched instead."""


class Heads:
    """Brings the weights to where the log is."""

    def __init__(self, means: Means) -> None:
        self._means = means
        self._kept: list[Digest] = []  # weights that are pinned, oldest first
        self.held: Head | None = None  # whose weights lie in the store
        self.fetching: Head | None = None  # on its way, also between two attempts

    async def fetch(self, head: Head) -> None:
        """Get the weights of a head from whoever has them, and hold it."""
        size = 4 * self._means.manifest.layout.elements
        ref = TreeRef(root=head.weights_root, size_bytes=size, piece_bytes=PIECE_BYTES)
        if head.aux_root != ZERO_DIGEST:
            raise RefusedError("no-aux", "runs with state beside the weights cannot be joined yet")
        await self._means.workroom.prepared()  # a computer that cannot train need not fetch
        if not self._means.store.has_tree(head.weights_root):
            log.info("fetching head", round=head.round, size_bytes=size)
        self.fetching = head
        came = await self._means.exchange.tree(ref)
        self.fetching = None
        if came:
            sources = {peer_id_text(peer): count for peer, count in came.items()}
            log.info("head fetched", round=head.round, sources=sources)
        self._hold(head)

    async def advance(self, closed: AcceptedSet) -> None:
        """Compute the head after a closed round from the one before, and hold it."""
        held = self.held
        if held is None or held.hash != closed.parent:
            raise RefusedError("no-head", "the head before that round is not here")
        with trio.move_on_after(PATIENCE_S) as patience:
            await self._gather_payloads(closed)
        if patience.cancelled_caught:
            raise PeerError(f"contributions of round {closed.round} are not to be had")
        out = self._means.workroom.file("head", closed.round)
        report = await self._means.workroom.ask(
            lambda wish: link.Advance(
                wish=wish,
                round=closed.round,
                run=to_text(self._means.manifest.run_id),
                parent=to_text(closed.parent),
                k=closed.k,
                weights=str(self._means.store.tree_path(held.weights_root)),
                weights_out=str(out),
                contributions=self._contributions(closed),
            ),
            link.Advanced,
        )
        root = await self._means.workroom.take_in(out, PIECE_BYTES)
        self._hold(_advanced_head(closed, report, root))
        log.info("head computed", round=closed.round, head=report.head[:10], seconds=report.seconds)

    def _contributions(self, closed: AcceptedSet) -> tuple[link.Contribution, ...]:
        return tuple(
            link.Contribution(
                to_text(one.header), str(self._means.store.tree_path(one.payload_root))
            )
            for one in closed.works
        )

    async def _gather_payloads(self, closed: AcceptedSet) -> None:
        shape = closed.expected.shape
        size = closed.expected.chunks * shape.record_bytes
        async with trio.open_nursery() as nursery:
            for one in closed.works:
                ref = TreeRef(root=one.payload_root, size_bytes=size, piece_bytes=shape.group_bytes)
                nursery.start_soon(self._means.exchange.tree, ref, one.trainer)

    def _hold(self, head: Head) -> None:
        """Pin the weights of this head and let go of the oldest."""
        self.held = head
        if head.weights_root in self._kept:
            return
        self._means.store.pin(head.weights_root)
        self._kept.append(head.weights_root)
        while len(self._kept) > HEADS_KEPT:
            self._means.store.unpin(self._kept.pop(0))


def _advanced_head(closed: AcceptedSet, report: link.Advanced, weights_root: Digest) -> Head:
    """The head that the trainer computed; raises PeerError when its files say something else."""
    if to_text(weights_root) != report.weights_root:
        raise PeerError("the trainer's weights are not what it says")
    if report.set_root != to_text(closed.set_root):
        raise PeerError("the trainer advanced over another set than the log's")
    return Head(
        hash=HeadHash(digest_from_text(report.head)),
        round=closed.round,
        parent=closed.parent,
        set_root=closed.set_root,
        weights_root=weights_root,
        aux_root=digest_from_text(report.aux_root),
    )
