"""What the log says of each competition: every statement, with the entry that holds it.

A pure fold beside the view that decides what may be said: answers and pages tell the story from
here, and name the entries.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_shared.competitions import ABOUT_COMPETITIONS
from tequio_shared.ids import Digest, PeerKey, digest_from_text

if TYPE_CHECKING:
    from tequio_shared.statement import Statement
    from tequio_shared.statements import Body


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One statement about a competition, and the log entry that holds it."""

    index: int
    author: PeerKey
    ts: int
    body: Body


class Stories:
    """The statements about each competition, in the order of the log."""

    def __init__(self) -> None:
        self._told: defaultdict[Digest, list[Said]] = defaultdict(list)

    def apply(self, index: int, statement: Statement) -> None:
        """Take the statement at that log index, whatever it is about."""
        body = statement.body
        if isinstance(body, ABOUT_COMPETITIONS):
            said = Said(index=index, author=statement.author, ts=statement.ts, body=body)
            self._told[digest_from_text(body.competition)].append(said)

    def of(self, competition: Digest) -> tuple[Said, ...]:
        """What was said of one."""
        return tuple(self._told.get(competition, ()))
