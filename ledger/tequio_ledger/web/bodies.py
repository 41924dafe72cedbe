"""Request bodies, read with a limit: what is too large is refused before it is in memory."""

from collections.abc import AsyncIterator

from tequio_ledger.web.problems import AnyRequest
from tequio_shared.errors import RefusedError


async def read_body(request: AnyRequest, most_bytes: int) -> bytes:
    """Read the whole body; raises RefusedError("too-large") past the limit."""
    return b"".join([chunk async for chunk in chunks(request, most_bytes)])


async def chunks(request: AnyRequest, most_bytes: int) -> AsyncIterator[bytes]:
    """Read the body piece by piece; raises RefusedError("too-large") past the limit."""
    claimed = request.headers.get("content-length", "0")
    if not claimed.isdigit() or int(claimed) > most_bytes:
        raise RefusedError("too-large", f"a body of {claimed} bytes; {most_bytes} are allowed")
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > most_bytes:
            raise RefusedError("too-large", f"a body of more than {most_bytes} bytes")
        yield chunk
