"""Looks at refused statements for faults that they prove, and words the reports of them.

Rules. Every statement that comes here carries signatures that were verified. What proves a fault
is `evidence.read_fault`'s affair alone; the code of the refusal only says where it is worth
looking. Of each author one report waits at most, and none while an earlier one awaits its
consequence or the author is outside already: who floods the ledger with faults is told of once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_shared.errors import RefusedError
from tequio_shared.evidence import read_fault
from tequio_shared.ids import to_text
from tequio_shared.limits import STATEMENT_BYTES
from tequio_shared.standing import OUTSIDE
from tequio_shared.statements.rounds import WitnessProof, WorkCommit
from tequio_shared.statements.standing import FaultReport

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_ledger.state import State
    from tequio_shared.ids import PeerKey
    from tequio_shared.statement import Entry, Statement

    FindLeaf = Callable[[PeerKey, int], bytes | None]

WAITING = 256
"""Most reports that wait."""
_ENVELOPE_BYTES = 1_024
"""Room that a report leaves for everything in its statement but the leaves."""
_TWICE = "equivocation"
_ABOUT_ROUNDS = frozenset({"already-said", "too-late", "wrong-role"})
_RULES = ("header-", "proof-")


class Accuser:
    """Keeps reports until the coordinator says them; owned by the coordinator."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._waiting: dict[PeerKey, FaultReport] = {}

    def look(self, entry: Entry, code: str, find_leaf: FindLeaf) -> None:
        """Keep a report if a statement that was refused with this code proves a fault.

        `find_leaf` gives the logged entry of an author under a number.
        """
        author = entry.statement.author
        if not _is_worth_looking(entry.statement, code) or self._is_settled(author):
            return
        logged = find_leaf(author, entry.statement.seq) if code == _TWICE else None
        for report in _reports(entry.leaf(), logged):
            if self._holds(report):
                self._waiting[author] = report
                return

    def next(self) -> FaultReport | None:
        """Give a report that still holds, and forget it; None when there is none."""
        while self._waiting:
            report = self._waiting.pop(next(iter(self._waiting)))
            if self._holds(report):
                return report
        return None

    def _is_settled(self, author: PeerKey) -> bool:
        if author in self._waiting or len(self._waiting) >= WAITING:
            return True
        if author == self._state.genesis.coordinator_key:
            return True
        record = self._state.standings.records.get(author)
        return record is not None and (record.standing in OUTSIDE or record.fault is not None)

    def _holds(self, report: FaultReport) -> bool:
        try:
            fault = read_fault(report, self._state.net, self._state.round_of)
            self._state.standings.admit_fault(fault)
        except RefusedError:
            return False
        return True


def _is_worth_looking(statement: Statement, code: str) -> bool:
    if code == _TWICE:
        return True
    about_work = isinstance(statement.body, WorkCommit | WitnessProof)
    return about_work and (code in _ABOUT_ROUNDS or code.startswith(_RULES))


def _reports(refused: bytes, logged: bytes | None) -> list[FaultReport]:
    """Word what both may prove together, and then what the refused one proves alone.

    What is too large for a statement cannot be told; it stays refused.
    """
    alone = (to_text(refused),)
    pairs = [] if logged is None else [(to_text(logged), *alone)]
    return [
        FaultReport(leaves=leaves)
        for leaves in (*pairs, alone)
        if sum(map(len, leaves)) <= STATEMENT_BYTES - _ENVELOPE_BYTES
    ]
