"""What the log says of each competition: every statement, with the entry that holds it.

A pure fold beside the view that decides what may be said: answers and pages tell the story from
here, and name the entries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_shared.errors import RefusedError
from tequio_shared.ids import Digest, PeerKey, digest_from_text, to_text
from tequio_shared.statements.competitions import (
    CompChallenge,
    CompClose,
    CompDraw,
    CompEnter,
    CompOpen,
    CompResult,
    CompReveal,
    CompSubmit,
    EvalOffer,
    EvalResult,
    EvalSecret,
)

if TYPE_CHECKING:
    from tequio_shared.statement import Statement

ABOUT_COMPETITIONS = (
    CompOpen,
    CompEnter,
    CompSubmit,
    EvalOffer,
    CompClose,
    EvalSecret,
    CompDraw,
    CompReveal,
    EvalResult,
    CompChallenge,
    CompResult,
)
CompetitionBody = (
    CompOpen
    | CompEnter
    | CompSubmit
    | EvalOffer
    | CompClose
    | EvalSecret
    | CompDraw
    | CompReveal
    | EvalResult
    | CompChallenge
    | CompResult
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One statement about a competition, and the log entry that holds it."""

    index: int
    author: PeerKey
    ts: int
    body: CompetitionBody


class Stories:
    """The statements about each competition, in the order of the log."""

    def __init__(self) -> None:
        self._told: dict[Digest, list[Said]] = {}  # by opening

    def apply(self, index: int, statement: Statement) -> None:
        """Take the statement at that log index, whatever it is about.

        Raises RefusedError("not-found") for a competition that nobody opened.
        """
        body = statement.body
        if not isinstance(body, ABOUT_COMPETITIONS):
            return
        competition = digest_from_text(body.competition)
        if isinstance(body, CompOpen):
            self._told.setdefault(competition, [])
        said = Said(index=index, author=statement.author, ts=statement.ts, body=body)
        self._list(competition).append(said)

    def ids(self) -> tuple[Digest, ...]:
        """All competitions, the first opened first."""
        return tuple(self._told)

    def opened(self, competition: Digest) -> int:
        """The entry that opened a competition."""
        return self._told[competition][0].index

    def of(self, competition: Digest) -> tuple[Said, ...]:
        """What was said of one; raises RefusedError("not-found")."""
        return tuple(self._list(competition))

    def _list(self, competition: Digest) -> list[Said]:
        if competition not in self._told:
            text = to_text(competition)
            raise RefusedError("not-found", f"no competition {text} was opened in this network")
        return self._told[competition]
