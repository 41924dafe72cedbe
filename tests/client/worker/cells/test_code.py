"""The code of a cell: how it is said and typed, and what follows from it."""

from __future__ import annotations

import pytest

from tequio_client.worker.cells.code import (
    CellKeys,
    derive_keys,
    fingerprint,
    make_code,
    parse_code,
    parse_fingerprint,
)
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import PeerKey

CODE = "K7QF-2MXD-9TRP"
ANA, BO = PeerKey(b"a" * 32), PeerKey(b"b" * 32)


@pytest.fixture(scope="module")
def keys() -> CellKeys:
    return derive_keys(CODE)


def test_a_made_code_is_read_back_and_is_another_one_each_time() -> None:
    codes = {make_code() for _ in range(20)}
    assert len(codes) == 20
    assert {parse_code(one) for one in codes} == codes


@pytest.mark.parametrize("typed", ["k7qf2mxd9trp", " K7QF 2MXD 9TRP ", "K7QF-2MXD-9TRP"])
def test_a_code_may_be_typed_in_any_case_and_with_any_gaps(typed: str) -> None:
    assert parse_code(typed) == CODE


def test_letters_that_look_like_digits_are_those_digits() -> None:
    assert parse_code("OIL0-1111-2222") == "0110-1111-2222"


@pytest.mark.parametrize("typed", ["", "K7QF-2MXD", "K7QF-2MXD-9TRPP", "U7QF-2MXD-9TRP"])
def test_an_invalid_code_is_named(typed: str) -> None:
    with pytest.raises(UserFacingError, match="expected 12 letters and digits, such as"):
        parse_code(typed)


def test_another_code_gives_another_host_and_other_proofs(keys: CellKeys) -> None:
    other = derive_keys("K7QF-2MXD-9TRQ")
    assert derive_keys(CODE).host.key == keys.host.key != other.host.key
    assert keys.is_proof(ANA, keys.proof(ANA))
    assert not keys.is_proof(ANA, other.proof(ANA))


def test_a_proof_serves_no_other_guest_and_shows_neither_key(keys: CellKeys) -> None:
    assert not keys.is_proof(BO, keys.proof(ANA))
    assert keys.guests not in (keys.proof(ANA), bytes(keys.host.key), keys.host.seed)
    assert keys.guests.hex() not in repr(keys)
    assert keys.host.seed.hex() not in repr(keys)


def test_a_guest_is_named_by_eight_characters() -> None:
    assert fingerprint(ANA) != fingerprint(BO)
    assert parse_fingerprint(fingerprint(ANA).lower().replace("-", "")) == fingerprint(ANA)
    with pytest.raises(UserFacingError, match="invalid guest 'ana'"):
        parse_fingerprint("ana")
