"""Programs that make garbage and holes in the heap, each run in its own process."""

from __future__ import annotations

import subprocess
import sys

_OWN_MIB = """
from pathlib import Path

def own_mib():
    lines = Path("/proc/self/status").read_text().splitlines()
    kinds = ("RssAnon:", "RssShmem:")
    return sum(int(line.split()[1]) for line in lines if line.startswith(kinds)) >> 10
"""
GARBAGE = """
import gc, itertools, weakref
from collections import deque
from {module} import tune_memory

loaded = [[number] for number in range(200_000)]  # a program's modules
gc.collect()
if {is_tuned}:
    tune_memory()

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
"""Prints the largest number of streams alive at once."""
HOLES = """
from {module} import tune_memory

if {is_tuned}:
    tune_memory()
before = own_mib()
del (whole := [bytearray(24 << 20)])[0]  # from now on glibc takes blocks like that for small
blocks, notes = [], []
for _ in range(40):
    blocks.append(bytearray(b"x") * (1 << 20))
    notes.append(bytearray(2_000))
del blocks
print(own_mib() - before)
"""
"""Prints how many MiB it kept."""
SMALL_HOLES = """
from {module} import trim_heap, tune_memory

tune_memory()
before = own_mib()
blocks, notes = [], []
for _ in range(400):
    blocks.append(bytearray(b"x") * 100_000)
    notes.append(bytearray(2_000))
del blocks
if {is_tuned}:
    trim_heap()
print(own_mib() - before)
"""
"""Prints how many MiB it kept of blocks that are too small for pages of their own."""
BODIES = """
import asyncio
from starlette.requests import Request
from {module} import tune_memory
from tequio_ledger.web.limits import read_body
from tequio_shared.errors import MalformedError

async def begin_a_body(messages, notes):
    async def receive():
        await asyncio.sleep(0)  # it is the turn of the others
        notes.append(bytearray(2_000))
        return next(messages)

    try:
        await read_body(Request({{"type": "http", "headers": []}}, receive), 1 << 20)
    except MalformedError:
        pass  # it broke off

async def main():
    part = {{"type": "http.request", "body": bytes(16_000), "more_body": True}}
    notes = []
    async with asyncio.TaskGroup() as tasks:
        for _ in range(200):
            messages = iter([part] * 12 + [{{"type": "http.disconnect"}}])
            tasks.create_task(begin_a_body(messages, notes))
    return notes

if {is_tuned}:
    tune_memory()
before = own_mib()
notes = asyncio.run(main())
print(own_mib() - before)
"""
"""Prints how many MiB are kept after 200 requests whose bodies of 190 kB broke off."""


def run(program: str, module: str, *, is_tuned: bool) -> int:
    """Run a program with that package's `heap` module; returns the number it prints."""
    command = [sys.executable, "-c", (_OWN_MIB + program).format(module=module, is_tuned=is_tuned)]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
