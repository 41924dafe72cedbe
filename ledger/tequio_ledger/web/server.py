"""Serves the application on a socket of ours, inside the event loop of the one process.

granian's embedded server; the only file that imports it. We bind the socket, because granian
itself binds with SO_REUSEPORT, under which two services would share a busy port unnoticed.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import socket
from typing import TYPE_CHECKING

from granian._granian import SocketHolder  # no public way to hand over a bound socket (2.8)
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.server.embed import Server

from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from tequio_ledger.web.middleware import App

HEAD_BYTES = 1 << 16
"""Longest request line with all headers."""
REQUESTS = 4_096
"""Requests under way at once, of all addresses together: every event stream is one. Left to itself
the library takes 128, and lets all others wait."""
_BACKLOG = 1024
_STOP_S = 5.0


def bind(host: str, port: int, option: str = "--port") -> socket.socket:
    """Listen on an address; raises UserFacingError, which names the option, when that cannot be."""
    try:
        listener = _listen(host, port)
    except OSError as err:
        raise UserFacingError(_explain(err, host, port, option)) from err
    listener.setblocking(False)  # noqa: FBT003  # the standard library's own parameter
    return listener


def address(listener: socket.socket) -> str:
    """Write the URL that the socket answers at."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class WebServer:
    """The embedded server; `serve` until `stop`."""

    def __init__(self, app: App, listener: socket.socket) -> None:
        logging.getLogger("_granian").setLevel(logging.ERROR)  # it warns about being embedded
        host, port = listener.getsockname()[:2]
        self._server = _Embedded(
            app,
            address=host,
            port=port,
            interface=Interfaces.ASGI,
            http=HTTPModes.http1,  # the only version whose slow senders granian drops
            http1_settings=HTTP1Settings(header_read_timeout=10_000, max_buffer_size=HEAD_BYTES),
            websockets=False,
            backpressure=REQUESTS,
            log_enabled=False,
        )
        self._server.listener = listener.detach()  # granian owns and closes it
        self._stopping = asyncio.Event()

    async def serve(self) -> None:
        """Answer requests until `stop` was called and the last answer is out, or 5 s later."""
        serving = asyncio.create_task(self._server.serve())
        stopping = asyncio.create_task(self._stopping.wait())
        await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(serving, _STOP_S)

    def stop(self) -> None:
        """Take no more requests."""
        self._stopping.set()
        self._server.interrupt_signal = True
        self._server.main_loop_interrupt.set()


def _listen(host: str, port: int) -> socket.socket:
    family, kind, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    with contextlib.ExitStack() as on_failure:
        listener = on_failure.enter_context(socket.socket(family, kind))
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(place)
        listener.listen(_BACKLOG)
        on_failure.pop_all()
    return listener


class _Embedded(Server):
    listener: int

    def _init_shared_socket(self) -> None:
        self._ssp = None
        # the compiled class takes three arguments (the last two: no Unix socket, backlog), and the
        # stubs declare neither them nor the attribute
        holder = SocketHolder(self.listener, False, _BACKLOG)  # type: ignore[call-arg]  # noqa: FBT003
        self._shd = holder  # type: ignore[assignment]


def _explain(err: OSError, host: str, port: int, option: str) -> str:
    if err.errno == errno.EADDRINUSE:
        return (
            f"port {port} of {host} is in use: stop what listens there or choose another {option}"
        )
    if err.errno == errno.EACCES:
        return f"port {port} needs more rights: choose one above 1023 with {option}"
    return f"cannot listen on {host} port {port}: {err.strerror or err}"
