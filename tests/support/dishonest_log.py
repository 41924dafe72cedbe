"""A competition's log that accepts any statement: a lying ledger, with everybody's real keys.

Sealing, key shares and signatures are real; scores are made up, unless a test gives real ones. A
test can replace any step with a lie, and the log signs the result.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tequio_client.verify.bundle import BundleInfo, write_bundle
from tequio_client.verify.competition import contenders
from tequio_client.verify.fold import Fold
from tequio_client.verify.report import LogReport
from tequio_shared.competition import result as competition_result
from tequio_shared.competition.draw import draw_input, lot_input, seed_input
from tequio_shared.competition.result import DrawnText
from tequio_shared.competition.rules import Environment, Evaluation
from tequio_shared.ids import ZERO_DIGEST, Digest, PeerKey, sha256, to_text
from tequio_shared.keys import Signer
from tequio_shared.log import merkle
from tequio_shared.log.notes import sign_checkpoint
from tequio_shared.scoring import DocumentScore
from tequio_shared.statements.competitions import (
    CompChallenge,
    CompClose,
    CompDraw,
    CompEnter,
    CompOpen,
    CompResult,
    CompReveal,
    CompSubmit,
    EvalLot,
    EvalOffer,
    EvalResult,
)
from tequio_shared.statements.statement import Entry, make, sign
from tests.support.authors import registration
from tests.support.competition_documents import (
    CUSTODIANS,
    DEADLINE,
    DRAW,
    ENTRANTS,
    EVALUATORS,
    NEEDED,
    OPENS,
    RESULT,
    TEXTS,
    Sealing,
    folder_of,
    rules,
)
from tests.support.memory_log import COORDINATOR, LOG_SIGNER, NET, NOW_MS, MemoryLog, genesis
from tests.support.score_commitments import committing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tequio_shared.competition.rules import CompetitionOutcome, Submission
    from tequio_shared.competition.state import CompetitionView
    from tequio_shared.statements.statement import Body


STEPS = ("open", "enter", "offer", "close", "lots", "draw", "reveal", "score", "result")


@dataclass(kw_only=True)
class DishonestLog:
    """The log, the blobs, and the steps of a competition; `now_ms` is everybody's clock."""

    texts: Sequence[str] = TEXTS
    drawn: int = 6
    window: int = 64
    submissions: dict[str, Submission] = field(default_factory=dict)
    millibits: Callable[[str, str, str], int] | None = None
    """Gives the score of (evaluator, entrant, text); None: made-up scores."""

    def __post_init__(self) -> None:
        self.log = MemoryLog.founded()
        self.blobs: dict[Digest, bytes] = {}
        self.now_ms = NOW_MS
        self.signers = {"coordinator": COORDINATOR, "organiser": COORDINATOR}
        for name in (*CUSTODIANS, *ENTRANTS, *EVALUATORS):
            self.log_statement(name, registration(NET, self.signer(name).key))
        sealing = Sealing.of(self.texts)
        self.shares = list(sealing.shares)
        custodians = [self.key(name) for name in CUSTODIANS]
        self.rules = rules(sealing.sealed, custodians, self.window, self.drawn)
        self.put(sealing.archive)
        self.put(self.rules.encode())

    # --- a log without admission rules

    def signer(self, name: str) -> Signer:
        """The signing key of a person."""
        return self.signers.setdefault(name, Signer(sha256(b"contest", name.encode())))

    def key(self, name: str) -> PeerKey:
        """The public key of a person."""
        return self.signer(name).key

    def proof(self, name: str, alpha: bytes) -> str:
        """A person's proof for that input."""
        return to_text(self.signer(name).prove(alpha))

    def log_statement(self, name: str, body: Body) -> int:
        """Log a person's statement without checks; returns its index."""
        signer = self.signer(name)
        seq, last = self.log.chains.get(signer.key, (0, ZERO_DIGEST))
        statement = make(
            body=body,
            author=signer.key,
            seq=seq + 1,
            ts=self.now_ms,
            exp=self.now_ms + 60_000,
            prev=last,
        )
        return self.log.append(sign(NET, statement, signer))

    def remove_last(self) -> None:
        """Remove the last statement from the log and from its author's chain."""
        last = Entry.parse(self.log.leaves.pop()).statement
        self.log.hashes.pop()
        self.log.chains[last.author] = last.seq - 1, last.prev

    def index_of(self, kind: str) -> int:
        """The index of the first statement of a type."""
        kinds = [Entry.parse(leaf).statement.type for leaf in self.log.leaves]
        return kinds.index(kind)

    def put(self, raw: bytes) -> str:
        """Store a document; returns its name."""
        self.blobs[sha256(raw)] = raw
        return to_text(sha256(raw))

    def forge(self, index: int) -> None:
        """Change a byte of an entry's signature; the log signs that too."""
        leaf = bytearray(self.log.leaves[index])
        leaf[2 + 32 + 5] ^= 1
        self.log.leaves[index] = bytes(leaf)
        self.log.hashes[index] = merkle.leaf_hash(bytes(leaf))

    # --- as an auditor reads it

    def genesis(self) -> bytes:
        """The genesis document."""
        return genesis().encode()

    def signed_note(self) -> bytes:
        """The signed checkpoint."""
        return sign_checkpoint(self.log.checkpoint(), LOG_SIGNER)

    def blob(self, name: Digest) -> bytes | None:
        """A document."""
        return self.blobs.get(name)

    def bundle(self, path: Path, note: bytes | None = None) -> Path:
        """Write log and blobs as a bundle."""
        folder = path.with_suffix(".blobs")
        folder.mkdir()
        for name, raw in self.blobs.items():
            (folder / to_text(name)).write_bytes(raw)
        leaves = self.log.leaves
        write_bundle(
            path,
            about=BundleInfo(competition=to_text(self.rules.id)),
            genesis=self.genesis(),
            note=note or self.signed_note(),
            leaves=(leaves[first : first + 256] for first in range(0, len(leaves), 256)),
            blobs=((name, folder / to_text(name)) for name in self.blobs),
        )
        return path

    @property
    def view(self) -> CompetitionView:
        """The competition's state after the log so far."""
        fold = Fold(genesis(), self, LogReport())
        for index, leaf in enumerate(self.log.leaves):
            fold.apply(index, leaf)
        return fold.view.competitions.views[self.rules.id]

    # --- the steps of a competition

    def play(self, to: str = "result") -> DishonestLog:
        """Run all steps up to and including that one."""
        for step in STEPS[: STEPS.index(to) + 1]:
            getattr(self, step)()
        return self

    def play_on(self, *steps: str) -> None:
        """Run these steps, whatever happened before."""
        for step in steps:
            getattr(self, step)()

    def open(self) -> None:
        """Open the competition."""
        self.log_statement("organiser", CompOpen(competition=self.name))

    def enter(self) -> None:
        """Have every entrant enter and submit."""
        self.now_ms = OPENS
        for entrant in ENTRANTS:
            self.log_statement(entrant, CompEnter(competition=self.name, entrant=entrant, side=""))
            self.submit(entrant, self.submissions.get(entrant, folder_of(entrant)))

    def submit(self, entrant: str, submission: Submission) -> int:
        """Submit a model; returns the entry."""
        self.submissions[entrant] = submission
        name = self.put(submission.encode())
        body = CompSubmit(competition=self.name, entrant=entrant, submission=name)
        return self.log_statement(entrant, body)

    def offer(self) -> None:
        """Have everybody offer to evaluate."""
        for name in EVALUATORS:
            self.log_statement(name, EvalOffer(competition=self.name))

    def close(self) -> None:
        """Close the competition to entries."""
        self.now_ms = DEADLINE
        proof = self.proof("coordinator", seed_input(self.rules.id))
        self.log_statement("coordinator", CompClose(competition=self.name, vrf=proof))

    def lots(self) -> None:
        """Draw the lot of every evaluator."""
        seed = self.view.seed
        for name in EVALUATORS:
            proof = self.proof(name, lot_input(self.rules.id, seed))
            self.log_statement(name, EvalLot(competition=self.name, vrf=proof))

    def draw(self) -> None:
        """Draw at the time that the rules set."""
        self.now_ms = DRAW
        self.draw_now()

    def draw_now(self) -> int:
        """Draw at the current time; returns the entry."""
        proof = self.proof("coordinator", draw_input(self.rules.id, self.view.lots))
        return self.log_statement("coordinator", CompDraw(competition=self.name, vrf=proof))

    def reveal(self) -> None:
        """Reveal as many shares as are needed."""
        for number in range(NEEDED):
            self.show_share(number)

    def show_share(self, number: int) -> int:
        """Reveal one share, counted from 0; returns the entry."""
        share = self.shares[number].encode()
        return self.log_statement(
            CUSTODIANS[number], CompReveal(competition=self.name, share=share)
        )

    def score(self) -> None:
        """Have every drawn evaluator commit to scores of every entrant, then reveal them."""
        scorers = self.scorers
        for step in (self.commit, self.evaluate):
            for name in scorers:
                for entrant in ENTRANTS:
                    step(name, entrant)

    def commit(self, name: str, entrant: str) -> int:
        """Have an evaluator commit to the scores that `evaluate` reveals; returns the entry."""
        return self.commit_to(name, self.scores(name, entrant))

    def commit_all(self, entrant: str) -> None:
        """Have all drawn evaluators commit to scores of an entrant."""
        for name in self.scorers:
            self.commit(name, entrant)

    def commit_to(self, name: str, result: EvalResult) -> int:
        """Have an evaluator commit to a result; returns the entry."""
        return self.log_statement(name, committing(self.key(name), result))

    def evaluate(self, name: str, entrant: str) -> int:
        """Have an evaluator reveal scores of an entrant; returns the entry."""
        return self.log_statement(name, self.scores(name, entrant))

    def scores(self, name: str, entrant: str) -> EvalResult:
        """An evaluator's result for an entrant."""
        submission = self.submissions[entrant].id
        evaluation = Evaluation(
            competition=self.name,
            entrant=entrant,
            submission=to_text(submission),
            evaluator=to_text(self.key(name)),
            environment=Environment(program="tequio 0", torch="2", device="cpu", threads=1),
            documents=tuple(self._score(name, entrant, text) for text in self.drawn_texts),
        )
        return EvalResult(
            competition=self.name,
            entrant=entrant,
            submission=to_text(submission),
            scores=self.put(evaluation.encode()),
            salt=to_text(sha256(b"salt", name.encode(), entrant.encode())),
            millibits=evaluation.total.millibits,
            size_bytes=evaluation.total.size_bytes,
        )

    def challenge(self, entrant: str, evaluator: str, document: int) -> None:
        """Challenge an evaluator's score of a document."""
        self.log_statement(
            "carla",
            CompChallenge(
                competition=self.name,
                entrant=entrant,
                evaluator=to_text(self.key(evaluator)),
                document=document,
                millibits=7,
            ),
        )

    def result(self) -> None:
        """Have the organiser state the true outcome."""
        self.decide(self.outcome())

    def decide(self, outcome: CompetitionOutcome) -> int:
        """Have the organiser state this outcome; returns the entry."""
        self.now_ms = RESULT
        name = self.put(outcome.encode())
        return self.log_statement("organiser", CompResult(competition=self.name, outcome=name))

    # --- derived values

    @property
    def name(self) -> str:
        """The competition's id."""
        return to_text(self.rules.id)

    @property
    def scorers(self) -> list[str]:
        """Names of the drawn evaluators."""
        draw = self.view.draw
        assert draw is not None
        by_key = {self.key(name): name for name in EVALUATORS}
        return [by_key[key] for key in draw.evaluators]

    @property
    def drawn_texts(self) -> list[str]:
        """The drawn documents."""
        draw = self.view.draw
        assert draw is not None
        return [self.texts[at] for at in draw.documents]

    def outcome(self) -> CompetitionOutcome:
        """The outcome that follows from the log."""
        view = self.view
        assert view.draw is not None
        texts = [DrawnText.of(one.encode()) for one in self.drawn_texts]
        found = contenders(view, self.blob)
        return competition_result.compute_outcome(view.id, view.draw.beacon, texts, found)

    def _score(self, name: str, entrant: str, text: str) -> DocumentScore:
        raw = text.encode()
        made_up = ENTRANTS[entrant] * len(raw) + EVALUATORS.index(name)
        return DocumentScore(
            document=to_text(sha256(raw)),
            size_bytes=len(raw),
            words=len(text.split(" ")),
            tokens=len(raw),
            millibits=self.millibits(name, entrant, text) if self.millibits else made_up,
        )
