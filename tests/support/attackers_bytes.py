"""Bytes that no honest program sends: random, altered, cut, nested, with huge numbers."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Iterator

GARBAGE_BYTES = 60_000
_WORDS = (
    '{"', '":', "[", "]", "}", ",", '"', "0", "-1", "9" * 20, "1e9", "null", "\\u0000", "true", "é",
    "author", "body", "type", "v", "seq", "data: ", "id: ", "\n", "\n\n", "— ", "A" * 43, "tile/",
)  # fmt: skip


def hostile(example: bytes) -> st.SearchStrategy[bytes]:
    """Random bytes, JSON-like text, and the example with bytes changed, removed or inserted."""
    text = st.lists(st.sampled_from(_WORDS), max_size=40).map(lambda words: "".join(words).encode())
    edits = st.lists(
        st.tuples(st.integers(0, len(example)), st.integers(0, 4), st.binary(max_size=4)),
        min_size=1,
        max_size=4,
    )
    return st.one_of(st.binary(max_size=400), text, edits.map(lambda made: _edited(example, made)))


def garbage(seed: int) -> Iterator[tuple[str, bytes]]:
    """Large inputs made to hurt, by name; none is longer than `GARBAGE_BYTES`."""
    chance, size = random.Random(seed), GARBAGE_BYTES
    yield "nothing", b""
    yield "noise", chance.randbytes(size)
    yield "zeros", bytes(size)
    yield "ones", b"\xff" * size
    yield "open brackets", b"[" * size
    yield "open objects", b'{"a":' * (size // 5)
    yield "a field in front", b'{"a":' + b"[" * (size - 5)
    yield "brackets that close", b"[" * (size // 2) + b"]" * (size // 2)
    yield "one number", b"9" * size
    yield "one small number", b"0." + b"0" * (size - 3) + b"1"
    yield "one word", b'"' + b"\\u0041" * (size // 6 - 1) + b'"'
    yield "many keys", json.dumps({f"k{at}": at for at in range(4_000)}).encode()
    yield "the same key", b"{" + b'"a":1,' * (size // 6 - 1) + b'"a":1}'
    yield "a long list", json.dumps([0] * (size // 3 - 1)).encode()
    yield "lines", b"\n" * size
    yield "signature lines", "— a AAAA\n".encode() * (size // 12)
    yield "letters", b"A" * size
    yield "counted by 65535", b"\xff\xff" + chance.randbytes(size - 2)
    yield "counted by four billion", b"\xff\xff\xff\xff" + bytes(size - 4)


def _edited(example: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    raw = bytearray(example)
    for at, gone, put in edits:
        raw[at : at + gone] = put
    return bytes(raw)
