"""One competition as every reader sees it: its state, and what follows from it.

Only the log decides on the phase: statements of the coordinator end the time of entries and the
time of lots, shares end the secrecy, organisers state the outcome. Every statement is applied by
a function of `entrants`, `draw` or `scores`, or by `competition`. (docs/protocol.md, section 19)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, TypeVar

from tequio_shared.competition.rules import LEAST_EVALUATORS, CompetitionRules, Submission
from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.ids import Digest, PeerKey, RunId, digest_from_text, sha256, to_text
from tequio_shared.limits import STATEMENT_BYTES
from tequio_shared.network.standing import EXCLUDED, KeyStatus
from tequio_shared.network.tiers import Tiers
from tequio_shared.sealed_set import KeyShare

if TYPE_CHECKING:
    from tequio_shared.network.full_run import FullRunView
    from tequio_shared.network.run import Documents


_Document = TypeVar("_Document")


class CompetitionPhase(StrEnum):
    """Phase of a competition; it ends when the statement that begins the next one is logged."""

    OPEN = "open"  # keys enter, submit, and offer to evaluate
    CLOSED = "closed"  # evaluators that offered draw their lots
    DRAWN = "drawn"  # custodians reveal their shares
    REVEALED = (
        "revealed"  # texts and draw are known: evaluators commit and reveal, others challenge
    )
    DECIDED = "decided"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedEntry:
    """Log index, author and signed time (ms) of a statement."""

    index: int
    author: PeerKey
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
    """An offer to evaluate; `lot` (64 bytes) once it is drawn."""

    offered: SignedEntry
    lot: bytes | None = None
    lot_drawn: SignedEntry | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RevealedShare:
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
    """In the order drawn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreCommitment:
    committed_at: SignedEntry
    commit: Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatorScores:
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
class CompetitionView:
    """A competition by its log. Only `CompetitionsView.apply` changes it."""

    id: Digest
    rules: CompetitionRules
    phase: CompetitionPhase = CompetitionPhase.OPEN
    phase_starts: dict[CompetitionPhase, SignedEntry] = field(default_factory=dict)
    """The entry that began each phase."""
    entrants: dict[str, Entrant] = field(default_factory=dict)
    """By name, in the order of entry."""
    offers: dict[PeerKey, EvaluationOffer] = field(default_factory=dict)
    seed: bytes = b""
    """Seed of the lots, 64 bytes; empty before `comp.close`."""
    draw_output: bytes = b""
    """The coordinator's part in the beacon, 64 bytes; empty before `comp.draw`."""
    candidates: dict[PeerKey, Digest] = field(default_factory=dict)
    """Keys that can be drawn, with their owners; empty before `comp.draw`."""
    shares: dict[int, RevealedShare] = field(default_factory=dict)
    """By index from 1, in the order of the log."""
    draw: CompetitionDraw | None = None
    """Set by the last share needed."""
    commits: dict[tuple[str, PeerKey], ScoreCommitment] = field(default_factory=dict)
    """By entrant and evaluator; `results` too."""
    results: dict[tuple[str, PeerKey], EvaluatorScores] = field(default_factory=dict)
    challenges: list[EvaluationChallenge] = field(default_factory=list)
    outcome: Digest | None = None
    """SHA-256 of the `Outcome`."""

    def begin(self, phase: CompetitionPhase, entry: SignedEntry) -> None:
        self.phase = phase
        self.phase_starts[phase] = entry

    def entrant(self, name: str) -> Entrant:
        """Return the entrant with that name; raises RefusedError("not-found")."""
        if name not in self.entrants:
            raise RefusedError("not-found", f"no entrant has the name {name}")
        return self.entrants[name]

    @property
    def submissions(self) -> dict[str, Digest]:
        """Digest of the submission that counts, by entrant that has one, in the order of names."""
        return {
            name: entrant.submission.id
            for name, entrant in sorted(self.entrants.items())
            if entrant.submission is not None
        }

    @property
    def lots(self) -> dict[PeerKey, bytes]:
        """Lots drawn so far, by author."""
        return {key: one.lot for key, one in self.offers.items() if one.lot is not None}

    @property
    def known_draw(self) -> CompetitionDraw:
        """The draw, once the texts are open."""
        if self.draw is None:
            raise AssertionError("a revealed competition has its draw")
        return self.draw

    def may_reveal(self, entrant: str, at_ms: int) -> bool:
        """Return whether the entrant's scores may be revealed then: nobody else can commit."""
        drawn = self.known_draw.evaluators
        has_all = all((entrant, key) in self.commits for key in drawn)
        return has_all or at_ms > self.rules.dates.scored

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
        scores = Counter(entrant for entrant, _ in self.results)
        # One model with enough scores is enough for a ranking; the others are listed without a
        # rank.
        if all(scores[name] < LEAST_EVALUATORS for name in self.submissions):
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

    def next_ms(self) -> int | None:
        """Time (ms) of the coordinator's next statement, or None if none is left."""
        dates = self.rules.dates
        # Only these two phases end by a statement of the coordinator.
        return {CompetitionPhase.OPEN: dates.deadline, CompetitionPhase.CLOSED: dates.draw}.get(
            self.phase
        )

    def _has_hope(self, now_ms: int) -> bool:
        """Return whether enough evaluators may still score some model to rank it."""
        if not self.submissions or len(set(self.candidates.values())) < LEAST_EVALUATORS:
            return False
        draw = self.draw
        # Without a draw nobody can tell yet who will evaluate, so the hope remains.
        return draw is None or any(
            self._count_possible(name, draw, now_ms) >= LEAST_EVALUATORS
            for name in self.submissions
        )

    def _count_possible(self, entrant: str, draw: CompetitionDraw, at_ms: int) -> int:
        """Count scores of the entrant that are revealed, or still can be at that time."""
        spots = [(entrant, key) for key in draw.evaluators]
        dates = self.rules.dates
        if at_ms <= dates.scored:
            return len(spots)
        # Until the time to reveal is over every commitment may still be opened.
        hopes = self.commits if at_ms <= dates.reveal_until else self.results
        return sum(spot in hopes for spot in spots)


