"""A network of simulated peers under a virtual clock.

Rules. Time moves from event to event; nothing waits. After each entry of the coordinator, every
peer that is on gets its duty from the worker's own rules, and a new duty ends when its computing
and its transfers would. What a peer states then is admitted by the ledger's own rules, at that
time. The same setup and seed give the same run.

Cost: a statement costs what it costs the ledger; an entry of the coordinator, a look at each peer
that is on.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from random import Random

from tequio_client.simulator.cell_hosts import CellPopulation
from tequio_client.simulator.hosts import HOUR_MS, HostPopulation, Session
from tequio_client.simulator.ledger import SimulatedKey, SimulatedLedger
from tequio_client.simulator.lies import LieKind, deal_kinds
from tequio_client.simulator.members import SimulatedMember, advance_head, step_root
from tequio_client.simulator.transfers import SEED_PART, DutyTimes, TransferTotals, train_limit
from tequio_client.worker.lending import needs
from tequio_client.worker.rounds import duties
from tequio_client.worker.rounds.duties import Duty
from tequio_client.worker.settings import ROLES
from tequio_shared.head.chain import AcceptedSet
from tequio_shared.ids import HeadHash, PeerKey, key_from_text, sha256
from tequio_shared.keys import Signer
from tequio_shared.limits import STATEMENT_LIFE_MS
from tequio_shared.network.full_run import FullRunView
from tequio_shared.network.run_states import RunState
from tequio_shared.round.corpus import Corpus
from tequio_shared.round.documents import WITNESS
from tequio_shared.round.manifest import Manifest
from tequio_shared.round.round import RoundPhase, RoundView
from tequio_shared.statements import Scope
from tequio_shared.statements.network import KeyRegister, Role, StandingChange
from tequio_shared.statements.runs import (
    HeadPromote,
    RoundClose,
    RoundOpen,
    RoundRoster,
    RoundWitness,
)
from tequio_shared.statements.statement import Body, make, sign

START_MS = 1_700_000_000_000
DAY_MS = 24 * HOUR_MS
SAMPLES = 96
"""Points of each series."""
RETRY_MS = 10_000
"""Statements that waited for the ledger come within this time after an outage."""
_CLOSED = 4
"""Accepted sets that peers may still compute heads from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationSetup:
    manifest: Manifest
    corpus: Corpus
    peers: int
    days: float
    seed: int = 0
    liars: Mapping[str, float] = field(default_factory=dict)
    """Share of the peers by kind of liar."""
    outages: tuple[tuple[float, float], ...] = ()
    """Start and length of each outage of the ledger, in hours."""
    population: HostPopulation = field(default_factory=HostPopulation)
    cells: CellPopulation = field(default_factory=CellPopulation)
    followers: float = 0.0
    """Share of the peers that offer no witness duty, and so follow steps in a run with a down link.

    0 is what workers do unless their owners say otherwise.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationSample:
    """The network at one time."""

    hours: float
    online: int
    rostered: int
    """Members of the last round."""
    witnesses: int
    """Of these, members with witness duty."""
    tokens: int
    closed: int
    voided: int
    down: int


class Simulation:
    """One run of a network; read it after `run`."""

    def __init__(self, setup: SimulationSetup) -> None:
        self.setup = setup
        self.now_ms = START_MS
        self.ledger = SimulatedLedger(setup.manifest, START_MS)
        self.members = _make_members(setup)
        self.kinds: dict[PeerKey, LieKind] = {one.key: one.lie for one in self.members}
        self.totals = TransferTotals()
        self.samples: list[SimulationSample] = []
        self.rostered = self.witnesses = 0
        """Members of all rounds that began, added up; and of these, those with witness duty."""
        self.convicted: dict[PeerKey, int] = {}
        """Contributions that a peer had committed to when it was first quarantined."""
        self.suspected: set[PeerKey] = set()
        """Peers that were ever suspected or quarantined."""
        self.closed: dict[HeadHash, AcceptedSet] = {}
        self._by_key = {one.key: one for one in self.members}
        self._online: dict[PeerKey, SimulatedMember] = {}
        self._events: list[tuple[int, int, Callable[[], None]]] = []
        self._number = count()
        self._rng = Random(f"network {setup.seed}")  # noqa: S311 - seeded on purpose
        self._times = DutyTimes(setup.manifest, setup.corpus)
        self._early: list[tuple[SimulatedMember, Duty]] = []
        """Trained before the round opened."""
        self._wake_ms: int | None = None
        self._outages = [
            (START_MS + round(hours * HOUR_MS), START_MS + round((hours + length) * HOUR_MS))
            for hours, length in setup.outages
        ]
        """Beginning and end of each."""

    @property
    def view(self) -> FullRunView:
        return self.ledger.view

    @property
    def end_ms(self) -> int:
        return START_MS + round(self.setup.days * DAY_MS)

    def run(self) -> Simulation:
        """Run to the end of the days, or of the run."""
        self._schedule()
        while self._events and self.view.state is not RunState.FINISHED:
            at_ms, _, event = heapq.heappop(self._events)
            if at_ms > self.end_ms:
                break
            self.now_ms = at_ms
            event()
        if self.view.state is not RunState.FINISHED:
            self.now_ms = self.end_ms
        self._sample()
        return self

    def _schedule(self) -> None:
        for member in self.members:
            self._begin_session(member, next(member.sessions))
        for _, ends_ms in self._outages:
            self._at(ends_ms, self._end_outage)
        step = (self.end_ms - START_MS) / SAMPLES
        for number in range(SAMPLES):
            self._at(START_MS + round(number * step), self._sample)
        self._coordinate()

    def _at(self, at_ms: int, event: Callable[[], None]) -> None:
        heapq.heappush(self._events, (max(at_ms, self.now_ms), next(self._number), event))

    def _sample(self) -> None:
        view = self.view
        hours = (self.now_ms - START_MS) / HOUR_MS
        if self.samples and self.samples[-1].hours == hours:
            self.samples.pop()  # the run ended just then
        self.samples.append(
            SimulationSample(
                hours=hours,
                online=len(self._online),
                rostered=len(view.round.roster.members) if view.round else 0,
                witnesses=len(view.round.roster.slots_of(WITNESS)) if view.round else 0,
                tokens=view.accounts.tokens,
                closed=view.closed,
                voided=view.voided,
                down=self.totals.down,
            )
        )

    # Sessions of the hosts, and outages of the ledger.

    def _begin_session(self, member: SimulatedMember, session: Session) -> None:
        if session.on_ms:
            self._turn_on(member)
        self._at(self.now_ms + session.on_ms, lambda: self._end_session(member, session))

    def _turn_on(self, member: SimulatedMember) -> None:
        member.is_on, member.pause_reason, member.duty = True, "", None
        member.on_ms -= self.now_ms
        self._online[member.key] = member
        self.ledger.readers = len(self._online)
        if not member.is_registered:
            self._deliver(member, KeyRegister(nonce=0), None, None)
        self._refresh(member)

    def _end_session(self, member: SimulatedMember, session: Session) -> None:
        if member.is_on:
            member.pause_reason = "" if session.is_sudden else "somebody uses the computer"
            self._refresh(member)
            self._turn_off(member, is_sudden=session.is_sudden)
        self._at(
            self.now_ms + session.off_ms,
            lambda: self._begin_session(member, next(member.sessions)),
        )

    def _turn_off(self, member: SimulatedMember, *, is_sudden: bool) -> None:
        member.is_on = False
        member.on_ms += self.now_ms
        if is_sudden:
            member.started += 1  # nothing that it began ends
        del self._online[member.key]
        self.ledger.readers = len(self._online)

    def _outage_end(self) -> int | None:
        """End of the outage in progress, or None."""
        under_way = (ends for begins, ends in self._outages if begins <= self.now_ms < ends)
        return next(under_way, None)

    def _end_outage(self) -> None:
        self.ledger.restart()
        self._coordinate()

    # The log: what members state, and what the coordinator answers.

    def _deliver(
        self, member: SimulatedMember, body: Body, number: int | None, duty: Duty | None
    ) -> None:
        """Let a statement reach the ledger now, or after the outage."""
        ends = self._outage_end()
        if ends is not None:
            later = ends + self._rng.randrange(RETRY_MS)
            self._at(later, lambda: self._deliver(member, body, number, duty))
            return
        statement = make(
            body=body,
            author=member.key,
            seq=member.seq + 1,
            ts=self.now_ms,
            exp=self.now_ms + STATEMENT_LIFE_MS,
            prev=member.last,
            run=None if body.SCOPE is Scope.NETWORK else self.ledger.run,
            round=number,
        )
        refused = self.ledger.submit(sign(self.ledger.net, statement, member.signer), self.now_ms)
        if refused is None:
            member.seq, member.last = statement.seq, statement.digest
            self._record_accepted(member, body)
        if duty is not None:
            member.answered.append(duty)
        self._coordinate()
        if member.is_on:
            self._refresh(member)

    def _record_accepted(self, member: SimulatedMember, body: Body) -> None:
        match body.TYPE:
            case "key.register":
                member.is_registered = True
            case "member.ready":
                member.ready_index = self.ledger.size - 1
            case "member.leave":
                member.left_at = self.ledger.size - 1
            case "work.commit":
                self._record_commit(member)
            case "audit.report":
                current = self._current()
                order = current.orders[current.slot_of[member.key]]
                member.trained += order.tokens * member.lie.repeats

    def _record_commit(self, member: SimulatedMember) -> None:
        current = self._current()
        slot = current.slot_of[member.key]
        transfers = self._times.transfers[current.number]
        transfers.add(slot, self.now_ms, member.host.up)
        header = current.commitments[slot].header
        member.trained += round(header.tokens * member.lie.work)
        member.committed += 1
        self.totals.seed_down += transfers.size_bytes
        if member.lie.commits_twice:
            again = member.commit(current, header.window_count, b"again")
            self._at(self.now_ms, lambda: self._deliver(member, again, current.number, None))

    def _coordinate(self) -> None:
        if self._outage_end() is not None:
            return
        has_moved = False
        for body in self.ledger.coordinate(self.now_ms):
            self._follow(body)
            has_moved = True
        if has_moved:
            for member in list(self._online.values()):
                self._refresh(member)
        due_ms = self.ledger.due_ms()
        is_new = self._wake_ms is None or self._wake_ms <= self.now_ms
        if due_ms is not None and (is_new or due_ms < (self._wake_ms or 0)):
            self._wake_ms = max(due_ms, self.now_ms + 1)
            self._at(self._wake_ms, self._coordinate)

    def _follow(self, body: Body) -> None:
        """Do what follows for the peers from an entry of the coordinator, once it is logged."""
        match body:
            case RoundRoster():
                self._begin_round(self._current())
            case RoundOpen():
                self._open_round(self._current())
            case RoundWitness():
                self._fetch_all(self._current())
            case RoundClose() if self._current().is_training:
                made = self._current().accepted_set(self.ledger.size - 1)
                self.closed[made.parent] = made
                while len(self.closed) > _CLOSED:
                    del self.closed[next(iter(self.closed))]
            case HeadPromote():
                self._fetch_to_seed()
            case StandingChange() as change:
                self._record_standing(change)

    def _fetch_to_seed(self) -> None:
        """Count what a seed fetches of a head that was promoted: its step, and all of it."""
        if self.view.step is not None:
            self.totals.seed_down += self.setup.manifest.step_bytes
        self.totals.seed_down += self._times.head_bytes

    def _record_standing(self, change: StandingChange) -> None:
        key = key_from_text(change.peer)
        if change.to in ("suspected", "quarantined"):
            self.suspected.add(key)
        if change.to == "quarantined":
            self.convicted.setdefault(key, self._by_key[key].committed)

    def _begin_round(self, current: RoundView) -> None:
        self.rostered += len(current.roster.members)
        self.witnesses += len(current.roster.slots_of(WITNESS))
        self._times.begin_round(current, self._online.values())
        self._early.clear()

    def _open_round(self, current: RoundView) -> None:
        for member, duty in self._early:
            self._finish_at(self.now_ms + member.host.latency_ms, member, duty)
        self._early.clear()
        # Those that need longer than the round commit to what they have by its end.
        limit_ms = train_limit(current)
        for slot in current.trainers:
            member = self._by_key[current.roster.members[slot].key]
            if limit_ms is not None and isinstance(member.duty, duties.TrainDuty):
                self._finish_at(limit_ms, member, member.duty)

    def _fetch_all(self, current: RoundView) -> None:
        """Count what every peer that is in the run fetches of the round, without the step."""
        transfers = self._times.transfers[current.number]
        tokens = sum(one.header.tokens for one in current.commitments.values())
        shards = self._times.shard_bytes(self.view.accounts.tokens, tokens)
        gossip = needs.gossip_bytes(len(current.commitments))
        for member in self._online.values():
            if member.held is None:
                continue
            self.totals.gossip += gossip
            slot = current.slot_of.get(member.key)
            others = len(current.commitments) - (slot in current.commitments)
            fetched = shards + (0 if member.is_light else others * transfers.size_bytes)
            if slot in current.orders:
                self.totals.leaves += self._times.leaves_bytes
                fetched += self._times.leaves_bytes
            self._count(member, fetched)

    def _count(self, member: SimulatedMember, fetched: int) -> None:
        member.down += fetched
        self.totals.down += fetched

    # Duties: when they end, and what is stated then.

    def _refresh(self, member: SimulatedMember) -> None:
        if not member.is_registered:
            return
        wanted = member.next_duty(self.view, self.closed, self.now_ms)
        if wanted == member.duty:
            return
        if isinstance(member.duty, duties.MeasureDuty):
            member.measured_ms[member.duty.head.round] += self.now_ms - member.begun_ms
        member.duty, member.begun_ms = wanted, self.now_ms
        member.started += 1
        ends_ms = self._times.end(member, wanted, self.view, self.now_ms)
        if ends_ms is not None:
            self._finish_at(ends_ms, member, wanted)

    def _finish_at(self, ends_ms: int, member: SimulatedMember, duty: Duty) -> None:
        """End a duty then, unless it has ended or changed before."""
        started = member.started
        self._at(ends_ms, lambda: self._finish(member, started, duty))

    def _finish(self, member: SimulatedMember, started: int, duty: Duty) -> None:
        if member.started != started:
            return
        member.started += 1
        match duty:
            case duties.FetchDuty() | duties.FollowDuty() | duties.AdvanceDuty():
                self._hold_next(member, duty)
                self._refresh(member)
            case duties.ReadyDuty() if member.held is not None:
                self._deliver(member, member.ready(member.held), None, duty)
            case duties.LeaveDuty():
                self._deliver(member, member.leave(), None, duty)
            case duties.MeasureDuty(head=head):
                tokens = self.setup.manifest.measures.tokens
                self._deliver(member, member.measure(head, tokens), head.round, duty)
            case _:
                self._finish_round_duty(member, duty)

    def _hold_next(
        self,
        member: SimulatedMember,
        duty: duties.FetchDuty | duties.FollowDuty | duties.AdvanceDuty,
    ) -> None:
        """Let a member hold the head to which a duty has led, and count what it fetched."""
        manifest = self.setup.manifest
        match duty:
            case duties.FetchDuty(head=head):
                fetched = self._times.fetched_bytes(member)
                if member.held is None:
                    self.totals.seed_up += round(SEED_PART * fetched)
                self._count(member, fetched)
                member.held, member.step = head, None
            case duties.FollowDuty(head=head, step=step):
                self.totals.steps += manifest.step_bytes
                self._count(member, manifest.step_bytes)
                member.held, member.step = head, step
            case duties.AdvanceDuty(closed=closed):
                member.held = advance_head(closed)
                member.step = step_root(member.held) if manifest.algorithm.down_k else None

    def _finish_round_duty(self, member: SimulatedMember, duty: Duty) -> None:
        current = self.view.round
        number = getattr(duty, "round", None)
        if current is None or current.number != number or member.held is None:
            return
        body: Body | None = None
        match duty:
            case duties.AttestDuty():
                body = member.attest(current, member.held)
            case duties.TrainDuty() if current.phase is RoundPhase.ATTEST:
                self._early.append((member, duty))  # a commitment needs the opening
            case duties.TrainDuty():
                body = self._times.work(member, current, self.now_ms)
            case duties.AuditDuty():
                body = member.audit(self.view, current, self.kinds)
            case duties.ProveDuty():
                transfers = self._times.transfers[current.number]
                arrived = transfers.arrived(member.host.down, self.now_ms)
                own = current.slot_of[member.key]
                body = member.prove(current, [*arrived, own], self.kinds)
        if body is not None:
            self._deliver(member, body, number, duty)

    def _current(self) -> RoundView:
        current = self.view.round
        assert current is not None  # noqa: S101 - for types
        return current


def _make_members(setup: SimulationSetup) -> list[SimulatedMember]:
    rng = Random(f"members {setup.seed}")  # noqa: S311 - seeded on purpose
    kinds = deal_kinds(setup.peers, setup.liars, rng)
    chosen = Random(f"cells {setup.seed}")  # noqa: S311 - seeded on purpose
    number = round(setup.cells.share * setup.peers)
    cells = set(chosen.sample(range(setup.peers), number))
    joint = iter(setup.cells.draw_cells(setup.manifest, number, setup.population, chosen))
    # All cards may be too small for the model where every peer is a cell.
    alone = setup.peers - number
    single = iter(setup.population.draw_hosts(setup.manifest, alone, rng) if alone else ())
    drawn = Random(f"followers {setup.seed}")  # noqa: S311 - seeded on purpose
    following = set(drawn.sample(range(setup.peers), round(setup.followers * setup.peers)))
    members = []
    for number, lie in enumerate(kinds):
        is_cell = number in cells
        secret = sha256(b"simulated member", f"{setup.seed} {number}".encode())
        signer = Signer(secret) if lie.commits_twice else None
        key = PeerKey(secret) if signer is None else signer.key
        own = Random(f"member {setup.seed} {number}")  # noqa: S311 - seeded on purpose
        roles: tuple[Role, ...] = ("trainer",) if number in following else ROLES
        members.append(
            SimulatedMember(
                key=key,
                signer=SimulatedKey(key, signer),
                host=next(joint if is_cell else single),
                is_cell=is_cell,
                lie=lie,
                sessions=setup.cells.sessions(setup.population, own)
                if is_cell
                else setup.population.sessions(own),
                roles=roles,
                is_light=needs.follows_steps(setup.manifest, is_witness=WITNESS in roles),
            )
        )
    return members
