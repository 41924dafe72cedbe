"""Where the first app is known by: a place that no other user can take."""

from __future__ import annotations

import ctypes
import os
import stat
import subprocess
import sys
from typing import TYPE_CHECKING
from unittest.mock import Mock

import pytest

from tequio_client.app.application import SingleInstance, instance_path

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no user shares the runtime folder")
@pytest.mark.qt_log_ignore("QStandardPaths")
def test_without_a_runtime_folder_of_our_own_the_place_is_in_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    """Somebody else may have laid the runtime folder, and may write in the one for all."""
    name = pytest.importorskip("pwd").getpwuid(os.geteuid()).pw_name
    laid = tmp_path / f"runtime-{name}"
    laid.mkdir()
    laid.chmod(0o777)
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    folder = tmp_path / "new" / "worker"
    place = instance_path(folder)
    assert place.startswith(f"{folder}/")
    first, second = SingleInstance(place), SingleInstance(place)
    assert first.acquire()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert not second.acquire()
    first.close()
    assert second.acquire()
    second.close()


HAND_OVER = """
import sys
from PySide6.QtCore import QCoreApplication
from tequio_client.app.application import SingleInstance
qt = QCoreApplication([])
second = SingleInstance(sys.argv[1])
print(second.acquire(), second.notify_first(sys.argv[2]))
"""


def test_a_start_with_a_link_hands_it_to_the_first(tmp_path: Path, qtbot: QtBot) -> None:
    place, link = str(tmp_path / "i"), "tequio://join?ledger=http://ä.example&key=" + "k" * 900
    first = SingleInstance(place)
    assert first.acquire()
    command = [sys.executable, "-c", HAND_OVER, place, link]
    with qtbot.waitSignal(first.link_received, timeout=60_000) as heard:
        second = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert heard.args == [link]
    assert second.communicate(timeout=60)[0].split() == ["False", "True"]
    first.close()


MAKE_CYCLES = """
import threading, weakref
from PySide6.QtCore import QTimer
from tequio_client.app.application import make_application

class Cycle:
    def __init__(self):
        self.itself = self

ended_in = set()

def work():
    for _ in range(5_000):
        weakref.finalize(Cycle(), lambda: ended_in.add(threading.current_thread().name))

qt = make_application()
thread = threading.Thread(target=work, name="another")
thread.start()
thread.join()
watch = QTimer(interval=50)
watch.timeout.connect(lambda: ended_in and qt.quit())
watch.start()
qt.exec()
print(*ended_in)
"""


def test_a_cycle_that_another_thread_made_ends_in_the_thread_of_qt() -> None:
    command = [sys.executable, "-c", MAKE_CYCLES]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["MainThread"]


def test_a_start_lets_the_first_come_to_the_front_of_windows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user32 = Mock()
    monkeypatch.setattr(ctypes, "WinDLL", {"user32": user32}.__getitem__, raising=False)
    monkeypatch.setattr(sys, "platform", "win32")
    SingleInstance(str(tmp_path / "i")).notify_first()
    (process,) = user32.AllowSetForegroundWindow.call_args.args
    assert process.value == 0xFFFFFFFF  # any
