"""Fetching sampled leaves of another worker's error feedback, each verified against its root.

The outcome is all of them or none. Why a trainer gave none is not distinguished: it may be away,
refuse, or send wrong bytes, and to the audit all of these are one thing, withheld leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import structlog
import trio

from tequio_client import files
from tequio_client.worker.store.trees import TreeRef, split_leaves
from tequio_client.worker.swarm.feedback_leaves import LEAF_BYTES
from tequio_client.worker.swarm.streams import BlobClient
from tequio_shared.errors import MalformedError, PeerError
from tequio_shared.ids import Digest, PeerKey, peer_id_text
from tequio_shared.log import merkle

log = structlog.get_logger(__name__)

REQUESTS = 4
"""On their way to one source at once."""
RETRY_S = 2.0
"""A trainer that reads the log more slowly may not know yet that it has to open its leaves."""


class LeavesWithheldError(PeerError):
    """Not all of the leaves came in time, for whatever reason."""

    def __init__(self, root: Digest) -> None:
        super().__init__(f"leaves of the error feedback {root.hex()} are withheld")


@dataclass(frozen=True, slots=True, kw_only=True)
class LeavesDue:
    """Times, of trio's clock, by which the first leaf and all of them have to be there."""

    first_by: float
    all_by: float


async def fetch_leaves(
    client: BlobClient,
    tree: TreeRef,
    indices: Sequence[int],
    sources: Sequence[PeerKey],
    out: Path,
    *,
    due: LeavesDue,
) -> None:
    """Write these leaves of a feedback tree, in this order, to the file `out`.

    Asks one source after the other, again and again. Raises LeavesWithheldError when they are not
    there as they are due, or at once when all sources sent wrong bytes. All of the leaves are held
    in memory: an audit samples at most 1024, of 8 KiB.
    """
    found: dict[int, bytes] = {}
    asked = list(sources)
    with trio.move_on_at(due.first_by):
        await _fetch_all(client, tree, indices, asked, found)
    if found:  # it opens them, on a slow line
        with trio.move_on_at(due.all_by):
            await _fetch_all(client, tree, indices, asked, found)
    if not set(indices) <= found.keys():
        raise LeavesWithheldError(tree.root)
    content = b"".join(found[index] for index in indices)
    await trio.to_thread.run_sync(files.write_for_user, out, content)


async def _fetch_all(
    client: BlobClient,
    tree: TreeRef,
    indices: Sequence[int],
    sources: list[PeerKey],
    found: dict[int, bytes],
) -> None:
    while sources:
        for peer in list(sources):
            missing = [index for index in dict.fromkeys(indices) if index not in found]
            if not missing:
                return
            try:
                await _fetch_from(client, peer, tree, missing, found)
            except MalformedError as err:
                log.warning("wrong leaves", peer=peer_id_text(peer), error=str(err))
                sources.remove(peer)
            except PeerError as err:
                log.debug("no leaves", peer=peer_id_text(peer), error=str(err))
        if set(indices) <= found.keys():
            return
        await trio.sleep(RETRY_S)


async def _fetch_from(
    client: BlobClient, peer: PeerKey, tree: TreeRef, todo: list[int], found: dict[int, bytes]
) -> None:
    """Fetch leaves from one source; the first PeerError ends it, and what came before stays."""
    errors: list[PeerError] = []
    async with trio.open_nursery() as nursery:

        async def pull() -> None:
            try:
                while todo:
                    index = todo.pop(0)
                    found[index] = await _leaf(client, peer, tree, index)
            except PeerError as err:
                errors.append(err)
                todo.clear()  # what is on its way may still come, and was paid for

        for _ in range(REQUESTS):
            nursery.start_soon(pull)
    if errors:
        raise next((err for err in errors if isinstance(err, MalformedError)), errors[0])


async def _leaf(client: BlobClient, peer: PeerKey, tree: TreeRef, index: int) -> bytes:
    await client.budget.until_paid()
    answer = bytes(await client.leaf(peer, tree.root, index, LEAF_BYTES))
    leaf, path = answer[:LEAF_BYTES], split_leaves(answer[LEAF_BYTES:])
    try:
        merkle.verify_inclusion(merkle.leaf_hash(leaf), index, tree.pieces, path, tree.root)
    except PeerError as err:
        raise MalformedError(f"leaf {index}: {err}") from err
    return leaf


def feedback_tree(root: Digest, chunks: int) -> TreeRef:
    """The tree of an error feedback, for a model of that many chunks."""
    return TreeRef(root=root, size_bytes=chunks * LEAF_BYTES, piece_bytes=LEAF_BYTES)
