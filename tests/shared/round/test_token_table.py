"""The table of what each id of a plug-in's tokenizer stands for: one encoding, and exact sizes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tequio_shared.errors import MalformedError
from tequio_shared.round.token_table import TOKEN_BYTES, TokenTable

TOKENS = (b"maize", b"", b"\xc3", b"\xad", b"x" * TOKEN_BYTES)


@given(st.lists(st.binary(max_size=TOKEN_BYTES), min_size=1, max_size=40))
def test_a_table_comes_back(tokens: list[bytes]) -> None:
    table = TokenTable.of([b"", *tokens], 0)
    assert TokenTable.parse(table.encode(), len(tokens) + 1) == table


def test_bytes_are_written_one_after_another() -> None:
    table = TokenTable.of(TOKENS[:3], 1)
    assert table.encode() == b"\x05maize\x00\x01\xc3"


def test_text_and_its_size_follow_from_ids() -> None:
    table = TokenTable.of(TOKENS, 1)
    ids = np.array([0, 2, 3, 1, 4])
    assert table.text(ids.tolist()) == b"maize" + "í".encode() + b"x" * TOKEN_BYTES
    assert table.count_bytes(ids) == len(table.text(ids.tolist()))
    assert table.count_bytes(np.array([], np.int64)) == 0


@pytest.mark.parametrize(
    ("raw", "vocab_size"),
    [(b"\x05maiz", 1), (b"\x01a\x01b", 1), (b"\x01a", 2), (b"", 1), (b"\x01a\x02b", 2)],
)
def test_a_table_of_other_length_than_the_vocabulary_is_refused(
    raw: bytes, vocab_size: int
) -> None:
    with pytest.raises(MalformedError, match=f"exactly {vocab_size} tokens"):
        TokenTable.parse(raw, vocab_size)


@pytest.mark.parametrize("wrong", ["text", b"x" * (TOKEN_BYTES + 1), 7])
def test_a_token_that_no_table_can_hold_is_named(wrong: object) -> None:
    with pytest.raises(MalformedError, match="token 1 is"):
        TokenTable.of([b"", wrong], 0)


@pytest.mark.parametrize("separator", [-1, 0, len(TOKENS)])
def test_a_separator_stands_for_no_text(separator: int) -> None:
    with pytest.raises(MalformedError, match=f"the separator {separator} must"):
        TokenTable.of(TOKENS, separator)
