"""The Home page: what the computer does now and why, its results, and how to pause it."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, QDate, QDateTime, QTime, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QSizePolicy, QStackedWidget, QVBoxLayout, QWidget

from tequio_client.app import worker_texts
from tequio_client.app.keys.service import KeyService
from tequio_client.app.language import join_sentences
from tequio_client.app.model import PeriodicQuestion
from tequio_client.app.pages.devices import UsageMeters
from tequio_client.app.pages.organiser_notices import OrganiserNotices
from tequio_client.app.pages.page import LIST_INTERVAL_MS, Page, PageContext
from tequio_client.app.pages.run_news_card import RunNewsCard
from tequio_client.app.pages.settings_table import rule_page
from tequio_client.app.releases import UPDATE_NOW, ReleaseService
from tequio_client.app.theme import icons
from tequio_client.app.theme.style import TextStyle
from tequio_client.app.tray import SnoozeMenu
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import (
    MIDDLE,
    TOP,
    TRAILING,
    Card,
    Columns,
    ElidedLabel,
    Label,
    WrappedLabel,
    caption,
    fill,
    hbox,
    holding,
    vbox,
)
from tequio_client.app.widgets.buttons import Button
from tequio_client.app.widgets.cards import RankingTable, StatCard, StatCards
from tequio_client.app.widgets.charts import ChartData, PointsChart
from tequio_client.app.widgets.indicators import Chip, PercentRing, ProgressBar, StateIcon
from tequio_client.app.widgets.messages import Banner, EmptyState
from tequio_client.app.worker_texts import headline
from tequio_client.ipc.points import AskRanking, AskSeries, PointsSeries, RankingReply
from tequio_client.ipc.snapshot import (
    UNDECIDED,
    CurrentRoundView,
    Decision,
    LedgerView,
    LendingReason,
    LendingState,
    Snapshot,
)

HEADING_WIDTH = 250
MARK = 16
BETWEEN = "  ·  "
NAMES_WIDTH = 220
"""Minimum width of the names, in pixels."""
DAYS = 30
DAY_MS = 86_400_000
RANKING = AskRanking(around=3)
RANKING_WIDTH = 237
"""Minimum width of the ranking in pixels."""
BUTTONS = {
    "settings": "Open Settings",
    "hardware": "Open Hardware",
    "activity": "Open Activity",
    "runs": "Open Runs",
    "try-again": "Try again",
    "join": "Join a network…",
    "key-backup": "Back it up",
}
"""Labels of a banner's button, by the page or action that it opens."""
NO_BACKUP = "Your key has no backup: if this disk fails, your points cannot be claimed."
AWAY = "The network has not answered since {since}."
AWAY_AT_WORK = "The network has not answered since {since}. Work goes on, and points follow later."
HOW_TO_UPDATE = (
    "Update it the way it was installed, for example with git, pip or the system's packages."
)
REASON_PAGES = {
    LendingReason.TRAINER_BROKEN: "activity",
    LendingReason.QUARANTINED: "activity",
    LendingReason.NO_DEVICE: "hardware",
    LendingReason.NO_RUN: "runs",
    LendingReason.LEDGER_UNKNOWN: "join",
}
"""Pages that solve a problem; Settings where it is another."""


