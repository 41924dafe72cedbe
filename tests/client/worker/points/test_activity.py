"""The event book: bounded, in order whatever the clock does, and every event has words."""

from __future__ import annotations

import re
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tequio_client.ipc.points import ActivityRow, AskActivity
from tequio_client.ipc.snapshot import Decision, LendingReason, LendingState
from tequio_client.ipc.texts import EVENT_TEMPLATES, ActivityEvent, event_decision, event_values
from tequio_client.worker.points import activity
from tequio_client.worker.points.activity import FILE, ActivityDatabase
from tequio_client.worker.points.points_db import DatabaseFile
from tests.client.ipc.test_texts import local
from tests.support.event_sentences import event_sentence

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOW_MS = 1_800_000_000_000
VALUES: dict[str, str | int | float] = {
    "version": "1.2",
    "run": "tiny",
    "round": 7,
    "points": 12_345_678,
    "reason": "cosine",
    "ledger": 30_000,
    "proven": 20_000,
    "standing": "quarantined",
    "problem": "no route to host",
    "file": "points.sqlite.kept-1",
    "seconds": -40,
    "audited": 6,
    "declined": "the weights of head 5 are not here",
    "cause": "an audit was contradicted by the other auditors",
}


class ActivityClock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.at_ms = NOW_MS

    def __call__(self) -> int:
        """Say what time it is."""
        return self.at_ms


@pytest.fixture
def clock() -> ActivityClock:
    return ActivityClock()


@pytest.fixture
def book(tmp_path: Path, clock: ActivityClock) -> Iterator[ActivityDatabase]:
    with closing(ActivityDatabase.opened(tmp_path, clock)) as opened:
        yield opened


def test_events_come_newest_first_in_pages(book: ActivityDatabase) -> None:
    for number in range(1, 6):
        book.add(ActivityEvent.ROUND_VOID, run="tiny", round=number)
    page = book.answer(AskActivity(limit=3))
    assert ([row.values["round"] for row in page.rows], page.has_more) == ([5, 4, 3], True)
    page = book.answer(AskActivity(limit=3, before=page.rows[-1].number))
    assert ([row.values["round"] for row in page.rows], page.has_more) == ([2, 1], False)
    assert book.number == 5
    assert page.rows[0] == ActivityRow(
        number=2, at_ms=NOW_MS, code="round-void", values={"run": "tiny", "round": 2}
    )


def test_a_clock_set_back_does_not_change_the_order(
    book: ActivityDatabase, clock: ActivityClock
) -> None:
    book.add(ActivityEvent.LEDGER_LOST, "warning", problem="away")
    clock.at_ms -= 3_600_000
    book.add(ActivityEvent.LEDGER_FOUND, "good")
    codes = [row.code for row in book.answer(AskActivity()).rows]
    assert codes == ["ledger-found", "ledger-lost"]


def test_numbers_go_on_after_a_restart(tmp_path: Path, clock: ActivityClock) -> None:
    with closing(ActivityDatabase.opened(tmp_path, clock)) as first:
        first.add(ActivityEvent.PREFERENCES_CHANGED)
    with closing(ActivityDatabase.opened(tmp_path, clock)) as second:
        assert second.number == 1
        second.add(ActivityEvent.PREFERENCES_CHANGED)
        assert [row.number for row in second.answer(AskActivity()).rows] == [2, 1]


def test_old_events_are_forgotten(tmp_path: Path, clock: ActivityClock) -> None:
    file = DatabaseFile(tmp_path / FILE, activity.SCHEMA, version=activity.VERSION)
    with closing(ActivityDatabase(file, clock, max_events=30, trim_every=10)) as book:
        for number in range(95):
            book.add(ActivityEvent.ROUND_VOID, run="tiny", round=number)
        rows = book.answer(AskActivity(limit=500)).rows
    assert 30 <= len(rows) <= 40
    assert [row.values["round"] for row in rows] == list(range(94, 94 - len(rows), -1))


def test_a_damaged_book_is_kept_aside_and_a_new_one_begun(
    tmp_path: Path, clock: ActivityClock
) -> None:
    (tmp_path / FILE).write_bytes(b"this was a book once" * 500)
    with closing(ActivityDatabase.opened(tmp_path, clock)) as book:
        assert book.file.set_aside_path is not None
        book.add(ActivityEvent.FILE_KEPT_ASIDE, file=str(book.file.set_aside_path))
        assert len(book.answer(AskActivity()).rows) == 1


def test_an_event_that_cannot_be_written_is_lost_in_silence(
    tmp_path: Path, book: ActivityDatabase
) -> None:
    book.add(ActivityEvent.PREFERENCES_CHANGED)
    book.file.rows("PRAGMA query_only = 1")
    book.add(ActivityEvent.PREFERENCES_CHANGED)
    book.file.rows("PRAGMA query_only = 0")
    assert len(book.answer(AskActivity()).rows) == 1
    assert book.number == 1
    assert (tmp_path / FILE).exists()


def test_a_long_text_is_cut(book: ActivityDatabase) -> None:
    book.add(ActivityEvent.LEDGER_LOST, problem="x" * 100_000)
    (row,) = book.answer(AskActivity()).rows
    assert row.values["problem"] == "x" * activity.MAX_TEXT


@pytest.mark.parametrize(
    "code", [code for code in ActivityEvent if code is not ActivityEvent.DECIDED]
)
def test_every_event_has_a_sentence_with_its_values(code: ActivityEvent) -> None:
    names = set(re.findall(r"{(\w+)", EVENT_TEMPLATES[code]))
    row = ActivityRow(
        number=1, at_ms=NOW_MS, code=code, values={name: VALUES[name] for name in names}
    )
    sentence = event_sentence(row, local)
    assert sentence.endswith(".")
    assert "{" not in sentence
    if "points" in names:
        assert "1,234 points" in sentence


def test_a_decision_is_said_in_its_own_words() -> None:
    decision = Decision(
        state=LendingState.WAITING,
        reason=LendingReason.GAME,
        values={"program": "chess"},
        until_ms=NOW_MS,
    )
    row = ActivityRow(
        number=1, at_ms=NOW_MS, code=ActivityEvent.DECIDED, values=event_values(decision)
    )
    assert event_decision(row) == decision
    assert event_sentence(row, local) == (
        "Waiting: a game is running (chess). Resumes 60 s after it closes."
    )


@pytest.mark.parametrize(
    "row",
    [
        ActivityRow(number=1, at_ms=1, code="from-the-future", values={"x": 1}),
        ActivityRow(number=1, at_ms=1, code="round-void"),
        ActivityRow(number=1, at_ms=1, code="decided", values={"state": "dancing"}),
    ],
)
def test_what_has_no_words_is_said_to_have_none(row: ActivityRow) -> None:
    assert event_sentence(row, local) == (f"An event that this version does not know ({row.code}).")
