"""What happened, as far as it was read, newest first; what is new is read as soon as it is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from tequio_client.link.questions import Activity, AskActivity

if TYPE_CHECKING:
    from tequio_client.app.model import Model
    from tequio_client.link.questions import ActivityRow, Question, Reply

PAGE = 100


class EventsBook(QObject):
    """What was read; owned by its page."""

    changed = Signal()

    def __init__(self, model: Model, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.rows: tuple[ActivityRow, ...] | None = None
        """None: nothing was read yet."""
        self.has_more = False
        self.problem = ""
        """Why the last question has no answer."""
        self._asked: AskActivity | None = None
        self._followed = -1
        model.replied.connect(self._take)
        model.refused.connect(self._miss)

    def follow(self, newest: int) -> None:
        """The newest event has that number: read what is not known yet."""
        if self._asked is None and (self.rows is None or newest != self._followed):
            self._followed = newest
            self._ask(None)

    def read_on(self) -> None:
        """Read the next older page, if there is one and nothing is under way."""
        if self._asked is None and self.has_more and self.rows:
            self._ask(self.rows[-1].number)

    def forget(self) -> None:
        """There is no worker now: begin anew with the next one."""
        self._followed = -1

    def _ask(self, before: int | None) -> None:
        self._asked = AskActivity(before=before, limit=PAGE)
        self._model.ask(self._asked)

    def _take(self, question: Question, reply: Reply) -> None:
        if question != self._asked or not isinstance(reply, Activity):
            return
        before, self._asked, self.problem = self._asked.before, None, ""
        if before is None:
            self._take_newest(reply)
        else:
            self.rows = (*(self.rows or ()), *reply.rows)
            self.has_more = reply.has_more
        self.changed.emit()

    def _take_newest(self, reply: Activity) -> None:
        """Join the newest page to what is known; with a gap between them, begin anew."""
        known = self.rows or ()
        lowest = reply.rows[-1].number if reply.rows else 0
        is_joined = bool(reply.rows) and any(row.number == lowest for row in known)
        if not is_joined:
            self.rows, self.has_more = reply.rows, reply.has_more
            return
        self.rows = (*reply.rows, *(row for row in known if row.number < lowest))

    def _miss(self, question: Question, why: str) -> None:
        if question == self._asked:
            self._asked, self._followed, self.problem = None, -1, why
            self.changed.emit()
