"""Points: integers that follow from accepted tokens alone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tequio_shared.round import assignment

tokens = st.integers(0, 10**9)
parameters = st.integers(1, 10**11)


def test_the_published_example() -> None:
    assert assignment.trainer_micropoints(1_000_000, 100_000_000) == 600_000  # 0.6 points
    assert assignment.witness_micropoints(1_000_000, 500, 16) == 3_125


@given(tokens, tokens, parameters)
def test_splitting_work_among_keys_gains_nothing(one: int, other: int, size: int) -> None:
    apart = assignment.trainer_micropoints(one, size) + assignment.trainer_micropoints(other, size)
    together = assignment.trainer_micropoints(one + other, size)
    assert together - 1 <= apart <= together


@given(st.integers(0, 2**53), st.integers(0, 5_000), st.integers(0, 16))
def test_witnesses_never_get_more_than_their_share(total: int, share: int, elected: int) -> None:
    each = assignment.witness_micropoints(total, share, elected)
    assert each * max(elected, 1) * 10_000 <= total * share
