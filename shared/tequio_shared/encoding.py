"""Canonical JSON: one spelling for each value, so that a hash of the bytes names the value.

The profile: UTF-8 without whitespace; object keys `[a-z0-9_]+`, ascending and unique; integers of
magnitude below 2^53 and no floats; only the escapes that JSON needs; at most `JSON_DEPTH` nested
arrays and objects. Within it every JSON library reads and writes the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, TypeVar, overload

import msgspec

from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.limits import JSON_DEPTH, JSON_INTEGER

_T = TypeVar("_T")
_KEY = re.compile(r"[a-z0-9_]+")
_ENCODER = msgspec.json.Encoder(order="deterministic")
_DECODER = msgspec.json.Decoder()


def encode(value: object) -> bytes:
    """Write a value (msgspec structs too) in its one spelling.

    Raises RefusedError, which is a bug here, for values outside the profile: floats, large
    integers, other keys, deep nesting, lone surrogates.
    """
    try:
        tree = msgspec.to_builtins(value)
        _check(tree, JSON_DEPTH)
        return _ENCODER.encode(tree)
    except (MalformedError, TypeError, UnicodeEncodeError, RecursionError) as err:
        raise RefusedError("not-canonical", f"cannot be written as canonical JSON: {err}") from err


def parse(raw: bytes, limit: int) -> object:
    """Read at most `limit` bytes of canonical JSON; `encode` of the result gives the same bytes.

    Raises MalformedError for anything else, canonical or not.
    """
    _check_size(raw, limit)
    try:
        tree: object = _DECODER.decode(raw)
    except (ValueError, RecursionError) as err:  # msgspec's and Unicode's errors are ValueErrors
        raise MalformedError(f"not JSON: {err}") from err
    _check(tree, JSON_DEPTH)
    # Whitespace, escapes, repeated keys and key order: the comparison finds all that was forgiven.
    if _ENCODER.encode(tree) != raw:
        raise MalformedError("JSON in a non-canonical spelling")
    return tree


@overload
def decode(raw: bytes, type_: type[_T], limit: int) -> _T: ...


@overload
def decode(raw: bytes, type_: object, limit: int) -> Any: ...  # noqa: ANN401 - of a union


def decode(raw: bytes, type_: object, limit: int) -> object:
    """Read canonical JSON as a msgspec type; `encode` of the result is `raw` again.

    Unknown fields, and a default spelled out where the type omits it, are refused.
    Raises MalformedError.
    """
    _check_size(raw, limit)
    # By the type and not as a tree first: text that is something else is refused at its first
    # wrong byte, however many objects it would make.
    try:
        value: object = msgspec.json.decode(raw, type=type_, strict=True)
    except (ValueError, RecursionError) as err:
        raise MalformedError(f"not a valid {_name(type_)}: {err}") from err
    # A field left at its default could be written or omitted: two hashes for one value.
    try:
        respelt = encode(value)
    except RefusedError as err:
        raise MalformedError(str(err)) from err
    if respelt != raw:
        raise MalformedError(f"{_name(type_)} in a non-canonical spelling")
    return value


@overload
def read(raw: bytes, type_: type[_T]) -> _T: ...


@overload
def read(raw: bytes, type_: object) -> Any: ...  # noqa: ANN401


def read(raw: bytes, type_: object) -> object:
    """Read JSON in any spelling, with unknown fields unless the type forbids them.

    Raises MalformedError.
    """
    try:
        return msgspec.json.decode(raw, type=type_)
    except (ValueError, RecursionError) as err:  # msgspec's and Unicode's errors are ValueErrors
        raise MalformedError(f"not a valid {_name(type_)}: {err}") from err


def _name(type_: object) -> str:
    """A type's name for an error; a union has none."""
    return getattr(type_, "__name__", "value").lstrip("_")


def _check_size(raw: bytes, limit: int) -> None:
    if len(raw) > limit:
        raise MalformedError(f"JSON of {len(raw)} bytes; at most {limit} are allowed")


def convert(tree: object, type_: type[_T]) -> _T:
    """Convert a parsed tree to a type, strictly; raises MalformedError."""
    try:
        return msgspec.convert(tree, type_, strict=True)
    except (msgspec.ValidationError, UnicodeError) as err:
        raise MalformedError(f"not a valid {_name(type_)}: {err}") from err


def _check(tree: object, depth: int) -> None:
    if tree is None or isinstance(tree, bool | str):
        return
    if isinstance(tree, int):
        if abs(tree) > JSON_INTEGER:
            raise MalformedError(f"integer {tree} has a magnitude of 2^53 or more")
    elif isinstance(tree, list | tuple):
        _check_all(tree, depth)
    elif isinstance(tree, dict):
        _check_keys(tree)
        _check_all(tree.values(), depth)
    else:
        raise MalformedError(f"canonical JSON has no {type(tree).__name__}")


def _check_all(items: Iterable[object], depth: int) -> None:
    if depth == 0:
        raise MalformedError(f"JSON nested deeper than {JSON_DEPTH}")
    for item in items:
        # Most are one of these, and documents have thousands.
        if type(item) is str or (type(item) is int and abs(item) <= JSON_INTEGER):
            continue
        _check(item, depth - 1)


def _check_keys(tree: dict[object, object]) -> None:
    for key in tree:
        if not isinstance(key, str) or not _is_key(key):
            raise MalformedError(f"key {str(key)[:60]!r} has characters outside [a-z0-9_]")


@lru_cache(1_024)  # there are few, in every statement and in every row of a document
def _is_key(key: str) -> bool:
    return _KEY.fullmatch(key) is not None
