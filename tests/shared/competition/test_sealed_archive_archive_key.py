"""A sealed set's key out of its shares, held against ssss and against PyCryptodome."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from random import Random

import pytest
from Crypto.Protocol.SecretSharing import Shamir

from tequio_shared.competition.sealed_archive import combine_shares

VECTORS = Path(__file__).parents[2] / "vectors" / "sealed" / "1-ssss.json"


def split(key: bytes, needed: int, shares: int) -> dict[int, bytes]:
    """Share as the library does."""
    halves = [Shamir.split(needed, shares, half, ssss=True) for half in (key[:16], key[16:])]
    return {at: one + other for (at, one), (_, other) in zip(*halves, strict=True)}


@pytest.mark.parametrize(("needed", "shares"), [(1, 1), (1, 3), (2, 3), (3, 3), (3, 5)])
def test_any_shares_that_suffice_give_the_key(needed: int, shares: int) -> None:
    key = Random(f"{needed} of {shares}").randbytes(32)
    held = split(key, needed, shares)
    for some in combinations(held, needed):
        assert combine_shares({at: held[at] for at in some}) == key
        assert combine_shares({at: held[at] for at in reversed(some)}) == key


def test_the_shares_that_ssss_made_give_its_keys() -> None:
    for one in json.loads(VECTORS.read_text("ascii")):
        held = {int(at): bytes.fromhex(share) for at, share in one["shares"].items()}
        for some in combinations(held, one["needed"]):
            assert combine_shares({at: held[at] for at in some}).hex() == one["key"]


def test_the_most_custodians_there_can_be_give_the_key() -> None:
    key = Random("sixteen").randbytes(32)
    assert combine_shares(split(key, 16, 16)) == key


def test_too_few_shares_give_another_key() -> None:
    key = Random("few").randbytes(32)
    held = split(key, 3, 3)
    del held[2]
    assert combine_shares(held) != key
