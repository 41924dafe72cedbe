"""Proofs from tiles are those that the whole list of hashes gives."""

from __future__ import annotations

import random
from functools import cache, partial
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tequio_ledger.log.proofs import ProofCache, TileProofs
from tequio_ledger.store import log_rows
from tequio_shared.errors import FatalLogError
from tequio_shared.log import merkle
from tequio_shared.log.tiles import TileTree
from tests.ledger.log.test_log import CLOCK, grow
from tests.support.authors import Author
from tests.support.ledgers import make_settings, opened
from tests.support.merkle_proofs import consistency_proof, inclusion_proof

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tequio_shared.ids import Digest
    from tequio_shared.log.tiles import TileName


SIZES = (1, 2, 3, 255, 256, 257, 511, 700, 65_537)
KEPT_SIZES = (1, 2, 255, 256, 257, 300, 512, 701)


@cache
def hashes() -> list[Digest]:
    return [merkle.leaf_hash(str(at).encode()) for at in range(max(SIZES))]


@cache
def tiles() -> dict[tuple[int, int], bytes]:
    """The tiles of the largest tree: a smaller one's are prefixes of them."""
    tree = TileTree()
    for at in range(max(SIZES)):
        tree.append(str(at).encode())
    return dict(tree.pop_changed())


@pytest.mark.parametrize("size", SIZES)
def test_a_proof_from_tiles_leads_to_the_root(size: int) -> None:
    proofs, root = TileProofs(tiles().get, size), merkle.root_of_hashes(hashes()[:size])
    for index in {0, 1, size // 3, size // 2, size - 2, size - 1} & set(range(size)):
        merkle.verify_inclusion(hashes()[index], index, size, proofs.inclusion(index), root)


def test_it_is_the_proof_of_rfc_6962() -> None:
    proofs = TileProofs(tiles().get, 700)
    for index in (0, 255, 256, 511, 512, 699):
        assert proofs.inclusion(index) == inclusion_proof(hashes()[:700], index)


@given(st.data())
def test_it_is_known_before_which_tiles_a_proof_takes(data: st.DataObject) -> None:
    size = data.draw(st.integers(2, max(SIZES)) | st.sampled_from(SIZES[1:]))
    foreseen: set[TileName] = set()
    read: set[TileName] = set()

    def give(tile: TileName) -> bytes | None:
        read.add(tile)
        return tiles().get(tile)

    def foresee(names: Sequence[TileName]) -> dict[TileName, bytes]:
        foreseen.update(names)
        return {}

    proofs = TileProofs(give, size, foresee=foresee)
    proofs.inclusion(data.draw(st.integers(0, size - 1)))
    assert read <= foreseen <= tiles().keys()
    assert len(foreseen) <= 2 * len({level for level, _ in foreseen})


@pytest.mark.parametrize("size", SIZES)
def test_a_log_continues_each_of_its_beginnings(size: int) -> None:
    proofs = TileProofs(tiles().get, size)
    root = merkle.root_of_hashes(hashes()[:size])
    for old in {1, 2, size // 3, size // 2, size - 1, size, 256, 512} & set(range(1, size + 1)):
        proof = proofs.consistency(old)
        merkle.verify_consistency(old, merkle.root_of_hashes(hashes()[:old]), size, root, proof)
        if size <= 700:
            assert proof == consistency_proof(hashes()[:size], old)


def test_no_log_continues_a_larger_one_or_none() -> None:
    for old in (0, 701):
        with pytest.raises(IndexError, match=f"old size {old} of 700"):
            TileProofs(tiles().get, 700).consistency(old)


def test_no_entry_outside_the_log_is_proven() -> None:
    with pytest.raises(IndexError, match="entry 700 of 700"):
        TileProofs(tiles().get, 700).inclusion(700)


def test_a_missing_tile_is_no_empty_one() -> None:
    with pytest.raises(FatalLogError, match="tile 0/0 is missing"):
        TileProofs(lambda _tile: None, 3).inclusion(0)


@pytest.mark.parametrize("most", [1, 2_048])
def test_a_kept_proof_is_the_one_that_the_tiles_give(tmp_path: Path, most: int) -> None:
    rng = random.Random(3)
    with opened(make_settings(tmp_path), CLOCK) as ledger:
        grow(ledger, Author("a", ledger.state.net), KEPT_SIZES[-1] - 1)
        kept = ProofCache(ledger.database, most)
        with ledger.database.reader.begin() as connection:
            read = partial(log_rows.read_tile, connection)
            for _ in range(3):
                for size in rng.sample(KEPT_SIZES, len(KEPT_SIZES)):
                    fresh = TileProofs(read, size)
                    for index in {0, size - 1, *(rng.randrange(size) for _ in range(20))}:
                        assert kept.at(size).inclusion(index) == fresh.inclusion(index)
                    for old in {1, size, rng.randrange(1, size + 1)}:
                        assert kept.at(size).consistency(old) == fresh.consistency(old)
