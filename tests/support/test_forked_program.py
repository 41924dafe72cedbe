"""Forked programs behave as started ones: output, exit status, signals, and their end."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from tests.support.forked_program import CLIENT, LEDGER, ForkedProgram, run_forked
from tests.support.ledgers import served
from tests.support.timing_slack import allowed_s

if TYPE_CHECKING:
    from collections.abc import Callable

STARTER = """
import sys
from pathlib import Path
from tests.support.ledgers import served
with served(Path(sys.argv[1])) as program:
    print(program.process.pid, flush=True)
    sys.stdin.read()
"""


def test_output_and_exit_status_are_those_of_the_command() -> None:
    done = run_forked(LEDGER, "--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("tequio-ledger/")
    refused = run_forked(CLIENT, "seed", "--no-such-option")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "--no-such-option" in refused.stderr


def test_input_and_environment_reach_the_program(tmp_path: Path) -> None:
    words = ("key", "restore", "--dir", str(tmp_path / "key"), "--keep", "open", "--stdin")
    done = run_forked(CLIENT, *words, stdin="these are not the words of a key\n")
    assert done.returncode == 1
    assert done.stderr.startswith("tequio: ")
    env = {"TEQUIO_LEDGER_LOG_LEVEL": "loud", "PATH": ""}
    assert "loud" in run_forked(LEDGER, "serve", "--dir", str(tmp_path / "ledger"), env=env).stderr


def test_a_program_that_cannot_be_imported_is_named_and_others_start() -> None:
    with pytest.raises(RuntimeError, match=r"no\.such\.program"):
        run_forked("no.such.program")
    assert run_forked(LEDGER, "--version").returncode == 0


def test_a_signal_is_the_exit_status_and_a_wait_has_an_end(tmp_path: Path) -> None:
    with served(tmp_path) as ledger:
        assert ledger.process.poll() is None
        with pytest.raises(subprocess.TimeoutExpired):
            ledger.process.wait(0.05)
        ledger.process.kill()
        assert ledger.process.wait(10) == ledger.process.poll() == -signal.SIGKILL
        ledger.process.terminate()  # does nothing: it has ended


def test_a_block_ends_its_program(tmp_path: Path) -> None:
    words = ("--dir", str(tmp_path), "--network", "test", "--port", "0")
    with ForkedProgram(LEDGER, "serve", *words, stderr=subprocess.PIPE) as program:
        assert psutil.pid_exists(program.pid)
    assert program.returncode == -signal.SIGKILL
    assert not psutil.pid_exists(program.pid)


def test_programs_end_with_a_starter_that_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "ignore", "-c", STARTER, str(tmp_path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]
    ) as starter:
        assert starter.stdout is not None
        pid = int(starter.stdout.readline())
        starter.kill()
    _wait_until(lambda: not psutil.pid_exists(pid))


def _wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + allowed_s(10)
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)
