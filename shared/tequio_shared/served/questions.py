"""Every answer about the log that a ledger gives, as questions, each with the answer that is due.

A question is asked of the ledger, and answered again from rows and a state of one's own, which must
be those of the size that the answer names. Pages follow each other by our own `next`, so a ledger
can neither stop early nor send a reader around in circles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import msgspec
from msgspec import Struct

from tequio_shared.api.answer import AsOf
from tequio_shared.api.peers import RankingAnswer
from tequio_shared.errors import MalformedError
from tequio_shared.ids import Digest, PeerKey, RunId, digest_from_text, key_from_text, to_text
from tequio_shared.limits import JSON_INTEGER
from tequio_shared.served import answers, competitions
from tequio_shared.served.answers import DerivedRows
from tequio_shared.served.state import State, key_rows

PAGE = 1_000
"""Rows of one answer."""
_ASIDE = {"as_of", "peer_id", "why", "void", "lacks"}
"""Fields that do not follow from the log alone: texts for people, and what the time decides."""
Answer = Callable[[str, AsOf], Struct]
"""Makes a page from the place where it begins (empty: the first) and the log it is true for."""


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
        return f"{self.path}?limit={PAGE}{begin}"

    def due(self, as_of: AsOf) -> Struct:
        """Make the answer that is due in the log of that size, which is the size of our state."""
        return self.answer(self.begin, as_of)

    def following(self, due: Struct) -> Question | None:
        """Give the question for the page after a due answer; None at the end."""
        begin = getattr(due, "next", None)
        if begin is None:
            return None
        # By rank and not behind a key: a page that was requested behind a key that we do not know
        # at another size could not be compared.
        place = due.rows[-1].rank if isinstance(due, RankingAnswer) else begin
        return replace(self, begin=str(place))


def questions(state: State, rows: DerivedRows, now_ms: Callable[[], int]) -> Iterator[Question]:
    """Give the first page of every answer: one for each list, two for each key, run and so on."""
    yield Question(
        path="/v1/peers",
        parameter="after",
        answer=lambda at, as_of: answers.peers_page(
            rows, key_from_text(at) if at else None, PAGE, as_of
        ),
    )
    yield _by_number("/v1/ranking", partial(answers.ranking_page, rows))
    yield _by_number("/v1/quarantine", partial(answers.quarantine_page, rows))
    yield _by_number("/v1/runs", partial(answers.runs_page, state))
    yield _by_number("/v1/invitations", partial(answers.invitations_page, state))
    connectors = partial(answers.connectors_answer, state)
    yield Question(path="/v1/connectors", answer=lambda _, as_of: connectors(as_of))
    yield _by_number(
        "/v1/competitions",
        lambda at, limit, as_of: competitions.competitions_page(state, at, limit, as_of, now_ms()),
    )
    for run in list(state.runs):
        yield from _of_run(state, rows, run)
    for competition in list(state.competitions.views):
        yield _of_competition(state, competition, now_ms)
    for key in list(state.peers):
        yield from _of_key(state, rows, key)


def _by_number(path: str, page: Callable[[int, int, AsOf], Struct], first: int = 0) -> Question:
    return Question(
        path=path,
        parameter="after",
        answer=lambda at, as_of: page(int(at) if at else first, PAGE, as_of),
    )


def _of_run(state: State, rows: DerivedRows, run: RunId) -> Iterator[Question]:
    path = f"/v1/runs/{to_text(run)}"
    yield Question(path=path, answer=lambda _, as_of: answers.run_answer(state, run, as_of))
    yield _by_number(f"{path}/rounds", partial(answers.rounds_page, rows, run))
    yield _by_number(f"{path}/measures", partial(answers.measures_page, rows, run), first=-1)


def _of_competition(state: State, competition: Digest, now_ms: Callable[[], int]) -> Question:
    def answer(_: str, as_of: AsOf) -> Struct:
        now = competitions.competition_snapshot(state, competition, now_ms())
        return competitions.competition_answer(now, as_of)

    return Question(path=f"/v1/competitions/{to_text(competition)}", answer=answer)


def _of_key(state: State, rows: DerivedRows, key: PeerKey) -> Iterator[Question]:
    path = f"/v1/peers/{to_text(key)}"
    yield Question(
        path=path, answer=lambda _, as_of: answers.peer_answer(key_rows(state, key), as_of)
    )
    yield Question(
        path=f"{path}/rounds",
        parameter="before",
        answer=lambda at, as_of: answers.peer_rounds_page(
            rows, key, int(at) if at else JSON_INTEGER, PAGE, as_of
        ),
    )


# --- Comparing an answer with the one that is due.


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
        for name in due.keys() - _ASIDE:
            yield from _compare(f"{place}.{name}".strip("."), due[name], found.get(name))
    elif isinstance(due, list | tuple) and isinstance(found, list):
        if len(due) != len(found):
            yield Difference(place=f"{place} (rows)", due=str(len(due)), found=str(len(found)))
        for row, other in zip(due, found, strict=False):
            yield from _compare(f"{place}[{_name(row)}]", row, other)
    elif due != found or isinstance(due, bool) != isinstance(found, bool):
        yield Difference(place=place, due=repr(due), found=repr(found)[:200])


_NAMES = ("key", "run", "round", "rank", "competition", "invitation", "entry", "index")


def _name(row: object) -> str:
    """Name a row by its first field that does so."""
    names: Iterable[object] = (
        (row[one] for one in _NAMES if one in row) if isinstance(row, dict) else ()
    )
    return str(next(iter(names), ""))
