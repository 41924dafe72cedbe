"""Who is in a run, at which verified speed, with which windows left and which points earned.

The part of a run's view that needs the whole history. Pure: only `RunView` changes it, entry by
entry, so that everybody who replays the log holds the same accounts.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tequio_shared import windows
from tequio_shared.documents import TRAINER, Member, Roster
from tequio_shared.ids import Digest, PeerKey, to_text
from tequio_shared.limits import SPEED_ROUNDS
from tequio_shared.windows import WindowQueue

if TYPE_CHECKING:
    from tequio_shared.documents import Result
    from tequio_shared.manifest import Manifest
    from tequio_shared.round import RoundView


@dataclass(slots=True, kw_only=True)
class Standing:
    """One member of the run."""

    roles: tuple[str, ...]
    commit: Digest  # SHA-256 of the secret that its next head.attest reveals
    ready_index: int  # log index of the member.ready that made it active: the order of slots
    said_ready: int  # log index of its last member.ready
    is_active: bool = True
    paces: list[tuple[int, int]] = field(default_factory=list)  # accepted (windows, ms)


@dataclass(slots=True, kw_only=True)
class Earned:
    """Micro-points of one member in this run."""

    trainer: int = 0
    witness: int = 0


@dataclass(slots=True, kw_only=True)
class Accounts:
    """Members, windows and points of one run."""

    manifest: Manifest
    members: dict[PeerKey, Standing] = field(default_factory=dict)
    queue: WindowQueue = field(default_factory=WindowQueue)
    earned: dict[PeerKey, Earned] = field(default_factory=lambda: defaultdict(Earned))
    tokens: int = 0

    def ready(self, key: PeerKey, roles: tuple[str, ...], commit: Digest, index: int) -> None:
        """The member can be in the next roster."""
        known = self.members.get(key)
        if known is None:
            self.members[key] = Standing(
                roles=roles, commit=commit, ready_index=index, said_ready=index
            )
            return
        known.roles, known.commit, known.said_ready = roles, commit, index
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

    def next_in(self) -> list[PeerKey]:
        """The members of the next roster, by slot."""
        return self.active()[: self.manifest.rounds.most_members]

    def count_next(self, role: str) -> int:
        """How many members of the next roster have the role."""
        return sum(role in self.members[key].roles for key in self.next_in())

    def plan_roster(self) -> Roster:
        """The roster that follows from the log so far; does not touch the queue."""
        members = tuple(self._member(key) for key in self.next_in())
        pool, _ = self.queue.take(sum(member.share for member in members))
        return Roster(members=members, pool=pool)

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
        self.tokens += sum(one.header.tokens for one in accepted.values())
        self.queue = self.queue.give_back(view.unfinished(accepted))
        self._drop_silent(view)

    def void(self, view: RoundView) -> None:
        """A void round: all its windows go back; only silence has a consequence."""
        self.queue = self.queue.give_back(view.unfinished({}))
        self._drop_silent(view)

    def _member(self, key: PeerKey) -> Member:
        standing, rules = self.members[key], self.manifest.windows
        speed = windows.verified_speed(standing.paces)
        train_ms, steps = self.manifest.rounds.train, self.manifest.inner.steps
        mine = windows.share(speed, train_ms, rules.first, rules.most, steps)
        return Member(
            peer=to_text(key),
            roles=standing.roles,
            speed=speed,
            share=mine if TRAINER in standing.roles else 0,
        )

    def _drop_silent(self, view: RoundView) -> None:
        """Who said nothing that the round waited for leaves; `member.ready` brings it back."""
        for slot, member in enumerate(view.roster.members):
            if view.is_silent(slot) and not self._rejoined(member.key, view):
                self.drop(member.key)

    def _rejoined(self, key: PeerKey, view: RoundView) -> bool:
        """Whether the member said again that it is ready after this round's roster."""
        return self.members[key].said_ready > view.roster_index
