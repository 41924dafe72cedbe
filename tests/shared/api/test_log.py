"""The event stream: what one end writes the other reads, however the bytes arrive."""

from __future__ import annotations

import pytest

from tequio_shared.api.network import HEARTBEAT, EventReader, LogEvent
from tequio_shared.errors import MalformedError
from tequio_shared.limits import ENTRY_BYTES


def test_an_event_is_read_as_it_was_written() -> None:
    events = [LogEvent(0, b"\0" * ENTRY_BYTES), LogEvent(2**53, b"\xff")]
    raw = HEARTBEAT.join(one.encode() for one in events)
    assert EventReader().feed(raw) == events


@pytest.mark.parametrize("size", [1, 2, 7, 100_000])
def test_event_lines_do_not_depend_on_how_the_bytes_arrive(size: int) -> None:
    raw = (
        b": beat\r\n\r\nid: 7\r\nevent: entry\r\ndata: AQID\r\n\r\nevent: other\ndata: x\n\nid: 8\n"
    )
    raw += b"event: entry\ndata: BA\nretry: 5\n\n"
    lines = EventReader()
    events = [e for at in range(0, len(raw), size) for e in lines.feed(raw[at : at + size])]
    assert [(event.index, event.leaf) for event in events] == [(7, b"\1\2\3"), (8, b"\4")]


@pytest.mark.parametrize(
    "raw",
    [
        bytes(200_000),
        b"id: 1\nid: 2\n",
        b"event: entry\nid: 1\ndata: !\n\n",
        b"event: entry\nid: -1\ndata: AA\n\n",
        b"event: entry\ndata: AA\n\n",
        b"data: \xff\n",
    ],
)
def test_event_lines_refuse_what_no_ledger_sends(raw: bytes) -> None:
    with pytest.raises(MalformedError):
        EventReader().feed(raw)
