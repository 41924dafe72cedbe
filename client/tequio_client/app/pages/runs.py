"""Runs: which models are trained, what each takes of this computer, and which one it works for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace
from PySide6.QtWidgets import QSizePolicy, QStackedWidget, QVBoxLayout, QWidget

from tequio_client.app.pages import run_fit
from tequio_client.app.pages.page import Page
from tequio_client.app.pages.page_head import PageHead
from tequio_client.app.pages.run_choices import ANY, RunChoices
from tequio_client.app.pages.run_detail import RunDetail
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.banner import Banner
from tequio_client.app.widgets.button import Button
from tequio_client.app.widgets.columns import Columns
from tequio_client.app.widgets.empty_state import EmptyState
from tequio_client.link.questions import AskRuns, Runs

if TYPE_CHECKING:
    from tequio_client.app.pages.page import Means
    from tequio_client.link.questions import Question, Reply, RunRow
    from tequio_client.link.snapshot import Snapshot

ASK = AskRuns()
EVERY_MS = 60_000
"""Between two questions while somebody looks."""
LEAST_LIST = 290


class RunsPage(Page):
    """The page of the runs."""

    def __init__(self, means: Means) -> None:
        super().__init__(means)
        self._rows: tuple[RunRow, ...] | None = None
        self._rows_ms = self._asked_ms = 0
        self._is_asking, self._problem = False, ""
        self._seen: str | None = None
        self._shown: tuple[object, ...] = ()
        self.again = Button(self.tr("Refresh"), picture="refresh-cw")
        self.head = PageHead(
            self.tr("Runs"), self.tr("Each run trains one model, round by round."), (self.again,)
        )
        self.banner, self.choices, self.detail = Banner(), RunChoices(), RunDetail()
        self.empty = EmptyState("boxes", "", "", self.tr("Try again"))
        self.stack = QStackedWidget()
        self.stack.addWidget(self.empty)
        self.stack.addWidget(self._parts())
        for part in (self.head, self.banner):
            self.body.addWidget(part)
        self.body.addWidget(self.stack, 1)
        self.again.clicked.connect(self.ask)
        self.empty.button.clicked.connect(self.ask)
        self.choices.looked_at.connect(self.look_at)
        self.detail.wanted.connect(self.join)
        self.model.replied.connect(self._take)
        self.model.refused.connect(self._miss)

    @property
    def place(self) -> str:
        """The run that is looked at."""
        return self._seen or ""

    def go_to(self, place: str) -> None:
        """Look at the run that was looked at."""
        self.look_at(place)

    # --- what the user does

    def ask(self) -> None:
        """Ask for the list now, unless a question is under way."""
        if self._is_asking:
            return
        self._is_asking, self._asked_ms = True, self.means.now_ms()
        self._show_asking()
        self.model.ask(ASK)

    def look_at(self, run: str) -> None:
        """Show what joining that one means."""
        self._seen = run
        self._show_list()

    def join(self, run: str) -> None:
        """Work for that run from now on; `ANY`: the program chooses."""
        self.model.choose(replace(self.model.preferences, run=run))

    # --- what is known

    def refresh(self) -> None:
        """Show what is known now, and ask when that is old."""
        self._show()
        if self.model.snapshot is not None and self._is_due():
            self.ask()

    def _is_due(self) -> bool:
        return not self._is_asking and self.means.now_ms() - self._asked_ms >= EVERY_MS

    def _take(self, question: Question, reply: Reply) -> None:
        if question == ASK and isinstance(reply, Runs):
            self._rows, self._rows_ms = reply.rows, self.means.now_ms()
            self._is_asking, self._problem = False, ""
            self._show()

    def _miss(self, question: Question, why: str) -> None:
        if question == ASK:
            self._is_asking, self._problem = False, why or self.tr("The worker does not answer")
            self._show()

    # --- what is shown

    def _show(self) -> None:
        self._show_asking()
        self._show_banner()
        if self._rows is None or not self._rows:
            self._show_empty()
            return
        self.stack.setCurrentIndex(1)
        self._show_list()

    def _show_asking(self) -> None:
        self.again.setEnabled(not self._is_asking)
        self.empty.button.setEnabled(not self._is_asking)
        if self._rows is not None:
            ago = figures.ago(self._rows_ms, self.means.now_ms())
            about = self.tr("Each run trains one model, round by round. List read {ago}.")
            self.head.say(about.format(ago=ago))

    def _show_banner(self) -> None:
        words, level = self._warning()
        self.banner.setVisible(bool(words))
        if words:
            self.banner.show_words(level, words)

    def _warning(self) -> tuple[str, str]:
        """What is wrong with what is shown, and how bad that is."""
        if self._rows is None:
            return "", "info"
        if self._problem:
            at = figures.moment(self._rows_ms, self.means.now_ms())
            words = self.tr("This is the list of {time}: {problem}.")
            return words.format(time=at, problem=self._problem.rstrip(".")), "warning"
        chosen = self._row(self.model.preferences.run)
        if self.model.preferences.run and (chosen is None or not chosen.is_open):
            words = self.tr("The run that you chose is not open any more. Choose another.")
            return words, "warning"
        if self._rows and not any(row.is_open for row in self._rows):
            return self._none_open(), "info"
        return "", "info"

    def _none_open(self) -> str:
        return self.tr(
            "No run is open now. Tequio keeps looking and joins when one opens: there is nothing "
            "to do."
        )

    def _show_empty(self) -> None:
        self.stack.setCurrentIndex(0)
        self.empty.button.setVisible(bool(self._problem))
        if self._rows is not None:
            self.empty.show_words(self.tr("No run yet"), self._none_open())
        elif self._problem:
            words = self.tr("{problem}. Tequio will keep trying.")
            told = words.format(problem=self._problem.rstrip("."))
            self.empty.show_words(self.tr("Couldn't load the list"), told)
        else:
            self.empty.show_words(
                self.tr("Looking for runs"), self.tr("The ledger is asked which runs there are.")
            )

    def _show_list(self) -> None:
        rows, snapshot, chosen = self._rows or (), self.model.snapshot, self.model.preferences.run
        there = run_fit.room(snapshot, self.model.preferences) if snapshot else None
        ours = _ours(rows, snapshot)
        if (rows, there, ours, chosen, self._seen) == self._shown:
            return
        self._shown = rows, there, ours, chosen, self._seen
        self.choices.show_rows(rows, there, ours, chosen)
        seen = ours or chosen if self._seen is None else self._seen
        row = self._row(seen)
        self.choices.look_at(row.run if row else ANY)
        if row is None:
            current = self._row(ours)
            self.detail.show_any(is_chosen=chosen == ANY, now=current.name if current else "")
        else:
            self.detail.show_run(row, there, is_ours=row.run == ours, is_chosen=row.run == chosen)

    def _row(self, run: str) -> RunRow | None:
        return next((row for row in self._rows or () if row.run == run), None)

    def _parts(self) -> QWidget:
        made, left = Columns(), QWidget()
        left.setMinimumWidth(LEAST_LIST)
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.choices)
        column.addStretch(1)
        made.hold((left, self.detail), shares=(5, 6))
        made.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        return made


def _ours(rows: tuple[RunRow, ...], snapshot: Snapshot | None) -> str:
    """The run that we are in; empty: none."""
    if snapshot is not None and snapshot.round is not None:
        return snapshot.round.run
    return next((row.run for row in rows if row.is_ours), "") if snapshot else ""
