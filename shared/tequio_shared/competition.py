"""One competition as everybody sees it: a fold over the log's entries, from its opening to the end.

Rules. The log says where a competition stands: statements of the coordinator end the time of
entries and that of secrets, shares end the secrecy, organisers say what it came to. A statement
counts only in its phase and before its date by its own signed clock; whatever is refused changes
nothing. Who may evaluate is fixed before anybody can know the beacon (`competition_draw`).
Used by the ledger at its door, by auditors, by pages and by evaluators. docs/protocol.md,
section 19.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tequio_shared import archive_key, competition_draw
from tequio_shared.competition_gate import check_submission, eligible, read_document
from tequio_shared.competition_rules import LEAST_EVALUATORS, CompetitionRules, Submission
from tequio_shared.competition_state import (
    Challenge,
    Draw,
    Entrant,
    Mark,
    Offer,
    Phase,
    Scored,
    Shown,
)
from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.evaluations import ENTRANTS, Evaluation, Outcome
from tequio_shared.ids import (
    Digest,
    PeerKey,
    RunId,
    digest_from_text,
    from_text,
    key_from_text,
    to_text,
)
from tequio_shared.key_share import KeyShare
from tequio_shared.limits import BLOB_BYTES
from tequio_shared.statements.competitions import (
    CompChallenge,
    CompClose,
    CompDraw,
    CompEnter,
    CompResult,
    CompReveal,
    CompSubmit,
    EvalOffer,
    EvalResult,
    EvalSecret,
)
from tequio_shared.tiers import Tier

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tequio_shared.competition_gate import Network
    from tequio_shared.statement import Statement
    from tequio_shared.statements import Body

__all__ = ["CHALLENGES", "CompetitionView", "Phase"]

CHALLENGES = 16
"""Most challenges of one key in a competition."""


_ORDER = tuple(Phase)
_PHASES: Mapping[type[Body], frozenset[Phase]] = {
    CompEnter: frozenset({Phase.OPEN}),
    CompSubmit: frozenset({Phase.OPEN}),
    EvalOffer: frozenset({Phase.OPEN}),
    CompClose: frozenset({Phase.OPEN}),
    EvalSecret: frozenset({Phase.CLOSED}),
    CompDraw: frozenset({Phase.CLOSED}),
    CompReveal: frozenset({Phase.DRAWN, Phase.REVEALED, Phase.DECIDED}),
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
    phase: Phase = Phase.OPEN
    began: dict[Phase, Mark] = field(default_factory=dict)
    """The entry with which each phase began, by phase."""
    entrants: dict[str, Entrant] = field(default_factory=dict)
    offers: dict[PeerKey, Offer] = field(default_factory=dict)
    candidates: dict[PeerKey, Digest] = field(default_factory=dict)
    """Who can be drawn, and whose key it is; from `comp.draw` on."""
    shares: dict[int, Shown] = field(default_factory=dict)
    """By index from 1, in the order of the log."""
    draw: Draw | None = None
    """From the share on that was the last one needed."""
    results: dict[tuple[str, PeerKey], Scored] = field(default_factory=dict)
    """By entrant and evaluator."""
    challenges: list[Challenge] = field(default_factory=list)
    outcome: Digest | None = None
    """Name of the `Outcome`."""

    @classmethod
    def opened(cls, mark: Mark, rules: CompetitionRules) -> CompetitionView:
        """The view right after comp.open."""
        return cls(id=rules.id, rules=rules, began={Phase.OPEN: mark})

    def apply(self, index: int, statement: Statement, network: Network) -> None:
        """Take an entry of this competition; raises RefusedError when it does not count."""
        self._check_phase(statement)
        mark = Mark(index=index, ts=statement.ts)
        match statement.body:
            case CompEnter() as body:
                self._enter(mark, statement.author, body, network)
            case CompSubmit() as body:
                self._submit(mark, statement.author, body, network)
            case EvalOffer() as body:
                self._offer(mark, statement.author, body, network)
            case EvalSecret() as body:
                self._open_secret(mark, statement.author, body)
            case CompReveal() as body:
                self._show_share(mark, statement.author, body)
            case EvalResult() as body:
                self._take_scores(mark, statement.author, body, network)
            case CompChallenge() as body:
                self._challenge(mark, statement.author, body, network)
            case _:
                self._move_on(mark, statement.body, network)

    # --- what follows

    @property
    def submissions(self) -> dict[str, Digest]:
        """Name of the submission that counts, by entrant that has one, in the order of names."""
        return {
            name: entrant.submission.id
            for name, entrant in sorted(self.entrants.items())
            if entrant.submission is not None
        }

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

    # --- private: the open phase

    def _enter(self, mark: Mark, author: PeerKey, body: CompEnter, network: Network) -> None:
        self._check_date(mark, self.rules.dates.opens, self.rules.dates.deadline)
        self._check_part(author, network)
        side = RunId(digest_from_text(body.side)) if body.side else None
        self._check_room(author, network)
        if body.entrant in self.entrants:
            raise RefusedError(
                "name-taken", f"there is an entrant {body.entrant}: take another name"
            )
        if side is not None:
            self._check_side(author, side, network)
        self.entrants[body.entrant] = Entrant(
            name=body.entrant, author=author, entered=mark, side=side
        )

    def _check_room(self, author: PeerKey, network: Network) -> None:
        """Organisers enter as many as they run; a stranger's key enters once, up to half of all."""
        if len(self.entrants) >= ENTRANTS:
            raise RefusedError("competition-full", f"{ENTRANTS} entrants are in it")
        if author in network.organisers:
            return
        strangers = {one.author for one in self.entrants.values()} - network.organisers
        if author in strangers:
            raise RefusedError("already-said", "this key has entered already")
        if len(strangers) >= ENTRANTS // 2:
            raise RefusedError("competition-full", "ask an organiser to enter it")

    def _check_side(self, author: PeerKey, side: RunId, network: Network) -> None:
        if author not in network.organisers:
            raise RefusedError("wrong-role", "only an organiser enters a run")
        if network.run(side) is None:
            raise RefusedError("not-found", f"no run {to_text(side)} was opened in this network")
        for entrant in self.entrants.values():
            if entrant.side == side:
                raise RefusedError("name-taken", f"the run takes part as {entrant.name} already")

    def _submit(self, mark: Mark, author: PeerKey, body: CompSubmit, network: Network) -> None:
        self._check_date(mark, self.rules.dates.opens, self.rules.dates.deadline)
        entrant = self._entrant(body.entrant)
        if author != entrant.author:
            raise RefusedError(
                "wrong-role", f"only who entered as {entrant.name} submits under that name"
            )
        network.check_standing(author)
        submission = read_document(Submission.parse, network, body.submission, "submission")
        check_submission(submission, entrant.side, self.rules.budget, network)
        self.entrants[entrant.name] = replace(entrant, submission=submission, submitted=mark)

    def _offer(self, mark: Mark, author: PeerKey, body: EvalOffer, network: Network) -> None:
        self._check_date(mark, 0, self.rules.dates.deadline)
        self._check_part(author, network)
        if author in network.organisers:
            raise RefusedError("not-eligible", "organisers do not evaluate")
        if any(author == entrant.author for entrant in self.entrants.values()):
            raise RefusedError("not-eligible", "entrants do not evaluate")
        least = self.rules.scoring.evaluator_tier
        if network.tier(author, mark.ts) < least:
            way = "have an account vouch for it" if least == Tier.VOUCHED else "be invited"
            raise RefusedError("not-eligible", f"keys of tier {least} evaluate here: {way}")
        self.offers[author] = Offer(offered=mark, commit=digest_from_text(body.commit))

    # --- private: the draw

    def _offers_of_tier(self, ts: int, network: Network) -> dict[PeerKey, Offer]:
        """Those whose keys are still known as well as the rules ask."""
        least = self.rules.scoring.evaluator_tier
        return {at: one for at, one in self.offers.items() if network.tier(at, ts) >= least}

    def _open_secret(self, mark: Mark, author: PeerKey, body: EvalSecret) -> None:
        offer = self.offers.get(author)
        if offer is None:
            raise RefusedError("not-found", "this key made no offer to evaluate")
        if offer.secret is not None:
            raise RefusedError("already-said", "the secret is open already")
        secret = from_text(body.secret)
        if competition_draw.commitment(self.id, author, secret) != offer.commit:
            raise RefusedError(
                "wrong-reveal", "the secret is not the one that the offer committed to"
            )
        self.offers[author] = replace(offer, secret=secret, opened=mark)

    def _show_share(self, mark: Mark, author: PeerKey, body: CompReveal) -> None:
        sealed, custodians = self.rules.sealed, self.rules.custodian_keys
        if author not in custodians:
            raise RefusedError("wrong-role", "only a custodian shows a share")
        number = custodians.index(author) + 1
        try:
            share = KeyShare.parse(body.share)
        except MalformedError as err:
            raise RefusedError("malformed", f"the share does not hold: {err}") from err
        if share.index != number or share.root != from_text(sealed.root):
            raise RefusedError(
                "wrong-share", f"this custodian's is share {number} of this sealed set"
            )
        if to_text(share.name) != sealed.shares[number - 1]:
            raise RefusedError("wrong-share", f"it is not the share {number} that the rules name")
        if number in self.shares:
            raise RefusedError("already-said", f"share {number} was shown already")
        self.shares[number] = Shown(shown=mark, share=share)
        if self.draw is None and len(self.shares) == sealed.needed:
            self.draw = self._drawn()
            self._begin(Phase.REVEALED, mark)

    def _drawn(self) -> Draw:
        sealed, scoring = self.rules.sealed, self.rules.scoring
        key = archive_key.combine({at: one.share.value for at, one in self.shares.items()})
        secrets = {at: one.secret for at, one in self.offers.items() if one.secret is not None}
        beacon = competition_draw.beacon(self.id, key, secrets, self.submissions)
        return Draw(
            key=key,
            beacon=beacon,
            documents=competition_draw.documents(beacon, scoring.documents, sealed.documents),
            evaluators=competition_draw.evaluators(beacon, self.candidates, scoring.evaluators),
        )

    # --- private: scores and the end

    def _take_scores(self, mark: Mark, author: PeerKey, body: EvalResult, network: Network) -> None:
        self._check_date(mark, 0, self.rules.dates.scored)
        draw = self._known_draw()
        if author not in draw.evaluators:
            raise RefusedError("wrong-role", "this key was not drawn to evaluate")
        submission = self._entrant(body.entrant).submission
        if submission is None or to_text(submission.id) != body.submission:
            raise RefusedError(
                "wrong-scores", f"{body.submission} is not what counts for {body.entrant}"
            )
        if (body.entrant, author) in self.results:
            raise RefusedError("already-said", f"this key has scored {body.entrant}")
        found = read_document(Evaluation.parse, network, body.scores, "evaluation", BLOB_BYTES)
        self._check_scores(author, body, found, len(draw.documents))
        self.results[body.entrant, author] = Scored(
            said=mark,
            entrant=body.entrant,
            evaluator=author,
            scores=digest_from_text(body.scores),
            millibits=body.millibits,
            size_bytes=body.size_bytes,
        )

    def _check_scores(
        self, author: PeerKey, body: EvalResult, found: Evaluation, documents: int
    ) -> None:
        said = body.competition, body.entrant, body.submission, to_text(author)
        if said != (found.competition, found.entrant, found.submission, found.evaluator):
            raise RefusedError(
                "wrong-scores", "the evaluation is of something else, or somebody else's"
            )
        if len(found.documents) != documents:
            raise RefusedError(
                "wrong-scores", f"{len(found.documents)} scores for {documents} documents"
            )
        total = found.total
        if (body.millibits, body.size_bytes) != (total.millibits, total.size_bytes):
            raise RefusedError(
                "wrong-scores", f"the documents sum up to {total.millibits} millibits"
            )

    def _challenge(
        self, mark: Mark, author: PeerKey, body: CompChallenge, network: Network
    ) -> None:
        self._check_date(mark, 0, self.rules.dates.result)
        network.check_standing(author)
        evaluator = key_from_text(body.evaluator)
        if (body.entrant, evaluator) not in self.results:
            raise RefusedError(
                "not-found", f"{body.evaluator} has said nothing about {body.entrant}"
            )
        if body.document not in self._known_draw().documents:
            raise RefusedError(
                "wrong-challenge", f"document {body.document} is not one that was drawn"
            )
        made = Challenge(
            said=mark,
            author=author,
            entrant=body.entrant,
            evaluator=evaluator,
            document=body.document,
            millibits=body.millibits,
        )
        mine = [one for one in self.challenges if one.author == author]
        if len(mine) >= CHALLENGES:
            raise RefusedError("wrong-challenge", f"{CHALLENGES} challenges are all that a key has")
        if any(replace(one, said=mark) == made for one in mine):
            raise RefusedError("already-said", "this challenge was made already")
        self.challenges.append(made)

    def _move_on(self, mark: Mark, body: Body, network: Network) -> None:
        dates = self.rules.dates
        match body:
            case CompClose():
                self._check_date(mark, dates.deadline, None)
                self._begin(Phase.CLOSED, mark)
            case CompDraw():
                self._check_date(mark, dates.draw, None)
                self.candidates = eligible(
                    self.entrants.values(),
                    self._offers_of_tier(mark.ts, network),
                    self.rules.custodian_keys,
                    network,
                )
                self._begin(Phase.DRAWN, mark)
            case CompResult(outcome=name):
                self._check_date(mark, dates.result, None)
                found = read_document(Outcome.parse, network, name, "outcome", BLOB_BYTES)
                if (found.competition, found.beacon) != (
                    to_text(self.id),
                    to_text(self._known_draw().beacon),
                ):
                    raise RefusedError(
                        "wrong-outcome", "the outcome is not of this competition and its draw"
                    )
                self.outcome = digest_from_text(name)
                self._begin(Phase.DECIDED, mark)

    # --- private: what several of them need

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

    def _check_date(self, mark: Mark, first: int, last: int | None) -> None:
        if mark.ts < first:
            raise RefusedError("too-early", f"signed at {mark.ts} ms, before {first} ms")
        if last is not None and mark.ts > last:
            raise RefusedError("too-late", f"signed at {mark.ts} ms, after {last} ms")

    def _check_part(self, author: PeerKey, network: Network) -> None:
        """Neither a custodian nor somebody who is shut out takes part."""
        network.check_standing(author)
        if author in self.rules.custodian_keys:
            raise RefusedError("not-eligible", "custodians neither enter nor evaluate")

    def _entrant(self, name: str) -> Entrant:
        entrant = self.entrants.get(name)
        if entrant is None:
            raise RefusedError("not-found", f"nobody entered as {name}")
        return entrant

    def _known_draw(self) -> Draw:
        if self.draw is None:
            raise AssertionError("a revealed competition has its draw")
        return self.draw
