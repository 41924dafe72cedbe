"""Lots: the same committee for everybody, unknown before the roster, in nobody's hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tequio_shared.ids import Digest, NetworkId, RunId, sha256
from tequio_shared.round import assignment, lots

NET, RUN = NetworkId(sha256(b"net")), RunId(sha256(b"run"))
drawn = st.dictionaries(st.integers(0, 300), st.binary(min_size=64, max_size=64), max_size=40)


@pytest.mark.parametrize(
    ("elected", "needed"),
    [(1, 1), (2, 2), (3, 2), (4, 3), (5, 4), (8, 6), (12, 8), (16, 11), (32, 22)],
)
def test_quorum_is_two_thirds_of_the_elected(elected: int, needed: int) -> None:
    assert assignment.quorum(elected) == needed


@given(st.integers(1, 10_000))
def test_two_quorums_always_share_a_member(elected: int) -> None:
    assert 2 * assignment.quorum(elected) > elected
    assert 3 * assignment.quorum(elected) >= 2 * elected


@pytest.mark.parametrize(("witnesses", "seats"), [(1, 16), (16, 16), (48, 16), (49, 32), (500, 32)])
def test_a_large_roster_has_a_larger_committee(witnesses: int, seats: int) -> None:
    assert lots.seat_count(witnesses) == seats


@given(drawn, st.integers(1, 32))
def test_the_lowest_lots_sit_in_any_order_of_arrival(them: dict[int, bytes], seats: int) -> None:
    elected = lots.committee(them, seats)
    assert elected == lots.committee(dict(reversed(them.items())), seats)
    assert list(elected) == sorted(set(elected))
    assert len(elected) == min(len(them), seats)
    highest = max((them[slot] for slot in elected), default=b"")
    assert all(them[slot] >= highest for slot in them.keys() - set(elected))


@given(drawn, st.integers(1, 16), st.data())
def test_who_withholds_a_lot_gives_its_seat_to_the_next_and_moves_nobody(
    them: dict[int, bytes], seats: int, data: st.DataObject
) -> None:
    if not them:
        return
    elected = set(lots.committee(them, seats))
    silent = data.draw(st.sampled_from(sorted(them)))
    after = set(lots.committee({k: v for k, v in them.items() if k != silent}, seats))
    assert elected - {silent} <= after
    assert len(after - elected) <= 1


def test_seats_are_spread_evenly() -> None:
    seats = [0] * 64
    for number in range(2_000):
        them = {slot: sha256(bytes([slot]), number.to_bytes(4, "big")) for slot in range(64)}
        for slot in lots.committee(them, 16):
            seats[slot] += 1
    assert 400 < min(seats) < max(seats) < 600  # 500 expected, standard deviation 19


def test_witness_duty_and_measuring_are_two_draws() -> None:
    them = {slot: sha256(bytes([slot])) * 2 for slot in range(64)}
    assert lots.measurers(them, 16) != lots.committee(them, 16)


def test_every_input_of_a_seed_and_of_a_lot_matters() -> None:
    last, other = sha256(b"lots"), sha256(b"other")
    seed = bytes(64)
    inputs = [
        lots.seed_input(NET, RUN, 1, last),
        lots.seed_input(NetworkId(other), RUN, 1, last),
        lots.seed_input(NET, RunId(other), 1, last),
        lots.seed_input(NET, RUN, 2, last),
        lots.seed_input(NET, RUN, 1, Digest(other)),
        lots.lot_input(NET, RUN, 1, seed),
        lots.lot_input(NetworkId(other), RUN, 1, seed),
        lots.lot_input(NET, RunId(other), 1, seed),
        lots.lot_input(NET, RUN, 2, seed),
        lots.lot_input(NET, RUN, 1, other + other),
    ]
    assert len(set(inputs)) == len(inputs)


def test_the_digest_is_by_slot_and_of_every_lot() -> None:
    them = {2: b"c" * 64, 0: b"a" * 64, 1: b"b" * 64}
    assert lots.lots_digest(them) == lots.lots_digest(dict(sorted(them.items())))
    assert lots.lots_digest(them) != lots.lots_digest({0: b"a" * 64, 1: b"b" * 64})
