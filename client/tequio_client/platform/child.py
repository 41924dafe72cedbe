"""The one voice of a child process: whole lines to whoever started it, from any thread."""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import NoReturn

# --- Ending with the parent: nobody else would ever end a child that has lost it.
#
# The end of the input says the same, but only once somebody listens to it, after seconds of
# imports. PR_SET_PDEATHSIG of Linux will not do: it is sent when the *thread* that started us
# ends, and a worker starts us from a thread of a pool. Windows never tells of a parent's end this
# way: there the end of the input must do.

LOOK_S = 0.25


def end_with_it() -> None:
    """From now on, end this process soon after its parent has ended."""
    threading.Thread(target=_watch, args=(os.getppid(),), daemon=True).start()


def _watch(parent: int) -> NoReturn:
    while os.getppid() == parent:
        time.sleep(LOOK_S)
    os._exit(0)


class PipeVoice:
    """The only writer of lines; owns the descriptor that was standard output."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._descriptor = os.dup(sys.stdout.fileno())
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # libraries print: not into our lines

    def send(self, line: bytes) -> None:
        """Write a line; ends the process when nobody reads any more."""
        left = memoryview(line)
        with self._lock:
            try:
                while left:
                    left = left[os.write(self._descriptor, left) :]
            except OSError:
                os._exit(0)
