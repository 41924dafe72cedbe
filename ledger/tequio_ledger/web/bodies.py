"""Request bodies and numbers of a request, read with limits.

What is too large is refused before it is in memory, and what trickles is refused after a while: a
half body holds no handler for ever.
"""

import asyncio
from collections.abc import AsyncIterator

from litestar.exceptions import InternalServerException

from tequio_ledger import metrics
from tequio_ledger.web.problems import AnyRequest
from tequio_shared.errors import MalformedError, RefusedError

PATIENCE_S = 30.0
SLOWEST_BYTES_S = 32 << 10
"""A body may take this long, and more if it is large, at the rate of a slow line."""
_DIGITS = 16  # enough for every number that a statement can hold


async def read_body(request: AnyRequest, most_bytes: int) -> bytes:
    """Read the whole body; raises RefusedError("too-large") past the limit."""
    return b"".join([chunk async for chunk in chunks(request, most_bytes)])


async def chunks(
    request: AnyRequest, most_bytes: int, patience_s: float = PATIENCE_S
) -> AsyncIterator[bytes]:
    """Read the body piece by piece.

    Raises RefusedError("too-large") past the limit, ("rate-limited") when it comes too slowly,
    MalformedError when it breaks off.
    """
    claimed_bytes(request, most_bytes)
    begun, size = asyncio.get_running_loop().time(), 0
    stream = aiter(request.stream())
    while True:
        try:
            async with asyncio.timeout_at(begun + patience_s + size / SLOWEST_BYTES_S):
                chunk = await anext(stream, None)
        except TimeoutError as err:
            metrics.RATE_LIMITED.labels(limit="slow body").inc()
            raise RefusedError("rate-limited", f"the body came too slowly: {size} bytes") from err
        except InternalServerException as err:  # what the framework calls a sender that went away
            raise MalformedError(f"the body broke off after {size} bytes") from err
        if chunk is None:
            return
        size += len(chunk)
        if size > most_bytes:
            raise RefusedError("too-large", f"a body of more than {most_bytes} bytes")
        yield chunk


def claimed_bytes(request: AnyRequest, most_bytes: int) -> int:
    """Read how large the body says that it is, the limit when it says nothing.

    Raises RefusedError("too-large") past the limit.
    """
    text = request.headers.get("content-length")
    claimed = most_bytes if text is None else natural(text)
    if claimed > most_bytes:
        raise RefusedError("too-large", f"a body of {claimed} bytes; {most_bytes} are allowed")
    return claimed


def natural(text: str) -> int:
    """Read a number of ASCII digits; raises MalformedError, also for too many digits."""
    if not (0 < len(text) <= _DIGITS and text.isascii() and text.isdigit()):
        raise MalformedError(f"not a number: {text[:60]!r}")
    return int(text)
