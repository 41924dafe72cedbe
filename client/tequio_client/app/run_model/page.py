"""The Model page: how the model that this computer helps to train develops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_client.app.language import without_period
from tequio_client.app.pages.page import LIST_INTERVAL_MS, ListPage, PageContext, PageHeader
from tequio_client.app.pages.runs import own_run
from tequio_client.app.run_model.chat_card import ChatCard, CommandsCard
from tequio_client.app.run_model.chat_process import ChatTarget
from tequio_client.app.run_model.measures import RunMeasures
from tequio_client.app.run_model.samples import JoinedCard, SamplesCard
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import fill
from tequio_client.app.widgets.messages import Banner, EmptyState
from tequio_client.ipc.runs import AskRuns, RunRow, RunsReply
from tequio_shared.network.verdicts import HeadVerdict

if TYPE_CHECKING:
    from PySide6.QtGui import QHideEvent


class ModelPage(ListPage[RunsReply]):
    """About the run that this computer is in, or else the one that was chosen for it."""

    def __init__(self, context: PageContext) -> None:
        super().__init__(context, RunsReply, AskRuns(), "message-square-text")
        self.list.set_question(AskRuns())
        self.measures = RunMeasures(self)
        self._read_ms, self._last_ledger = 0, ""
        self._shown: tuple[object, ...] = ()
        about = self.tr("The model that this computer helps to train.")
        self.head = PageHeader(self.tr("Model"), about, (self.again,))
        self.unjoined = EmptyState(
            "boxes",
            self.tr("No run yet"),
            self.tr("Once this computer is in a run, you can see here what its model learns."),
            self.tr("Open Runs"),
        )
        self.unjoined.button.clicked.connect(lambda: context.open_page("runs"))
        self.unmeasured, self.worse = Banner(), Banner()
        self.joined, self.samples = JoinedCard(), SamplesCard()
        program = context.program
        self.chat = ChatCard(self.model, program.releases if program else None)
        self.commands = CommandsCard()
        fill(self.body, self.head, self.banner, (self.empty, 1), (self.unjoined, 1))
        fill(
            self.body,
            self.unmeasured,
            self.worse,
            self.joined,
            self.samples,
            self.chat,
            self.commands,
        )
        self.body.addStretch(1)
        self.samples.round_chosen.connect(self.measures.choose)
        self.list.changed.connect(self.request_refresh)
        self.measures.changed.connect(self.request_refresh)

    def restore_location(self, location: str) -> None:
        """Show the run of that id until the page is left."""
        self.location = location
        self.request_refresh()

    def ask(self) -> None:
        self.list.ask()
        self._read_measures()
        self._show_all()

    def refresh(self) -> None:
        self.list.poll()
        row, now_ms = self.row, self.context.now_ms()
        if row is not None:
            self.measures.set_run(self._ledger(), row.run, row.first_round)
            is_due = now_ms - self._read_ms >= LIST_INTERVAL_MS
            if is_due or not (self.measures.has_read or self.measures.problem):
                self._read_measures()
        self._show_all()

    def hideEvent(self, event: QHideEvent) -> None:
        """While hidden, ask nothing and run no model; a minimised window still waits for it."""
        super().hideEvent(event)
        if not event.spontaneous():
            self.measures.stop()
            self.chat.end()
            self.location = ""

    @property
    def row(self) -> RunRow | None:
        """The run in view; None: this computer is in none, and none was chosen."""
        rows = self.list.reply.rows if self.list.reply else ()
        wanted = self.location or own_run(rows, self.model.snapshot) or self.model.preferences.run
        return next((row for row in rows if row.run == wanted), None)

    def _ledger(self) -> str:
        """The ledger's address, also while the worker starts again."""
        if self.model.snapshot is not None:
            self._last_ledger = self.model.snapshot.ledger.url
        return self._last_ledger

    def _read_measures(self) -> None:
        self._read_ms = self.context.now_ms()
        self.measures.read()

    def _show_all(self) -> None:
        self.show_asking()
        row = self.row
        self.empty.setVisible(row is None and self.list.reply is None)
        self.unjoined.setVisible(row is None and self.list.reply is not None)
        has_measure = row is not None and self.measures.last is not None
        self.joined.setVisible(has_measure and self.measures.has_read)
        self.samples.setVisible(has_measure and self.measures.earlier is not None)
        self.chat.setVisible(row is not None and self.context.program is not None)
        self.commands.setVisible(row is not None)
        self._show_banners(row)
        if row is None:
            self._show_empty()
            return
        shown = (row, self._ledger(), self.measures.state)
        if shown != self._shown:
            self._shown = shown
            about = self.tr("{run}: the model that this computer helps to train.")
            self.head.words.setText(about.format(run=row.name))
            self.joined.show_change(row.first_round, self.measures)
            self.samples.show_measures(self.measures)
            self.commands.show_run(row, self._ledger())
        if self.context.program is not None:
            folder = self.context.program.folder
            self.chat.set_target(ChatTarget(run=row.run, ledger=self._ledger(), folder=folder))
            self.chat.refresh()

    def _show_banners(self, row: RunRow | None) -> None:
        problem = self.measures.problem if row is not None else ""
        self.banner.setVisible(bool(problem))
        if problem:
            words = self.tr("Couldn't read the measures of this model. Tequio keeps trying.")
            self.banner.show_words("warning", words, details=problem)
        last = self.measures.last if row is not None else None
        is_worse = last is not None and last.verdict == HeadVerdict.WORSE
        self.worse.setVisible(is_worse)
        if last is not None and last.best_round is not None and is_worse:
            words = self.tr(
                "The model got worse: after round {number}, it guesses unseen text less well than "
                "after round {best}. Several members measured it and agree. The organisers can "
                "pause the run and go back to an earlier model."
            )
            number, best = figures.count(last.round), figures.count(last.best_round)
            self.worse.show_words("warning", words.format(number=number, best=best))
        is_unmeasured = row is not None and self.measures.last is None and not problem
        self.unmeasured.setVisible(is_unmeasured)
        self.unmeasured.show_words(
            "info",
            self.tr(
                "This model has not been measured yet. Some members measure it every few rounds "
                "if the run's rules say so, and the results appear here."
            )
            if self.measures.has_read
            else self.tr("Asking the network how well the model does."),
        )

    def _show_empty(self) -> None:
        problem = self.list.problem
        self.empty.button.setVisible(bool(problem))
        if problem:
            words = self.tr("{problem}. Tequio will keep trying.")
            words = words.format(problem=without_period(problem[:1].upper() + problem[1:]))
            self.empty.show_words(self.tr("Couldn't load the model"), words, self.details)
        else:
            self.empty.show_words(
                self.tr("Looking for the model"),
                self.tr("Asking the network which run this computer is in."),
            )
