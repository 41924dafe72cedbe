"""Points of a member in a run, and how long they can be lost (docs/protocol.md, vesting).

Rules. A commitment may give parts of its points to other keys. These are parts of one payment: they
vest and are forfeited with it, by what its author did and does, whatever their receivers do. So
points that are given away are neither safer nor sooner safe than those that are kept.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

from tequio_shared.ids import PeerKey
from tequio_shared.limits import VESTING

Given: TypeAlias = tuple[tuple[PeerKey, int], ...]
"""Keys that got a part of a payment, and their GFLOP."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnvestedPayment:
    """A payment that may still be lost; it waits since the member had `paid` and `earned`."""

    paid: int
    """Number of payments by then, and `earned` their sum."""
    earned: int
    round: int
    gflop: int
    """The member's own part."""
    needed: int
    """GFLOP that have to be earned later."""
    waits_again: bool = False
    """True if it waits from the beginning, since a later one was withheld."""
    given: Given = ()
    """Parts of others, by the keys that they had then."""


class Taken(NamedTuple):
    """Payments that wait no longer: GFLOP of the member, and those of others."""

    gflop: int
    given: Given


@dataclass(slots=True, kw_only=True)
class Vesting:
    """Payments for one kind of duty that may still be lost, the oldest first.

    Each is the member's to keep after `VESTING` further ones, with as many times its points. Its
    own duties are counted, not the rounds that go by: a cheat that leaves keeps nothing of what it
    came for. Their points too: else contributions of one window would vest what large ones earned.
    What it gave away counts as earned.
    """

    waiting: deque[UnvestedPayment] = field(default_factory=deque)
    paid: int = 0
    earned: int = 0
    """In all payments so far."""
    total: int = 0
    """The member's own parts of the waiting ones."""

    def pay(
        self, number: int, gflop: int, *, given: Given = (), needed: int | None = None
    ) -> Taken:
        """Add the payment of that round, and return what it vests.

        `needed` points have to follow; as many times as many as it has, if None.
        """
        whole = gflop + sum(amount for _, amount in given)
        self.paid, self.earned = self.paid + 1, self.earned + whole
        self.total += gflop
        self.waiting.append(
            UnvestedPayment(
                paid=self.paid,
                earned=self.earned,
                round=number,
                gflop=gflop,
                needed=VESTING * whole if needed is None else needed,
                given=given,
            )
        )
        return self._release()

    def _release(self) -> Taken:
        # Only those old enough are read: few, as each waits longer only if later ones are smaller.
        large: list[UnvestedPayment] = []
        vested: list[UnvestedPayment] = []
        while self.waiting[0].paid + VESTING <= self.paid:
            one = self.waiting.popleft()
            (large if self.earned - one.earned < one.needed else vested).append(one)
        self.waiting.extendleft(reversed(large))
        return self._taken(vested)

    def withdraw(self, number: int) -> Taken:
        """Take the payment of one round back."""
        taken = [one for one in self.waiting if one.round == number]
        self.waiting = deque(one for one in self.waiting if one.round != number)
        return self._taken(taken)

    def restart(self) -> None:
        """Let all payments wait from the beginning."""
        self.waiting = deque(
            replace(one, paid=self.paid, earned=self.earned, waits_again=True)
            for one in self.waiting
        )

    def take_restarted(self) -> Taken:
        """Take the payments that wait again: the run has ended, and those left vest."""
        taken = [one for one in self.waiting if one.waits_again]
        self.waiting = deque(one for one in self.waiting if not one.waits_again)
        return self._taken(taken)

    def take_all(self) -> Taken:
        taken = list(self.waiting)
        self.waiting.clear()
        return self._taken(taken)

    def _taken(self, payments: list[UnvestedPayment]) -> Taken:
        """Sum up payments that were just removed; a receiver's parts are one."""
        gflop, given = sum(one.gflop for one in payments), Counter[PeerKey]()
        for one in payments:
            for key, amount in one.given:
                given[key] += amount
        self.total -= gflop
        return Taken(gflop, tuple(given.items()))


@dataclass(slots=True, kw_only=True)
class MemberPoints:
    """GFLOP of a key in the run, without the forfeited ones.

    `trainer` and `witness` are for its own work, less what it gave away; `received` is from the
    work of others. Methods that return `Given` leave it to the caller to change the receivers'.
    """

    trainer: int = 0
    witness: int = 0
    received: int = 0
    forfeited: int = 0
    training: Vesting = field(default_factory=Vesting)
    witnessing: Vesting = field(default_factory=Vesting)
    received_unvested: int = 0
    """Part of `received` whose payments, which their authors hold, still wait."""
    seized: tuple[int, int] = (0, 0)
    """Forfeited at the last quarantine, as trainer and as witness."""
    seized_given: Given = ()
    """Parts of others that were forfeited with them."""

    @property
    def gflop(self) -> int:
        return self.trainer + self.witness + self.received

    @property
    def unvested(self) -> int:
        return self.training.total + self.witnessing.total + self.received_unvested

    def pay(self, number: int, trainer: int, witness: int, given: Given = ()) -> Given:
        """Pay what a round earned; returns what vests for others."""
        self.trainer, self.witness = self.trainer + trainer, self.witness + witness
        vested: Given = ()
        if trainer or given:
            vested = self.training.pay(number, trainer, given=given).given
        if witness:
            self.witnessing.pay(number, witness)
        return vested

    def take_round(self, number: int) -> Given:
        """Take back the payment for a contribution that could not be audited; others wait again.

        Returns what others lose.
        """
        lost = self.take_audit(number)
        self.training.restart()
        return lost

    def take_audit(self, number: int) -> Given:
        """Take back the payment of a round as trainer; returns what others lose."""
        taken = self.training.withdraw(number)
        self.trainer, self.forfeited = self.trainer - taken.gflop, self.forfeited + taken.gflop
        return taken.given

    def seize(self) -> Given:
        """Take all that has not vested, except what was received; returns what others lose."""
        training = self.training.take_all()
        self.seized = training.gflop, self.witnessing.take_all().gflop
        self.seized_given = training.given
        self.trainer, self.witness = self.trainer - self.seized[0], self.witness - self.seized[1]
        self.forfeited += sum(self.seized)
        return training.given

    def restore(self) -> Given:
        """Pay back what the last quarantine took, since it was wrong.

        Returns what others get back.
        """
        self.forfeited -= sum(self.seized)
        self.trainer, self.witness = self.trainer + self.seized[0], self.witness + self.seized[1]
        # As one payment it is many times as large as those that follow, so only these are counted.
        trained, witnessed = self.seized
        if trained or self.seized_given:
            self.training.pay(0, trained, given=self.seized_given, needed=0)
        if witnessed:
            self.witnessing.pay(0, witnessed, needed=0)
        regained, self.seized, self.seized_given = self.seized_given, (0, 0), ()
        return regained

    def vest(self) -> tuple[Given, Given]:
        """Let nothing wait any more: the run has ended.

        What waits again does not vest. Else a cheat that opens nothing would only have to last.
        Returns what others lose, and what vests for them.
        """
        lost = self.training.take_restarted()
        self.trainer, self.forfeited = self.trainer - lost.gflop, self.forfeited + lost.gflop
        self.witnessing.take_all()
        return lost.given, self.training.take_all().given

    def receive(self, gflop: int) -> None:
        """Add a part of another key's payment, or add it again."""
        self.received += gflop
        self.received_unvested += gflop

    def lose_received(self, gflop: int) -> None:
        """Forfeit parts of payments that their author lost."""
        self.received -= gflop
        self.received_unvested -= gflop
        self.forfeited += gflop