def score_commitment(competition: Digest, author: PeerKey, scores: Digest, salt: bytes) -> Digest:
    """Commitment of an evaluator to the `Evaluation` with that digest, bound to its author."""
    return sha256(b"tequio/v1/scored\0", competition, author, scores, salt)


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
    size_of: Callable[[Digest], int | None] = lambda _: None
    """Size of a document if that is cheaper than reading it: anybody may name a large one."""

    def is_in_good_standing(self, key: PeerKey) -> bool:
        """Return whether the key is neither quarantined nor banned, and has not ended."""
        return self.standings.of(key) not in EXCLUDED

    def check_standing(self, key: PeerKey) -> None:
        """Raise RefusedError unless the key is in good standing."""
        if not self.is_in_good_standing(key):
            raise RefusedError("quarantined", f"key {to_text(key)} may not take part now")

    def holder(self, key: PeerKey) -> PeerKey:
        """The key itself, or the one that took its place."""
        return self.standings.links.holder(key)

    def with_holders(self, keys: Iterable[PeerKey]) -> set[PeerKey]:
        """Keys, and those that took their places: a replacement makes nobody impartial."""
        return {one for key in keys for one in (key, self.holder(key))}

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
    # Before the read: a statement costs its author nothing, and the blob may be 64 MiB. The bound
    # follows from what the log allows the author to publish, not from the document.
    size_bytes = network.size_of(digest_from_text(name)) or 0
    if size_bytes > most_bytes:
        raise _too_large(noun, size_bytes, most_bytes)
    try:
        raw = network.documents(digest_from_text(name))
    except KeyError as err:
        raise RefusedError("not-found", f"upload the {noun} {name} first") from err
    if len(raw) > most_bytes:  # a reader without `size_of`
        raise _too_large(noun, len(raw), most_bytes)
    try:
        return parse(raw)
    except MalformedError as err:
        raise RefusedError("malformed", f"the {noun} is not valid: {err}") from err


def _too_large(noun: str, size_bytes: int, most_bytes: int) -> RefusedError:
    return RefusedError(
        "malformed", f"the {noun} has {size_bytes} bytes; at most {most_bytes} are allowed"
    )
