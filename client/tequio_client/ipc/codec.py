"""One message as one line of JSON, bounded: how programs of ours on one computer talk."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import msgspec

from tequio_shared.errors import MalformedError

if TYPE_CHECKING:
    from msgspec.json import Decoder

_M = TypeVar("_M")
_ENCODER = msgspec.json.Encoder()


def encode(message: msgspec.Struct) -> bytes:
    """Write the message as one line, newline included."""
    return _ENCODER.encode(message) + b"\n"


def decode(decoder: Decoder[_M], line: bytes, most_bytes: int, due: str) -> _M:
    """Read a line; raises MalformedError for one that is too long, or not what is `due`."""
    if len(line) > most_bytes:
        raise MalformedError(f"line of {len(line)} bytes, {most_bytes} at most")
    try:
        return decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
        raise MalformedError(f"not {due}: {err}") from err
