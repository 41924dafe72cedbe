"""What the log says now: keys, their chains, standing, tiers and teams, runs and competitions.

A pure fold: the same entries give the same state, at a start, while serving, and in a replay.
Admission reads it; the sequencer alone feeds it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_shared.competition.competition import ABOUT_COMPETITIONS, Competitions
from tequio_shared.competition.state import Network
from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.ids import (
    ZERO_DIGEST,
    Digest,
    HeadHash,
    PeerKey,
    RunId,
    digest_from_text,
    from_text,
    to_text,
)
from tequio_shared.network import conduct
from tequio_shared.network.accounts import check_forward
from tequio_shared.network.run import RunView, first_head
from tequio_shared.network.standing import Standings
from tequio_shared.network.tiers import ABOUT_TIERS, Teams, Tiers
from tequio_shared.round.manifest import Manifest
from tequio_shared.statements.network import KeyRegister, MemberTeam
from tequio_shared.statements.proof_of_work import check_work
from tequio_shared.statements.runs import (
    HeadPromote,
    NetGenesis,
    RoundClose,
    RoundVoid,
    RoundWitness,
    RunOpen,
    WitnessProof,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_shared.competition.competition import CompetitionView
    from tequio_shared.network.genesis import Genesis
    from tequio_shared.network.run import Documents
    from tequio_shared.round.round import RoundView
    from tequio_shared.statements import Body
    from tequio_shared.statements.statement import Entry, Statement

# --- What the log says of each competition: every statement, with the entry that holds it.
#
# A pure fold beside the view that decides what may be said: answers and pages tell the story from
# here, and name the entries.


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One statement about a competition, and the log entry that holds it."""

    index: int
    author: PeerKey
    ts: int
    body: Body


class Stories:
    """The statements about each competition, in the order of the log."""

    def __init__(self) -> None:
        self._told: defaultdict[Digest, list[Said]] = defaultdict(list)

    def apply(self, index: int, statement: Statement) -> None:
        """Take the statement at that log index, whatever it is about."""
        body = statement.body
        if isinstance(body, ABOUT_COMPETITIONS):
            said = Said(index=index, author=statement.author, ts=statement.ts, body=body)
            self._told[digest_from_text(body.competition)].append(said)

    def of(self, competition: Digest) -> tuple[Said, ...]:
        """What was said of one."""
        return tuple(self._told.get(competition, ()))


