"""A worker that records its commands behind the real control server, for tests of callers."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, cast

import trio
import trio.lowlevel

from tequio_client.control_socket import WorkerCall
from tequio_client.ipc.control import AskDiagnostics, DiagnosticsReply
from tequio_client.ipc.points import AskPoints, PointsReply
from tequio_client.ipc.preferences import Preferences
from tequio_client.ipc.snapshot import (
    UNDECIDED,
    CurrentRoundView,
    DesiredState,
    LedgerView,
    PointsView,
    ReachabilityView,
    Snapshot,
    TrafficView,
)
from tequio_client.worker.control.server import ControlServer
from tequio_shared.errors import RefusedError, UserFacingError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tequio_client.ipc.control import Question, Reply
    from tequio_client.ipc.facts import SessionFacts
    from tequio_client.ipc.points import PointsRow
    from tequio_client.worker.control.server import ControlledWorker, ControlTimes


class RecordingWorker:
    """A worker that keeps every command and fact that it receives."""

    def __init__(self) -> None:
        self.wish = DesiredState()
        self.preferences = Preferences()
        self.has_session = True
        self.points = PointsView()
        self.decision, self.line = UNDECIDED, TrafficView()
        self.reach = ReachabilityView()
        self.ledger = LedgerView()
        self.round: CurrentRoundView | None = None
        self.rows: tuple[PointsRow, ...] = ()
        self.facts: dict[object, SessionFacts] = {}
        self.changed = trio.Event()
        self.refusal: Exception = RefusedError("unknown-question", "nobody knows")

    @property
    def lending(self) -> RecordingWorker:
        """The worker itself applies commands about lending."""
        return self

    def snapshot(self) -> Snapshot:
        """See ControlledWorker."""
        return Snapshot(
            wish=self.wish,
            preferences=self.preferences,
            points=self.points,
            decision=self.decision,
            has_session=self.has_session,
            line=self.line,
            reach=self.reach,
            ledger=self.ledger,
            round=self.round,
        )

    def apply_state(self, wish: DesiredState) -> None:
        """See Lending."""
        if wish.number > self.wish.number:
            self.wish = wish
            self._news()

    def apply_preferences(self, preferences: Preferences) -> None:
        """See Lending."""
        self.preferences = preferences
        self._news()

    def apply_session_facts(self, facts: SessionFacts, controller: object) -> None:
        """See Lending."""
        self.facts[controller] = facts

    def drop_controller(self, controller: object) -> None:
        """See Lending."""
        self.facts.pop(controller, None)

    async def answer(self, question: Question) -> Reply:
        """See ControlledWorker."""
        await trio.lowlevel.checkpoint()
        match question:
            case AskDiagnostics():
                return DiagnosticsReply(text="all is well")
            case AskPoints(limit=limit):
                return PointsReply(rows=self.rows[:limit])
        raise self.refusal

    def _news(self) -> None:
        self.changed.set()
        self.changed = trio.Event()


@asynccontextmanager
async def served(
    folder: Path, times: ControlTimes | None = None, host: RecordingWorker | None = None
) -> AsyncIterator[RecordingWorker]:
    """Run such a worker in that folder."""
    host = host or RecordingWorker()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(ControlServer(cast("ControlledWorker", host), folder, times).listen)
        with trio.fail_after(60):
            while not await trio.to_thread.run_sync(is_well, folder):  # noqa: ASYNC110 - it begins elsewhere
                await trio.sleep(0.01)
            yield host
        nursery.cancel_scope.cancel()


def is_well(folder: Path) -> bool:
    """True if the worker of that folder answers a call."""
    try:
        with WorkerCall.to(folder) as worker:
            worker.snapshot()
    except UserFacingError:
        return False
    return True
