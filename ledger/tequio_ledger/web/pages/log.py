"""GET /entries and /entries/{index}: the log, and one entry with its proof."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from tequio_ledger.ledger import Ledger
from tequio_ledger.store import entries
from tequio_ledger.web.pages import render, text
from tequio_ledger.web.routing import Index, get
from tequio_shared.errors import PeerError, RefusedError
from tequio_shared.head.contribution import ContributionHeader
from tequio_shared.ids import MaybeBytes32Text, from_text, to_text
from tequio_shared.keys import SIGNATURE_BYTES
from tequio_shared.limits import JSON_INTEGER
from tequio_shared.log.merkle import leaf_hash
from tequio_shared.log.notes import from_base64, signature_lines, to_base64
from tequio_shared.log.policy import NO_QUORUM, Policy
from tequio_shared.network import standing
from tequio_shared.statements.statement import Entry, Statement
from tequio_shared.wording import short_count

ROWS = 50
_TIMES = {"opened", "train_by", "close_by", "until", "goal_until"}
_BLOBS = ("roster", "result", "manifest", "text", "submission", "scores", "outcome")
_PEERS = {"peer", "evaluator"}
_LINKS = {"competition": "/competitions/", "side": "/runs/", "team": "/teams/"}
_LINKS |= dict.fromkeys(_BLOBS, "/v1/blobs/")
_KEY_ID_BYTES, _TIME_BYTES = 4, 8
_COSIGNED_BYTES = _KEY_ID_BYTES + _TIME_BYTES + SIGNATURE_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyField:
    """One field of a body: its value as signed, its meaning in words, and its links."""

    name: str
    value: str
    meaning: str = ""
    entries: tuple[int, ...] = ()
    peer: str = ""
    link: str = ""


def body_fields(statement: Statement) -> list[BodyField]:
    body: dict[str, object] = msgspec.to_builtins(statement.body)
    fields = [_field(statement.type, name, value) for name, value in body.items()]
    header = body.get("header")
    return fields + _header_fields(header) if isinstance(header, str) else fields


def _field(kind: str, name: str, value: object) -> BodyField:
    written = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    indices = tuple(value) if name == "evidence" and isinstance(value, list | tuple) else ()
    if name == "change" and isinstance(value, int):
        indices = (value,)
    return BodyField(
        name=name,
        value=written,
        meaning=_meaning(kind, name, value),
        entries=indices,
        peer=written if name in _PEERS else "",
        link=f"{_LINKS[name]}{written}" if name in _LINKS and value else "",
    )


def _meaning(kind: str, name: str, value: object) -> str:
    if name in _TIMES and isinstance(value, int):
        return text.utc_time(value) if value else "" if kind == "team.define" else "no end"
    explain = _MEANINGS.get((kind, name))
    return explain(value) if explain else ""


def _code(explain: Callable[[int], str]) -> Callable[[object], str]:
    return lambda value: explain(value) if isinstance(value, int) else ""


def _rejections(value: object) -> str:
    """Explain the slots and reasons of a witness proof."""
    if not isinstance(value, list | tuple) or not value:
        return "refuses nothing"
    return "; ".join(f"slot {slot}: {text.reason(code)}" for slot, code in value)


def _gains(value: object) -> str:
    """Explain the loss gains of a witness proof."""
    if not isinstance(value, list | tuple) or not value:
        return "measures no gain"
    return "; ".join(f"slot {slot}: {gain / 65_536:+.4f} nats per token" for slot, gain in value)


def _standing(value: object) -> str:
    return text.standing(str(value)).description


_MEANINGS: dict[tuple[str, str], Callable[[object], str]] = {
    ("head.measure", "millibits"): _code(lambda value: f"{short_count(value / 1_000)} bits"),
    ("head.measure", "sample"): lambda _: "the model's text, according to this member",
    ("round.void", "reason"): _code(text.void_reason),
    ("standing.change", "cause"): _code(standing.describe_cause),
    ("standing.change", "to"): _standing,
    ("standing.uphold", "to"): _standing,
    ("witness.proof", "gains"): _gains,
    ("witness.proof", "rejected"): _rejections,
}


def _header_fields(encoded: str) -> list[BodyField]:
    try:
        header = ContributionHeader.parse(from_text(encoded, None))
    except PeerError:
        return []
    claimed = text.loss(header.claimed_loss_last_q16) or None
    return [
        BodyField(name="header: windows", value=text.count(header.window_count)),
        BodyField(name="header: first window", value=text.count(header.window_first)),
        BodyField(name="header: tokens", value=text.count(header.tokens)),
        BodyField(name="header: inner steps", value=text.count(header.inner_steps)),
        BodyField(name="header: starts from head", value=to_text(header.base_head)),
        BodyField(name="header: payload root", value=to_text(header.payload_root)),
        BodyField(
            name="header: claimed loss",
            value=text.decimal(claimed, 4),
            meaning="nats per token, claimed by the trainer; nothing depends on it",
        ),
    ]


@get("/entries")
@render.in_queue
def get_entries(
    request: Request, ledger: Ledger, author: MaybeBytes32Text = "", before: Index = JSON_INTEGER
) -> Response:
    """List entries of every author or of one, the newest first."""
    key = from_text(author) if author else None
    published = ledger.published
    with ledger.database.reader.begin() as connection:
        rows = entries.entries_before(connection, min(before, published.size), ROWS + 1, key)
    return render.page(
        request,
        ledger,
        published,
        "entries.html",
        author=author,
        entries=rows[:ROWS],
        size=published.size,
        older=rows[-2].index if len(rows) > ROWS else None,
        is_first=before >= published.size,
    )


@get("/entries/{index}")
@render.in_queue
def get_entry(request: Request, ledger: Ledger, index: str) -> Response:
    """Show one entry with its proof, for people and for the verifier in `verify.js`."""
    if not (index.isascii() and index.isdigit() and len(index) <= len(str(JSON_INTEGER))):
        raise RefusedError("not-found", f"{index[:60]!r} is not the number of an entry, such as 17")
    number, published = int(index), ledger.published
    with ledger.database.glance.connect() as connection:
        row = entries.read_entry(connection, number) if number < published.size else None
    if row is None:
        raise RefusedError(
            "not-found",
            f"there's no entry {number:,} yet: the log has {published.size:,}, and the newest is "
            f"entry {published.size - 1:,}",
        )
    entry, genesis, policy = Entry.parse(row.leaf), ledger.genesis, ledger.policy
    statement = entry.statement
    return render.page(
        request,
        ledger,
        published,
        "entry.html",
        line=row,
        size=published.size,
        seq=statement.seq,
        ts_ms=statement.ts,
        signers=[(to_text(key), key in ledger.state.peers) for key, _ in entry.signatures],
        fields=body_fields(statement),
        statement=statement.raw.decode(),  # the signed JSON, to the byte
        leaf=to_base64(row.leaf),
        leaf_hash=to_base64(leaf_hash(row.leaf)),
        path=[to_base64(one) for one in ledger.proofs.at(published.size).inclusion(number)],
        note=published.note.decode(),
        lines=note_lines(published.note, policy),
        quorum=policy.quorum if policy else NO_QUORUM,
        log_key=genesis.log_key,
        network_id=to_text(genesis.network_id),  # base64url: every signature covers it
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteLine:
    """One signature line of a checkpoint; the signature is not verified here."""

    name: str
    key_id: str
    cosigned_ms: int | None
    """Time of the signature, if the line is a cosignature."""
    witness: str
    """Verifier key of a witness that the log's policy names; empty for any other line."""


def note_lines(note: bytes, policy: Policy | None) -> tuple[NoteLine, ...]:
    """Parse the signature lines of a checkpoint of this log."""
    keys = [one.key for one in policy.witnesses] if policy else []
    known = {(key.name, key.id): key.text() for key in keys}
    return tuple(_note_line(line, known) for line in signature_lines(note.rpartition(b"\n\n")[2]))


def _note_line(line: str, known: Mapping[tuple[str, bytes], str]) -> NoteLine:
    name, _, payload = line.strip().removeprefix("— ").rpartition(" ")
    raw = from_base64(payload)
    is_cosigned = len(raw) == _COSIGNED_BYTES
    time_s = int.from_bytes(raw[_KEY_ID_BYTES : _KEY_ID_BYTES + _TIME_BYTES], "big")
    return NoteLine(
        name=name,
        key_id=raw[:_KEY_ID_BYTES].hex(),
        cosigned_ms=time_s * 1_000 if is_cosigned else None,
        witness=known.get((name, raw[:_KEY_ID_BYTES]), ""),
    )
