"""Forked programs behave as started ones: output, exit status, signals, and their end."""

from __future__ import annotations

import os
import resource
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

SLEEP_S = 30.0
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
    assert "these" in done.stderr
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


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_programs_end_with_their_starter(tmp_path: Path, number: signal.Signals) -> None:
    command = [sys.executable, "-W", "ignore", "-c", STARTER, str(tmp_path)]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=Path(__file__).parents[2],
        start_new_session=True,
    ) as starter:
        assert starter.stdout is not None
        pid = int(starter.stdout.readline())
        os.killpg(starter.pid, number)  # as a terminal does
    _wait_until(lambda: not psutil.pid_exists(pid))


def test_a_program_that_has_closed_its_streams_is_killed_in_time(tmp_path: Path) -> None:
    setup = (f"{__name__}:close_streams_and_sleep", "")
    program = ForkedProgram(LEDGER, "--version", stderr=subprocess.PIPE, setup=setup)
    begun = time.monotonic()
    with pytest.raises(subprocess.TimeoutExpired):
        program.communicate(0.2)
    assert program.poll() == -signal.SIGKILL
    assert time.monotonic() - begun < SLEEP_S


def close_streams_and_sleep(_: str) -> None:
    os.close(2)
    time.sleep(SLEEP_S)


def test_limits_of_open_files_are_those_of_the_starter() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft - 1, hard))
    try:
        setup = (f"{__name__}:print_limits", "")
        program = ForkedProgram(LEDGER, "--version", stdout=subprocess.PIPE, setup=setup)
        assert program.communicate(30)[0].startswith(f"{soft - 1} {hard}\n")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def print_limits(_: str) -> None:
    sys.stdout.write("{} {}\n".format(*resource.getrlimit(resource.RLIMIT_NOFILE)))


def _wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + allowed_s(10)
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)
