"""Canonical JSON: one spelling for each value."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tequio_shared import encoding
from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.limits import JSON_INTEGER

LIMIT = 1 << 20

_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_scalars = st.none() | st.booleans() | st.integers(-JSON_INTEGER, JSON_INTEGER) | _texts
_keys = st.text("abcdefghijklmnopqrstuvwxyz0123456789_", min_size=1, max_size=8)


def _trees(depth: int) -> st.SearchStrategy[object]:
    if depth == 0:
        return _scalars
    below = _trees(depth - 1)
    return _scalars | st.lists(below, max_size=4) | st.dictionaries(_keys, below, max_size=4)


class Paper(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A document with a field that has a default and is written all the same."""

    title: str
    pages: int = 1


class Leaflet(msgspec.Struct, frozen=True, omit_defaults=True):
    """A document that leaves its default out, and knows of no other fields."""

    title: str
    pages: int = 1


@given(_trees(4))
def test_what_was_written_reads_back_equal(tree: object) -> None:
    assert encoding.parse(encoding.encode(tree), LIMIT) == tree


@given(_trees(4))
def test_it_is_the_json_of_the_standard_library_sorted_and_without_spaces(tree: object) -> None:
    spelt = json.dumps(tree, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    assert encoding.encode(tree) == spelt.encode()


@given(
    _trees(3),
    st.booleans(),
    st.sampled_from([(",", ":"), (", ", ":"), (",", ": ")]),
    st.sampled_from([None, 1]),
)
def test_every_other_spelling_of_a_value_is_refused(
    tree: object, ascii_only: object, separators: tuple[str, str], indent: int | None
) -> None:
    other = json.dumps(
        tree, ensure_ascii=ascii_only is True, separators=separators, indent=indent
    ).encode()
    if other == encoding.encode(tree):
        assert encoding.parse(other, LIMIT) == tree
    else:
        with pytest.raises(MalformedError):
            encoding.parse(other, LIMIT)


@given(st.binary(max_size=80))
def test_any_bytes_parse_or_are_malformed(raw: bytes) -> None:
    try:
        tree = encoding.parse(raw, LIMIT)
    except MalformedError:
        return
    assert encoding.encode(tree) == raw


@given(st.text(st.sampled_from('{}[]":,0123456789.eE+-\\u "abtruefalsn'), max_size=40))
def test_any_json_like_text_parses_or_is_malformed(text: str) -> None:
    try:
        tree = encoding.parse(text.encode(), LIMIT)
    except MalformedError:
        return
    assert json.loads(text) == tree


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b" 1",
        b"1 ",
        b"1.0",
        b"1e2",
        b"-0",
        b"01",
        b"NaN",
        b"9007199254740992",
        b"-9007199254740992",
        b"[9007199254740992]",
        b'{"a":-9007199254740992}',
        b"1" * 5000,
        b'{"b":1,"a":2}',
        b'{"a":1,"a":1}',
        b'{"A":1}',
        b'{"":1}',
        b'{"a-b":1}',
        b'{"a\\n":1}',
        '{"ä":1}'.encode(),
        b'"\\u0041"',
        b'"\\/"',
        b'"\\u001F"',
        b'"\\ud800"',
        b'"\\ud83d\\ude00"',
        b'"\xed\xa0\x80"',
        b'"\xff"',
        b'"\x01"',
        b"\xef\xbb\xbf1",
        b"[1,]",
        b"1 2",
        b"[" * 100_000,
        b"[[[[[[[]]]]]]]",
        b'{"a":[1,{"b":[[[[]]]]}]}',
    ],
)
def test_what_lies_outside_the_profile_is_malformed(raw: bytes) -> None:
    with pytest.raises(MalformedError):
        encoding.parse(raw, LIMIT)


def test_six_levels_and_the_largest_integers_pass() -> None:
    for raw in (b"[[[[[[]]]]]]", b"[9007199254740991,-9007199254740991]", b'{"_0a":"\x7f"}'):
        assert encoding.encode(encoding.parse(raw, LIMIT)) == raw


def test_more_bytes_than_the_limit_are_refused_unread() -> None:
    assert encoding.parse(b'"ab"', 4) == "ab"
    with pytest.raises(MalformedError, match="5 bytes"):
        encoding.parse(b'"abc"', 4)


@pytest.mark.parametrize(
    "value",
    [
        1.0,
        2**53,
        -(2**70),
        [2**53],
        {"A": 1},
        {1: 2},
        "\ud800",
        [[[[[[[]]]]]]],
        object(),
        {"a": [0.5]},
    ],
)
def test_what_the_profile_cannot_say_is_a_bug_of_the_writer(value: object) -> None:
    with pytest.raises(RefusedError):
        encoding.encode(value)


def test_a_list_inside_itself_is_a_bug_of_the_writer() -> None:
    loop: list[object] = []
    loop.append(loop)
    with pytest.raises(RefusedError):
        encoding.encode(loop)


def test_a_typed_document_reads_back_and_has_one_spelling() -> None:
    raw = encoding.encode(Paper("a", 2))
    assert raw == b'{"pages":2,"title":"a"}'
    assert encoding.decode(raw, Paper, LIMIT) == Paper("a", 2)
    assert encoding.decode(b'{"title":"a"}', Leaflet, LIMIT) == Leaflet("a")


@pytest.mark.parametrize(
    ("raw", "type_"),
    [
        (b'{"title":"a"}', Paper),
        (b'{"pages":1,"title":"a"}', Leaflet),
        (b'{"extra":1,"title":"a"}', Leaflet),
        (b'{"extra":1,"pages":1,"title":"a"}', Paper),
        (b'{"pages":"2","title":"a"}', Paper),
        (b'{"pages":true,"title":"a"}', Paper),
        (b"[]", Paper),
        (b"[]", Paper | None),
    ],
)
def test_a_document_with_other_fields_is_malformed(raw: bytes, type_: object) -> None:
    with pytest.raises(MalformedError):
        encoding.decode(raw, type_, LIMIT)