class HomePage(Page):
    def __init__(self, context: PageContext) -> None:
        super().__init__(context)
        self._asked_for: tuple[int, AskSeries] | None = None
        now_ms = context.now_ms
        self._series = PeriodicQuestion(
            self.model, now_ms, PointsSeries, LIST_INTERVAL_MS, parent=self
        )
        self._ranks = PeriodicQuestion(
            self.model, now_ms, RankingReply, LIST_INTERVAL_MS, parent=self
        )
        self._ranks.set_question(RANKING)
        self.header, self.banner = HomeHeader(context), Banner()
        settings = context.program.settings if context.program else None
        self.notices, self.news = OrganiserNotices(settings), RunNewsCard(context, settings)
        self.round, self.stats = RoundCard(context), Stats()
        self.days, self.ranking = DaysCard(), RankingCard()
        self.ranking.full.clicked.connect(self._open_ranking)
        self._target = ""
        self.banner.button.clicked.connect(lambda: context.open_page(self._target))
        lower = Columns()
        lower.set_parts((self.days, self.ranking), shares=(3, 2))
        lower.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        fill(self.body, self.header, self.banner, self.news, self.notices, self.round, self.stats)
        self.body.addWidget(lower, 1)
        self._series.changed.connect(self._show_series)
        self._ranks.changed.connect(self._show_ranking)
        self._keys = context.program.keys if context.program else None
        if self._keys is not None:
            self._keys.changed.connect(self.request_refresh)
        self._releases = context.program.releases if context.program else None
        if self._releases is not None:
            self._releases.changed.connect(self.request_refresh)

    def refresh(self) -> None:
        snapshot = self.model.snapshot
        self.header.refresh()
        self._show_banner(snapshot)
        ledger = snapshot.ledger if snapshot else LedgerView()
        self.notices.show_notices(ledger, snapshot.round if snapshot else None)
        self.news.refresh()
        self.round.show_snapshot(snapshot)
        self.stats.show_snapshot(snapshot)
        self.days.show_round(snapshot.round if snapshot else None)
        if snapshot is not None:
            self._ask(snapshot)

    def reload(self) -> None:
        self._series.ask()
        self._ranks.ask()
        super().reload()

    def _show_banner(self, snapshot: Snapshot | None) -> None:
        found = (
            release_banner(self._releases, is_urgent=True)
            or outdated_banner(snapshot, self._releases, self.context.now_ms())
            or urgent_banner(snapshot, self.model.why_gone, self.context.now_ms())
            or release_banner(self._releases, is_urgent=False)
            or backup_reminder(self._keys)
        )
        self.banner.setVisible(found is not None)
        if found is not None:
            self._target = found.target
            known = _translated(BUTTONS[found.target]) if found.target in BUTTONS else ""
            button = found.button or known
            self.banner.show_words(found.level, found.words, button, found.details)

    def _ask(self, snapshot: Snapshot) -> None:
        """Ask again after new points and on a new day, and repeat a question that got no answer."""
        question = series_question(self.context.now_ms())
        if self._asked_for != (snapshot.rounds, question):
            self._asked_for = (snapshot.rounds, question)
            self._series.set_question(question)
            self._series.ask()
            self._ranks.ask()
        self._series.retry()
        self._ranks.retry()

    def _show_series(self) -> None:
        if self._series.reply is not None:
            self.days.show_series(self._series.reply)

    def _show_ranking(self) -> None:
        if self._ranks.problem:
            self.ranking.show_unavailable()
        elif self._ranks.reply is not None:
            self.ranking.show_ranking(self._ranks.reply)

    def _open_ranking(self) -> None:
        if self.model.snapshot is not None:
            ledger = self.model.snapshot.ledger.url.rstrip("/")
            QDesktopServices.openUrl(QUrl(f"{ledger}/leaderboard"))


