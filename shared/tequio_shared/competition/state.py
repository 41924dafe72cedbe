"""Parts of a competition's view: its entrants, and the scores of their submissions.

Nobody can copy scores: an evaluator commits to its scores of an entrant, and reveals them when all
drawn evaluators have committed, or nobody can any more. Once the first is revealed, no commitment
counts, so a clock that is set back gains nothing. docs/protocol.md, section 19.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, TypeVar

from tequio_shared.competition.rules import (
    ENTRANTS,
    Budget,
    CompetitionRules,
    Evaluation,
    Submission,
)
from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.ids import (
    Digest,
    PeerKey,
    RunId,
    digest_from_text,
    from_text,
    key_from_text,
    sha256,
    to_text,
)
from tequio_shared.limits import BLOB_BYTES, STATEMENT_BYTES
from tequio_shared.network.accounts import RunProgress
from tequio_shared.network.standing import EXCLUDED, KeyStatus
from tequio_shared.network.tiers import Tiers
from tequio_shared.sealed_set import KeyShare
from tequio_shared.statements.competitions import (
    CompChallenge,
    CompEnter,
    CompSubmit,
    EvalCommit,
    EvalResult,
)

if TYPE_CHECKING:
    from tequio_shared.network.run import Documents, FullRunView


_HOUR_MS = 3_600_000
_Document = TypeVar("_Document")


def _unknown(_name: Digest) -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompetitionContext:
    """The folds that a competition rests on, and the documents by digest.

    Always as the log has them before the statement that is judged.
    """

    documents: Documents
    """Raises KeyError for a missing one."""
    run: Callable[[RunId], FullRunView | None]
    standings: KeyStatus
    tiers: Tiers
    organisers: frozenset[PeerKey]
    size_of: Callable[[Digest], int | None] = _unknown
    """Size of a document if that is cheaper than reading it: anybody may name a large one."""

    def is_in_good_standing(self, key: PeerKey) -> bool:
        """Return whether the key is registered, and neither quarantined nor banned."""
        return key in self.standings.records and self.standings.of(key) not in EXCLUDED

    def check_standing(self, key: PeerKey) -> None:
        """Raise RefusedError unless the key is in good standing."""
        if not self.is_in_good_standing(key):
            raise RefusedError("quarantined", f"key {to_text(key)} may not take part now")

    def owner(self, key: PeerKey) -> Digest:
        """Owner of the key, as far as the log knows."""
        return self.tiers.highest(key).owner

    def tier(self, key: PeerKey, ts: int) -> int:
        """Tier of the key at that time (ms), in any run."""
        word = self.tiers.highest(key)
        # An invitation has no end; a vouch counts only while it runs.
        return int(word.tier) if not word.until or word.until > ts else 0

    def rostered(self, run: RunId) -> set[PeerKey]:
        """Keys that have ever had a slot in the run."""
        view = self.run(run)
        return set() if view is None else view.accounts.rostered


def read_document(
    parse: Callable[[bytes], _Document],
    network: CompetitionContext,
    name: str,
    noun: str,
    most_bytes: int = STATEMENT_BYTES,
) -> _Document:
    """Read the document that a statement names; raises RefusedError."""
    # Before the read: a statement costs its author nothing, and the blob may be 64 MiB.
    size_bytes = network.size_of(digest_from_text(name)) or 0
    if size_bytes > most_bytes:
        raise RefusedError(
            "malformed", f"the {noun} has {size_bytes} bytes; at most {most_bytes} are allowed"
        )
    try:
        return parse(network.documents(digest_from_text(name)))
    except KeyError as err:
        raise RefusedError("not-found", f"upload the {noun} {name} first") from err
    except MalformedError as err:
        raise RefusedError("malformed", f"the {noun} is not valid: {err}") from err


def check_submission(
    submission: Submission, side: RunId | None, budget: Budget, network: CompetitionContext
) -> None:
    """Raise RefusedError unless it is a head of that run, within the budget; no run: a folder.

    The budget of a folder is checked when it is scored.
    """
    if submission.run != ("" if side is None else to_text(side)):
        due = "a folder" if side is None else f"a head of run {to_text(side)}"
        raise RefusedError("wrong-submission", f"this entrant must submit {due}")
    view = None if side is None else network.run(side)
    if view is None:
        return
    head = view.heads.get(submission.round)
    if head is None:
        raise RefusedError("wrong-submission", f"round {submission.round} has no promoted head")
    # The hash in the submission is what evaluators fetch, so it must be the promoted one.
    if to_text(head.weights_root) != submission.weights_root:
        raise RefusedError("wrong-submission", f"round {submission.round} has other weights")
    # Head 0 has no closed round before it, and has used nothing.
    trained = view.accounts.trained.get(submission.round, RunProgress(tokens=0, ms=0))
    _check_budget(budget, view.manifest.parameters, trained)


def _check_budget(budget: Budget, parameters: int, trained: RunProgress) -> None:
    taken = (
        ("parameters", budget.parameters, parameters),
        ("tokens", budget.tokens, trained.tokens),
        ("hours", budget.hours, -(-trained.ms // _HOUR_MS)),
    )
    for noun, most, found in taken:
        if most and found > most:  # 0: no limit
            raise RefusedError("over-budget", f"{found} {noun}; {most} are allowed")


class CompetitionPhase(StrEnum):
    """Phase of a competition; it ends when the statement that begins the next one is logged."""

    OPEN = "open"  # keys enter, submit, and offer to evaluate
    CLOSED = "closed"  # evaluators that offered open their secrets
    DRAWN = "drawn"  # custodians reveal their shares
    REVEALED = (
        "revealed"  # texts and draw are known: evaluators commit and reveal, others challenge
    )
    DECIDED = "decided"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedEntry:
    """An entry of the log, and its signed time (ms)."""

    index: int
    ts: int

    def check_within(self, first: int, last: int | None) -> None:
        """Raise RefusedError unless it was signed between these times (ms), both included."""
        if self.ts < first:
            raise RefusedError("too-early", f"signed at {self.ts} ms, before {first} ms")
        if last is not None and self.ts > last:
            raise RefusedError("too-late", f"signed at {self.ts} ms, after {last} ms")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrant:
    """A participant under its name; `submission` is the one that counts so far."""

    name: str
    author: PeerKey
    entered: SignedEntry
    side: RunId | None
    submission: Submission | None = None
    submitted: SignedEntry | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationOffer:
    """An offer to evaluate; `secret` once it is opened."""

    offered: SignedEntry
    commit: Digest
    secret: bytes | None = None
    opened: SignedEntry | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RevealedShare:
    """A share of the key that its custodian revealed."""

    revealed: SignedEntry
    share: KeyShare


@dataclass(frozen=True, slots=True, kw_only=True)
class CompetitionDraw:
    """Consequences of the beacon: the key, the documents to score, and their evaluators."""

    key: bytes
    beacon: Digest
    documents: tuple[int, ...]
    """Indices in the sealed set, ascending."""
    evaluators: tuple[PeerKey, ...]
    """In the order of the lot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreCommitment:
    """A drawn evaluator's commitment to its scores of one entrant."""

    committed_at: SignedEntry
    commit: Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatorScores:
    """A drawn evaluator's scores of one entrant."""

    revealed_at: SignedEntry
    entrant: str
    evaluator: PeerKey
    scores: Digest
    """SHA-256 of the `Evaluation`."""
    millibits: int
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationChallenge:
    """Another number than an evaluator's for one document."""

    challenged_at: SignedEntry
    author: PeerKey
    entrant: str
    evaluator: PeerKey
    document: int
    millibits: int


