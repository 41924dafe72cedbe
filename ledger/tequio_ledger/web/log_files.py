"""Who vouches for the log: GET /v1/witnesses, /log/policy, and proofs of logging to keep."""

from __future__ import annotations

import gzip

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath, SkipValidation

from tequio_ledger.ledger import Ledger
from tequio_ledger.log.publisher import Publication
from tequio_ledger.store import entries, log_rows
from tequio_ledger.web.errors import AnyRequest
from tequio_shared.api.log import WitnessAnswer, WitnessesAnswer
from tequio_shared.errors import FatalLogError, MalformedError, RefusedError
from tequio_shared.ids import DIGEST_BYTES, digest_from_text
from tequio_shared.log.notes import VerifierKey
from tequio_shared.log.policy import NONE, Policy, PolicyLog, TlogProof
from tequio_shared.log.tiles import ENTRIES, TILE_WIDTH, Tile, bundle

# --- Headers of answers whose bytes are not ours: what a browser must not make of them.
#
# They come from the same address as the pages. So a browser takes them for what their type says,
# saves them instead of showing them, and if it shows them all the same, nothing in them runs.

SECURITY = {
    "x-content-type-options": "nosniff",
    "content-disposition": "attachment",
    "content-security-policy": "default-src 'none'; sandbox",
}


# --- What handlers are given beside the request.
#
# The framework passes these through as they are; it must not take them for data to convert.

GivenLedger = NamedDependency[SkipValidation[Ledger]]


_TEXT = "text/plain"


@get("/v1/witnesses", sync_to_thread=False)
def get_witnesses(ledger: GivenLedger) -> WitnessesAnswer:
    """Say who must cosign the log, and how each of them is."""
    if ledger.publisher is None:
        size = ledger.published.size
        return WitnessesAnswer(quorum=NONE, published=size, signed=size, late_ms=0, witnesses=[])
    return _answer(ledger.publisher.publication())


@get("/log/policy", sync_to_thread=False)
def get_policy(ledger: GivenLedger) -> Response[bytes]:
    """Give the policy that the log is published under, for --trust (C2SP tlog-policy)."""
    return Response(_policy(ledger).encode(), media_type=_TEXT)


@get("/v1/statements/{name:str}/proof", sync_to_thread=True)
def get_proof(ledger: GivenLedger, name: FromPath[str]) -> Response[bytes]:
    """Prove that a statement is in the published log; `extra` holds its leaf (C2SP tlog-proof)."""
    statement, published = digest_from_text(name), ledger.published
    with ledger.database.glance.connect() as connection:
        index = entries.index_of_id(connection, statement)
        if index is None or index >= published.size:
            raise RefusedError("not-found", f"the published log has no statement {name}")
        (leaf,) = log_rows.read_leaves(connection, index, index + 1)
    path = tuple(ledger.proofs.at(published.size).inclusion(index))
    proof = TlogProof(index=index, path=path, note=published.note, extra=leaf)
    return Response(proof.encode(), media_type=_TEXT)


def _policy(ledger: Ledger) -> Policy:
    """The ledger's policy, naming its own log alone."""
    log = PolicyLog(key=VerifierKey.parse(ledger.genesis.log_key))
    if ledger.policy is None:
        return Policy(logs=(log,), witnesses=(), groups=(), quorum=NONE)
    own = ledger.policy
    return Policy(logs=(log,), witnesses=own.witnesses, groups=own.groups, quorum=own.quorum)


def _answer(found: Publication) -> WitnessesAnswer:
    return WitnessesAnswer(
        quorum=found.quorum,
        published=found.published,
        signed=found.signed,
        late_ms=int(found.late_s * 1000),
        witnesses=[
            WitnessAnswer(
                name=one.name,
                key=one.key,
                url=one.url,
                size=one.size,
                answer_ms=None if one.answer_s is None else int(one.answer_s * 1000),
                problem=one.problem,
            )
            for one in found.witnesses
        ],
    )


# --- GET /log/...: checkpoint, tiles and bundles, to the byte as c2sp.org/tlog-tiles has them.

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
