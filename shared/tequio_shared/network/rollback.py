"""Going back to an earlier head: the head that is named, and the rounds that a run gives up.

Rules. Organisers of a paused run name a head that was promoted before; the next round starts from
it. Rounds keep their numbers, results and points, so the log says of every head what it was made
from, and only what the next head is made from changes. A later rollback may go to any promoted
head, also to one that an earlier rollback gave up. (docs/protocol.md, 9.2)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollback:
    """Where a run went back to an earlier head."""

    index: int
    """Log index of run.rollback."""
    head_round: int
    """Round of the head from which the next round starts."""
    last_round: int
    """The last round before it."""


class RollbackRounds(Protocol):
    """The rounds of a rollback, in the log's state or in an answer of the API."""

    @property
    def head_round(self) -> int: ...

    @property
    def last_round(self) -> int: ...


def lineage(rollbacks: Sequence[RollbackRounds], round_number: int) -> tuple[range, ...]:
    """Ranges of rounds that lead to what that round makes, void ones included; the newest first.

    `rollbacks` are those of the run, the oldest first. Costs O(rollbacks).
    """
    ranges, last = list[range](), round_number
    for one in reversed(rollbacks):
        if one.last_round < last:
            ranges.append(range(one.last_round + 1, last + 1))
            last = one.head_round
    return (*ranges, range(1, last + 1))


def is_given_up(rollbacks: Sequence[RollbackRounds], round_number: int, upto: int) -> bool:
    """Return whether the head after round `upto` is made without what that round made."""
    # Of the round to come: a rollback counts before any round has started from its head.
    kept = lineage(rollbacks, upto + 1)
    return 0 < round_number <= upto and not any(round_number in one for one in kept)
