"""The command `tequio` in a terminal of its own, with 120 columns and 40 lines."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import psutil

from tests.support.forked_program import STRICT, ForkedProgram

if TYPE_CHECKING:
    from collections.abc import Iterator

PATIENCE_S = 240.0
AGAIN_S = 15.0
READS_S = 5.0


class Terminal:
    """The terminal's other side: what the program writes, and what a person types."""

    def __init__(self, program: ForkedProgram, descriptor: int) -> None:
        self.program = program
        self._descriptor = descriptor

    def read_until(self, wanted: bytes) -> bytes:
        """Read until the program has written this, and return it all; raises AssertionError."""
        found, until = b"", time.monotonic() + PATIENCE_S
        while wanted not in found:
            assert time.monotonic() < until, found[-2_000:]
            if select.select([self._descriptor], [], [], 1.0)[0]:
                found += os.read(self._descriptor, 65_536)
        return found

    def type(self, text: bytes) -> None:
        os.write(self._descriptor, text)

    def interrupt(self) -> int:
        """Press Ctrl-C; returns the exit status of the program, which has to end."""
        until = time.monotonic() + PATIENCE_S
        pressed = 0.0
        self._wait_for_read()
        with suppress(OSError):  # the other side is closed
            while time.monotonic() < until:
                # Once is enough, unless it waited for something else: then press it again, as a
                # person would.
                if time.monotonic() > pressed + AGAIN_S:
                    pressed = time.monotonic()
                    self.program.send_signal(signal.SIGINT)
                if select.select([self._descriptor], [], [], 1.0)[0]:
                    os.read(self._descriptor, 65_536)
        return self.program.wait(60)

    def _wait_for_read(self) -> None:
        """Wait a while for the program to wait, as it does where it reads.

        Python notices a signal only after the input if it arrives just before a read.
        """
        until = time.monotonic() + READS_S
        program = psutil.Process(self.program.pid)
        while program.status() != psutil.STATUS_SLEEPING and time.monotonic() < until:
            time.sleep(0.01)


@contextmanager
def in_terminal(*words: str, module: str = STRICT) -> Iterator[Terminal]:
    """Start `tequio` with these words; it is killed if it still runs at the end."""
    main, other = pty.openpty()
    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    with ForkedProgram(module, *words, ends=(other, other, other)) as program:
        os.close(other)
        try:
            yield Terminal(program, main)
        finally:
            program.kill()
            os.close(main)
