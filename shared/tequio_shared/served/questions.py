"""Every answer about the log that a ledger gives, as questions, each with the answer that is due.

Left out are a single round and the rankings around or behind a key: the same rows as in the lists.

A question is asked of the ledger, and answered again from the reader's own rows and state, at the
size of the log that the answer names. Pages follow each other by our own `next`, so a ledger
can neither stop early nor send a reader around in circles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

import msgspec
from msgspec import Struct

from tequio_shared.api.answer import PAGE_ROWS, AsOf
from tequio_shared.api.peers import RankingAnswer
from tequio_shared.errors import MalformedError
from tequio_shared.ids import Digest, PeerKey, RunId, digest_from_text, key_from_text, to_text
from tequio_shared.limits import JSON_INTEGER
from tequio_shared.served import answers, competitions
from tequio_shared.served.answers import DerivedRows
from tequio_shared.served.rows import VerdictRules
from tequio_shared.served.state import State, key_rows

_ASIDE = {"as_of", "peer_id", "why", "void", "lacks"}
"""Fields that do not follow from the log alone: texts for people, and what the time decides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """State and rows from which answers are made, true for one size of the log."""

    state: State
    rows: DerivedRows
    now_ms: int


Answer = Callable[[Basis, str, AsOf], Struct]
"""Makes a page; the text is the place where it begins, empty for the first one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One page of an answer."""

    path: str
    answer: Answer
    parameter: str = ""
    """The parameter that requests the following page; empty for an answer without pages."""
    begin: str = ""
    """Value of that parameter; empty for the first page."""

    @property
    def url(self) -> str:
        """Path and query."""
        if not self.parameter:
            return self.path
        begin = f"&{self.parameter}={self.begin}" if self.begin else ""
        return f"{self.path}?limit={PAGE_ROWS}{begin}"

    def due(self, basis: Basis, as_of: AsOf) -> Struct:
        """Make the answer that is due; `as_of` names the size for which the basis is true."""
        return self.answer(basis, self.begin, as_of)

    def following(self, due: Struct) -> Question | None:
        """Give the question for the page after a due answer; None at the end."""
        begin = getattr(due, "next", None)
        if begin is None:
            return None
        # By rank and not behind a key, whose place may be another one at the next size.
        place = due.rows[-1].rank if isinstance(due, RankingAnswer) else begin
        return replace(self, begin=str(place))


def questions(state: State) -> Iterator[Question]:
    """Give the first page of every answer: one for each list, two for each key, run and so on."""
    yield Question(path="/v1/peers", parameter="after", answer=_peers)
    yield _listed("/v1/ranking", lambda on, *page: answers.ranking_page(on.rows, *page))
    yield _listed("/v1/quarantine", lambda on, *page: answers.quarantine_page(on.rows, *page))
    yield _listed("/v1/runs", lambda on, *page: answers.runs_page(on.state, *page))
    yield _listed("/v1/invitations", lambda on, *page: answers.invitations_page(on.state, *page))
    yield Question(
        path="/v1/connectors",
        answer=lambda on, _, as_of: answers.connectors_answer(on.state, as_of),
    )
    yield Question(
        path="/v1/notice",
        answer=lambda on, _, as_of: answers.notice_answer(on.state, as_of),
    )
    yield Question(
        path="/v1/release",
        answer=lambda on, _, as_of: answers.releases_answer(on.state, as_of),
    )
    yield Question(
        path="/v1/snapshots",
        answer=lambda on, _, as_of: answers.snapshots_answer(on.state, as_of),
    )
    yield _listed(
        "/v1/competitions",
        lambda on, *page: competitions.competitions_page(on.state, *page, now_ms=on.now_ms),
    )
    for run in list(state.runs):
        yield from _of_run(run)
    for competition in list(state.competitions.views):
        yield _of_competition(competition)
    for team in list(state.teams.records):
        yield _of_team(team)
    for key in list(state.peers):
        yield from _of_key(key)


def _listed(path: str, page: Callable[[Basis, int, int, AsOf], Struct], first: int = 0) -> Question:
    """Make the question for a list whose pages begin after a number."""
    return Question(
        path=path,
        parameter="after",
        answer=lambda on, at, as_of: page(on, int(at) if at else first, PAGE_ROWS, as_of),
    )


def _peers(on: Basis, at: str, as_of: AsOf) -> Struct:
    return answers.peers_page(on.rows, key_from_text(at) if at else None, PAGE_ROWS, as_of)


