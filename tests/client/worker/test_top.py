"""`tequio top`: what it shows, in a real terminal too."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest
import trio
from rich.console import Console

from tequio_client.ipc.points import PointsRow
from tequio_client.ipc.snapshot import (
    AuditsView,
    CurrentRoundView,
    LedgerView,
    PointsView,
    Snapshot,
    TrafficView,
    TrainerView,
)
from tequio_client.ipc.texts import LocalTime
from tequio_client.worker import top
from tequio_shared.errors import UserFacingError
from tests.support.recording_worker import served
from tests.support.terminals import in_terminal

if TYPE_CHECKING:
    from pathlib import Path

ROW = PointsRow(
    number=1, run="r", run_name="tiny", round=41, at_ms=0, state="verified", gflop=1_230_000
)


def utc(at_ms: int) -> LocalTime:
    return LocalTime(weekday="", date="", time=str(at_ms))


def seen(shown: Snapshot, *rows: PointsRow, width: int = 120) -> str:
    console = Console(file=io.StringIO(), width=width, record=True)
    console.print(top.render(shown, rows, utc))
    return console.export_text()


def test_it_shows_devices_points_and_traffic() -> None:
    current = CurrentRoundView(
        run_name="tiny", number=42, rounds=60, role="trainer", done_percent=50, loss=3.25
    )
    auditing = TrainerView(
        device="cuda:1", state="computing", round=current, audits=AuditsView(ordered_round=40)
    )
    shown = Snapshot(
        points=PointsView(total=50_000, today=20_000, pending=3, per_day=100_000),
        line=TrafficView(up_bytes_per_s=1_500_000, month_bytes=2 * 10**9, month_cap_bytes=10**11),
        ledger=LedgerView(url="https://ledger.example.org"),
        trainers=(
            TrainerView(device="cuda:0", state="computing", round=current, resident_mb=1_234),
            auditing,
            TrainerView(device="cpu", state="off"),
        ),
    )
    text = seen(shown, ROW)
    assert "ledger.example.org (does not answer)" in text
    assert "1.5 MB/s up" in text
    assert "2.0 of 100 GB this month" in text
    assert "5.00 verified, 2.00 of them today; 3 rounds pending; about 10.0 a day" in text
    lines = text.splitlines()
    first, second, third = (
        next(one for one in lines if name in one) for name in ("cuda:0", "cuda:1", "cpu")
    )
    assert all(part in first for part in ("tiny", "42 of 60", "trainer", "3.250", "1,234 MiB"))
    assert "auditor" in second
    assert third.split() == ["cpu", "off"]
    assert any("41" in one and "verified" in one and "123" in one for one in lines)


def test_a_reason_is_in_words_and_names_are_no_markup() -> None:
    row = PointsRow(
        number=1, run="r", run_name="[red]tiny", round=7, at_ms=0, state="rejected", reason="copy"
    )
    text = seen(Snapshot(), row, width=160)
    assert "[red]tiny" in text
    assert "rejected: the contribution was nearly the same as an earlier one" in text


def test_without_a_terminal_it_names_status(tmp_path: Path) -> None:
    with pytest.raises(UserFacingError, match="tequio status"):
        top.watch(tmp_path, Console(file=io.StringIO()), utc)


@pytest.mark.trio
async def test_in_a_terminal_it_follows_the_worker_until_ctrl_c(tmp_path: Path) -> None:
    async with served(tmp_path) as worker:
        worker.points, worker.rows = PointsView(total=70_000), (ROW,)

        def follow() -> int:
            with in_terminal("top", "--dir", str(tmp_path)) as terminal:
                terminal.read_until(b"7.00 verified")
                worker.points = PointsView(total=90_000)
                terminal.read_until(b"9.00 verified")
                return terminal.interrupt()

        assert await trio.to_thread.run_sync(follow) == 0
