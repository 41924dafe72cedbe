"""A key as words: what is written down comes back, and what was written wrong is named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tequio_client.keys.backup import WORDS, from_words, to_words
from tequio_client.keys.state import IdentityError

SEEDS = st.binary(min_size=32, max_size=32)
SEED = bytes(range(32))
SAID = to_words(SEED)


@given(SEEDS)
def test_every_seed_comes_back_from_its_words(seed: bytes) -> None:
    words = to_words(seed)
    assert len(words) == WORDS
    assert from_words(" ".join(words)) == seed


@pytest.mark.parametrize(
    ("entropy", "first", "last"),
    [("00" * 32, "abandon", "art"), ("ff" * 32, "zoo", "vote"), ("80" * 32, "letter", "bless")],
)
def test_the_words_are_those_of_the_standard(entropy: str, first: str, last: str) -> None:
    words = to_words(bytes.fromhex(entropy))  # BIP-39's own test vectors
    assert (words[0], words[-1]) == (first, last)


def test_numbers_signs_and_large_letters_of_a_note_do_not_matter() -> None:
    note = "\n".join(f"{number}. {word.upper()}," for number, word in enumerate(SAID, 1))
    assert from_words(note) == SEED


def test_a_word_that_is_not_in_the_list_is_named_with_what_it_may_be() -> None:
    wrong = ("abandom", *SAID[1:])
    with pytest.raises(IdentityError, match=r"word 1, abandom, .* it may be abandon"):
        from_words(" ".join(wrong))
    with pytest.raises(IdentityError, match=r"word 24, xyzzyx, is not in the list") as caught:
        from_words(" ".join((*SAID[:-1], "xyzzyx")))
    assert caught.value.code == "word-unknown"


@pytest.mark.parametrize("count", [0, 1, 12, 23, 25])
def test_another_number_of_words_is_said(count: int) -> None:
    with pytest.raises(IdentityError, match=f"has 24 words and these are {count}"):
        from_words(" ".join((SAID * 2)[:count]))


@given(SEEDS, st.integers(0, 22))
def test_neighbours_that_changed_places_are_named_if_the_checksum_sees_them(
    seed: bytes, at: int
) -> None:
    words = list(to_words(seed))
    words[at], words[at + 1] = words[at + 1], words[at]
    try:
        from_words(" ".join(words))
    except IdentityError as err:
        assert err.code == "words-swapped"  # noqa: PT017 - one in 256 passes the checksum


@pytest.mark.parametrize(("at", "like"), [(6, "cake"), (9, "rather"), (16, "kid"), (19, "couch")])
def test_a_word_of_the_list_in_the_place_of_a_like_one_is_guessed(at: int, like: str) -> None:
    wrong = [*SAID[:at], like, *SAID[at + 1 :]]
    with pytest.raises(IdentityError, match=f"look at word {at + 1}, {like}") as caught:
        from_words(" ".join(wrong))
    assert caught.value.code == "words-perhaps"
    assert caught.value.values["near"] == SAID[at]


def test_words_that_nothing_explains_are_said_not_to_belong_together() -> None:
    with pytest.raises(IdentityError) as caught:
        from_words("museum " * WORDS)
    assert caught.value.code == "words-unfit"
