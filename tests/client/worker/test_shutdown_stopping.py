"""Programs under a stop signal: final statements are waited for once, and not for long."""

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
    """Lines of a program that gets one or two signals, and its seconds after the first signal."""
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM, words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = iter(line for line in process.stdout if line[0] != "2")  # without the log
        printed = [next(lines)]
        begun = time.monotonic()
        process.send_signal(signal.SIGTERM)
        printed.append(next(lines))
        if signals > 1:
            process.send_signal(signal.SIGINT)
        printed += lines
        assert process.wait(30) == 0
        return [line.strip() for line in printed], time.monotonic() - begun


def test_last_words_are_waited_for_and_then_all_is_closed() -> None:
    printed, _ = stopped("quick", 1)
    assert printed == ["running", "speaking", "spoken", "closed"]


def test_last_words_that_fail_stop_nothing() -> None:
    printed, _ = stopped("fails", 1)
    assert printed == ["running", "speaking", "closed"]


def test_last_words_that_take_too_long_are_cut_short() -> None:
    printed, seconds = stopped("long", 1)
    assert printed == ["running", "speaking", "closed"]
    assert seconds >= BEFORE_STOP_S


def test_a_second_signal_ends_it_at_once() -> None:
    printed, seconds = stopped("long", 2)
    assert printed == ["running", "speaking", "closed"]
    assert seconds < BEFORE_STOP_S
