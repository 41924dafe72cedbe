"""The draw of a competition: the document's formulas, computed again here in another way."""

from __future__ import annotations

import hashlib
from collections import Counter
from itertools import combinations, count, islice
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tequio_shared.competition import draw
from tequio_shared.ids import Digest, PeerKey, sha256

if TYPE_CHECKING:
    from collections.abc import Iterator

COMPETITION = sha256(b"competition")
BEACON = sha256(b"beacon")
KEYS = [PeerKey(sha256(b"peer", bytes((n,)))) for n in range(12)]
VECTOR = (229, 334, 344, 349, 407, 560, 625, 774, 776, 859)


def in_words(text: bytes) -> Digest:
    """SHA-256 without the function under test."""
    return Digest(hashlib.sha256(text).digest())


def stream(seed: bytes) -> Iterator[int]:
    """The numbers of a SHAKE-256 output; each one computes the whole output again."""
    for at in count(0, 4):
        yield int.from_bytes(hashlib.shake_256(seed).digest(at + 4)[at:], "big")


def shuffled(beacon: bytes, many: int, total: int) -> list[int]:
    """The first documents of a shuffle that is written out."""
    numbers, cards = stream(b"tequio/v1/docs\x00" + beacon), list(range(total))
    for step in range(many):
        left = total - step
        number = next(one for one in numbers if one < 2**32 - 2**32 % left)
        other = step + number % left
        cards[step], cards[other] = cards[other], cards[step]
    return sorted(cards[:many])


def test_what_is_proven_is_bound_to_the_competition() -> None:
    assert draw.seed_input(COMPETITION) == b"tequio/v1/comp-seed\x00" + COMPETITION
    seed = b"S" * 64
    assert draw.lot_input(COMPETITION, seed) == b"tequio/v1/eval\x00" + COMPETITION + seed


def test_the_draw_is_proven_for_all_lots_in_the_order_of_their_authors() -> None:
    first, second = sorted(KEYS[:2])
    made = draw.draw_input(COMPETITION, {second: b"B" * 64, first: b"A" * 64})
    assert made == b"tequio/v1/comp-draw\x00" + COMPETITION + in_words(b"A" * 64 + b"B" * 64)


def test_the_beacon_is_made_of_the_key_and_the_coordinator_s_output() -> None:
    made = draw.draw_beacon(COMPETITION, bytes(32), b"D" * 64)
    assert made == in_words(b"tequio/v1/comp\x00" + COMPETITION + bytes(32) + b"D" * 64)


@pytest.mark.parametrize(("many", "total"), [(1, 2), (5, 20), (20, 20), (30, 20), (19, 20)])
def test_documents_are_the_first_of_a_shuffle(many: int, total: int) -> None:
    drawn = draw.draw_documents(BEACON, many, total)
    assert list(drawn) == shuffled(BEACON, min(many, total), total)
    assert len(drawn) == min(many, total)


def test_ten_documents_of_a_thousand_are_these() -> None:
    assert draw.draw_documents(BEACON, 10, 1_000) == VECTOR


def test_a_large_set_is_drawn_to_the_last_but_one_document() -> None:
    total = 3_000
    drawn = draw.draw_documents(BEACON, total - 1, total)
    assert len(set(drawn)) == total - 1
    assert list(drawn) == sorted(drawn)
    assert set(drawn) <= set(range(total))


def test_every_pair_of_documents_is_drawn_about_as_often() -> None:
    beacons = [sha256(number.to_bytes(4, "big")) for number in range(6_000)]
    seen = Counter(draw.draw_documents(one, 2, 4) for one in beacons)
    assert set(seen) == set(combinations(range(4), 2))
    # 1,000 of each are due; six deviations are 173
    assert max(abs(times - 1_000) for times in seen.values()) < 173


def test_numbers_that_would_favour_some_documents_are_skipped() -> None:
    numbers = iter([2**32 - 1, 5])
    assert draw._below(3, numbers) == 2  # noqa: SLF001 - one chance in 2^32 otherwise
    assert list(numbers) == []


def test_the_numbers_go_on_where_more_are_skipped_than_was_foreseen() -> None:
    numbers = draw._numbers(b"seed", 0)  # noqa: SLF001 - chance alone never skips 64
    assert list(islice(numbers, 300)) == list(islice(stream(b"seed"), 300))


@given(st.binary(min_size=32, max_size=32), st.integers(1, 12))
def test_evaluators_come_by_lot_and_never_two_of_one_owner(beacon: bytes, many: int) -> None:
    owners = {key: Digest(sha256(bytes((at % 5,)))) for at, key in enumerate(KEYS)}
    lots = {key: 2 * sha256(b"lot", key) for key in KEYS}
    drawn = draw.draw_evaluators(Digest(beacon), lots, owners, many)
    assert len(drawn) == min(many, 5)
    assert len({owners[key] for key in drawn}) == len(drawn)
    lot = sorted(KEYS, key=lambda key: in_words(b"tequio/v1/evaluator\x00" + beacon + lots[key]))
    firsts = [key for at, key in enumerate(lot) if owners[key] not in map(owners.get, lot[:at])]
    assert list(drawn) == list(islice(firsts, many))


def test_a_tie_of_lots_is_decided_by_key_and_not_by_the_order_of_offers() -> None:
    owners = {key: Digest(sha256(key)) for key in reversed(KEYS)}
    drawn = draw.draw_evaluators(Digest(bytes(32)), dict.fromkeys(KEYS, bytes(64)), owners, 3)
    assert list(drawn) == sorted(KEYS)[:3]
