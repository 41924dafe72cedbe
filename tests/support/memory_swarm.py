"""A whole swarm in memory, with real keys, statements and contributions, without network or torch.

`Swarm` acts as ledger and coordinator under a virtual clock and keeps the log. A test of the real
coordinator uses its members (`volunteers.py`) and the arithmetic (`tiny_run.py`) only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

import msgspec

from tequio_shared.errors import RefusedError
from tequio_shared.ids import ZERO_DIGEST, Digest, RunId, sha256, to_text
from tequio_shared.keys import Signer
from tequio_shared.log.notes import Checkpoint, KeyKind, VerifierKey, sign_checkpoint
from tequio_shared.network import conduct
from tequio_shared.network.coordination import CoordinatorTimers, decide, due
from tequio_shared.network.full_run import FullRunView
from tequio_shared.network.genesis import Genesis
from tequio_shared.network.run import first_head
from tequio_shared.network.run_states import RunState
from tequio_shared.network.standing import KeyStatus
from tequio_shared.network.tiers import TIER_BODIES, Tiers
from tequio_shared.round.manifest import Manifest
from tequio_shared.round.round import RoundView
from tequio_shared.statements import Scope
from tequio_shared.statements.network import KeyRegister
from tequio_shared.statements.runs import NetGenesis, RoundWitness, RunOpen, RunPause, RunRollback
from tequio_shared.statements.statement import Entry, make, sign
from tests.support.authors import WORK_BITS, registration
from tests.support.tiny_run import SwarmArithmetic, signer, tiny_manifest
from tests.support.volunteers import HONEST, FailureRates, StatementDraft, Volunteer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tequio_shared.head.chain import Head
    from tequio_shared.ids import PeerKey
    from tequio_shared.network.conduct import RoundOf
    from tequio_shared.statements.statement import Body, Statement

START_MS = 1_700_000_000_000
ORIGIN = "tequio.example/test"


def rollback_to(head: Head, last_round: int) -> RunRollback:
    return RunRollback(
        head_round=head.round,
        head=to_text(head.hash),
        parent=to_text(head.parent),
        set_root=to_text(head.set_root),
        weights_root=to_text(head.weights_root),
        aux_root=to_text(head.aux_root),
        last_round=last_round,
    )


@dataclass
class Swarm:
    """Ledger, coordinator and members in one place, under a virtual clock.

    `entries` is the log; `blobs` holds the documents that statements name by SHA-256. Refused
    statements are not logged; `refused` counts them by code.
    """

    manifest: Manifest = field(default_factory=tiny_manifest)
    seed: int = 0
    entries: list[Entry] = field(default_factory=list)
    blobs: dict[Digest, bytes] = field(default_factory=dict)
    refused: dict[str, int] = field(default_factory=dict)
    volunteers: list[Volunteer] = field(default_factory=list)
    now_ms: int = START_MS

    def __post_init__(self) -> None:
        self.rng = Random(f"swarm {self.seed}")  # fixed on purpose
        self.arithmetic = SwarmArithmetic(self.manifest)
        self.coordinator, self.organiser, self.log_signer = map(
            signer, ("coordinator", "organiser", "log")
        )
        vkey = VerifierKey(name=ORIGIN, kind=KeyKind.LOG, key=self.log_signer.key)
        self.genesis = Genesis(
            name="test",
            origin=ORIGIN,
            log_key=vkey.text(),
            coordinator=to_text(self.coordinator.key),
            organisers=(to_text(self.organiser.key),),
            threshold=1,
            rules=to_text(sha256(b"rules")),
            work_bits=WORK_BITS,
        )
        self.net = self.genesis.network_id
        self.standings = KeyStatus()
        self.tiers = self._no_tiers(self.standings)
        self.view = FullRunView.opened(self.net, self.manifest, self.standings, self.tiers)
        self.watch = CoordinatorTimers()
        self._ends: dict[PeerKey, tuple[int, Digest]] = {}
        self._begin()

    def witnessing(self, current: RoundView) -> RoundWitness:
        """The coordinator's round.witness after the commitments so far."""
        proof = to_text(self.coordinator.prove(current.draw_input))
        return RoundWitness(commits=len(current.commitments), vrf=proof)

    def join(self, *volunteers: Volunteer, invitation: Signer | None = None) -> None:
        """Register volunteers; they send member.ready when it is their turn."""
        for one in volunteers:
            draft = StatementDraft(registration(self.net, one.key))
            entry = one.sign(self.net, None, draft, self.now_ms)
            if invitation is not None:
                entry = sign(self.net, entry.statement, one.signer, invitation)
            self.tiers.register(len(self.entries), entry)
            self.volunteers.append(one)
            self.standings.register(one.key, len(self.entries))
            self.entries.append(entry)
            one.record_logged(entry)

    def volunteer(
        self,
        name: str,
        failure_rates: FailureRates = HONEST,
        roles: tuple[str, ...] = ("trainer", "witness"),
    ) -> Volunteer:
        """Create a volunteer and let it join."""
        one = Volunteer(
            name, self.arithmetic, roles=roles, failure_rates=failure_rates, seed=self.seed
        )
        self.join(one)
        return one

    def organise(self, body: Body) -> None:
        """Log an organiser's statement on the run; raises RefusedError."""
        self.log_statement(self.organiser, StatementDraft(body))

    def go_back(self, round_number: int, **changed: object) -> None:
        """Log the organiser's rollback to the head of a round; raises RefusedError."""
        body = rollback_to(self.view.heads[round_number], self.view.number)
        body = msgspec.structs.replace(body, **changed)
        self.organise(body)

    def run(self, most_steps: int = 2_000) -> None:
        """Step until the run is finished or nothing can happen any more."""
        for _ in range(most_steps):
            if self.view.state is RunState.FINISHED or not self.step():
                return

    def run_rounds(self, rounds: int) -> None:
        """Step until that many rounds in total have closed or become void."""
        while self.view.closed + self.view.voided < rounds and self.step():
            pass

    def step(self) -> bool:
        """Log one statement, or else let time pass; False if nothing can happen any more."""
        return self.coordinate() or self._let_member_post() or self._wait()

    def coordinate(self) -> bool:
        """Log the coordinator's next statement; False if there is none."""
        change = self.standings.due(self.now_ms)
        if change is not None:
            self.log_statement(self.coordinator, StatementDraft(change))
            return True
        self.watch.update(self.view, self.now_ms)
        step = decide(self.view, self.watch, self.now_ms, self.coordinator.prove)
        if step is None:
            return False
        if step.document is not None:
            self.blobs[sha256(step.document)] = step.document
        self.log_statement(self.coordinator, StatementDraft(step.body, step.round))
        return True

    def log_statement(self, author: Signer, draft: StatementDraft) -> Entry:
        """Log a statement about the run or about standing; raises RefusedError."""
        about_run = draft.body.SCOPE is not Scope.NETWORK
        entry = self.sign(author, draft, self.manifest.run_id if about_run else None)
        self._log(entry)
        self._ends[author.key] = entry.statement.seq, entry.statement.digest
        return entry

    def post(self, one: Volunteer, draft: StatementDraft) -> Entry:
        """Log a volunteer's statement; raises RefusedError."""
        about_run = draft.body.SCOPE is not Scope.NETWORK
        run = self.manifest.run_id if about_run else None
        entry = one.sign(self.net, run, draft, self.now_ms)
        self._log(entry)
        one.record_logged(entry)
        return entry

    def sign(self, author: Signer, draft: StatementDraft, run: RunId | None) -> Entry:
        """Sign the author's next statement without logging it."""
        seq, last = self._ends.get(author.key, (0, ZERO_DIGEST))
        statement = make(
            body=draft.body,
            author=author.key,
            seq=seq + 1,
            ts=self.now_ms,
            exp=self.now_ms + 60_000,
            prev=last,
            run=run,
            round=draft.round,
        )
        return sign(self.net, statement, author)

    def leaves(self) -> list[bytes]:
        """The leaves of the log."""
        return [entry.leaf() for entry in self.entries]

    def checkpoint(self, size: int, root: Digest) -> bytes:
        """Sign a checkpoint with the log's key."""
        return sign_checkpoint(Checkpoint(origin=ORIGIN, size=size, root=root), self.log_signer)

    def replay(self, entries: Iterable[Entry] | None = None) -> FullRunView:
        """Fold the log into a second view; raises RefusedError as `RunView.apply` does."""
        standings = KeyStatus()
        tiers = self._no_tiers(standings)
        view = FullRunView.opened(self.net, self.manifest, standings, tiers)
        for index, entry in enumerate(self.entries if entries is None else entries):
            statement = entry.statement
            if statement.run is not None:
                view.apply(index, statement, 0, self.blobs.__getitem__)
            elif isinstance(statement.body, KeyRegister):
                tiers.register(index, entry)
                standings.register(statement.author, index)
            elif isinstance(statement.body, TIER_BODIES):
                tiers.apply(index, statement)
            elif not isinstance(statement.body, NetGenesis):
                self._apply_conduct(view, index, statement)
        return view

    def _no_tiers(self, standings: KeyStatus) -> Tiers:
        founders = {self.coordinator.key, self.organiser.key}
        return Tiers(registered=standings.records, founders=frozenset(founders))

    def _begin(self) -> None:
        """Log entries 0 and 1: the genesis and the run."""
        document = self.manifest.encode()
        self.blobs[sha256(document)] = document
        genesis = self.sign(
            self.coordinator, StatementDraft(NetGenesis(doc=to_text(self.genesis.encode()))), None
        )
        self.entries.append(genesis)
        self._ends[self.coordinator.key] = 1, genesis.statement.digest
        head = first_head(self.manifest)
        self.organise(RunOpen(manifest=to_text(self.manifest.run_id), head=to_text(head.hash)))

    def _apply_conduct(self, view: FullRunView, index: int, statement: Statement) -> None:
        standings = view.accounts.standings
        was = conduct.subject_standing(standings, statement)
        conduct.apply(
            standings, index, statement, self.net, self._round_of(view), self.blobs.__getitem__
        )
        conduct.settle_points(statement, was, [view.accounts])

    def _round_of(self, view: FullRunView) -> RoundOf:
        return lambda run: view.round if run == self.manifest.run_id else None

    def _log(self, entry: Entry) -> None:
        statement, index = entry.statement, len(self.entries)
        if isinstance(statement.body, TIER_BODIES):
            self.tiers.apply(index, statement)
        elif statement.run is None:
            self._apply_conduct(self.view, index, statement)
        else:
            self.view.apply(index, statement, self.now_ms, self.blobs.__getitem__)
        self.entries.append(entry)
        self.arithmetic.observe(self.view)

    def _let_member_post(self) -> bool:
        """Let one volunteer with something to send post it; False if there is none."""
        for one in self.rng.sample(self.volunteers, len(self.volunteers)):
            draft = one.duty(self.view)
            if draft is not None:
                self.now_ms += self.rng.randint(1, 500)
                self._post_or_give_up(one, draft)
                return True
        return False

    def _post_or_give_up(self, one: Volunteer, draft: StatementDraft) -> None:
        try:
            self.post(one, draft)
        except RefusedError as err:
            self.refused[err.code] = self.refused.get(err.code, 0) + 1
            one.give_up(self.view)

    def _wait(self) -> bool:
        """Let time pass until the coordinator's next deadline; False if there is none."""
        until = due(self.view, self.watch)
        if until is None or until <= self.now_ms:
            return False
        self.now_ms = until
        return True


def paused_swarm(rounds: int) -> Swarm:
    """A run that is paused after that many rounds."""
    swarm = Swarm(manifest=tiny_manifest(most=6))
    for at in range(4):
        swarm.volunteer(f"v{at}")
    swarm.run_rounds(rounds)
    swarm.organise(RunPause(reason=1))
    while swarm.view.state is not RunState.PAUSED:
        assert swarm.step()
    return swarm
