"""Points of a member in a run, and how long they can be lost (docs/protocol.md, vesting)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace

from tequio_shared.limits import VESTING


@dataclass(frozen=True, slots=True, kw_only=True)
class UnvestedPayment:
    """A payment that may still be lost; it waits since the member had `paid` and `earned`."""

    paid: int
    """Number of payments by then, and `earned` their sum."""
    earned: int
    round: int
    gflop: int
    needed: int
    """GFLOP that have to be earned later."""
    waits_again: bool = False
    """True if it waits from the beginning, since a later one was withheld."""


@dataclass(slots=True, kw_only=True)
class Vesting:
    """Payments for one kind of duty that may still be lost, the oldest first.

    Each is the member's to keep after `VESTING` further ones, with as many times its points. Its
    own duties are counted, not the rounds that go by: a cheat that leaves keeps nothing of what it
    came for. Their points too: else contributions of one window would vest what large ones earned.
    """

    waiting: deque[UnvestedPayment] = field(default_factory=deque)
    paid: int = 0
    earned: int = 0
    """In all payments so far."""
    total: int = 0

    def pay(self, number: int, gflop: int, *, needed: int | None = None) -> None:
        """Add the payment of that round, and release what it vests.

        `needed` points have to follow; as many times as many as it has, if None.
        """
        self.paid, self.earned = self.paid + 1, self.earned + gflop
        self.total += gflop
        self.waiting.append(
            UnvestedPayment(
                paid=self.paid,
                earned=self.earned,
                round=number,
                gflop=gflop,
                needed=VESTING * gflop if needed is None else needed,
            )
        )
        self._release()

    def _release(self) -> None:
        # Only those old enough are read: few, as each waits longer only if later ones are smaller.
        large: list[UnvestedPayment] = []
        while self.waiting[0].paid + VESTING <= self.paid:
            one = self.waiting.popleft()
            if self.earned - one.earned < one.needed:
                large.append(one)
            else:
                self.total -= one.gflop
        self.waiting.extendleft(reversed(large))

    def withdraw(self, number: int) -> int:
        """Take the payment of one round back."""
        taken = sum(one.gflop for one in self.waiting if one.round == number)
        self.waiting = deque(one for one in self.waiting if one.round != number)
        self.total -= taken
        return taken

    def restart(self) -> None:
        """Let all payments wait from the beginning."""
        self.waiting = deque(
            replace(one, paid=self.paid, earned=self.earned, waits_again=True)
            for one in self.waiting
        )

    def take_restarted(self) -> int:
        """Take the payments that wait again, and let the others vest: the run has ended."""
        taken = sum(one.gflop for one in self.waiting if one.waits_again)
        self.take_all()
        return taken

    def take_all(self) -> int:
        taken, self.total = self.total, 0
        self.waiting.clear()
        return taken


@dataclass(slots=True, kw_only=True)
class MemberPoints:
    """GFLOP of a member in the run, `trainer` and `witness` without the forfeited ones."""

    trainer: int = 0
    witness: int = 0
    forfeited: int = 0
    training: Vesting = field(default_factory=Vesting)
    witnessing: Vesting = field(default_factory=Vesting)
    seized: tuple[int, int] = (0, 0)
    """Forfeited at the last quarantine, as trainer and as witness."""

    @property
    def unvested(self) -> int:
        return self.training.total + self.witnessing.total

    def pay(self, number: int, trainer: int, witness: int) -> None:
        """Pay what a round earned."""
        self.trainer, self.witness = self.trainer + trainer, self.witness + witness
        if trainer:
            self.training.pay(number, trainer)
        if witness:
            self.witnessing.pay(number, witness)

    def take_round(self, number: int) -> None:
        """Take back the payment for a contribution that could not be audited; others wait again."""
        self.take_audit(number)
        self.training.restart()

    def take_audit(self, number: int) -> None:
        """Take back the payment for an audit that was contradicted."""
        taken = self.training.withdraw(number)
        self.trainer, self.forfeited = self.trainer - taken, self.forfeited + taken

    def seize(self) -> None:
        """Take all that has not vested."""
        self.seized = self.training.take_all(), self.witnessing.take_all()
        self.trainer, self.witness = self.trainer - self.seized[0], self.witness - self.seized[1]
        self.forfeited += sum(self.seized)

    def restore(self) -> None:
        """Pay back what the last quarantine took, since it was wrong."""
        self.forfeited -= sum(self.seized)
        self.trainer, self.witness = self.trainer + self.seized[0], self.witness + self.seized[1]
        # As one payment it is many times as large as those that follow, so only these are counted.
        for kind, taken in zip((self.training, self.witnessing), self.seized, strict=True):
            if taken:
                kind.pay(0, taken, needed=0)
        self.seized = 0, 0

    def vest(self) -> None:
        """Let nothing wait any more: the run has ended.

        What waits again does not vest. Else a cheat that opens nothing would only have to last.
        """
        taken = self.training.take_restarted()
        self.trainer, self.forfeited = self.trainer - taken, self.forfeited + taken
        self.witnessing.take_all()
