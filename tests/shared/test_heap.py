"""What is freed is found, and goes back to the system: each in a process of its own."""

from __future__ import annotations

import gc
import subprocess
import sys
from contextlib import suppress

import pytest

from tequio_shared import heap

GARBAGE = """
import gc, itertools, weakref
from collections import deque
from tequio_shared import heap

loaded = [[number] for number in range(200_000)]  # a program's modules
gc.collect()
if {settles}:
    heap.settle()

class Stream:
    def __init__(self):
        self.closed = self.close  # its own prisoner, as those of libp2p

    def close(self):
        pass

living = weakref.WeakSet()
open_now = deque(maxlen=4_000)  # open so long that the young generations have let go of them
most = 0
for number in range(40_000):
    stream = Stream()
    living.add(stream)
    open_now.append(stream)
    if number % 1_000 == 0:
        most = max(most, len(living))
print(most)
"""
HOLES = """
from pathlib import Path
from tequio_shared import heap

def own_mib():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon:")) >> 10

if {settles}:
    heap.settle()
before = own_mib()
del (whole := [bytearray(24 << 20)])[0]  # from now on glibc takes blocks like that for small
blocks, notes = [], []
for _ in range(40):
    blocks.append(bytearray(b"x") * (1 << 20))
    notes.append(bytearray(2_000))
del blocks
print(own_mib() - before)
"""


def test_what_is_loaded_is_not_looked_through_and_what_follows_is() -> None:
    looked = []
    with suppress(ModuleNotFoundError), heap.loading():
        looked.append(gc.isenabled())
        raise ModuleNotFoundError
    assert [*looked, gc.isenabled()] == [False, True]


def run(program: str, *, settles: bool) -> int:
    command = [sys.executable, "-c", program.format(settles=settles)]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def test_dead_streams_do_not_wait_for_a_quarter_of_all_objects() -> None:
    assert run(GARBAGE, settles=True) < 15_000
    assert run(GARBAGE, settles=False) > 20_000  # else this test says nothing


@pytest.mark.skipif(sys.platform != "linux", reason="glibc, and /proc")
def test_pages_of_large_blocks_go_back_whatever_lies_between_them() -> None:
    assert run(HOLES, settles=True) < 8
    assert run(HOLES, settles=False) > 20  # MiB
