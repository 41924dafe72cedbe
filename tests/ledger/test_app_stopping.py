"""SIGTERM ends the program in bounded time, despite open streams and services without answer."""

from __future__ import annotations

import resource
import signal
import socket
import subprocess
import sys
import threading
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

import httpx
import pytest

from tequio_ledger.app import END_S
from tests.support import loopback_link, postgres
from tests.support.cosigned_ledger import register_keys
from tests.support.ledgers import UNLIMITED, Served, served
from tests.support.timing_slack import allowed_s

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.postgres import Cluster

LISTENERS = 1_000
FILES = 2 * LISTENERS + 500
ENTRIES = 2_000
SMALL_BYTES = 4_096
PATIENCE_S = 60.0


@pytest.fixture(autouse=True)
def _many_files() -> None:
    """Raise the limit of open files for this process and the programs that it starts."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < FILES:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(FILES, hard), hard))


def stop(program: Served) -> tuple[int, str]:
    """Send SIGTERM; return the exit status and the output after the start line."""
    program.process.send_signal(signal.SIGTERM)
    status = program.process.wait(allowed_s(END_S))
    assert program.process.stderr is not None
    return status, program.process.stderr.read()


def listen(program: Served, after: int, stack: ExitStack) -> socket.socket:
    host, _, port = program.url.removeprefix("http://").rpartition(":")
    line = stack.enter_context(socket.socket())
    line.settimeout(PATIENCE_S)
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL_BYTES)
    line.connect((host, int(port)))
    line.sendall(b"GET /v1/events?after=%d HTTP/1.1\r\nhost: ledger\r\n\r\n" % after)
    return line


CROWD = """
import asyncio, os, signal
from tequio_ledger.runtime import on_stop_signal

async def main():
    stopping, loop = asyncio.Event(), asyncio.get_running_loop()
    on_stop_signal(stopping.set)
    for _ in range(10_000):
        loop.call_soon_threadsafe(int)
    os.kill(os.getpid(), signal.SIGTERM)
    await stopping.wait()

asyncio.run(main())
"""
"""Before the loop comes to look, its pipe is full of what others want of it."""


def test_a_signal_is_heard_in_a_crowd() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CROWD], check=False, capture_output=True, timeout=PATIENCE_S
    )
    assert done.returncode == 0, done.stderr


def test_a_thousand_listeners_do_not_hold_up_the_end(tmp_path: Path) -> None:
    """Half of them have read all; the others lie far behind, and read nothing at all."""
    with ExitStack() as lines, served(tmp_path, *UNLIMITED, "--address-streams", "0") as program:
        for at in range(0, ENTRIES, 250):
            register_keys(program, f"from {at}", 250)
        reading = [listen(program, ENTRIES, lines) for _ in range(LISTENERS // 2)]
        for line in reading:
            said = b""
            while b"tequio log" not in said:
                said += line.recv(SMALL_BYTES)
        for _ in range(LISTENERS // 2):
            listen(program, -1, lines)
        status, said_last = stop(program)
        assert status == 0, said_last
        assert '"event": "stopped"' in said_last
        for line in reading:
            with suppress(ConnectionResetError):
                assert line.recv(SMALL_BYTES) in (b"", b"0\r\n\r\n"), "told that it ends"


def test_a_database_that_says_nothing_does_not_hold_up_the_end(
    tmp_path: Path, cluster: Cluster
) -> None:
    name = cluster.database().rpartition("/")[2]
    with loopback_link.opened(cluster.port) as line:
        with served(tmp_path, "--database", postgres.url(line.port, name)) as program:
            register_keys(program, "before", 3)
            line.cut()
            asking = [threading.Thread(target=ask, args=(program.url,)) for _ in range(8)]
            for one in asking:
                one.start()
            wait_until_stuck(program)
            status, said = stop(program)
            for one in asking:
                one.join(PATIENCE_S)
        assert status == 1
        assert "Timeout" in said, "it says where it hung"
    with served(tmp_path, "--database", postgres.url(cluster.port, name)) as program:
        assert httpx.get(f"{program.url}/log/checkpoint").text.split("\n")[1] == "4"


def ask(url: str) -> None:
    with suppress(httpx.TransportError):
        httpx.get(f"{url}/v1/peers", timeout=PATIENCE_S)


def wait_until_stuck(program: Served) -> None:
    """Wait until the program says that it lost the database, while questions are still open."""
    assert program.process.stderr is not None
    while "writes the log no longer" not in (line := program.process.stderr.readline()):
        assert line, "it ended by itself"
