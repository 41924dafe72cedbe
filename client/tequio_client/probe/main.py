"""A line of facts every so often on standard output, until nobody is there to read it.

The input says what is ours (`link.facts.Watch`); its end is ours. A line that does not parse is
passed over: the worker repeats itself.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from typing import IO, TYPE_CHECKING, NoReturn

from tequio_client.link import facts
from tequio_shared.errors import MalformedError

if TYPE_CHECKING:
    from tequio_client.probe.machine import Machine

PATIENCE = 0.3
"""How much of the time between two lines the sources get to answer for the next one."""
RESTING = 2
"""So many times as long between two lines while nothing of ours computes: nothing hurries then."""


def serve(machine: Machine, every_s: float) -> NoReturn:
    """Write facts until the output is closed, the input ends or the parent is gone.

    A line comes every `every_s` seconds while the worker computes, else more seldom.
    """
    threading.Thread(target=_listen, args=(sys.stdin.buffer, machine), daemon=True).start()
    due_s = time.monotonic()
    while True:
        machine.ask()
        machine.wait(every_s * PATIENCE)
        _write(facts.encode(machine.facts()))
        pause_s = every_s if machine.is_computing else every_s * RESTING
        now_s = time.monotonic()
        due_s = max(due_s + pause_s, now_s)  # after a sleep of the machine: no catching up
        time.sleep(due_s - now_s)


def _write(line: bytes) -> None:
    left = memoryview(line)
    try:
        while left:
            left = left[os.write(sys.stdout.fileno(), left) :]
    except OSError:
        os._exit(0)


def _listen(lines: IO[bytes], machine: Machine) -> NoReturn:
    while line := lines.readline(facts.LINE_BYTES + 1):
        with contextlib.suppress(MalformedError):
            machine.watch(facts.decode_watch(line))
    os._exit(0)  # an ordinary exit would wait for calls that hang
