"""Partially fetched trees, for tests without a source to fetch from."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tequio_client.worker.store.store import Store
    from tequio_client.worker.store.trees import MerkleBlob, PartialTree


@contextmanager
def open_partial(store: Store, tree: MerkleBlob) -> Iterator[PartialTree]:
    """Begin or resume a tree; the store keeps its content after the block."""
    partial = store.acquire_partial(tree)
    try:
        yield partial
    finally:
        store.release_partial(tree.ref.root)