@dataclass(slots=True, kw_only=True)
class EntrantsView:
    """The entrants so far; each method applies a statement, or raises RefusedError."""

    rules: CompetitionRules
    entrants: dict[str, Entrant] = field(default_factory=dict)
    """By name, in the order of entry."""

    def enter(
        self, mark: SignedEntry, author: PeerKey, body: CompEnter, network: CompetitionContext
    ) -> None:
        """Apply comp.enter."""
        mark.check_within(self.rules.dates.opens, self.rules.dates.deadline)
        check_participant(author, self.rules.custodian_keys, network)
        side = RunId(digest_from_text(body.side)) if body.side else None
        self._check_room(author, network)
        if body.entrant in self.entrants:
            raise RefusedError(
                "name-taken", f"the name {body.entrant} is taken: choose another one"
            )
        if side is not None:
            self._check_side(author, side, network)
        self.entrants[body.entrant] = Entrant(
            name=body.entrant, author=author, entered=mark, side=side
        )

    def submit(
        self, mark: SignedEntry, author: PeerKey, body: CompSubmit, network: CompetitionContext
    ) -> None:
        """Apply comp.submit: the model replaces the entrant's one before."""
        mark.check_within(self.rules.dates.opens, self.rules.dates.deadline)
        entrant = self.of(body.entrant)
        # A name belongs to the key that entered: otherwise a rival could replace the model.
        if author != entrant.author:
            raise RefusedError(
                "wrong-role", f"only the key that entered as {entrant.name} may submit under it"
            )
        network.check_standing(author)
        submission = read_document(Submission.parse, network, body.submission, "submission")
        check_submission(submission, entrant.side, self.rules.budget, network)
        self.entrants[entrant.name] = replace(entrant, submission=submission, submitted=mark)

    def of(self, name: str) -> Entrant:
        """Return the entrant with that name; raises RefusedError("not-found")."""
        entrant = self.entrants.get(name)
        if entrant is None:
            raise RefusedError("not-found", f"no entrant has the name {name}")
        return entrant

    @property
    def submissions(self) -> dict[str, Digest]:
        """Digest of the submission that counts, by entrant that has one, in the order of names."""
        return {
            name: entrant.submission.id
            for name, entrant in sorted(self.entrants.items())
            if entrant.submission is not None
        }

    def _check_room(self, author: PeerKey, network: CompetitionContext) -> None:
        """Check the limits: one entry per key, half of all places; organisers are exempt."""
        if len(self.entrants) >= ENTRANTS:
            raise RefusedError("competition-full", f"the competition has {ENTRANTS} entrants")
        if author in network.organisers:
            return
        # Half of the places stay for organisers, so strangers cannot crowd them out.
        strangers = {one.author for one in self.entrants.values()} - network.organisers
        if author in strangers:
            raise RefusedError("already-said", "this key has entered already")
        if len(strangers) >= ENTRANTS // 2:
            raise RefusedError("competition-full", "no place is left: ask an organiser to enter it")

    def _check_side(self, author: PeerKey, side: RunId, network: CompetitionContext) -> None:
        if author not in network.organisers:
            raise RefusedError("wrong-role", "only an organiser may enter a run")
        if network.run(side) is None:
            raise RefusedError("not-found", f"no run {to_text(side)} was opened in this network")
        for entrant in self.entrants.values():
            if entrant.side == side:
                raise RefusedError("name-taken", f"the run already takes part as {entrant.name}")


