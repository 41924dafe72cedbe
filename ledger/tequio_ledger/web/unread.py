"""Answers that come before the whole body did: they say that the connection ends with them.

The server closes such a connection; a client that is not told sends its next request into it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tequio_ledger.web.gate import App, Message, Receive, Scope, Send

_CLOSE = (b"connection", b"close")
_NO_BODY = (None, b"0")


class Unread:
    """Stands before the application and watches what of a body it takes."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; one without a body needs no watching."""
        if scope["type"] == "http" and _has_body(scope):
            body = _Body(receive, send)
            await self._app(scope, body.receive, body.send)
        else:
            await self._app(scope, receive, send)


class _Body:
    """One body on its way in."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self._is_read = False

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request" and not message.get("more_body"):
            self._is_read = True
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start" and not self._is_read:
            message = {**message, "headers": [*message["headers"], _CLOSE]}
        await self._send(message)


def _has_body(scope: Scope) -> bool:
    said = {name.lower(): value for name, value in scope["headers"]}
    return b"transfer-encoding" in said or said.get(b"content-length") not in _NO_BODY
