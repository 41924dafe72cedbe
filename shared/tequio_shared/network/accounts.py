"""Members of a run: verified speeds, windows left to train and points.

The part of a run's view that needs the whole history. Pure: only `RunView` changes it, entry by
entry, so everybody who replays the log holds the same accounts. The next roster follows from it,
from the standing of the keys and from their owners: a quarantined key has no slot, a newcomer a
small share, a new or suspected key no witness duty while there are others, nor one that may have
been chosen for its lot, and no owner holds more than the manifest allows.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import TYPE_CHECKING

from tequio_shared.errors import RefusedError
from tequio_shared.ids import ZERO_DIGEST, Digest, PeerKey, key_from_text, to_text
from tequio_shared.limits import MISSED_ROUNDS, NEWCOMER_WORK, SEASONED_WITNESSES, SPEED_ROUNDS
from tequio_shared.network.audits import AuditBook, AuditOutcome
from tequio_shared.network.standing import EXCLUDED, UNPROVEN, KeyStatus, Standing
from tequio_shared.network.tiers import Tiers
from tequio_shared.network.vesting import Given, MemberPoints
from tequio_shared.round import assignment
from tequio_shared.round.assignment import WindowQueue
from tequio_shared.round.audits import AuditVerdict
from tequio_shared.round.documents import (
    TRAINER,
    WITNESS,
    Roster,
    RosterMember,
    RoundResult,
    SlotResult,
)
from tequio_shared.round.proof import Verdict
from tequio_shared.round.round import RoundView

if TYPE_CHECKING:
    from tequio_shared.round.manifest import Manifest


@dataclass(slots=True, kw_only=True)
class MemberAccount:
    """One member of the run; `Accounts` alone writes it."""

    roles: tuple[str, ...]
    ready_index: int  # log index of the member.ready that made it active: the order of slots
    last_ready_index: int  # log index of its last member.ready
    is_active: bool = True
    paces: list[tuple[int, int]] = field(default_factory=list)  # accepted (windows, ms)
    missed: int = 0  # commitments in a row that no quorum had
    feedback: Digest = ZERO_DIGEST  # error feedback that its last accepted contribution left
    tokens: int = 0  # accepted in all rounds
    repeated: int = 0  # most windows at once that an auditor cleared, or that had no auditor


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProgress:
    """Progress of the run when a round was closed."""

    tokens: int
    """Accepted so far, this round included."""
    ms: int
    """Since the run was opened, by the coordinator's signed clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Admitted:
    """A key that may have a slot: the roles that its tier allows, and its owner."""

    roles: tuple[str, ...]
    owner: Digest


