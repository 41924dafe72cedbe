"""A child process's side: the output pipe to its parent, and ending with the parent."""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import NoReturn

# End of input reports the parent's end too, but only once something reads it, after seconds of
# imports. PR_SET_PDEATHSIG of Linux does not serve: it is sent when the *thread* that started us
# ends, and a worker starts us from a thread pool. Windows does not report a parent's end this way:
# there the end of input must do.

PARENT_POLL_S = 0.25


def end_with_parent() -> None:
    """End this process soon after its parent has ended: nothing else would."""
    threading.Thread(target=_watch, args=(os.getppid(),), daemon=True).start()


def _watch(parent: int) -> NoReturn:
    while os.getppid() == parent:
        time.sleep(PARENT_POLL_S)
    os._exit(0)


class ParentPipe:
    """The only writer to the parent, from any thread; owns the descriptor of standard output."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._descriptor = os.dup(sys.stdout.fileno())
        os.dup2(
            sys.stderr.fileno(), sys.stdout.fileno()
        )  # libraries print: keep that out of our lines

    def send(self, line: bytes) -> None:
        """Write a line; ends the process when the parent has closed the pipe."""
        left = memoryview(line)
        with self._lock:
            try:
                while left:
                    left = left[os.write(self._descriptor, left) :]
            except OSError:
                os._exit(0)
