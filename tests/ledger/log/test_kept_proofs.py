"""Proofs from what was kept are those that the tiles give, whatever was asked for before."""

from __future__ import annotations

import random
from functools import partial
from typing import TYPE_CHECKING

import pytest

from tequio_ledger.log import proofs
from tequio_ledger.log.proofs import KeptProofs, TileProofs
from tequio_ledger.store import log_rows
from tests.ledger.log.test_log import CLOCK, grow
from tests.support.authors import Author
from tests.support.ledgers import make_settings, opened

if TYPE_CHECKING:
    from pathlib import Path

SIZES = (1, 2, 255, 256, 257, 300, 512, 701)


@pytest.mark.parametrize("most", [1, 2_048])
def test_a_kept_proof_is_the_one_that_the_tiles_give(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(proofs, "MOST", most)
    rng = random.Random(3)
    with opened(make_settings(tmp_path), CLOCK) as ledger:
        grow(ledger, Author("a", ledger.state.net), SIZES[-1] - 1)
        kept = KeptProofs(ledger.database)
        with ledger.database.reader.begin() as connection:
            read = partial(log_rows.read_tile, connection)
            for _ in range(3):
                for size in rng.sample(SIZES, len(SIZES)):
                    fresh = TileProofs(read, size)
                    for index in {0, size - 1, *(rng.randrange(size) for _ in range(20))}:
                        assert kept.at(size).inclusion(index) == fresh.inclusion(index)
                    for old in {1, size, rng.randrange(1, size + 1)}:
                        assert kept.at(size).consistency(old) == fresh.consistency(old)
