"""Loss gains: what is measured, when a round speaks for a slot, and when the measure counts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tequio_shared.ids import PeerKey, sha256
from tequio_shared.limits import GAIN_COST, GAIN_POOL, GAIN_SLOTS, GAIN_WINDOWS
from tequio_shared.round import gain
from tequio_shared.round.assignment import Ranges, count_windows, deal_windows
from tequio_shared.round.gain import GainPool, GainSign
from tequio_shared.round.proof import WitnessFindings

SEED = gain.sample_seed(sha256(b"lots"), sha256(b"witness"))
ME, OTHER = PeerKey(sha256(b"me")), PeerKey(sha256(b"other"))
shares = st.lists(st.integers(1, 400), min_size=1, max_size=12)


def dealt(sizes: list[int], first: int = 70) -> tuple[Ranges, dict[int, Ranges]]:
    pool: Ranges = ((3, 1), (first, sum(sizes) - 1)) if sum(sizes) > 1 else ((first, 1),)
    return pool, dict(enumerate(deal_windows(pool, sizes)))


def covers(ranges: Ranges, window: int) -> bool:
    return any(first <= window < first + count for first, count in ranges)


def proofs_of(*figures: int | None) -> dict[int, WitnessFindings]:
    """Proofs of slots 1, 2, … with these gains of slot 0; None: not measured."""
    return {
        slot: WitnessFindings(
            vouched=frozenset({0}),
            rejected={},
            gains={} if figure is None else {0: figure},
        )
        for slot, figure in enumerate(figures, 1)
    }


def test_the_sample_of_a_round_is_the_one_that_the_protocol_defines() -> None:
    pool, done = dealt([300, 200, 100])
    sample = gain.draw_sample(SEED, pool, done)
    assert sample.windows == {0: (206, 100), 1: (476, 484), 2: (591, 618)}
    assert list(sample.windows) == [0, 1, 2]
    assert sample.control == (1233, 892)


@given(shares, st.binary(min_size=32, max_size=32))
def test_windows_are_of_the_slot_and_control_windows_of_nobody(
    sizes: list[int], seed: bytes
) -> None:
    pool, done = dealt(sizes)
    sample = gain.draw_sample(sha256(seed), pool, done)
    assert len(sample.windows) == min(gain.slot_count(sum(sizes), len(sizes)), len(sizes))
    for slot, windows in sample.windows.items():
        assert len(set(windows)) == min(GAIN_WINDOWS, count_windows(done[slot]))
        assert all(covers(done[slot], one) for one in windows)
    assert not any(covers(pool, one) for one in sample.control)
    assert len(set(sample.control)) == (GAIN_WINDOWS if sample.windows else 0)


@given(st.integers(0, 10**6), st.integers(0, 4_095))
def test_measuring_stays_a_small_part_of_a_mean_share(windows: int, trainers: int) -> None:
    slots = gain.slot_count(windows, trainers)
    assert 0 <= slots <= GAIN_SLOTS
    passes = 3 * GAIN_WINDOWS * slots + (GAIN_WINDOWS if slots else 0)
    assert GAIN_COST * passes <= 3 * windows // max(trainers, 1)


def test_no_window_is_drawn_where_rounds_are_small() -> None:
    pool, done = dealt([9, 9])
    assert gain.draw_sample(SEED, pool, done) == gain.NO_SAMPLE


@pytest.mark.parametrize(
    ("figures", "expected"),
    [
        ((5, 5, 5, 5, 5, 5), True),
        ((-5, -5, -5, -5, -5, -5), False),
        ((5, 5, -5, -5, -5, -5), False),  # two allies
        ((5, 5, 5, -5, -5, -5), True),  # doubt is for the slot
        ((5, 5, 5, 5, -9_000, -9_000), True),  # two liars
        ((0, 0, 0, 0, 1, 1), False),
        ((None, None, None, -5, -5, -5), None),  # too few
        ((None, None, -5, -5, -5, -5), False),
        ((None, None, 5, 5, -5, -5), True),  # a hostile third, and two honest ones late
        ((None,) * 6, None),
    ],
)
def test_a_round_speaks_against_a_slot_only_if_two_thirds_of_the_others_do(
    figures: tuple[int | None, ...],
    expected: bool | None,  # noqa: FBT001 - a row of the table
) -> None:
    elected = range(7)
    assert gain.is_positive(0, elected, proofs_of(*figures)) is expected


def test_the_figure_of_a_lone_witness_and_the_slots_own_count_for_nothing() -> None:
    assert gain.is_positive(0, (0, 1), proofs_of(-5)) is None
    assert gain.is_positive(0, (1,), proofs_of(-5)) is None
    assert gain.is_positive(0, (0, 1, 2), proofs_of(-5, -5)) is False
    own = {0: WitnessFindings(vouched=frozenset({0}), rejected={}, gains={0: 5})}
    assert gain.is_positive(0, (0, 1, 2), own | proofs_of(-5)) is None


def signs(key: PeerKey, count: int, *, windows: int = 50, positive: bool = True) -> list[GainSign]:
    return [GainSign(key, windows, positive)] * count


def test_signs_count_only_while_those_of_the_other_keys_are_clear() -> None:
    pool, (mine,) = GainPool(), signs(ME, 1)
    assert not pool.is_clear(mine)
    pool.signs.extend(signs(OTHER, GAIN_POOL // 4 - 1))
    assert not pool.is_clear(mine)
    pool.signs.extend(signs(OTHER, 1))
    assert pool.is_clear(mine)
    assert not pool.is_clear(signs(OTHER, 1)[0])  # its own say nothing about the others
    pool.signs.extend(signs(OTHER, GAIN_POOL // 12 + 1, positive=False))
    assert not pool.is_clear(mine)


def test_a_key_is_compared_only_with_shares_of_about_its_size() -> None:
    pool = GainPool()
    pool.signs.extend(signs(OTHER, GAIN_POOL, windows=50))
    assert pool.is_clear(GainSign(ME, 200, False))  # noqa: FBT003 - a sign
    assert not pool.is_clear(GainSign(ME, 201, False))  # noqa: FBT003 - a sign
    assert pool.is_clear(GainSign(ME, 1, False))  # noqa: FBT003 - a sign
