"""One conversation with a worker, from hello to goodbye, over any transport.

The user's command, preferences and session facts are levels: each is sent after the welcome and
when it changes, facts also every five seconds, and a command repeatedly until the worker shows its
number. Repetition instead of acknowledgement makes a lost or early message harmless. A worker that
shows nothing for a while, or sends an invalid message, has failed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal

from tequio_client.app.worker.connection import WorkerLimits
from tequio_client.ipc import LineBuffer, control
from tequio_client.ipc.account import KeyRequest, StatementRequest
from tequio_client.ipc.control import Question
from tequio_client.ipc.facts import UNKNOWN_SESSION, SessionFacts
from tequio_client.ipc.preferences import Preferences
from tequio_client.ipc.snapshot import DesiredState, Snapshot
from tequio_shared.errors import MalformedError
from tequio_shared.ids import to_text
from tequio_shared.version import BUILD


class ClientState:
    """The state to send to any worker; owned by the caller that starts conversations."""

    def __init__(self) -> None:
        self.desired: DesiredState | None = None
        """None: the worker has confirmed the last one."""
        self.preferences: Preferences | None = None
        """None: the worker's own apply."""
        self.facts: SessionFacts = UNKNOWN_SESSION


class Conversation(QObject):
    """Sends by `write`, and receives by `receive`."""

    welcomed = Signal()
    snapshot = Signal(object)
    answer = Signal(object)
    refused = Signal(str)
    """The worker refuses this app, and the reason."""
    failed = Signal(str)
    """The conversation cannot continue, and the reason."""

    def __init__(
        self,
        state: ClientState,
        write: Callable[[bytes], object],
        limits: WorkerLimits,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._state, self._write, self._limits = state, write, limits
        self._is_joining = False
        self._lines = LineBuffer(control.LINE_BYTES)
        self._is_open, self._is_over = False, False
        self._command_timer = self._timer(limits.command_repeat_ms, self._send_command)
        self._facts_timer = self._timer(limits.facts_repeat_ms, self.send_facts)
        self._watch = self._timer(limits.starting_ms, self._overdue)
        self._missed = 0
        self._asked: dict[int, QTimer] = {}

    def greet(self, seed: bytes | None, invitation: str = "") -> None:
        """Send hello, with the key's seed and an invitation for a worker that this app started."""
        self._is_joining = bool(invitation)
        self._watch.start(self._limits.starting_ms)
        text = None if seed is None else to_text(seed)
        self._send(
            control.ControllerHello(who="app", build=BUILD, seed=text, invitation=invitation)
        )

    def receive(self, chunk: bytes) -> None:
        self._lines.feed(chunk)
        try:
            while not self._is_over and (line := self._lines.next_line()) is not None:
                self._handle(control.decode_from_worker(line))
        except MalformedError as err:
            why = self.tr("The worker sent an invalid message ({problem}).")
            self._fail(why.format(problem=str(err)[:200]))

    def send_desired(self) -> None:
        """Send the command until the worker shows it."""
        self._send_command()
        self._command_timer.start()

    def send_preferences(self) -> None:
        if self._is_open and self._state.preferences is not None:
            self._send(control.SetPreferences(preferences=self._state.preferences))

    def send_facts(self) -> None:
        if self._is_open:
            self._facts_timer.start()
            self._send(control.ReportSessionFacts(facts=self._state.facts))

    def ask(self, number: int, question: Question) -> None:
        """Ask; an answer is emitted in any case."""
        if not self._is_open:
            self._refuse(number, self.tr("The worker is still being started."))
            return
        is_slow = isinstance(question, control.AskBenchmark | KeyRequest)
        limit_ms = self._limits.slow_answer_ms if is_slow else self._limits.answer_ms
        timer = self._timer(limit_ms, partial(self._give_up, number, question))
        timer.setSingleShot(True)
        timer.start()
        self._asked[number] = timer
        self._send(control.AskQuestion(id=number, question=question))

    def send_goodbye(self) -> None:
        """Send goodbye, upon which a worker of this app ends, and close."""
        self._send(control.EndWorker())
        self.close()

    def close(self) -> None:
        """Send and receive nothing more."""
        self._is_open, self._is_over = False, True
        for timer in (self._command_timer, self._facts_timer, self._watch, *self._asked.values()):
            timer.stop()
        self._asked.clear()

    def _handle(self, message: control.FromWorker) -> None:
        match message:
            case control.AcceptController() if not self._is_open:
                self._open()
            case control.RefuseController(why=why):
                self.close()
                self.refused.emit(why)
            case control.SnapshotMessage(snapshot=snapshot) if self._is_open:
                self._receive_snapshot(snapshot)
            case control.QuestionAnswer() if self._is_open:
                self._receive_answer(message)
            case _:
                raise MalformedError(f"{type(message).__name__} before or after its time")

    def _open(self) -> None:
        self._is_open = True
        limits = self._limits
        self._watch.start(limits.joining_ms if self._is_joining else limits.silence_ms)
        self.welcomed.emit()
        self.send_preferences()
        self.send_facts()
        if self._state.desired is not None:
            self.send_desired()

    def _receive_snapshot(self, snapshot: Snapshot) -> None:
        self._missed = 0
        self._watch.start(self._limits.silence_ms)
        desired = self._state.desired
        # A greater number is a later command from another program, which supersedes ours.
        if desired is not None and snapshot.wish.number >= desired.number:
            self._state.desired = None
            self._command_timer.stop()
        self.snapshot.emit(snapshot)

    def _receive_answer(self, answer: control.QuestionAnswer) -> None:
        if (timer := self._asked.pop(answer.id, None)) is not None:
            timer.stop()
            timer.deleteLater()
            self.answer.emit(answer)

    def _give_up(self, number: int, question: Question) -> None:
        if (timer := self._asked.pop(number, None)) is not None:
            timer.deleteLater()
            why = self.tr("The worker has not answered in time.")
            if isinstance(question, StatementRequest):
                why = self.tr(
                    "The worker has not answered in time. It may still carry out the request."
                )
            self._refuse(number, why)

    def _refuse(self, number: int, why: str) -> None:
        self.answer.emit(control.QuestionAnswer(id=number, error=why))

    def _overdue(self) -> None:
        # The first miss may be the computer's sleep: timers fire before the worker gets to run.
        self._missed += 1
        if self._missed > 1 or not self._is_open:
            self._fail(self.tr("The worker does not answer any more."))

    def _fail(self, why: str) -> None:
        if not self._is_over:
            self.close()  # before the signal: its receiver deletes this object
            self.failed.emit(why)

    def _send_command(self) -> None:
        if self._is_open and self._state.desired is not None:
            self._send(control.SetDesiredState(wish=self._state.desired))

    def _send(self, message: control.ToWorker) -> None:
        if not self._is_over:
            self._write(control.encode(message))

    def _timer(self, every_ms: int, do: Callable[[], None]) -> QTimer:
        timer = QTimer(self, interval=every_ms)
        timer.timeout.connect(do)
        return timer
