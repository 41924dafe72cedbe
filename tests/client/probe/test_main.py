"""The whole probe as a process: lines, light imports, and its end together with its parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import IO

import psutil
import pytest

from tequio_client.ipc import facts
from tequio_client.probe.machine import QUIET_REASON
from tests.support.orphans import ended_s
from tests.support.timing_slack import allowed_s

COMMAND = [sys.executable, "-m", "tequio_client.probe", "--every-s", "0.1"]
END_S = 1.0
STRANGERS = {"torch", "trio", "numpy", "PySide6", "libp2p", "httpx", "keyring", "asyncio", "nacl"}
WORKER = """
import subprocess, sys, time
probe = subprocess.Popen(
    [sys.executable, "-m", "tequio_client.probe"],
    stdin=int(sys.argv[1]), stdout=subprocess.PIPE,
)
probe.stdout.readline()
print(probe.pid, flush=True)
time.sleep(600)
"""
LOADED = """
import sys
import tequio_client.probe.machine, tequio_client.probe.sources
print(*{name.partition(".")[0] for name in sys.modules})
"""


def read(lines: IO[bytes] | None) -> facts.MachineFacts:
    assert lines is not None
    return facts.decode_machine_facts(lines.readline())


def test_lines_arrive_and_end_with_the_input() -> None:
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as probe:
        read(probe.stdout)
        told = read(probe.stdout)
        assert told.memory_mb
        assert told.cpu_name
        assert {"gpu", "cpu", "memory", "battery"} <= {one.name for one in told.health}
        begun_s = time.monotonic()
        assert probe.stdin is not None
        probe.stdin.close()
        assert probe.wait(30) == 0
        assert time.monotonic() - begun_s < allowed_s(END_S)


def test_a_line_that_is_garbage_is_passed_over_and_the_next_is_obeyed() -> None:
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as probe:
        assert probe.stdin is not None
        probe.stdin.write(
            b"garbage\n" + facts.encode(facts.ProbeInstructions(ours=(1,), is_quiet=True))
        )
        probe.stdin.flush()
        deadline_s = time.monotonic() + 30
        while not any(one.error == QUIET_REASON for one in read(probe.stdout).health):
            assert time.monotonic() < deadline_s
        probe.stdin.close()


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_an_orphan_ends_although_its_input_stays_open() -> None:
    reads, writes = os.pipe()  # we hold the input open: its end never comes
    command = [sys.executable, "-c", WORKER, str(reads)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, pass_fds=[reads]) as worker:
        assert worker.stdout is not None
        probe = psutil.Process(int(worker.stdout.readline()))
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        taken_s = ended_s(probe)
    os.close(reads)
    os.close(writes)
    assert taken_s < allowed_s(END_S)


def test_the_probe_stays_light() -> None:
    shown = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=True, timeout=60
    )
    assert set(shown.stdout.split()) & STRANGERS == set()
