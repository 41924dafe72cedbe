"""The one voice of a child process: whole lines to whoever started it, from any thread."""

from __future__ import annotations

import os
import sys
import threading


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
