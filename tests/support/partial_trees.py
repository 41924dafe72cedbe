"""Partially fetched and damaged trees, for tests without a source to fetch from."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

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


def flip(path: Path, at: int) -> None:
    """Change one bit of a file that a store keeps."""
    path.chmod(0o644)
    with path.open("r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 1]))
