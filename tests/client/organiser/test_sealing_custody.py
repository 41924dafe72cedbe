"""A key among custodians: the shares of ssss, and any that are enough."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from tequio_client.organiser import sealing

VECTORS = Path(__file__).parents[2] / "vectors" / "sealed" / "1-ssss.json"
KNOWN: list[dict[str, Any]] = json.loads(VECTORS.read_text())
KEY = bytes(range(32))


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: f"{known['needed']}")
def test_shares_that_ssss_made_give_its_secrets(known: dict[str, Any]) -> None:
    shares = {int(at): bytes.fromhex(value) for at, value in known["shares"].items()}
    for chosen in list(combinations(shares, known["needed"]))[:6]:
        assert sealing.combine_shares({at: shares[at] for at in chosen}).hex() == known["key"]


@pytest.mark.parametrize(("needed", "shares"), [(1, 1), (1, 3), (2, 2), (2, 3), (3, 5)])
def test_any_that_are_enough_give_the_key_in_any_order(needed: int, shares: int) -> None:
    split = dict(enumerate(sealing.split_key(KEY, needed, shares), 1))
    for chosen in combinations(reversed(split), needed):
        assert sealing.combine_shares({at: split[at] for at in chosen}) == KEY


def test_one_too_few_give_another_key() -> None:
    split = dict(enumerate(sealing.split_key(KEY, 3, 3), 1))
    for chosen in combinations(split, 2):
        assert sealing.combine_shares({at: split[at] for at in chosen}) != KEY


def test_two_splits_of_a_key_share_nothing() -> None:
    assert not set(sealing.split_key(KEY, 2, 3)) & set(sealing.split_key(KEY, 2, 3))
