"""A swarm in memory whose members carry out duties, each with its own light view of the run.

Ledger, coordinator and arithmetic are those of `memory_swarm`; a member does every duty at once.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec import UNSET

from tequio_client.worker.rounds import duties
from tequio_client.worker.rounds.catch_up import promoted_head
from tequio_client.worker.rounds.duties import Duty, MemberState, next_duty
from tequio_client.worker.rounds.join import start_view
from tequio_shared.api.runs import ResumeAnswer
from tequio_shared.head.chain import Head
from tequio_shared.ids import Digest, HeadHash, PeerKey, sha256, to_text
from tequio_shared.network.run_states import RunState
from tequio_shared.round.documents import WITNESS
from tequio_shared.round.round import RoundView
from tequio_shared.statements.network import MemberReady
from tequio_shared.statements.runs import (
    HeadAttest,
    HeadMeasure,
    HeadPromote,
    RoundClose,
    RoundRoster,
    RoundVoid,
    RunOpen,
    RunRollback,
)
from tests.support.authors import registration
from tests.support.commitments import commitment
from tests.support.marks import marks_of
from tests.support.memory_swarm import Swarm
from tests.support.volunteers import StatementDraft, Volunteer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tequio_shared.head.chain import AcceptedSet
    from tequio_shared.network.run import RunView
    from tequio_shared.statements.network import Role
    from tequio_shared.statements.statement import Body, Entry


ROLES: tuple[Role, ...] = ("trainer", "witness")


def step_of(head: Head) -> Digest:
    """Root of the step that made a head."""
    return sha256(b"step", head.hash)


class DutyMember:
    """One member: its key, what it holds, and its own view, folded from where it joined."""

    def __init__(self, name: str, swarm: DutySwarm, roles: tuple[Role, ...] = ROLES) -> None:
        self.voice = Volunteer(name, swarm.arithmetic)
        self.roles = roles
        self.key = self.voice.key
        self._swarm = swarm
        self.begin()

    def begin(self) -> None:
        """Join the run again, with nothing but the key."""
        self.view, self._after = _start(self._swarm)
        self._held: Head | None = None
        self._closed: dict[HeadHash, AcceptedSet] = {}
        self._steps: dict[HeadHash, duties.FollowDuty] = {}
        self._said: deque[Duty] = deque(maxlen=16)
        self._stuck: list[HeadHash] = []
        self._ready_index: int | None = None

    def own(self) -> MemberState:
        """The member's state: the head it holds, and what it has answered."""
        return MemberState(
            key=self.key,
            held=self._held,
            closed=self._closed,
            steps=self._steps,
            answered=self._said,
            stuck=self._stuck,
            ready_index=self._ready_index,
            is_light=WITNESS not in self.roles,
        )

    def follow(self, entries: Sequence[Entry]) -> None:
        """Apply the entries that the member has not seen yet."""
        for index in range(self._after + 1, len(entries)):
            statement = entries[index].statement
            if statement.run is not None:
                self.view.apply(index, statement, 0, self._swarm.blobs.__getitem__)
                if statement.author == self.key:
                    self._confirm(index, statement.body)
                if isinstance(statement.body, RoundClose):
                    self._remember(index)
                if isinstance(statement.body, RunRollback):
                    self._closed.clear()
                    self._steps.clear()
                head, step = self.view.head, self.view.step
                if isinstance(statement.body, HeadPromote) and head and step:
                    self._steps[head.parent] = duties.FollowDuty(head, step)
        self._after = len(entries) - 1

    def act(self) -> tuple[Duty, StatementDraft | None]:
        """Do the present duty; returns it, and the statement to send."""
        now = next_duty(self.view, self.own())
        match now:
            case duties.FetchDuty(head=head):
                assert head.weights_root in self._swarm.arithmetic.weights
                self._held = head
            case duties.AdvanceDuty(closed=closed):
                self._held = self._advanced(closed)
            case duties.FollowDuty(head=head, step=step):
                if self._swarm.is_step_wrong:
                    self._stuck.append(head.parent)
                else:
                    assert self._held is not None
                    assert (self._held.hash, step) == (head.parent, step_of(head))
                    self._held = head
            case duties.MeasureDuty(head=head):
                self._said.append(now)
                return now, StatementDraft(_measure(head), head.round)
            case duties.TrainDuty() if not self._is_open():
                return now, None
            case duties.ReadyDuty() | duties.AttestDuty() | duties.TrainDuty() | duties.ProveDuty():
                self._said.append(now)
                number = None if isinstance(now, duties.ReadyDuty) else now.round
                return now, StatementDraft(self._body(now), number)
        return now, None

    def _is_open(self) -> bool:
        return self.view.round is not None and self.view.round.open is not None

    def _body(self, now: Duty) -> Body:
        held, current = self._held, self.view.round
        if isinstance(now, duties.ReadyDuty):
            assert held is not None
            return MemberReady(head=to_text(held.hash), roles=self.roles)
        assert current is not None
        if isinstance(now, duties.ProveDuty):
            return self._proof(current)
        assert held is not None
        if isinstance(now, duties.TrainDuty):
            share = current.roster.members[current.slot_of[self.key]].share
            header = self._swarm.arithmetic.contribute(current, self.key, self._swarm.rng, share)
            return commitment(header, self._swarm.arithmetic.payloads[header.payload_root])
        return HeadAttest(
            head=to_text(held.hash),
            weights_root=to_text(held.weights_root),
            aux_root=to_text(held.aux_root),
            vrf=to_text(self.voice.signer.prove(current.lot_input)),
            step_root=to_text(step_of(held)) if self._has_step(held) else UNSET,
        )

    def _has_step(self, held: Head) -> bool:
        return WITNESS in self.roles and self._swarm.manifest.algorithm.down_k > 0 < held.round

    def _proof(self, current: RoundView) -> Body:
        assert current.head is not None
        arithmetic = self._swarm.arithmetic
        vouched = {
            slot: one.id
            for slot, one in current.commitments.items()
            if one.header.trainer not in arithmetic.hidden - {self.key}
        }
        lot = self.voice.signer.prove(current.audit_lot_input)
        marks = marks_of(current, vouched, lot, arithmetic.payloads)
        return current.proof_of(vouched, {}, lot, marks)

    def _advanced(self, closed: AcceptedSet) -> Head:
        weights, aux = self._swarm.arithmetic.roots[closed.parent, closed.round]
        run = self._swarm.manifest.run_id
        return Head.of(
            run,
            closed.round,
            parent=closed.parent,
            set_root=closed.set_root,
            weights_root=weights,
            aux_root=aux,
        )

    def _remember(self, index: int) -> None:
        current, coming = self.view.round, self.view.next_head
        if current is None or coming is None:
            return
        self._closed[coming.parent] = current.accepted_set(index)

    def _confirm(self, index: int, body: Body) -> None:
        if isinstance(body, MemberReady):
            self._ready_index = index


