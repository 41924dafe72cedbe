"""The fields of a statement's body, each with its value in words and where it leads."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from tequio_ledger.ledger import Ledger
from tequio_ledger.log.guard import Published
from tequio_ledger.store import entries
from tequio_ledger.store import entries as store_entries
from tequio_ledger.web.pages import render
from tequio_ledger.web.pages import text as pages_text
from tequio_ledger.web.pages.entry_view import EntryLine, NoteLine, entry_line, note_lines
from tequio_ledger.web.pages.peers import Before
from tequio_ledger.web.routing import get
from tequio_shared.errors import PeerError, RefusedError
from tequio_shared.head.contribution import ContributionHeader
from tequio_shared.ids import from_text, to_text
from tequio_shared.limits import JSON_INTEGER
from tequio_shared.log.merkle import leaf_hash
from tequio_shared.log.policy import NO_QUORUM
from tequio_shared.network import standing
from tequio_shared.statements.statement import Entry

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_shared.statements.statement import Statement


_TIMES = {"opened", "train_by", "close_by", "until"}
_BLOBS = {"roster", "result", "manifest", "text", "submission", "scores", "outcome"}
_PEERS = {"peer", "evaluator"}
_PAGES = {"competition": "competitions", "side": "runs"}


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyField:
    """One field: its name, its value as signed, what that means, and what it leads to."""

    name: str
    value: str
    means: str = ""
    entries: tuple[int, ...] = ()
    peer: str = ""
    blob: str = ""
    page: str = ""


def body_fields(statement: Statement) -> tuple[BodyField, ...]:
    """Describe the body of a statement."""
    body: dict[str, object] = msgspec.to_builtins(statement.body)
    fields = [_field(statement.type, name, value) for name, value in body.items()]
    header = body.get("header")
    if isinstance(header, str):
        fields += _header_fields(header)
    return tuple(fields)


def _field(kind: str, name: str, value: object) -> BodyField:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    entries = tuple(value) if name == "evidence" and isinstance(value, list | tuple) else ()
    if name == "change" and isinstance(value, int):
        entries = (value,)
    return BodyField(
        name=name,
        value=text,
        means=_meaning(kind, name, value),
        entries=entries,
        peer=text if name in _PEERS else "",
        blob=text if name in _BLOBS and text else "",
        page=f"/{_PAGES[name]}/{text}" if name in _PAGES and text else "",
    )


def _meaning(kind: str, name: str, value: object) -> str:
    if name in _TIMES and isinstance(value, int):
        return pages_text.moment(value) if value else "no end"
    say = _WORDS.get((kind, name))
    return say(value) if say else ""


def _code(say: Callable[[int], str]) -> Callable[[object], str]:
    return lambda value: say(value) if isinstance(value, int) else ""


def _rejections(value: object) -> str:
    """Slots and reasons of a witness proof."""
    if not isinstance(value, list | tuple) or not value:
        return "refuses nothing"
    return "; ".join(f"slot {slot}: {pages_text.reason(code)}" for slot, code in value)


def _standing(value: object) -> str:
    return pages_text.standing(str(value)).says


def _bits(value: object) -> str:
    """Thousandths of a bit."""
    return f"{pages_text.short_count(value / 1_000)} bits" if isinstance(value, int) else ""


_WORDS: dict[tuple[str, str], Callable[[object], str]] = {
    ("head.measure", "millibits"): _bits,
    ("head.measure", "sample"): lambda _: "what the model writes, by this member's word",
    ("round.void", "reason"): _code(pages_text.void),
    ("standing.change", "cause"): _code(standing.describe_cause),
    ("standing.change", "to"): _standing,
    ("standing.uphold", "to"): _standing,
    ("witness.proof", "rejected"): _rejections,
}


def _header_fields(text: str) -> list[BodyField]:
    """The fields inside a contribution header that people ask about."""
    try:
        header = ContributionHeader.parse(from_text(text, None))
    except PeerError:
        return []
    claimed = pages_text.loss(header.claimed_loss_last_q16) or None
    return [
        BodyField(name="header: windows", value=pages_text.count(header.window_count)),
        BodyField(name="header: first window", value=pages_text.count(header.window_first)),
        BodyField(name="header: tokens", value=pages_text.count(header.tokens)),
        BodyField(name="header: inner steps", value=pages_text.count(header.inner_steps)),
        BodyField(name="header: starts from head", value=to_text(header.base_head)),
        BodyField(name="header: payload root", value=to_text(header.payload_root)),
        BodyField(
            name="header: claimed loss",
            value=pages_text.decimal(claimed, 4),
            means="nats a token, the trainer's own word; nothing depends on it",
        ),
    ]


# --- GET /entries: the log, the newest entry first, of everybody or of one author.

ROWS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class EntriesPage:
    """A page of the log."""

    author: str
    entries: tuple[EntryLine, ...]
    size: int
    older: int | None
    is_first: bool


@get("/entries")
@render.by_turns
def get_entries(
    request: Request,
    ledger: Ledger,
    author: str = "",
    before: Before = JSON_INTEGER,
) -> Response:
    """List entries."""
    key = from_text(author) if author else None
    published = ledger.published
    with ledger.database.reader.begin() as connection:
        rows = store_entries.before(connection, min(before, published.size), ROWS, key)
    view = EntriesPage(
        author=author,
        entries=tuple(entry_line(row) for row in rows),
        size=published.size,
        older=rows[-1].index if len(rows) == ROWS and rows[-1].index else None,
        is_first=before >= published.size,
    )
    return render.page(request, "entries.html", render.frame(request, ledger, published), view)


# --- GET /entries/{index}: one entry with all that proves it, for people and for the verifier.


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
@render.by_turns
def get_entry(request: Request, ledger: Ledger, index: str) -> Response:
    """Show an entry."""
    number, published = _number(index), ledger.published
    with ledger.database.glance.connect() as connection:
        found = entries.one(connection, number) if number < published.size else None
    if found is None:
        raise RefusedError(
            "not-found",
            f"the published log has {published.size} entries, so there is no entry {number}",
        )
    path = tuple(map(_base64, ledger.proofs.at(published.size).inclusion(number)))
    view = _view(entry_line(found[0]), found[1], path, published, ledger)
    return render.page(request, "entry.html", render.frame(request, ledger, published), view)


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
        quorum=policy.quorum if policy else NO_QUORUM,
        log_key=genesis.log_key,
        network_id=to_text(genesis.network_id),
    )


def _base64(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")
