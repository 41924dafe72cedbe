"""GET /status: whether the ledger is well, how far its log reaches, and who signs it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from tequio_ledger.ledger import Ledger
from tequio_ledger.log.log import Published
from tequio_ledger.state import State
from tequio_ledger.store import entries, queries
from tequio_ledger.store import entries as store_entries
from tequio_ledger.store.queries import Owner
from tequio_ledger.web.answers import snapshot
from tequio_ledger.web.competitions import competition_now
from tequio_ledger.web.pages import competition_text, render, run_charts, text
from tequio_ledger.web.pages.charts import Chart
from tequio_ledger.web.pages.entry_view import EntryLine, NoteLine, entry_line, note_lines
from tequio_ledger.web.pages.run_view import RunNow, run_now
from tequio_ledger.web.pages.text import DAY_MS, Mark
from tequio_ledger.web.routing import get
from tequio_shared.competition.state import CompetitionPhase
from tequio_shared.errors import MalformedError
from tequio_shared.ids import (
    DIGEST_BYTES,
    Digest,
    PeerKey,
    RunId,
    from_text,
    key_from_peer_id,
    to_text,
)
from tequio_shared.log.policy import NO_QUORUM
from tequio_shared.round import assignment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

# --- GET /about: what this is, how points come about, and how to check all of it.

TOKENS, PARAMETERS, SHARE_BP, ELECTED = 1_000_000, 350_000_000, 500, 16


@dataclass(frozen=True, slots=True, kw_only=True)
class AboutPage:
    """Figures of the example, by the functions that pay."""

    tokens: int
    parameters: int
    trainer_micropoints: int
    share_bp: int
    elected: int
    round_micropoints: int
    witness_micropoints: int
    ledger: str


@get("/about")
@render.by_turns
def get_about(request: Request, ledger: Ledger) -> Response:
    """Explain."""
    one = assignment.trainer_micropoints(TOKENS, PARAMETERS)
    round_total = ELECTED * one
    view = AboutPage(
        tokens=TOKENS,
        parameters=PARAMETERS,
        trainer_micropoints=one,
        share_bp=SHARE_BP,
        elected=ELECTED,
        round_micropoints=round_total,
        witness_micropoints=assignment.witness_micropoints(round_total, SHARE_BP, ELECTED),
        ledger=render.here(request, ledger),
    )
    frame = render.frame(request, ledger, ledger.published)
    return render.page(request, "about.html", frame, view, render.SETTLED)


# --- What a person may mean by a few characters: an entry, a key, a run, a hash.

MOST = 20
_HEX = re.compile("[0-9A-Fa-f]{64}")
_NUMBER = re.compile("[0-9]{1,15}")
_FRONT = re.compile("[A-Za-z0-9_-]{3,43}")
_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One thing that fits: where it is, and what it is."""

    path: str
    name: str
    what: str


def find(connection: Connection, ledger: Ledger, asked: str) -> list[Found]:
    """List what fits, the likeliest first, none twice."""
    found: dict[str, Found] = {}
    for one in _all(connection, ledger, asked):
        found.setdefault(one.path, one)
        if len(found) == MOST:
            break
    return list(found.values())


def _all(connection: Connection, ledger: Ledger, asked: str) -> Iterator[Found]:
    yield from _entries(asked, ledger.published.size)
    digest = _digest(asked)
    if digest is not None:
        yield from _named(connection, ledger, digest)
    yield from _runs(ledger, asked)
    yield from _competitions(ledger, asked)
    if digest is None and _FRONT.fullmatch(asked):
        yield from _fronts(connection, asked)


def _entries(asked: str, size: int) -> Iterator[Found]:
    plain = asked.removeprefix("#").replace(",", "")
    if _NUMBER.fullmatch(plain) and int(plain) < size:
        yield Found(path=f"/entries/{int(plain)}", name=f"Entry {int(plain):,}", what="of the log")


def _digest(asked: str) -> Digest | None:
    """A key or hash, in any of the ways in which they are written."""
    if _HEX.fullmatch(asked):
        return Digest(bytes.fromhex(asked))
    try:
        if asked.startswith("12D3Koo"):
            return Digest(key_from_peer_id(asked))
        return Digest(from_text(asked))
    except MalformedError:
        return None


def _named(connection: Connection, ledger: Ledger, digest: Digest) -> Iterator[Found]:
    text = to_text(digest)
    if queries.peer(connection, PeerKey(digest)) is not None:
        yield _peer(digest)
    if RunId(digest) in ledger.state.runs:
        yield Found(path=f"/runs/{text}", name=text, what="a run")
    index = entries.index_of_id(connection, digest)
    if index is not None and index < ledger.published.size:
        name = f"Entry {index:,}"
        yield Found(path=f"/entries/{index}", name=name, what="has this statement id")
    for run, number in entries.rounds_of_head(connection, digest, MOST):
        path = f"/runs/{to_text(run)}/rounds/{number}"
        yield Found(path=path, name=f"Round {number:,}", what="started from this head")
    if ledger.blobs.has(digest):
        yield Found(path=f"/v1/blobs/{text}", name=text, what="a blob, as it is")