class HomeHeader(Columns):
    def __init__(self, context: PageContext) -> None:
        super().__init__(gap=10)
        self._context = context
        self._rule_page = ""
        self.title = Label("", TextStyle.TITLE)
        self.reason = caption()
        self._mark = StateIcon(MARK)
        self.primary = Button("", "primary")
        self.snooze = Button(self.tr("Snooze"), picture="chevron-down")
        self.finish = Button(self.tr("Finish round, then stop"))
        self.finish.setToolTip(
            self.tr("Ends the round under way, so that none of its work is lost.")
        )
        self.go_on = Button(self.tr("Go on after this round"))
        lengths = SnoozeMenu(context.model, context.now_ms, self)
        lengths.aboutToShow.connect(lengths.fill)
        self.snooze.open_menu(lengths)
        self.finish.clicked.connect(context.model.finish)
        self.go_on.clicked.connect(context.model.go_on)
        self.primary.clicked.connect(self._do_main)
        self.anyway = Button(self.tr("Start now anyway"), picture="play")
        self.anyway.setToolTip(self.tr("Starts although a rule says to wait."))
        self.anyway.clicked.connect(context.model.start_anyway)
        self.rule = Button(self.tr("Change this rule"), "quiet", "settings")
        self.rule.clicked.connect(lambda: context.open_page(self._rule_page))
        title = hbox(self._mark, self.title, None, spacing=10)
        self.ways = holding(hbox(self.anyway, self.rule, None, spacing=6, margins=(0, 4, 0, 0)))
        heading = holding(vbox(title, self.reason, self.ways, spacing=2))
        heading.setMinimumWidth(HEADING_WIDTH)
        buttons = hbox(
            *((one, MIDDLE) for one in (self.snooze, self.finish, self.go_on, self.primary)),
            spacing=10,
        )
        self.set_parts((heading, holding(buttons)), shares=(1, 0))

    def refresh(self) -> None:
        model = self._context.model
        snapshot = model.snapshot
        decision = snapshot.decision if snapshot else UNDECIDED
        word, reason = self._heading_texts()
        self.title.setText(word)
        self.reason.setText(reason)
        self._mark.show_state(worker_texts.shown_state(model))
        self._show_ways(decision, is_settled=model.unconfirmed is None)
        self._show_main()
        self.primary.setEnabled(snapshot is not None)
        self.snooze.setVisible(model.is_on)
        is_working = model.is_on and decision.state in worker_texts.WORKING
        self.finish.setVisible(is_working and not model.desired.finish)
        self.go_on.setVisible(is_working and model.desired.finish)
        self.fold()

    def _show_ways(self, decision: Decision, *, is_settled: bool) -> None:
        """Show what the user can do about a rule that says to wait."""
        is_waiting = is_settled and decision.state is LendingState.WAITING
        has_ways = is_waiting and not decision.is_probe_starting
        self._rule_page = rule_page(decision) if has_ways else ""
        self.rule.setVisible(bool(self._rule_page))
        self.anyway.setVisible(has_ways and decision.is_startable)
        self.ways.setVisible(bool(self._rule_page) or (has_ways and decision.is_startable))

    def _heading_texts(self) -> tuple[str, str]:
        model = self._context.model
        word, reason = headline(model, self._context.now_ms())
        is_broken = worker_texts.shown_state(model) is LendingState.ATTENTION
        if is_broken and model.unconfirmed is None:
            reason = self.tr("Nothing is lent until this is solved.")
        return word, reason

    def _show_main(self) -> None:
        model = self._context.model
        is_snoozed = model.desired.snooze is not None
        if model.is_on and not is_snoozed:
            self.primary.set_label(self.tr("Pause"), "pause")
            self.primary.setToolTip(self.tr("Stops at once and gives the device back."))
            return
        self.primary.setToolTip("")
        if not model.preferences.consent:
            self.primary.set_label(self.tr("Set up"), icons.forward())
        elif model.is_on:
            self.primary.set_label(self.tr("Resume now"), "play")
        else:
            self.primary.set_label(self.tr("Contribute"), "play")

    def _do_main(self) -> None:
        model = self._context.model
        if not model.preferences.consent:
            self._context.open_page("first-run")
        elif model.is_on and model.desired.snooze is None:
            model.pause()
        else:
            model.contribute()


