"""Points in each state: sums, rounds with their filters and check marks, and the export."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QItemSelectionModel, QModelIndex, Qt

from tequio_client.app.pages.page import PageContext
from tequio_client.app.pages.points import PointsPage
from tequio_client.app.pages.rounds import RoundDialog
from tequio_client.app.pages.rounds_model import ROUNDS_PAGE, RoundsColumn, RoundsRole, is_checked
from tequio_client.app.widgets import figures
from tequio_client.ipc import control, texts
from tequio_client.ipc.points import AskPoints, AskSeries, PointsReply, PointsRow
from tests.support import app_worker_answers
from tests.support.app_pages import open_page, show_snapshot
from tests.support.app_scenes import LENDING, SCENES, no_replies
from tests.support.window_contents import settle

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from tests.support.app_worker import ScriptedWorker

pytestmark = pytest.mark.usefixtures("theme", "language")
PENDING, VERIFIED = app_worker_answers.ROWS[0], app_worker_answers.ROWS[4]
REJECTED = next(row for row in app_worker_answers.ROWS if row.reason == "norm")


@pytest.fixture
def page(context: PageContext, qtbot: QtBot) -> PointsPage:
    return open_page(PointsPage(context), qtbot)


def test_before_the_worker_speaks_nothing_is_claimed(page: PointsPage) -> None:
    assert page.sums.total.figure.text() == "–"
    assert page.sums.vesting.figure.text() == "–"
    assert not page.banner.isVisible()
    assert page.rounds.empty.isVisible()


def test_sums_are_those_of_the_worker(page: PointsPage, worker: ScriptedWorker) -> None:
    points = replace(LENDING.points, rejected=2)
    show_snapshot(page, worker, replace(LENDING, points=points))
    sums = page.sums
    assert (sums.total.figure.text(), sums.total.note.text()) == ("18,930", "412 today")
    assert sums.total.toolTip() == "18,930.4021 points\nabout what an RTX 3060 does in 6 h"
    assert (sums.pending.figure.text(), sums.pending.note.text()) == (
        "3",
        "Rounds that are not proven yet",
    )
    assert (sums.rejected.figure.text(), sums.rejected.note.text()) == (
        "2",
        "Rounds that gave nothing",
    )


def test_points_that_can_still_be_lost_are_told(page: PointsPage, worker: ScriptedWorker) -> None:
    show_snapshot(page, worker)
    vesting = page.sums.vesting
    assert vesting.figure.text() == "1,204"
    assert vesting.note.text() == "Final after a few more rounds"
    assert "1,204 of your points are still vesting" in vesting.toolTip()
    lost = replace(LENDING.points, unvested=0, forfeited=25_000)
    show_snapshot(page, worker, replace(LENDING, points=lost))
    assert (vesting.figure.text(), vesting.note.text()) == ("0", "2.50 were forfeited")
    assert vesting.toolTip().endswith("2.50 more were forfeited, and are no longer counted.")
    show_snapshot(page, worker, replace(LENDING, points=replace(lost, forfeited=0)))
    assert vesting.note.text() == "All points are final"
    assert vesting.toolTip() == "0 points"


def test_what_only_the_ledger_says_is_explained_and_not_counted(
    page: PointsPage, worker: ScriptedWorker
) -> None:
    show_snapshot(page, worker, replace(LENDING, points=replace(LENDING.points, unverified=20_001)))
    assert page.banner.isVisible()
    assert "2.00 more points" in page.banner.words.text()
    assert "not counted here" in page.banner.words.text()
    assert page.sums.total.figure.text() == "18,930"
    show_snapshot(page, worker)
    assert not page.banner.isVisible()


def test_a_worker_that_is_gone_is_told(page: PointsPage, worker: ScriptedWorker) -> None:
    show_snapshot(page, worker)
    worker.gone.emit("The worker ended five times")
    page.refresh()
    assert page.banner.words.text() == "The worker ended five times"
    assert page.rounds.table.rows.rowCount() == ROUNDS_PAGE


# --- rounds


def test_a_verified_round_has_all_its_cells(page: PointsPage, worker: ScriptedWorker) -> None:
    show_snapshot(page, worker)
    row, cells = VERIFIED, _cells(page, 4)
    assert cells[RoundsColumn.ROUND] == ("nova-350m", "Round 1,837")
    assert cells[RoundsColumn.STATE] == ("Verified", "")
    assert cells[RoundsColumn.WORK] == ("RTX 4070", "983,040 tokens")
    assert cells[RoundsColumn.POINTS][0] == figures.short_points(row.gflop)
    assert cells[RoundsColumn.POINTS][1].endswith(" as witness")
    assert cells[RoundsColumn.ENERGY][0].endswith("Wh")


def test_a_pending_round_claims_no_points(page: PointsPage, worker: ScriptedWorker) -> None:
    show_snapshot(page, worker)
    cells = _cells(page, 0)
    assert cells[RoundsColumn.STATE] == ("Pending", "")
    assert cells[RoundsColumn.POINTS] == ("–", "")


@pytest.mark.parametrize("reason", texts.ROUND_REASON_TEXTS)
def test_a_rejected_round_says_why(page: PointsPage, worker: ScriptedWorker, reason: str) -> None:
    worker.replies[AskPoints] = PointsReply(rows=(replace(REJECTED, reason=reason),))
    show_snapshot(page, worker)
    assert _cells(page, 0)[RoundsColumn.STATE] == ("Rejected", texts.ROUND_REASON_TEXTS[reason])


@pytest.mark.parametrize(
    ("changes", "has_mark"),
    [
        ({}, True),
        ({"entry": None}, False),
        ({"size": None}, False),
        ({"state": "pending"}, False),
        ({"state": "rejected", "reason": "norm"}, False),
        ({"entry": 0, "size": 1}, True),
    ],
)
def test_the_check_mark_stands_only_where_this_worker_has_checked_the_proof(
    page: PointsPage, worker: ScriptedWorker, changes: dict[str, object], *, has_mark: bool
) -> None:
    row: PointsRow = replace(VERIFIED, **changes)
    worker.replies[AskPoints] = PointsReply(rows=(row,))
    show_snapshot(page, worker)
    mark = _index(page, 0, RoundsColumn.PROOF)
    assert is_checked(row) == has_mark
    assert (mark.data(RoundsRole.PICTURE) == "badge-check") == has_mark
    spoken = str(mark.data(Qt.ItemDataRole.AccessibleTextRole))
    assert spoken.startswith("Proof checked by this computer" if has_mark else "No proof")


def test_a_click_on_the_mark_opens_what_was_checked(
    page: PointsPage, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    show_snapshot(page, worker)
    opened: list[PointsRow] = []
    page.rounds.table.opened.connect(opened.append)
    for row, column in ((4, RoundsColumn.ROUND), (0, RoundsColumn.PROOF), (4, RoundsColumn.PROOF)):
        _click(page, qtbot, row, column)
    assert opened == [VERIFIED]
    dialog = page.findChild(RoundDialog)
    assert dialog is not None
    assert "Log entry: 48,017" in dialog.text
    dialog.close()


def test_enter_opens_any_round(page: PointsPage, worker: ScriptedWorker, qtbot: QtBot) -> None:
    show_snapshot(page, worker)
    table = page.rounds.table
    opened: list[PointsRow] = []
    table.opened.disconnect()
    table.opened.connect(opened.append)
    table.setFocus()
    flags = QItemSelectionModel.SelectionFlag.SelectCurrent
    table.selectionModel().setCurrentIndex(_index(page, 0, RoundsColumn.ROUND), flags)
    qtbot.keyClick(table, Qt.Key.Key_Return)
    assert opened == [PENDING]


def test_scrolling_down_reads_on_to_the_last_round(
    page: PointsPage, worker: ScriptedWorker
) -> None:
    show_snapshot(page, worker)
    bar = page.verticalScrollBar()
    assert page.rounds.table.rows.rowCount() == ROUNDS_PAGE
    for _ in range(len(app_worker_answers.ROWS) // ROUNDS_PAGE):
        settle()
        bar.setValue(bar.maximum())
    assert page.rounds.table.rows.rowCount() == len(app_worker_answers.ROWS)
    assert not page.rounds.foot.isVisible()
    table = page.rounds.table
    assert table.height() >= len(app_worker_answers.ROWS) * table.rowHeight(0)


def test_more_rounds_below_leave_the_view_where_it_is(
    page: PointsPage, worker: ScriptedWorker
) -> None:
    show_snapshot(page, worker)
    bar = page.verticalScrollBar()
    settle()
    bar.setValue(1_000)
    page.reader.read_older()
    settle()
    assert bar.value() == 1_000


def test_the_row_with_the_keyboard_is_kept_in_sight(
    page: PointsPage, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    show_snapshot(page, worker)
    settle()
    page.activateWindow()
    table = page.rounds.table
    table.setFocus()
    qtbot.waitUntil(table.hasFocus)
    table.setCurrentIndex(_index(page, 0, RoundsColumn.ROUND))
    for _ in range(30):
        qtbot.keyClick(table, Qt.Key.Key_Down)
    assert table.currentIndex().row() == 30
    place = table.visualRect(table.currentIndex())
    at = table.viewport().mapTo(page.viewport(), place.center())
    assert 0 < at.y() < page.viewport().height()


def test_filters_narrow_rounds_and_chart(page: PointsPage, worker: ScriptedWorker) -> None:
    show_snapshot(page, worker)
    while page.reader.has_more:
        page.reader.read_older()
    run, device = page.rounds.run, page.rounds.device
    assert [run.itemText(at) for at in range(run.count())] == [
        "All runs",
        "nova-350m",
        "cuentos-124m",
    ]
    assert [device.itemText(at) for at in range(device.count())] == [
        "All devices",
        "Processor",
        "RTX 4070",
    ]
    device.setCurrentIndex(1)
    device.activated.emit(1)
    rows = page.reader.rows or ()
    assert rows
    assert {row.device for row in rows} == {"cpu"}
    last = worker.last(control.AskQuestion)
    assert isinstance(last, control.AskQuestion)
    assert isinstance(last.question, AskSeries)
    assert last.question.device == "cpu"
    run.setCurrentIndex(2)
    run.activated.emit(2)
    assert {row.run for row in page.reader.rows or ()} == {app_worker_answers.OTHER}


def test_filters_that_nothing_fits_say_so(page: PointsPage, worker: ScriptedWorker) -> None:
    show_snapshot(page, worker)
    worker.replies[AskPoints] = app_worker_answers.no_points
    page.rounds.filter_changed.emit(app_worker_answers.OURS, "cpu")
    assert page.rounds.empty.isVisible()
    assert page.rounds.empty.words.text() == "No round of that run was worked in on that device."


def test_without_any_round_it_says_what_will_stand_here(
    page: PointsPage, worker: ScriptedWorker
) -> None:
    worker.replies = no_replies()
    show_snapshot(page, worker, SCENES["new"])
    assert "Each round that this computer takes part in" in page.rounds.empty.words.text()
    assert page.sums.total.figure.text() == "0"
    assert page.range.chart.accessibleDescription() == "No points were verified in this time."


def test_rounds_that_cannot_be_had_can_be_asked_for_again(
    page: PointsPage, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    worker.replies[AskPoints] = "the points book cannot be read"
    show_snapshot(page, worker)
    assert page.rounds.empty.words.text() == "the points book cannot be read"
    worker.replies[AskPoints] = app_worker_answers.points
    qtbot.mouseClick(page.rounds.empty.button, Qt.MouseButton.LeftButton)
    assert page.rounds.table.isVisible()


def test_a_round_that_is_proven_changes_at_once(page: PointsPage, worker: ScriptedWorker) -> None:
    show_snapshot(page, worker)
    proven = replace(PENDING, state="verified", gflop=5, trained=5, entry=9, size=10, root="r")
    worker.replies[AskPoints] = PointsReply(rows=(proven, *app_worker_answers.ROWS[1:ROUNDS_PAGE]))
    show_snapshot(page, worker)
    assert _cells(page, 0)[RoundsColumn.STATE][0] == "Pending", "nothing was said to have changed"
    show_snapshot(page, worker, replace(LENDING, rounds=LENDING.rounds + 1))
    assert _cells(page, 0)[RoundsColumn.STATE] == ("Verified", "")
    assert _cells(page, 0)[RoundsColumn.POINTS][0] == "0.0005"


def test_an_export_is_told_with_its_file(
    page: PointsPage, worker: ScriptedWorker, tmp_path: Path
) -> None:
    show_snapshot(page, worker)
    page.write_file(str(tmp_path / "points.csv"))
    assert page.toast.words.text() == "1,204 rounds written to points.csv"
    assert page.export.isEnabled()
    page.write_file(str(tmp_path / "absent" / "points.csv"))
    assert "was not written" in page.toast.words.text()
    assert page.export.isEnabled()


def _index(page: PointsPage, row: int, column: RoundsColumn) -> QModelIndex:
    return page.rounds.table.rows.index(row, column)


def _cells(page: PointsPage, row: int) -> dict[RoundsColumn, tuple[str, str]]:
    return {
        column: (
            str(_index(page, row, column).data() or ""),
            str(_index(page, row, column).data(RoundsRole.NOTE) or ""),
        )
        for column in RoundsColumn
    }


def _click(page: PointsPage, qtbot: QtBot, row: int, column: RoundsColumn) -> None:
    table = page.rounds.table
    spot = table.visualRect(_index(page, row, column)).center()
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=spot)
