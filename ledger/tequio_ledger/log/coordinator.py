"""Says what is to be logged next, in the coordinator's own signed statements.

The network comes first: faults that are proven, and changes of standing that are due, for no
roster is admitted before those; then competitions whose next date has come. Then comes each run.
What follows from the log, and when it is time for it, is decided in `tequio_shared`; here are only
the clock readings, the key, and the end of the coordinator's own chain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from tequio_shared.errors import PeerError, RefusedError
from tequio_shared.ids import to_text
from tequio_shared.limits import STATEMENT_BYTES, STATEMENT_LIFE_MS
from tequio_shared.network.conduct import read_fault
from tequio_shared.network.coordination import CoordinatorTimers, decide, due
from tequio_shared.network.run import RunState
from tequio_shared.network.standing import EXCLUDED
from tequio_shared.statements.network import FaultReport
from tequio_shared.statements.runs import WitnessProof, WorkCommit
from tequio_shared.statements.statement import Entry, make, sign

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tequio_ledger.state import State
    from tequio_shared.ids import PeerKey, RunId
    from tequio_shared.keys import Signer
    from tequio_shared.network.coordination import CoordinatorStep
    from tequio_shared.network.run import FullRunView
    from tequio_shared.statements.statement import Body, Statement

# --- Looks at refused statements for faults that they prove, and words the reports of them.
#
# Rules. Every statement that comes here carries signatures that were verified. What proves a
# fault is `evidence.read_fault`'s affair alone; the code of the refusal only says where it is
# worth looking. Of each author one report waits at most, and none while an earlier one awaits its
# consequence or the author is outside already: who floods the ledger with faults is told of once.

if TYPE_CHECKING:
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
        return record is not None and (record.standing in EXCLUDED or record.fault is not None)

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


_BACK_OFF_MS = 5_000

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """A signed statement to log now, and the document that it names; no run: the network's."""

    run: RunId | None
    entry: Entry
    document: bytes | None = None


class Coordinator:
    """Watches network and runs; belongs to the sequencer, which calls it between two entries."""

    def __init__(self, signer: Signer, state: State) -> None:
        self._signer = signer
        self._state = state
        self.accuser = Accuser(state)
        self._watches: dict[RunId, CoordinatorTimers] = {}
        # Runs, and with None the network, whose statement was refused: our bug.
        self._resting_until: dict[RunId | None, int] = {}

    def next_deed(self, now_ms: int) -> Deed | None:
        """Decide on the next statement; None when there is nothing to say now."""
        deed = self._network_deed(now_ms)
        if deed is not None:
            return deed
        for run, view in self._active():
            if self._resting_until.get(run, 0) > now_ms:
                continue
            deed = self._decide(run, view, now_ms)
            if deed is not None:
                return deed
        return None

    def due(self) -> int | None:
        """Say when time alone may bring the next statement (ms); None: only another entry can."""
        times = [self._due(run, view) for run, view in self._active()]
        times.append(self._rested(None, self._state.standings.next_ms()))
        times.append(self._rested(None, self._state.competitions.next_ms()))
        return min((time for time in times if time is not None), default=None)

    def back_off(self, run: RunId | None, now_ms: int) -> None:
        """Leave a run, or the network's standings, alone for a while."""
        self._resting_until[run] = now_ms + _BACK_OFF_MS

    def sign(self, body: Body, now_ms: int, run: RunId | None, number: int | None) -> Entry:
        """Sign a statement at the end of the coordinator's chain."""
        chain = self._state.peers[self._signer.key]
        statement = make(
            body=body,
            author=self._signer.key,
            seq=chain.seq + 1,
            ts=now_ms,
            exp=now_ms + STATEMENT_LIFE_MS,
            prev=chain.last,
            run=run,
            round=number,
        )
        return sign(self._state.net, statement, self._signer)

    def _network_deed(self, now_ms: int) -> Deed | None:
        """A report of a fault, a change of standing, or the next step of a competition."""
        if self._resting_until.get(None, 0) > now_ms:
            return None
        state = self._state
        body = self.accuser.next() or state.standings.due(now_ms) or state.competitions.due(now_ms)
        if body is None:
            return None
        try:
            return Deed(run=None, entry=self.sign(body, now_ms, None, None))
        except RefusedError:  # nothing that a stranger says may end the ledger
            log.exception("cannot speak of the network", type=body.TYPE)
            self.back_off(None, now_ms)
            return None

    def _decide(self, run: RunId, view: FullRunView, now_ms: int) -> Deed | None:
        """One run's next statement; a run that nothing can be said of must not stop the others."""
        watch = self._watches.setdefault(run, CoordinatorTimers())
        try:
            watch.update(view, now_ms)
            step = decide(view, watch, now_ms)
            return None if step is None else self._deed(run, step, now_ms)
        except (RefusedError, PeerError) as err:
            log.exception("cannot decide on a run", run=run.hex(), code=type(err).__name__)
            self.back_off(run, now_ms)
            return None

    def _deed(self, run: RunId, step: CoordinatorStep, now_ms: int) -> Deed:
        entry = self.sign(step.body, now_ms, run, step.round)
        return Deed(run=run, entry=entry, document=step.document)

    def _due(self, run: RunId, view: FullRunView) -> int | None:
        return self._rested(run, due(view, self._watches.setdefault(run, CoordinatorTimers())))

    def _rested(self, run: RunId | None, time: int | None) -> int | None:
        return None if time is None else max(time, self._resting_until.get(run, 0))

    def _active(self) -> Iterator[tuple[RunId, FullRunView]]:
        for run, view in self._state.runs.items():
            if view.state is not RunState.FINISHED:
                yield run, view
