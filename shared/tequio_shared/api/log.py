"""Answers about the log itself: the fate of statements, its witnesses, and its event stream.

The stream has one event per log entry: `id` is the log index, `event` is `entry`, `data` the leaf
in base64url. Comments are heartbeats. Both ends are here, without I/O; the reader's memory is
bounded whatever the server sends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from msgspec import Struct

from tequio_shared.api.answer import LongText, Rows, Text
from tequio_shared.errors import MalformedError
from tequio_shared.ids import Bytes32Text, Natural, from_text, to_text
from tequio_shared.limits import ENTRY_BYTES

EVENT_BYTES = 2 * ENTRY_BYTES
"""Longest line, and most text in one event: base64url makes a leaf a third longer."""
HEARTBEAT = b": heartbeat\n\n"
_INDEX_DIGITS = 19


class PostedStatement(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The outcome for one entry: logged, known or refused.

    `id` is the statement's id; for bytes that are not a statement, the SHA-256 of the leaf.
    """

    id: Bytes32Text
    status: Literal["logged", "known", "refused"]
    index: Natural | None = None
    code: Text | None = None
    detail: str | None = None
    """Text by a stranger, of any length and content: clean it before it is shown or logged."""


class PostedAnswer(Struct, frozen=True):
    """One item for each entry of the request, in its order."""

    items: Rows[PostedStatement]


class WitnessAnswer(Struct, frozen=True, kw_only=True):
    """One witness at the ledger's last request."""

    name: LongText
    key: LongText
    """Verifier key."""
    url: LongText
    size: Natural
    """Last size that it cosigned, as far as is known; 0 before the first time."""
    answer_ms: Natural | None
    problem: str | None


class WitnessesAnswer(Struct, frozen=True, kw_only=True):
    """The published part of the log: readers get `published` of the `signed` entries."""

    quorum: LongText
    published: Natural
    signed: Natural
    late_ms: Natural
    """Time that signed entries have waited for the quorum."""
    witnesses: Rows[WitnessAnswer]


@dataclass(frozen=True, slots=True)
class LogEvent:
    """One log entry as the stream claims it; nothing is verified yet."""

    index: int
    leaf: bytes

    def encode(self) -> bytes:
        return f"id: {self.index}\nevent: entry\ndata: {to_text(self.leaf)}\n\n".encode()


class EventReader:
    """Cuts a text/event-stream into log events; do not use it again after a MalformedError."""

    def __init__(self) -> None:
        self._rest = b""  # of an incomplete line, at most EVENT_BYTES
        self._fields: dict[str, str] = {}  # of the event in progress, at most three

    def feed(self, chunk: bytes) -> list[LogEvent]:
        """Add the next bytes and return the events they complete; raises MalformedError."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        if len(self._rest) > EVENT_BYTES:
            raise MalformedError(f"event line of more than {EVENT_BYTES} bytes")
        events = [self._line(line.removesuffix(b"\r")) for line in lines]
        return [event for event in events if event is not None]

    def _line(self, raw: bytes) -> LogEvent | None:
        if not raw:
            return self._complete()
        if len(raw) > EVENT_BYTES or not raw.isascii():
            raise MalformedError(f"event line of {len(raw)} bytes, which no entry has")
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
        raise MalformedError(f"invalid log index {text[:60]!r}")
    return int(text)
