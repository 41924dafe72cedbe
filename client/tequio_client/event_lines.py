"""Server-sent events as a parser without input or output: bytes in, log events out.

The ledger's stream has one event per log entry: `id` is the log index, `event` is `entry`, `data`
the leaf in base64url. Comments are heartbeats. Memory is bounded whatever the server sends.
"""

from __future__ import annotations

from dataclasses import dataclass

from tequio_shared.errors import MalformedError
from tequio_shared.ids import from_text
from tequio_shared.limits import ENTRY_BYTES

EVENT_BYTES = 2 * ENTRY_BYTES
"""Longest line, and most text in one event: a leaf in base64url is a third longer than itself."""

_INDEX_DIGITS = 19


@dataclass(frozen=True, slots=True)
class LogEvent:
    """One log entry as the stream claims it; nothing about it is verified yet."""

    index: int
    leaf: bytes


class EventLines:
    """Cuts a text/event-stream into log events; `feed` raises MalformedError and is then over."""

    def __init__(self) -> None:
        self._rest = b""
        self._fields: dict[str, str] = {}

    def feed(self, chunk: bytes) -> list[LogEvent]:
        """Take the next bytes and give the events that they complete."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        if len(self._rest) > EVENT_BYTES:
            raise MalformedError(f"event line of more than {EVENT_BYTES} bytes")
        events = [self._line(line.removesuffix(b"\r")) for line in lines]
        return [event for event in events if event is not None]

    def _line(self, raw: bytes) -> LogEvent | None:
        if not raw:
            return self._complete()
        if len(raw) > EVENT_BYTES or not raw.isascii():
            raise MalformedError(f"event line of {len(raw)} bytes that no entry has")
        name, _, value = raw.decode("ascii").partition(":")
        if name in {"id", "event", "data"}:  # others are comments and reconnection hints
            if name in self._fields:
                raise MalformedError(f"event with two {name} lines")
            self._fields[name] = value.removeprefix(" ")
        return None

    def _complete(self) -> LogEvent | None:
        fields, self._fields = self._fields, {}
        if fields.get("event") != "entry":
            return None
        leaf = from_text(fields.get("data", ""), None)
        if len(leaf) > ENTRY_BYTES:
            raise MalformedError(f"event with an entry of {len(leaf)} bytes")
        return LogEvent(_index(fields.get("id", "")), leaf)


def _index(text: str) -> int:
    if not (0 < len(text) <= _INDEX_DIGITS and text.isascii() and text.isdigit()):
        raise MalformedError(f"not a log index: {text[:60]!r}")
    return int(text)
