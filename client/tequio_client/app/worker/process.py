"""The app's worker: started if none runs in the folder, and restarted when it fails.

A worker that already runs in the folder (a headless one) is used instead: it is controlled in the
same way, but neither ended nor given a key. Failed starts are repeated after growing pauses; after
`MOST_FAILURES` in a row the worker stays down, with the reason, until the user tries again. A
worker of another version and an unavailable key are not retried automatically.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from tequio_client.app.model import WorkerClient
from tequio_client.app.worker.connection import (
    WORKER_LIMITS,
    ChildTransport,
    ControlSocketTransport,
    WorkerLimits,
    WorkerTransport,
)
from tequio_client.app.worker.conversation import ClientState, Conversation
from tequio_client.ipc import control
from tequio_client.ipc.control import Question
from tequio_client.ipc.facts import SessionFacts
from tequio_client.ipc.preferences import Preferences
from tequio_client.ipc.snapshot import DesiredState, Snapshot
from tequio_client.platform import programs
from tequio_shared.errors import TequioError

MOST_FAILURES = 5
STEADY_MS = 60_000
"""A worker that has run for this long resets the count of failures."""


def worker_command(ledger: str, folder: Path) -> tuple[str, ...]:
    """The command line of a worker."""
    return programs.tequio("worker", "--link", "--ledger", ledger, "--dir", str(folder))


class WorkerProcess(WorkerClient):
    """Supervises the worker; `start` begins, `close` ends."""

    external_changed = Signal(bool)
    """True if the worker was started by another program."""
    gave_up = Signal(str)
    """No worker is started before the user tries again; the reason."""
    joined = Signal()
    """The worker that was given the invitation has joined: it shows a snapshot."""
    _unlocked = Signal(int, object, str)

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        seed: Callable[[], bytes | None],
        parent: QObject | None = None,
        *,
        limits: WorkerLimits = WORKER_LIMITS,
    ) -> None:
        """`seed` is called in a thread before each start and raises TequioError.

        None makes the worker use the key of its folder.
        """
        super().__init__()
        self.setParent(parent)
        self._command, self._folder, self._seed = tuple(command), folder, seed
        self._limits = limits
        self._state = ClientState()
        self._link: WorkerTransport | None = None
        self._conversation: Conversation | None = None
        self._failures, self._attempt = 0, 0
        self._unlocked_seed: bytes | None = None  # until the worker of this attempt is greeted
        self._why = ""
        self._invitation = ""
        self._is_joining = False
        self._is_closed = self._is_final = self._is_restarting = False
        self._again = QTimer(self, singleShot=True)
        self._again.timeout.connect(self.start)
        self._steady = QTimer(self, interval=STEADY_MS, singleShot=True)
        self._steady.timeout.connect(self._forgive)
        self._unlocked.connect(self._connect)

    @property
    def pid(self) -> int:
        """Process id of the worker that this app started; 0: none."""
        return self._link.pid if isinstance(self._link, ChildTransport) else 0

    @property
    def is_external(self) -> bool:
        """True if the worker was started by another program."""
        return isinstance(self._link, ControlSocketTransport) and self._conversation is not None

    def start(self) -> None:
        self._again.stop()
        # Try the socket first: a folder admits one worker, so a second one could only fail.
        self._attach(ControlSocketTransport(self._folder, self, limits=self._limits))

    def retry(self) -> None:
        """Try again at once, with a new count of failures."""
        self._failures = 0
        if self._link is None and not self._is_closed:
            self.start()

    def set_command(self, command: Sequence[str]) -> None:
        """Use this command from now on; restarts a worker of this app if it differs."""
        if tuple(command) != self._command:
            self._command = tuple(command)
            self.restart()

    def restart(self) -> None:
        """Restart with the current key; a worker of another program keeps running."""
        if isinstance(self._link, ChildTransport):
            # The next worker starts when this one has ended and released the folder's lock.
            self._is_restarting = True
            if self._conversation is not None:
                self._conversation.send_goodbye()
                self._link.let_end()
            else:
                self._link.stop()
        else:
            self.retry()

    def join(self, invitation: str, command: Sequence[str]) -> None:
        """Restart with this command and invitation; the worker joins before anything else.

        It is retried until it has joined, or until `join` is called again. Emits `joined`, or
        `gone` with the reason.
        """
        self._invitation, self._command = invitation, tuple(command)
        self.restart()

    def close(self) -> None:
        """Send goodbye and wait a few seconds for a worker of this app to end."""
        self._is_closed = True
        self._again.stop()
        self._steady.stop()
        conversation, link = self._conversation, self._link
        self._conversation = self._link = None
        if conversation is not None:
            conversation.send_goodbye()
        if link is not None:
            link.close()

    def send_desired(self, wish: DesiredState) -> None:
        self._state.desired = wish
        if self._conversation is not None:
            self._conversation.send_desired()

    def send_preferences(self, preferences: Preferences) -> None:
        self._state.preferences = preferences
        if self._conversation is not None:
            self._conversation.send_preferences()

    def ask(self, number: int, question: Question) -> None:
        if self._conversation is not None:
            self._conversation.ask(number, question)
        else:
            self.answer.emit(
                control.QuestionAnswer(id=number, error=self.tr("The worker is not running."))
            )

    def send_facts(self, facts: SessionFacts) -> None:
        self._state.facts = facts
        if self._conversation is not None:
            self._conversation.send_facts()

    def _attach(self, link: WorkerTransport) -> None:
        self._attempt += 1
        self._why, self._is_final = "", False
        self._link = link
        link.ended.connect(self._link_ended)
        if isinstance(link, ChildTransport):
            self._unlock(self._attempt)
        else:
            self._connect(self._attempt, None, "")

    def _unlock(self, attempt: int) -> None:
        """Fetch the key for a worker of this app; that may take long, or prompt the user."""

        def unlock() -> None:
            try:
                self._unlocked.emit(attempt, self._seed(), "")
            except TequioError as err:
                self._unlocked.emit(attempt, None, str(err))

        # A thread, since the keyring may show a dialog; the number of the attempt discards a seed
        # that arrives after its transport has ended.
        threading.Thread(target=unlock, daemon=True).start()

    def _connect(self, attempt: int, seed: bytes | None, problem: str) -> None:
        link = self._link
        if attempt != self._attempt or link is None:
            return
        if problem:
            self._refuse(problem)
            return
        # With the key at hand, because a worker waits only briefly for its greeting.
        self._unlocked_seed = seed
        link.ready.connect(self._greet)
        link.start()

    def _greet(self) -> None:
        link, seed = self._link, self._unlocked_seed
        self._unlocked_seed = None
        if link is None:
            return
        self._conversation = Conversation(self._state, link.write, self._limits, self)
        self._conversation.welcomed.connect(self._welcome)
        self._conversation.snapshot.connect(self._receive_snapshot)
        self._conversation.answer.connect(self.answer)
        self._conversation.refused.connect(self._refuse)
        self._conversation.failed.connect(self._fail)
        link.received.connect(self._conversation.receive)
        self._is_joining = bool(self._invitation) and isinstance(link, ChildTransport)
        self._conversation.greet(seed, self._invitation if self._is_joining else "")

    def _welcome(self) -> None:
        self._steady.start()
        self.external_changed.emit(self.is_external)

    def _receive_snapshot(self, snapshot: Snapshot) -> None:
        self.snapshot.emit(snapshot)
        if self._is_joining:
            self._invitation, self._is_joining = "", False
            self.joined.emit()

    def _refuse(self, why: str) -> None:
        """Fail without a retry, because the next attempt would end the same."""
        self._is_final = True
        self._fail(why)

    def _fail(self, why: str) -> None:
        self._why = why
        if self._link is not None:
            self._link.stop()

    def _forgive(self) -> None:
        self._failures = 0

    def _link_ended(self, why: str) -> None:
        """After the transport ended: start our own worker, try again, or give up."""
        link, was_greeted = self._link, self._conversation is not None
        self._drop()
        if self._is_closed:
            return
        # Nobody answered at the socket, so no worker runs: this is the normal way to a first start.
        if isinstance(link, ControlSocketTransport) and not was_greeted:
            self._attach(ChildTransport(self._command, self._folder, self, limits=self._limits))
            return
        if self._is_restarting:
            self._is_restarting, self._failures = False, 0
            self.gone.emit("")
            self.start()
            return
        why = _sentence(self._why or why or self.tr("The worker has ended."))
        # The reason that this app knows (a bad message, silence) explains more than the exit.
        self._failures += 1
        if self._is_final or self._failures >= MOST_FAILURES:
            tried = self.tr("The worker failed {tries} times in a row, the last time so: {why}")
            message = why if self._is_final else tried.format(tries=MOST_FAILURES, why=why)
            self.gone.emit(message)
            self.gave_up.emit(message)
        else:
            pauses_ms = self._limits.pauses_ms
            self._again.start(pauses_ms[min(self._failures, len(pauses_ms)) - 1])
            self.gone.emit(self.tr("{why} It is started again.").format(why=why))

    def _drop(self) -> None:
        self._steady.stop()
        for part in (self._conversation, self._link):
            if part is not None:
                part.deleteLater()
        if self._conversation is not None:
            self._conversation.close()
        self._conversation = self._link = None
        self._is_joining = False


def _sentence(message: str) -> str:
    """A sentence from an error message, which has no capital letter and no full stop."""
    return f"{message[:1].upper()}{message[1:].rstrip('.')}."
