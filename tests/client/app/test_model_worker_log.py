"""The worker's log, into which its trainer writes too, has an end where its writers append."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from tequio_client.app.worker.connection import ChildTransport, WorkerLimits

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

MOST = 1 << 16
FLOOD = """
import sys, time
for number in range(200):
    sys.stderr.write(f"{number:0199}\\n" * 20)
    time.sleep(0.005)
sys.exit("tequio: that was all")
"""


def flood(folder: Path, qtbot: QtBot) -> list[str]:
    limits = WorkerLimits(log_bytes=MOST, log_check_ms=20)
    child = ChildTransport((sys.executable, "-S", "-c", FLOOD), folder, limits=limits)
    with qtbot.waitSignal(child.ended, timeout=30_000) as ended:
        child.start()
    return list(ended.args or ())


def test_a_flood_is_cut_and_the_last_words_stay(tmp_path: Path, qtbot: QtBot) -> None:
    assert flood(tmp_path, qtbot) == ["that was all"]
    log, aside = tmp_path / "worker.log", tmp_path / "worker.log.1"
    lines = [*aside.read_text().splitlines(), *log.read_text().splitlines()]
    assert lines[-1] == "tequio: that was all"
    assert log.stat().st_size + aside.stat().st_size < 200 * 20 * 200 // 2
    assert aside.stat().st_size < 2 * MOST, "and what came while it was written"
    assert b"\0" not in log.read_bytes()


def test_on_windows_a_log_is_not_cut_under_those_who_write_it(
    tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert flood(tmp_path, qtbot) == ["that was all"]
    assert not (tmp_path / "worker.log.1").exists()
