"""Attackers that use up what a ledger's process has: descriptors, its event loop, the disk."""

from __future__ import annotations

import socket
import time
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx
import psutil

from tests.support.uploads import put_blob

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tequio_shared.keys import Signer
    from tests.support.ledgers import Served

PATIENCE_S = 60.0
HEAD_ONLY = b"POST /v1/statements HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\n"
"""A request whose body never comes."""
CHUNKED_HEAD = b"POST /v1/statements HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"
"""A request whose body comes in chunks."""


def under_limit(open_files: int) -> tuple[str, ...]:
    """Arguments of an interpreter that runs the ledger with few descriptors, hard limit too."""
    script = (
        "import resource, sys; "
        f"resource.setrlimit(resource.RLIMIT_NOFILE, ({open_files}, {open_files})); "
        "sys.argv[0] = 'tequio-ledger'; "
        "from tequio_ledger.__main__ import main; main()"
    )
    return ("-c", script)


@contextmanager
def connections(ledger: Served, count: int, networks: int, begin: bytes = b"") -> Iterator[int]:
    """Hold connections from several /24 networks open, sending only `begin` on each.

    The ledger may close some, and refuse others; they are not opened again. Yields the number that
    were opened.
    """
    host, _, port = ledger.url.removeprefix("http://").rpartition(":")
    with ExitStack() as lines:
        opened = 0
        for number in range(count):
            line = lines.enter_context(socket.socket())
            line.settimeout(PATIENCE_S)
            with suppress(OSError):  # refused, or closed while more were opened
                line.bind((f"127.0.{1 + number % networks}.1", 0))
                line.connect((host, int(port)))
                opened += 1
                if begin:
                    line.sendall(begin)
        yield opened


def nested_arrays(size_bytes: int, depth: int = 5) -> bytes:
    """A list of nested empty arrays: short in bytes, long in objects."""
    one = b"[" * depth + b"]" * depth
    count = (size_bytes - 1) // (len(one) + 1)
    return b"[" + b",".join([one] * count) + b"]"


def put_tiny_blobs(ledger: Served, signer: Signer, count: int, first: int = 0) -> int:
    """Upload blobs of a few bytes each until one is refused; returns how many were stored."""
    with httpx.Client(base_url=ledger.url, timeout=PATIENCE_S) as http:
        for number in range(count):
            content = (first + number).to_bytes(1 + (first + number).bit_length() // 8, "big")
            now_ms = time.time_ns() // 1_000_000
            if not put_blob(http, ledger.net, content, now_ms, signer).is_success:
                return number
    return count


def folder_bytes(folder: Path) -> int:
    """Bytes that files and folders below a folder occupy on the disk."""
    return sum(512 * path.stat().st_blocks for path in folder.rglob("*"))


@dataclass(frozen=True, slots=True)
class ProcessUse:
    """Memory and descriptors of a program."""

    resident_bytes: int
    descriptors: int

    @classmethod
    def of(cls, pid: int) -> ProcessUse:
        """Read them now."""
        process = psutil.Process(pid)
        return cls(process.memory_info().rss, process.num_fds())


def wait_until_released(pid: int, descriptors: int, patience_s: float) -> ProcessUse:
    """Wait until the program holds no more descriptors than that; returns its use."""
    end = time.monotonic() + patience_s
    while (use := ProcessUse.of(pid)).descriptors > descriptors and time.monotonic() < end:
        time.sleep(0.1)
    return use
