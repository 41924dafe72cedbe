"""News of a network: the few entries of the log that people want to be told about.

One entry gives one news item or none, by the same function for feeds and webhooks. `recent` finds
the last such entries from the state and from keys of tables, without reading the log: its cost
grows with the runs that have not ended, which organisers open. Of the others it reads
the last ones that ended.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import nlargest
from typing import TYPE_CHECKING

from sqlalchemy import bindparam, select

from tequio_ledger.store import entries
from tequio_ledger.store.models import LOG_ENTRY, ROUND
from tequio_shared.competition.state import CompetitionPhase
from tequio_shared.ids import RunId, digest_from_text, to_text
from tequio_shared.network.run_states import RunState
from tequio_shared.network.tiers import KEYS_OF_TIER
from tequio_shared.served.answers import published_heads
from tequio_shared.served.rows import CLOSED
from tequio_shared.statements.competitions import CompOpen, CompResult
from tequio_shared.statements.network import (
    CheckpointPublish,
    NetNotice,
    SoftwareRelease,
    is_on_hub,
)
from tequio_shared.statements.runs import RoundClose, RunClose, RunNotice, RunOpen, RunRollback
from tequio_shared.statements.statement import Body, Entry, Statement

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from tequio_shared.network.full_run import FullRunView
    from tequio_shared.round.manifest import Admission
    from tequio_shared.served.state import State

MILESTONE = 25
"""A closed round whose number is a multiple of this is news, unless nothing was accepted in it."""
RECENT = 30
"""Items of one feed, at most."""
_MILESTONES, _COMPETITIONS = 5, 30
"""The last ones that are looked at."""
TYPES = frozenset(
    one.TYPE
    for one in (
        RunOpen,
        NetNotice,
        RunNotice,
        RunRollback,
        RunClose,
        RoundClose,
        CheckpointPublish,
        CompOpen,
        CompResult,
        SoftwareRelease,
    )
)
"""Types of the statements that can be news."""
# built once: there is one such query for each run
_CLOSED_INDICES = select(ROUND.c.closed_index).where(
    ROUND.c.run == bindparam("run"),
    ROUND.c.round.in_(bindparam("numbers", expanding=True)),
    ROUND.c.outcome == CLOSED,
)
_PHASES = (CompetitionPhase.OPEN, CompetitionPhase.DECIDED)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewsItem:
    """One item; `path` is its page, and `index` the entry of the log that it follows from."""

    index: int
    at_ms: int
    """When the ledger accepted the entry."""
    kind: str
    title: str
    text: str
    path: str
    run: str = ""
    """Empty for news of no run."""


def news_of(state: State, index: int, at_ms: int, leaf: bytes) -> NewsItem | None:
    """Derive the news of one entry, if it is any."""
    statement = Entry.parse(leaf).statement
    run = statement.run
    found = _of_run(state, run, statement) if run else _of_network(state, statement.body)
    if found is None:
        return None
    kind, title, text, path = found
    return NewsItem(
        index=index,
        at_ms=at_ms,
        kind=kind,
        title=title,
        text=text,
        path=path,
        run=to_text(run) if run else "",
    )


_Told = tuple[str, str, str, str]
"""Kind, title, text and path of an item."""


def _of_run(state: State, run: RunId, statement: Statement) -> _Told | None:
    number, rules, path = statement.round or 0, state.run(run).manifest, f"/runs/{to_text(run)}"
    match statement.body:
        case RunOpen():
            title = f"The run {rules.name} is open"
            size = f"{rules.model.parameters:,} parameters"
            text = f"{_who(rules.admits)}: {size}, trained with idle graphics cards."
            return "run.opened", title, text, path
        case RoundClose(accepted=accepted) if number % MILESTONE == 0 and accepted:
            title = f"{rules.name} closed round {number:,}"
            noun = "contribution" if accepted == 1 else "contributions"
            text = f"Its next model is made of {accepted:,} accepted {noun}."
            return "round.closed", title, text, f"{path}/rounds/{number}"
        case RunNotice(about="run", text=told) if told:
            return "run.announced", f"Organisers of {rules.name} announce", told, path
        case RunRollback() | RunClose() as change:
            return *_of_change(state.run(run), change), path
        case CheckpointPublish(location=location, revision=revision):
            title = f"{rules.name} after round {number:,} can be downloaded"
            place = f"{location} on the Hugging Face Hub" if is_on_hub(location) else location
            where = f"{place}, revision {revision}"
            return (
                "head.published",
                title,
                f"{where}. Anyone can verify that it is this head.",
                path,
            )
    return None


def _of_change(view: FullRunView, change: RunRollback | RunClose) -> tuple[str, str, str]:
    name = view.manifest.name
    if isinstance(change, RunRollback):
        title = f"{name} went back to the head of round {change.head_round:,}"
        text = "Later rounds are no longer part of the model. Their points stay."
        return "run.rolled_back", title, text
    rounds = "round" if view.closed == 1 else "rounds"
    title = f"{name} has ended after {view.closed:,} closed {rounds}"
    text = f"It trained on {view.accounts.tokens:,} tokens. Its model and its log remain."
    return "run.ended", title, text


def _who(rules: Admission) -> str:
    tier = rules.trainer_tier
    return f"Only {KEYS_OF_TIER[tier]} may train" if tier else "Anyone may take part"


def _of_network(state: State, body: Body) -> _Told | None:
    match body:
        case CompOpen(competition=wanted):
            name, path = _competition(state, wanted)
            text = "It ranks models by the bits that they need for a byte of sealed text."
            return "competition.opened", f"The competition {name} is open", text, path
        case CompResult(competition=wanted):
            name, path = _competition(state, wanted)
            text = "The ranking follows from scores in the log, and anyone can compute it again."
            return "competition.decided", f"The competition {name} is decided", text, path
        case NetNotice(text=told) if told:
            title = f"Organisers of the network {state.genesis.name} announce"
            return "network.announced", title, told, "/"
        case SoftwareRelease(version=version, minimum=minimum):
            text = f"Organisers named it in the log. Members should run {minimum} or later."
            return "software.released", f"Tequio {version} is released", text, "/status"
    return None


def _competition(state: State, competition: str) -> tuple[str, str]:
    view = state.competitions.views[digest_from_text(competition)]
    return view.rules.name, f"/competitions/{competition}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewsPlaces:
    """Where the last news may be, copied from the state in the event loop."""

    indices: tuple[int, ...]
    """Entries, the newest first."""
    rounds: tuple[tuple[RunId, range], ...]
    """Rounds of each run that are news if they are closed."""
    ended: tuple[RunId, ...]
    """Runs that have ended."""

    def read(self, connection: Connection, state: State) -> list[NewsItem]:
        """Read at most `RECENT` items, the newest first; call it in a thread."""
        indices = set(self.indices)
        for run, numbers in self.rounds:
            indices.update(connection.scalars(_CLOSED_INDICES, {"run": run, "numbers": numbers}))
        for run in self.ended:
            # Hardly a statement about a run follows its run.close: few rows are read.
            index = connection.scalar(
                select(LOG_ENTRY.c.idx)
                .where(
                    LOG_ENTRY.c.run == run,
                    LOG_ENTRY.c.round.is_(None),
                    LOG_ENTRY.c.type == RunClose.TYPE,
                )
                .order_by(LOG_ENTRY.c.idx.desc())
                .limit(1)
            )
            if index is not None:
                indices.add(index)
        found = []
        for index in sorted(indices, reverse=True)[:RECENT]:
            entry = entries.read_entry(connection, index)
            item = news_of(state, index, entry.at_ms, entry.leaf) if entry else None
            if item is not None:
                found.append(item)
        return found


def recent(state: State, only: RunId | None = None) -> NewsPlaces:
    """Find where the last news of a run is, or of the whole network; call it in the event loop.

    Raises RefusedError("not-found") for an unknown run.
    """
    views = {only: state.run(only)} if only is not None else _told_runs(state)
    indices = [state.opened[run] for run in views]
    for view in views.values():
        indices += [one.index for one in published_heads(view)]
        indices += [one.index for one in view.rollbacks[-RECENT:]]
        if view.notices.announcement is not None:
            indices.append(view.notices.announcement.index)
    if only is None:
        for contest in list(state.competitions.views.values())[-_COMPETITIONS:]:
            starts = (contest.phase_starts.get(phase) for phase in _PHASES)
            indices += [one.index for one in starts if one is not None]
        indices += [one.index for one in state.releases.releases]
        if state.notices.announcement is not None:
            indices.append(state.notices.announcement.index)
    rounds = []
    for run, view in views.items():
        last = view.number - view.number % MILESTONE
        numbers = range(last, 0, -MILESTONE)[:_MILESTONES]
        if numbers:
            rounds.append((run, numbers))
    newest = sorted(indices, reverse=True)[:RECENT]
    ended = tuple(run for run, view in views.items() if view.state is RunState.FINISHED)
    return NewsPlaces(indices=tuple(newest), rounds=tuple(rounds), ended=ended)


def _told_runs(state: State) -> dict[RunId, FullRunView]:
    """Runs that the last news of the network can be about: no news follow the end of a run."""
    views = state.runs
    ended = [run for run, view in views.items() if view.state is RunState.FINISHED]
    last = nlargest(RECENT, ended, key=lambda run: views[run].coordinator_ms)
    return {run: views[run] for run in (views.keys() - ended) | set(last)}