class RoundCard(Card):
    def __init__(self, context: PageContext) -> None:
        super().__init__()
        self._context = context
        self.ring, self.bar = PercentRing(self.tr("Round")), ProgressBar(self.tr("Run"))
        self.name = ElidedLabel("", TextStyle.HEADING)
        self.line = WrappedLabel("", TextStyle.BODY, "sub")
        self.role = Chip()
        self.loss = LabelledFigure(self.tr("Loss"))
        self.bits = LabelledFigure(self.tr("Bits per byte"))
        self.perplexity = LabelledFigure(self.tr("Perplexity"))
        self._figures = self.loss, self.bits, self.perplexity
        self.caps = UsageMeters()
        row = hbox((self.ring, MIDDLE), (self._column(), 1), spacing=22, margins=(4, 4, 4, 4))
        self.body.addLayout(row)

    def show_snapshot(self, snapshot: Snapshot | None) -> None:
        current = snapshot.round if snapshot else None
        for part in (self.bar, self.role, *self._figures, self.caps):
            part.setVisible(current is not None)
        if snapshot is None or current is None:
            self._show_none(lends=snapshot is not None and snapshot.decision.may_compute)
        else:
            self._show_round(snapshot, current)

    def _show_none(self, *, lends: bool) -> None:
        self.ring.show_percent(None)
        joining = self.tr("The model and its data are fetched once; then the first round begins.")
        before = self.tr("Once this computer has joined a run, it trains round by round.")
        self.name.setText(self.tr("Joining a run") if lends else self.tr("No round now"))
        self.line.setText(joining if lends else before)

    def _show_round(self, snapshot: Snapshot, current: CurrentRoundView) -> None:
        takes_part = snapshot.decision.may_compute
        done = current.done_percent if takes_part else None
        self.ring.show_percent(done, self.tr("of round") if takes_part else "")
        self.name.setText(current.run_name or current.run)
        words, picture, tone = {
            "trainer": (self.tr("Trainer"), "cpu", "accent"),
            "witness": (self.tr("Witness"), "eye", "accent"),
        }.get(current.role, (self.tr("No role yet"), "hourglass", ""))
        if snapshot.audits.ordered_round:
            words, picture, tone = self.tr("Auditor"), "repeat", "accent"
        if not takes_part:
            words, picture, tone = self.tr("Not taking part"), "circle-pause", ""
        self.role.set_label(words, picture, tone)
        self.line.setText(self._sentence(snapshot, current))
        self.bar.set_share(current.number / current.rounds if current.rounds else 0.0)
        self.bar.setVisible(bool(current.rounds))
        self.loss.show_reading(figures.decimal(current.loss, 3))
        self.caps.show_snapshot(snapshot)
        self._head.fold()
        self.bits.show_reading(figures.decimal(current.bits_per_byte, 3))
        self.perplexity.show_reading(figures.perplexity(current.perplexity))

    def _sentence(self, snapshot: Snapshot, current: CurrentRoundView) -> str:
        number, rounds = figures.count(current.number), figures.count(current.rounds)
        of_all, alone = self.tr("Round {number} of {rounds}"), self.tr("Round {number}")
        parts = [(of_all if current.rounds else alone).format(number=number, rounds=rounds)]
        if snapshot.status is not None:
            parts.append(self.tr("%Ln peer(s)", "", snapshot.status.peers))
        left_s = (current.ends_ms - self._context.now_ms()) // 1_000
        if current.ends_ms and left_s > 0:
            parts.append(self.tr("{time} left").format(time=figures.duration(left_s)))
        return BETWEEN.join(parts)

    def _column(self) -> QVBoxLayout:
        title = hbox((self.name, 1), (self.role, TOP), spacing=10)
        names = holding(vbox(title, self.line, spacing=3))
        names.setMinimumWidth(NAMES_WIDTH)
        readings = hbox(*((one, TOP) for one in self._figures), spacing=26)
        self._head = Columns(gap=12)
        self._head.set_parts((names, holding(readings)), shares=(1, 0))
        return vbox(self._head, self.bar, self.caps, spacing=12)


class LabelledFigure(QWidget):
    def __init__(self, name: str) -> None:
        super().__init__()
        self._name, self.figure = Label(name, TextStyle.SMALL, "sub"), Label("", TextStyle.HEADING)
        vbox((self._name, TRAILING), (self.figure, TRAILING), spacing=1, parent=self)

    def show_reading(self, words: str) -> None:
        self.figure.setText(words)
        self.setAccessibleName(f"{self._name.text()}: {words}")


def series_question(now_ms: int) -> AskSeries:
    """A question for the points of the last `DAYS` local days, including today."""
    today = QDateTime.fromMSecsSinceEpoch(now_ms).date()
    first = QDateTime(QDate(today).addDays(1 - DAYS), QTime(0, 0))
    return AskSeries(since_ms=first.toMSecsSinceEpoch(), step_ms=DAY_MS)


