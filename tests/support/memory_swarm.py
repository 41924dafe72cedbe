"""A whole swarm in memory, with real keys, statements and contributions, without network or torch.

`Volunteer.duty` gives the statement that a member would send next, given a run's view;
`SwarmArithmetic` computes contributions and heads once for all members; `Swarm` acts as ledger and
coordinator under a virtual clock and keeps the log. A test of the real coordinator uses the first
two only:

    draft = volunteer.duty(view)
    entry = volunteer.sign(net, manifest.run_id, draft, now_ms)  # then post entry.leaf()
    volunteer.record_logged(entry)                               # once it was logged
    arithmetic.observe(view)                                     # after every entry of the run
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from msgspec import UNSET

from tequio_shared.errors import RefusedError
from tequio_shared.head.contribution import (
    ALGORITHM_CODES,
    KS,
    LEVELS,
    ContributionHeader,
    Records,
    encode_records,
    payload_root,
)
from tequio_shared.head.head import OuterStep, advance, aux_root, weights_root
from tequio_shared.head.layout import WeightLayout
from tequio_shared.ids import (
    ZERO_DIGEST,
    ContributionId,
    Digest,
    HeadHash,
    NetworkId,
    RunId,
    digest_from_text,
    sha256,
    to_text,
)
from tequio_shared.keys import Signer
from tequio_shared.limits import SKETCH_NUMBERS
from tequio_shared.log.notes import Checkpoint, KeyKind, VerifierKey, sign_checkpoint
from tequio_shared.network import conduct
from tequio_shared.network.coordination import CoordinatorTimers, decide, due
from tequio_shared.network.full_run import FullRunView
from tequio_shared.network.genesis import Genesis
from tequio_shared.network.run import first_head
from tequio_shared.network.run_states import RunState
from tequio_shared.network.standing import KeyStatus
from tequio_shared.network.tiers import TIER_BODIES, Tiers
from tequio_shared.round.manifest import (
    Algorithm,
    DataSpec,
    InnerParams,
    Manifest,
    ModelSpec,
    RoundRules,
    Tokenizer,
    WindowRules,
)
from tequio_shared.round.proof import RejectionReason
from tequio_shared.round.round import RoundPhase, RoundView
from tequio_shared.statements import Scope
from tequio_shared.statements.network import KeyRegister, MemberLeave, MemberReady
from tequio_shared.statements.runs import (
    AuditFigures,
    AuditReport,
    HeadAttest,
    NetGenesis,
    RoundWitness,
    RunOpen,
    RunRollback,
    WitnessProof,
    WorkCommit,
)
from tequio_shared.statements.statement import Entry, make, sign
from tests.support.authors import WORK_BITS, registration
from tests.support.commitments import commitment

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from tequio_shared.head.chain import Head, NextHead
    from tequio_shared.ids import PeerKey
    from tequio_shared.network.conduct import RoundOf
    from tequio_shared.statements.statement import Body, Statement

START_MS = 1_700_000_000_000
ORIGIN = "tequio.example/test"
TENSORS = (("a.weight", (64, 64)), ("b.bias", (64,)), ("c.weight", (96, 64)))


def signer(name: str) -> Signer:
    """The key with that name, always the same."""
    return Signer(sha256(b"tequio test key", name.encode()))


def first_weights(seed: int = 7) -> NDArray[np.int32]:
    """Head 0 of the tiny model, int32[N], padding 0."""
    layout = WeightLayout.of(TENSORS, "flat")
    rng = np.random.default_rng(seed)
    tensors = {name: rng.integers(-(1 << 22), 1 << 22, shape, np.int32) for name, shape in TENSORS}
    return np.asarray(layout.flatten(tensors), np.int32)


def tiny_manifest(**rounds: int) -> Manifest:
    """Make the manifest of a run over three small tensors; keywords change `rounds`."""
    round_rules = RoundRules(warmup=5_000, train=20_000, train_limit=30_000, most=4)
    return Manifest(
        name="tiny",
        model=ModelSpec(
            config=to_text(sha256(b"config")),
            parameters=sum(int(np.prod(shape)) for _, shape in TENSORS),
            tensors=TENSORS,
            aliases=(),
            weights_root=to_text(weights_root(first_weights())),
            aux_root=to_text(ZERO_DIGEST),
            sequence=64,
        ),
        tokenizer=Tokenizer(kind="bytes", file="", vocab_size=256),
        data=DataSpec(manifest=to_text(sha256(b"data")), root=to_text(sha256(b"shards"))),
        algorithm=Algorithm(k=8, schedule=((1, 1 << 20, 0), (3, 1 << 19, 1 << 10))),
        inner=InnerParams(steps=4),
        # enough tokens that even a witness of one window earns something
        windows=WindowRules(samples=50_000, tokens=3_200_000, first=3, most=9),
        rounds=msgspec.structs.replace(round_rules, **rounds),
    )


class SwarmArithmetic:
    """Weights and payloads by root; computes each head once, when its round has closed."""

    def __init__(self, manifest: Manifest) -> None:
        self.manifest = manifest
        self.weights: dict[Digest, NDArray[np.int32]] = {}
        self.aux: dict[Digest, NDArray[Any] | None] = {ZERO_DIGEST: None}
        self.payloads: dict[Digest, bytes] = {}
        # by parent and round of the head made: after a rollback, two have the same parent
        self.roots: dict[tuple[HeadHash, int], tuple[Digest, Digest]] = {}
        # reasons for which honest witnesses reject a trainer's work
        self.blames: dict[PeerKey, RejectionReason] = {}
        self.hidden: set[PeerKey] = set()  # trainers whose payloads nobody can fetch
        self.idle: set[PeerKey] = set()  # trainers that did not do their work
        self.closed: set[PeerKey] = set()  # trainers that open nothing to their auditors
        self.lazy: set[PeerKey] = set()  # auditors that repeat nothing, and clear everybody
        self.accusers: set[PeerKey] = set()  # auditors that accuse everybody
        first = first_weights()
        self.weights[weights_root(first)] = first
        self.roots[HeadHash(ZERO_DIGEST), 0] = weights_root(first), ZERO_DIGEST

    def observe(self, view: FullRunView) -> None:
        """Compute the head that a closed round calls for, if it is new."""
        target, current = view.next_head, view.round
        if target is None or current is None or (target.parent, target.round) in self.roots:
            return
        if current.phase is not RoundPhase.OVER or current.number != target.round:
            return
        self._advance(current, target)

    def roots_of(self, view: FullRunView) -> tuple[Digest, Digest]:
        """Roots of the head that an honest member states now."""
        if view.next_head is not None:
            return self.roots[view.next_head.parent, view.next_head.round]
        assert view.head is not None
        return view.head.weights_root, view.head.aux_root

    def contribute(
        self, view: RoundView, author: PeerKey, rng: Random, windows: int
    ) -> ContributionHeader:
        """Make a valid contribution over the author's first `windows` windows."""
        shape = view.shape
        payload = encode_records(_records(view, rng), shape)
        root = payload_root(payload, shape)
        self.payloads[root] = payload
        assert view.head is not None
        return ContributionHeader(
            algorithm=ALGORITHM_CODES[shape.algorithm],
            bits=shape.bits,
            k=shape.k,
            inner_steps=4,
            chunk_count=view.chunks,
            round=view.number,
            window_first=view.assignment[view.slot_of[author]][0][0],
            window_count=windows,
            tokens=windows * self.manifest.windows.tokens,
            run_id=self.manifest.run_id,
            base_head=view.head.hash,
            trainer=author,
            payload_root=root,
        )

    def gains(
        self, current: RoundView, vouched: Iterable[int], witness: PeerKey
    ) -> tuple[tuple[int, int], ...]:
        """Gains that an honest witness measures: one in 20 is negative, of idle trainers half."""
        keys, found = current.roster.keys, []
        for slot in sorted(current.gains.windows.keys() & set(vouched)):
            draw = Random(f"gain {current.number} {slot}").randrange(20)  # fixed on purpose
            is_low = draw < (10 if keys[slot] in self.idle else 1)
            if keys[slot] != witness:
                found.append((slot, -1_000 if is_low else 5_000))
        return tuple(found)

    def _advance(self, current: RoundView, target: NextHead) -> None:
        assert current.head is not None
        step = OuterStep(
            run_id=self.manifest.run_id,
            round=target.round,
            parent=target.parent,
            layout=self.manifest.layout,
            params=self.manifest.outer_params(target.round, current.k),
        )
        made = advance(
            step,
            self.weights[current.head.weights_root],
            self.aux[current.head.aux_root],
            [
                (one.header.pack(), self.payloads[one.header.payload_root])
                for one in current.accepted().values()
            ],
        )
        self.weights[made.weights_root] = made.weights
        self.aux[aux_root(made.aux)] = made.aux
        self.roots[target.parent, target.round] = made.weights_root, made.aux_root


