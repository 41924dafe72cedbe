"""The points book: what counts, what is forgotten, and what a broken file costs."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tequio_client.ipc.points import AskLosses, AskPoints, AskSeries
from tequio_client.worker.points import points
from tequio_client.worker.points.points_db import (
    FILE,
    MAX_SET_ASIDE,
    VOIDED,
    DatabaseError,
    DatabaseFile,
    PointsDatabase,
    RoundOutcome,
    RoundPlace,
)
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import Digest, PeerKey, to_text
from tequio_shared.log.notes import Checkpoint

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KEY, OTHER = PeerKey(bytes([1]) * 32), PeerKey(bytes([2]) * 32)
RUN, NEXT_RUN = to_text(bytes([5]) * 32), to_text(bytes([6]) * 32)
DAY_MS = 86_400_000
PAID = RoundOutcome(state="verified", trained=1_000_000, witnessed=50_000)
NOT_SELECTED = RoundOutcome(state="rejected", reason="not-selected")


def place(number: int, run: str = RUN, at_ms: int | None = None) -> RoundPlace:
    at_ms = number * 1_000 if at_ms is None else at_ms
    return RoundPlace(number=number, run=run, run_name="tiny", round=number // 10, at_ms=at_ms)


def checkpoint(size: int) -> Checkpoint:
    return Checkpoint(
        origin="ledger.example/test", size=size, root=Digest(bytes([size % 256]) * 32)
    )


@pytest.fixture
def book(tmp_path: Path) -> Iterator[PointsDatabase]:
    with closing(PointsDatabase.opened(tmp_path, KEY)) as opened:
        yield opened


def states(book: PointsDatabase) -> dict[int, tuple[str, int]]:
    rows = points.read_rounds(book.file, AskPoints()).rows
    return {row.number: (row.state, row.gflop) for row in rows}


def total(book: PointsDatabase) -> int:
    return points.read_sums(book.file, 0).total


def test_a_round_counts_only_when_a_checkpoint_covers_its_end(book: PointsDatabase) -> None:
    book.add_round(place(10))
    assert states(book) == {10: ("pending", 0)}
    book.record_end(place(10), 19, PAID)
    assert (states(book)[10][0], total(book)) == ("pending", 0)
    assert book.mark_proven(RUN, 19, checkpoint(25)) == 0, "the first 19 end before entry 19"
    assert total(book) == 0
    assert book.mark_proven(RUN, 20, checkpoint(25)) == 1
    (row,) = points.read_rounds(book.file, AskPoints()).rows
    assert (row.state, row.gflop, row.trained, row.witnessed) == (
        "verified",
        1_050_000,
        1_000_000,
        50_000,
    )
    assert (row.entry, row.size, row.root) == (19, 25, to_text(checkpoint(25).root))
    assert total(book) == 1_050_000


def test_a_checkpoint_that_proves_nothing_writes_nothing(
    book: PointsDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    book.record_end(place(20, NEXT_RUN), 29, PAID)
    book.forget_unproven(NEXT_RUN)
    book.record_end(place(10), 19, PAID)
    monkeypatch.setattr(DatabaseFile, "writing", None)
    assert book.mark_proven(RUN, 19, checkpoint(19)) == 0
    assert book.mark_proven(NEXT_RUN, 30, checkpoint(30)) == 0
    assert states(book)[20] == ("pending", 0)


def test_a_reader_of_one_run_proves_and_forgets_nothing_of_another(book: PointsDatabase) -> None:
    book.record_end(place(10), 19, PAID)
    book.record_end(place(20, NEXT_RUN), 29, PAID)
    assert book.mark_proven(RUN, 99, checkpoint(99)) == 1
    assert [states(book)[number][0] for number in (10, 20)] == ["verified", "pending"]
    book.forget_unproven(RUN)
    assert book.mark_proven(NEXT_RUN, 99, checkpoint(99)) == 1
    assert states(book)[20] == ("verified", PAID.gflop)


def test_what_was_proven_never_changes(book: PointsDatabase) -> None:
    book.record_end(place(10), 19, PAID)
    book.mark_proven(RUN, 20, checkpoint(20))
    before = points.read_rounds(book.file, AskPoints())
    book.record_end(place(10), 29, VOIDED)
    book.record_proven_end(place(10), 39, VOIDED, checkpoint(50))
    book.mark_proven(RUN, 99, checkpoint(99))
    book.record_proven_end(place(10), 19, PAID, checkpoint(50))
    assert points.read_rounds(book.file, AskPoints()) == before


def test_one_round_is_never_counted_twice(book: PointsDatabase) -> None:
    book.record_proven_end(place(10), 19, PAID, checkpoint(50))
    again = RoundPlace(number=11, run=RUN, run_name="tiny", round=1, at_ms=5)
    book.record_proven_end(again, 29, PAID, checkpoint(50))
    assert total(book) == PAID.gflop


def test_an_end_whose_proof_an_earlier_life_owed_is_forgotten(tmp_path: Path) -> None:
    with closing(PointsDatabase.opened(tmp_path, KEY)) as first:
        first.record_end(place(10), 19, PAID)
        first.record_end(place(20), 29, PAID)
        first.mark_proven(RUN, 20, checkpoint(20))
    with closing(PointsDatabase.opened(tmp_path, KEY)) as second:
        second.mark_proven(RUN, 99, checkpoint(99))
        assert states(second) == {10: ("verified", PAID.gflop), 20: ("pending", 0)}


KILLED = """
import os, signal, sys
from pathlib import Path
from tests.client.worker.points.test_points_db_points_book import KEY, PAID, RUN, checkpoint, place
from tequio_client.worker.points.points_db import PointsDatabase
book = PointsDatabase.opened(Path(sys.argv[1]), KEY)
book.record_end(place(10), 19, PAID)
book.mark_proven(RUN, 20, checkpoint(20))
book.record_end(place(20), 29, PAID)
with book.file.writing() as sql:
    sql.execute("UPDATE round SET state = 'verified', trained = 10")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_kill_in_mid_write_leaves_what_was_written_before(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path)], check=False, env={**os.environ}
    )
    assert done.returncode == -signal.SIGKILL
    with closing(PointsDatabase.opened(tmp_path, KEY)) as book:
        assert book.file.set_aside_path is None
        assert states(book) == {10: ("verified", PAID.gflop), 20: ("pending", 0)}


