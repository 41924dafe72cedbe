"""Members of teams by what they earned for their team, kept in order while entries are applied.

A page of a team costs as much as it has rows, however large the team is. The order of a team is
made at the first request for it, O(n log n) in its members and in the keys that ever earned for it,
and then follows each statement that changes it: a bisection, and moving at most `TEAM_MEMBERS`
references. It follows from the state, so no snapshot has it.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from tequio_shared.ids import PeerKey, key_from_text
from tequio_shared.network import conduct
from tequio_shared.statements.network import KeyReplace, KeyRevoke, MemberTeam, TeamMember

if TYPE_CHECKING:
    from tequio_shared.network_view import NetworkView
    from tequio_shared.statements.statement import Statement


class TeamOrder:
    """One team's members, the best first; equals in the order in which they joined."""

    def __init__(self, view: NetworkView, team: int) -> None:
        self._view, self._team = view, team
        self.gflop = 0
        """Paid for the team to keys that are not restricted, members or not."""
        self._paid: dict[PeerKey, int] = {}
        record = view.teams.records[team]
        holders = map(view.links.holder, record.earned)
        for key in dict.fromkeys((*record.members, *holders)):
            self._count(key)
        self._place_of = {key: self._place(key, since) for key, since in record.members.items()}
        self._places = sorted(self._place_of.values())

    def page(self, after: int, limit: int) -> Iterator[tuple[PeerKey, int, int]]:
        """Key, log index of its joining and GFLOP of the members after a rank."""
        for owed, since, key in islice(self._places, after, after + limit):
            yield key, since, -owed

    def update(self, key: PeerKey) -> None:
        """Follow a change of one key: of its membership, points, standing or successor."""
        self._count(key)
        former = self._place_of.pop(key, None)
        if former is not None:
            del self._places[bisect_left(self._places, former)]
        since = self._view.teams.records[self._team].members.get(key)
        if since is not None:
            self._place_of[key] = self._place(key, since)
            insort(self._places, self._place_of[key])

    def _place(self, key: PeerKey, since: int) -> tuple[int, int, PeerKey]:
        return -self._paid.get(key, 0), since, key

    def _count(self, key: PeerKey) -> None:
        """Sum up what was paid to a key and to those whose account it has now."""
        links, earned = self._view.links, self._view.teams.records[self._team].earned
        paid = 0
        # Part of what a restricted key earned is forfeited; a successor has that of former keys.
        if key not in links.replaced and not self._view.standings.is_restricted(key):
            paid = sum(earned.get(one, 0) for one in links.line_of(key))
        self.gflop += paid - self._paid.get(key, 0)
        self._paid[key] = paid


class TeamOrders:
    """The orders of the teams that somebody asked for."""

    def __init__(self, view: NetworkView) -> None:
        self._view = view
        self._orders: dict[int, TeamOrder] = {}

    def of(self, team: int) -> TeamOrder:
        """The order of a founded team."""
        if team not in self._orders:
            self._orders[team] = TeamOrder(self._view, team)
        return self._orders[team]

    def follow(self, statement: Statement) -> None:
        """Follow a statement that was applied; rounds are followed by `update`."""
        match statement.body:
            case MemberTeam():
                self.update(statement.author)
            case TeamMember(peer=peer) | KeyRevoke(peer=peer):
                self.update(key_from_text(peer))
            case KeyReplace(former=former):
                self.update(key_from_text(former))
                self.update(statement.author)
            case _:
                key = conduct.subject(statement)
                if key is not None:
                    self.update(key)

    def update(self, key: PeerKey) -> None:
        """Follow a change of one key in every team in which it, or a former key of it, ever was."""
        view = self._view
        teams = {team for one in view.links.line_of(key) for team in view.teams.ever_of(one)}
        for team in teams & self._orders.keys():
            self._orders[team].update(key)
