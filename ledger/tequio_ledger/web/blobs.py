"""GET, HEAD and PUT /v1/blobs/{sha256}: bytes by their digest.

A PUT is signed: `x-tequio-author` is the key, `x-tequio-ts` the time in milliseconds, and
`x-tequio-signature` the Ed25519 signature over `"tequio/v1/request" 0x00`, the network id, the
body's SHA-256 and the time as u64 big-endian. A request is good for 60 seconds either way;
sent again it changes nothing, for the name is the content.
"""

import asyncio
import os
import re
from collections.abc import AsyncIterator
from functools import partial
from typing import BinaryIO

from litestar import Response, get, head, put
from litestar.params import FromPath
from litestar.response import Stream

from tequio_ledger.service import Ledger
from tequio_ledger.web.bodies import chunks, claimed_bytes, natural
from tequio_ledger.web.doors import GivenDoors, network_of
from tequio_ledger.web.foreign import SECURITY
from tequio_ledger.web.given import GivenLedger
from tequio_ledger.web.problems import AnyRequest
from tequio_shared import keys
from tequio_shared.errors import RefusedError
from tequio_shared.ids import Digest, PeerKey, from_text, key_from_text, to_text
from tequio_shared.limits import BLOB_BYTES

REQUEST_PREFIX = b"tequio/v1/request\0"
WINDOW_MS = 60_000
_HEX = re.compile("[0-9A-Fa-f]{64}")  # bytes.fromhex would pass over spaces
_PIECE_BYTES = 1 << 18
_BINARY = "application/octet-stream"
_FOR_EVER = {"cache-control": "public, max-age=31536000, immutable", **SECURITY}


# Not sync_to_thread: Litestar wraps such a handler twice when others share its path.
@get("/v1/blobs/{name:str}")
async def get_blob(
    request: AnyRequest, ledger: GivenLedger, name: FromPath[str]
) -> Stream | Response[None]:
    """Give a blob, its hash checked."""
    digest = _digest(name)
    kept = {**_FOR_EVER, "etag": f'"{to_text(digest)}"'}
    if kept["etag"] in request.headers.get("if-none-match", "") and ledger.blobs.has(digest):
        return Response(None, status_code=304, headers=kept)
    try:
        file = await asyncio.to_thread(ledger.blobs.open, digest)
    except KeyError as err:
        raise RefusedError("not-found", f"no blob {name}") from err
    size = str(os.fstat(file.fileno()).st_size)
    headers = {**kept, "content-length": size}
    return Stream(_pieces(file), media_type=_BINARY, headers=headers)


@head("/v1/blobs/{name:str}", sync_to_thread=False)
def head_blob(ledger: GivenLedger, name: FromPath[str]) -> Response[None]:
    """Say whether a blob is here, and its size."""
    size = ledger.blobs.size(_digest(name))
    if size is None:
        raise RefusedError("not-found", f"no blob {name}")
    headers = {**_FOR_EVER, "content-type": _BINARY, "content-length": str(size)}
    return Response(None, headers=headers)


@put("/v1/blobs/{name:str}", status_code=201)
async def put_blob(
    request: AnyRequest, ledger: GivenLedger, doors: GivenDoors, name: FromPath[str]
) -> Response[None]:
    """Take a blob in: 201, or 200 when it is here already."""
    digest = _digest(name)
    doors.let_in(network_of(request), 1)
    author = _author(request, ledger, digest)
    if ledger.blobs.has(digest):
        return Response(None, status_code=200)
    await _take_in(request, ledger, digest, author)
    return Response(None, status_code=201)


async def _pieces(file: BinaryIO) -> AsyncIterator[bytes]:
    with file:
        while piece := await asyncio.to_thread(file.read, _PIECE_BYTES):
            yield piece


async def _take_in(request: AnyRequest, ledger: Ledger, digest: Digest, author: PeerKey) -> None:
    organisers = ledger.genesis.organiser_keys
    quota = None if author in organisers else ledger.settings.peer_quota_bytes
    claimed = claimed_bytes(request, BLOB_BYTES)
    begin = partial(ledger.blobs.begin, claimed_bytes=claimed, favoured=organisers)
    upload = await asyncio.to_thread(begin, digest, author, quota)
    try:
        async for chunk in chunks(request, BLOB_BYTES):
            await asyncio.to_thread(ledger.blobs.write, upload, chunk)
        await asyncio.to_thread(ledger.blobs.keep, upload, author)
    finally:
        await asyncio.to_thread(ledger.blobs.end, upload)


def _author(request: AnyRequest, ledger: Ledger, digest: Digest) -> PeerKey:
    """Check who sends this, before a byte of it is read."""
    author = key_from_text(request.headers.get("x-tequio-author", ""))
    ts = natural(request.headers.get("x-tequio-ts", ""))
    if abs(ledger.clock() - ts) > WINDOW_MS:
        raise RefusedError("expired", "the request is not from the last 60 seconds")
    if author not in ledger.state.peers:
        raise RefusedError("not-admitted", "this key is not registered")
    signature = from_text(request.headers.get("x-tequio-signature", ""), keys.SIGNATURE_BYTES)
    message = REQUEST_PREFIX + ledger.state.net + digest + ts.to_bytes(8, "big")
    keys.verify(author, signature, message)
    return author


def _digest(name: str) -> Digest:
    if _HEX.fullmatch(name):
        return Digest(bytes.fromhex(name))
    return Digest(from_text(name))
