"""Replay: getting to a head from an older one by the contributions of the rounds in between.

Both ways lead to the same bytes, so the one that moves fewer is taken: the payloads that are
missing here, or what is missing of the head itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_client.worker.store.trees import TreeRef
from tequio_shared.limits import PIECE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tequio_shared.accepted import AcceptedSet
    from tequio_shared.manifest import Manifest
    from tequio_shared.round import Head


def head_ref(manifest: Manifest, head: Head) -> TreeRef:
    """The tree of a head's weights."""
    size = 4 * manifest.layout.elements
    return TreeRef(root=head.weights_root, size_bytes=size, piece_bytes=PIECE_BYTES)


def payload_refs(closed: AcceptedSet) -> Iterator[TreeRef]:
    """The trees of a round's accepted payloads, in the order of its works."""
    shape = closed.expected.shape
    size = closed.expected.chunks * shape.record_bytes
    for one in closed.works:
        yield TreeRef(root=one.payload_root, size_bytes=size, piece_bytes=shape.group_bytes)


def is_dear(
    goal: TreeRef,
    rounds: Iterable[AcceptedSet],
    missing_bytes: Callable[[TreeRef], int],
) -> bool:
    """Whether the payloads missing of these rounds have more bytes than is missing of the head."""
    total, most = 0, -1
    for closed in rounds:
        most = missing_bytes(goal) if most < 0 else most
        total += sum(map(missing_bytes, payload_refs(closed)))
        if total > most:
            return True
    return False
