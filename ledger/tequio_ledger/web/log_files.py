"""GET /log/…: checkpoint, tiles, policy, witnesses and proofs.

Checkpoint, tiles and bundles follow c2sp.org/tlog-tiles to the byte.
"""

import gzip

from starlette.requests import Request
from starlette.responses import Response

from tequio_ledger.ledger import Ledger
from tequio_ledger.log.publisher import Publication
from tequio_ledger.log.tile_files import read_file
from tequio_ledger.store import log_rows
from tequio_ledger.web.routing import get
from tequio_shared.api.network import WitnessAnswer, WitnessesAnswer
from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.ids import Bytes32Text, digest_from_text
from tequio_shared.log.notes import VerifierKey
from tequio_shared.log.policy import NO_QUORUM, Policy, PolicyLog, TlogProof
from tequio_shared.log.tiles import BUNDLE_LEVEL, Tile

TEXT = "text/plain"
OCTETS = "application/octet-stream"
UNTRUSTED = {
    "x-content-type-options": "nosniff",
    "content-disposition": "attachment",
    "content-security-policy": "default-src 'none'; sandbox",
}
"""Headers of answers whose bytes strangers wrote. They share an origin with the pages, so a browser
must trust their type alone, save instead of displaying them, and run nothing in them."""
PERMANENT = {"cache-control": "public, max-age=31536000, immutable", **UNTRUSTED}
"""The same for bytes that never change under their name."""
_GZIP_LEVEL = 1  # higher levels gain little: half of an entry is keys and signatures
_SHORT = {
    "cache-control": "public, max-age=1",
    "x-content-type-options": UNTRUSTED["x-content-type-options"],
}
"""A checkpoint may be displayed: it is plain text."""


@get("/log/checkpoint")
async def get_checkpoint(ledger: Ledger) -> Response:
    """Return the newest signed checkpoint."""
    note = ledger.published.note
    if not note:
        raise RefusedError(
            "no-quorum", "no checkpoint is cosigned by enough witnesses yet: try again later"
        )
    return Response(note, media_type=TEXT, headers=_SHORT)


@get("/log/tile/{rest:path}")
def get_tile(request: Request, ledger: Ledger, rest: str) -> Response:
    """Return a tile of hashes or a bundle of entries, whole or partial; a bundle also in gzip."""
    try:
        tile = Tile.parse(f"tile/{rest.removeprefix('/')}")
    except MalformedError as err:
        raise RefusedError("not-found", str(err)) from err
    if not tile.exists(ledger.published.size):
        raise RefusedError("not-found", f"the log has no {tile.path()} yet")
    content, headers = read_file(ledger.database, tile), dict(PERMANENT)
    if tile.level == BUNDLE_LEVEL:
        headers["vary"] = "accept-encoding"
        if _accepts_gzip(request):
            content = gzip.compress(content, _GZIP_LEVEL, mtime=0)
            headers["content-encoding"] = "gzip"
    return Response(content, media_type=OCTETS, headers=headers)


def _accepts_gzip(request: Request) -> bool:
    codings = request.headers.get("accept-encoding", "").replace(" ", "").lower().split(",")
    weights = (one.partition(";q=")[2] for one in codings if one.startswith("gzip;"))
    return "gzip" in codings or any(weight.strip("0.") for weight in weights)  # RFC 9110, 12.4.2


@get("/v1/witnesses")
async def get_witnesses(ledger: Ledger) -> WitnessesAnswer:
    """List the witnesses that must cosign the log, and the state of each."""
    if ledger.publisher is None:
        size = ledger.published.size
        return WitnessesAnswer(
            quorum=NO_QUORUM, published=size, signed=size, late_ms=0, witnesses=[]
        )
    found = ledger.publisher.publication()
    return WitnessesAnswer(
        quorum=found.quorum,
        published=found.published,
        signed=found.signed,
        late_ms=int(found.late_s * 1000),
        witnesses=witness_answers(found),
    )


def witness_answers(found: Publication) -> list[WitnessAnswer]:
    return [
        WitnessAnswer(
            name=one.name,
            key=one.key,
            url=one.url,
            size=one.size,
            answer_ms=None if one.answer_s is None else int(one.answer_s * 1000),
            problem=one.problem,
        )
        for one in found.witnesses
    ]


@get("/log/policy")
async def get_policy(ledger: Ledger) -> Response:
    """Return the policy under which the log is published, for --trust (C2SP tlog-policy)."""
    own = ledger.policy or Policy(logs=(), witnesses=(), groups=(), quorum=NO_QUORUM)
    # of the logs that the operator's policy may name, only this one
    logs = (PolicyLog(key=VerifierKey.parse(ledger.genesis.log_key)),)
    policy = Policy(logs=logs, witnesses=own.witnesses, groups=own.groups, quorum=own.quorum)
    return Response(policy.encode(), media_type=TEXT)


@get("/v1/statements/{name}/proof")
def get_proof(ledger: Ledger, name: Bytes32Text) -> Response:
    """Prove that a statement is in the published log; `extra` holds its leaf (C2SP tlog-proof)."""
    statement, published = digest_from_text(name), ledger.published
    with ledger.database.glance.connect() as connection:
        index = log_rows.find_index(connection, statement)
        if index is None or index >= published.size:
            raise RefusedError("not-found", f"the published log has no statement {name}")
        (leaf,) = log_rows.read_leaves(connection, index, index + 1)
    path = tuple(ledger.proofs.at(published.size).inclusion(index))
    proof = TlogProof(index=index, path=path, note=published.note, extra=leaf)
    return Response(proof.encode(), media_type=TEXT)
