"""Programs that are told to stop: last words are waited for, but not for long, and not twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from tequio_client.worker.shutdown import BEFORE_STOP_S

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals")

PROGRAM = """
import sys, trio
from tequio_client.worker.shutdown import StoppableProgram
from tequio_shared.errors import PeerError

async def words():
    print("speaking", flush=True)
    if sys.argv[1] == "fails":
        raise PeerError("nobody listens")
    await trio.sleep(0 if sys.argv[1] == "quick" else 60)
    print("spoken", flush=True)

async def program():
    print("running", flush=True)
    try:
        await trio.sleep_forever()
    finally:
        print("closed", flush=True)

stopping = StoppableProgram()
stopping.before_stop = words
trio.run(stopping.run, program)
"""


def stopped(words: str, signals: int) -> tuple[list[str], float]:
    """What a program says that is sent so many signals, and how long it goes on after the first."""
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM, words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = iter(line for line in process.stdout if line[0] != "2")  # without the log
        said = [next(lines)]
        begun = time.monotonic()
        process.send_signal(signal.SIGTERM)
        said.append(next(lines))
        if signals > 1:
            process.send_signal(signal.SIGINT)
        said += lines
        assert process.wait(30) == 0
        return [line.strip() for line in said], time.monotonic() - begun


def test_last_words_are_waited_for_and_then_all_is_closed() -> None:
    said, _ = stopped("quick", 1)
    assert said == ["running", "speaking", "spoken", "closed"]


def test_last_words_that_fail_stop_nothing() -> None:
    said, _ = stopped("fails", 1)
    assert said == ["running", "speaking", "closed"]


def test_last_words_that_take_too_long_are_cut_short() -> None:
    said, seconds = stopped("long", 1)
    assert said == ["running", "speaking", "closed"]
    assert seconds >= BEFORE_STOP_S


def test_a_second_signal_ends_it_at_once() -> None:
    said, seconds = stopped("long", 2)
    assert said == ["running", "speaking", "closed"]
    assert seconds < BEFORE_STOP_S
