"""All competitions of a network: a fold over the log's entries, from each opening on.

Rules. A statement counts only in its phase and before its date by its own signed clock; a refused
one changes nothing. Used by the ledger on entry, by auditors, pages and evaluators.
(docs/protocol.md, section 19)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tequio_shared.competition import draw, entrants, scores
from tequio_shared.competition.rules import (
    CompetitionOutcome,
    CompetitionRules,
    evaluation_bytes,
    outcome_bytes,
)
from tequio_shared.competition.state import (
    CompetitionContext,
    CompetitionPhase,
    CompetitionView,
    SignedEntry,
    read_document,
)
from tequio_shared.errors import RefusedError
from tequio_shared.ids import Digest, PeerKey, digest_from_text, to_text
from tequio_shared.network.coordination import Prove
from tequio_shared.statements.competitions import (
    CompChallenge,
    CompClose,
    CompDraw,
    CompEnter,
    CompetitionBody,
    CompOpen,
    CompResult,
    CompReveal,
    CompSubmit,
    EvalCommit,
    EvalLot,
    EvalOffer,
    EvalResult,
)
from tequio_shared.statements.statement import Statement

_ORDER = tuple(CompetitionPhase)
_PHASES: Mapping[type[CompetitionBody], frozenset[CompetitionPhase]] = {
    CompEnter: frozenset({CompetitionPhase.OPEN}),
    CompSubmit: frozenset({CompetitionPhase.OPEN}),
    EvalOffer: frozenset({CompetitionPhase.OPEN}),
    CompClose: frozenset({CompetitionPhase.OPEN}),
    EvalLot: frozenset({CompetitionPhase.CLOSED}),
    CompDraw: frozenset({CompetitionPhase.CLOSED}),
    # Shares may still come after the needed ones: a custodian can show that it held its own.
    CompReveal: frozenset(
        {CompetitionPhase.DRAWN, CompetitionPhase.REVEALED, CompetitionPhase.DECIDED}
    ),
    EvalCommit: frozenset({CompetitionPhase.REVEALED}),
    EvalResult: frozenset({CompetitionPhase.REVEALED}),
    CompChallenge: frozenset({CompetitionPhase.REVEALED}),
    CompResult: frozenset({CompetitionPhase.REVEALED}),
}
"""Phases in which each statement counts."""


@dataclass(slots=True)
class CompetitionsView:
    """All competitions of a network; a fold for the ledger's state and for auditors."""

    views: dict[Digest, CompetitionView] = field(default_factory=dict)
    """By competition id, in the order of the log."""

    def apply(self, index: int, statement: Statement, network: CompetitionContext) -> None:
        """Apply a statement about a competition at that log index.

        Raises RefusedError when it does not count; then nothing has changed.
        """
        entry = SignedEntry(index=index, author=statement.author, ts=statement.ts)
        match statement.body:
            case CompOpen() as body:
                self._open(entry, body, network)
            case CompetitionBody() as body:
                view = self.view(digest_from_text(body.competition))
                # First: the steps may then rely on the phase.
                _check_phase(view, body)
                _apply(view, entry, body, network)
            case _:
                raise RefusedError("unknown-type", f"{statement.type} is not about a competition")

    def view(self, competition: Digest) -> CompetitionView:
        """Return the view of a competition; raises RefusedError("not-found")."""
        view = self.views.get(competition)
        if view is None:
            raise RefusedError("not-found", f"no competition {competition.hex()} was opened")
        return view

    def most_bytes(self, author: PeerKey) -> int:
        """Largest evaluation that a key may publish now, in bytes; O(competitions)."""
        drawn = (
            len(view.known_draw.documents)
            for view in self.views.values()
            if view.phase is CompetitionPhase.REVEALED and author in view.known_draw.evaluators
        )
        return max(map(evaluation_bytes, drawn), default=0)

    def due(self, now_ms: int, prove: Prove) -> CompClose | CompDraw | None:
        """Next statement that the coordinator owes at that time."""
        bodies = (draw.due(view, now_ms, prove) for view in self.views.values())
        return next((body for body in bodies if body is not None), None)

    def next_ms(self) -> int | None:
        """Time (ms) of the coordinator's next statement, or None."""
        times = (view.next_ms() for view in self.views.values())
        return min((time for time in times if time is not None), default=None)

    def _open(self, entry: SignedEntry, body: CompOpen, network: CompetitionContext) -> None:
        if digest_from_text(body.competition) in self.views:
            raise RefusedError("already-said", "this competition is already open")
        rules = read_document(CompetitionRules.parse, network, body.competition, "rules")
        # Nobody could enter any more.
        if rules.dates.deadline <= entry.ts:
            raise RefusedError("too-late", f"the deadline {rules.dates.deadline} ms has passed")
        view = CompetitionView(id=rules.id, rules=rules)
        view.begin(CompetitionPhase.OPEN, entry)
        self.views[view.id] = view


def _apply(
    view: CompetitionView, entry: SignedEntry, body: CompetitionBody, network: CompetitionContext
) -> None:
    match body:
        case CompEnter():
            entrants.enter(view, entry, body, network)
        case CompSubmit():
            entrants.submit(view, entry, body, network)
        case EvalOffer():
            draw.offer(view, entry, body, network)
        case EvalLot():
            draw.draw_lot(view, entry, body)
        case EvalCommit():
            scores.commit(view, entry, body)
        case EvalResult():
            scores.reveal(view, entry, body, network)
        case CompChallenge():
            scores.challenge(view, entry, body, network)
        case _:
            _move_on(view, entry, body, network)


def _move_on(
    view: CompetitionView, entry: SignedEntry, body: CompetitionBody, network: CompetitionContext
) -> None:
    """Apply a statement that may begin another phase."""
    match body:
        case CompReveal():
            # Revealed later, the texts could be read but no longer be scored in time.
            if view.phase is CompetitionPhase.DRAWN:
                entry.check_within(0, view.rules.dates.scored)
            if draw.reveal_share(view, entry, body):
                view.begin(CompetitionPhase.REVEALED, entry)
        case CompClose():
            draw.seed_lots(view, entry, body)
            view.begin(CompetitionPhase.CLOSED, entry)
        case CompDraw():
            draw.fix_candidates(view, entry, body, network)
            view.begin(CompetitionPhase.DRAWN, entry)
        case CompResult(outcome=name):
            entry.check_within(view.rules.dates.result, None)
            most = outcome_bytes(len(view.entrants), len(view.known_draw.evaluators))
            found = read_document(CompetitionOutcome.parse, network, name, "outcome", most)
            due = body.competition, to_text(view.known_draw.beacon)
            # The numbers are not checked here: that needs all evaluations, which auditors fetch.
            if (found.competition, found.beacon) != due:
                raise RefusedError(
                    "wrong-outcome", "the outcome is for another competition or another draw"
                )
            view.outcome = digest_from_text(name)
            view.begin(CompetitionPhase.DECIDED, entry)


def _check_phase(view: CompetitionView, body: CompetitionBody) -> None:
    phases = _PHASES[type(body)]
    if view.phase in phases:
        return
    why = f"{body.TYPE} does not count while the competition is {view.phase.value}"
    # Two codes: the first statement may be right later, the second never.
    if _ORDER.index(view.phase) < min(map(_ORDER.index, phases)):
        raise RefusedError("too-early", why)
    raise RefusedError("too-late", why)