def check_participant(
    author: PeerKey, custodians: Collection[PeerKey], network: CompetitionContext
) -> None:
    """Raise RefusedError for a custodian, and for a key in bad standing: neither takes part."""
    network.check_standing(author)
    if author in custodians:
        raise RefusedError("not-eligible", "custodians may neither enter nor evaluate")


CHALLENGES = 16
"""Most challenges by one key in a competition."""


def score_commitment(competition: Digest, author: PeerKey, scores: Digest, salt: bytes) -> Digest:
    """Commitment of an evaluator to the `Evaluation` with that digest, bound to its author."""
    return sha256(b"tequio/v1/scored\0", competition, author, scores, salt)


@dataclass(slots=True, kw_only=True)
class ScoresView:
    """The scores so far; each method applies a statement, or raises RefusedError."""

    rules: CompetitionRules
    commits: dict[tuple[str, PeerKey], ScoreCommitment] = field(default_factory=dict)
    """By entrant and evaluator; `results` too."""
    results: dict[tuple[str, PeerKey], EvaluatorScores] = field(default_factory=dict)
    challenges: list[EvaluationChallenge] = field(default_factory=list)

    def commit(
        self,
        mark: SignedEntry,
        author: PeerKey,
        body: EvalCommit,
        draw: CompetitionDraw,
        entries: EntrantsView,
    ) -> None:
        """Apply eval.commit of a drawn evaluator."""
        mark.check_within(0, self.rules.dates.scored)
        _check_drawn(author, draw)
        if entries.of(body.entrant).submission is None:
            raise RefusedError("wrong-scores", f"{body.entrant} has submitted no model")
        if (body.entrant, author) in self.commits:
            raise RefusedError("already-said", f"this key has committed for {body.entrant}")
        # One revealed score is enough to copy from, so no further commitment can count.
        if any(name == body.entrant for name, _ in self.results):
            raise RefusedError("too-late", f"scores of {body.entrant} are already revealed")
        self.commits[body.entrant, author] = ScoreCommitment(
            committed_at=mark, commit=digest_from_text(body.commit)
        )

    def reveal(
        self,
        mark: SignedEntry,
        author: PeerKey,
        body: EvalResult,
        draw: CompetitionDraw,
        entries: EntrantsView,
        network: CompetitionContext,
    ) -> None:
        """Apply eval.result: the scores of an entrant that a drawn evaluator committed to."""
        mark.check_within(0, self.rules.dates.reveal_until)
        _check_drawn(author, draw)
        submission = entries.of(body.entrant).submission
        if submission is None or to_text(submission.id) != body.submission:
            raise RefusedError(
                "wrong-scores",
                f"{body.submission} is not the submission that counts for {body.entrant}",
            )
        if (body.entrant, author) in self.results:
            raise RefusedError("already-said", f"this key has scored {body.entrant}")
        # Before the document is read: a copier has no commitment, and must not cause the read.
        self._check_opens(author, body)
        if not self.may_reveal(body.entrant, draw, mark.ts):
            raise RefusedError(
                "too-early", f"not all drawn evaluators have committed for {body.entrant}"
            )
        found = read_document(Evaluation.parse, network, body.scores, "evaluation", BLOB_BYTES)
        _check_scores(author, body, found, len(draw.documents))
        self.results[body.entrant, author] = EvaluatorScores(
            revealed_at=mark,
            entrant=body.entrant,
            evaluator=author,
            scores=digest_from_text(body.scores),
            millibits=body.millibits,
            size_bytes=body.size_bytes,
        )

    def may_reveal(self, entrant: str, draw: CompetitionDraw, at_ms: int) -> bool:
        """Return whether the entrant's scores may be revealed then: nobody else can commit."""
        heard = all((entrant, key) in self.commits for key in draw.evaluators)
        return heard or at_ms > self.rules.dates.scored

    def count_possible(self, entrant: str, draw: CompetitionDraw, at_ms: int) -> int:
        """Count scores of the entrant that are revealed, or still can be at that time."""
        spots = [(entrant, key) for key in draw.evaluators]
        dates = self.rules.dates
        if at_ms <= dates.scored:
            return len(spots)
        # Until the time to reveal is over every commitment may still be opened.
        hopes = self.commits if at_ms <= dates.reveal_until else self.results
        return sum(spot in hopes for spot in spots)

    def challenge(
        self,
        mark: SignedEntry,
        author: PeerKey,
        body: CompChallenge,
        draw: CompetitionDraw,
        network: CompetitionContext,
    ) -> None:
        """Apply comp.challenge: another number for a document."""
        mark.check_within(0, self.rules.dates.result)
        network.check_standing(author)
        evaluator = key_from_text(body.evaluator)
        if (body.entrant, evaluator) not in self.results:
            raise RefusedError(
                "not-found", f"{body.evaluator} has published no scores of {body.entrant}"
            )
        if body.document not in draw.documents:
            raise RefusedError("wrong-challenge", f"document {body.document} was not drawn")
        made = EvaluationChallenge(
            challenged_at=mark,
            author=author,
            entrant=body.entrant,
            evaluator=evaluator,
            document=body.document,
            millibits=body.millibits,
        )
        # Bounded per key: nobody can fill the log with challenges.
        mine = [one for one in self.challenges if one.author == author]
        if len(mine) >= CHALLENGES:
            raise RefusedError("wrong-challenge", f"a key may make {CHALLENGES} challenges at most")
        if any(replace(one, challenged_at=mark) == made for one in mine):
            raise RefusedError("already-said", "this challenge has been made already")
        self.challenges.append(made)

    def _check_opens(self, author: PeerKey, body: EvalResult) -> None:
        committed = self.commits.get((body.entrant, author))
        if committed is None:
            raise RefusedError("not-found", f"this key committed to no scores of {body.entrant}")
        scores, salt = digest_from_text(body.scores), from_text(body.salt)
        if score_commitment(self.rules.id, author, scores, salt) != committed.commit:
            raise RefusedError(
                "wrong-reveal", f"the scores of {body.entrant} do not match the commitment"
            )


def _check_drawn(author: PeerKey, draw: CompetitionDraw) -> None:
    if author not in draw.evaluators:
        raise RefusedError("wrong-role", "this key was not drawn to evaluate")


def _check_scores(author: PeerKey, body: EvalResult, found: Evaluation, documents: int) -> None:
    said = body.competition, body.entrant, body.submission, to_text(author)
    if said != (found.competition, found.entrant, found.submission, found.evaluator):
        raise RefusedError(
            "wrong-scores", "the evaluation is for another entrant or by another evaluator"
        )
    if len(found.documents) != documents:
        raise RefusedError(
            "wrong-scores", f"{len(found.documents)} scores for {documents} documents"
        )
    # Readers show the sums without fetching the blob, so they must match it.
    total = found.total
    if (body.millibits, body.size_bytes) != (total.millibits, total.size_bytes):
        raise RefusedError("wrong-scores", f"the documents add up to {total.millibits} millibits")
