"""The app's state: the worker's latest snapshot and replies, and the user's latest command.

Widgets read it and store nothing. A command by the user is sent at once and applies until the
worker shows it, or a later one from another program. Preferences apply until the worker shows them;
a worker that still shows others after `PREFERENCES_TIMEOUT_MS` has not accepted ours, and its own
apply.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

from PySide6.QtCore import QObject, Signal

from tequio_client.ipc.account import KeyRequest
from tequio_client.ipc.control import AskBenchmark, Question, Reply
from tequio_client.ipc.facts import UNKNOWN_SESSION, SessionFacts
from tequio_client.ipc.preferences import Preferences
from tequio_client.ipc.snapshot import DesiredState, LendingState, Snapshot, Snooze

if TYPE_CHECKING:
    from tequio_client.ipc.control import QuestionAnswer


R = TypeVar("R", bound=Reply)
PREFERENCES_TIMEOUT_MS = 3_000
"""A worker shows accepted preferences long before this."""
MOST_REPLIES = 32
"""Replies in memory, the latest of each question."""
MOST_ASKED = 256
"""Questions that may wait for an answer; older ones are dropped."""


class AppModel(QObject):
    snapshot_changed = Signal(object)
    """A new `Snapshot`; None: the worker is gone."""
    desired_changed = Signal(object)
    """The `DesiredState` in force, as soon as the user gave it."""
    preferences_changed = Signal(object)
    """The `Preferences` in force, as soon as the user chose them."""
    replied = Signal(object, object)
    """A question and its reply."""
    session_changed = Signal(object)
    """The `SessionFacts` in force."""
    yielding_changed = Signal()
    """Another set of programs gives way to games."""
    network_changed = Signal()
    """The ledger is another one: what the previous one said does not count."""
    refused = Signal(object, str)
    """A question and the reason why it has no reply."""

    def __init__(
        self,
        worker: WorkerClient,
        parent: QObject | None = None,
        *,
        stored: Preferences | None = None,
    ) -> None:
        """`stored` are the worker's preferences of last time."""
        super().__init__(parent)
        self._worker = worker
        self.snapshot: Snapshot | None = None
        """The latest; None: no worker is running."""
        self.why_gone = ""
        """The reason why no worker is running."""
        self.worker_number = 0
        """Of the worker that answers, or answered last; 0: none has answered yet."""
        self.session = UNKNOWN_SESSION
        self.yielding: frozenset[str] = frozenset()
        """Programs that run for the app and end for a game: they need facts as fresh as lending."""
        self._command: DesiredState | None = None
        self._preferences: Preferences | None = None
        self._worker_preferences = stored or Preferences()
        self._others_since_ms: int | None = None  # when the worker first showed others than ours
        self._asked: dict[int, Question] = {}
        self._replies: dict[Question, Reply] = {}
        self._number = 0
        worker.snapshot.connect(self._receive_snapshot)
        worker.answer.connect(self._receive_answer)
        worker.gone.connect(self._lose)

    @property
    def desired(self) -> DesiredState:
        """The user's command: ours until the worker shows it, then the worker's."""
        shown = self.snapshot.wish if self.snapshot else DesiredState()
        ours = self._command
        return ours if ours is not None and ours.number > shown.number else shown

    @property
    def unconfirmed(self) -> DesiredState | None:
        """Our last command until the worker shows it; None: it has, or there was none."""
        return None if self.snapshot is None or self.desired is not self._command else self._command

    @property
    def is_on(self) -> bool:
        """True if this computer lends, or will by itself, so that the user can pause it."""
        if self.snapshot is None or not self.preferences.consent or not self.desired.lend:
            return False
        state = self.snapshot.decision.state
        is_finished = self.desired.finish and state is LendingState.PAUSED
        return not is_finished and state is not LendingState.ATTENTION

    @property
    def preferences(self) -> Preferences:
        """Our choice until the worker shows it, then those that a worker showed last."""
        return self._preferences or self._worker_preferences

    def update_session(self, facts: SessionFacts) -> None:
        self.session = facts
        self.session_changed.emit(facts)

    def set_yielding(self, program: str, *, is_running: bool) -> None:
        """Say that a program which ends for a game runs, or does not run any more."""
        found = self.yielding | {program} if is_running else self.yielding - {program}
        if found != self.yielding:
            self.yielding = found
            self.yielding_changed.emit()

    def reply(self, question: Question) -> Reply | None:
        return self._replies.get(question)

    def contribute(self) -> None:
        """Lend from now on, whenever the lending policy allows it."""
        self._send_command(lend=True)

    def start_anyway(self) -> None:
        """Lend now, although a rule that the user may overrule says to wait."""
        self._send_command(lend=True, anyway=True)

    def pause(self) -> None:
        """Stop until the user continues."""
        self._send_command(lend=False)

    def snooze_until(self, at_ms: int) -> None:
        """Stop, and continue automatically at that time."""
        asked_ms = self.snapshot.at_ms if self.snapshot else 0
        self._send_command(lend=True, snooze=Snooze(until_ms=at_ms, asked_ms=asked_ms))

    def snooze_until_game_closes(self, *, game: str = "") -> None:
        """Stop, and continue when that game has closed; empty: the game that runs now."""
        self._send_command(lend=True, snooze=Snooze(game=game))

    def finish(self) -> None:
        """Finish the current round, then stop."""
        self._send_command(lend=True, finish=True, anyway=self.desired.anyway)

    def go_on(self) -> None:
        """Take `finish` back while the current round goes on."""
        self._send_command(lend=True, anyway=self.desired.anyway)

    def forget_network(self) -> None:
        """Drop all replies of the previous ledger; who asked it asks again."""
        self._replies.clear()
        self._asked.clear()
        self._follow_benchmarks()
        self.network_changed.emit()

    def set_preferences(self, preferences: Preferences) -> None:
        self._preferences, self._others_since_ms = preferences, None
        self._worker.send_preferences(preferences)
        self.preferences_changed.emit(preferences)

    def ask(self, question: Question) -> None:
        """Ask the worker; emits `replied` or `refused`."""
        self._number += 1
        self._asked[self._number] = question
        while len(self._asked) > MOST_ASKED:
            self._asked.pop(next(iter(self._asked)))
        self._follow_benchmarks()
        self._worker.ask(self._number, question)

    def _send_command(
        self,
        *,
        lend: bool,
        snooze: Snooze | None = None,
        finish: bool = False,
        anyway: bool = False,
    ) -> None:
        # Based on the number in force, so that the last of several programs wins.
        number = self.desired.number + 1
        self._command = DesiredState(
            number=number, lend=lend, snooze=snooze, finish=finish, anyway=anyway
        )
        self._worker.send_desired(self._command)
        self.desired_changed.emit(self._command)

    def _receive_snapshot(self, snapshot: Snapshot) -> None:
        if self.snapshot is None:
            self.worker_number += 1
        self.snapshot, self.why_gone = snapshot, ""
        self._worker_preferences = snapshot.preferences
        if self._preferences is not None:
            self._reconcile(snapshot, self._preferences)
        self.snapshot_changed.emit(snapshot)

    def _reconcile(self, snapshot: Snapshot, ours: Preferences) -> None:
        """Drop our preferences once the worker shows them, or shows others for too long."""
        if ours == snapshot.preferences:
            self._preferences = None
            return
        # The worker's clock decides, because snapshots may arrive late after a sleep.
        if self._others_since_ms is None:
            self._others_since_ms = snapshot.at_ms
        if snapshot.at_ms - self._others_since_ms >= PREFERENCES_TIMEOUT_MS:
            self._preferences = None
            self.preferences_changed.emit(snapshot.preferences)

    def _receive_answer(self, answer: QuestionAnswer) -> None:
        question = self._asked.pop(answer.id, None)
        if question is None:
            return
        self._follow_benchmarks()
        if answer.reply is None:
            away = self.tr("The network does not answer")
            if answer.may_be_logged:
                away = self.tr("The network does not answer. It may still accept the request later")
            self.refused.emit(question, away if answer.is_ledger_away else answer.error)
            return
        if not isinstance(question, KeyRequest):
            self._replies.pop(question, None)
            self._replies[question] = answer.reply
        while len(self._replies) > MOST_REPLIES:
            self._replies.pop(next(iter(self._replies)))
        self.replied.emit(question, answer.reply)

    def _lose(self, why: str) -> None:
        self.snapshot, self.why_gone, self._others_since_ms = None, why, None
        asked, self._asked = self._asked, {}
        self._follow_benchmarks()
        for question in asked.values():  # a refusal may lead to another question
            self.refused.emit(question, why)
        self.snapshot_changed.emit(None)

    def _follow_benchmarks(self) -> None:
        is_measuring = any(isinstance(one, AskBenchmark) for one in self._asked.values())
        self.set_yielding("benchmark", is_running=is_measuring)


