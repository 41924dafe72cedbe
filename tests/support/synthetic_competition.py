"""A competition without texts: real rules, shares, documents and bodies, made-up scores."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tequio_client.organiser import sealing
from tequio_shared.competition.draw import draw_input, lot_input, seed_input
from tequio_shared.competition.rules import (
    Budget,
    CompetitionOutcome,
    CompetitionRules,
    Dates,
    Environment,
    Evaluation,
    Scoring,
    Submission,
    SubmittedFile,
)
from tequio_shared.ids import (
    Digest,
    PeerKey,
    RunId,
    sha256,
    to_text,
)
from tequio_shared.scoring import DocumentScore, Refusal
from tequio_shared.sealed_set import KeyShare, SealedSet
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
    EvalLot,
    EvalOffer,
    EvalResult,
)
from tests.support.score_commitments import committing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tequio_shared.keys import Signer

HOUR_MS = 3_600_000
OPENS, DEADLINE, DRAW, SCORED, RESULT = (HOUR_MS * n for n in (1, 5, 6, 8, 9))
"""Dates of a synthetic competition, in milliseconds after its start."""
NO_LIMIT = Budget(parameters=0, tokens=0, hours=0)
ROOT = sha256(b"root of a sealed set")


@dataclass(kw_only=True)
class SyntheticCompetition:
    """Rules with these custodians, and the body of each step; store `documents` as blobs."""

    custodians: Sequence[PeerKey]
    start_ms: int
    needed: int = 2
    budget: Budget = NO_LIMIT
    texts: int = 20
    drawn: int = 5
    evaluators: int = 3
    tier: int = 0
    name: str = "Paper 2026"
    dates: tuple[int, ...] = (OPENS, DEADLINE, DRAW, SCORED, RESULT)
    """Milliseconds after the start, in the order of the rules."""
    key: bytes = bytes(range(100, 132))
    documents: dict[Digest, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        many = len(self.custodians)
        self.shares = [
            KeyShare(index=at, needed=self.needed, shares=many, root=ROOT, value=value)
            for at, value in enumerate(sealing.split_key(self.key, self.needed, many), start=1)
        ]
        opens, deadline, draw, scored, result = (self.start_ms + after for after in self.dates)
        self.rules = CompetitionRules(
            name=self.name,
            sealed=SealedSet(
                root=to_text(ROOT),
                documents=self.texts,
                size_bytes=10 * self.texts,
                archive=to_text(sha256(b"archive")),
                needed=self.needed,
                shares=tuple(to_text(one.name) for one in self.shares),
            ),
            archive="",
            custodians=tuple(map(to_text, self.custodians)),
            budget=self.budget,
            dates=Dates(opens=opens, deadline=deadline, draw=draw, scored=scored, result=result),
            scoring=Scoring(
                window=64,
                stride=32,
                documents=self.drawn,
                evaluators=self.evaluators,
                evaluator_tier=self.tier,
            ),
            data="",
        )
        self.put(self.rules.encode())

    @property
    def id(self) -> Digest:
        """The competition's id."""
        return self.rules.id

    @property
    def text(self) -> str:
        """The competition's id as text, as in statements."""
        return to_text(self.id)

    def put(self, document: bytes) -> str:
        """Add a document; returns its name."""
        name = sha256(document)
        self.documents[name] = document
        return to_text(name)

    def open(self) -> CompOpen:
        """Open the competition."""
        return CompOpen(competition=self.text)

    def enter(self, entrant: str, side: RunId | None = None) -> CompEnter:
        """Enter under that name."""
        return CompEnter(competition=self.text, entrant=entrant, side=to_text(side) if side else "")

    def submit(self, entrant: str, submission: Submission) -> CompSubmit:
        """Submit a model."""
        return CompSubmit(
            competition=self.text, entrant=entrant, submission=self.put(submission.encode())
        )

    def offer(self) -> EvalOffer:
        """Offer to evaluate."""
        return EvalOffer(competition=self.text)

    def close(self, coordinator: Signer) -> CompClose:
        """Close it to entries, with the seed of the lots."""
        return CompClose(competition=self.text, vrf=to_text(coordinator.prove(seed_input(self.id))))

    def lot(self, author: Signer, seed: bytes) -> EvalLot:
        """Draw the lot of that key."""
        return EvalLot(competition=self.text, vrf=to_text(author.prove(lot_input(self.id, seed))))

    def draw(self, coordinator: Signer, lots: Mapping[PeerKey, bytes]) -> CompDraw:
        """End the time of lots."""
        return CompDraw(
            competition=self.text, vrf=to_text(coordinator.prove(draw_input(self.id, lots)))
        )

    def reveal(self, number: int) -> CompReveal:
        """Reveal the share of that number, from 1."""
        return CompReveal(competition=self.text, share=self.shares[number - 1].encode())

    def commit(
        self, author: PeerKey, entrant: str, submission: Submission, millibits: int
    ) -> EvalCommit:
        """Commit to the scores of `result`."""
        return self.commit_to(author, self.result(author, entrant, submission, millibits))

    def commit_to(self, author: PeerKey, result: EvalResult) -> EvalCommit:
        """Commit to a result."""
        return committing(author, result)

    def result(
        self, author: PeerKey, entrant: str, submission: Submission, millibits: int
    ) -> EvalResult:
        """Score each drawn document at `millibits`; the first one has no text."""
        scores = Evaluation(
            competition=self.text,
            entrant=entrant,
            submission=to_text(submission.id),
            evaluator=to_text(author),
            environment=Environment(program="paper", torch="none", device="cpu", threads=1),
            documents=tuple(score(number, millibits) for number in range(self.drawn)),
        )
        total = scores.total
        return EvalResult(
            competition=self.text,
            entrant=entrant,
            submission=to_text(submission.id),
            scores=self.put(scores.encode()),
            salt=to_text(salt_of(author, entrant)),
            millibits=total.millibits,
            size_bytes=total.size_bytes,
        )

    def challenge(
        self, entrant: str, evaluator: PeerKey, document: int, millibits: int = 7
    ) -> CompChallenge:
        """Challenge an evaluator's score of a document."""
        return CompChallenge(
            competition=self.text,
            entrant=entrant,
            evaluator=to_text(evaluator),
            document=document,
            millibits=millibits,
        )

    def decide(self, beacon: Digest, competition: str = "") -> CompResult:
        """State an outcome, by default of this competition, in which nobody is ranked."""
        outcome = CompetitionOutcome(
            competition=competition or self.text,
            beacon=to_text(beacon),
            documents=0,
            places=(),
            pairs=(),
        )
        return CompResult(competition=self.text, outcome=self.put(outcome.encode()))


def salt_of(author: PeerKey, entrant: str) -> Digest:
    """The salt of a key's commitment to scores in these tests."""
    return sha256(b"salt", author, entrant.encode())


def folder(name: str) -> Submission:
    """A folder on the Hub, a different one for each name."""
    return Submission(
        run="",
        round=0,
        weights_root="",
        repo=f"user/{name}",
        revision="0123456789" * 4,
        files=(SubmittedFile(name="model.safetensors", size_bytes=9, sha256=to_text(ROOT)),),
    )


def head(run: RunId, number: int, weights_root: Digest) -> Submission:
    """The head of a run after that round."""
    return Submission(
        run=to_text(run),
        round=number,
        weights_root=to_text(weights_root),
        repo="",
        revision="",
        files=(),
    )


def score(number: int, millibits: int) -> DocumentScore:
    """Score a document of ten bytes; document 0 has no text."""
    name = to_text(sha256(b"document", bytes((number,))))
    if not number:
        return DocumentScore(
            document=name, size_bytes=0, words=0, tokens=0, millibits=0, refusal=Refusal.EMPTY
        )
    return DocumentScore(document=name, size_bytes=10, words=2, tokens=3, millibits=millibits)
