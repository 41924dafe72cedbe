"""A trainer whose worker is gone exits by itself, in any task and with its input still open."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from tests.support.confined import CONFINED
from tests.support.orphans import ended_s
from tests.support.timing_slack import allowed_s

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals")

END_S = 1.0
"""Within which an orphan has to be gone."""
WORKER = """
import os, subprocess, sys, time
trainer = subprocess.Popen(
    [sys.executable, "-m", "tequio_client.trainer"],
    stdin=int(sys.argv[1]), stdout=subprocess.PIPE, start_new_session=True,
)
print(trainer.pid, flush=True)
if sys.argv[2] == "listening":
    trainer.stdout.readline()
    print("listening", flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("moment", ["starting", "listening"])
def test_an_orphan_ends_although_its_input_stays_open(moment: str) -> None:
    reads, writes = os.pipe()  # we hold the input open: its end never comes
    command = [sys.executable, "-c", WORKER, str(reads), moment]
    env = {**os.environ, **CONFINED}
    with subprocess.Popen(command, stdout=subprocess.PIPE, pass_fds=[reads], env=env) as worker:
        assert worker.stdout is not None
        trainer = psutil.Process(int(worker.stdout.readline()))
        if moment == "listening":
            assert worker.stdout.readline() == b"listening\n"
        else:
            _wait_threads(trainer, 2)
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        taken_s = ended_s(trainer)
    os.close(reads)
    os.close(writes)
    assert taken_s < allowed_s(END_S)


def _wait_threads(process: psutil.Process, count: int) -> None:
    """Wait until a thread beside the first one runs: the one that watches."""
    deadline_s = time.monotonic() + 30
    while process.num_threads() < count:
        assert time.monotonic() < deadline_s
        time.sleep(0.01)
