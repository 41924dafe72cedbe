"""Proofs about a log, made from its tiles, and the policy that says which checkpoints count.

The ledger only serves hashes; the proofs are made here.

Theory: a tile holds 256 neighbouring nodes of one level of the tree, so any node over a full
subtree is at most 128 hashes of one tile, folded; what RFC 6962 calls MTH(D[a:b]) is made of such
nodes. Tiles are not believed: the user of a proof verifies it against a signed root.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_shared.errors import MalformedError, PeerError, RefusedError, UserFacingError
from tequio_shared.log.merkle import Frontier, node_hash, root_of_hashes, verify_inclusion
from tequio_shared.log.merkle import leaf_hash as hash_leaf
from tequio_shared.log.policy import POLICY_BYTES, Policy
from tequio_shared.log.tiles import TILE_WIDTH, hashes_at
from tequio_shared.network.genesis import check_role
from tequio_shared.statements.proof_of_work import check_work
from tequio_shared.statements.statement import Entry

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tequio_client.ledger.api import LedgerApi, Network
    from tequio_shared.ids import Digest
    from tequio_shared.log.notes import Checkpoint

_HEIGHT = 8
_TILES = 64
"""Most tiles held at once: 0.5 MiB, and more than one proof needs."""


class LogProofs:
    """Makes proofs for one size of a log; the ledger must have published that size."""

    def __init__(self, ledger: LedgerApi, size: int) -> None:
        self._ledger = ledger
        self._size = size
        self._tiles: dict[tuple[int, int], list[Digest]] = {}

    async def frontier(self, size: int) -> Frontier:
        """Get the right edge of the log's first `size` entries, unverified."""
        edge: list[bytes] = []
        first = 0
        for level in range(size.bit_length() - 1, -1, -1):
            if size >> level & 1:
                edge.append(await self._node(level, first >> level))
                first += 1 << level
        return Frontier.parse(size.to_bytes(8, "big") + b"".join(edge))

    async def consistency(self, old_size: int) -> list[Digest]:
        """Prove that the log of `old_size` is the beginning of this one, for 1 <= old_size."""
        return await self._subproof(old_size, 0, self._size, is_whole=True)

    async def inclusion(self, index: int) -> list[Digest]:
        """Prove the entry at an index, its sibling first."""
        proof: list[Digest] = []
        first, end = 0, self._size
        while end - first > 1:
            middle = first + _split(end - first)
            if index < middle:
                proof.insert(0, await self._range(middle, end))
                end = middle
            else:
                proof.insert(0, await self._range(first, middle))
                first = middle
        return proof

    async def _subproof(
        self, old_end: int, first: int, end: int, *, is_whole: bool
    ) -> list[Digest]:
        """RFC 6962 section 2.1.2; `is_whole` while the old tree is a subtree the verifier has."""
        if old_end == end:
            return [] if is_whole else [await self._range(first, end)]
        middle = first + _split(end - first)
        if old_end <= middle:
            left = await self._subproof(old_end, first, middle, is_whole=is_whole)
            return [*left, await self._range(middle, end)]
        right = await self._subproof(old_end, middle, end, is_whole=False)
        return [*right, await self._range(first, middle)]

    async def _range(self, first: int, end: int) -> Digest:
        """Hash entries [first, end), where first is a multiple of the next power of two."""
        size = end - first
        if size & (size - 1) == 0:
            level = size.bit_length() - 1
            return await self._node(level, first >> level)
        middle = first + _split(size)
        return node_hash(await self._range(first, middle), await self._range(middle, end))

    async def _node(self, level: int, index: int) -> Digest:
        """Hash the full subtree `index` of 2^level entries."""
        tile_level, rest = divmod(level, _HEIGHT)
        first = index << rest
        tile = await self._tile(tile_level, first // TILE_WIDTH)
        at = first % TILE_WIDTH
        return root_of_hashes(tile[at : at + (1 << rest)])

    async def _tile(self, level: int, index: int) -> list[Digest]:
        found = self._tiles.get((level, index))
        if found is None:
            width = min(TILE_WIDTH, hashes_at(level, self._size) - index * TILE_WIDTH)
            found = await self._ledger.tile(level, index, width)
            if len(self._tiles) == _TILES:
                self._tiles.clear()
            self._tiles[level, index] = found
        return found


async def read_entries(
    ledger: LedgerApi, network: Network, indices: Iterable[int]
) -> dict[int, Entry]:
    """Read single entries, each proven against a fresh signed checkpoint, signatures checked.

    Raises PeerError when an entry or its proof does not hold, RefusedError("unknown-type") for one
    of a later version.
    """
    checkpoint = await ledger.checkpoint()
    return await read_entries_of(
        ledger, network, checkpoint, LogProofs(ledger, checkpoint.size), indices
    )


async def read_entries_of(
    ledger: LedgerApi,
    network: Network,
    checkpoint: Checkpoint,
    proofs: LogProofs,
    indices: Iterable[int],
) -> dict[int, Entry]:
    """Read single entries, each proven against that checkpoint; `proofs` is of its size.

    Raises as `read_entries` does.
    """
    found: dict[int, Entry] = {}
    for span in _spans(indices):
        for index in (span[0], span[-1]):
            if not 0 <= index < checkpoint.size:
                raise PeerError(f"there is no entry {index} in a log of {checkpoint.size}")
        leaves = await ledger.entries(span[0], span[-1] + 1)
        for index, leaf in zip(span, leaves, strict=True):
            proof = await proofs.inclusion(index)
            verify_inclusion(hash_leaf(leaf), index, checkpoint.size, proof, checkpoint.root)
            found[index] = Entry.parse(leaf)
            check_entry(index, found[index], network)
    return found


def _spans(indices: Iterable[int]) -> list[list[int]]:
    """The indices in order, those that follow one another together: as many as come at once."""
    spans: list[list[int]] = []
    for index in sorted(set(indices)):
        if spans and spans[-1][-1] == index - 1 and len(spans[-1]) < TILE_WIDTH:
            spans[-1].append(index)
        else:
            spans.append([index])
    return spans


def check_entry(index: int, entry: Entry, network: Network) -> None:
    """Raise PeerError unless all signatures hold and the signers may say what the entry says."""
    try:
        check_work(entry.statement, network.id, network.genesis.work_bits)
        check_role(entry, network.genesis)
    except RefusedError as err:
        raise PeerError(f"entry {index} of the log must not be there: {err}") from err
    entry.verify(network.id)


def _split(size: int) -> int:
    """The largest power of two below `size` (RFC 6962 section 2.1)."""
    return 1 << (size - 1).bit_length() - 1


def read_policy(path: Path | None) -> Policy | None:
    """Read the policy file (c2sp.org/tlog-policy) that --trust names; None without one.

    Raises UserFacingError.
    """
    if path is None:
        return None
    try:
        with path.open("rb") as file:
            return Policy.parse(file.read(POLICY_BYTES + 1))
    except OSError as err:
        raise UserFacingError(
            f"the policy {path} cannot be read ({err.strerror}): give its place with --trust"
        ) from err
    except MalformedError as err:
        raise UserFacingError(f"{path} is no policy that can be kept: {err}") from err
