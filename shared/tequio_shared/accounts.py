"""Who is in a run, at which verified speed, with which windows left and which points earned.

The part of a run's view that needs the whole history. Pure: only `RunView` changes it, entry by
entry, so that everybody who replays the log holds the same accounts. The next roster follows from
it and from the standing of the keys: who is quarantined has no slot, who is new a small share, and
who is new or suspected no witness duty while there are others.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tequio_shared import windows
from tequio_shared.documents import TRAINER, WITNESS, Member, Roster
from tequio_shared.ids import Digest, PeerKey, to_text
from tequio_shared.limits import MISSED_ROUNDS, SEASONED_WITNESSES, SPEED_ROUNDS
from tequio_shared.proof import Verdict
from tequio_shared.standing import OUTSIDE, UNPROVEN, Standing, Standings
from tequio_shared.windows import WindowQueue

if TYPE_CHECKING:
    from tequio_shared.documents import Result
    from tequio_shared.manifest import Manifest
    from tequio_shared.round import RoundView


@dataclass(slots=True, kw_only=True)
class Membership:
    """One member of the run."""

    roles: tuple[str, ...]
    commit: Digest  # SHA-256 of the secret that its next head.attest reveals
    ready_index: int  # log index of the member.ready that made it active: the order of slots
    said_ready: int  # log index of its last member.ready
    is_active: bool = True
    paces: list[tuple[int, int]] = field(default_factory=list)  # accepted (windows, ms)
    missed: int = 0  # commitments in a row that no quorum had


@dataclass(slots=True, kw_only=True)
class Earned:
    """Micro-points of one member in this run."""

    trainer: int = 0
    witness: int = 0


@dataclass(slots=True, kw_only=True)
class Accounts:
    """Members, windows and points of one run."""

    manifest: Manifest
    standings: Standings = field(default_factory=Standings)  # the network's
    members: dict[PeerKey, Membership] = field(default_factory=dict)
    queue: WindowQueue = field(default_factory=WindowQueue)
    earned: dict[PeerKey, Earned] = field(default_factory=lambda: defaultdict(Earned))
    tokens: int = 0
    arrivals: deque[list[int]] = field(default_factory=lambda: deque(maxlen=SPEED_ROUNDS))
    """Times of the accepted commitments (ms after the opening), by closed round."""

    def ready(self, key: PeerKey, roles: tuple[str, ...], commit: Digest, index: int) -> None:
        """The member can be in the next roster."""
        known = self.members.get(key)
        if known is None:
            self.members[key] = Membership(
                roles=roles, commit=commit, ready_index=index, said_ready=index
            )
            return
        known.roles, known.commit, known.said_ready = roles, commit, index
        known.missed = 0
        if not known.is_active:
            known.ready_index, known.is_active = index, True

    def drop(self, key: PeerKey) -> None:
        """The member is in no roster until it says again that it is ready."""
        if key in self.members:
            self.members[key].is_active = False

    def active(self) -> list[PeerKey]:
        """Active members in the order in which they became ready."""
        present = [(one.ready_index, key) for key, one in self.members.items() if one.is_active]
        return [key for _, key in sorted(present)]

    def next_in(self) -> dict[PeerKey, tuple[str, ...]]:
        """The members of the next roster by slot, with their roles in it; the proven come first."""
        eligible = [key for key in self.active() if self.standings.of(key) not in OUTSIDE]
        witnesses = self._witnesses(eligible)
        roles = {key: self._roles(key, witnesses) for key in eligible}
        first = sorted(eligible, key=lambda key: self.standings.of(key) in UNPROVEN)
        chosen = [key for key in first if roles[key]][: self.manifest.rounds.most_members]
        return {key: roles[key] for key in chosen}

    def count_next(self, role: str) -> int:
        """How many members of the next roster have the role."""
        return sum(role in roles for roles in self.next_in().values())

    def plan_roster(self) -> Roster:
        """The roster that follows from the log so far; does not touch the queue."""
        members = tuple(self._member(key, roles) for key, roles in self.next_in().items())
        pool, _ = self.queue.take(sum(member.share for member in members))
        return Roster(members=members, pool=pool, train_ms=self.train_ms())

    def train_ms(self) -> int:
        """How long the next round may train: 1.5 times the pace of the slowest tenth, bounded.

        The nearest-rank 90th percentile of the last rounds' accepted arrival times.
        """
        times = self.manifest.rounds
        recent = sorted(ms for arrived in self.arrivals for ms in arrived)
        if not recent:
            return times.train_limit
        slow = recent[-(-9 * len(recent) // 10) - 1]
        return min(max(slow * 3 // 2, times.train), times.train_limit)

    def commits(self, roster: Roster) -> dict[PeerKey, Digest]:
        """What each member of the roster is committed to reveal; a later word changes nothing."""
        return {member.key: self.members[member.key].commit for member in roster.members}

    def take(self, roster: Roster) -> None:
        """Hand out the roster's windows."""
        _, self.queue = self.queue.take(windows.total(roster.pool))

    def settle(self, view: RoundView, result: Result) -> None:
        """Credit a closed round: points, speeds, and unfinished windows back in the queue."""
        accepted = view.accepted()
        for slot, row in enumerate(result.slots):
            key = view.roster.members[slot].key
            earned = self.earned[key]
            earned.trainer += row.trainer_micropoints
            earned.witness += row.witness_micropoints
            if slot in accepted:
                self.members[key].paces.append((row.windows, row.ms))
                del self.members[key].paces[:-SPEED_ROUNDS]
            self._note_missed(key, Verdict(row.verdict), view)
        self.arrivals.append([result.slots[slot].ms for slot in accepted])
        self.tokens += sum(one.header.tokens for one in accepted.values())
        self.queue = self.queue.give_back(view.unfinished(accepted))
        self._drop_silent(view)

    def void(self, view: RoundView) -> None:
        """A void round: all its windows go back; only silence has a consequence.

        The pace is forgotten: it may have been what nobody could keep.
        """
        self.arrivals.clear()
        self.queue = self.queue.give_back(view.unfinished({}))
        self._drop_silent(view)

    def _witnesses(self, eligible: list[PeerKey]) -> set[PeerKey]:
        """Who may witness: the active; where these are few the new too; the suspected last."""
        willing = [key for key in eligible if WITNESS in self.members[key].roles]
        standing = {key: self.standings.of(key) for key in willing}
        chosen = {key for key in willing if standing[key] is Standing.ACTIVE}
        if len(chosen) < SEASONED_WITNESSES:
            chosen |= {key for key in willing if standing[key] in UNPROVEN}
        return chosen or set(willing)

    def _roles(self, key: PeerKey, witnesses: set[PeerKey]) -> tuple[str, ...]:
        """Find the roles that a member has in the next roster."""
        return tuple(
            role for role in self.members[key].roles if role != WITNESS or key in witnesses
        )

    def _member(self, key: PeerKey, roles: tuple[str, ...]) -> Member:
        rules = self.manifest.windows
        speed = windows.verified_speed(self.members[key].paces)
        train_ms, steps = self.manifest.rounds.train, self.manifest.inner.steps
        most = rules.first if self.standings.of(key) in UNPROVEN else rules.most
        mine = windows.share(speed, train_ms, rules.first, most, steps)
        share = mine if TRAINER in roles else 0
        return Member(peer=to_text(key), roles=roles, speed=speed, share=share)

    def _note_missed(self, key: PeerKey, verdict: Verdict, view: RoundView) -> None:
        """Who commits again and again to what nobody can fetch wastes everybody's time."""
        membership = self.members[key]
        if verdict is Verdict.NOT_SELECTED:
            membership.missed += 1
        elif verdict is not Verdict.SILENT:
            membership.missed = 0
        if membership.missed >= MISSED_ROUNDS and not self._rejoined(key, view):
            self.drop(key)

    def _drop_silent(self, view: RoundView) -> None:
        """Who said nothing that the round waited for leaves; `member.ready` brings it back."""
        for slot, member in enumerate(view.roster.members):
            if view.is_silent(slot) and not self._rejoined(member.key, view):
                self.drop(member.key)

    def _rejoined(self, key: PeerKey, view: RoundView) -> bool:
        """Whether the member said again that it is ready after this round's roster."""
        return self.members[key].said_ready > view.roster_index