class Stats(StatCards):
    def __init__(self) -> None:
        super().__init__()
        self.today = StatCard(self.tr("Points today"), "coins")
        self.total = StatCard(self.tr("Total points"), "layers")
        self.rank = StatCard(self.tr("Rank"), "trophy")
        self.energy = StatCard(self.tr("Energy today"), "zap")
        self.set_cards((self.today, self.total, self.rank, self.energy))

    def show_known(self, snapshot: Snapshot) -> None:
        points = snapshot.points
        pending = self.tr("%n round(s) pending", "", points.pending)
        today = pending if points.pending else self.tr("Nothing pending")
        if points.per_day and snapshot.decision.may_compute:
            per_day = figures.short_points(points.per_day)
            today = self.tr("About {points} a day").format(points=per_day)
        self.today.show_points(points.today, today, "+" if points.today else "")
        more = self.tr("{points} still to be checked").format(
            points=figures.short_points(points.unverified)
        )
        checked = self.tr("Every proof checked here") if points.total else self.tr("None yet")
        vesting = worker_texts.vesting_text(points)
        self.total.show_points(points.total, more if points.unverified else checked, more=vesting)
        of_all = self.tr("of %Ln volunteer(s)", "", points.ranked)
        unranked = self.tr("After your first verified round")
        rank = f"#{figures.count(points.rank)}" if points.rank else figures.ABSENT
        self.rank.show_figure(rank, of_all if points.rank else unranked)
        self._show_energy(snapshot)

    def _show_energy(self, snapshot: Snapshot) -> None:
        joules = snapshot.energy_today_j
        if not joules and not snapshot.is_energy_measured:
            self.energy.show_figure(figures.ABSENT, self.tr("Not measured here"))
            return
        total = self.tr("{energy} in total").format(energy=figures.energy(snapshot.energy_total_j))
        if not snapshot.is_energy_measured:
            total = self.tr("Estimated, {total}").format(total=total)
        self.energy.show_figure(figures.energy(joules), total)


class DaysCard(Card):
    def __init__(self) -> None:
        super().__init__(self.tr("Points per day"), self.tr("30 days"))
        self.chart = PointsChart(self.tr("Points per day"), self._empty())
        self.body.addWidget(self.chart, 1)

    def show_round(self, current: CurrentRoundView | None) -> None:
        """Until there is a curve, the chart states how long the first points may take."""
        if current is None or not current.ends_ms > current.opened_ms > 0:
            self.chart.set_empty_text(self._empty())
            return
        time = figures.duration((current.ends_ms - current.opened_ms) / 1_000)
        words = self.tr("A round trains for about {time} and is checked after that.")
        self.chart.set_empty_text(f"{self._empty()} {words.format(time=time)}")

    def show_series(self, series: PointsSeries) -> None:
        first, step = series.since_ms + series.step_ms // 2, series.step_ms
        days = tuple(figures.day(first + at * step) for at in range(len(series.verified)))
        values, summary = series.verified, ""
        if values:
            peak = max(range(len(values)), key=values.__getitem__)
            summary = self.tr("{total} points in {days} days; most on {day}: {peak}").format(
                total=figures.short_points(sum(values)),
                days=len(values),
                day=days[peak],
                peak=figures.short_points(values[peak]),
            )
        self.chart.set_data(ChartData(values=values, labels=days, summary=summary))

    def _empty(self) -> str:
        return self.tr("Your verified points for each day will appear here after your first round.")


class RankingCard(Card):
    def __init__(self) -> None:
        super().__init__(self.tr("Around you"))
        self.setMinimumWidth(RANKING_WIDTH)
        self.table = RankingTable(self.tr("Ranking around you"))
        self.empty = EmptyState("trophy", "", "")
        self._show_unranked()
        self.stack = QStackedWidget()
        self.stack.addWidget(self.empty)
        self.stack.addWidget(self.table)
        self.full = Button(self.tr("Full ranking"), "quiet", "external-link")
        self.full.hide()
        self.body.addWidget(self.stack, 1)
        self.body.addWidget(self.full, 0, TRAILING)

    def show_ranking(self, ranking: RankingReply) -> None:
        self.table.rows.replace(ranking.rows)
        has_own = any(row.is_ours for row in ranking.rows)
        self.full.setVisible(bool(ranking.rows))
        self._show_unranked()
        self.stack.setCurrentWidget(self.table if has_own else self.empty)

    def _show_unranked(self) -> None:
        self.empty.show_words(
            self.tr("Not ranked yet"),
            self.tr("After your first verified round you see who has about as many points."),
        )

    def show_unavailable(self) -> None:
        """Without an answer, an earlier ranking stays visible."""
        if self.stack.currentWidget() is self.empty:
            self.empty.show_words(
                self.tr("No ranking now"),
                self.tr("The network does not answer. Tequio keeps trying."),
            )


