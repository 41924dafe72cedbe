"""POST /v1/statements: a bundle of signed entries in, one answer for each out."""

import asyncio
from collections.abc import Sequence

import msgspec
from litestar import post

from tequio_ledger import admission
from tequio_ledger.sequencer import Known, Logged, Outcome, Refused
from tequio_ledger.state import State
from tequio_ledger.web.bodies import read_body
from tequio_ledger.web.given import GivenLedger
from tequio_ledger.web.problems import AnyRequest, code_of
from tequio_shared.errors import MalformedError, PeerError, RefusedError
from tequio_shared.ids import PeerKey, sha256, to_text
from tequio_shared.limits import POST_BYTES, POST_STATEMENTS
from tequio_shared.statement import Entry, statement_id
from tequio_shared.statements.members import KeyRegister
from tequio_shared.tlog import parse_bundle


class Item(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of one entry: logged, known or refused.

    `id` is the statement's id; for bytes that are no statement, the SHA-256 of the leaf.
    """

    id: str
    status: str
    index: int | None = None
    code: str | None = None
    detail: str | None = None


class Items(msgspec.Struct, frozen=True):
    """One item for each entry of the request, in its order."""

    items: list[Item]


@post("/v1/statements", status_code=200)
async def post_statements(request: AnyRequest, ledger: GivenLedger) -> Items:
    """Log a bundle of entries; answers when they are on the disk under a signed checkpoint."""
    raw = await read_body(request, POST_BYTES)
    leaves = _leaves(raw)
    checked = await asyncio.to_thread(_check_all, leaves, ledger.state, ledger.clock())
    sound = [entry for entry in checked if isinstance(entry, Entry)]
    outcomes = iter(await ledger.sequencer.submit(sound) if sound else ())
    return Items([_item(next(outcomes) if isinstance(e, Entry) else e) for e in checked])


def _leaves(raw: bytes) -> list[bytes]:
    try:
        leaves = parse_bundle(raw, POST_STATEMENTS)
    except MalformedError as err:
        raise RefusedError("malformed", str(err)) from err
    if not leaves:
        raise RefusedError("malformed", "an empty bundle")
    return leaves


def _check_all(leaves: Sequence[bytes], state: State, now_ms: int) -> list[Entry | Refused]:
    """Parse, screen and verify, cheap things first; runs in a thread and only reads the state."""
    newcomers: set[PeerKey] = set()
    checked: list[Entry | Refused] = []
    for leaf in leaves:
        entry = _check(leaf, state, now_ms, newcomers)
        if isinstance(entry, Entry) and isinstance(entry.statement.body, KeyRegister):
            newcomers.add(entry.statement.author)
        checked.append(entry)
    return checked


def _check(leaf: bytes, state: State, now_ms: int, newcomers: set[PeerKey]) -> Entry | Refused:
    name = sha256(leaf)
    try:
        entry = Entry.parse(leaf)
        name = statement_id(state.net, entry.statement.raw)
        admission.screen(entry, state, now_ms, newcomers)
        entry.verify(state.net)
    except (PeerError, RefusedError) as err:
        return Refused(id=name, code=code_of(err), detail=str(err))
    return entry


def _item(outcome: Outcome) -> Item:
    match outcome:
        case Logged(id=name, index=index):
            return Item(id=to_text(name), status="logged", index=index)
        case Known(id=name, index=index):
            return Item(id=to_text(name), status="known", index=index)
        case Refused(id=name, code=code, detail=detail):
            return Item(id=to_text(name), status="refused", code=code, detail=detail)
