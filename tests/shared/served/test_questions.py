"""Differences between an answer and the due one."""

from __future__ import annotations

from msgspec import Struct

from tequio_shared.served.questions import differences


class Announcement(Struct):
    text: str


def test_long_texts_are_cut_where_they_differ() -> None:
    due = f"{'The run pauses. ' * 60}It goes on on Friday. {'Thank you. ' * 60}"
    (found,) = differences(Announcement(due), {"text": due.replace("Friday", "Sunday")})
    assert "It goes on on Friday." in found.due
    assert "It goes on on Sunday." in found.found
    assert len(found.due) == len(found.found) == 200


def test_a_large_lie_is_cut() -> None:
    (found,) = differences(Announcement("short"), {"text": "9" * 1_000_000})
    assert (found.due, len(found.found)) == ("short", 200)
