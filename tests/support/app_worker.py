"""A worker for the app's tests: it hears real messages of `link.control` and answers by a script.

Everything goes through the bytes of the real protocol, both ways, so that what cannot be sent
cannot be shown.
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
"""A reply, an error, or what makes one of the question; None: it stays open."""


class ScriptedWorker(WorkerClient):
    """Keeps what it heard in `heard`; answers at once by `replies`, or leaves a question open."""

    def __init__(self, replies: dict[type, Scripted] | None = None) -> None:
        super().__init__()
        self.heard: list[control.ToWorker] = []
        self.replies = dict(replies or {})

    def send_desired(self, wish: DesiredState) -> None:
        """Hear a wish."""
        self._hear(control.SetDesiredState(wish=wish))

    def send_preferences(self, preferences: Preferences) -> None:
        """Hear preferences."""
        self._hear(control.SetPreferences(preferences=preferences))

    def ask(self, number: int, question: Question) -> None:
        """Hear a question, and answer it if the script does."""
        self._hear(control.AskQuestion(id=number, question=question))
        reply = self.replies.get(type(question))
        if callable(reply):
            reply = reply(question)
        if isinstance(reply, str):
            self.say(control.QuestionAnswer(id=number, error=reply))
        elif reply is not None:
            self.say(control.QuestionAnswer(id=number, reply=reply))

    def show(self, snapshot: Snapshot) -> None:
        """Say everything there is to see."""
        self.say(control.SnapshotMessage(snapshot=snapshot))

    def say(self, message: control.FromWorker) -> None:
        """Say that, over the wire's form."""
        received = control.decode_from_worker(control.encode(message))
        if isinstance(received, control.SnapshotMessage):
            self.snapshot.emit(received.snapshot)
        elif isinstance(received, control.QuestionAnswer):
            self.answer.emit(received)

    def last(self, kind: type[control.ToWorker]) -> control.ToWorker:
        """What it heard last of that kind."""
        return next(one for one in reversed(self.heard) if isinstance(one, kind))

    def obey(self, snapshot: Snapshot) -> Snapshot:
        """The snapshot with the last wish in it, and show it."""
        heard = self.last(control.SetDesiredState)
        assert isinstance(heard, control.SetDesiredState)
        shown = msgspec.structs.replace(snapshot, wish=heard.wish)
        self.show(shown)
        return shown

    def _hear(self, message: control.ToWorker) -> None:
        self.heard.append(control.decode_to_worker(control.encode(message)))
