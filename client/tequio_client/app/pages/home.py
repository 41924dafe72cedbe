"""Home: what the computer does now and why, what came of it, and the hand to stop it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QDate, QDateTime, QTime
from PySide6.QtWidgets import QSizePolicy, QStackedWidget

from tequio_client.app.pages.home_header import Header
from tequio_client.app.pages.home_round import RoundCard
from tequio_client.app.pages.page import Page
from tequio_client.app.pages.remedies import backup, remedy
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.area_chart import AreaChart, Plot
from tequio_client.app.widgets.banner import Banner
from tequio_client.app.widgets.card import Card
from tequio_client.app.widgets.columns import Columns
from tequio_client.app.widgets.empty_state import EmptyState
from tequio_client.app.widgets.ranking_table import RankingTable
from tequio_client.app.widgets.stat_card import StatCard
from tequio_client.link.questions import AskRanking, AskSeries, Ranking, Series

if TYPE_CHECKING:
    from tequio_client.app.pages.page import Means
    from tequio_client.link.questions import Question, Reply
    from tequio_client.link.snapshot import RoundShown, Snapshot

DAYS = 30
DAY_MS = 86_400_000
AROUND = 3
RANKING = AskRanking(around=AROUND)
LEAST = 190
"""Pixels that a card needs."""


class Home(Page):
    """The first page."""

    def __init__(self, means: Means) -> None:
        super().__init__(means)
        self._asked_for: tuple[int, AskSeries] | None = None
        self.header, self.banner = Header(means), Banner()
        self.round, self.stats = RoundCard(means), Stats()
        self.days, self.ranking = DaysCard(), RankingCard()
        self._target = ""
        self.banner.button.clicked.connect(lambda: means.open_page(self._target))
        for part in (self.header, self.banner, self.round, self.stats):
            self.body.addWidget(part)
        lower = Columns()
        lower.hold((self.days, self.ranking), shares=(3, 2))
        lower.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.body.addWidget(lower, 1)
        self.model.replied.connect(self._take)
        self.model.refused.connect(self._miss)
        self._keys = means.own.keys if means.own else None
        if self._keys is not None:
            self._keys.changed.connect(self.expect)

    def refresh(self) -> None:
        """Show the latest snapshot."""
        snapshot = self.model.snapshot
        self.header.refresh()
        self._show_banner(snapshot)
        self.round.show_snapshot(snapshot)
        self.stats.show_snapshot(snapshot)
        self.days.show_round(snapshot.round if snapshot else None)
        if snapshot is not None:
            self._ask(snapshot)

    def _show_banner(self, snapshot: Snapshot | None) -> None:
        found = remedy(snapshot, self.model.why_gone, self.means.now_ms()) or backup(self._keys)
        self.banner.setVisible(found is not None)
        if found is not None:
            self._target = found.target
            self.banner.show_words(found.level, found.words, found.button)

    def _ask(self, snapshot: Snapshot) -> None:
        """Ask anew when there is a change in the points book, or another day."""
        question = series_question(self.means.now_ms())
        if self._asked_for != (snapshot.rounds, question):
            self._asked_for = (snapshot.rounds, question)
            self.model.ask(question)
            self.model.ask(RANKING)

    def _take(self, question: Question, reply: Reply) -> None:
        asked = self._asked_for[1] if self._asked_for else None
        if question == asked and isinstance(reply, Series):
            self.days.show_series(reply)
        if question == RANKING and isinstance(reply, Ranking):
            self.ranking.show_ranking(reply)

    def _miss(self, question: Question, _why: str) -> None:
        if question == RANKING:
            self.ranking.miss()
        if self._asked_for and question == self._asked_for[1]:
            self._asked_for = None


def series_question(now_ms: int) -> AskSeries:
    """The points of each of the last days, today among them, by the local calendar."""
    today = QDateTime.fromMSecsSinceEpoch(now_ms).date()
    first = QDateTime(QDate(today).addDays(1 - DAYS), QTime(0, 0))
    return AskSeries(since_ms=first.toMSecsSinceEpoch(), step_ms=DAY_MS)


class Stats(Columns):
    """The four figures."""

    def __init__(self) -> None:
        super().__init__(folded=2)
        self.today = StatCard(self.tr("Points today"), "coins")
        self.total = StatCard(self.tr("Total points"), "layers")
        self.rank = StatCard(self.tr("Rank"), "trophy")
        self.energy = StatCard(self.tr("Energy today"), "zap")
        cards = (self.today, self.total, self.rank, self.energy)
        for card in cards:
            card.setMinimumWidth(LEAST)
        self.hold(cards)
        self.show_snapshot(None)

    def show_snapshot(self, snapshot: Snapshot | None) -> None:
        """Show its figures; dashes without one."""
        if snapshot is None:
            for card in (self.today, self.total, self.rank, self.energy):
                card.show_figure(figures.ABSENT)
            return
        self._show_points(snapshot)
        self._show_energy(snapshot)

    def _show_points(self, snapshot: Snapshot) -> None:
        points = snapshot.points
        sign = "+" if points.today else ""
        pending = self.tr("%n round(s) pending", "", points.pending)
        today = pending if points.pending else self.tr("Nothing pending")
        exact = self.tr("{points} points").format(points=figures.exact_points(points.today))
        self.today.show_figure(sign + figures.points(points.today), today, exact)
        more = self.tr("{points} still to be checked").format(
            points=figures.points(points.unverified)
        )
        checked = self.tr("Every proof checked here") if points.total else self.tr("None yet")
        exact = self.tr("{points} points").format(points=figures.exact_points(points.total))
        total = more if points.unverified else checked
        self.total.show_figure(figures.points(points.total), total, exact)
        of_all = self.tr("of {ranked} volunteers").format(ranked=figures.count(points.ranked))
        unranked = self.tr("After your first verified round")
        rank = f"#{figures.count(points.rank)}" if points.rank else figures.ABSENT
        self.rank.show_figure(rank, of_all if points.rank else unranked)

    def _show_energy(self, snapshot: Snapshot) -> None:
        joules = snapshot.energy_today_j
        if not joules and not snapshot.is_energy_measured:
            self.energy.show_figure(figures.ABSENT, self.tr("Not measured here"))
            return
        total = self.tr("{energy} in all").format(energy=figures.energy(snapshot.energy_total_j))
        estimate = self.tr("Estimated, {total}").format(total=total)
        self.energy.show_figure(
            figures.energy(joules), total if snapshot.is_energy_measured else estimate
        )


class DaysCard(Card):
    """The points of each day."""

    def __init__(self) -> None:
        super().__init__()
        self.title(self.tr("Points per day"), self.tr("30 days"))
        self.chart = AreaChart(
            self.tr("Points per day"),
            self._empty(),
            lambda micropoints: figures.points(int(micropoints)),
            lambda micropoints: figures.exact_points(int(micropoints)),
        )
        self.body.addWidget(self.chart, 1)

    def show_round(self, current: RoundShown | None) -> None:
        """Before there is anything to draw, say how long the first points may take."""
        if current is None or not current.ends_ms > current.opened_ms > 0:
            self.chart.say_empty(self._empty())
            return
        time = figures.duration((current.ends_ms - current.opened_ms) / 1_000)
        words = self.tr("A round trains for about {time} and is checked after that.")
        self.chart.say_empty(f"{self._empty()} {words.format(time=time)}")

    def show_series(self, series: Series) -> None:
        """Show these days."""
        first, step = series.since_ms + series.step_ms // 2, series.step_ms
        days = tuple(figures.day(first + at * step) for at in range(len(series.verified)))
        values = tuple(float(points) for points in series.verified)
        summary = ""
        if values:
            peak = max(range(len(values)), key=values.__getitem__)
            summary = self.tr("{total} points in {days} days; most on {day}: {peak}").format(
                total=figures.points(sum(series.verified)),
                days=len(values),
                day=days[peak],
                peak=figures.points(series.verified[peak]),
            )
        self.chart.show_plot(Plot(values=values, labels=days, summary=summary))

    def _empty(self) -> str:
        return self.tr("Each day's verified points will stand here, from your first round on.")


class RankingCard(Card):
    """Who has about as many points."""

    def __init__(self) -> None:
        super().__init__()
        self.title(self.tr("Around you"))
        self.setMinimumWidth(LEAST + LEAST // 4)
        self.table = RankingTable(self.tr("Ranking around you"))
        self.empty = EmptyState(
            "trophy",
            self.tr("Not ranked yet"),
            self.tr("After your first verified round you see who has about as many points."),
        )
        self.stack = QStackedWidget()
        self.stack.addWidget(self.empty)
        self.stack.addWidget(self.table)
        self.body.addWidget(self.stack, 1)

    def show_ranking(self, ranking: Ranking) -> None:
        """Show these neighbours."""
        self.table.show_rows(ranking.rows)
        has_own = any(row.is_ours for row in ranking.rows)
        self.stack.setCurrentWidget(self.table if has_own else self.empty)

    def miss(self) -> None:
        """There is no answer; what was shown before stays."""
        if self.stack.currentWidget() is self.empty:
            self.empty.show_words(
                self.tr("No ranking now"),
                self.tr("Can't reach the ledger. Tequio will keep trying."),
            )
