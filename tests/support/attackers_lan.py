"""The open ports of a program, as a neighbour on the LAN finds them."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PATIENCE_S = 60.0


@contextlib.contextmanager
def started(name: str, folder: Path, ledger: str) -> Iterator[psutil.Process]:
    """A client program with its default settings, except for its folder and its ledger."""
    command = [sys.executable, "-m", "tequio_client", name, "--dir", str(folder)]
    process = subprocess.Popen(
        [*command, "--ledger", ledger], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


def open_doors(process: psutil.Process) -> set[tuple[str, int]]:
    """Address and port of every socket on which a program and its children listen."""
    held = process.net_connections(kind="inet")
    for child in process.children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            held += child.net_connections(kind="inet")
    return {
        (one.laddr.ip, one.laddr.port)
        for one in held
        if one.status == psutil.CONN_LISTEN or one.type == socket.SOCK_DGRAM
    }


def wait_for_doors(process: psutil.Process) -> set[tuple[str, int]]:
    """The same, once there is one and none has been added for two seconds."""
    deadline, seen, since = time.monotonic() + PATIENCE_S, set[tuple[str, int]](), time.monotonic()
    while time.monotonic() < deadline:
        now = open_doors(process)
        if now != seen:
            seen, since = now, time.monotonic()
        if seen and time.monotonic() - since > 2:
            return seen
        time.sleep(0.1)
    raise AssertionError(f"listens on {seen}")