@dataclass
class DutySwarm(Swarm):
    """A swarm of duty members; `done` has every duty done and who did it, in order."""

    members: list[DutyMember] = field(default_factory=list)
    done: list[tuple[PeerKey, Duty]] = field(default_factory=list)
    is_step_wrong: bool = False  # no step leads to its head

    def join(self, name: str, roles: tuple[Role, ...] = ROLES) -> DutyMember:  # type: ignore[override]  # others join here
        """Add a new member."""
        member = DutyMember(name, self, roles)
        entry = member.voice.sign(
            self.net, None, StatementDraft(registration(self.net, member.key)), self.now_ms
        )
        self.entries.append(entry)
        member.voice.record_logged(entry)
        self.members.append(member)
        return member

    def restart(self, member: DutyMember) -> None:
        """Restart a member: it loses everything that it does not keep on disk."""
        member.begin()

    def run(self, most_steps: int = 3_000, mishaps: Sequence[tuple[int, int, str]] = ()) -> None:
        """Run to the end; a mishap is (step, index of the member, kind)."""
        for at in range(most_steps):
            for _, who, what in [one for one in mishaps if one[0] == at]:
                if what == "join":
                    self.join(f"late {len(self.members)}")
                else:
                    self.restart(self.members[who % len(self.members)])
            if self.view.state is RunState.FINISHED or not self.step():
                return

    def _let_member_post(self) -> bool:
        for member in self.rng.sample(self.members, len(self.members)):
            member.follow(self.entries)
            now, draft = member.act()
            if isinstance(now, duties.WaitDuty | duties.RunEnded):
                continue
            self.done.append((member.key, now))
            self.now_ms += self.rng.randint(1, 500)
            if draft is not None:
                self._post_draft(member, draft)
            return True
        return False

    def _post_draft(self, member: DutyMember, draft: StatementDraft) -> None:
        try:
            self._post_or_give_up(member.voice, draft)
        except AssertionError as err:
            raise AssertionError(f"{draft} broke the swarm") from err


def _measure(head: Head) -> HeadMeasure:
    """The measure of a head, the same for every member."""
    millibits = 7_000_000 - 100_000 * head.round
    return HeadMeasure(head=to_text(head.hash), millibits=millibits, size_bytes=1_000, tokens=1_000)


def _start(swarm: Swarm) -> tuple[RunView, int]:
    """The view at the ledger's point of rest, and the index that it starts after."""
    resume, head, rosters = _resume(swarm)
    roster_index = None
    if resume.close is not None:
        roster_index = rosters[swarm.entries[resume.close].statement.round or 0]
    return start_view(swarm.net, swarm.manifest, resume, head, roster_index)


def _resume(swarm: Swarm) -> tuple[ResumeAnswer, Head | None, dict[int, int]]:
    """Compute the ledger's answer: the last point of rest, and the head known there."""
    rosters: dict[int, int] = {}
    resume, promoted, pending = ResumeAnswer(after=0, head=None, close=None), None, None
    for index, entry in enumerate(swarm.entries):
        body = entry.statement.body
        match body:
            case HeadPromote() | RunRollback():
                promoted, pending = index, None
            case RoundRoster():
                rosters[entry.statement.round or 0] = index
            case RoundClose():
                pending = index
        if isinstance(body, RunOpen | RoundClose | RoundVoid | RunRollback):
            resume = ResumeAnswer(after=index, head=promoted, close=pending)
    return resume, _head_at(swarm, resume.head), rosters


def _head_at(swarm: Swarm, index: int | None) -> Head | None:
    if index is None:
        return None
    return promoted_head(swarm.manifest, swarm.entries[index].statement)