class WorkerClient(QObject):
    """A worker, local or elsewhere; signals carry immutable values."""

    snapshot = Signal(object)
    """An `ipc.snapshot.Snapshot`, at least once a second."""
    answer = Signal(object)
    """An `ipc.control.QuestionAnswer` to a question, by its number."""
    gone = Signal(str)
    """No worker is running, and why: a sentence for people, or empty if all is well."""

    def send_desired(self, wish: DesiredState) -> None:
        """Send this command until the worker shows it."""
        raise NotImplementedError

    def send_preferences(self, preferences: Preferences) -> None:
        """Send these preferences now and to each new worker."""
        raise NotImplementedError

    def ask(self, number: int, question: Question) -> None:
        """The answer has the same number."""
        raise NotImplementedError


class PeriodicQuestion(QObject, Generic[R]):
    """A question, asked by `ask` or by `poll` at intervals: its last reply, or why it has none."""

    changed = Signal()
    """A reply has arrived, or the question was refused."""

    def __init__(
        self,
        model: AppModel,
        now_ms: Callable[[], int],
        kind: type[R],
        every_ms: int = 0,
        *,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._model, self._now_ms, self._kind, self._every_ms = model, now_ms, kind, every_ms
        self._question: Question | None = None
        self._asked_ms = self._asked_worker = 0
        self.reply: R | None = None
        self.reply_ms = 0
        self.is_asking = False
        self.problem = ""
        """Why the last question was refused; empty: it was not."""
        model.replied.connect(self._receive)
        model.refused.connect(self._handle_refusal)
        model.network_changed.connect(self.forget)

    def set_question(self, question: Question) -> None:
        """Ask this from now on; the reply to another question is dropped."""
        if question != self._question:
            self._question = question
            self.forget()

    def forget(self) -> None:
        """Drop the reply, and ask again at the next opportunity."""
        self._asked_ms = 0
        self.reply, self.is_asking, self.problem = None, False, ""

    def poll(self) -> None:
        """Ask if there is a worker, and the interval has passed or the worker is a new one."""
        is_new = self._asked_worker != self._model.worker_number
        is_due = is_new or self._now_ms() - self._asked_ms >= self._every_ms
        if self._model.snapshot is not None and is_due:
            if is_new:  # why another one had no reply is past
                self.problem = ""
            self.ask()

    def retry(self) -> None:
        """Ask at intervals until the last question has a reply."""
        if self.reply is None or self.problem:
            self.poll()

    def ask(self) -> None:
        """Ask now, unless the question is pending."""
        if self._question is None or self.is_asking:
            return
        self.is_asking, self._asked_ms = True, self._now_ms()
        self._asked_worker = self._model.worker_number
        self._model.ask(self._question)

    def _receive(self, question: Question, reply: Reply) -> None:
        if question == self._question and isinstance(reply, self._kind):
            self.reply, self.reply_ms = reply, self._now_ms()
            self.is_asking, self.problem = False, ""
            self.changed.emit()

    def _handle_refusal(self, question: Question, why: str) -> None:
        if question == self._question:
            self.is_asking = False
            self.problem = why or self.tr("The worker does not answer")
            self.changed.emit()