def damage(path: Path) -> None:
    path.write_bytes(b"no book at all, and long enough for a header" * 100)


def tear(path: Path) -> None:
    """Overwrite pages in the middle, as a failing disk does."""
    raw = bytearray(path.read_bytes())
    raw[4096 : len(raw)] = os.urandom(len(raw) - 4096)
    path.write_bytes(raw)


def make_newer(path: Path) -> None:
    with closing(sqlite3.connect(path)) as sql:
        sql.execute("PRAGMA user_version = 99")


def make_older(path: Path) -> None:
    with closing(sqlite3.connect(path)) as sql:
        sql.execute("PRAGMA user_version = 1")


@pytest.mark.parametrize("harm", [damage, tear, make_newer, make_older])
def test_a_file_that_does_not_fit_is_kept_aside(tmp_path: Path, harm: object) -> None:
    with closing(PointsDatabase.opened(tmp_path, KEY)) as first:
        for number in range(10, 2_000, 10):
            first.record_proven_end(place(number), number + 9, PAID, checkpoint(99))
    assert callable(harm)
    harm(tmp_path / FILE)
    harmed = (tmp_path / FILE).read_bytes()
    with closing(PointsDatabase.opened(tmp_path, KEY)) as second:
        assert states(second) == {}
        assert second.file.set_aside_path is not None
        assert second.file.set_aside_path.read_bytes() == harmed
        second.record_proven_end(place(10), 19, PAID, checkpoint(20))
    with closing(PointsDatabase.opened(tmp_path, KEY)) as third:
        assert third.file.set_aside_path is None
        assert total(third) == PAID.gflop


def test_another_keys_book_is_not_taken_for_ours(tmp_path: Path) -> None:
    with closing(PointsDatabase.opened(tmp_path, KEY)) as mine:
        mine.record_proven_end(place(10), 19, PAID, checkpoint(20))
    with closing(PointsDatabase.opened(tmp_path, OTHER)) as others:
        assert total(others) == 0
        assert others.file.set_aside_path is not None


def test_files_kept_aside_are_few(tmp_path: Path) -> None:
    for _ in range(MAX_SET_ASIDE + 3):
        PointsDatabase.opened(tmp_path, KEY).close()
        damage(tmp_path / FILE)
    PointsDatabase.opened(tmp_path, KEY).close()
    assert len(list(tmp_path.glob(f"{FILE}.kept-*"))) == MAX_SET_ASIDE


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / FILE).mkdir()
    with pytest.raises(UserFacingError, match=FILE):
        PointsDatabase.opened(tmp_path, KEY)
    assert (tmp_path / FILE).is_dir()


def fill(book: PointsDatabase) -> None:
    for number in range(20, 20_000, 10):
        book.record_proven_end(place(number), number + 9, PAID, checkpoint(99))


