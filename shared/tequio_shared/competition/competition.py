"""One competition as every reader sees it: a fold over the log's entries, from its opening on.

Rules. Only the log decides on the phase: statements of the coordinator end the time of entries and
the time of secrets, shares end the secrecy, organisers state the outcome. A statement counts only
in its phase and before its date by its own signed clock; a refused one changes nothing. Statements
go to the part they concern: entries, draw, scores. Used by the ledger on entry, by auditors, pages
and evaluators. (docs/protocol.md, section 19)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tequio_shared.competition.draw import DrawView
from tequio_shared.competition.rules import LEAST_EVALUATORS, CompetitionOutcome, CompetitionRules
from tequio_shared.competition.state import (
    CompetitionContext,
    CompetitionDraw,
    CompetitionPhase,
    Entrant,
    EntrantsView,
    EvaluationChallenge,
    EvaluationOffer,
    EvaluatorScores,
    RevealedShare,
    ScoreCommitment,
    ScoresView,
    SignedEntry,
    read_document,
)
from tequio_shared.errors import RefusedError
from tequio_shared.ids import Digest, PeerKey, digest_from_text, to_text
from tequio_shared.limits import BLOB_BYTES
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
from tequio_shared.statements.statement import Body, Statement

_ORDER = tuple(CompetitionPhase)
_PHASES: Mapping[type[Body], frozenset[CompetitionPhase]] = {
    CompEnter: frozenset({CompetitionPhase.OPEN}),
    CompSubmit: frozenset({CompetitionPhase.OPEN}),
    EvalOffer: frozenset({CompetitionPhase.OPEN}),
    CompClose: frozenset({CompetitionPhase.OPEN}),
    EvalSecret: frozenset({CompetitionPhase.CLOSED}),
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


@dataclass(slots=True, kw_only=True)
class CompetitionView:
    """A competition by its log. Only `apply` changes it."""

    id: Digest
    rules: CompetitionRules
    entries: EntrantsView
    lot: DrawView
    scores: ScoresView
    phase: CompetitionPhase = CompetitionPhase.OPEN
    phase_starts: dict[CompetitionPhase, SignedEntry] = field(default_factory=dict)
    """The entry that began each phase."""
    outcome: Digest | None = None
    """SHA-256 of the `Outcome`."""

    @classmethod
    def opened(cls, mark: SignedEntry, rules: CompetitionRules) -> CompetitionView:
        """Make the view right after comp.open."""
        return cls(
            id=rules.id,
            rules=rules,
            entries=EntrantsView(rules=rules),
            lot=DrawView(rules=rules),
            scores=ScoresView(rules=rules),
            phase_starts={CompetitionPhase.OPEN: mark},
        )

    def apply(self, index: int, statement: Statement, network: CompetitionContext) -> None:
        """Apply an entry of this competition; raises RefusedError when it does not count."""
        # Before the parts are asked: each of them may then rely on the phase.
        self._check_phase(statement)
        mark, author, body = (
            SignedEntry(index=index, ts=statement.ts),
            statement.author,
            statement.body,
        )
        match body:
            case CompEnter():
                self.entries.enter(mark, author, body, network)
            case CompSubmit():
                self.entries.submit(mark, author, body, network)
            case EvalOffer():
                self.lot.offer(mark, author, body, self.entries, network)
            case EvalSecret():
                self.lot.open_secret(mark, author, body)
            case EvalCommit() | EvalResult() | CompChallenge():
                self._apply_scoring(mark, author, body, network)
            case _:
                self._move_on(mark, author, body, network)

    @property
    def entrants(self) -> Mapping[str, Entrant]:
        """Entrants by name, in the order of entry."""
        return self.entries.entrants

    @property
    def submissions(self) -> dict[str, Digest]:
        """Digest of the submission that counts, by entrant that has one, in the order of names."""
        return self.entries.submissions

    @property
    def offers(self) -> Mapping[PeerKey, EvaluationOffer]:
        return self.lot.offers

    @property
    def candidates(self) -> Mapping[PeerKey, Digest]:
        """Keys that can be drawn, with their owners; empty before `comp.draw`."""
        return self.lot.candidates

    @property
    def shares(self) -> Mapping[int, RevealedShare]:
        """Revealed shares by index from 1, in the order of the log."""
        return self.lot.shares

    @property
    def draw(self) -> CompetitionDraw | None:
        """The draw, once the last share needed was revealed."""
        return self.lot.draw

    @property
    def commits(self) -> Mapping[tuple[str, PeerKey], ScoreCommitment]:
        """Commitments of evaluators, by entrant and evaluator."""
        return self.scores.commits

    @property
    def results(self) -> Mapping[tuple[str, PeerKey], EvaluatorScores]:
        """Revealed scores, by entrant and evaluator."""
        return self.scores.results

    @property
    def challenges(self) -> Sequence[EvaluationChallenge]:
        """Challenges in the order of the log."""
        return self.scores.challenges

    @property
    def missing_commitments(self) -> list[tuple[str, PeerKey]]:
        """Entrants without a commitment by a drawn evaluator, with that evaluator."""
        drawn = self.draw.evaluators if self.draw else ()
        spots = [(name, key) for name in self.submissions for key in drawn]
        return [spot for spot in spots if spot not in self.commits]

    @property
    def withheld(self) -> list[tuple[str, PeerKey]]:
        """Entrant and evaluator of scores that were committed to but not revealed: not counted."""
        return [spot for spot in sorted(self.commits) if spot not in self.results]

    def missing_for_ranking(self) -> str:
        """Return what is missing for a ranking so far; empty if nothing is."""
        if self.phase in (CompetitionPhase.OPEN, CompetitionPhase.CLOSED):
            return ""
        # Owners, not keys: one person with three keys is one evaluator.
        owners = len(set(self.candidates.values()))
        if not self.submissions:
            return "nobody submitted a model"
        if owners < LEAST_EVALUATORS:
            return f"{owners} owners of eligible keys offered; {LEAST_EVALUATORS} are needed"
        if self.draw is None:
            return (
                f"{len(self.shares)} of the {self.rules.sealed.needed} shares needed are revealed"
            )
        heard = Counter(entrant for entrant, _ in self.results)
        # One model with enough scores is enough for a ranking; the others are listed without a
        # rank.
        if all(heard[name] < LEAST_EVALUATORS for name in self.submissions):
            return f"no model has the scores of {LEAST_EVALUATORS} evaluators"
        return ""

    def void_reason(self, now_ms: int) -> str:
        """Return why it has ended without a ranking by then; empty: it has not, or is decided."""
        if self.phase is CompetitionPhase.DRAWN and now_ms > self.rules.dates.scored:
            return f"{self.missing_for_ranking()}, and the time for it is over"
        if self.phase not in (CompetitionPhase.DRAWN, CompetitionPhase.REVEALED) or self._has_hope(
            now_ms
        ):
            return ""
        return self.missing_for_ranking()

    def due(self, now_ms: int) -> CompClose | CompDraw | None:
        """Statement that the coordinator owes at that time."""
        next_ms = self.next_ms()
        if next_ms is None or now_ms < next_ms:
            return None
        competition = to_text(self.id)
        if self.phase is CompetitionPhase.OPEN:
            return CompClose(competition=competition)
        return CompDraw(competition=competition)

    def next_ms(self) -> int | None:
        """Time (ms) of the coordinator's next statement, or None if none is left."""
        dates = self.rules.dates
        # Only these two phases end by a statement of the coordinator.
        return {CompetitionPhase.OPEN: dates.deadline, CompetitionPhase.CLOSED: dates.draw}.get(
            self.phase
        )

    def _has_hope(self, now_ms: int) -> bool:
        """Return whether enough evaluators may still be heard on some model to rank it."""
        if not self.submissions or len(set(self.candidates.values())) < LEAST_EVALUATORS:
            return False
        draw = self.draw
        # Without a draw nobody can tell yet who will evaluate, so the hope remains.
        return draw is None or any(
            self.scores.count_possible(name, draw, now_ms) >= LEAST_EVALUATORS
            for name in self.submissions
        )

    def _apply_scoring(
        self,
        mark: SignedEntry,
        author: PeerKey,
        body: EvalCommit | EvalResult | CompChallenge,
        network: CompetitionContext,
    ) -> None:
        """Apply commitments and scores of evaluators, and challenges to them."""
        draw = self.lot.known_draw
        match body:
            case EvalCommit():
                self.scores.commit(mark, author, body, draw, self.entries)
            case EvalResult():
                self.scores.reveal(mark, author, body, draw, self.entries, network)
            case CompChallenge():
                self.scores.challenge(mark, author, body, draw, network)

    def _move_on(
        self, mark: SignedEntry, author: PeerKey, body: Body, network: CompetitionContext
    ) -> None:
        """Apply a statement that may begin another phase."""
        match body:
            case CompReveal():
                # Revealed later, the texts could be read but no longer be scored in time.
                if self.phase is CompetitionPhase.DRAWN:
                    mark.check_within(0, self.rules.dates.scored)
                if self.lot.reveal_share(mark, author, body, self.submissions):
                    self._begin(CompetitionPhase.REVEALED, mark)
            case CompClose():
                mark.check_within(self.rules.dates.deadline, None)
                self._begin(CompetitionPhase.CLOSED, mark)
            case CompDraw():
                self.lot.fix_candidates(mark, self.entries, network)
                self._begin(CompetitionPhase.DRAWN, mark)
            case CompResult(outcome=name):
                self._decide(mark, name, network)

    def _decide(self, mark: SignedEntry, name: str, network: CompetitionContext) -> None:
        mark.check_within(self.rules.dates.result, None)
        found = read_document(CompetitionOutcome.parse, network, name, "outcome", BLOB_BYTES)
        due = to_text(self.id), to_text(self.lot.known_draw.beacon)
        # The numbers are not checked here: that needs all evaluations, which auditors fetch.
        if (found.competition, found.beacon) != due:
            raise RefusedError(
                "wrong-outcome", "the outcome is for another competition or another draw"
            )
        self.outcome = digest_from_text(name)
        self._begin(CompetitionPhase.DECIDED, mark)

    def _begin(self, phase: CompetitionPhase, mark: SignedEntry) -> None:
        self.phase = phase
        self.phase_starts[phase] = mark

    def _check_phase(self, statement: Statement) -> None:
        phases = _PHASES[type(statement.body)]
        if self.phase in phases:
            return
        said = f"{statement.type} does not count while the competition is {self.phase.value}"
        # Two codes: the first statement may be right later, the second never.
        if _ORDER.index(self.phase) < min(map(_ORDER.index, phases)):
            raise RefusedError("too-early", said)
        raise RefusedError("too-late", said)


