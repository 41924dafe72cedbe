"""A TCP port from which one connection is tried while its other end tries the same.

A router that lets in only answers takes the other end's first packet for one as soon as we have
sent a packet that way: the two attempts meet and become one connection (simultaneous open, RFC
9293, 3.5; through routers: RFC 5128, 3.4).
"""

from __future__ import annotations

import random
import socket
import sys
from typing import Self

import structlog
import trio

log = structlog.get_logger(__name__)

ATTEMPTS = 12
"""Most attempts; a router that drops packets without a word gets one, which sends several."""
PAUSE_S = 0.1
"""Pause after an attempt that was refused, because the other side's had not begun."""


class PunchedPort:
    """A port of this computer, free until now, of the address family of `host`.

    Raises OSError if there is none. To be used in a `with` block.
    """

    def __init__(self, host: str) -> None:
        self._family = socket.AF_INET6 if ":" in host else socket.AF_INET
        # Kept open from now on: the port is named to others before the first attempt.
        self._socket = self._bound(0)
        self.number: int = self._socket.getsockname()[1]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._socket.close()

    async def connect(self, host: str, port: int) -> trio.SocketStream:
        """Try until there is a connection; raises OSError after ATTEMPTS."""
        for attempt in range(ATTEMPTS):
            try:
                await self._socket.connect((host, port))
            except OSError as err:
                log.debug("an attempt was refused", host=host, port=port, error=str(err))
                self._socket.close()
                if attempt == ATTEMPTS - 1:
                    raise
            else:
                # Owned by the stream from here on.
                connected, self._socket = self._socket, trio.socket.socket(self._family)
                return trio.SocketStream(connected)
            await trio.sleep(PAUSE_S * random.uniform(0.5, 1.5))  # noqa: S311 - jitter
            self._socket = self._bound(self.number)
        raise AssertionError(ATTEMPTS)

    def _bound(self, port: int) -> trio.socket.SocketType:
        made = socket.socket(self._family, socket.SOCK_STREAM)
        try:
            if sys.platform != "win32":  # there it would let other programs take the port over
                made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind(("::" if self._family is socket.AF_INET6 else "0.0.0.0", port))  # noqa: S104 - it never listens
        except OSError:
            made.close()
            raise
        return trio.socket.from_stdlib_socket(made)
