"""A number is written with the right form of its noun."""

from __future__ import annotations

import pytest

from tequio_shared.wording import noun, plural, short_count, size_text


@pytest.mark.parametrize(
    ("number", "written"),
    [(0, "0 rounds"), (1, "1 round"), (2, "2 rounds"), (1_024, "1,024 rounds")],
)
def test_a_number_is_written_with_its_noun(number: int, written: str) -> None:
    assert plural(number, "round") == written


def test_a_noun_may_have_its_own_plural() -> None:
    assert [plural(number, "entry", "entries") for number in (1, 2)] == ["1 entry", "2 entries"]
    assert [noun(number, "was", "were") for number in (1, 2)] == ["was", "were"]


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (0, "0"),
        (7, "7"),
        (8.94, "8.9"),
        (950, "950"),
        (9_996, "10.0k"),
        (12_400, "12.4k"),
        (999_499, "999k"),
        (999_950, "1.00M"),
        (1_310_000_000, "1.31B"),
        (12_345_000_000_000_000, "12300T"),
    ],
)
def test_great_numbers_have_three_digits(number: float, said: str) -> None:
    assert short_count(number) == said


def test_sizes_are_those_of_disks() -> None:
    sizes = (
        0,
        0.5,
        999,
        999.6,
        1_000,
        8_192,
        10_000,
        999_499,
        999_999,
        1_500_000,
        3_200_000_000,
        10**18,
    )
    assert [size_text(one) for one in sizes] == [
        "0 B",
        "0.5 B",
        "999 B",
        "1 kB",
        "1 kB",
        "8.19 kB",
        "10 kB",
        "999 kB",
        "1 MB",
        "1.5 MB",
        "3.2 GB",
        "1000000 TB",
    ]
