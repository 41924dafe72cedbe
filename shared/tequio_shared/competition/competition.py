"""One competition as everybody sees it: a fold over the log's entries, from its opening to the end.

Rules. The log says where a competition stands: statements of the coordinator end the time of
entries and that of secrets, shares end the secrecy, organisers say what it came to. A statement
counts only in its phase and before its date by its own signed clock; whatever is refused changes
nothing. What is said goes to the part that it is about: entries, the lot, scores.
Used by the ledger at its door, by auditors, by pages and by evaluators. docs/protocol.md,
section 19.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tequio_shared.competition.rules import LEAST_EVALUATORS, CompetitionRules, Outcome
from tequio_shared.competition.state import Entries, Lot, Mark, Phase, Scores, read_document
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

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tequio_shared.competition.state import (
        Challenge,
        Committed,
        Draw,
        Entrant,
        Network,
        Offer,
        Scored,
        Shown,
    )
    from tequio_shared.statements import Body
    from tequio_shared.statements.statement import Statement


_ORDER = tuple(Phase)
_PHASES: Mapping[type[Body], frozenset[Phase]] = {
    CompEnter: frozenset({Phase.OPEN}),
    CompSubmit: frozenset({Phase.OPEN}),
    EvalOffer: frozenset({Phase.OPEN}),
    CompClose: frozenset({Phase.OPEN}),
    EvalSecret: frozenset({Phase.CLOSED}),
    CompDraw: frozenset({Phase.CLOSED}),
    CompReveal: frozenset({Phase.DRAWN, Phase.REVEALED, Phase.DECIDED}),
    EvalCommit: frozenset({Phase.REVEALED}),
    EvalResult: frozenset({Phase.REVEALED}),
    CompChallenge: frozenset({Phase.REVEALED}),
    CompResult: frozenset({Phase.REVEALED}),
}
"""In which phases each statement counts."""


@dataclass(slots=True, kw_only=True)
class CompetitionView:
    """A competition as the log tells it. Only `apply` changes it."""

    id: Digest
    rules: CompetitionRules
    entries: Entries
    lot: Lot
    scores: Scores
    phase: Phase = Phase.OPEN
    began: dict[Phase, Mark] = field(default_factory=dict)
    """The entry with which each phase began, by phase."""
    outcome: Digest | None = None
    """Name of the `Outcome`."""

    @classmethod
    def opened(cls, mark: Mark, rules: CompetitionRules) -> CompetitionView:
        """The view right after comp.open."""
        return cls(
            id=rules.id,
            rules=rules,
            entries=Entries(rules=rules),
            lot=Lot(rules=rules),
            scores=Scores(rules=rules),
            began={Phase.OPEN: mark},
        )

    def apply(self, index: int, statement: Statement, network: Network) -> None:
        """Take an entry of this competition; raises RefusedError when it does not count."""
        self._check_phase(statement)
        mark, author, body = Mark(index=index, ts=statement.ts), statement.author, statement.body
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
                self._hear(mark, author, body, network)
            case _:
                self._move_on(mark, author, body, network)

    # --- its parts

    @property
    def entrants(self) -> Mapping[str, Entrant]:
        """By name, in the order in which they entered."""
        return self.entries.entrants

    @property
    def submissions(self) -> dict[str, Digest]:
        """Name of the submission that counts, by entrant that has one, in the order of names."""
        return self.entries.submissions

    @property
    def offers(self) -> Mapping[PeerKey, Offer]:
        """Offers to evaluate."""
        return self.lot.offers

    @property
    def candidates(self) -> Mapping[PeerKey, Digest]:
        """Who can be drawn, and whose key it is; from `comp.draw` on."""
        return self.lot.candidates

    @property
    def shares(self) -> Mapping[int, Shown]:
        """By index from 1, in the order of the log."""
        return self.lot.shares

    @property
    def draw(self) -> Draw | None:
        """From the share on that was the last one needed."""
        return self.lot.draw

    @property
    def commits(self) -> Mapping[tuple[str, PeerKey], Committed]:
        """What evaluators committed to, by entrant and evaluator."""
        return self.scores.commits

    @property
    def results(self) -> Mapping[tuple[str, PeerKey], Scored]:
        """By entrant and evaluator."""
        return self.scores.results

    @property
    def challenges(self) -> Sequence[Challenge]:
        """In the order of the log."""
        return self.scores.challenges

    # --- what follows

    @property
    def silent(self) -> list[tuple[str, PeerKey]]:
        """The entrants for which a drawn evaluator has not committed, with that evaluator."""
        drawn = self.draw.evaluators if self.draw else ()
        spots = [(name, key) for name in self.submissions for key in drawn]
        return [spot for spot in spots if spot not in self.commits]

    @property
    def withheld(self) -> list[tuple[str, PeerKey]]:
        """The same for scores that were committed to and not shown: they do not count."""
        return [spot for spot in sorted(self.commits) if spot not in self.results]

    def lacks(self) -> str:
        """Say what stands against a ranking so far; empty: nothing."""
        if self.phase in (Phase.OPEN, Phase.CLOSED):
            return ""
        owners = len(set(self.candidates.values()))
        if not self.submissions:
            return "nobody submitted a model"
        if owners < LEAST_EVALUATORS:
            return f"{owners} owners offered who can be drawn, {LEAST_EVALUATORS} are needed"
        if self.draw is None:
            return f"{len(self.shares)} of the {self.rules.sealed.needed} shares needed are shown"
        heard = Counter(entrant for entrant, _ in self.results)
        if all(heard[name] < LEAST_EVALUATORS for name in self.submissions):
            return f"no model has the scores of {LEAST_EVALUATORS} evaluators"
        return ""

    def void(self, now_ms: int) -> str:
        """Say why it ended without a ranking, at that time; empty: it did not, or it is decided."""
        if self.phase is Phase.DRAWN and now_ms > self.rules.dates.scored:
            return f"{self.lacks()}, and the time for that is over"
        if self.phase not in (Phase.DRAWN, Phase.REVEALED) or self._has_hope(now_ms):
            return ""
        return self.lacks()

    def due(self, now_ms: int) -> CompClose | CompDraw | None:
        """What the coordinator has to say at that time."""
        next_ms = self.next_ms()
        if next_ms is None or now_ms < next_ms:
            return None
        competition = to_text(self.id)
        if self.phase is Phase.OPEN:
            return CompClose(competition=competition)
        return CompDraw(competition=competition)

    def next_ms(self) -> int | None:
        """When the coordinator has to speak next (ms); None: never again."""
        dates = self.rules.dates
        return {Phase.OPEN: dates.deadline, Phase.CLOSED: dates.draw}.get(self.phase)

    # --- private

    def _has_hope(self, now_ms: int) -> bool:
        """Whether so many evaluators may still be heard on a model that it is ranked."""
        if not self.submissions or len(set(self.candidates.values())) < LEAST_EVALUATORS:
            return False
        draw = self.draw
        return draw is None or any(
            self.scores.hoped(name, draw, now_ms) >= LEAST_EVALUATORS for name in self.submissions
        )

    def _hear(
        self,
        mark: Mark,
        author: PeerKey,
        body: EvalCommit | EvalResult | CompChallenge,
        network: Network,
    ) -> None:
        """Take what evaluators say, and others against it."""
        draw = self.lot.known_draw
        match body:
            case EvalCommit():
                self.scores.commit(mark, author, body, draw, self.entries)
            case EvalResult():
                self.scores.show(mark, author, body, draw, self.entries, network)
            case CompChallenge():
                self.scores.challenge(mark, author, body, draw, network)

    def _move_on(self, mark: Mark, author: PeerKey, body: Body, network: Network) -> None:
        """Take what may begin another phase."""
        match body:
            case CompReveal():
                if self.phase is Phase.DRAWN:  # later nobody could score any more
                    mark.check_within(0, self.rules.dates.scored)
                if self.lot.show_share(mark, author, body, self.submissions):
                    self._begin(Phase.REVEALED, mark)
            case CompClose():
                mark.check_within(self.rules.dates.deadline, None)
                self._begin(Phase.CLOSED, mark)
            case CompDraw():
                self.lot.fix(mark, self.entries, network)
                self._begin(Phase.DRAWN, mark)
            case CompResult(outcome=name):
                self._decide(mark, name, network)

    def _decide(self, mark: Mark, name: str, network: Network) -> None:
        mark.check_within(self.rules.dates.result, None)
        found = read_document(Outcome.parse, network, name, "outcome", BLOB_BYTES)
        due = to_text(self.id), to_text(self.lot.known_draw.beacon)
        if (found.competition, found.beacon) != due:
            raise RefusedError(
                "wrong-outcome", "the outcome is not of this competition and its draw"
            )
        self.outcome = digest_from_text(name)
        self._begin(Phase.DECIDED, mark)

    def _begin(self, phase: Phase, mark: Mark) -> None:
        self.phase = phase
        self.began[phase] = mark

    def _check_phase(self, statement: Statement) -> None:
        phases = _PHASES[type(statement.body)]
        if self.phase in phases:
            return
        said = f"{statement.type} does not count while the competition is {self.phase.value}"
        if _ORDER.index(self.phase) < min(map(_ORDER.index, phases)):
            raise RefusedError("too-early", said)
        raise RefusedError("too-late", said)


# --- All competitions of a network: which there are, and what the coordinator has to say of them.

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