def _runs(ledger: Ledger, asked: str) -> Iterator[Found]:
    for run, view in list(ledger.state.runs.items()):
        if asked.casefold() in view.manifest.name.casefold() or to_text(run).startswith(asked):
            yield Found(path=f"/runs/{to_text(run)}", name=view.manifest.name, what="a run")


def _competitions(ledger: Ledger, asked: str) -> Iterator[Found]:
    for view in list(ledger.state.competitions.views.values()):
        name, text = view.rules.name, to_text(view.id)
        if asked.casefold() in name.casefold() or text.startswith(asked):
            yield Found(path=f"/competitions/{text}", name=name, what="a competition")


def _fronts(connection: Connection, asked: str) -> Iterator[Found]:
    """Keys that begin so, in base64url."""
    low, high = (_filled(asked, digit) for digit in ("A", "_"))
    for key in entries.keys_like(connection, low, high, MOST):
        if to_text(key).startswith(asked):
            yield _peer(key)


def _filled(front: str, digit: str) -> bytes:
    """The least or the greatest 32 bytes whose text begins so."""
    bits = "".join(f"{_DIGITS.index(char):06b}" for char in front.ljust(43, digit))
    return int(bits[: 8 * DIGEST_BYTES], 2).to_bytes(DIGEST_BYTES, "big")


def _peer(key: bytes) -> Found:
    return Found(path=f"/peers/{to_text(key)}", name=to_text(key), what="a key")


# --- GET /: the network at a glance: its runs, who earned, and what was logged last.

ENTRIES, EARNERS, CONTESTS = 8, 5, 3
WEEK_DAYS = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Leader:
    """One key among those that earned most lately."""

    key: str
    micropoints: int
    rounds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """A competition that is not decided."""

    id: str
    name: str
    mark: Mark
    coming: tuple[str, int] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """The network."""

    runs: tuple[RunNow, ...]
    """The newest first; those that are over last."""
    contests: tuple[Contest, ...]
    """The newest first."""
    keys: int
    ranked: int
    members: int
    tokens: int
    today_micropoints: int
    points: Chart
    leaders: tuple[Leader, ...]
    entries: tuple[EntryLine, ...]


@get("/")
async def get_overview(request: Request, ledger: Ledger) -> Response:
    """Show the network."""
    await ledger.sequencer.settled()
    runs = [run_now(ledger.state, run) for run in ledger.state.runs]
    contests = _contests(ledger.state, ledger.clock())
    keys = len(ledger.state.peers)
    return await render.in_turn(request, _printed, request, ledger, runs, contests, keys)


def _contests(state: State, now_ms: int) -> tuple[Contest, ...]:
    views = state.competitions.views
    goes_on = [
        one
        for one, view in views.items()
        if view.phase is not CompetitionPhase.DECIDED and not view.void_reason(now_ms)
    ]
    found = [competition_now(state, one, now_ms) for one in reversed(goes_on[-CONTESTS:])]
    return tuple(
        Contest(
            id=one.id,
            name=one.rules.name,
            mark=competition_text.mark(one, now_ms),
            coming=competition_text.coming(one, now_ms),
        )
        for one in found
    )


def _printed(
    request: Request,
    ledger: Ledger,
    runs: list[RunNow],
    contests: tuple[Contest, ...],
    keys: int,
) -> Response:
    view, published = _view(ledger, runs, contests, keys)
    return render.page(request, "overview.html", render.frame(request, ledger, published), view)


