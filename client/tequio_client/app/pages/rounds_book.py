"""The rounds that this computer took part in, as far as they were read, newest first.

Pages are asked for one after the other. When the worker says that its book has changed, all that
was read is read anew: a pending round may have been proven, and old ones may have been found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from tequio_client.link.questions import ROWS, AskPoints, Points

if TYPE_CHECKING:
    from tequio_client.app.model import Model
    from tequio_client.link.questions import PointsRow, Question, Reply

PAGE = 100
"""Rounds that are read at once while somebody scrolls."""


class RoundsBook(QObject):
    """What was read; owned by its page."""

    changed = Signal()

    def __init__(self, model: Model, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.rows: tuple[PointsRow, ...] | None = None
        """None: nothing was read yet."""
        self.has_more = False
        self.problem = ""
        """Why the last question has no answer."""
        self.runs: dict[str, str] = {}
        """Names of all runs that were seen, by id."""
        self.devices: tuple[str, ...] = ()
        """All devices that were seen."""
        self.run = self.device = ""
        """What is read: of one run, on one device; empty: all."""
        self._asked: AskPoints | None = None
        self._fresh: list[PointsRow] = []
        self._is_renewing = self._is_stale = False
        model.replied.connect(self._take)
        model.refused.connect(self._miss)

    @property
    def is_loading(self) -> bool:
        """Whether a question is under way."""
        return self._asked is not None

    def narrow(self, run: str, device: str) -> None:
        """Read only rounds of that run and device from now on; empty: of all."""
        if (run, device) != (self.run, self.device):
            self.run, self.device = run, device
            self.rows, self.has_more = None, False
            self._asked = None
            self.renew()

    def renew(self) -> None:
        """Read anew all that was read, or the first page."""
        if self._asked is not None:
            self._is_stale = True
            return
        self._is_renewing, self._is_stale, self._fresh = True, False, []
        self._ask(None, min(max(len(self.rows or ()), PAGE), ROWS))

    def read_on(self) -> None:
        """Read the next older page, if there is one and nothing is under way."""
        if self._asked is None and self.has_more and self.rows:
            self._is_renewing = False
            self._ask(self.rows[-1].number, PAGE)

    def _ask(self, before: int | None, limit: int) -> None:
        self._asked = AskPoints(before=before, run=self.run, device=self.device, limit=limit)
        self._model.ask(self._asked)

    def _take(self, question: Question, reply: Reply) -> None:
        if question != self._asked or not isinstance(reply, Points):
            return
        self._asked, self.problem = None, ""
        self._remember(reply.rows)
        if self._is_renewing:
            self._fresh += reply.rows
            if reply.has_more and self._fresh and self._is_short():
                self._ask(self._fresh[-1].number, ROWS)
                return
            self.rows = tuple(self._fresh)
        else:
            self.rows = (*(self.rows or ()), *reply.rows)
        self.has_more = reply.has_more
        self.changed.emit()
        if self._is_stale:
            self.renew()

    def _is_short(self) -> bool:
        """Whether less was read anew than is shown."""
        return bool(self.rows) and self._fresh[-1].number > (self.rows or ())[-1].number

    def _miss(self, question: Question, why: str) -> None:
        if question == self._asked:
            self._asked, self._is_stale, self.problem = None, False, why
            self.changed.emit()

    def _remember(self, rows: tuple[PointsRow, ...]) -> None:
        self.runs.update({row.run: row.run_name or row.run for row in rows})
        seen = {row.device for row in rows if row.device}
        self.devices = tuple(sorted(seen | set(self.devices)))
