"""What the app knows: the worker's latest snapshot and replies, and our own latest wish.

Widgets ask this and keep nothing. What the user does goes out through it at once, and counts as
wished until the worker shows that wish or a later one of somebody else's. Preferences count until
the worker shows them; one that shows others all the same has not taken ours, and says what holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from tequio_client.ipc.facts import NOTHING_OF_SESSION
from tequio_client.ipc.preferences import Preferences
from tequio_client.ipc.snapshot import Snooze, Wish

if TYPE_CHECKING:
    from tequio_client.ipc.control import Answer, Question, Reply
    from tequio_client.ipc.facts import SessionFacts
    from tequio_client.ipc.snapshot import Snapshot


HEARD_MS = 3_000
"""A worker that has heard preferences shows them long before."""
MOST_REPLIES = 32
"""Replies that are kept, the latest of each question."""
MOST_ASKED = 256
"""Questions that may wait for an answer; older ones are forgotten."""


class Model(QObject):
    """The app's one model."""

    shown = Signal(object)
    """A new `Snapshot`, or None: the worker is gone."""
    wished = Signal(object)
    """The `Wish` that holds now, as soon as the user wished it."""
    preferred = Signal(object)
    """The `Preferences` that hold now, as soon as the user chose them."""
    replied = Signal(object, object)
    """A question and its reply."""
    sensed = Signal(object)
    """The `SessionFacts` that hold now."""
    refused = Signal(object, str)
    """A question and why it has no reply."""

    def __init__(self, worker: Worker, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = worker
        self._snapshot: Snapshot | None = None
        self._wish: Wish | None = None
        self._preferences: Preferences | None = None
        self._unheard_ms: int | None = None  # when the worker first showed others than ours
        self._asked: dict[int, Question] = {}
        self._replies: dict[Question, Reply] = {}
        self._session = NOTHING_OF_SESSION
        self._number = 0
        self._why_gone = ""
        worker.snapshot.connect(self._show)
        worker.answer.connect(self._answer)
        worker.gone.connect(self._lose)

    # --- what is known

    @property
    def snapshot(self) -> Snapshot | None:
        """The latest; None: there is no worker now."""
        return self._snapshot

    @property
    def why_gone(self) -> str:
        """Why there is no worker."""
        return self._why_gone

    @property
    def wish(self) -> Wish:
        """What is wanted by hand: ours until the worker shows it, then what it shows."""
        shown = self._snapshot.wish if self._snapshot else Wish()
        ours = self._wish
        return ours if ours is not None and ours.number > shown.number else shown

    @property
    def unheard(self) -> Wish | None:
        """Our last wish, until the worker shows it; None: it has, or there is none."""
        return None if self._snapshot is None or self.wish is not self._wish else self._wish

    @property
    def preferences(self) -> Preferences:
        """What was chosen: ours until the worker shows it, then what it shows."""
        if self._preferences is not None:
            return self._preferences
        return self._snapshot.preferences if self._snapshot else Preferences()

    @property
    def session(self) -> SessionFacts:
        """What this program sees of the user's session."""
        return self._session

    def sense(self, facts: SessionFacts) -> None:
        """Take what is known of the session now."""
        self._session = facts
        self.sensed.emit(facts)

    def reply(self, question: Question) -> Reply | None:
        """The latest reply to that question."""
        return self._replies.get(question)

    # --- what the user does

    def contribute(self) -> None:
        """Lend from now on, whenever the manners allow it."""
        self._want(lend=True)

    def pause(self) -> None:
        """Stop until told otherwise."""
        self._want(lend=False)

    def snooze_until(self, at_ms: int) -> None:
        """Stop, and go on by itself at that time."""
        asked_ms = self._snapshot.at_ms if self._snapshot else 0
        self._want(lend=True, snooze=Snooze(until_ms=at_ms, asked_ms=asked_ms))

    def snooze_until_game_closes(self, *, game: str = "") -> None:
        """Stop, and go on by itself when that game, or whichever runs, has closed."""
        self._want(lend=True, snooze=Snooze(game=game))

    def finish(self) -> None:
        """End the round under way, then stop."""
        self._want(lend=True, finish=True)

    def choose(self, preferences: Preferences) -> None:
        """Let these hold from now on."""
        self._preferences, self._unheard_ms = preferences, None
        self._worker.choose(preferences)
        self.preferred.emit(preferences)

    def ask(self, question: Question) -> None:
        """Ask the worker; `replied` or `refused` says what came of it."""
        self._number += 1
        self._asked[self._number] = question
        while len(self._asked) > MOST_ASKED:
            self._asked.pop(next(iter(self._asked)))
        self._worker.ask(self._number, question)

    def _want(self, *, lend: bool, snooze: Snooze | None = None, finish: bool = False) -> None:
        number = self.wish.number + 1
        self._wish = Wish(number=number, lend=lend, snooze=snooze, finish=finish)
        self._worker.want(self._wish)
        self.wished.emit(self._wish)

    # --- what the worker says

    def _show(self, snapshot: Snapshot) -> None:
        self._snapshot, self._why_gone = snapshot, ""
        if self._preferences is not None:
            self._compare(snapshot, self._preferences)
        self.shown.emit(snapshot)

    def _compare(self, snapshot: Snapshot, ours: Preferences) -> None:
        """Give ours up when the worker shows them, or will not."""
        if ours == snapshot.preferences:
            self._preferences = None
            return
        if self._unheard_ms is None:
            self._unheard_ms = snapshot.at_ms
        if snapshot.at_ms - self._unheard_ms >= HEARD_MS:
            self._preferences = None
            self.preferred.emit(snapshot.preferences)

    def _answer(self, answer: Answer) -> None:
        question = self._asked.pop(answer.id, None)
        if question is None:
            return
        if answer.reply is None:
            self.refused.emit(question, answer.error)
            return
        self._replies.pop(question, None)
        self._replies[question] = answer.reply
        while len(self._replies) > MOST_REPLIES:
            self._replies.pop(next(iter(self._replies)))
        self.replied.emit(question, answer.reply)

    def _lose(self, why: str) -> None:
        self._snapshot, self._why_gone, self._unheard_ms = None, why, None
        for question in self._asked.values():
            self.refused.emit(question, why)
        self._asked.clear()
        self.shown.emit(None)


# --- The seam to the worker: what the app may say to it, and what it hears.
#
# One implementation starts the process and speaks `link.control` over its pipes; the tests have
# another that follows a script.


class Worker(QObject):
    """A worker somewhere; signals carry values that nobody changes."""

    snapshot = Signal(object)
    """A `link.snapshot.Snapshot`: everything that there is to see, at least once a second."""
    answer = Signal(object)
    """A `link.control.Answer` to a question, by its number."""
    gone = Signal(str)
    """There is no worker now, and why: a sentence for people, or empty when all is as it should."""

    def want(self, wish: Wish) -> None:
        """Wish this until the worker shows it."""
        raise NotImplementedError

    def choose(self, preferences: Preferences) -> None:
        """Let these preferences hold."""
        raise NotImplementedError

    def ask(self, number: int, question: Question) -> None:
        """Ask; the answer has the same number."""
        raise NotImplementedError
