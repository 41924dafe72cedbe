"""The head whose weights we hold: fetched from others, or computed from a closed round.

What lies on the disk may change there. So weights are hashed again before they are held and before
the next head is computed from them; of damaged ones only the damaged pieces are fetched. And a head
that we computed wrongly differs from the promoted one: of that only the pieces that differ are
fetched. A weight that flips is thus mended before the next head, at the latest after it.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import structlog
import trio

from tequio_client.ipc import trainer as link
from tequio_client.worker.rounds.catch_up import head_ref, payload_refs
from tequio_shared.errors import PeerError, RefusedError
from tequio_shared.ids import ZERO_DIGEST, HeadHash, digest_from_text, peer_id_text, to_text
from tequio_shared.limits import PIECE_BYTES
from tequio_shared.round.round import Head

if TYPE_CHECKING:
    from tequio_client.worker.rounds.context import Means
    from tequio_shared.ids import Digest
    from tequio_shared.round.round import AcceptedSet

log = structlog.get_logger(__name__)

HEADS_KEPT = 2
PATIENCE_S = 60.0
"""How long accepted contributions are looked for before the promoted head is fetched instead."""


class Heads:
    """Brings the weights to where the log is."""

    def __init__(self, means: Means) -> None:
        self._means = means
        self._pinned: list[Digest] = []  # weights, oldest first
        self.held: Head | None = None  # whose weights lie in the store
        self.fetching: Head | None = means.base  # on its way, also between two attempts

    async def fetch(self, head: Head) -> None:
        """Get the weights of a head from whoever has them, and hold it."""
        if head.aux_root != ZERO_DIGEST:
            raise RefusedError("no-aux", "runs with state beside the weights cannot be joined yet")
        await self._means.workroom.prepared()  # a computer that cannot train need not fetch
        self.fetching = head
        await trio.to_thread.run_sync(self._means.kept.remember, head)
        await self._make_sound(head)
        self.fetching = None
        await self._hold(head)

    async def advance(self, closed: AcceptedSet) -> None:
        """Compute the head after a closed round from the one before, and hold it."""
        held = self.held
        if held is None or held.hash != closed.parent:
            raise RefusedError("no-head", "the head before that round is not here")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._make_sound, held)
            await self._gather_payloads(closed)
        out = self._means.workroom.file("head", closed.round)
        report = await self._means.workroom.ask(
            lambda command: link.Advance(
                command=command,
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
        await self._hold(_advanced_head(closed, report, root))
        log.info("head computed", round=closed.round, head=report.head[:10], seconds=report.seconds)

    def _contributions(self, closed: AcceptedSet) -> tuple[link.Contribution, ...]:
        return tuple(
            link.Contribution(
                to_text(one.header), str(self._means.store.tree_path(one.payload_root))
            )
            for one in closed.works
        )

    async def _gather_payloads(self, closed: AcceptedSet) -> None:
        """Raises PeerError when none has come for too long, and some are missing."""
        refs = list(payload_refs(closed))
        async with trio.open_nursery() as nursery:
            for ref, one in zip(refs, closed.works, strict=True):
                nursery.start_soon(self._means.exchange.tree, ref, one.trainer)
            roots, missing = [ref.root for ref in refs], len(refs) + 1
            while missing:
                left = missing
                with trio.move_on_after(PATIENCE_S):
                    left = await self._means.exchange.wait_for_more(roots, missing)
                if left == missing:
                    raise PeerError(f"contributions of round {closed.round} are not to be had")
                missing = left

    async def _make_sound(self, head: Head) -> None:
        """Return once the weights are here and what their name says, fetching what is not."""
        ref = head_ref(self._means.manifest, head)
        if await trio.to_thread.run_sync(self._means.store.verify_tree, ref.root):
            return
        missing = await trio.to_thread.run_sync(self._means.store.missing_bytes, ref)
        log.info(
            "fetching head", round=head.round, size_bytes=ref.size_bytes, missing_bytes=missing
        )
        like = [*reversed(self._pinned), *(one.weights_root for one in self._means.kept.heads)]
        came: Counter[str] = Counter()
        while not self._means.store.has_tree(ref.root):
            with trio.move_on_after(PATIENCE_S):
                for peer, count in (await self._means.exchange.tree(ref, like=like)).items():
                    came[peer_id_text(peer)] += count
            left = await trio.to_thread.run_sync(self._means.store.missing_bytes, ref)
            if left and left >= missing:  # an old head may be nowhere any more
                self.fetching = None
                raise PeerError(f"nobody gave anything of head {head.round} for {PATIENCE_S:.0f} s")
            missing = left
        log.info("head fetched", round=head.round, head=to_text(head.hash)[:10], sources=dict(came))

    async def _hold(self, head: Head) -> None:
        """Pin the weights of this head and let go of the oldest."""
        self.held = head
        if head.weights_root in self._pinned:
            return
        self._means.store.pin(head.weights_root)
        self._pinned.append(head.weights_root)
        while len(self._pinned) > HEADS_KEPT:
            self._means.store.unpin(self._pinned.pop(0))
        await trio.to_thread.run_sync(self._means.kept.remember, head)


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
