"""The card on Home with the last news of a run: how it ended, or to which round it went back."""

from __future__ import annotations

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

from tequio_client.app.language import join_sentences
from tequio_client.app.pages import run_needs
from tequio_client.app.pages.page import PageContext
from tequio_client.app.pages.run_needs import Fit
from tequio_client.app.run_news import (
    RUNS,
    RunNews,
    RunNewsTexts,
    RunResult,
    RunResultQuery,
    news_of_runs,
)
from tequio_client.app.settings_file import SettingsStore
from tequio_client.app.theme.style import TextStyle
from tequio_client.app.widgets.base import (
    Card,
    Columns,
    ElidedLabel,
    WrappedLabel,
    fill,
    hbox,
    holding,
)
from tequio_client.app.widgets.buttons import Button
from tequio_client.ipc.control import Question, Reply
from tequio_client.ipc.runs import RunRow, RunsReply

MOST_NAMED = 3
"""Runs that are named as possible next ones."""


class RunNewsCard(Card):
    """Hidden while `settings` name no news, and always without settings; asks for no list."""

    def __init__(self, context: PageContext, settings: SettingsStore | None) -> None:
        super().__init__()
        self._context, self._settings = context, settings
        self._texts = RunNewsTexts(self)
        self._query = RunResultQuery(context.model, self)
        self._news: RunNews | None = None
        self.title = ElidedLabel("", TextStyle.HEADING)
        self.words, self.next = WrappedLabel(), WrappedLabel(tone="sub")
        self.choose = Button(self.tr("Choose the next run"), "primary")
        self.chat = Button(self.tr("Chat with the model"), picture="message-square-text")
        self.page = Button(self.tr("See the run's page"), picture="external-link")
        self.dismiss = Button(self.tr("Dismiss"), "quiet")
        self._buttons = Columns(gap=10)
        first = hbox(self.choose, self.chat, None, spacing=10)
        second = hbox(self.page, None, spacing=10)
        self._buttons.set_parts((holding(first), holding(second)), shares=(0, 1))
        head = hbox((self.title, 1), self.dismiss, spacing=10)
        fill(self.body, head, self.words, self.next, self._buttons)
        self.choose.clicked.connect(lambda: context.open_page("runs"))
        self.chat.clicked.connect(self._open_chat)
        self.page.clicked.connect(self._open_page)
        self.dismiss.clicked.connect(self._dismiss)
        context.model.replied.connect(self._receive)
        self._query.changed.connect(self.refresh)
        self.hide()

    def refresh(self) -> None:
        """Show the news that the settings name, once the list of runs has it."""
        key = self._settings.settings.run_news if self._settings else ""
        if not key:
            self._news = None
            self.hide()
            return
        # Requested by `RunNewsNotifier`, which is where the key comes from.
        reply = self._context.model.reply(RUNS)
        rows = reply.rows if isinstance(reply, RunsReply) else ()
        found = (news for news in news_of_runs(rows) if news.key == key)
        self._news = next(found, None)
        self.setVisible(self._news is not None)
        if self._news is not None:
            self._query.ask(self._news.row.run)
            self._render(self._news, rows)

    def _receive(self, question: Question, _reply: Reply) -> None:
        if question == RUNS:
            self.refresh()

    def _render(self, news: RunNews, rows: tuple[RunRow, ...]) -> None:
        model, has_ended = self._context.model, news.back_to is None
        self.title.setText(self._texts.title(news))
        told = self._texts.text(news, self._query.result or RunResult())
        rank = self._texts.rank(model.snapshot) if has_ended else ""
        self.words.setText(join_sentences(told, rank))
        self.next.setText(self._next_runs(rows) if has_ended else "")
        self.next.setVisible(has_ended)
        self.choose.setVisible(has_ended)
        self._buttons.fold()
        self.setAccessibleName(self.title.text())

    def _next_runs(self, rows: tuple[RunRow, ...]) -> str:
        snapshot, preferences = self._context.model.snapshot, self._context.model.preferences
        offer = run_needs.resources(snapshot, preferences) if snapshot else None
        fitting = [row.name for row in rows if offer and _fits(row, offer)]
        if not fitting:
            return self.tr("No other open run fits this computer now. Tequio keeps looking.")
        names = ", ".join(fitting[:MOST_NAMED])
        return self.tr("Open runs that fit this computer: {names}.").format(names=names)

    def _open_chat(self) -> None:
        if self._news is not None:
            self._context.open_page(f"model/{self._news.row.run}")

    def _open_page(self) -> None:
        snapshot = self._context.model.snapshot
        if self._news is not None and snapshot is not None:
            ledger = snapshot.ledger.url.rstrip("/")
            QDesktopServices.openUrl(QUrl(f"{ledger}/runs/{self._news.row.run}"))

    def _dismiss(self) -> None:
        if self._settings is not None:
            self._settings.change(run_news="")
        self.refresh()


def _fits(row: RunRow, offer: run_needs.RunResources) -> bool:
    fit = run_needs.overall_fit(run_needs.needs_of(row, offer))
    return row.is_open and not run_needs.is_full(row) and fit in (Fit.FITS, Fit.TIGHT)
