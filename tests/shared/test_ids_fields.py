"""Field types: each value has the one spelling that `ids.from_text` reads."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tequio_shared.errors import MalformedError
from tequio_shared.ids import (
    Bytes32Text,
    BytesText,
    HeaderText,
    PeerKey,
    from_text,
    key_from_peer_id,
    parse_key,
    peer_id_text,
    to_text,
)

_BASE64URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def _passes(text: str, type_: object) -> bool:
    try:
        msgspec.convert(text, type_)
    except msgspec.ValidationError:
        return False
    return True


@given(st.binary(min_size=32, max_size=32))
def test_every_digest_passes_as_one(value: bytes) -> None:
    assert _passes(to_text(value), Bytes32Text)


@given(st.binary(max_size=70))
def test_all_bytes_pass_as_bytes(value: bytes) -> None:
    assert _passes(to_text(value), BytesText)


@given(st.text(st.sampled_from(_BASE64URL + "=+/\n "), max_size=8))
def test_a_text_passes_as_bytes_if_and_only_if_it_is_their_one_spelling(text: str) -> None:
    try:
        from_text(text, None)
        reads = True
    except MalformedError:
        reads = False
    assert _passes(text, BytesText) == reads


@pytest.mark.parametrize("last", _BASE64URL)
def test_a_digest_with_unused_bits_set_is_refused(last: str) -> None:
    text = "A" * 42 + last
    assert _passes(text, Bytes32Text) == (to_text(bytes(31) + bytes([_value(last) & 255])) == text)


def _value(last: str) -> int:
    return _BASE64URL.index(last) >> 2


@pytest.mark.parametrize("text", ["", "A" * 42, "A" * 44, "A" * 42 + "\n", "A" * 42 + "="])
def test_a_digest_of_another_length_is_refused(text: str) -> None:
    assert not _passes(text, Bytes32Text)


def test_a_header_has_216_bytes() -> None:
    assert _passes(to_text(bytes(216)), HeaderText)
    assert not _passes(to_text(bytes(213)), HeaderText)
    assert not _passes("A" * 287 + "\n", HeaderText)


PEER_ID = peer_id_text(PeerKey(bytes(range(32))))


@given(st.binary(min_size=32, max_size=32))
def test_a_key_reads_back_from_its_peer_id_and_its_text(value: bytes) -> None:
    key = PeerKey(value)
    assert peer_id_text(key).startswith("12D3KooW")
    assert key_from_peer_id(peer_id_text(key)) == key
    assert parse_key(peer_id_text(key)) == parse_key(to_text(key)) == key


@pytest.mark.parametrize(
    "text",
    [
        "",
        PEER_ID[1:],
        "1" + PEER_ID,
        PEER_ID[:-1],
        PEER_ID + "1",
        PEER_ID[:-1] + "0",
        PEER_ID[:-1] + "l",
        "13" + PEER_ID[2:],
        "QmYyQSo1c1Ym7orWxLYvCrM2EmxFTANf8wXmmE7DWjhx5N",
        "1" * 64 + PEER_ID[1:],
        "z" * 100_000,
    ],
)
def test_what_is_no_peer_id_of_such_a_key_is_malformed(text: str) -> None:
    with pytest.raises(MalformedError, match=r"peer id|base58"):
        key_from_peer_id(text)


def test_an_overlong_peer_id_is_refused_unread() -> None:
    with pytest.raises(MalformedError, match="peer id of 65 characters"):
        key_from_peer_id("1" * 65)
