"""All competitions of a network: which there are, and what the coordinator has to say of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tequio_shared.competition import CompetitionView
from tequio_shared.competition_gate import read_document
from tequio_shared.competition_rules import CompetitionRules
from tequio_shared.competition_state import Mark
from tequio_shared.errors import RefusedError
from tequio_shared.ids import Digest, digest_from_text
from tequio_shared.statements.competitions import (
    CompChallenge,
    CompClose,
    CompDraw,
    CompEnter,
    CompOpen,
    CompResult,
    CompReveal,
    CompSubmit,
    EvalCommit,
    EvalOffer,
    EvalResult,
    EvalSecret,
)

if TYPE_CHECKING:
    from tequio_shared.competition_gate import Network
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
    EvalCommit,
    EvalResult,
    CompChallenge,
    CompResult,
)
"""Bodies that `Competitions.apply` takes."""


@dataclass(slots=True)
class Competitions:
    """A fold that the ledger's state and auditors feed."""

    views: dict[Digest, CompetitionView] = field(default_factory=dict)
    """By the competition's name, in the order of the log."""

    def apply(self, index: int, statement: Statement, network: Network) -> None:
        """Take a statement about a competition at that log index.

        Raises RefusedError when it does not count; then nothing has changed.
        """
        match statement.body:
            case CompOpen() as body:
                self._open(Mark(index=index, ts=statement.ts), body, network)
            case _ if isinstance(statement.body, ABOUT_COMPETITIONS):
                view = self.view(digest_from_text(statement.body.competition))
                view.apply(index, statement, network)
            case _:
                raise RefusedError("unknown-type", f"{statement.type} is not about a competition")

    def view(self, competition: Digest) -> CompetitionView:
        """The view of a competition; raises RefusedError("not-found")."""
        view = self.views.get(competition)
        if view is None:
            raise RefusedError("not-found", f"no competition {competition.hex()} was opened")
        return view

    def due(self, now_ms: int) -> CompClose | CompDraw | None:
        """What the coordinator has to say next at that time."""
        for view in self.views.values():
            body = view.due(now_ms)
            if body is not None:
                return body
        return None

    def next_ms(self) -> int | None:
        """When the coordinator has to speak next (ms)."""
        times = (view.next_ms() for view in self.views.values())
        return min((time for time in times if time is not None), default=None)

    def _open(self, mark: Mark, body: CompOpen, network: Network) -> None:
        if digest_from_text(body.competition) in self.views:
            raise RefusedError("already-said", "this competition was opened already")
        rules = read_document(CompetitionRules.parse, network, body.competition, "rules")
        if rules.dates.deadline <= mark.ts:
            raise RefusedError("too-late", f"its deadline {rules.dates.deadline} ms is over")
        self.views[rules.id] = CompetitionView.opened(mark, rules)