@dataclass(slots=True, kw_only=True)
class RunAccounts:
    manifest: Manifest
    standings: KeyStatus = field(default_factory=KeyStatus)  # the network's
    tiers: Tiers = field(default_factory=Tiers)  # the network's
    members: dict[PeerKey, MemberAccount] = field(default_factory=dict)
    queue: WindowQueue = field(default_factory=WindowQueue)
    earned: dict[PeerKey, MemberPoints] = field(default_factory=lambda: defaultdict(MemberPoints))
    tokens: int = 0
    opened_ms: int = 0  # ts of run.open
    has_ended: bool = False
    trained: dict[int, RunProgress] = field(default_factory=dict)  # by round, as heads are known
    rostered: set[PeerKey] = field(default_factory=set)  # keys that ever had a slot
    arrivals: deque[list[int]] = field(default_factory=lambda: deque(maxlen=SPEED_ROUNDS))
    """Times of the accepted commitments (ms after the opening), by closed round."""
    receivers: set[PeerKey] = field(init=False, default_factory=set, compare=False)
    """Keys whose points from others' work the last entry changed that settled points."""
    audits: AuditBook = field(init=False)
    lots_index: int | None = None
    """Log index of the roster of the last opened round, whose lots give the next seed."""
    _active: dict[PeerKey, None] = field(init=False)
    """Active members in the order in which they became ready, which is that of the log."""

    def __post_init__(self) -> None:
        self.audits = AuditBook(self.manifest.audits)
        present = [(one.ready_index, key) for key, one in self.members.items() if one.is_active]
        self._active = {key: None for _, key in sorted(present)}

    def mark_ready(self, key: PeerKey, roles: tuple[str, ...], index: int) -> None:
        """Record member.ready: the member can be in the next roster."""
        known = self.members.get(key)
        if known is None:
            self.members[key] = MemberAccount(
                roles=roles, ready_index=index, last_ready_index=index
            )
            self._active[key] = None
            return
        known.roles, known.last_ready_index = roles, index
        # An active member keeps its place in the order and its missed rounds: a second member.ready
        # must gain neither a slot nor another chance.
        if not known.is_active:
            known.ready_index, known.is_active, known.missed = index, True, 0
            self._active[key] = None

    def deactivate(self, key: PeerKey) -> None:
        """Take the member out of rosters until its next member.ready."""
        if key in self.members:
            self.members[key].is_active = False
            self._active.pop(key, None)

    def move_key(self, former: PeerKey, successor: PeerKey) -> None:
        """Hand the account of a key in this run to the key that took its place; O(open audits).

        The successor is in no roster before its own member.ready.
        """
        self.audits.move_key(former, successor)
        if former in self.members:
            self.deactivate(former)
            self.members[successor] = self.members.pop(former)
        if former in self.earned:  # with what has not vested, and what was forfeited
            self.earned[successor] = self.earned.pop(former)
        if former in self.rostered:
            self.rostered.add(successor)

    def is_witness(self, key: PeerKey) -> bool:
        """Return whether the key is an active member that witnesses."""
        known = self.members.get(key)
        return known is not None and known.is_active and WITNESS in known.roles

    def active(self) -> list[PeerKey]:
        """Active members in the order in which they became ready."""
        return list(self._active)

    def next_members(self, ts: int) -> dict[PeerKey, tuple[str, ...]]:
        """Members of a roster at that time by slot, with their roles; proven keys come first.

        Where not all have a place, the first trainers and witnesses that a round needs have one.
        O(active members).
        """
        admitted = dict(self._admitted(ts))
        witnesses = self._witnesses(admitted)
        roles = {key: _without(one.roles, key, witnesses) for key, one in admitted.items()}
        willing = [key for key, held in roles.items() if held]
        rounds = self.manifest.rounds
        seats = max(1, min(SEASONED_WITNESSES, rounds.most_members - rounds.min_members))
        first_witnesses = islice((key for key in willing if WITNESS in roles[key]), seats)
        first_trainers = islice(
            (key for key in willing if TRAINER in roles[key]), rounds.min_members
        )
        by_need = dict.fromkeys(chain(first_witnesses, first_trainers, willing))
        chosen = set(islice(by_need, rounds.most_members))
        return {key: roles[key] for key in willing if key in chosen}

    def has_members(self, ts: int, least: int) -> bool:
        """Return whether a roster of that time would have that many trainers, and a witness.

        `least` is at most `rounds.min_members`, for which places are kept. Asked for with every
        statement: it sorts the active members, and reads the tiers of only as many as it needs.
        """
        trainers, has_witness = 0, False
        for _, one in self._admitted(ts):
            trainers += TRAINER in one.roles
            has_witness = has_witness or WITNESS in one.roles  # some of those who would, may
            if trainers >= least and has_witness:
                return True
        return False

    def plan_roster(self, ts: int, *, is_training: bool = True) -> Roster:
        """Roster at that time, as it follows from the log so far; the queue is not changed.

        After the last round nobody trains: members attest the last head, and audit.
        """
        chosen = self.next_members(ts)
        trainers = {
            key: slot for slot, (key, roles) in enumerate(chosen.items()) if TRAINER in roles
        }
        orders = self.audits.orders(trainers)
        audited = {one.slot: one.tokens // self.manifest.windows.tokens for one in orders}
        usual = self._usually_repeated(trainers)
        members = tuple(
            self._member(key, roles, usual, audited=audited.get(slot, 0), is_training=is_training)
            for slot, (key, roles) in enumerate(chosen.items())
        )
        pool, _ = self.queue.split_off(sum(member.share for member in members))
        return Roster(members=members, pool=pool, train_ms=self.train_ms(), audits=orders)

    def train_ms(self) -> int:
        """Time that the next round may train: 1.5 times the pace of the slowest tenth, bounded.

        The nearest-rank 90th percentile of the last rounds' accepted arrival times. Only accepted
        ones count, so silent members cannot stretch the round.
        """
        times = self.manifest.rounds
        recent = sorted(ms for arrived in self.arrivals for ms in arrived)
        if not recent:
            return times.train_limit
        slow = recent[-(-9 * len(recent) // 10) - 1]
        return min(max(slow * 3 // 2, times.train), times.train_limit)

    def assign_windows(self, roster: Roster) -> None:
        _, self.queue = self.queue.split_off(assignment.count_windows(roster.pool))

    def credit_round(self, index: int, view: RoundView, result: RoundResult, ts: int) -> None:
        """Credit a closed round: points, speeds, and unfinished windows back in the queue."""
        self.receivers.clear()
        accepted, links = view.accepted(), self.standings.links
        for slot, row in enumerate(result.slots):
            member = view.roster.members[slot].key
            key = links.holder(member)
            # A key that was revoked during the round is not paid for it: it may have been stolen.
            if links.is_paid(member, index):
                self._pay(index, key, view.number, row)
            if slot in accepted:
                self.members[key].feedback = accepted[slot].header.feedback_root
                self.members[key].tokens += accepted[slot].header.tokens
                if slot not in view.orders:  # part of its time went into the audit
                    self.members[key].paces.append((row.windows, row.ms))
                    del self.members[key].paces[:-SPEED_ROUNDS]
            self._count_missed(key, Verdict(row.verdict), view)
        trained = accepted.keys() - view.orders.keys()
        self.arrivals.append([result.slots[slot].ms for slot in sorted(trained)])
        self.tokens += sum(one.header.tokens for one in accepted.values())
        self.trained[view.number] = RunProgress(tokens=self.tokens, ms=ts - self.opened_ms)
        self.queue = self.queue.put_back(view.unfinished(accepted))
        self._drop_silent(view)

    def _pay(self, index: int, key: PeerKey, number: int, row: SlotResult) -> None:
        """Pay a slot's row: its key, and those to which its commitment gave parts."""
        links = self.standings.links
        given = tuple(
            (links.holder(receiver), gflop)
            for receiver, gflop in row.received.items()
            if links.is_paid(receiver, index)
        )
        for receiver, gflop in given:
            self.earned[receiver].receive(gflop)
            self.receivers.add(receiver)
        self._vest(self.earned[key].pay(number, row.trainer_gflop, row.witness_gflop, given))

    def _vest(self, given: Given) -> None:
        """Let parts of payments vest for their receivers."""
        for named, gflop in given:
            receiver = self.standings.links.holder(named)
            self.earned[receiver].received_unvested -= gflop
            self.receivers.add(receiver)

    def _forfeit(self, given: Given) -> None:
        """Take parts of payments from their receivers: the authors lost them."""
        for named, gflop in given:
            receiver = self.standings.links.holder(named)
            self.earned[receiver].lose_received(gflop)
            self.receivers.add(receiver)

    def close_audits(self, view: RoundView, ts: int) -> list[AuditOutcome]:
        """Take in the audits of a closed round, and draw the next; returns what is over.

        What was withheld from its auditors is not paid, and delays the vesting of all the rest. Nor
        is an audit that the other auditors contradict.
        """
        run, links = self.manifest.run_id, self.standings.links

        def owner_of(key: PeerKey) -> Digest:
            # A key replaced during the round has no owner any more, but its successor does.
            return self.tiers.of(links.holder(key), run, ts).owner

        over = self.audits.close_round(view, owner_of, self._is_unproven, self._is_present)
        for slot, work in view.auditable().items() if len(self.audits.judges) <= 1 else ():
            member = view.roster.members[slot].key
            if self.audits.judges <= {owner_of(member)}:
                self._record_repeated(member, work.header.tokens)
        for one in over:
            if one.verdict is AuditVerdict.CLEAR:
                self._record_repeated(one.trainer, one.tokens)
            for auditor, number in one.unpaid:
                self._forfeit(self.earned[links.holder(auditor)].take_audit(number))
            if one.verdict is AuditVerdict.WITHHELD:
                trainer = links.holder(one.trainer)
                self.audits.watch(trainer)
                self._forfeit(self.earned[trainer].take_round(one.round))
        return over

    def _record_repeated(self, key: PeerKey, tokens: int) -> None:
        known = self.members[self.standings.links.holder(key)]
        known.repeated = max(known.repeated, tokens // self.manifest.windows.tokens)

    def _is_unproven(self, key: PeerKey, tokens: int) -> bool:
        """Return whether a contribution with that many tokens is audited like a newcomer's.

        Also if the key has had little work of this size accepted here, as its standing may come
        from contributions of one window, or from a run without audits; and if nobody has repeated
        as much of its work, since its share grows only when somebody does.
        """
        known = self.members[self.standings.links.holder(key)]
        windows = tokens // self.manifest.windows.tokens
        is_large = known.tokens < NEWCOMER_WORK * tokens or known.repeated < windows
        return is_large or self.standings.of(key) is not Standing.ACTIVE

    def _is_present(self, key: PeerKey) -> bool:
        """Return whether the key could be in a roster now; one that was replaced could not."""
        known = self.members.get(key)
        return known is not None and known.is_active and self.standings.of(key) not in EXCLUDED

    def seize(self, key: PeerKey) -> None:
        """Take a key's points that have not vested, with those it gave away: it is quarantined."""
        self.receivers.clear()
        if key in self.earned:
            self._forfeit(self.earned[key].seize())

    def restore(self, key: PeerKey) -> None:
        """Give a key's points back, and those of its receivers: its quarantine was wrong."""
        self.receivers.clear()
        if key not in self.earned:
            return
        for named, gflop in self.earned[key].restore():
            receiver = self.standings.links.holder(named)
            self.earned[receiver].forfeited -= gflop
            self.earned[receiver].receive(gflop)
            self.receivers.add(receiver)
        if self.has_ended:
            self._end(key)

    def vest_all(self) -> None:
        """Let all points vest: the run has ended."""
        self.has_ended = True
        for key in list(self.earned):
            self._end(key)

    def _end(self, key: PeerKey) -> None:
        lost, vested = self.earned[key].vest()
        self._forfeit(lost)
        self._vest(vested)

    def check_receivers(self, parts: Iterable[tuple[str, int]]) -> None:
        """Require that keys with parts of a contribution's points are registered.

        Else each commitment could add keys to the accounts that cost nobody anything. One that was
        revoked or replaced passes: its owner must not cost the author its round. O(parts).
        """
        for key, _ in parts:
            if key_from_text(key) not in self.standings.links.registered:
                raise RefusedError("wrong-parts", f"key {key} was not registered before")

    def check_feedback(self, key: PeerKey, feedback: str) -> None:
        """Require that a commitment starts from zeros, or from what the key's last accepted left.

        Else a trainer could choose the feedback that an audit adds to its update. Costs one lookup.
        """
        known = self.members.get(key)
        last = known.feedback if known else ZERO_DIGEST
        if feedback and (last == ZERO_DIGEST or feedback != to_text(last)):
            raise RefusedError(
                "wrong-feedback", "not the error feedback of the author's last accepted work"
            )

    def start_over(self) -> None:
        """Let every key start from zeros in its next commitment: the run went back to a head.

        Feedback belongs to the weights that it was left behind at; after a run has diverged, it
        would carry that over.
        """
        for member in self.members.values():
            member.feedback = ZERO_DIGEST

    def void_round(self, view: RoundView) -> None:
        """Undo a void round: its windows go back to the queue, and only silence has a consequence.

        The pace is forgotten: it may have been one that nobody could keep.
        """
        self.arrivals.clear()
        self.queue = self.queue.put_back(view.unfinished({}))
        self._drop_silent(view)

    def _admitted(self, ts: int) -> Iterator[tuple[PeerKey, _Admitted]]:
        """Keys that may have a slot, with the roles of their tier; per owner the first ones."""
        standing = {key: self.standings.of(key) for key in self.active()}
        eligible = [key for key, one in standing.items() if one not in EXCLUDED]
        rules, run = self.manifest.admits, self.manifest.run_id
        least = {TRAINER: rules.trainer_tier, WITNESS: rules.witness_tier}
        held: Counter[Digest] = Counter()
        for key in sorted(eligible, key=lambda key: standing[key] in UNPROVEN):
            known = self.tiers.of(key, run, ts)
            roles = tuple(one for one in self.members[key].roles if known.tier >= least[one])
            if roles and held[known.owner] < rules.owner_slots:
                held[known.owner] += 1
                yield key, _Admitted(roles=roles, owner=known.owner)

    def _witnesses(self, admitted: dict[PeerKey, _Admitted]) -> set[PeerKey]:
        """Keys that may witness: active ones; if these are few, new ones too; suspected last.

        Of each kind, those that came after the last lots were drawn only if the others are few.
        """
        willing = [key for key, one in admitted.items() if WITNESS in one.roles]
        standing = {key: self.standings.of(key) for key in willing}
        keys: list[PeerKey] = []
        chosen: set[PeerKey] = set()
        # Newcomers are cheap to make: they join only while good witnesses are few.
        for kind in ({Standing.ACTIVE}, UNPROVEN):
            for is_late in (False, True):
                keys += [
                    key
                    for key in willing
                    if standing[key] in kind and self._is_late(key) is is_late
                ]
                chosen = self._seated(keys, admitted)
                if len(chosen) >= SEASONED_WITNESSES:
                    return chosen
        return chosen or self._seated(willing, admitted)

    def _is_late(self, key: PeerKey) -> bool:
        """Return whether the coordinator may have known the next seed when the key came.

        Else its friends would replace their keys by ones with low lots.
        """
        return self.lots_index is not None and not self.standings.is_known_before(
            key, self.lots_index
        )

    def _seated(self, keys: list[PeerKey], admitted: dict[PeerKey, _Admitted]) -> set[PeerKey]:
        """First keys of each owner, up to its seats."""
        seats, held = self.manifest.admits.owner_seats, Counter[Digest]()
        seated = set()
        for key in keys:
            owner = admitted[key].owner
            held[owner] += 1
            if held[owner] <= seats:
                seated.add(key)
        return seated

    def _member(
        self,
        key: PeerKey,
        roles: tuple[str, ...],
        usual: int,
        *,
        audited: int,
        is_training: bool,
    ) -> RosterMember:
        rules, steps = self.manifest.windows, self.manifest.inner.steps
        paces, train_ms = self.members[key].paces, self.manifest.rounds.train
        mine = assignment.window_share(
            paces,
            train_ms=train_ms,
            first=rules.first,
            most=self._most_windows(key, usual),
            steps=steps,
        )
        speed = assignment.verified_speed(paces, train_ms)
        if audited:
            mine = assignment.share_beside_audit(
                mine, speed, train_ms=train_ms, audited=audited, steps=steps
            )
        return RosterMember(
            peer=to_text(key),
            roles=roles,
            speed=speed,
            share=mine if TRAINER in roles and is_training else 0,
        )

    def _usually_repeated(self, trainers: Collection[PeerKey]) -> int:
        """Windows of which as many were repeated of a quarter of the trainers, at least of two.

        O(n log n). A few keys that audit each other cannot raise it, and one slow case does not
        lower it.
        """
        repeated = sorted((self.members[key].repeated for key in trainers), reverse=True)
        return repeated[max(1, len(repeated) // 4)] if len(repeated) > 1 else 0

    def _most_windows(self, key: PeerKey, usual: int) -> int:
        """Largest share of a key: where there are audits, twice what somebody can repeat.

        Else who skips the work would look so fast that nobody can repeat its shares in time. Of a
        proven key it is enough that others' work as large was repeated.
        """
        rules, standing = self.manifest.windows, self.standings.of(key)
        if not self.manifest.audits.unproven_bp:
            return rules.first if standing in UNPROVEN else rules.most
        if standing is Standing.PROBATION:
            return rules.first
        repeated = self.members[key].repeated
        if standing is Standing.ACTIVE:
            repeated = max(repeated, usual)
        return min(max(rules.first, assignment.GROWTH * repeated), rules.most)

    def _count_missed(self, key: PeerKey, verdict: Verdict, view: RoundView) -> None:
        """Drop a member whose commitments nobody can fetch, as they waste everybody's time."""
        membership = self.members[key]
        if verdict is Verdict.NOT_SELECTED:
            membership.missed += 1
        elif verdict in (Verdict.ACCEPTED, Verdict.REJECTED):
            membership.missed = 0  # an audit in between says nothing of its commitments
        if membership.missed >= MISSED_ROUNDS and not self._rejoined(key, view):
            self.deactivate(key)

    def _drop_silent(self, view: RoundView) -> None:
        """Drop members that sent nothing the round waited for; `member.ready` brings them back."""
        for slot, member in enumerate(view.roster.members):
            key = self.standings.links.holder(member.key)
            if view.is_silent(slot) and not self._rejoined(key, view):
                self.deactivate(key)

    def _rejoined(self, key: PeerKey, view: RoundView) -> bool:
        """Return whether the member was ready again after this round's roster."""
        return self.members[key].last_ready_index > view.roster_index


def _without(roles: tuple[str, ...], key: PeerKey, witnesses: set[PeerKey]) -> tuple[str, ...]:
    """Roles of a member in the next roster, given its witnesses."""
    return tuple(role for role in roles if role != WITNESS or key in witnesses)
