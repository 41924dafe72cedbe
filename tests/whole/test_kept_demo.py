"""`tequio demo --keep-running`: a network to join, until Ctrl-C."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from tests.support.real_network import left_over

if TYPE_CHECKING:
    from pathlib import Path

PATIENCE_S = 240


@pytest.mark.whole
def test_a_demo_that_is_kept_running_names_its_ledger_and_ends_by_a_signal(tmp_path: Path) -> None:
    folder = tmp_path / "network"
    command = [sys.executable, "-m", "tequio_client", "demo", "--quick", "--keep-running"]
    with subprocess.Popen(
        [*command, "--peers", "2", "--dir", str(folder)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        guard = threading.Timer(PATIENCE_S, process.kill)
        guard.start()
        try:
            assert process.stderr is not None
            seen = ""
            for line in process.stderr:
                seen += line
                if "round 2 of" in line:
                    break
            assert "at http://127.0.0.1:" in seen
            process.send_signal(signal.SIGINT)
            process.stderr.read()
            assert process.wait(30) == 0, seen
        finally:
            guard.cancel()
            process.kill()
    assert not left_over(folder)