def test_a_full_disk_is_told_and_nothing_is_half_written(book: PointsDatabase) -> None:
    book.record_proven_end(place(10), 19, PAID, checkpoint(20))
    ((pages,),) = book.file.rows("PRAGMA page_count")
    book.file.rows(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(DatabaseError, match="cannot write"):
        fill(book)
    shown = points.read_sums(book.file, 0)
    assert shown.total % PAID.gflop == 0
    book.file.rows("PRAGMA max_page_count = 1000000")
    book.record_proven_end(place(30_000), 30_009, PAID, checkpoint(40_000))
    assert points.read_sums(book.file, 0).total == shown.total + PAID.gflop


# --- how far the list was looked through


def test_gaps_shrink_and_survive_and_new_ones_lie_above(tmp_path: Path) -> None:
    with closing(PointsDatabase.opened(tmp_path, KEY)) as first:
        first.store_read_below(OTHER, 900)
        first.open_gap(1_000)
        assert first.gaps() == [(0, 1_000)]
        first.narrow_gap(1_000, 400)
    with closing(PointsDatabase.opened(tmp_path, KEY)) as second:
        second.open_gap(1_500)
        assert second.gaps() == [(1_000, 1_500), (0, 400)]
        second.narrow_gap(1_500, 1_000)
        assert second.gaps() == [(0, 400)]
        second.narrow_gap(400, 0)
        second.open_gap(1_500)
        assert second.gaps() == []
        assert second.read_below(OTHER) == 900
        second.reopen_all()
        assert second.read_below(OTHER) == 0
        second.open_gap(1_500)
        assert second.gaps() == [(0, 1_500)]


# --- what it answers


def test_rounds_come_newest_first_in_pages(book: PointsDatabase) -> None:
    for number in (30, 10, 20, 40):
        book.add_round(place(number, NEXT_RUN if number == 20 else RUN))
    page = points.read_rounds(book.file, AskPoints(limit=3))
    assert ([row.number for row in page.rows], page.has_more) == ([40, 30, 20], True)
    page = points.read_rounds(book.file, AskPoints(limit=3, before=20))
    assert ([row.number for row in page.rows], page.has_more) == ([10], False)
    one = points.read_rounds(book.file, AskPoints(run=NEXT_RUN))
    assert [row.number for row in one.rows] == [20]
    late = points.read_rounds(book.file, AskPoints(since_ms=30_000))
    assert [row.number for row in late.rows] == [40, 30]
    book.record_work(30, "cuda:0", 5, None)
    ours = points.read_rounds(book.file, AskPoints(device="cuda:0"))
    assert [row.device for row in ours.rows] == ["cuda:0"]


def test_sums_know_today(book: PointsDatabase) -> None:
    midnight = 10 * DAY_MS
    book.record_proven_end(place(10, at_ms=midnight - 1), 19, PAID, checkpoint(99))
    book.record_proven_end(place(20, at_ms=midnight), 29, PAID, checkpoint(99))
    book.record_proven_end(place(30, at_ms=midnight - 1), 39, NOT_SELECTED, checkpoint(99))
    book.record_proven_end(place(40, at_ms=midnight + 1), 49, VOIDED, checkpoint(99))
    book.add_round(place(50, at_ms=midnight))
    book.record_end(place(60, at_ms=midnight), 69, PAID)
    each = PAID.gflop
    assert points.read_sums(book.file, midnight) == points.PointsTotals(
        today=each, total=2 * each, pending=2, rejected=1
    )
    assert book.verified_below(29) == each
    assert book.verified_below(30) == 2 * each


def test_a_series_adds_up_by_steps(book: PointsDatabase) -> None:
    for day, number in enumerate((10, 20, 30)):
        book.record_proven_end(
            place(number, at_ms=5 + day * 2 * DAY_MS), number + 9, PAID, checkpoint(99)
        )
        book.record_work(number, "cuda:0", 7, 2.5)
        book.add_energy(number, 100.0)
    book.record_work(20, "cpu", 7, 2.25)
    found = points.read_series(book.file, AskSeries(), now_ms=5 * DAY_MS)
    each = PAID.gflop
    assert (found.since_ms, found.step_ms) == (5, DAY_MS)
    assert found.verified == (each, 0, each, 0, each)
    assert found.energy_j == (100.0, 0.0, 100.0, 0.0, 100.0)
    on_cpu = points.read_series(book.file, AskSeries(device="cpu", since_ms=5), 5 * DAY_MS)
    assert on_cpu.verified == (0, 0, each, 0, 0)


def test_a_clock_that_was_set_back_loses_no_points(book: PointsDatabase) -> None:
    book.record_proven_end(place(10, at_ms=100 * DAY_MS), 19, PAID, checkpoint(99))
    found = points.read_series(book.file, AskSeries(since_ms=DAY_MS), now_ms=3 * DAY_MS)
    assert found.verified == (0, 0, PAID.gflop)
    first = points.read_series(book.file, AskSeries(), now_ms=3 * DAY_MS)
    assert first.verified == (PAID.gflop,)


def test_a_long_series_is_given_in_longer_steps(book: PointsDatabase) -> None:
    book.record_proven_end(place(10, at_ms=60_000), 19, PAID, checkpoint(99))
    found = points.read_series(book.file, AskSeries(since_ms=1, step_ms=60_000), 400 * DAY_MS)
    assert len(found.verified) <= points.STEPS
    assert found.step_ms % 60_000 == 0
    assert sum(found.verified) == PAID.gflop


def test_losses_are_those_of_the_run_oldest_first(book: PointsDatabase) -> None:
    for number in (10, 20, 30):
        book.add_round(place(number))
    book.record_work(10, "cpu", 7, 2.5)
    book.record_work(30, "cpu", 7, 2.0)
    found = points.read_losses(book.file, AskLosses(run=RUN)).rows
    assert [(row.round, row.loss) for row in found] == [(1, 2.5), (3, 2.0)]
    assert points.read_losses(book.file, AskLosses(run=RUN, limit=1)).rows == found[1:]
    assert points.read_losses(book.file, AskLosses(run=NEXT_RUN)).rows == ()


def test_the_first_round_of_a_run_is_the_first_with_proven_points(book: PointsDatabase) -> None:
    assert points.first_rounds(book.file) == {}
    for number, outcome in ((10, NOT_SELECTED), (30, PAID), (20, PAID)):
        book.add_round(place(number))
        book.record_proven_end(place(number), number + 9, outcome, checkpoint(99))
    book.add_round(place(5, NEXT_RUN))
    book.record_end(place(5, NEXT_RUN), 9, PAID)
    assert points.first_rounds(book.file) == {RUN: 2}, "the other is not proven yet"
    book.mark_proven(NEXT_RUN, 10, checkpoint(99))
    assert points.first_rounds(book.file) == {RUN: 2, NEXT_RUN: 0}
    assert points.points_by_run(book.file) == {RUN: 2 * PAID.gflop, NEXT_RUN: PAID.gflop}


def test_sums_and_first_rounds_read_no_settled_round_of_earlier_days(book: PointsDatabase) -> None:
    asked: list[str] = []
    with book.file.writing() as sql:
        sql.set_trace_callback(asked.append)
    points.read_sums(book.file, DAY_MS)
    points.first_rounds(book.file)
    points.points_by_run(book.file)
    with book.file.writing() as sql:
        sql.set_trace_callback(None)
    explained = ["EXPLAIN QUERY PLAN " + one for one in asked if one.startswith("SELECT")]
    steps = [row["detail"] for one in explained for row in book.file.rows(one)]
    assert sorted(step.partition(" round USING ")[2] for step in steps if " round " in step) == [
        "COVERING INDEX round_state (state=?)",
        *["INDEX round_at (at_ms>?)"] * 2,
    ], "only those of today, and those that are pending"


def test_every_change_is_counted(book: PointsDatabase) -> None:
    seen = [book.changes]
    book.add_round(place(10))
    seen.append(book.changes)
    book.record_end(place(10), 19, PAID)
    seen.append(book.changes)
    book.mark_proven(RUN, 20, checkpoint(20))
    seen.append(book.changes)
    assert seen == sorted(set(seen))
    book.mark_proven(RUN, 30, checkpoint(30))
    book.add_round(place(10))
    assert book.changes == seen[-1], "nothing changed"


def fail_in_the_middle(file: DatabaseFile) -> None:
    with file.writing() as sql:
        sql.execute("INSERT INTO one VALUES (2)")
        raise KeyError


def test_a_transaction_that_fails_leaves_nothing(tmp_path: Path) -> None:
    schema = "CREATE TABLE one (n INTEGER NOT NULL)"
    with closing(DatabaseFile(tmp_path / "x.sqlite", schema, version=1)) as file:
        with file.writing() as sql:
            sql.execute("INSERT INTO one VALUES (1)")
        with pytest.raises(KeyError):
            fail_in_the_middle(file)
        assert [row["n"] for row in file.rows("SELECT n FROM one")] == [1]
