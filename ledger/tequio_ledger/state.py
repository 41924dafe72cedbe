"""The network's view as a ledger holds it, with what its pages and answers tell besides.

A pure fold: the same entries give the same state, at a start, while serving, and in a replay. The
sequencer alone feeds it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_shared.competition.competition import COMPETITION_BODIES
from tequio_shared.ids import Digest, PeerKey, RunId, digest_from_text
from tequio_shared.network_view import NetworkView
from tequio_shared.statements.runs import (
    HeadPromote,
    RoundClose,
    RoundVoid,
    RoundWitness,
    RunOpen,
    WitnessProof,
)

if TYPE_CHECKING:
    from tequio_shared.competition.competition import CompetitionView
    from tequio_shared.network.genesis import Genesis
    from tequio_shared.network.run import Documents
    from tequio_shared.network_view import SizeOf
    from tequio_shared.statements.statement import Body, Entry, Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class Resume:
    """Where a late reader of a run may begin, as log indices that it can check by itself."""

    after: int
    """The last run.open, round.close or round.void: a point of rest between two rounds."""
    head: int | None = None
    """The last head.promote up to there."""
    close: int | None = None
    """The last round.close up to there whose head is not promoted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One statement about a competition, and the log entry that holds it."""

    index: int
    author: PeerKey
    ts: int
    body: Body


class State(NetworkView):
    """A view that also records where things are in the log, and how often they happen.

    A subclass and not an owner of one, so that whatever reads a view reads a state.
    """

    def __init__(
        self, genesis: Genesis, documents: Documents, size_of: SizeOf = lambda _: None
    ) -> None:
        """Begin before the first entry; `size_of` is a document's size, None where unknown."""
        super().__init__(genesis, documents, size_of)
        self.opened: dict[RunId, int] = {}  # log index of run.open
        self.resumes: dict[RunId, Resume] = {}
        self.types: Counter[str] = Counter()  # entries of each type
        self.asked: Counter[PeerKey] = Counter()  # rounds in which it was to witness
        self.proofs: Counter[PeerKey] = Counter()  # witness proofs that it sent
        self._stories: defaultdict[Digest, list[Said]] = defaultdict(list)
        self._heads: dict[RunId, int] = {}  # log index of the last head.promote
        self._pending: dict[RunId, int] = {}  # of the last round.close without one

    def apply_checked(self, index: int, entry: Entry, at_ms: int) -> None:
        """Apply a checked entry, and record it; raises RefusedError as a view does."""
        super().apply_checked(index, entry, at_ms)
        statement = entry.statement
        self.types[statement.type] += 1
        if statement.run is not None:
            self._record_resume(index, statement.run, statement)
            self._record_duty(statement.run, statement)
        elif isinstance(statement.body, COMPETITION_BODIES):
            body = statement.body
            said = Said(index=index, author=statement.author, ts=statement.ts, body=body)
            self._stories[digest_from_text(body.competition)].append(said)

    def competition(self, name: Digest) -> CompetitionView:
        """The view of a competition; raises RefusedError("not-found")."""
        return self.competitions.view(name)

    def story(self, competition: Digest) -> tuple[Said, ...]:
        """Every statement about a competition, in the order of the log."""
        return tuple(self._stories.get(competition, ()))

    def micropoints(self, key: PeerKey) -> int:
        """What the key earned in all runs together."""
        earned = (one.accounts.earned for one in self.runs.values())
        mine = [accounts[key] for accounts in earned if key in accounts]
        return sum(one.trainer + one.witness for one in mine)

    def _record_resume(self, index: int, run: RunId, statement: Statement) -> None:
        """Remember the run's last point of rest."""
        match statement.body:
            case RunOpen():
                self.opened[run] = index
            case HeadPromote():
                self._heads[run] = index
                self._pending.pop(run, None)
            case RoundClose():
                self._pending[run] = index
        if isinstance(statement.body, RunOpen | RoundClose | RoundVoid):
            self.resumes[run] = Resume(
                after=index, head=self._heads.get(run), close=self._pending.get(run)
            )

    def _record_duty(self, run: RunId, statement: Statement) -> None:
        """Count which members a round asks to witness, and which of them do."""
        current = self.runs[run].round
        match statement.body:
            case RoundWitness() if current is not None:
                slots = current.slot_of
                self.asked.update(key for key, slot in slots.items() if slot in current.elected)
            case WitnessProof():
                self.proofs[statement.author] += 1
