"""News of a run that this computer works for: its end, and its return to an earlier head.

Each is told once, also if it happened while the app was off: the keys of what was told are saved
with the app's settings. What is over when the app sees its first list of runs counts as told. The
last news stays on Home until it is dismissed (`pages/run_news_card.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from tequio_client.app.language import join_sentences
from tequio_client.app.model import PeriodicQuestion
from tequio_client.app.widgets import figures
from tequio_client.ipc.control import Question, Reply
from tequio_client.ipc.facts import MAX_ROWS
from tequio_client.ipc.points import (
    AskLosses,
    AskPoints,
    AskSeries,
    LossesReply,
    PointsReply,
    PointsSeries,
)
from tequio_client.ipc.runs import AskRuns, RunRow, RunsReply

if TYPE_CHECKING:
    from tequio_client.app.model import AppModel
    from tequio_client.app.settings_file import SettingsStore
    from tequio_client.ipc.snapshot import Snapshot

RUNS = AskRuns()
REFRESH_MS = 15 * 60_000
"""Interval between two requests for the list."""
ID_LETTERS = 16
MOST_KEYS = 256
HOME_PAGE = "home"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunNews:
    """`back_to` is the round whose head the run went back to; None: it has ended."""

    row: RunRow
    back_to: int | None = None

    @property
    def key(self) -> str:
        what = "ended" if self.back_to is None else f"back-{self.row.rollback_entry}"
        return f"{self.row.run[:ID_LETTERS]}:{what}"


def news_of_runs(rows: Sequence[RunRow]) -> Iterator[RunNews]:
    """At most one piece of news for each run; its end comes before its last rollback."""
    for row in rows:
        if not row.is_open:
            yield RunNews(row=row)
        elif row.rollback_entry is not None:
            yield RunNews(row=row, back_to=row.rollback_round)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """The result of a run, and our share in it; None: unknown."""

    gflop: int | None = None
    accepted: int | None = None
    """Rounds that earned us points."""
    bits: tuple[float, float] | None = None
    """Held-out bits per byte of the first and the last head that was measured here."""


class RunResultQuery(QObject):
    """Asks for the result of one run; what is refused stays unknown."""

    changed = Signal()
    """Every question about the run was answered or refused."""

    def __init__(self, model: AppModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._open: set[Question] = set()
        self.run = ""
        self.result: RunResult | None = None
        """None: not complete yet."""
        self._replies: dict[type[Reply], Reply] = {}
        model.replied.connect(self._receive)
        model.refused.connect(self._handle_refusal)
        model.network_changed.connect(self.forget)

    def forget(self) -> None:
        self.run, self.result = "", None
        self._open.clear()
        self._replies.clear()

    def ask(self, run: str) -> None:
        """Ask about a run unless that is done; the replies about another one are dropped."""
        if run == self.run:
            return
        self.forget()
        self.run = run
        questions = (
            AskSeries(run=run),
            AskPoints(run=run, limit=MAX_ROWS),
            AskLosses(run=run),
        )
        self._open = set(questions)
        for question in questions:
            self._model.ask(question)

    def _receive(self, question: Question, reply: Reply) -> None:
        if question in self._open:
            self._replies[type(reply)] = reply
            self._settle(question)

    def _handle_refusal(self, question: Question, _why: str) -> None:
        if question in self._open:
            self._settle(question)

    def _settle(self, question: Question) -> None:
        self._open.discard(question)
        if not self._open:
            self.result = _result(self._replies)
            self.changed.emit()


def _result(replies: dict[type[Reply], Reply]) -> RunResult:
    series, points = replies.get(PointsSeries), replies.get(PointsReply)
    losses = replies.get(LossesReply)
    rows = losses.rows if isinstance(losses, LossesReply) else ()
    bits = [row.bits_per_byte for row in rows if row.bits_per_byte is not None]
    accepted = None
    if isinstance(points, PointsReply) and not points.has_more:
        accepted = sum(row.state == "verified" and row.gflop > 0 for row in points.rows)
    return RunResult(
        gflop=sum(series.verified) if isinstance(series, PointsSeries) else None,
        accepted=accepted,
        bits=(bits[0], bits[-1]) if len(bits) > 1 else None,
    )


class RunNewsTexts(QObject):
    """The sentences of a piece of news, for a notification and for Home."""

    def title(self, news: RunNews) -> str:
        row = news.row
        if news.back_to is not None:
            title = self.tr("{run} went back to round {round}")
            return title.format(run=row.name, round=figures.count(news.back_to))
        if row.rounds and row.round >= row.rounds:
            return self.tr("{run} is complete").format(run=row.name)
        return self.tr("{run} has ended").format(run=row.name)

    def text(self, news: RunNews, result: RunResult) -> str:
        """For a rollback without the result: the last heads measured here were given up."""
        if news.back_to is not None:
            return self._reached(news)
        return join_sentences(self._reached(news), self._improved(result), self._earned(result))

    def rank(self, snapshot: Snapshot | None) -> str:
        """Our place among all keys of the network; empty: none yet."""
        if snapshot is None or not snapshot.points.rank:
            return ""
        rank, ranked = (figures.count(n) for n in (snapshot.points.rank, snapshot.points.ranked))
        return self.tr("In this network you are #{rank} of {ranked}.").format(
            rank=rank, ranked=ranked
        )

    def _reached(self, news: RunNews) -> str:
        row = news.row
        if news.back_to is not None:
            return self.tr(
                "Its organisers gave up the rounds after that one, and training goes on from "
                "there. Your points stay yours."
            )
        number, rounds = figures.count(row.round), figures.count(row.rounds)
        if row.rounds and row.round >= row.rounds:
            return self.tr("It reached its last round, {round}.").format(round=rounds)
        if row.rounds:
            text = self.tr("It ended after {round} of {rounds} rounds.")
            return text.format(round=number, rounds=rounds)
        return self.tr("It ended after round {round}.").format(round=number)

    def _improved(self, result: RunResult) -> str:
        if result.bits is None:
            return ""
        first, last = (figures.decimal(number, 3) for number in result.bits)
        before, after = map(figures.byte_perplexity, result.bits)
        text = self.tr(
            "Its model went from {first} to {last} bits per byte of unseen text, or from "
            "perplexity {before} to {after} per byte."
        )
        return text.format(first=first, last=last, before=before, after=after)

    def _earned(self, result: RunResult) -> str:
        if not result.gflop:
            return ""
        points = figures.short_points(result.gflop)
        if not result.accepted:
            return self.tr("You earned {points} points in it.").format(points=points)
        text = self.tr("You earned {points} points in %Ln accepted round(s).", "", result.accepted)
        return text.format(points=points)


class RunNewsNotifier(QObject):
    """Requests the list of runs from time to time, and sends what is new to `send`."""

    def __init__(
        self,
        model: AppModel,
        settings_store: SettingsStore,
        send: Callable[[str, str, str], None],
        now_ms: Callable[[], int],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._model, self._store, self._send = model, settings_store, send
        self._texts, self._query = RunNewsTexts(self), RunResultQuery(model, self)
        self._list = PeriodicQuestion(model, now_ms, RunsReply, REFRESH_MS, parent=self)
        self._list.set_question(RUNS)
        self._list.changed.connect(self._check)
        self._query.changed.connect(self._check)

    def refresh(self) -> None:
        """Request the list if it is old, and send what is due; never call it in full screen."""
        self._list.poll()
        self._check()

    def ask_now(self) -> None:
        """Request the list, because a run of this computer has ended."""
        self._list.ask()

    def _check(self) -> None:
        session = self._model.session
        if self._list.reply is None or session.fullscreen or session.game:
            return
        settings = self._store.settings
        found = list(news_of_runs(self._list.reply.rows))
        if not settings.knows_runs:
            self._remember(found)
            return
        fresh = [news for news in found if news.key not in settings.runs_told]
        due = [news for news in fresh if self._concerns_us(news.row)]
        if len(due) < len(fresh):
            self._remember([news for news in fresh if news not in due])
        if not due:
            return
        self._query.ask(due[0].row.run)
        if self._query.result is not None:
            self._report(due[0], self._query.result)

    def _concerns_us(self, row: RunRow) -> bool:
        chosen = self._model.preferences.run
        return row.is_ours or bool(row.first_round) or row.run == chosen

    def _report(self, news: RunNews, result: RunResult) -> None:
        self._query.forget()
        self._remember([news])
        self._store.change(run_news=news.key)
        if self._store.settings.notify_runs:
            self._send(self._texts.title(news), self._texts.text(news, result), HOME_PAGE)

    def _remember(self, told: Sequence[RunNews]) -> None:
        known = dict.fromkeys((*self._store.settings.runs_told, *(news.key for news in told)))
        self._store.change(knows_runs=True, runs_told=tuple(known)[-MOST_KEYS:])
