"""A connection to a TCP port that can be cut: data in flight waits, and neither end notices."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_CHUNK_BYTES = 1 << 16


class LoopbackLink:
    """Forwards a free loopback port to another one."""

    def __init__(self, listener: socket.socket, port: int) -> None:
        self.port: int = listener.getsockname()[1]
        self._listener = listener
        self._target = port
        self._whole = threading.Event()
        self._whole.set()
        self._ends: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Stop forwarding; data waits."""
        self._whole.clear()

    def mend(self) -> None:
        """Resume forwarding, with the waiting data first."""
        self._whole.set()

    def close(self) -> None:
        """Close the listener and all connections."""
        for end in (self._listener, *self._ends):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
        self._whole.set()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(("127.0.0.1", self._target))
                self._ends += [near, far]
                for source, sink in ((near, far), (far, near)):
                    threading.Thread(target=self._carry, args=(source, sink), daemon=True).start()

    def _carry(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while chunk := source.recv(_CHUNK_BYTES):
                self._whole.wait()
                sink.sendall(chunk)
            self._whole.wait()
            sink.shutdown(socket.SHUT_WR)


@contextmanager
def opened(port: int) -> Iterator[LoopbackLink]:
    """Open a link to a port."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        cable = LoopbackLink(listener, port)
        try:
            yield cable
        finally:
            cable.close()
