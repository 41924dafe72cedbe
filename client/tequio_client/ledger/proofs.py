"""Proofs about a log, and single proven entries, made from the ledger's tiles and bundles.

The ledger only serves hashes; the proofs are made here. Tiles are not trusted: a caller checks the
proof's result against a signed root. `verify.reader` reads whole logs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tequio_client.ledger.api import LedgerApi, LedgerNetwork
from tequio_shared.api.runs import MeasureAnswer, MeasuredAnswer, RunAnswer
from tequio_shared.errors import PeerError, RefusedError
from tequio_shared.ids import Digest, to_text
from tequio_shared.log import tiles as log_tiles
from tequio_shared.log.merkle import Frontier, leaf_hash, root_of_hashes, verify_inclusion
from tequio_shared.log.notes import Checkpoint
from tequio_shared.log.tiles import (
    TILE_WIDTH,
    Node,
    Range,
    TileName,
    span_in_tile,
    tile_of,
    tile_width,
)
from tequio_shared.network.genesis import check_role
from tequio_shared.round.measures import tasks_of
from tequio_shared.statements.runs import HeadMeasure
from tequio_shared.statements.statement import Entry, Statement, check_work

_TILES = 64
"""Tiles that are cached between proofs: 0.5 MiB, and more than one proof needs."""


class LogProofs:
    """Prover for the log of one checkpoint, which the ledger must have published."""

    def __init__(self, ledger: LedgerApi, checkpoint: Checkpoint) -> None:
        self.checkpoint = checkpoint
        self._ledger = ledger
        self._tiles: dict[TileName, list[Digest]] = {}

    async def frontier(self, size: int) -> Frontier:
        """Build the right edge of the log's first `size` entries, unverified."""
        nodes = log_tiles.edge_nodes(size)
        await self._fetch([tile_of(node) for node in nodes])
        hashes = b"".join(self._node(node) for node in nodes)
        return Frontier.parse(size.to_bytes(8, "big") + hashes)

    async def consistency(self, old_size: int) -> list[Digest]:
        """Prove that the log of `old_size` (at least 1) is the beginning of this one."""
        return await self._hashes(log_tiles.consistency_ranges(old_size, self.checkpoint.size))

    async def inclusion(self, index: int) -> list[Digest]:
        """Prove the inclusion of the entry at an index, its sibling first."""
        return await self._hashes(log_tiles.inclusion_ranges(index, self.checkpoint.size))

    async def entries(self, network: LedgerNetwork, indices: Iterable[int]) -> dict[int, Entry]:
        """Read single entries, each proven against the checkpoint, signatures checked.

        Raises PeerError when an entry or its proof is invalid, RefusedError("unknown-type") for an
        entry of a later version.
        """
        found: dict[int, Entry] = {}
        for span in _spans(indices):
            leaves = await self.leaves(span[0], span[-1] + 1)
            for index, leaf in zip(span, leaves, strict=True):
                found[index] = Entry.parse(leaf)
                check_entry(index, found[index], network)
        return found

    async def leaves(self, first: int, end: int) -> list[bytes]:
        """Read entries `first` to `end - 1`, unparsed, each proven against the checkpoint.

        At most 256. Costs one proof for each tile, which covers all hashes in it. Raises PeerError
        when a proof is invalid.
        """
        size = self.checkpoint.size
        for index in (first, end - 1):
            if not 0 <= index < size:
                raise PeerError(f"entry {index} is beyond the end of a log of {size} entries")
        leaves = await self._ledger.entries(first, end)
        for part in parts_by_tile(first, end):
            proof = await self.inclusion(part.start)
            leaf = leaf_hash(leaves[part.start - first])
            verify_inclusion(leaf, part.start, size, proof, self.checkpoint.root)
            for index in part[1:]:
                if leaf_hash(leaves[index - first]) != self._node((0, index)):
                    raise PeerError(f"entry {index} is not the one whose hash is in the log")
        return leaves

    async def _hashes(self, ranges: Sequence[Range]) -> list[Digest]:
        await self._fetch(log_tiles.tiles_of(ranges))
        return [log_tiles.range_hash(span, self._node) for span in ranges]

    async def _fetch(self, tiles: Sequence[TileName]) -> None:
        """Fetch these tiles into the cache; any proof needs O(log n) of them."""
        lacking = [tile for tile in tiles if tile not in self._tiles]
        if len(self._tiles) + len(lacking) > _TILES:
            self._tiles.clear()
            lacking = list(tiles)
        for tile in dict.fromkeys(lacking):
            width = tile_width(tile, self.checkpoint.size)
            self._tiles[tile] = await self._ledger.tile(*tile, width)

    def _node(self, node: Node) -> Digest:
        first, end = span_in_tile(node)
        return root_of_hashes(self._tiles[tile_of(node)][first:end])


async def read_entries(
    ledger: LedgerApi, network: LedgerNetwork, indices: Iterable[int]
) -> dict[int, Entry]:
    """Read single entries, proven against a fresh checkpoint, as `LogProofs.entries` does."""
    return await LogProofs(ledger, await ledger.checkpoint()).entries(network, indices)


def parts_by_tile(first: int, end: int) -> Iterator[range]:
    """Divide entries `first` to `end - 1` where one tile, and one bundle, ends."""
    while first < end:
        rest = TILE_WIDTH - first % TILE_WIDTH
        yield range(first, min(first + rest, end))
        first += rest


def _spans(indices: Iterable[int]) -> list[list[int]]:
    """Group sorted indices into runs of at most one bundle, one request each."""
    spans: list[list[int]] = []
    for index in sorted(set(indices)):
        if spans and spans[-1][-1] == index - 1 and len(spans[-1]) < TILE_WIDTH:
            spans[-1].append(index)
        else:
            spans.append([index])
    return spans


def check_entry(index: int, entry: Entry, network: LedgerNetwork) -> None:
    """Raise PeerError unless all signatures hold and the signers may make this statement."""
    try:
        check_work(entry.statement, network.id, network.genesis.work_bits)
        check_role(entry, network.genesis)
    except RefusedError as err:
        raise PeerError(f"entry {index} of the log is not allowed: {err}") from err
    entry.verify(network.id)


def check_measure(
    run: RunAnswer, head: MeasuredAnswer, row: MeasureAnswer, said: Statement
) -> HeadMeasure:
    """Check what the ledger reports of a measure against the log; raises PeerError."""
    body = said.body
    if (
        not isinstance(body, HeadMeasure)
        or (said.run, said.round, body.head) != (run.id, head.round, head.head)
        or (to_text(said.author), body.millibits) != (row.peer, row.millibits)
        or [(one.right, one.right_normed) for one in tasks_of(body)]
        != [(one.right, one.right_normed) for one in row.tasks]
    ):
        raise PeerError(f"entry {row.entry} is not the measure that the ledger reports")
    return body
