"""The client of the watched ledger, over HTTP; its answers are not trusted.

Every answer has a deadline and a size limit. A ledger that does not answer, or not with what it was
asked for, raises UnreachableError; invalid answers raise PeerError.
"""

from __future__ import annotations

import asyncio
from typing import Any, Self

import httpx

from tequio_ledger.outgoing import http_client, parse_url, read_bounded
from tequio_shared import encoding
from tequio_shared.errors import MalformedError, PeerError, TequioError, UserFacingError
from tequio_shared.ids import DIGEST_BYTES, Digest, sha256, to_text
from tequio_shared.limits import BLOB_BYTES, ENTRY_BYTES
from tequio_shared.log.notes import NOTE_BYTES
from tequio_shared.log.tiles import BUNDLE_LEVEL, TILE_WIDTH, Tile, hashes_at, parse_bundle

ANSWER_S = 60.0
"""For a whole answer, however large: 16 MiB come at 2.2 Mbit/s."""
ANSWER_BYTES = 16 << 20
_OK = 200

Json = dict[str, Any]  # an answer that was not checked yet


class UnreachableError(TequioError):
    """The ledger does not answer, or withholds what it was asked for."""


class WithheldError(UnreachableError):
    """The ledger answers with another status than 200."""

    def __init__(self, path: str, status: int) -> None:
        super().__init__(f"{path}: status {status}")
        self.status = status


class RemoteLedger:
    """Asks one ledger; `with` closes the connections."""

    def __init__(self, url: str) -> None:
        """Do not connect yet; raises UserFacingError unless `url` is an http(s) address."""
        self.url = url.rstrip("/")
        try:
            parse_url(url)
        except ValueError as err:
            raise UserFacingError(
                f"{url!r} is not the address of a ledger, such as https://example.org ({err})"
            ) from err
        self._http, self._runner = http_client({}), asyncio.Runner()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._runner.run(self._http.aclose())
        self._runner.close()

    def checkpoint(self) -> bytes:
        """Get the newest checkpoint, not checked."""
        return self._get("/log/checkpoint", NOTE_BYTES)

    def entries(self, first: int, end: int) -> list[bytes]:
        """Get leaves first to end - 1, all of one bundle."""
        start = first - first % TILE_WIDTH
        tile = Tile(level=BUNDLE_LEVEL, index=first // TILE_WIDTH, width=end - start)
        leaves = parse_bundle(self._get(f"/log/{tile.path()}", tile.width * (ENTRY_BYTES + 2)))
        if len(leaves) < end - start:
            raise MalformedError(f"{tile.path()} holds {len(leaves)} leaves")
        return leaves[first - start : end - start]

    def tile(self, level: int, index: int, size: int) -> bytes:
        """Get a tile as far as it had grown in a log of that size."""
        width = min(TILE_WIDTH, hashes_at(level, size) - index * TILE_WIDTH)
        tile = Tile(level=level, index=index, width=width)
        raw = self._get(f"/log/{tile.path()}", TILE_WIDTH * DIGEST_BYTES)
        if len(raw) < width * DIGEST_BYTES:
            raise MalformedError(f"{tile.path()} has {len(raw)} bytes")
        return raw[: width * DIGEST_BYTES]

    def blob(self, digest: Digest) -> bytes:
        """Get a document, its hash checked."""
        raw = self._get(f"/v1/blobs/{to_text(digest)}", BLOB_BYTES)
        if sha256(raw) != digest:
            raise MalformedError(f"blob {digest.hex()} came with other bytes")
        return raw

    def ask(self, path: str) -> Json:
        """Get a JSON answer."""
        try:
            return encoding.read(self._get(path, ANSWER_BYTES), Json)
        except MalformedError as err:
            raise MalformedError(f"{path} did not return a JSON object: {err}") from err

    def _get(self, path: str, most: int) -> bytes:
        return self._runner.run(self._fetch(path, most))

    async def _fetch(self, path: str, most: int) -> bytes:
        try:
            # of the whole answer: one that comes byte by byte never keeps a read waiting
            async with (
                asyncio.timeout(ANSWER_S),
                self._http.stream("GET", self.url + path) as answer,
            ):
                raw = await read_bounded(answer, most)
        except TimeoutError as err:
            raise UnreachableError(f"{path}: no whole answer in {ANSWER_S:.0f} s") from err
        except (httpx.HTTPError, httpx.InvalidURL) as err:
            raise UnreachableError(f"{path}: {str(err) or type(err).__name__}") from err
        except PeerError as err:
            raise MalformedError(f"{path} returned {err}") from err
        if answer.status_code != _OK:
            raise WithheldError(path, answer.status_code)
        return raw
