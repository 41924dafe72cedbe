"""A worker for the app's tests: it receives real control messages and answers by a script.

Every message goes through the bytes of the real protocol, both ways, so a test cannot show the app
anything that cannot be sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import msgspec

from tequio_client.app.model import WorkerClient
from tequio_client.ipc import control

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.ipc.control import Question, Reply
    from tequio_client.ipc.preferences import Preferences
    from tequio_client.ipc.snapshot import DesiredState, Snapshot


Scripted: TypeAlias = "Reply | str | Callable[[Question], Reply | str | None]"
"""A reply, an error, or a function that makes one from the question; None: no answer."""


class ScriptedWorker(WorkerClient):
    """Keeps messages in `received`; answers at once from `replies`, or leaves a question open."""

    def __init__(self, replies: dict[type, Scripted] | None = None) -> None:
        super().__init__()
        self.received: list[control.ToWorker] = []
        self.replies = dict(replies or {})

    def send_desired(self, wish: DesiredState) -> None:
        """Receive a desired state."""
        self._receive(control.SetDesiredState(wish=wish))

    def send_preferences(self, preferences: Preferences) -> None:
        """Receive preferences."""
        self._receive(control.SetPreferences(preferences=preferences))

    def ask(self, number: int, question: Question) -> None:
        """Receive a question, and answer it if the script does."""
        self._receive(control.AskQuestion(id=number, question=question))
        reply = self.replies.get(type(question))
        if callable(reply):
            reply = reply(question)
        if reply is not None:
            self._answer(number, reply)

    def answer_last(self, reply: Reply | str) -> None:
        """Answer the last question, which the script left open."""
        message = self.last(control.AskQuestion)
        assert isinstance(message, control.AskQuestion)
        self._answer(message.id, reply)

    def send_snapshot(self, snapshot: Snapshot) -> None:
        """Send a snapshot to the app."""
        self.send(control.SnapshotMessage(snapshot=snapshot))

    def send(self, message: control.FromWorker) -> None:
        """Send a message to the app, encoded and decoded as on the wire."""
        received = control.decode_from_worker(control.encode(message))
        if isinstance(received, control.SnapshotMessage):
            self.snapshot.emit(received.snapshot)
        elif isinstance(received, control.QuestionAnswer):
            self.answer.emit(received)

    def last(self, kind: type[control.ToWorker]) -> control.ToWorker:
        """The last received message of that kind."""
        return next(one for one in reversed(self.received) if isinstance(one, kind))

    def times_asked(self, kind: type[Question]) -> int:
        """Count the received questions of that kind."""
        asked = [one for one in self.received if isinstance(one, control.AskQuestion)]
        return sum(isinstance(one.question, kind) for one in asked)

    def obey(self, snapshot: Snapshot) -> Snapshot:
        """Send the snapshot with the last desired state in it; returns that snapshot."""
        message = self.last(control.SetDesiredState)
        assert isinstance(message, control.SetDesiredState)
        obeyed = msgspec.structs.replace(snapshot, wish=message.wish)
        self.send_snapshot(obeyed)
        return obeyed

    def _answer(self, number: int, reply: Reply | str) -> None:
        if isinstance(reply, str):
            self.send(control.QuestionAnswer(id=number, error=reply))
        else:
            self.send(control.QuestionAnswer(id=number, reply=reply))

    def _receive(self, message: control.ToWorker) -> None:
        self.received.append(control.decode_to_worker(control.encode(message)))
