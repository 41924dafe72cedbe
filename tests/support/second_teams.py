"""The rules of teams again, written from docs/protocol.md alone: slow, without the shared code.

The whole history is kept, and every question is answered by going through it again.
"""

from __future__ import annotations

from dataclasses import dataclass, field

HOLD = 2_592_000_000


@dataclass
class SecondTeams:
    """Statements are tuples; `admit` returns whether one is admitted."""

    history: list[tuple[int, int, str, tuple[object, ...]]] = field(default_factory=list)
    """Index, time, author and act of each admitted statement."""
    revoked: set[str] = field(default_factory=set)
    banned: set[str] = field(default_factory=set)
    """Withdrawn names."""

    def members(self, team: int) -> list[str]:
        """Keys of a team, the earliest first."""
        found: list[str] = []
        for index, _, author, act in self.history:
            if (act[0] == "found" and index == team) or (act[0] == "join" and act[1] == team):
                found.append(author)
            elif act[0] == "leave" and author in found:
                found.remove(author)
            elif act[0] == "remove" and act[1] in found:
                found.remove(str(act[1]))
            elif act[0] == "replace" and act[1] in found:
                found[found.index(str(act[1]))] = author
        return found

    def team_of(self, key: str) -> int:
        teams = [index for index, _, _, act in self.history if act[0] == "found"]
        return next((team for team in teams if key in self.members(team)), 0)

    def owner(self, team: int) -> str:
        """The last owner of a team; replays the history statement by statement."""
        replayed, owner = SecondTeams(), ""
        for one in self.history:
            index, _, author, act = one
            replayed.history.append(one)
            now = replayed.members(team)
            is_new = act[0] in ("join", "replace") and author in now
            if act[0] == "found" and index == team:
                owner = author
            elif act[0] == "hand" and author == owner:
                owner = str(act[1])
            elif act[0] == "revoke":
                replayed.revoked.add(author)
                if author == owner:
                    owner = next((key for key in now if key not in replayed.revoked), owner)
            elif is_new and owner in (*replayed.revoked, act[1]):
                owner = author
            elif act[0] == "leave" and author == owner and now:
                owner = next((key for key in now if key not in replayed.revoked), now[0])
        return owner

    def settings(self, team: int) -> tuple[object, ...]:
        """Name, invitation (key, end, most members) and goal of a team now."""
        found: tuple[object, ...] = ("", None, None)
        for index, _, _, act in self.history:
            if (act[0] == "found" and index == team) or (act[0] == "set" and act[1] == team):
                found = tuple(act[2:])
            elif act[0] == "withdraw" and act[1] == team:
                found = ("", *found[1:])
            elif (act[0] == "remove" and act[2] == team) or (
                act[0] in ("revoke", "replace") and team in act[-1:]
            ):
                found = (found[0], None, found[2])
        return found

    def ended(self, team: int) -> int:
        """When the last member left; 0 while there are some."""
        if self.members(team):
            return 0
        return max(ts for _, ts, _, act in self.history if act[0] == "leave" and act[1] == team)

    def admit(self, index: int, ts: int, author: str, act: tuple[object, ...]) -> bool:
        """Judge one statement, and record it if it is admitted."""
        if not self._is_right(ts, author, act):
            return False
        kind, own = act[0], self.team_of(author)
        if kind == "leave":
            act = ("leave", own)
        elif kind == "remove":
            act = ("remove", act[1], own)
        elif kind == "withdraw":
            self.banned.add(_form(str(self.settings(int(str(act[1])))[0])))
        elif kind == "revoke":
            self.revoked.add(author)
            act = (*act, own if own and self.owner(own) == author else 0)
        elif kind == "replace":
            led = self.team_of(str(act[1]))
            act = (*act, led if led and self.owner(led) == act[1] else 0)
        self.history.append((index, ts, author, act))
        return True

    def _is_right(self, ts: int, author: str, act: tuple[object, ...]) -> bool:
        own = self.team_of(author)
        match act:
            case ("found", _, name, _, _):
                return not own and self._may_found(author, ts) and self._is_free(str(name), ts)
            case ("set", team, *rest):
                is_owner = bool(own) and team == own and self.owner(own) == author
                return is_owner and self._may_set(own, tuple(rest), ts)
            case ("join", int(team), signers):
                return not own and self._may_join(team, ts, signers)
            case ("remove" | "hand" as kind, peer):
                is_owner = bool(own) and self.owner(own) == author
                is_member = is_owner and peer in self.members(own) and peer != author
                return is_member and (kind == "remove" or peer not in self.revoked)
            case ("withdraw", int(team)):
                return bool(self.settings(team)[0])
        return act[0] != "leave" or bool(own)

    def _may_set(self, team: int, wanted: tuple[object, ...], ts: int) -> bool:
        was, name = self.settings(team), str(wanted[0])
        if was == wanted:
            return False
        if was[0]:
            return _form(name) == _form(str(was[0]))
        return not name or self._is_free(name, ts)

    def _may_join(self, team: int, ts: int, signers: object) -> bool:
        members, invitation = self.members(team), self.settings(team)[1]
        if not members or not isinstance(invitation, tuple):
            return False
        key, until, most = invitation
        return bool(ts < until and signers == (key,) and len(members) < most)

    def _may_found(self, author: str, ts: int) -> bool:
        times = [at for _, at, one, act in self.history if self._founded(one, act, author)]
        return not times or ts - max(times) >= HOLD

    def _founded(self, one: str, act: tuple[object, ...], key: str) -> bool:
        formers = {key}
        for _, _, author, done in reversed(self.history):
            if done[0] == "replace" and author in formers:
                formers.add(str(done[1]))
        return act[0] == "found" and one in formers

    def _is_free(self, name: str, ts: int) -> bool:
        form = _form(name)
        if form in self.banned:
            return False
        for index, _, _, act in self.history:
            if act[0] != "found" or _form(str(self.settings(index)[0])) != form:
                continue
            ended = self.ended(index)
            if not ended or ts - ended < HOLD:
                return False
        return True


def _form(name: str) -> str:
    return name.lower().replace(" ", "").replace("-", "")
