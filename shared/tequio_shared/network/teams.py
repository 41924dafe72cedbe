"""Teams: a key founds one, its owner invites, and rounds pay the team in which a key is.

Rules. A team is known by the log index of the statement that founded it. Its owner alone sets its
invitation and its goal, removes members and hands the team over. A key is in one team at most, and
joins with a statement that the invitation signs too; the invitation ends with the next one, with
its time, and with the removal of a member, who has its link. A round pays the team in which the key
is when the round closes: points stay with the team that they were earned for.

A team is never without an owner while it has members. An owner that leaves is followed by the
member that joined first, and so is one whose key is revoked, which stays a member. A successor has
the place of the key that it replaced, and owns the team if nobody else in it can sign. A team
without members has ended: its name stays reserved for a while, and nobody can join it.

Pure. A statement costs O(1), or O(members) where a member goes or is replaced.
(docs/protocol.md, teams)
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from tequio_shared.errors import RefusedError
from tequio_shared.ids import PeerKey, key_from_text, to_text
from tequio_shared.limits import NAME_HOLD_MS
from tequio_shared.names import NameRegistry, days, same_as
from tequio_shared.network.key_links import KeyLinks
from tequio_shared.statements.network import TeamDefine, TeamMember


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamInvitation:
    key: PeerKey
    until: int
    """Milliseconds since 1970."""
    most: int
    """The invitation admits nobody while the team has this many members."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamGoal:
    gflop: int
    since: int
    """When it was set, milliseconds since 1970; so is `until`."""
    until: int
    reached: int = 0
    """GFLOP that rounds paid since then, until its end."""


@dataclass(slots=True, kw_only=True)
class TeamRecord:
    """One team; `Teams` alone writes it."""

    name: str
    """Empty: organisers withdrew it."""
    founded: int
    """Milliseconds since 1970."""
    owner: PeerKey
    members: dict[PeerKey, int]
    """Log index of each one's joining, the earliest first."""
    invitation: TeamInvitation | None = None
    goal: TeamGoal | None = None
    ended: int = 0
    """When the last member left, milliseconds since 1970; 0: it has members."""
    earned: dict[PeerKey, int] = field(default_factory=dict)
    """GFLOP that rounds paid each key for the team; it may have left since."""


