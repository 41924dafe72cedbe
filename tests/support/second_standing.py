"""A second implementation of standing, owners and vesting, made from docs/protocol.md alone.

It shares nothing with the product. Section numbers are those of docs/protocol.md.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.support.second_draw import sha256, unbase64

if TYPE_CHECKING:
    pass

# section 16
CONTRADICTIONS = 2
STRIKE_ROUNDS = 20
VESTING = 64
NOT_DONE_CAUSE, CONTRADICTED_CAUSE, CONTRADICTIONS_CAUSE, WITHHELD_CAUSE = 14, 15, 16, 18
WITHHOLDINGS = 2
OUT = ("quarantined", "banned")


@dataclass
class Purse:
    """Points of one key in one run for one kind of duty (13.1)."""

    total: int = 0
    waiting: list[list[int]] = field(default_factory=list)
    """Round, points, later payments, their points and those needed, of what is unvested."""
    again: set[int] = field(default_factory=set)
    """Rounds whose points wait again."""

    @property
    def unvested(self) -> int:
        """Points that can be lost."""
        return sum(one[1] for one in self.waiting)

    def pay(self, number: int, points: int, times: int = VESTING) -> None:
        """Pay for a round; that many times the points have to follow."""
        for one in self.waiting:
            one[2] += 1
            one[3] += points
        self.waiting = [one for one in self.waiting if one[2] < VESTING or one[3] < one[4]]
        self.total += points
        self.waiting.append([number, points, 0, 0, times * points])

    def lose(self, number: int | None = None) -> int:
        """Lose what is unvested of a round, or of all."""
        lost = [one for one in self.waiting if number is None or one[0] == number]
        self.waiting = [one for one in self.waiting if one not in lost]
        points = sum(one[1] for one in lost)
        self.total -= points
        if number is None:
            self.again = set()
        return points

    def wait_anew(self) -> None:
        """Let everything unvested wait from the beginning."""
        for one in self.waiting:
            one[2] = one[3] = 0
            self.again.add(one[0])

    def end(self) -> int:
        """Let all vest but what waits again, which is lost."""
        lost = sum(one[1] for one in self.waiting if one[0] in self.again)
        self.waiting, self.again = [], set()
        self.total -= lost
        return lost


@dataclass
class Wallet:
    """Everything that a key earned in a run."""

    trainer: Purse = field(default_factory=Purse)
    witness: Purse = field(default_factory=Purse)
    forfeited: int = 0
    last_forfeit: tuple[int, int] = (0, 0)
    """Points that the last quarantine took, by kind."""


class Due(NamedTuple):
    """A change of standing that audits call for (9.10)."""

    key: bytes
    cause: int
    evidence: tuple[int, ...]


@dataclass
class Record:
    """The part of a key's standing that matters here."""

    standing: str = "newcomer"
    since: int = 0
    fault: tuple[int, ...] = ()
    audits: list[tuple[int, int]] = field(default_factory=list)
    """Report, and the `round.close` by which it was contradicted or 0."""
    judged: int = 0
    withheld: list[tuple[int, int]] = field(default_factory=list)
    """Number of judged contributions, and the `round.close` of a withholding."""
    is_revoked: bool = False

    def withholdings(self) -> list[int]:
        """The entries of the withholdings that count."""
        return [close for number, close in self.withheld if number > self.judged - STRIKE_ROUNDS]

    def contradictions(self) -> list[tuple[int, int]]:
        """The contradicted reports that count."""
        return [one for one in self.audits[-STRIKE_ROUNDS:] if one[1]]

    def due(self, key: bytes) -> Due | None:  # noqa: PLR0911 - one for each row
        """The first five rows of *Changes that follow*; of a revoked key, the first three."""
        if self.standing in OUT:
            return None
        if self.fault:
            return Due(key, NOT_DONE_CAUSE, self.fault)
        wrong = self.contradictions()
        if len(wrong) >= CONTRADICTIONS:
            return Due(key, CONTRADICTIONS_CAUSE, tuple(sorted(one for one, _ in wrong)[-16:]))
        kept = self.withholdings()
        if len(kept) >= WITHHOLDINGS:
            return Due(key, WITHHELD_CAUSE, tuple(sorted(set(kept))[-16:]))
        if self.is_revoked:
            return None
        later = [report for report, closed in wrong if closed > self.since]
        if self.standing in ("newcomer", "active") and later:
            return Due(key, CONTRADICTED_CAUSE, tuple(sorted(later)[-16:]))
        new = [close for close in kept if close > self.since]
        if self.standing in ("newcomer", "active") and new:
            return Due(key, WITHHELD_CAUSE, tuple(sorted(set(new))[-16:]))
        return None


class SecondOwners:
    """Owners of keys in one run (9.11), read from the leaves of a log."""

    def __init__(self) -> None:
        self.founders: set[bytes] = set()
        self._limits: dict[bytes, bytes] = {}  # run that an invitation names
        self._invited: dict[bytes, bytes] = {}
        self._revoked: set[bytes] = set()
        self._vouches: dict[tuple[bytes, bytes], tuple[int, bytes, int]] = {}
        self._places = 0

    def read(self, leaf: bytes, statement: dict[str, Any]) -> None:
        """Continue with one entry."""
        body, ts = statement["body"], statement["ts"]
        author = unbase64(statement["author"])
        match statement["type"]:
            case "net.genesis":
                document = json.loads(unbase64(body["doc"]))
                named = (document["coordinator"], *document["organisers"])
                self.founders = {unbase64(one) for one in named}
            case "invite.open":
                self._limits[unbase64(body["invitation"])] = unbase64(body["run"])
            case "invite.revoke":
                self._revoked.add(unbase64(body["invitation"]))
            case "key.register" if leaf[1] == 2:
                self._invited[author] = leaf[98:130]
            case "role.revoke":
                gone = unbase64(body["peer"])
                self._vouches = {at: one for at, one in self._vouches.items() if at[1] != gone}
            case "member.vouch":
                self._vouch(author, body, ts)

    def owner(self, key: bytes, run: bytes, ts: int) -> bytes:
        """The owner of a key in a run at that time (ms)."""
        invitation = self._invited.get(key)
        if key in self.founders:
            return key
        is_open = invitation is not None and invitation not in self._revoked
        if invitation is not None and is_open and self._limits[invitation] in (b"", run):
            return invitation
        valid = [one for (peer, _), one in self._vouches.items() if peer == key and one[2] > ts]
        return min(valid)[1] if valid else key

    def _vouch(self, author: bytes, body: dict[str, Any], ts: int) -> None:
        peer = unbase64(body["peer"])
        former = self._vouches.pop((peer, author), None)
        if body["until"] <= ts:
            return
        owner = sha256(b"tequio/v1/owner\0", author, unbase64(body["owner"]))
        self._places += 1
        is_renewal = former is not None and former[1] == owner and ts < former[2]
        place = former[0] if former is not None and is_renewal else self._places
        self._vouches[peer, author] = place, owner, body["until"]