COMPETITION_BODIES = (
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
"""Bodies that `Competitions.apply` accepts."""


@dataclass(slots=True)
class CompetitionsView:
    """All competitions of a network; a fold for the ledger's state and for auditors."""

    views: dict[Digest, CompetitionView] = field(default_factory=dict)
    """By competition id, in the order of the log."""

    def apply(self, index: int, statement: Statement, network: CompetitionContext) -> None:
        """Apply a statement about a competition at that log index.

        Raises RefusedError when it does not count; then nothing has changed.
        """
        match statement.body:
            case CompOpen() as body:
                self._open(SignedEntry(index=index, ts=statement.ts), body, network)
            case _ if isinstance(statement.body, COMPETITION_BODIES):
                view = self.view(digest_from_text(statement.body.competition))
                view.apply(index, statement, network)
            case _:
                raise RefusedError("unknown-type", f"{statement.type} is not about a competition")

    def view(self, competition: Digest) -> CompetitionView:
        """Return the view of a competition; raises RefusedError("not-found")."""
        view = self.views.get(competition)
        if view is None:
            raise RefusedError("not-found", f"no competition {competition.hex()} was opened")
        return view

    def due(self, now_ms: int) -> CompClose | CompDraw | None:
        """Next statement that the coordinator owes at that time."""
        for view in self.views.values():
            body = view.due(now_ms)
            if body is not None:
                return body
        return None

    def next_ms(self) -> int | None:
        """Time (ms) of the coordinator's next statement, or None."""
        times = (view.next_ms() for view in self.views.values())
        return min((time for time in times if time is not None), default=None)

    def _open(self, mark: SignedEntry, body: CompOpen, network: CompetitionContext) -> None:
        if digest_from_text(body.competition) in self.views:
            raise RefusedError("already-said", "this competition is already open")
        rules = read_document(CompetitionRules.parse, network, body.competition, "rules")
        # Nobody could enter any more.
        if rules.dates.deadline <= mark.ts:
            raise RefusedError("too-late", f"the deadline {rules.dates.deadline} ms has passed")
        self.views[rules.id] = CompetitionView.opened(mark, rules)