@dataclass(slots=True)
class Teams:
    """The teams of a network, and in which one each key is."""

    links: KeyLinks = field(default_factory=KeyLinks)  # the network's
    names: NameRegistry = field(default_factory=NameRegistry)  # the network's
    records: dict[int, TeamRecord] = field(default_factory=dict)
    """By log index of the statement that founded the team."""
    _forms: dict[str, int] = field(default_factory=dict)
    """The team that has or had a name, by the form in which names are compared."""
    _founded: dict[PeerKey, int] = field(default_factory=dict)
    """When each key last founded a team, milliseconds since 1970."""
    _changes: dict[PeerKey, list[tuple[int, int]]] = field(default_factory=dict)
    """Log index, ascending, and the team from there on."""

    def of(self, key: PeerKey) -> int:
        """Team of a key, or 0; a key that was replaced has none."""
        changes = self._changes.get(key)
        return changes[-1][1] if changes and key not in self.links.replaced else 0

    def ever_of(self, key: PeerKey) -> Iterator[int]:
        """The teams in which a key is or was, with repetitions; O(its changes)."""
        return (team for _, team in self._changes.get(key, ()) if team)

    def at(self, key: PeerKey, index: int) -> int:
        """Team of the holder of a key when the entry at an index was logged, or 0; a bisection."""
        changes = self._changes.get(self.links.holder_at(key, index), [])
        last = bisect_left(changes, index, key=lambda one: one[0])
        return changes[last - 1][1] if last else 0

    def name_of(self, team: int) -> str:
        """Name of a team, or what it is called without one."""
        record = self.records.get(team)
        return record.name if record is not None and record.name else f"Team {team}"

    def named(self, name: str) -> int:
        """The team that has a name, or had it last, however it is spelt; 0 for none."""
        return self._forms.get(same_as(name), 0)

    def define(self, index: int, ts: int, author: PeerKey, body: TeamDefine) -> None:
        """Apply team.define; raises RefusedError."""
        invitation = goal = None
        if body.invitation:
            key = key_from_text(body.invitation)
            invitation = TeamInvitation(key=key, until=body.until, most=body.most)
        if body.goal:
            goal = TeamGoal(gflop=body.goal, since=ts, until=body.goal_until)
        if not body.team:
            self._found(index, ts, author, body.name, invitation, goal)
            return
        record = self._owned_by(author, body.team)
        old = record.goal
        if goal and old and (goal.gflop, goal.until) == (old.gflop, old.until):
            goal = old
        now = record.name, record.invitation, record.goal
        if now == (body.name, invitation, goal):
            raise RefusedError("already-said", "the team has this name, join link and goal already")
        self._rename(body.team, record, body.name, ts)
        record.invitation, record.goal = invitation, goal

    def join(
        self, index: int, ts: int, author: PeerKey, team: int, signers: tuple[PeerKey, ...]
    ) -> None:
        """Add the author to a team; `signers` are the further ones. Raises RefusedError."""
        self._check_free_key(author)
        record = self._running(team)
        invitation = record.invitation
        if invitation is None or ts >= invitation.until:
            raise RefusedError(
                "invitation-ended",
                "the team's join link has expired or was closed: ask the owner for a new one",
            )
        if signers != (invitation.key,):
            raise RefusedError(
                "wrong-invitation",
                "the team's present invitation did not sign: ask the owner for the present link",
            )
        if len(record.members) >= invitation.most:
            raise RefusedError(
                "invitation-spent",
                f"the team has {len(record.members)} members, and the link admits no more",
            )
        record.members[author] = index
        if self.links.is_ended(record.owner):
            record.owner = author
        self._change(index, author, team)

    def leave(self, index: int, ts: int, author: PeerKey, signers: tuple[PeerKey, ...]) -> None:
        """Take the author out of its team; raises RefusedError."""
        if signers:
            raise RefusedError("wrong-invitation", "nobody else signs when a key leaves a team")
        team = self.of(author)
        if not team:
            raise RefusedError("already-said", "the key is in no team")
        self._drop(index, ts, author, self.records[team])

    def change_member(self, index: int, ts: int, author: PeerKey, body: TeamMember) -> None:
        """Apply team.member; raises RefusedError."""
        record, peer = self._owned_by(author, self.of(author)), key_from_text(body.peer)
        if peer not in record.members:
            raise RefusedError("wrong-team", f"key {body.peer} is not a member of the team")
        if peer == author:
            raise RefusedError(
                "wrong-team", "the owner can leave the team, but not remove or appoint itself"
            )
        if body.to == "removed":
            # It has the link, and would come back with it.
            record.invitation = None
            self._drop(index, ts, peer, record)
        else:
            self.links.check(peer)
            record.owner = peer

    def withdraw(self, team: int) -> None:
        """Take the name from a team; raises RefusedError if it has none."""
        record = self.records.get(team)
        if record is None or not record.name:
            raise RefusedError("not-found", f"entry {team} founded no team that has a name")
        form = same_as(record.name)
        self.names.withdrawn.add(form)
        if self._forms.get(form) == team:
            del self._forms[form]
        record.name = ""

    def replace(self, index: int, former: PeerKey, successor: PeerKey) -> None:
        """Put a successor in the place of its former key."""
        if former in self._founded:
            self._founded[successor] = self._founded.pop(former)
        team = self.at(former, index)
        if not team:
            return
        record = self.records[team]
        # Rebuilt, so that the successor has the place and not the end of the list.
        record.members = {
            successor if key == former else key: since for key, since in record.members.items()
        }
        if record.owner == former:
            record.owner = successor
            record.invitation = None  # a thief of the former key could derive the link's
        elif self.links.is_ended(record.owner):
            record.owner = successor  # nobody else in it can sign
        self._changes[successor] = [(index, team)]

    def revoke(self, key: PeerKey) -> None:
        """Pass on the team of a revoked key: it can sign nothing more, but may be replaced."""
        team = self.of(key)
        if team and self.records[team].owner == key:
            self.records[team].invitation = None  # a thief of the key could derive the link's
            self._pass_on(self.records[team])

    def pay(self, index: int, ts: int, key: PeerKey, gflop: int) -> None:
        """Count what a round that closes with that entry pays a key for its team."""
        team = self.at(key, index)
        if not team or not gflop:
            return
        record = self.records[team]
        record.earned[key] = record.earned.get(key, 0) + gflop
        goal = record.goal
        if goal is not None and ts <= goal.until:
            record.goal = replace(goal, reached=goal.reached + gflop)

    def _found(
        self,
        index: int,
        ts: int,
        author: PeerKey,
        name: str,
        invitation: TeamInvitation | None,
        goal: TeamGoal | None,
    ) -> None:
        self._check_free_key(author)
        # Otherwise one key could take any number of names, one after another.
        wait_ms = self._founded.get(author, ts - NAME_HOLD_MS) + NAME_HOLD_MS - ts
        if wait_ms > 0:
            raise RefusedError(
                "name-held",
                f"the key founded a team recently: it can found another in {days(wait_ms)}",
            )
        self._check_free_name(name, ts)
        self.records[index] = TeamRecord(
            name=name,
            founded=ts,
            owner=author,
            members={author: index},
            invitation=invitation,
            goal=goal,
        )
        self._forms[same_as(name)] = index
        self._founded[author] = ts
        self._change(index, author, index)

    def _rename(self, team: int, record: TeamRecord, name: str, ts: int) -> None:
        """Change the spelling of a name, or choose one after a withdrawal."""
        if name == record.name:
            return
        form = same_as(name)
        if record.name and form != same_as(record.name):
            raise RefusedError("name-held", f"a team keeps its name, which is {record.name!r}")
        if not record.name:
            self._check_free_name(name, ts)
        self._forms[form] = team
        record.name = name

    def _drop(self, index: int, ts: int, key: PeerKey, record: TeamRecord) -> None:
        del record.members[key]
        self._change(index, key, 0)
        if not record.members:
            record.ended, record.invitation, record.goal = ts, None, None
        elif record.owner == key:
            record.owner = next(iter(record.members))
            if self.links.is_ended(record.owner):
                self._pass_on(record)

    def _pass_on(self, record: TeamRecord) -> None:
        """Make the member that joined first the owner, if any can still sign."""
        able = (key for key in record.members if not self.links.is_ended(key))
        record.owner = next(able, record.owner)

    def _change(self, index: int, key: PeerKey, team: int) -> None:
        self._changes.setdefault(key, []).append((index, team))

    def _running(self, team: int) -> TeamRecord:
        record = self.records.get(team)
        if record is None:
            raise RefusedError("wrong-team", f"entry {team} did not found a team")
        if record.ended:
            raise RefusedError("wrong-team", f"the team {self.name_of(team)!r} has ended")
        return record

    def _owned_by(self, author: PeerKey, team: int) -> TeamRecord:
        record = self._running(team) if team else None
        if record is None or record.owner != author:
            raise RefusedError("wrong-team", "only the owner of the team can do this")
        return record

    def _check_free_key(self, author: PeerKey) -> None:
        team = self.of(author)
        if team:
            raise RefusedError(
                "wrong-team", f"the key is in the team {self.name_of(team)!r}: leave it first"
            )

    def _check_free_name(self, name: str, ts: int) -> None:
        form = same_as(name)
        self.names.check_allowed(form, name)
        holder = self._forms.get(form)
        if holder is None:
            return
        record = self.records[holder]
        if not record.ended:
            raise RefusedError(
                "name-taken",
                f"the name {name!r} is taken: the team of key {to_text(record.owner)} is called "
                f"{record.name!r}; choose another one",
            )
        left_ms = record.ended + NAME_HOLD_MS - ts
        if left_ms > 0:
            raise RefusedError(
                "name-held",
                f"the name {name!r} belonged to a team that ended and is reserved for "
                f"{days(left_ms)} more; choose another one",
            )
