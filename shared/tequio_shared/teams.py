"""Which team each key earns points for, as the key itself says; its last word counts.

A round pays the team in which the key is when that round closes. So points stay with the team that
they were earned for, whoever leaves it, and nobody brings any along. A team is its name and nothing
else: nobody owns one, and whoever says its name is in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_shared.errors import RefusedError

if TYPE_CHECKING:
    from tequio_shared.ids import PeerKey
    from tequio_shared.statements.members import MemberTeam


class Teams:
    """The team of each key; only `apply` changes it."""

    def __init__(self) -> None:
        self._team: dict[PeerKey, str] = {}  # of those that are in one

    def of(self, key: PeerKey) -> str:
        """The team of a key; empty: none."""
        return self._team.get(key, "")

    def apply(self, author: PeerKey, body: MemberTeam) -> None:
        """Apply a statement; raises RefusedError for one that changes nothing."""
        if body.team == self.of(author):
            what = f"is in the team {body.team}" if body.team else "is in no team"
            raise RefusedError("already-said", f"the key {what} already")
        if body.team:
            self._team[author] = body.team
        else:
            del self._team[author]