@dataclass(frozen=True, slots=True)
class BannerText:
    level: str
    words: str
    target: str = ""
    """The page or action that the button opens; empty: no button."""
    button: str = ""
    """Label of a button that is not among `BUTTONS`."""
    details: str = ""
    """The problem in technical terms."""


def urgent_banner(snapshot: Snapshot | None, why_gone: str, now_ms: int) -> BannerText | None:
    """The most urgent problem; None: there is none."""
    if snapshot is None:
        return BannerText("error", why_gone, "try-again") if why_gone else None
    if snapshot.decision.state is LendingState.ATTENTION:
        decision = snapshot.decision
        words = worker_texts.decision_reason(decision, now_ms)
        is_away = decision.reason is LendingReason.LEDGER_UNKNOWN
        details = snapshot.ledger.problem if is_away else str(decision.values.get("problem", ""))
        is_new = decision.values.get("fact") == "none"
        target = REASON_PAGES.get(decision.reason, "settings")
        return BannerText("info" if is_new else "error", words, target, details=details)
    if snapshot.ledger.since_ms and not snapshot.ledger.is_reached:
        return BannerText("warning", _away(snapshot, now_ms), details=snapshot.ledger.problem)
    if snapshot.line.cap_reached_ms:
        button = _translated(BUTTONS["settings"])
        return BannerText("warning", _cap_words(snapshot), "settings/network", button)
    return None


def release_banner(service: ReleaseService | None, *, is_urgent: bool) -> BannerText | None:
    """Report downloads and updates; urgent is what keeps this computer from training."""
    note = service.current_note() if service is not None else None
    if service is None or note is None or service.needs_runtime != is_urgent:
        return None
    return BannerText(note.level, note.words, "releases" if note.button else "", note.button)


def outdated_banner(
    snapshot: Snapshot | None, service: ReleaseService | None, now_ms: int
) -> BannerText | None:
    """Report that the network needs a newer version, and how the update goes."""
    if snapshot is None or snapshot.decision.reason is not LendingReason.OUTDATED:
        return None
    words = worker_texts.decision_reason(snapshot.decision, now_ms)
    if service is None:
        return BannerText("error", f"{words} {_translated(HOW_TO_UPDATE)}")
    underway = release_banner(service, is_urgent=False)
    return underway or BannerText("error", words, "releases", _translated(UPDATE_NOW))


def backup_reminder(keys: KeyService | None) -> BannerText | None:
    if keys is None or not keys.state.wants_backup:
        return None
    return BannerText("warning", _translated(NO_BACKUP), "key-backup")


def _cap_words(snapshot: Snapshot) -> str:
    line = snapshot.line
    return QCoreApplication.translate(
        "remedies",
        "At the present rate, this month's {cap} of traffic will be used up on {day}. Then nothing "
        "is lent until the next month, unless you raise the limit.",
    ).format(cap=figures.data(line.month_cap_bytes), day=figures.day(line.cap_reached_ms))


def _away(snapshot: Snapshot, now_ms: int) -> str:
    since = figures.moment(snapshot.ledger.since_ms, now_ms)
    waiting = figures.count(snapshot.ledger.waiting)
    queued = QCoreApplication.translate(
        "remedies", "Statements that wait here for it: {waiting}."
    ).format(waiting=waiting)
    is_working = snapshot.decision.may_compute and not worker_texts.is_cut_off(snapshot)
    away = _translated(AWAY_AT_WORK if is_working else AWAY).format(since=since)
    return join_sentences(away, queued) if snapshot.ledger.waiting else away


def _translated(text: str) -> str:
    return QCoreApplication.translate("remedies", text)