@dataclass(frozen=True, slots=True)
class StatementDraft:
    """A statement before it is signed: its body, and its round if it is about one."""

    body: Body
    round: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureRates:
    """Chances that a volunteer fails, in percent, drawn once per round and phase."""

    silent: int = 0
    misstating: int = 0
    """Chance to attest another head, and so not to be elected."""
    lying: int = 0
    """Chance of a false header, and of a false proof."""
    leaving: int = 0
    partial: int = 0
    """Chance to finish only some of its windows."""


HONEST = FailureRates()


class Volunteer:
    """One member: its key, its chain of statements and its failure rates."""

    def __init__(
        self,
        name: str,
        arithmetic: SwarmArithmetic,
        *,
        roles: tuple[str, ...] = ("trainer", "witness"),
        failure_rates: FailureRates = HONEST,
        seed: int = 0,
    ) -> None:
        self.signer = signer(name)
        self.key = self.signer.key
        self.roles = roles
        self.failure_rates = failure_rates
        self.audits = True
        self.parts: dict[PeerKey, int] = {}  # of its points for other keys, in 1/1000
        self.seq = 0
        self.last = ZERO_DIGEST
        self._arithmetic = arithmetic
        self._rng = Random(f"{name} {seed}")  # fixed on purpose
        self._failures: dict[tuple[int, RoundPhase, str], bool] = {}
        self._headers: dict[int, ContributionHeader] = {}

    def duty(self, view: FullRunView) -> StatementDraft | None:
        """The statement to send now; the same until the log grows."""
        standing = view.accounts.members.get(self.key)
        current = view.round
        if current is not None and self._fails(current, "silent"):
            return None
        if standing is None or not standing.is_active:
            resting = view.state in (RunState.COOLDOWN, RunState.PAUSED, RunState.FINISHED)
            return None if resting else self.ready(view)
        slot = current.slot_of.get(self.key) if current else None
        if current is None or slot is None or current.phase is RoundPhase.OVER:
            return None
        if self._fails(current, "leaving"):
            return StatementDraft(MemberLeave(reason=1))
        return self._round_duty(view, current, slot)

    def sign(self, net: NetworkId, run: RunId | None, draft: StatementDraft, now_ms: int) -> Entry:
        """Sign the next statement of this author's chain."""
        statement = make(
            body=draft.body,
            author=self.key,
            seq=self.seq + 1,
            ts=now_ms,
            exp=now_ms + 60_000,
            prev=self.last,
            run=run,
            round=draft.round,
        )
        return sign(net, statement, self.signer)

    def record_logged(self, entry: Entry) -> None:
        """Continue the chain after this entry, which is in the log."""
        self.seq, self.last = entry.statement.seq, entry.statement.digest

    def give_up(self, view: FullRunView) -> None:
        """Send nothing more in this phase, after a refusal."""
        if view.round is not None:
            self._failures[view.round.number, view.round.phase, "silent"] = True

    def _fails(self, current: RoundView, what: str) -> bool:
        key = (current.number, current.phase, what)
        if key not in self._failures:
            chance: int = getattr(self.failure_rates, what)
            self._failures[key] = self._rng.randrange(100) < chance
        return self._failures[key]

    def ready(self, view: FullRunView) -> StatementDraft:
        """A member.ready that names the head it would fetch."""
        head = view.head or first_head(view.manifest)
        body = MemberReady(head=to_text(head.hash), roles=self.roles)  # type: ignore[arg-type]  # roles are given by tests
        return StatementDraft(body)

    def _round_duty(
        self, view: FullRunView, current: RoundView, slot: int
    ) -> StatementDraft | None:
        match current.phase:
            case RoundPhase.ATTEST if slot not in current.attests:
                return StatementDraft(self._attest(view, current), current.number)
            case RoundPhase.TRAIN if self._owes_audit(current, slot):
                return StatementDraft(self.audit_of(view, current, slot), current.number)
            case RoundPhase.TRAIN if slot in current.trainers and slot not in current.commitments:
                return StatementDraft(self._work(current, slot), current.number)
            case RoundPhase.WITNESS if slot in current.elected and slot not in current.proofs:
                return StatementDraft(self._proof(current), current.number)
        return None

    def _attest(self, view: FullRunView, current: RoundView) -> HeadAttest:
        weights, aux = self._arithmetic.roots_of(view)
        if self._fails(current, "misstating"):
            weights = sha256(b"another", weights, self.key)
        head = current.expected_head(weights, aux)
        return HeadAttest(
            head=to_text(head.hash),
            weights_root=to_text(weights),
            aux_root=to_text(aux),
            vrf=to_text(self.signer.prove(current.lot_input)),
        )

    def contribution_to(self, current: RoundView) -> ContributionHeader:
        """The contribution that this member commits to in a round; the same at every call."""
        if current.number not in self._headers:
            share = current.roster.members[current.slot_of[self.key]].share
            done = self._rng.randint(1, share) if self._fails(current, "partial") else share
            if self._fails(current, "lying"):
                done = share + 1
            self._headers[current.number] = self._arithmetic.contribute(
                current, self.key, self._rng, done
            )
        return self._headers[current.number]

    def _work(self, current: RoundView, slot: int) -> WorkCommit:
        header = self.contribution_to(current)
        payload = self._arithmetic.payloads[header.payload_root]
        return commitment(header, payload, parts=self.parts)

    def _owes_audit(self, current: RoundView, slot: int) -> bool:
        return self.audits and slot in current.orders and slot not in current.reports

    def audit_of(self, view: FullRunView, current: RoundView, slot: int) -> AuditReport:
        """The report of an auditor that has an order in the round."""
        truth, order = self._arithmetic, current.orders[slot]
        case = view.accounts.audits.cases[ContributionId(digest_from_text(order.contribution))]
        is_done = case.trainer not in truth.idle or self.key in truth.lazy
        far = 100 if is_done and self.key not in truth.accusers else 12_000
        figures = AuditFigures(hidden=far, other=far, rounding=20, leaves=30)
        is_lazy = self.key in truth.lazy
        shown = UNSET if case.trainer in truth.closed and not is_lazy else figures
        return AuditReport(
            contribution=order.contribution,
            figures=shown,
            cosine=9_300,
            sketch=(0,) * SKETCH_NUMBERS,
            checked=tuple(
                # Only who repeats the training sees that an earlier sketch is not of it.
                1_000 if vote.auditor in truth.lazy and not is_lazy else 9_990
                # Those of which the order told: others reported since, while the order waited.
                for vote in case.votes[: len(order.earlier)]
            ),
        )

    def _proof(self, current: RoundView) -> WitnessProof:
        ids = {slot: one.id for slot, one in current.commitments.items()}
        lies = self._fails(current, "lying")
        keys, blames = current.roster.keys, self._arithmetic.blames
        hidden = self._arithmetic.hidden - {self.key}
        ids = {slot: name for slot, name in ids.items() if keys[slot] not in hidden}
        bad = {slot: blames[keys[slot]] for slot in ids if keys[slot] in blames}
        vouched = {} if lies else {slot: ids[slot] for slot in ids.keys() - bad.keys()}
        assert current.head is not None
        body = current.proof_of(
            vouched,
            dict.fromkeys(ids, RejectionReason.NORM) if lies else bad,
            self.signer.prove(current.audit_lot_input),
        )
        gains = self._arithmetic.gains(current, vouched, self.key)
        return msgspec.structs.replace(body, gains=gains)


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


def _records(view: RoundView, rng: Random) -> Records:
    shape, chunks = view.shape, view.chunks
    assert shape.k in KS
    chance = np.random.default_rng(rng.getrandbits(64))
    indices = np.stack([np.sort(chance.permutation(4096)[: shape.k]) for _ in range(chunks)])
    return Records(
        scales=chance.integers(1, 120, chunks, np.uint8, endpoint=True),
        indices=indices.astype(np.uint16),
        levels=chance.choice(LEVELS[shape.bits], (chunks, shape.k)).astype(np.int8),
    )
