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

from tequio_ledger.sequencing.accuser import Accuser
from tequio_shared.coordination import Stopwatch, decide, due
from tequio_shared.errors import PeerError, RefusedError
from tequio_shared.limits import STATEMENT_LIFE_MS
from tequio_shared.run_states import State as RunState
from tequio_shared.statement import Entry, make, sign

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tequio_ledger.state import State
    from tequio_shared.coordination import Step
    from tequio_shared.ids import RunId
    from tequio_shared.keys import Signer
    from tequio_shared.run import FullRunView
    from tequio_shared.statements import Body

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
        self._watches: dict[RunId, Stopwatch] = {}
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
        watch = self._watches.setdefault(run, Stopwatch())
        try:
            watch.note(view, now_ms)
            step = decide(view, watch, now_ms)
            return None if step is None else self._deed(run, step, now_ms)
        except (RefusedError, PeerError) as err:
            log.exception("cannot decide on a run", run=run.hex(), code=type(err).__name__)
            self.back_off(run, now_ms)
            return None

    def _deed(self, run: RunId, step: Step, now_ms: int) -> Deed:
        entry = self.sign(step.body, now_ms, run, step.round)
        return Deed(run=run, entry=entry, document=step.document)

    def _due(self, run: RunId, view: FullRunView) -> int | None:
        return self._rested(run, due(view, self._watches.setdefault(run, Stopwatch())))

    def _rested(self, run: RunId | None, time: int | None) -> int | None:
        return None if time is None else max(time, self._resting_until.get(run, 0))

    def _active(self) -> Iterator[tuple[RunId, FullRunView]]:
        for run, view in self._state.runs.items():
            if view.state is not RunState.FINISHED:
                yield run, view
