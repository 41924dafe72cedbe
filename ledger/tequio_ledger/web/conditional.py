"""Answers that a reader holds already: ETag, If-None-Match and 304 (RFC 9110, 8.8.3 and 13.1.2).

The tag of a whole answer is a hash of its bytes, so it is right whatever the answer was made from,
and equal on every replica. Streams have none, but what names its own is left to it.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from tequio_shared.ids import to_text

if TYPE_CHECKING:
    from tequio_ledger.web.gate import App, Message, Receive, Scope, Send

_TAG_BYTES = 16
_OK = 200
_NOT_MODIFIED = 304
_ABOUT_CONTENT = {b"content-length", b"content-type"}
_ASK_AGAIN = (b"cache-control", b"no-cache")  # keep it, but ask whether it still holds


class Conditional:
    """Stands before the application and answers 304 where nothing has changed."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; the answer to a GET gets a tag."""
        if scope["type"] == "http" and scope["method"] == "GET":
            await self._app(scope, receive, _Answer(_held(scope), send).send)
        else:
            await self._app(scope, receive, send)


class _Answer:
    """One answer: its beginning waits for the body, which tells whether it is whole."""

    def __init__(self, held: frozenset[bytes], send: Send) -> None:
        self._held = held
        self._send = send
        self._start: Message | None = None

    async def send(self, message: Message) -> None:
        """Take what the application sends."""
        if message["type"] == "http.response.start":
            self._start = message
            return
        start, self._start = self._start, None
        if start is not None:
            await self._begin(start, message)
        else:
            await self._send(message)

    async def _begin(self, start: Message, message: Message) -> None:
        named = _header(start, b"etag")
        if start["status"] == _OK and not message.get("more_body"):
            tag = named or _tag(message.get("body", b""))
            if tag in self._held or b"*" in self._held:
                await self._not_modified(start, tag)
                return
            if not named:
                start["headers"] = [*start["headers"], (b"etag", tag)]
            if not _header(start, b"cache-control"):
                start["headers"] = [*start["headers"], _ASK_AGAIN]
        await self._send(start)
        await self._send(message)

    async def _not_modified(self, start: Message, tag: bytes) -> None:
        kept = [one for one in start["headers"] if one[0].lower() not in _ABOUT_CONTENT]
        headers = [*(one for one in kept if one[0].lower() != b"etag"), (b"etag", tag)]
        await self._send({**start, "status": _NOT_MODIFIED, "headers": headers})
        await self._send({"type": "http.response.body", "body": b""})


def _tag(body: bytes) -> bytes:
    return b'"' + to_text(hashlib.sha256(body).digest()[:_TAG_BYTES]).encode() + b'"'


def _held(scope: Scope) -> frozenset[bytes]:
    """Tags that the reader holds; weak or strong is one to a GET."""
    said = [value for name, value in scope["headers"] if name.lower() == b"if-none-match"]
    tags = (tag.strip().removeprefix(b"W/") for value in said for tag in value.split(b","))
    return frozenset(tag for tag in tags if tag)


def _header(start: Message, wanted: bytes) -> bytes:
    return next((value for name, value in start["headers"] if name.lower() == wanted), b"")
