"""A number is written with the right form of its noun."""

from __future__ import annotations

import pytest

from tequio_shared.wording import noun, plural


@pytest.mark.parametrize(
    ("number", "written"),
    [(0, "0 rounds"), (1, "1 round"), (2, "2 rounds"), (1_024, "1,024 rounds")],
)
def test_a_number_is_written_with_its_noun(number: int, written: str) -> None:
    assert plural(number, "round") == written


def test_a_noun_may_have_its_own_plural() -> None:
    assert [plural(number, "entry", "entries") for number in (1, 2)] == ["1 entry", "2 entries"]
    assert [noun(number, "was", "were") for number in (1, 2)] == ["was", "were"]
