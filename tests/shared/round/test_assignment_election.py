"""The committee: the same for everybody, unknown before the beacon, sized by the rule."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tequio_shared.ids import Digest, NetworkId, PeerKey, RunId, sha256
from tequio_shared.round import assignment

NET, RUN = NetworkId(sha256(b"net")), RunId(sha256(b"run"))
seeds = st.binary(min_size=32, max_size=32).map(Digest)
candidates = st.dictionaries(
    st.integers(0, 300), st.binary(min_size=32, max_size=32).map(PeerKey), max_size=40
)


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


@given(seeds, candidates)
def test_the_committee_does_not_depend_on_order(seed: Digest, them: dict[int, PeerKey]) -> None:
    elected = assignment.committee(seed, them)
    assert elected == assignment.committee(seed, dict(reversed(them.items())))
    assert list(elected) == sorted(set(elected))
    assert len(elected) == min(len(them), 16)
    assert set(elected) <= them.keys()


@given(seeds, candidates, st.integers(1, 16))
def test_whom_nobody_elected_does_not_change_the_rest(
    seed: Digest, them: dict[int, PeerKey], size: int
) -> None:
    elected = assignment.committee(seed, them, size)
    for slot in them.keys() - set(elected):
        assert assignment.committee(seed, {k: v for k, v in them.items() if k != slot}, size) == (
            elected
        )


def test_seats_are_spread_evenly() -> None:
    them = {slot: PeerKey(sha256(bytes([slot]))) for slot in range(64)}
    seats = [0] * 64
    for number in range(2_000):
        for slot in assignment.committee(Digest(sha256(number.to_bytes(4, "big"))), them):
            seats[slot] += 1
    assert 400 < min(seats) < max(seats) < 600  # 500 expected, standard deviation 19


def test_every_input_of_the_seed_matters() -> None:
    beacon, roster = sha256(b"beacon"), sha256(b"roster")
    base = assignment.seed(NET, RUN, 1, beacon, roster)
    others = {
        assignment.seed(NetworkId(sha256(b"other")), RUN, 1, beacon, roster),
        assignment.seed(NET, RunId(sha256(b"other")), 1, beacon, roster),
        assignment.seed(NET, RUN, 2, beacon, roster),
        assignment.seed(NET, RUN, 1, sha256(b"other"), roster),
        assignment.seed(NET, RUN, 1, beacon, sha256(b"other")),
    }
    assert len(others | {base}) == 6


def test_each_revealed_secret_moves_the_beacon() -> None:
    secrets = [bytes([at]) * 32 for at in range(3)]
    whole = assignment.beacon(RUN, 1, secrets)
    assert len({whole, *(assignment.beacon(RUN, 1, secrets[:at]) for at in range(3))}) == 4
    assert whole != assignment.beacon(RUN, 2, secrets)
