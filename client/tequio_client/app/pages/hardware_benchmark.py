"""How fast a device is: measured on demand, and only while nothing is lent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_client.app.widgets import figures
from tequio_client.app.widgets.button import Button
from tequio_client.app.widgets.setting_row import SettingRow
from tequio_client.link.questions import AskBenchmark, Benchmark

if TYPE_CHECKING:
    from tequio_client.app.model import Model
    from tequio_client.link.questions import Question, Reply
    from tequio_client.link.snapshot import Snapshot


class BenchmarkRow(SettingRow):
    """The button, and what came of it."""

    def __init__(self, model: Model, device: str) -> None:
        self.button = Button("", picture="gauge")
        super().__init__("", "", self.button)
        self.show_name(self.tr("Benchmark"))
        self._model, self._question = model, AskBenchmark(device=device)
        self._is_running, self._why, self._is_lent = False, "", False
        self._is_there = False
        reply = model.reply(self._question)
        self._result = reply if isinstance(reply, Benchmark) else None
        self.button.clicked.connect(self._ask)
        model.replied.connect(self._take)
        model.refused.connect(self._miss)
        self._show()

    def show_snapshot(self, snapshot: Snapshot | None) -> None:
        """Know whether anything is lent."""
        self._is_there = snapshot is not None
        self._is_lent = snapshot is not None and (
            snapshot.decision.may_compute
            or any(trainer.state not in ("off", "broken") for trainer in snapshot.trainers)
        )
        self._show()

    def _ask(self) -> None:
        self._is_running, self._why = True, ""
        self._show()
        self._model.ask(self._question)

    def _take(self, question: Question, reply: Reply) -> None:
        if question == self._question and isinstance(reply, Benchmark):
            self._is_running, self._why, self._result = False, "", reply
            self._show()

    def _miss(self, question: Question, why: str) -> None:
        if question == self._question:
            self._is_running, self._why = False, why
            self._show()

    def _show(self) -> None:
        is_first = self._result is None and not self._why
        words = self.tr("Measure") if is_first else self.tr("Measure again")
        self.button.show_as(self.tr("Measuring") if self._is_running else words, "gauge")
        self.button.setAccessibleName(f"{self.tr('Benchmark')}: {self.button.text()}")
        self.button.setEnabled(self._is_there and not self._is_running and not self._is_lent)
        self.show_note(self._said(), "danger" if self._why and not self._is_running else "sub")

    def _said(self) -> str:
        if self._is_running:
            return self.tr("Trains a small model for a few seconds.")
        if self._why:
            return self.tr("Not measured: {why}.").format(why=self._why.rstrip("."))
        said = [self._figures(self._result)] if self._result else []
        if self._is_lent:
            said.append(self.tr("Pause first to get a meaningful result."))
        elif not said:
            said.append(
                self.tr("Trains a small model for a few seconds and says how fast this device is.")
            )
        return " ".join(said)

    def _figures(self, result: Benchmark) -> str:
        tokens = figures.count(round(result.tokens_per_s))
        parts = [self.tr("{tokens} tokens per second").format(tokens=tokens)]
        if result.watts is not None:
            parts.append(figures.power(result.watts))
        if result.memory_mb:
            memory = figures.memory(result.memory_mb)
            parts.append(self.tr("{memory} of memory").format(memory=memory))
        return self.tr("{figures}.").format(figures=", ".join(parts))
