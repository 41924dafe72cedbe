"""Where head weights and contribution payloads come from: files, believed by nobody."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tequio_client.worker.store.trees import TreeRef


class ContributionSource(Protocol):
    """Finds trees of pieces by root. What a candidate holds is for the caller to check."""

    def candidates(self, ref: TreeRef) -> Iterator[Path]:
        """Give files that may hold the tree, one after the other; none when nobody has it."""


class StoreFolders:
    """Store folders of workers and seeds (`trees/<2 hex>/<root hex>`), read only."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = folders

    def candidates(self, ref: TreeRef) -> Iterator[Path]:
        """Give the file of every folder that has it; a node's folder may be given as well."""
        name = ref.root.hex()
        for folder in self._folders:
            for store in (folder, folder / "store"):
                path = store / "trees" / name[:2] / name
                if path.is_file():
                    yield path


class FirstOf:
    """Several sources, asked in order."""

    def __init__(self, *sources: ContributionSource) -> None:
        self._sources = sources

    def candidates(self, ref: TreeRef) -> Iterator[Path]:
        """Give the candidates of each source; the next one is asked only when all before fail."""
        for source in self._sources:
            yield from source.candidates(ref)
