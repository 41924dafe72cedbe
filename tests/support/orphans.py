"""Waiting for the end of a process whose parent is gone."""

from __future__ import annotations

import time

import psutil

LOOK_S = 0.005
WAIT_S = 30.0


def ended_s(orphan: psutil.Process) -> float:
    """Seconds until the process has ended; a zombie counts as ended, since init may reap it late.

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
