"""One line of facts a second on standard output, until nobody is there to read it.

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


def serve(machine: Machine, every_s: float) -> NoReturn:
    """Write facts until the output is closed, the input ends or the parent is gone."""
    threading.Thread(target=_listen, args=(sys.stdin.buffer, machine), daemon=True).start()
    due_s = time.monotonic()
    while True:
        machine.ask()
        machine.wait(every_s * PATIENCE)
        _write(facts.encode(machine.facts()))
        due_s = max(
            due_s + every_s, time.monotonic()
        )  # after a sleep of the machine: no catching up
        time.sleep(due_s - time.monotonic() if due_s > time.monotonic() else 0)


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