def _of_run(run: RunId) -> Iterator[Question]:
    path = f"/v1/runs/{to_text(run)}"
    yield Question(path=path, answer=lambda on, _, as_of: answers.run_answer(on.state, run, as_of))
    yield _listed(f"{path}/rounds", lambda on, *page: answers.rounds_page(on.rows, run, *page))
    yield _listed(
        f"{path}/measures",
        lambda on, *page: answers.measures_page(
            VerdictRules.of(on.state.run(run)), on.rows, run, *page
        ),
        first=-1,
    )


def _of_competition(competition: Digest) -> Question:
    def answer(on: Basis, _: str, as_of: AsOf) -> Struct:
        now = competitions.competition_snapshot(on.state, competition, on.now_ms)
        return competitions.competition_answer(now, as_of)

    return Question(path=f"/v1/competitions/{to_text(competition)}", answer=answer)


def _of_team(team: int) -> Question:
    return _listed(
        f"/v1/teams/{team}", lambda on, *page: answers.team_answer(on.state, team, *page)
    )


def _of_key(key: PeerKey) -> Iterator[Question]:
    path = f"/v1/peers/{to_text(key)}"
    yield Question(
        path=path,
        answer=lambda on, _, as_of: answers.peer_answer(key_rows(on.state, key), as_of),
    )
    yield Question(
        path=f"{path}/rounds",
        parameter="before",
        answer=lambda on, at, as_of: answers.peer_rounds_page(
            on.rows, key, int(at) if at else JSON_INTEGER, PAGE_ROWS, as_of
        ),
    )


# --- Comparing an answer with the one that is due.


_WORDS = 200
"""Characters of a text of the ledger in a difference: an answer may be one of 16 MB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One field that is not what follows from the log; `place` is its path in the answer."""

    place: str
    due: str
    found: str


def as_of_answer(path: str, raw: object) -> AsOf:
    """Read for which log an answer is true; raises MalformedError."""
    try:
        found = msgspec.convert(raw.get("as_of") if isinstance(raw, dict) else None, AsOf)
        digest_from_text(found.root)
    except (msgspec.ValidationError, MalformedError) as err:
        raise MalformedError(f"{path} does not say what it is true for") from err
    return found


def differences(due: Struct, found: object) -> Iterator[Difference]:
    """Compare an answer as decoded JSON with the due one; unknown fields are ignored."""
    yield from _compare("", msgspec.to_builtins(due), found)


def _compare(place: str, due: object, found: object) -> Iterator[Difference]:
    if isinstance(due, dict) and isinstance(found, dict):
        for name in sorted(due.keys() - _ASIDE):
            yield from _compare(f"{place}.{name}".strip("."), due[name], found.get(name))
    elif isinstance(due, list | tuple) and isinstance(found, list):
        yield from _compare_rows(place, due, found)
    elif due != found or isinstance(due, bool) != isinstance(found, bool):
        ours, theirs = _cut(str(due), str(found))
        yield Difference(place=place[:_WORDS], due=ours, found=theirs)


def _cut(due: str, found: str) -> tuple[str, str]:
    """Cut both where they differ, with some of what they have in common before that."""
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(due, found, strict=False)))
    start = max(same - _WORDS // 4, 0)
    return due[start : start + _WORDS], found[start : start + _WORDS]


def _compare_rows(
    place: str, due: Sequence[object], found: Sequence[object]
) -> Iterator[Difference]:
    """Compare rows by what names them, so that a missing one does not shift all others."""
    ours, theirs = _named(due), _named(found)
    for name in ours.keys() - theirs.keys():
        yield Difference(place=f"{place}[{name}]", due="a row", found="none")
    for name in theirs.keys() - ours.keys():
        yield Difference(place=f"{place}[{name}]"[:_WORDS], due="none", found="a row")
    for name in ours.keys() & theirs.keys():
        yield from _compare(f"{place}[{name}]", ours[name], theirs[name])
    if len(found) != len(theirs) or (list(ours) != list(theirs) and ours.keys() == theirs.keys()):
        yield Difference(place=f"{place}, the order", due="another one", found="rows in disorder")


_NAMES = (
    "rank",
    "run",
    "round",
    "entrant",
    "evaluator",
    "key",
    "competition",
    "invitation",
    "targets_version",
    "size",
)


def _named(rows: Sequence[object]) -> dict[str, object]:
    """Give rows by the fields that name them; other values by their place."""
    found = {}
    for at, row in enumerate(rows):
        names = [str(row[one]) for one in _NAMES if one in row] if isinstance(row, dict) else []
        found[" ".join(names) or str(at)] = row
    return found
