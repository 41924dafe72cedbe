"""OPTIONS: which methods a path has (RFC 9110, 9.3.7).

The framework answers it path by handler, and so forgets methods that share a path. It knows all of
them when it refuses one that no path has: that answer, turned around, is the right one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tequio_ledger.web.gate import App, Message, Receive, Scope, Send

_NO_METHOD = "NONE"
_NOT_ALLOWED = 405
_NO_CONTENT = 204
_ALLOW = b"allow"


class Options:
    """Stands before the application and answers OPTIONS for it."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything else on."""
        if scope["type"] == "http" and scope["method"] == "OPTIONS":
            asked = {**scope, "method": _NO_METHOD}
            await self._app(asked, receive, _Turned(send).send)
        else:
            await self._app(scope, receive, send)


class _Turned:
    """One answer: a refusal becomes what may be asked instead."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._is_refusal = False

    async def send(self, message: Message) -> None:
        """Take what the application sends."""
        if message["type"] == "http.response.start":
            self._is_refusal = message["status"] == _NOT_ALLOWED
            if self._is_refusal:
                allow = [one for one in message["headers"] if one[0].lower() == _ALLOW]
                message = {**message, "status": _NO_CONTENT, "headers": allow}
        elif self._is_refusal:
            message = {**message, "body": b""}
        await self._send(message)
