"""The data order visits each sample once an epoch, the same for everybody."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tequio_shared.round.assignment import DataOrder, SamplePosition

ROOT = bytes(range(32))
GOLDEN = [(0, sample) for sample in (0, 7, 4, 1, 8, 5, 2, 9, 6, 3)] + [(1, 0), (1, 1), (1, 2)]
SHARDS = st.lists(st.integers(1, 60), min_size=1, max_size=6)


@given(samples=SHARDS, seed=st.integers(0, 2**53), epoch=st.integers(0, 3))
def test_every_epoch_meets_each_sample_exactly_once(
    samples: list[int], seed: int, epoch: int
) -> None:
    order = DataOrder.of(root=ROOT, seed=seed, samples=samples)
    first = epoch * order.total
    places = [order.sample_at(first + i) for i in range(order.total)]
    assert {(place.shard, place.sample) for place in places} == {
        (shard, sample) for shard, count in enumerate(samples) for sample in range(count)
    }
    assert [place.shard for place in places] == sorted(place.shard for place in places)


@given(samples=SHARDS, first=st.integers(0, 200), count=st.integers(1, 80))
def test_the_shards_of_windows_are_those_of_their_samples(
    samples: list[int], first: int, count: int
) -> None:
    order = DataOrder.of(root=ROOT, seed=1, samples=samples)
    places = [place for i in range(count) for place in order.window_samples(first + i, 3)]
    assert order.shards_of([(first, count)], 3) == tuple(sorted({p.shard for p in places}))


def test_the_order_is_fixed_for_ever() -> None:
    order = DataOrder.of(root=ROOT, seed=7, samples=[10, 3])
    assert [(p.shard, p.sample) for p in map(order.sample_at, range(13))] == GOLDEN


def test_another_seed_or_epoch_gives_another_order() -> None:
    one = DataOrder.of(root=ROOT, seed=1, samples=[1000])
    two = DataOrder.of(root=ROOT, seed=2, samples=[1000])
    first = [one.sample_at(i) for i in range(10)]
    assert first != [two.sample_at(i) for i in range(10)]
    assert first != [one.sample_at(1000 + i) for i in range(10)]


def test_an_empty_shard_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one sample"):
        DataOrder.of(root=ROOT, seed=1, samples=[4, 0])


def test_a_single_sample_stands_everywhere() -> None:
    order = DataOrder.of(root=ROOT, seed=1, samples=[1])
    assert order.sample_at(12) == SamplePosition(shard=0, sample=0)