def _view(
    ledger: Ledger, runs: list[RunNow], contests: tuple[Contest, ...], keys: int
) -> tuple[Overview, Published]:
    now_ms = ledger.clock()
    with snapshot(ledger.database) as (connection, published):
        by_day = queries.points_per_day(connection, now_ms - run_charts.SPAN_DAYS * DAY_MS)
        best = queries.owners(connection, now_ms - WEEK_DAYS * DAY_MS, EARNERS)
        ranked = queries.count(connection)
        rows = store_entries.before(connection, ledger.published.size, ENTRIES)
        tokens = queries.tokens(connection)
    view = Overview(
        runs=tuple(sorted(runs, key=lambda run: (run.is_over, -run.opened_index))),
        contests=contests,
        keys=keys,
        ranked=ranked,
        members=sum(run.members for run in runs if not run.is_over),
        tokens=tokens,
        today_micropoints=by_day.get(now_ms // DAY_MS, 0),
        points=run_charts.points_per_day(by_day, now_ms),
        leaders=tuple(_leader(one) for one in best),
        entries=tuple(entry_line(row) for row in rows),
    )
    return view, published


def _leader(one: Owner) -> Leader:
    return Leader(key=to_text(one.key), micropoints=one.micropoints, rounds=one.rounds or 0)


# --- GET /search: leads to what was meant, or lists what it may have been.

CHARS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPage:
    """What was asked, and what fits."""

    asked: str
    found: tuple[Found, ...]


@get("/search")
@render.by_turns
def get_search(request: Request, ledger: Ledger, q: str = "") -> Response:
    """Find an entry, a key, a run or a hash."""
    asked = q.strip()[:CHARS]
    with snapshot(ledger.database) as (connection, published):
        found = find(connection, ledger, asked) if asked else []
    if len(found) == 1:
        return render.elsewhere(found[0].path)
    view = SearchPage(asked=asked, found=tuple(found))
    return render.page(request, "search.html", render.frame(request, ledger, published), view)


CHECKPOINTS = 10

HEALTH = {
    "ok": Mark("All is well", "ok", "Statements are taken, logged, signed and served."),
    "read-only": Mark("Read-only", "danger", "What is published is served; nothing is taken."),
    "no-quorum": Mark(
        "Waits for its witnesses", "warn", "Statements are taken; they are shown when cosigned."
    ),
    "restored": Mark(
        "Restored from a backup",
        "danger",
        "Somebody may hold more of the log than it: nothing is signed before that is known.",
    ),
    "lost": Mark(
        "Part of the log is lost",
        "danger",
        "Somebody holds a signed checkpoint that goes beyond this log: nothing is signed any more.",
    ),
    "moved": Mark("Moved", "off", "The log goes on in another database; this one only shows it."),
    "unfinished": Mark(
        "Being moved here", "busy", "Not all of the log is here yet: nothing is signed before."
    ),
    "clock": Mark("Clock is behind", "warn", "The coordinator waits until time has caught up."),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointLine:
    """One signed size of the log."""

    size: int
    root: str
    at_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeCount:
    """How many entries of a type there are."""

    type: str
    says: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WitnessLine:
    """A witness that the log's policy names, as the ledger last found it."""

    name: str
    url: str
    size: int
    answer_ms: int | None
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusPage:
    """The ledger's own state."""

    mark: Mark
    detail: str
    checkpoints: tuple[CheckpointLine, ...]
    age_ms: int
    lines: tuple[NoteLine, ...]
    note: str
    """The newest one that is published."""
    quorum: str
    witnesses: tuple[WitnessLine, ...]
    runs: tuple[RunNow, ...]
    types: tuple[TypeCount, ...]
    network_id: str
    log_key: str
    coordinator: str
    organisers: tuple[str, ...]
    threshold: int


@get("/status")
async def get_status(request: Request, ledger: Ledger) -> Response:
    """Show how the ledger is."""
    await ledger.sequencer.settled()
    runs = tuple(run_now(ledger.state, run) for run in ledger.state.runs)
    types = ledger.state.types.most_common()
    return await render.in_turn(request, _status_printed, request, ledger, runs, types)


def _status_printed(
    request: Request, ledger: Ledger, runs: tuple[RunNow, ...], types: list[tuple[str, int]]
) -> Response:
    view, published = _status_view(ledger, runs, types)
    return render.page(request, "status.html", render.frame(request, ledger, published), view)


def _status_view(
    ledger: Ledger, runs: tuple[RunNow, ...], types: list[tuple[str, int]]
) -> tuple[StatusPage, Published]:
    health, genesis = ledger.health(), ledger.genesis
    with snapshot(ledger.database) as (connection, published):
        signed = entries.checkpoints(connection, CHECKPOINTS)
    fallback = Mark(health.status, "danger", "The ledger signs nothing until somebody looks.")
    view = StatusPage(
        mark=HEALTH.get(health.status, fallback),
        detail=health.detail or "",
        checkpoints=tuple(
            CheckpointLine(size=size, root=to_text(root), at_ms=at_ms)
            for size, root, at_ms in signed
        ),
        age_ms=max(ledger.clock() - signed[0][2], 0) if signed else 0,
        lines=note_lines(ledger.published.note, ledger.policy),
        note=ledger.published.note.decode(),
        quorum=ledger.policy.quorum if ledger.policy else NO_QUORUM,
        witnesses=_witnesses(ledger),
        runs=runs,
        types=tuple(
            TypeCount(type=name, says=text.TYPES.get(name, ""), count=count)
            for name, count in types
        ),
        network_id=to_text(genesis.network_id),
        log_key=genesis.log_key,
        coordinator=genesis.coordinator,
        organisers=genesis.organisers,
        threshold=genesis.threshold,
    )
    return view, published


def _witnesses(ledger: Ledger) -> tuple[WitnessLine, ...]:
    if ledger.publisher is None:
        return ()
    return tuple(
        WitnessLine(
            name=one.name,
            url=one.url,
            size=one.size,
            answer_ms=None if one.answer_s is None else int(one.answer_s * 1_000),
            problem=one.problem or "",
        )
        for one in ledger.publisher.publication().witnesses
    )
