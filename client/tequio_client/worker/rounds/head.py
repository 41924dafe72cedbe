"""The head whose weights this worker holds: fetched from peers, or computed from a closed round.

Files on a disk can decay. So weights are hashed again before they are held and before the next head
is computed from them, and only damaged pieces are fetched again. A head that was computed wrongly
differs from the promoted one, and only the pieces that differ are fetched. A flipped bit is thus
repaired before the next head, or at the latest after it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from itertools import chain

import structlog
import trio

from tequio_client.ipc import trainer as link
from tequio_client.worker.rounds.catch_up import payload_refs
from tequio_client.worker.rounds.statements import RunContext
from tequio_client.worker.store.trees import TreeRef, step_ref
from tequio_client.worker.swarm.mirrors import source_text
from tequio_shared.errors import PeerError, RefusedError
from tequio_shared.head.chain import AcceptedSet, Head
from tequio_shared.ids import ZERO_DIGEST, Digest, HeadHash, PeerKey, digest_from_text, to_text
from tequio_shared.limits import PIECE_BYTES

log = structlog.get_logger(__name__)

HEADS_KEPT = 2
STALL_TIMEOUT_S = 60.0
"""Seconds without a new contribution before the promoted head is fetched instead."""


class HeadKeeper:
    def __init__(self, context: RunContext, *, stall_timeout_s: float = STALL_TIMEOUT_S) -> None:
        self._context = context
        self._stall_timeout_s = stall_timeout_s
        self._pinned: dict[Head, list[Digest]] = {}  # with their trees' roots; oldest first
        self._steps = context.recorded_heads.steps
        self.held: Head | None = None  # its trees are in the store
        self.fetching: Head | None = context.starting_head  # set also between two attempts

    async def fetch(self, head: Head) -> None:
        await self._context.workdir.prepare_trainer()  # a computer that cannot train need not fetch
        self.fetching = head
        # Recorded before the first byte: after a restart the fetched part is found by this entry.
        await self._record(head)
        await self._make_sound(head)
        await self._hold(head)
        self.fetching = None

    def step_of(self, head: Head) -> Digest | None:
        """Root of the step that made a head, if it is here."""
        step = self._steps.get(head.hash)
        return step if step and self._context.store.has_tree(step) else None

    async def follow(self, head: Head, step: Digest, *, likely: Container[PeerKey] = ()) -> None:
        """Apply a round's step to the head before, and hold the head if its root comes out.

        Peers that are `likely` to have the step are asked first.
        """
        held = self.held
        if held is None or held.hash != head.parent:
            raise RefusedError("no-head", f"the head before that of round {head.round} is not here")
        context, workdir = self._context, self._context.workdir
        ref = step_ref(context.manifest, step)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._make_sound, held)
            await self._fetch_tree(ref, f"the step of round {head.round}", likely=likely)
        out = workdir.file("head", head.round)
        report = await workdir.ask(
            lambda command: link.Follow(
                command=command,
                round=head.round,
                weights=str(context.store.tree_path(held.weights_root)),
                step=str(context.store.tree_path(step)),
                weights_out=str(out),
            ),
            link.Followed,
        )
        root = await workdir.store_file(out, PIECE_BYTES)
        if to_text(root) != report.weights_root or root != head.weights_root:
            await trio.to_thread.run_sync(context.store.remove, root)
            await trio.to_thread.run_sync(context.store.remove, step)
            raise PeerError(f"the step of round {head.round} does not lead to its head")
        self._steps[head.hash] = step
        await self._hold(head)
        log.info("head followed", round=head.round, head=to_text(head.hash)[:10])

    async def advance(self, closed: AcceptedSet) -> None:
        """Compute the head after a closed round from the one before, and hold it."""
        held = self.held
        if held is None or held.hash != closed.parent:
            raise RefusedError("no-head", f"the head before round {closed.round} is not here")
        # Hash the parent and gather the payloads at the same time: both wait for the disk.
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._make_sound, held)
            await self._gather_payloads(closed)
        store, workdir = self._context.store, self._context.workdir
        out = workdir.file("head", closed.round)
        aux_out = workdir.file("aux", closed.round) if self._context.manifest.aux_bytes else None
        has_step = self._context.manifest.algorithm.down_k > 0
        step_out = workdir.file("step", closed.round) if has_step else None
        report = await workdir.ask(
            lambda command: link.Advance(
                command=command,
                round=closed.round,
                run=to_text(self._context.manifest.run_id),
                parent=to_text(closed.parent),
                k=closed.k,
                weights=str(store.tree_path(held.weights_root)),
                weights_out=str(out),
                contributions=tuple(
                    link.Contribution(to_text(one.header), str(store.tree_path(one.payload_root)))
                    for one in closed.works
                ),
                aux=str(store.tree_path(held.aux_root)) if aux_out and held.round else None,
                aux_out=str(aux_out) if aux_out else None,
                step_out=str(step_out) if step_out else None,
            ),
            link.AdvanceReport,
        )
        aux_root = await workdir.store_file(aux_out, PIECE_BYTES) if aux_out else ZERO_DIGEST
        root = await workdir.store_file(out, PIECE_BYTES)
        head = _advanced_head(closed, report, root, aux_root)
        if step_out is not None and await trio.Path(step_out).exists():
            self._steps[head.hash] = await workdir.store_file(step_out, PIECE_BYTES)
        await self._hold(head)
        log.info("head computed", round=closed.round, head=report.head[:10], seconds=report.seconds)

    async def _gather_payloads(self, closed: AcceptedSet) -> None:
        """Raises PeerError when payloads are missing and none arrived for `stall_timeout_s`."""
        refs = list(payload_refs(closed))
        async with trio.open_nursery() as nursery:
            for ref, one in zip(refs, closed.works, strict=True):
                nursery.start_soon(self._context.exchange.fetch_tree, ref, one.trainer)
            roots, missing = [ref.root for ref in refs], len(refs) + 1
            while missing:
                left = missing
                with trio.move_on_after(self._stall_timeout_s):
                    left = await self._context.exchange.wait_for_more(roots, missing)
                if left == missing:
                    raise PeerError(
                        f"no contribution of round {closed.round} arrived for "
                        f"{self._stall_timeout_s:.0f} s"
                    )
                missing = left

    async def _make_sound(self, head: Head) -> None:
        """Fetch what is missing or damaged; returns once all of it matches its roots."""
        # Consecutive heads share most of their pieces where little changed: those are copied.
        like = [*reversed(self._pinned), *self._context.recorded_heads.heads]
        for ref in self._context.refs(head):
            is_weights = ref.root == head.weights_root
            roots = [one.weights_root if is_weights else one.aux_root for one in like]
            await self._make_tree_sound(head, ref, roots)

    async def _make_tree_sound(self, head: Head, ref: TreeRef, like: Sequence[Digest]) -> None:
        if await trio.to_thread.run_sync(self._context.store.verify_tree, ref.root):
            return
        missing = await trio.to_thread.run_sync(self._context.store.missing_bytes, ref)
        log.info(
            "fetching head", round=head.round, size_bytes=ref.size_bytes, missing_bytes=missing
        )
        try:
            pieces = await self._fetch_tree(ref, f"head {head.round}", like=like)
        except PeerError:  # maybe no peer has it any more
            self.fetching = None
            raise
        log.info("head fetched", round=head.round, head=to_text(head.hash)[:10], sources=pieces)

    async def _fetch_tree(
        self,
        ref: TreeRef,
        what: str,
        *,
        likely: Container[PeerKey] = (),
        like: Sequence[Digest] = (),
    ) -> dict[str, int]:
        """Fetch a tree, and count its pieces by source.

        Raises PeerError when nothing of it arrived for `stall_timeout_s`.
        """
        store, pieces = self._context.store, Counter[str]()
        missing = await trio.to_thread.run_sync(store.missing_bytes, ref)
        while not store.has_tree(ref.root):
            with trio.move_on_after(self._stall_timeout_s):
                sources = await self._context.exchange.fetch_tree(ref, likely=likely, like=like)
                for source, count in sources.items():
                    pieces[source_text(source)] += count
            left = await trio.to_thread.run_sync(store.missing_bytes, ref)
            if left and left >= missing:
                raise PeerError(f"no peer sent any of {what} for {self._stall_timeout_s:.0f} s")
            missing = left
        return dict(pieces)

    async def _hold(self, head: Head) -> None:
        if head in self._pinned:  # gone back to: the newest again
            self._pinned[head] = self._pinned.pop(head)
        else:
            self._pin(head)
            await self._record(head)
        self.held = head

    def _pin(self, head: Head) -> None:
        roots = [ref.root for ref in self._context.refs(head)]
        if head.hash in self._steps:
            roots.append(self._steps[head.hash])
        self._pinned[head] = roots
        for root in roots:
            self._context.pins.pin(root)
        # One head more than needed: it is served to slower peers, and a replay can start there.
        while len(self._pinned) > HEADS_KEPT:
            for root in self._pinned.pop(next(iter(self._pinned))):
                self._context.pins.unpin(root)

    async def _record(self, head: Head) -> None:
        """Record a head, and delete those that are no longer recorded, with their steps."""
        # The log may overtake a duty at any moment, most often now, when the other members state
        # the same head. In half, this would leave the trees of an older head in the store.
        with trio.CancelScope(shield=True):
            left = await trio.to_thread.run_sync(self._context.recorded_heads.record, head)
            kept = set(chain.from_iterable(map(self._roots, self._context.recorded_heads.heads)))
            for root in set(chain.from_iterable(map(self._roots, left))) - kept:
                await trio.to_thread.run_sync(self._context.store.remove, root)
            for one in left:
                self._steps.pop(one.hash, None)

    def _roots(self, head: Head) -> Iterator[Digest]:
        yield head.weights_root
        yield head.aux_root
        if head.hash in self._steps:
            yield self._steps[head.hash]


def _advanced_head(
    closed: AcceptedSet, report: link.AdvanceReport, weights_root: Digest, aux_root: Digest
) -> Head:
    """The head that the trainer computed; raises PeerError when its report and files disagree."""
    if to_text(weights_root) != report.weights_root:
        raise PeerError("the trainer's weights do not match the root it reported")
    if to_text(aux_root) != report.aux_root:
        raise PeerError("the trainer's outer state does not match the root it reported")
    if report.set_root != to_text(closed.set_root):
        raise PeerError("the trainer used another accepted set than the log's")
    return Head(
        hash=HeadHash(digest_from_text(report.head)),
        round=closed.round,
        parent=closed.parent,
        set_root=closed.set_root,
        weights_root=weights_root,
        aux_root=aux_root,
    )
