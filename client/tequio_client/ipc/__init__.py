"""Messages between the programs on one computer: app, worker, trainer, evaluator and probe.

One message is one line of JSON of bounded length.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from tequio_shared.errors import MalformedError

if TYPE_CHECKING:
    from collections.abc import Callable

_ENCODER = msgspec.json.Encoder()


def encode(message: msgspec.Struct) -> bytes:
    """Encode the message as one line, newline included."""
    return _ENCODER.encode(message) + b"\n"


def line_decoder(kind: object, most_bytes: int, due: str) -> Callable[[bytes], Any]:
    """A decoder of lines that hold a `kind`; `due` names it in the error.

    The decoder raises MalformedError for a longer line and for any other content.
    """
    decoder = msgspec.json.Decoder(kind)

    def decode(line: bytes) -> Any:  # noqa: ANN401 - a `kind`, which mypy cannot infer of a union
        if len(line) > most_bytes:
            raise MalformedError(f"line of {len(line)} bytes, {most_bytes} at most")
        try:
            return decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
            raise MalformedError(f"not {due}: {err}") from err

    return decode


class LineBuffer:
    """Cuts a stream into lines of bounded length."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._rest = bytearray()
        self._searched = 0  # bytes without an end: a long line costs linear time, not quadratic

    def feed(self, chunk: bytes) -> None:
        self._rest += chunk

    def next_line(self) -> bytes | None:
        """The next line without its end; None: feed more first. Raises MalformedError."""
        end = self._rest.find(b"\n", self._searched)
        if end < 0:
            self._searched = len(self._rest)
            if self._searched > self._most_bytes:
                raise MalformedError(f"a line of more than {self._most_bytes} bytes")
            return None
        line = bytes(self._rest[:end])
        del self._rest[: end + 1]
        self._searched = 0
        return line
