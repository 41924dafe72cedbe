"""GET /: the network at a glance: its runs, who earned, and what was logged last."""

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from tequio_ledger.log.log import Published
from tequio_ledger.service import Ledger
from tequio_ledger.state import State
from tequio_ledger.store import entry_rows, history, leaders, ranking
from tequio_ledger.store.leaders import Owner
from tequio_ledger.web.answers import snapshot
from tequio_ledger.web.competition_now import competition_now
from tequio_ledger.web.pages import competition_words, press, series
from tequio_ledger.web.pages.chart import Chart
from tequio_ledger.web.pages.entry_line import EntryLine, entry_line
from tequio_ledger.web.pages.figures import DAY_MS
from tequio_ledger.web.pages.run_now import RunNow, run_now
from tequio_ledger.web.pages.words import Mark
from tequio_ledger.web.routing import get
from tequio_shared.competition_state import Phase
from tequio_shared.ids import to_text

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
    return await press.in_turn(request, _printed, request, ledger, runs, contests, keys)


def _contests(state: State, now_ms: int) -> tuple[Contest, ...]:
    views = state.competitions.views
    goes_on = [
        one
        for one, view in views.items()
        if view.phase is not Phase.DECIDED and not view.void(now_ms)
    ]
    found = [competition_now(state, one, now_ms) for one in reversed(goes_on[-CONTESTS:])]
    return tuple(
        Contest(
            id=one.id,
            name=one.rules.name,
            mark=competition_words.mark(one, now_ms),
            coming=competition_words.coming(one, now_ms),
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
    return press.page(request, "overview.html", press.frame(request, ledger, published), view)


def _view(
    ledger: Ledger, runs: list[RunNow], contests: tuple[Contest, ...], keys: int
) -> tuple[Overview, Published]:
    now_ms = ledger.clock()
    with snapshot(ledger.database) as (connection, published):
        by_day = history.points_per_day(connection, now_ms - series.SPAN_DAYS * DAY_MS)
        best = leaders.owners(connection, now_ms - WEEK_DAYS * DAY_MS, EARNERS)
        ranked = ranking.count(connection)
        rows = entry_rows.before(connection, ledger.published.size, ENTRIES)
        tokens = history.tokens(connection)
    view = Overview(
        runs=tuple(sorted(runs, key=lambda run: (run.is_over, -run.opened_index))),
        contests=contests,
        keys=keys,
        ranked=ranked,
        members=sum(run.members for run in runs if not run.is_over),
        tokens=tokens,
        today_micropoints=by_day.get(now_ms // DAY_MS, 0),
        points=series.points_per_day(by_day, now_ms),
        leaders=tuple(_leader(one) for one in best),
        entries=tuple(entry_line(row) for row in rows),
    )
    return view, published


def _leader(one: Owner) -> Leader:
    return Leader(key=to_text(one.key), micropoints=one.micropoints, rounds=one.rounds or 0)
