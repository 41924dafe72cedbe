"""A command that has a trainer forked stands for it: they have one end and one exit status."""

from __future__ import annotations

import os
import signal
import subprocess

import pytest

from tests.support import fork_service
from tests.support.confined import CONFINED

WITHIN_S = 60.0


def started() -> subprocess.Popen[bytes]:
    """A trainer that has written its first line."""
    command = (*fork_service.trainer_command(), "json")
    program = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, **CONFINED}
    )
    assert program.stdout
    assert program.stdout.readline()
    return program


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_trainer_ends_with_its_command(number: signal.Signals) -> None:
    with started() as program:
        program.send_signal(number)
        assert program.wait(WITHIN_S) == -number
        assert program.stdout
        program.stdout.read()  # to its end: the trainer alone had the other side


def test_the_exit_status_is_the_trainers() -> None:
    with started() as program:
        program.communicate(timeout=WITHIN_S)  # the end of its input
        assert program.returncode == 0
    command = (*fork_service.trainer_command("tests.support.no_module"), "json")
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    assert ended.returncode == 1
    assert b"no_module" in ended.stderr
