"""Around every answer: a browser takes it for what its type says, and for nothing else.

Pages and what strangers brought come from one address. A browser that guessed would take a script
for a script, whatever it was called here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tequio_ledger.web.gate import App, Message, Receive, Scope, Send

_NAME = b"x-content-type-options"
_HEADER = (_NAME, b"nosniff")


class Typed:
    """Stands before the application and says so where the application does not."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""

        async def send_typed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = message["headers"]
                if not any(name.lower() == _NAME for name, _ in headers):
                    message = {**message, "headers": [*headers, _HEADER]}
            await send(message)

        await self._app(scope, receive, send_typed)
