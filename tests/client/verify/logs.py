"""A swarm's log in memory, as an honest ledger or a lying one serves it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import msgspec

from tequio_client.verify.fold import Fold
from tequio_client.verify.report import LogReport
from tequio_client.verify.source import NotAvailableError
from tequio_client.worker.store.store import Store
from tequio_shared.api.answer import AsOf
from tequio_shared.errors import MalformedError
from tequio_shared.head.contribution import RecordShape
from tequio_shared.ids import Digest, to_text
from tequio_shared.limits import PIECE_BYTES
from tequio_shared.log import merkle
from tequio_shared.log.tiles import BUNDLE_LEVEL, TILE_WIDTH, Tile, encode_bundle, new_tiles
from tequio_shared.served.questions import Basis, questions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tequio_shared.ids import PeerKey
    from tests.support.memory_swarm import Swarm

    Lie = Callable[[dict[str, Any]], None]


class SwarmLog:
    """Serves the swarm's log. A test changes `leaves`, `tiles` or `blobs`, or lies in answers."""

    def __init__(self, swarm: Swarm) -> None:
        self.swarm = swarm
        self.leaves = swarm.leaves()
        self.blobs = dict(swarm.blobs)
        self.tiles: dict[tuple[int, int], list[Digest]] = {}
        self.newest_note = b""
        self.size = 0
        self._folded: tuple[list[bytes], Fold] | None = None
        self.sign()
        self.lies: dict[str, Lie] = {}
        """Changes of the answers with those paths."""

    def as_of(self) -> AsOf:
        """Name the log as it is."""
        return AsOf(size=self.size, root=to_text(merkle.root(self.leaves)))

    def sign(self) -> None:
        """Build the tree over the leaves as they are, and sign its root."""
        self.size = len(self.leaves)
        self.tiles = all_tiles(self.leaves)
        self.newest_note = self.swarm.checkpoint(self.size, merkle.root(self.leaves))

    def genesis(self) -> bytes:
        """Give the genesis document."""
        return self.swarm.genesis.encode()

    def signed_note(self) -> bytes:
        """Give the note as it is."""
        return self.newest_note

    def tile(self, level: int, index: int, width: int) -> list[Digest]:
        """Give a tile."""
        found = self.tiles.get((level, index))
        if found is None:
            raise NotAvailableError(f"no tile {level} {index}")
        return found[:width]

    def entries(self, first: int, end: int) -> list[bytes]:
        """Give leaves."""
        found = self.leaves[first:end]
        if len(found) < end - first:
            raise MalformedError(f"bundle of {len(found)} leaves where {end - first} are due")
        return found

    def blob(self, name: Digest) -> bytes | None:
        """Give a document."""
        return self.blobs.get(name)

    def answer(self, url: str) -> bytes | None:
        """Answer what follows from the log, with the lies of the test."""
        path, _, query = url.partition("?")
        given = dict(parse_qsl(query))
        begin = given.get("before", given.get("after", ""))
        fold = self._truth()
        basis = Basis(state=fold.view, rows=fold.rows, now_ms=0)
        (asked,) = (one for one in questions(fold.view) if one.path == path)
        content = msgspec.to_builtins(asked.answer(basis, begin, self.as_of()))
        if path in self.lies:
            self.lies[path](content)
        return msgspec.json.encode(content)

    def lie_about(self, key: PeerKey, **fields: object) -> None:
        """Answer other fields about a key; `standing` and `tier` are changed field by field."""

        def change(answer: dict[str, Any]) -> None:
            for name, value in fields.items():
                if isinstance(value, dict):
                    answer[name] |= value
                else:
                    answer[name] = value

        self.lies[f"/v1/peers/{to_text(key)}"] = change

    def _truth(self) -> Fold:
        if self._folded is None or self._folded[0] != self.leaves:
            fold = Fold(self.swarm.genesis, self, LogReport())
            for index, leaf in enumerate(self.leaves):
                fold.apply(index, leaf)
            self._folded = list(self.leaves), fold
        return self._folded[1]

    def write_mirror(self, folder: Path) -> None:
        """Write the files as a downloader leaves them."""
        (folder / "v1" / "blobs").mkdir(parents=True)
        (folder / "log").mkdir()
        (folder / "genesis").write_bytes(self.genesis())
        (folder / "log" / "checkpoint").write_bytes(self.newest_note)
        for name, content in self.blobs.items():
            (folder / "v1" / "blobs" / to_text(name)).write_bytes(content)
        for tile in new_tiles(0, self.size):
            self._write(folder, tile, b"".join(self.tiles[tile.level, tile.index]))
            if tile.level == 0:
                start = tile.index * TILE_WIDTH
                leaves = encode_bundle(self.leaves[start : start + tile.width])
                self._write(
                    folder, Tile(level=BUNDLE_LEVEL, index=tile.index, width=tile.width), leaves
                )

    def _write(self, folder: Path, tile: Tile, content: bytes) -> None:
        path = folder / "log" / tile.path()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def all_tiles(leaves: Sequence[bytes]) -> dict[tuple[int, int], list[Digest]]:
    """Cut a tree into tiles the plain way: level by level, from whole subtrees."""
    tiles: dict[tuple[int, int], list[Digest]] = {}
    hashes, level = [merkle.leaf_hash(leaf) for leaf in leaves], 0
    while hashes:
        for at in range(0, len(hashes), TILE_WIDTH):
            tiles[level, at // TILE_WIDTH] = hashes[at : at + TILE_WIDTH]
        whole = len(hashes) // TILE_WIDTH
        hashes = [merkle.root_of_hashes(tiles[level, at]) for at in range(whole)]
        level += 1
    return tiles


def fill_store(swarm: Swarm, folder: Path) -> Store:
    """Put head 0 and every contribution of the swarm into a store of the worker's kind."""
    store = Store(folder, quota_bytes=1 << 30)
    first = next(iter(swarm.arithmetic.weights.values()))
    store.put_tree(first.astype("<i4").tobytes(), PIECE_BYTES)
    rules = swarm.manifest.algorithm
    shape = RecordShape(algorithm=rules.name, k=rules.k, bits=rules.bits)
    for payload in swarm.arithmetic.payloads.values():
        store.put_tree(payload, shape.group_bytes)
    return store
