"""The coordinator: decides which statement to log next, and signs it.

The network comes first: proven faults, and changes of standing that are due, because no roster and
no end of a run is admitted before those; then competitions whose next date has come; then each run.
What follows from the log, and when, is decided in `tequio_shared.network`. This module adds only
the key and the end of the coordinator's own chain; the time comes from the caller, the ledger or
the simulator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tequio_shared.errors import PeerError, RefusedError, TequioError
from tequio_shared.ids import PeerKey, RunId, to_text
from tequio_shared.keys import StatementSigner
from tequio_shared.limits import STATEMENT_BYTES, STATEMENT_LIFE_MS
from tequio_shared.network.conduct import read_fault
from tequio_shared.network.coordination import CoordinatorTimers, decide
from tequio_shared.network.full_run import FullRunView
from tequio_shared.network.run_states import RunState
from tequio_shared.network.standing import EXCLUDED
from tequio_shared.served.state import State
from tequio_shared.statements.network import FaultReport, LogSnapshot
from tequio_shared.statements.runs import RoundRoster, RunClose, WitnessProof, WorkCommit
from tequio_shared.statements.statement import Body, Entry, Statement, make, sign

FindLeaf = Callable[[PeerKey, int], bytes | None]
OnError = Callable[[RunId | None, TequioError], None]
"""Told why nothing could be signed about a run, or (None) about the network."""

WAITING = 256
"""Maximum number of waiting reports."""
_BACK_OFF_MS = 5_000
_ENVELOPE_BYTES = 1_024
"""Part of a statement that a report leaves for everything other than its leaves."""
_TWICE = "equivocation"
_UNPROVEN = "wrong-evidence"
_ABOUT_ROUNDS = frozenset({"already-said", "too-late", "wrong-role"})
_RULES = ("header-", "proof-")


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorStatement:
    """A signed statement to log now, and the document that it names.

    `run` is None for statements about the network.
    """

    run: RunId | None
    entry: Entry
    document: bytes | None = None


class Coordinator:
    """Follows network and runs; owned by the sequencer, which calls it between two entries."""

    def __init__(self, signer: StatementSigner, state: State, on_error: OnError) -> None:
        self._signer = signer
        self._on_error = on_error
        self._state = state
        self.fault_reporter = FaultReporter(state)
        self._timers: dict[RunId, CoordinatorTimers] = {}
        # By run, or None for the network: end of a pause, as after our own statement was refused.
        self._resting_until: dict[RunId | None, int] = {}
        self.snapshot: LogSnapshot | None = None
        """A snapshot that is stored and not named yet; set by the sequencer."""

    def next_statement(self, now_ms: int) -> CoordinatorStatement | None:
        """Sign the next statement that is due; None when there is none."""
        resting = self._resting_until
        if resting:
            for timers in self._timers.values():
                timers.due_at = None  # what waits for a pause is not late
        self._resting_until = {one: until for one, until in resting.items() if until > now_ms}
        signed = self._network_statement(now_ms)
        if signed is not None:
            return signed
        for run, view in self._active():
            if run not in self._resting_until:
                signed = self._decide(run, view, now_ms)
                if signed is not None:
                    return signed
        return None

    def due(self) -> int | None:
        """Give the time of the next statement (ms); None if only another entry can cause one."""
        times: dict[RunId | None, int | None] = {
            run: self._timers.setdefault(run, CoordinatorTimers()).expect(view)
            for run, view in self._active()
        }
        dates = self._state.standings.next_ms(), self._state.competitions.next_ms()
        times[None] = min((time for time in dates if time is not None), default=None)
        times.update(self._resting_until)
        return min((time for time in times.values() if time is not None), default=None)

    def back_off(self, run: RunId | None, now_ms: int) -> None:
        """Sign nothing about a run, or about the network, for a while."""
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

    def _network_statement(self, now_ms: int) -> CoordinatorStatement | None:
        if None in self._resting_until:
            return None
        state = self._state
        body = (
            self.fault_reporter.next()
            or state.standings.due(now_ms)
            or state.competitions.due(now_ms, self._signer.prove)
            or self._pop_snapshot()
        )
        if body is None:
            return None
        try:
            return CoordinatorStatement(run=None, entry=self.sign(body, now_ms, None, None))
        except RefusedError as err:
            # Strangers' statements lead here, so an error must not end the ledger: it is reported,
            # and the network pauses while the runs go on.
            self._on_error(None, err)
            self.back_off(None, now_ms)
            return None

    def _pop_snapshot(self) -> LogSnapshot | None:
        body, self.snapshot = self.snapshot, None
        is_due = body is not None and body.size in self._state.snapshots.due
        return body if is_due else None

    def _decide(self, run: RunId, view: FullRunView, now_ms: int) -> CoordinatorStatement | None:
        timers = self._timers.setdefault(run, CoordinatorTimers())
        try:
            timers.update(view, now_ms)
            step = decide(view, timers, now_ms, self._signer.prove)
            if step is None:
                return None
            if isinstance(step.body, RoundRoster | RunClose) and (
                self._state.standings.due(now_ms) is not None
            ):
                # That change waits for the end of the network's pause, and is admitted before this.
                self._resting_until[run] = self._resting_until[None]
                return None
            entry = self.sign(step.body, now_ms, run, step.round)
            return CoordinatorStatement(run=run, entry=entry, document=step.document)
        # A run whose documents are damaged pauses alone: the others must not stop with it.
        except (RefusedError, PeerError) as err:
            self._on_error(run, err)
            self.back_off(run, now_ms)
            return None

    def _active(self) -> Iterator[tuple[RunId, FullRunView]]:
        for run, view in self._state.runs.items():
            if view.state is not RunState.FINISHED:
                yield run, view


class FaultReporter:
    """Reports faults that refused statements prove; owned by the coordinator.

    Every statement that comes here carries verified signatures. `conduct.read_fault` alone decides
    what proves a fault; the code of the refusal only says where it is worth trying. Each author has
    at most one waiting report, and none while an earlier one awaits its consequence or the author
    is already excluded: an author who floods the ledger with faults is reported once.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self._waiting: dict[PeerKey, FaultReport] = {}

    def consider(self, entry: Entry, code: str, find_leaf: FindLeaf) -> None:
        """Queue a report if a statement that was refused with this code proves a fault.

        `find_leaf` gives the logged entry of an author under a number.
        """
        author = entry.statement.author
        # Most refusals are ordinary. These two checks keep them from costing a second verification.
        if not _may_prove_fault(entry.statement, code) or self._is_settled(author):
            return
        logged = find_leaf(author, entry.statement.seq) if code == _TWICE else None
        for report in _reports(entry, logged):
            if self._holds(report):
                self._waiting[author] = report
                return

    def next(self) -> FaultReport | None:
        """Remove and return a report that is still valid; None when there is none."""
        # Checked again: since it was queued, another report may have settled the author's case.
        while self._waiting:
            report = self._waiting.pop(next(iter(self._waiting)))
            if self._holds(report):
                return report
        return None

    def _is_settled(self, author: PeerKey) -> bool:
        if author in self._waiting or len(self._waiting) >= WAITING:
            return True
        if author == self._state.genesis.coordinator_key:
            return True  # it would report itself, and quarantine the key that runs the network
        record = self._state.standings.records.get(author)
        return record is not None and (record.standing in EXCLUDED or record.fault is not None)

    def _holds(self, report: FaultReport) -> bool:
        try:
            state = self._state
            fault = read_fault(report, state.net, state.round_of, state.documents)
            self._state.standings.admit_fault(fault)
        except RefusedError:
            return False
        return True


def _may_prove_fault(statement: Statement, code: str) -> bool:
    if code == _TWICE:
        return True
    if isinstance(statement.body, FaultReport):
        return code == _UNPROVEN and bool(statement.body.piece)
    about_work = isinstance(statement.body, WorkCommit | WitnessProof)
    return about_work and (code in _ABOUT_ROUNDS or code.startswith(_RULES))


def _reports(refused: Entry, logged: bytes | None) -> list[FaultReport]:
    """List the possible reports: on both leaves together, then on the refused one alone.

    A report too large for a statement is left out; the entry is refused all the same.
    """
    alone = (to_text(refused.leaf()),)
    body = refused.statement.body
    piece = body.piece if isinstance(body, FaultReport) else ""
    pairs = [] if logged is None else [(to_text(logged), *alone)]
    return [
        FaultReport(leaves=leaves, piece=piece if leaves == alone else "")
        for leaves in (*pairs, alone)
        if sum(map(len, leaves)) <= STATEMENT_BYTES - _ENVELOPE_BYTES
    ]
