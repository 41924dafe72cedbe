"""GET /log/...: checkpoint, tiles and bundles, to the byte as c2sp.org/tlog-tiles has them."""

import gzip

from litestar import Response, get
from litestar.params import FromPath

from tequio_ledger.service import Ledger
from tequio_ledger.store import log_rows
from tequio_ledger.web.foreign import SECURITY
from tequio_ledger.web.given import GivenLedger
from tequio_ledger.web.problems import AnyRequest
from tequio_shared.errors import FatalLogError, MalformedError, RefusedError
from tequio_shared.ids import DIGEST_BYTES
from tequio_shared.tlog import ENTRIES, TILE_WIDTH, Tile, bundle

_BINARY = "application/octet-stream"
_FOR_EVER = {"cache-control": "public, max-age=31536000, immutable", **SECURITY}
_LEVEL = 1  # most of what there is to gain: half of an entry is keys and signatures
_SHORT = {
    "cache-control": "public, max-age=1",
    "x-content-type-options": SECURITY["x-content-type-options"],
}
"""A checkpoint is text that people may look at."""


@get("/log/checkpoint", sync_to_thread=False)
def get_checkpoint(ledger: GivenLedger) -> Response[bytes]:
    """Give the newest signed checkpoint."""
    note = ledger.published.note
    if not note:
        raise RefusedError("no-quorum", "no checkpoint was cosigned by enough witnesses yet")
    return Response(note, media_type="text/plain", headers=_SHORT)


@get("/log/tile/{rest:path}", sync_to_thread=True)
def get_tile(request: AnyRequest, ledger: GivenLedger, rest: FromPath[str]) -> Response[bytes]:
    """Give a tile of hashes or a bundle of entries, whole or partial; a bundle also in gzip."""
    try:
        tile = Tile.parse(f"tile/{rest.removeprefix('/')}")
    except MalformedError as err:
        raise RefusedError("not-found", str(err)) from err
    if not tile.exists(ledger.published.size):
        raise RefusedError("not-found", f"the log has no {tile.path()} yet")
    content, headers = _read(ledger, tile), dict(_FOR_EVER)
    if tile.level == ENTRIES:
        headers["vary"] = "accept-encoding"
        if _takes_gzip(request):
            content = gzip.compress(content, _LEVEL, mtime=0)
            headers["content-encoding"] = "gzip"
    return Response(content, media_type=_BINARY, headers=headers)


def _takes_gzip(request: AnyRequest) -> bool:
    said = request.headers.get("accept-encoding", "").replace(" ", "").lower().split(",")
    return any(one == "gzip" or (one.startswith("gzip;") and _wanted(one)) for one in said)


def _wanted(coding: str) -> bool:
    """Whether a coding's weight is above zero (RFC 9110, 12.4.2)."""
    return coding.partition(";q=")[2].strip("0.") != ""


def _read(ledger: Ledger, tile: Tile) -> bytes:
    with ledger.database.glance.connect() as connection:
        if tile.level == ENTRIES:
            first = tile.index * TILE_WIDTH
            return bundle(log_rows.read_leaves(connection, first, first + tile.width))
        whole = log_rows.read_tile(connection, (tile.level, tile.index))
    if whole is None:
        raise FatalLogError(f"{tile.path()} is missing from the database")
    return whole[: tile.width * DIGEST_BYTES]
