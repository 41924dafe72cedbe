"""Messages between the programs on one computer: app, worker, trainer, evaluator and probe.

One message is one line of JSON of bounded length.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import msgspec

from tequio_shared.errors import MalformedError

if TYPE_CHECKING:
    from msgspec.json import Decoder

_M = TypeVar("_M")
_ENCODER = msgspec.json.Encoder()


def encode(message: msgspec.Struct) -> bytes:
    """Encode the message as one line, newline included."""
    return _ENCODER.encode(message) + b"\n"


def decode(decoder: Decoder[_M], line: bytes, most_bytes: int, due: str) -> _M:
    """Decode a line; raises MalformedError if it is too long or not `due` (named in the error)."""
    if len(line) > most_bytes:
        raise MalformedError(f"line of {len(line)} bytes, {most_bytes} at most")
    try:
        return decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
        raise MalformedError(f"not {due}: {err}") from err
