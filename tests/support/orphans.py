"""The end of a process that nobody waits for any more."""

from __future__ import annotations

import time

import psutil

LOOK_S = 0.005
WAIT_S = 30.0


def ended_s(orphan: psutil.Process) -> float:
    """Seconds until the process has ended: the init process may take its time to bury it.

    Raises `TimeoutError` if it still runs after half a minute.
    """
    begun_s = time.monotonic()
    while (taken_s := time.monotonic() - begun_s) < WAIT_S:
        try:
            if orphan.status() == psutil.STATUS_ZOMBIE:
                return taken_s
        except psutil.NoSuchProcess:
            return taken_s
        time.sleep(LOOK_S)
    raise TimeoutError(f"process {orphan.pid} still runs after {WAIT_S:g} s")
