"""A question that is asked of the worker again and again while somebody looks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from PySide6.QtCore import QObject, Signal

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.app.model import Model
    from tequio_client.link.questions import Question, Reply

R = TypeVar("R", bound="Reply")


class Asked(QObject, Generic[R]):
    """Keeps the last reply of that kind, when it came, and why there is no newer one."""

    changed = Signal()
    """There is a reply, or there will be none."""

    def __init__(
        self, model: Model, now_ms: Callable[[], int], kind: type[R], every_ms: int
    ) -> None:
        super().__init__()
        self._model, self._now_ms, self._kind, self._every_ms = model, now_ms, kind, every_ms
        self._question: Question | None = None
        self._asked_ms = 0
        self.reply: R | None = None
        self.reply_ms = 0
        self.is_asking = False
        self.problem = ""
        """Why the last question has no reply; empty: it has."""
        model.replied.connect(self._take)
        model.refused.connect(self._miss)

    def want(self, question: Question) -> None:
        """Ask this from now on; what was said to another question is forgotten."""
        if question != self._question:
            self._question, self._asked_ms = question, 0
            self.reply, self.is_asking, self.problem = None, False, ""

    def look(self) -> None:
        """Ask, if there is a worker and the last time is long enough ago."""
        is_due = self._now_ms() - self._asked_ms >= self._every_ms
        if self._model.snapshot is not None and is_due:
            self.ask()

    def ask(self) -> None:
        """Ask now, unless the question is under way."""
        if self._question is None or self.is_asking:
            return
        self.is_asking, self._asked_ms = True, self._now_ms()
        self._model.ask(self._question)

    def _take(self, question: Question, reply: Reply) -> None:
        if question == self._question and isinstance(reply, self._kind):
            self.reply, self.reply_ms = reply, self._now_ms()
            self.is_asking, self.problem = False, ""
            self.changed.emit()

    def _miss(self, question: Question, why: str) -> None:
        if question == self._question:
            self.is_asking = False
            self.problem = why or self.tr("The worker does not answer")
            self.changed.emit()
