"""GET /, /about, /search and /status: the network as a whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from tequio_ledger.ledger import Ledger
from tequio_ledger.state import State
from tequio_ledger.store import entries, log_rows, queries, ranking
from tequio_ledger.web.answers import snapshot
from tequio_ledger.web.competitions import competition_snapshot
from tequio_ledger.web.log_files import witness_answers
from tequio_ledger.web.pages import competition_text, render, run_charts, text
from tequio_ledger.web.pages.competition_text import CompetitionSummary
from tequio_ledger.web.pages.entry_view import entry_line, note_lines
from tequio_ledger.web.pages.run_view import RunSnapshot, run_snapshot
from tequio_ledger.web.pages.text import DAY_MS, StatusLabel
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
    from sqlalchemy import Connection


# Sizes of the example on the page "About".
TOKENS, PARAMETERS, SHARE_BP, ELECTED = 1_000_000, 350_000_000, 500, 16


@get("/about")
@render.in_queue
def get_about(request: Request, ledger: Ledger) -> Response:
    """Explain points with an example, worked out by the functions that pay."""
    one = assignment.trainer_micropoints(TOKENS, PARAMETERS)
    return render.page(
        request,
        ledger,
        ledger.published,
        "about.html",
        cache=render.CACHE_SETTLED,
        tokens=TOKENS,
        parameters=PARAMETERS,
        trainer_micropoints=one,
        share_bp=SHARE_BP,
        elected=ELECTED,
        witness_micropoints=assignment.witness_micropoints(ELECTED * one, SHARE_BP, ELECTED),
        ledger_url=render.ledger_url(request, ledger),
    )


# --- GET /search: entries, keys, runs, competitions and hashes that match a few characters.

MATCHES = 20
_HEX = re.compile("[0-9A-Fa-f]{64}")
_NUMBER = re.compile("[0-9]{1,15}")
_KEY_START = re.compile("[A-Za-z0-9_-]{3,43}")
_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchMatch:
    """One match: its address, its name and its kind."""

    path: str
    name: str
    what: str


def find_matches(connection: Connection, ledger: Ledger, asked: str) -> list[SearchMatch]:
    """List at most `MATCHES` matches, the likeliest first, none twice."""
    found: dict[str, SearchMatch] = {}
    for one in _all(connection, ledger, asked):
        found.setdefault(one.path, one)
        if len(found) == MATCHES:
            break
    return list(found.values())


def _all(connection: Connection, ledger: Ledger, asked: str) -> Iterator[SearchMatch]:
    yield from _entries(asked, ledger.published.size)
    digest = _digest(asked)
    if digest is not None:
        yield from _named(connection, ledger, digest)
    yield from _runs(ledger, asked)
    yield from _competitions(ledger, asked)
    if digest is None and _KEY_START.fullmatch(asked):
        yield from _keys(connection, asked)


def _entries(asked: str, size: int) -> Iterator[SearchMatch]:
    plain = asked.removeprefix("#").replace(",", "")
    if _NUMBER.fullmatch(plain) and int(plain) < size:
        yield SearchMatch(
            path=f"/entries/{int(plain)}", name=f"Entry {int(plain):,}", what="of the log"
        )


def _digest(asked: str) -> Digest | None:
    """Parse a key or hash, in any of its notations."""
    if _HEX.fullmatch(asked):
        return Digest(bytes.fromhex(asked))
    try:
        if asked.startswith("12D3Koo"):
            return Digest(key_from_peer_id(asked))
        return Digest(from_text(asked))
    except MalformedError:
        return None


def _named(connection: Connection, ledger: Ledger, digest: Digest) -> Iterator[SearchMatch]:
    text = to_text(digest)
    if queries.peer(connection, PeerKey(digest)) is not None:
        yield _peer(digest)
    if RunId(digest) in ledger.state.runs:
        yield SearchMatch(path=f"/runs/{text}", name=text, what="a run")
    index = log_rows.find_index(connection, digest)
    if index is not None and index < ledger.published.size:
        name = f"Entry {index:,}"
        yield SearchMatch(path=f"/entries/{index}", name=name, what="has this statement id")
    for run, number in entries.rounds_of_head(connection, digest, MATCHES):
        path = f"/runs/{to_text(run)}/rounds/{number}"
        yield SearchMatch(path=path, name=f"Round {number:,}", what="started from this head")
    if ledger.blobs.has(digest):
        yield SearchMatch(path=f"/v1/blobs/{text}", name=text, what="a blob")


def _runs(ledger: Ledger, asked: str) -> Iterator[SearchMatch]:
    for run, view in list(ledger.state.runs.items()):
        if asked.casefold() in view.manifest.name.casefold() or to_text(run).startswith(asked):
            yield SearchMatch(path=f"/runs/{to_text(run)}", name=view.manifest.name, what="a run")


def _competitions(ledger: Ledger, asked: str) -> Iterator[SearchMatch]:
    for view in list(ledger.state.competitions.views.values()):
        name, text = view.rules.name, to_text(view.id)
        if asked.casefold() in name.casefold() or text.startswith(asked):
            yield SearchMatch(path=f"/competitions/{text}", name=name, what="a competition")


def _keys(connection: Connection, start: str) -> Iterator[SearchMatch]:
    """List keys whose base64url text begins with some characters."""
    low, high = (_padded(start, digit) for digit in ("A", "_"))
    for key in entries.keys_like(connection, low, high, MATCHES):
        if to_text(key).startswith(start):
            yield _peer(key)


def _padded(start: str, digit: str) -> bytes:
    """Give the lowest (digit A) or highest (_) 32 bytes whose text begins with `start`."""
    bits = "".join(f"{_DIGITS.index(char):06b}" for char in start.ljust(43, digit))
    return int(bits[: 8 * DIGEST_BYTES], 2).to_bytes(DIGEST_BYTES, "big")


def _peer(key: bytes) -> SearchMatch:
    return SearchMatch(path=f"/peers/{to_text(key)}", name=to_text(key), what="a key")


# --- GET /: the network at a glance: its runs, top earners, and newest entries.

ENTRIES, TOP_EARNERS, COMPETITIONS = 8, 5, 3
WEEK_DAYS = 7


@get("/")
async def get_overview(request: Request, ledger: Ledger) -> Response:
    await ledger.sequencer.settled()
    runs = [run_snapshot(ledger.state, run) for run in ledger.state.runs]
    runs.sort(key=lambda run: (run.is_over, -run.opened_index))  # finished runs last
    contests = _contests(ledger.state, ledger.clock())
    keys = len(ledger.state.peers)
    return await render.enqueue(request, lambda: _overview(request, ledger, runs, contests, keys))


def _contests(state: State, now_ms: int) -> list[CompetitionSummary]:
    """Describe the newest competitions that are not decided, the newest first."""
    views = state.competitions.views
    undecided = [
        one
        for one, view in views.items()
        if view.phase is not CompetitionPhase.DECIDED and not view.void_reason(now_ms)
    ]
    found = (
        competition_snapshot(state, one, now_ms) for one in reversed(undecided[-COMPETITIONS:])
    )
    return [competition_text.summary(one, now_ms) for one in found]


def _overview(
    request: Request,
    ledger: Ledger,
    runs: list[RunSnapshot],
    contests: list[CompetitionSummary],
    keys: int,
) -> Response:
    now_ms = ledger.clock()
    with snapshot(ledger.database) as (connection, published):
        by_day = queries.points_per_day(connection, now_ms - run_charts.SPAN_DAYS * DAY_MS)
        best = ranking.owners(connection, now_ms - WEEK_DAYS * DAY_MS, TOP_EARNERS)
        ranked = ranking.count(connection)
        rows = entries.entries_before(connection, ledger.published.size, ENTRIES)
        tokens = queries.tokens(connection)
    return render.page(
        request,
        ledger,
        published,
        "overview.html",
        runs=runs,
        contests=contests,
        keys=keys,
        ranked=ranked,
        members=sum(run.members for run in runs if not run.is_over),
        tokens=tokens,
        today_micropoints=by_day.get(now_ms // DAY_MS, 0),
        points=run_charts.points_per_day(by_day, now_ms),
        leaders=[(to_text(one.key), one.micropoints) for one in best],
        entries=[entry_line(row) for row in rows],
    )


QUERY_CHARS = 200


@get("/search")
@render.in_queue
def get_search(request: Request, ledger: Ledger, q: str = "") -> Response:
    """Redirect to the only result, or list all results."""
    asked = q.strip()[:QUERY_CHARS]
    with snapshot(ledger.database) as (connection, published):
        found = find_matches(connection, ledger, asked) if asked else []
    if len(found) == 1:
        return render.redirect(found[0].path)
    return render.page(request, ledger, published, "search.html", asked=asked, found=found)


# --- GET /status: the health of the ledger, its checkpoints, and the signers of the log.

CHECKPOINTS = 10

HEALTH_LABELS = {
    "ok": StatusLabel("All is well", "ok", "Statements are accepted, logged, signed and served."),
    "read-only": StatusLabel(
        "Read-only", "danger", "Published entries are served; new statements are refused."
    ),
    "no-quorum": StatusLabel(
        "Waiting for witnesses",
        "warn",
        "Statements are accepted, and published once witnesses have cosigned them.",
    ),
    "restored": StatusLabel(
        "Restored from a backup",
        "danger",
        "Others may have a longer log than the backup: nothing is signed until that is known.",
    ),
    "lost": StatusLabel(
        "Part of the log is lost",
        "danger",
        "A signed checkpoint of a longer log exists: nothing is signed any more.",
    ),
    "moved": StatusLabel(
        "Moved", "off", "The log continues in another database; this one is read-only."
    ),
    "unfinished": StatusLabel(
        "Being copied",
        "busy",
        "The copy of the log is incomplete: nothing is signed before its end.",
    ),
    "clock": StatusLabel(
        "Clock is behind", "warn", "The coordinator waits until the clock has caught up."
    ),
}


@get("/status")
async def get_status(request: Request, ledger: Ledger) -> Response:
    await ledger.sequencer.settled()
    runs = [run_snapshot(ledger.state, run) for run in ledger.state.runs]
    types = ledger.state.types.most_common()
    return await render.enqueue(request, lambda: _status(request, ledger, runs, types))


def _status(
    request: Request, ledger: Ledger, runs: list[RunSnapshot], types: list[tuple[str, int]]
) -> Response:
    health, genesis, note = ledger.health(), ledger.genesis, ledger.published.note
    with snapshot(ledger.database) as (connection, published):
        signed = entries.checkpoints(connection, CHECKPOINTS)
    fallback = StatusLabel(
        health.status, "danger", "The ledger signs nothing until its operator acts."
    )
    return render.page(
        request,
        ledger,
        published,
        "status.html",
        mark=HEALTH_LABELS.get(health.status, fallback),
        detail=health.detail or "",
        checkpoints=[(size, to_text(root), at_ms) for size, root, at_ms in signed],
        age_ms=max(ledger.clock() - signed[0][2], 0) if signed else 0,
        lines=note_lines(note, ledger.policy),
        note=note.decode(),
        quorum=ledger.policy.quorum if ledger.policy else NO_QUORUM,
        witnesses=witness_answers(ledger.publisher.publication()) if ledger.publisher else (),
        runs=runs,
        types=[(name, text.TYPES.get(name, ""), count) for name, count in types],
        network_id=to_text(genesis.network_id),
        genesis=genesis,
    )