if TYPE_CHECKING:
    SizeOf = Callable[[Digest], int | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """Where an author's chain of statements ends."""

    registered_index: int
    """Log index from which the key counts; 0 for the keys in the genesis."""
    seq: int = 0
    last: Digest = ZERO_DIGEST


@dataclass(frozen=True, slots=True, kw_only=True)
class Resume:
    """Where a late reader of a run may begin, as log indices that it can check by itself."""

    after: int
    """The last run.open, round.close or round.void: a point of rest between two rounds."""
    head: int | None = None
    """The last head.promote up to there."""
    close: int | None = None
    """The last round.close up to there whose head is not promoted."""


class State:
    """The fold over all entries so far."""

    def __init__(
        self, genesis: Genesis, documents: Documents, size_of: SizeOf = lambda _: None
    ) -> None:
        """Fold nothing yet; `size_of` says how large a document is, None where it is unknown."""
        self.genesis = genesis
        self.net = genesis.network_id
        self.documents = documents
        self.peers: dict[PeerKey, Chain] = {}
        self.standings = Standings()
        founders = {genesis.coordinator_key, *genesis.organiser_keys}
        self.tiers = Tiers(registered=self.peers, founders=frozenset(founders))
        self.teams = Teams()
        self.runs: dict[RunId, RunView] = {}
        self.competitions = Competitions()
        self.opened: dict[RunId, int] = {}  # log index of run.open
        self.stories = Stories()
        self.types: Counter[str] = Counter()  # entries of each type
        self.asked: Counter[PeerKey] = Counter()  # rounds in which it was to witness
        self.proofs: Counter[PeerKey] = Counter()  # witness proofs that it sent
        self.resumes: dict[RunId, Resume] = {}
        self._network = Network(
            documents=documents,
            run=self.runs.get,
            standings=self.standings,
            tiers=self.tiers,
            organisers=genesis.organiser_keys,
            size_of=size_of,
        )
        self._said_ms = 0  # ts of the coordinator's last statement
        self._heads: dict[RunId, int] = {}  # log index of the last head.promote
        self._pending: dict[RunId, int] = {}  # of the last round.close without one
        for key in founders:
            self.peers[key] = Chain(registered_index=0)
            self.standings.register(key, 0)

    def apply(self, index: int, entry: Entry, at_ms: int) -> None:
        """Take the next entry; raises RefusedError when it does not follow from those before."""
        statement = entry.statement
        self._check_clock(statement)
        match statement.body:
            case KeyRegister():
                self._register(index, entry)
            case NetGenesis(doc=doc):
                self._check_genesis(index, doc)
            case RunOpen() as body:
                self._open_run(index, statement, body)
            case _ if statement.run is None:
                self._take_of_network(index, statement)
        if statement.run is not None:
            view = self.run(statement.run)
            view.admit(statement)
            view.apply(index, statement, at_ms, self.documents)
            self._note_resume(index, statement.run, statement)
            self._note_duty(view, statement)
        self.stories.apply(index, statement)
        self._extend_chain(statement)
        self.types[statement.type] += 1

    def _take_of_network(self, index: int, statement: Statement) -> None:
        match statement.body:
            case MemberTeam() as body:
                self.teams.apply(statement.author, body)
            case _ if isinstance(statement.body, ABOUT_TIERS):
                self.tiers.apply(index, statement)
            case _ if isinstance(statement.body, ABOUT_COMPETITIONS):
                self.competitions.apply(index, statement, self._network)
            case _:
                conduct.apply(self.standings, index, statement, self.net, self.round_of)

    def run(self, run: RunId) -> RunView:
        """The view of a run; raises RefusedError("not-found")."""
        view = self.runs.get(run)
        if view is None:
            raise RefusedError("not-found", f"no run {to_text(run)} was opened in this network")
        return view

    def competition(self, name: Digest) -> CompetitionView:
        """The view of a competition; raises RefusedError("not-found")."""
        return self.competitions.view(name)

    def round_of(self, run: RunId) -> RoundView | None:
        """The round of a run that is under way, or its last one."""
        view = self.runs.get(run)
        return None if view is None else view.round

    def micropoints(self, key: PeerKey) -> int:
        """What the key earned in all runs together."""
        accounts = [view.accounts for view in self.runs.values() if view.accounts]
        earned = [account.earned[key] for account in accounts if key in account.earned]
        return sum(one.trainer + one.witness for one in earned)

    def manifest_of(self, statement: Statement, body: RunOpen) -> Manifest:
        """The manifest that run.open names; raises RefusedError when it cannot open that run."""
        try:
            manifest = Manifest.parse(self.documents(digest_from_text(body.manifest)))
        except KeyError as err:
            raise RefusedError("not-found", f"put the manifest {body.manifest} first") from err
        except MalformedError as err:
            raise RefusedError("malformed", f"the manifest does not hold: {err}") from err
        if manifest.run_id != statement.run:
            raise RefusedError("malformed", "the run id is not the manifest's digest")
        if HeadHash(Digest(from_text(body.head))) != first_head(manifest).hash:
            raise RefusedError("wrong-head", "the head is not what the manifest starts from")
        return manifest

    def _register(self, index: int, entry: Entry) -> None:
        statement = entry.statement
        check_work(statement, self.net, self.genesis.work_bits)
        if statement.author in self.peers:
            raise RefusedError("wrong-state", f"key {to_text(statement.author)} is registered")
        self.tiers.register(index, entry)
        self.peers[statement.author] = Chain(registered_index=index)
        self.standings.register(statement.author, index)

    def _open_run(self, index: int, statement: Statement, body: RunOpen) -> None:
        manifest = self.manifest_of(statement, body)
        if manifest.run_id in self.runs:
            raise RefusedError("wrong-state", f"run {to_text(manifest.run_id)} is open already")
        self.runs[manifest.run_id] = RunView.opened(self.net, manifest, self.standings, self.tiers)
        self.opened[manifest.run_id] = index

    def _note_resume(self, index: int, run: RunId, statement: Statement) -> None:
        """Keep the run's last point of rest."""
        match statement.body:
            case HeadPromote():
                self._heads[run] = index
                self._pending.pop(run, None)
            case RoundClose():
                self._pending[run] = index
        if isinstance(statement.body, RunOpen | RoundClose | RoundVoid):
            self.resumes[run] = Resume(
                after=index, head=self._heads.get(run), close=self._pending.get(run)
            )

    def _check_clock(self, statement: Statement) -> None:
        if statement.author == self.genesis.coordinator_key:
            check_forward(self._said_ms, statement.ts)

    def _note_duty(self, view: RunView, statement: Statement) -> None:
        """Count whom a round asks to witness, and who does."""
        match statement.body:
            case RoundWitness() if view.round is not None:
                elected, slots = view.round.elected, view.round.slot_of
                self.asked.update(key for key, slot in slots.items() if slot in elected)
            case WitnessProof():
                self.proofs[statement.author] += 1

    def _check_genesis(self, index: int, doc: str) -> None:
        if index != 0 or from_text(doc, None) != self.genesis.encode():
            raise RefusedError("wrong-network", "the genesis is entry 0, and one only")

    def _extend_chain(self, statement: Statement) -> None:
        if statement.author == self.genesis.coordinator_key:
            self._said_ms = statement.ts
        chain = self.peers[statement.author]
        self.peers[statement.author] = Chain(
            registered_index=chain.registered_index, seq=statement.seq, last=statement.digest
        )
