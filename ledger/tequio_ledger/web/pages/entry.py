"""GET /entries/{index}: one entry with all that proves it, for people and for the verifier."""

import base64
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from tequio_ledger.log.checkpoint import Published
from tequio_ledger.service import Ledger
from tequio_ledger.store import entry_rows
from tequio_ledger.web.pages import press
from tequio_ledger.web.pages.body_field import BodyField, body_fields
from tequio_ledger.web.pages.entry_line import EntryLine, entry_line
from tequio_ledger.web.pages.note_line import NoteLine, note_lines
from tequio_ledger.web.routing import get
from tequio_shared.errors import RefusedError
from tequio_shared.ids import to_text
from tequio_shared.limits import JSON_INTEGER
from tequio_shared.merkle import leaf_hash
from tequio_shared.policy import NONE
from tequio_shared.statement import Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryPage:
    """One entry, its path to the root, and the checkpoint that signs the root."""

    line: EntryLine
    size: int
    seq: int
    ts_ms: int
    prev: str
    signers: tuple[str, ...]
    fields: tuple[BodyField, ...]
    statement: str
    """The signed JSON, to the byte."""
    leaf: str
    """Standard base64."""
    leaf_hash: str
    path: tuple[str, ...]
    """Standard base64, the leaf's sibling first."""
    root: str
    note: str
    lines: tuple[NoteLine, ...]
    quorum: str
    """What the log's policy asks of its witnesses."""
    log_key: str
    network_id: str
    """Base64url, as every statement signature covers it."""


@get("/entries/{index}")
@press.by_turns
def get_entry(request: Request, ledger: Ledger, index: str) -> Response:
    """Show an entry."""
    number, published = _number(index), ledger.published
    with ledger.database.glance.connect() as connection:
        found = entry_rows.one(connection, number) if number < published.size else None
    if found is None:
        raise RefusedError(
            "not-found",
            f"the published log has {published.size} entries, so there is no entry {number}",
        )
    path = tuple(map(_base64, ledger.proofs.at(published.size).inclusion(number)))
    view = _view(entry_line(found[0]), found[1], path, published, ledger)
    return press.page(request, "entry.html", press.frame(request, ledger, published), view)


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(JSON_INTEGER))):
        raise RefusedError("not-found", f"{text[:60]!r} is not the number of an entry")
    return int(text)


def _view(
    line: EntryLine, leaf: bytes, path: tuple[str, ...], published: Published, ledger: Ledger
) -> EntryPage:
    entry, genesis, policy = Entry.parse(leaf), ledger.genesis, ledger.policy
    statement = entry.statement
    return EntryPage(
        line=line,
        size=published.size,
        seq=statement.seq,
        ts_ms=statement.ts,
        prev=to_text(statement.prev),
        signers=tuple(to_text(key) for key, _ in entry.signatures),
        fields=body_fields(statement),
        statement=statement.raw.decode(),
        leaf=_base64(leaf),
        leaf_hash=_base64(leaf_hash(leaf)),
        path=path,
        root=_base64(published.root),
        note=published.note.decode(),
        lines=note_lines(published.note, policy),
        quorum=policy.quorum if policy else NONE,
        log_key=genesis.log_key,
        network_id=to_text(genesis.network_id),
    )


def _base64(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")
