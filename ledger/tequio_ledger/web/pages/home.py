"""GET /, /join, /about, /api, /search and /status: the network as a whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from tequio_ledger.ledger import Ledger
from tequio_ledger.store import entries, log_rows, queries, ranking
from tequio_ledger.web.answers import snapshot
from tequio_ledger.web.log_files import witness_answers
from tequio_ledger.web.openapi import PATH as OPENAPI_PATH
from tequio_ledger.web.openapi import ApiDescription, Json
from tequio_ledger.web.pages import competition_text, render, run_charts, text
from tequio_ledger.web.pages.charts import Chart
from tequio_ledger.web.pages.log import note_lines
from tequio_ledger.web.pages.run_view import RunSnapshot, data_progress, run_snapshot
from tequio_ledger.web.pages.runs import (
    PAGE_ROUNDS,
    SPEED_ROUNDS,
    HeldOut,
    MeasureReader,
    headline,
    run_quality,
    sorted_runs,
)
from tequio_ledger.web.pages.tallies import Tallies
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
    parse_key,
    to_text,
)
from tequio_shared.limits import VESTING
from tequio_shared.log.policy import NO_QUORUM
from tequio_shared.round import points
from tequio_shared.served.competitions import competition_snapshot
from tequio_shared.served.rows import CLOSED, RoundRow

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from tequio_shared.served.state import State


TOP_EARNERS, COMPETITIONS, OTHER_RUNS = 5, 3, 6
WEEK_DAYS = 7
CHECKPOINTS = 10
# The example on the page "About":
TOKENS, PARAMETERS, SHARE_BP, ELECTED = 1_000_000, 350_000_000, 500, 16
MATCHES = 20
_HEX = re.compile("[0-9A-Fa-f]{64}")
_NUMBER = re.compile("[0-9]{1,15}")
_KEY_START = re.compile("[A-Za-z0-9_-]{3,43}")
_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


@dataclass(frozen=True, slots=True, kw_only=True)
class FeaturedRun:
    """The run that the first page shows in full, with the curve of its heads."""

    now: RunSnapshot
    source: str
    curve: Chart
    quality: HeldOut | None
    """Of the measured heads, on held-out text."""
    checked: RoundRow | None
    """The last closed round, as an example of what is checked."""


@get("/")
async def get_home(
    request: Request, ledger: Ledger, tallies: Tallies, measure_reader: MeasureReader
) -> Response:
    """Show a first visitor what is trained here, how far it is, and how to take part."""
    await ledger.sequencer.settled()
    state, now_ms = ledger.state, ledger.clock()
    listed = sorted_runs(state)
    views = state.competitions.views.items()
    contests = [
        competition_text.summary(competition_snapshot(state, one, now_ms), now_ms)
        for one, view in views
        if view.phase is not CompetitionPhase.DECIDED and not view.void_reason(now_ms)
    ]
    contests.sort(key=lambda one: (not one.is_joinable, -one.now.opened_index))
    keys, announcement = len(state.peers), state.notices.announcement
    tokens = sum(view.accounts.tokens for view in state.runs.values())

    def make() -> Response:
        now_ms = ledger.clock()
        by_day = tallies.points_per_day(run_charts.SPAN_DAYS).found
        best = tallies.owners(WEEK_DAYS * DAY_MS).found[:TOP_EARNERS]
        with snapshot(ledger) as (connection, published):
            ranked = ranking.count(connection)
            featured = _featured(connection, ledger, measure_reader, listed[0]) if listed else None
        return render.page(
            request,
            ledger,
            published,
            "home.html",
            announcement=announcement,
            headline=headline(listed[0] if listed and not listed[0].is_over else None),
            featured=featured,
            conditions=text.admission_conditions(featured.now.manifest.admits) if featured else (),
            runs=listed[1 : 1 + OTHER_RUNS],
            contests=contests[:COMPETITIONS],
            keys=keys,
            ranked=ranked,
            members=sum(run.members for run in listed if not run.is_over),
            tokens=tokens,
            today_gflop=by_day.get(now_ms // DAY_MS, 0),
            points=run_charts.points_per_day(by_day, now_ms),
            leaders=best,
        )

    return await render.enqueue(request, make)


def _featured(
    connection: Connection, ledger: Ledger, measure_reader: MeasureReader, now: RunSnapshot
) -> FeaturedRun:
    run = RunId(from_text(now.id))
    rounds = queries.last_rounds(connection, run, PAGE_ROUNDS)
    found = run_quality(connection, measure_reader, now)
    last = found.curve.last
    return FeaturedRun(
        now=now,
        source=data_progress(now, ledger.blobs.read).source,
        curve=replace(
            found.curve,
            title=f"{now.name} learns",
            summary=f"{found.source}: {found.reached} after round {last.label}. Less is better."
            if last
            else "",
        ),
        quality=found.measured,
        checked=next((one for one in reversed(rounds) if one.outcome == CLOSED), None),
    )


@get("/join")
@render.in_queue
def get_join(request: Request, ledger: Ledger) -> Response:
    """Explain how to install the app and to join with it."""
    return render.page(request, ledger, ledger.published, "join.html", cache=render.CACHE_SETTLED)


API_GROUPS = {
    "runs": "Runs and rounds",
    "competitions": "Competitions",
    **dict.fromkeys(
        ("peers", "ranking", "quarantine", "invitations", "connectors"), "Keys and points"
    ),
    **dict.fromkeys(("network", "notice", "healthz", "seeds"), "The network"),
    "blobs": "Files by their hash",
}
"""By the first part of a path; all others belong to the log."""


def api_group(path: str) -> str:
    """Return the heading under which a call of the API is listed."""
    return API_GROUPS.get(path.removeprefix("/v1").split("/")[1], "The log")


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiLine:
    method: str
    path: str
    text: str
    queries: tuple[str, ...]

    @property
    def is_link(self) -> bool:
        """Report whether a browser can open the path as it is."""
        return self.method == "GET" and "{" not in self.path and self.path != "/v1/events"


@get("/api")
@render.in_queue
def get_api(request: Request, ledger: Ledger, description: ApiDescription) -> Response:
    """List the operations of the API for people, with links to those that a browser can open."""
    groups: dict[str, list[ApiLine]] = {}
    for path, operations in description.content["paths"].items():
        lines = (_api_line(method, path, one) for method, one in operations.items())
        groups.setdefault(api_group(path), []).extend(lines)
    return render.page(
        request,
        ledger,
        ledger.published,
        "api.html",
        cache=render.CACHE_SETTLED,
        groups=groups,
        document=OPENAPI_PATH,
    )


def _api_line(method: str, path: str, operation: Json) -> ApiLine:
    return ApiLine(
        method=method.upper(),
        path=path,
        text=" ".join(operation["description"].replace("`", "").split()),
        queries=tuple(one["name"] for one in operation["parameters"] if one["in"] == "query"),
    )


@get("/about")
@render.in_queue
def get_about(request: Request, ledger: Ledger) -> Response:
    """Explain points with an example, worked out by the functions that pay."""
    paid = points.trainer_gflop(TOKENS, PARAMETERS)
    return render.page(
        request,
        ledger,
        ledger.published,
        "about.html",
        cache=render.CACHE_SETTLED,
        tokens=TOKENS,
        parameters=PARAMETERS,
        trainer_gflop=paid,
        share_bp=SHARE_BP,
        elected=ELECTED,
        witness_gflop=points.witness_gflop(ELECTED * paid, SHARE_BP, ELECTED),
        vesting=VESTING,
        speed_rounds=SPEED_ROUNDS,
    )


@dataclass(frozen=True, slots=True)
class SearchMatch:
    path: str
    name: str
    kind: str


@get("/search")
@render.in_queue
def get_search(request: Request, ledger: Ledger, q: str = "") -> Response:
    """Redirect to the only result, or list all results."""
    asked = q.strip()[: render.QUERY_CHARS]
    with snapshot(ledger) as (connection, published):
        found = find_matches(connection, ledger, asked) if asked else []
    if len(found) == 1:
        return render.redirect(found[0].path)
    return render.page(request, ledger, published, "search.html", asked=asked, found=found)


def find_matches(connection: Connection, ledger: Ledger, asked: str) -> list[SearchMatch]:
    """List at most `MATCHES` matches, the likeliest first, none twice."""
    found: dict[str, SearchMatch] = {}
    for one in _all(connection, ledger, asked):
        found.setdefault(one.path, one)
        if len(found) == MATCHES:
            break
    return list(found.values())


def _all(connection: Connection, ledger: Ledger, asked: str) -> Iterator[SearchMatch]:
    plain = asked.removeprefix("#").replace(",", "")
    if _NUMBER.fullmatch(plain) and int(plain) < ledger.published.size:
        yield SearchMatch(f"/entries/{int(plain)}", f"Entry {int(plain):,}", "of the log")
    yield from _holders(ledger.state, asked)
    digest = _digest(asked)
    if digest is not None:
        yield from _named(connection, ledger, digest)
    for run, view in list(ledger.state.runs.items()):
        name, text = view.manifest.name, to_text(run)
        if asked.casefold() in name.casefold() or text.startswith(asked):
            yield SearchMatch(f"/runs/{text}", name, "a run")
    for contest in list(ledger.state.competitions.views.values()):
        name, text = contest.rules.name, to_text(contest.id)
        if asked.casefold() in name.casefold() or text.startswith(asked):
            yield SearchMatch(f"/competitions/{text}", name, "a competition")
    if digest is None and _KEY_START.fullmatch(asked):
        yield from _keys(connection, asked)


def _holders(state: State, asked: str) -> Iterator[SearchMatch]:
    """List the member and the team of a name: there can be both."""
    key, team = state.names.holder(asked), state.teams.named(asked)
    if key is not None:
        yield SearchMatch(f"/peers/{to_text(key)}", state.names.of(key), "a member")
    if team:
        yield SearchMatch(f"/teams/{team}", state.teams.name_of(team), "a team")


def _digest(asked: str) -> Digest | None:
    """Parse a key or hash, in any of its notations."""
    if _HEX.fullmatch(asked):
        return Digest(bytes.fromhex(asked))
    try:
        return Digest(parse_key(asked))
    except MalformedError:
        return None


def _named(connection: Connection, ledger: Ledger, digest: Digest) -> Iterator[SearchMatch]:
    text = to_text(digest)
    if queries.key(connection, PeerKey(digest)) is not None:
        yield SearchMatch(f"/peers/{text}", text, "a key")
    if RunId(digest) in ledger.state.runs:
        yield SearchMatch(f"/runs/{text}", text, "a run")
    index = log_rows.find_index(connection, digest)
    if index is not None and index < ledger.published.size:
        yield SearchMatch(f"/entries/{index}", f"Entry {index:,}", "has this statement id")
    for run, number in entries.rounds_of_head(connection, digest, MATCHES):
        path = f"/runs/{to_text(run)}/rounds/{number}"
        yield SearchMatch(path, f"Round {number:,}", "started from this head")
    if ledger.blobs.has(digest):
        yield SearchMatch(f"/v1/blobs/{text}", text, "a blob")


def _keys(connection: Connection, start: str) -> Iterator[SearchMatch]:
    """List keys whose base64url text begins with some characters."""
    low, high = (_padded(start, digit) for digit in ("A", "_"))
    for key in map(to_text, entries.keys_like(connection, low, high, MATCHES)):
        if key.startswith(start):
            yield SearchMatch(f"/peers/{key}", key, "a key")


def _padded(start: str, digit: str) -> bytes:
    """Give the lowest (digit A) or highest (_) 32 bytes whose text begins with `start`."""
    bits = "".join(f"{_DIGITS.index(char):06b}" for char in start.ljust(43, digit))
    return int(bits[: 8 * DIGEST_BYTES], 2).to_bytes(DIGEST_BYTES, "big")


HEALTH_LABELS = {
    "ok": StatusLabel("All is well", "ok", "Statements are accepted, logged, signed and served."),
    "read-only": StatusLabel(
        "Read-only", "danger", "Published entries are served; new statements are refused."
    ),
    "damaged": StatusLabel(
        "Tables are damaged",
        "danger",
        "Figures that do not follow from the log are withheld; the log itself is served.",
    ),
    "no-quorum": StatusLabel(
        "Waiting for witnesses",
        "warn",
        "Statements are accepted, and published once witnesses have cosigned them.",
    ),
    "no-snapshots": StatusLabel(
        "Starts take longer",
        "warn",
        "Statements are accepted, logged, signed and served; a start has more of the log to read.",
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
    """Show the health of the ledger, its checkpoints, and the signers of the log."""
    await ledger.sequencer.settled()
    runs = [run_snapshot(ledger.state, run) for run in ledger.state.runs]
    types = ledger.state.types.most_common()
    release = ledger.state.releases.newest

    def make() -> Response:
        health, note = ledger.health(), ledger.published.note
        with snapshot(ledger) as (connection, published):
            checkpoints = entries.checkpoints(connection, CHECKPOINTS)
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
            checkpoints=checkpoints,
            age_ms=max(ledger.clock() - checkpoints[0][2], 0) if checkpoints else 0,
            lines=note_lines(note, ledger.policy),
            note=note.decode(),
            quorum=ledger.policy.quorum if ledger.policy else NO_QUORUM,
            witnesses=witness_answers(ledger.publisher.publication()) if ledger.publisher else (),
            runs=runs,
            types=types,
            release=release,
            network_id=to_text(ledger.genesis.network_id),
            genesis=ledger.genesis,
        )

    return await render.enqueue(request, make)
