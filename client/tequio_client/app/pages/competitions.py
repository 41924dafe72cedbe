"""The Competitions page: who trains against whom, until when, by which rules, and the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace
from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QSizePolicy, QWidget

from tequio_client.app.language import without_period
from tequio_client.app.model import PeriodicQuestion
from tequio_client.app.pages import competition_text as texts
from tequio_client.app.pages import run_needs
from tequio_client.app.pages.competition_cards import (
    CompetitionSummaryCard,
    JudgingCard,
    ResultCard,
    RulesCard,
    competition_url,
)
from tequio_client.app.pages.competition_text import (
    FINAL_STAGES,
    OPEN_STAGES,
    ShownStage,
    StageProgress,
    milestones,
    stage_progress,
)
from tequio_client.app.pages.page import LIST_INTERVAL_MS, ListPage, PageContext, PageHeader
from tequio_client.app.pages.run_detail import RunDetail
from tequio_client.app.pages.run_needs import RunResources, update_fit_chip
from tequio_client.app.pages.runs import BETWEEN, own_run
from tequio_client.app.theme import style
from tequio_client.app.theme.style import TextStyle
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import (
    Card,
    Columns,
    ElidedLabel,
    WrappedLabel,
    caption,
    caption_line,
    fill,
    hbox,
    paint_event,
    vbox,
)
from tequio_client.app.widgets.buttons import ChoiceList, ChoiceRow
from tequio_client.app.widgets.indicators import Chip, ProgressBar
from tequio_client.app.widgets.race_chart import RaceChart, RaceLine, format_loss, line_pen
from tequio_client.ipc.competitions import (
    AskCompetitions,
    CompetitionEntrantRow,
    CompetitionRow,
    CompetitionsReply,
)
from tequio_client.ipc.runs import (
    MAX_CURVES,
    AskCurves,
    AskRuns,
    CurvesReply,
    LossCurvePoint,
    RunRow,
    RunsReply,
)

LIST_WIDTH, DETAIL_WIDTH = 270, 400


class AppCompetitionsPage(ListPage[CompetitionsReply]):
    """`location` is the competition in view; empty: the first one."""

    def __init__(self, context: PageContext) -> None:
        super().__init__(context, CompetitionsReply, AskCompetitions(), "trophy")
        model, now_ms = self.model, context.now_ms
        self.runs = PeriodicQuestion(model, now_ms, RunsReply, LIST_INTERVAL_MS, parent=self)
        self.curves = PeriodicQuestion(model, now_ms, CurvesReply, LIST_INTERVAL_MS, parent=self)
        self.runs.set_question(AskRuns())
        self._side = ""
        about = self.tr("Runs compete on unseen text.")
        self.head = PageHeader(self.tr("Competitions"), about, (self.again,))
        self.choices = ChoiceList(self.tr("Competitions"), CompetitionChoice)
        self.about = CompetitionSummaryCard()
        self.sides, self.rules = SidesCard(), RulesCard()
        self.joining = RunDetail(self.tr("Join this run"), self.tr("Stay on this run"))
        self.result, self.judging = ResultCard(), JudgingCard()
        self.parts = self._parts()
        # no stack of the last two: it would be as high as these at any time
        fill(self.body, self.head, self.banner, (self.empty, 1), (self.parts, 1))
        self.choices.selected.connect(self.select)
        self.choices.selected.connect(lambda: self.bring_into_view(self.about.name))
        self.sides.list.selected.connect(self.select_side)
        self.joining.join_requested.connect(self.join)
        self.judging.wanted.connect(self.judge)
        for asked in (self.list, self.runs, self.curves):
            asked.changed.connect(self.request_refresh)

    def restore_location(self, location: str) -> None:
        self.select(location)

    def ask(self) -> None:
        for asked in (self.list, self.runs, self.curves):
            asked.ask()
        self._show_all()

    def select(self, competition: str) -> None:
        self.location, self._side = competition, ""
        self._show_all()

    def select_side(self, run: str) -> None:
        self._side = run
        self._show_all()

    def join(self, run: str) -> None:
        self.model.set_preferences(replace(self.model.preferences, run=run))

    def judge(self, is_on: bool) -> None:  # noqa: FBT001  # Qt's signal
        self.model.set_preferences(replace(self.model.preferences, judge=is_on))
        self.list.ask()
        self._show_all()

    def refresh(self) -> None:
        self.list.poll()
        if self._rows:
            self.runs.poll()
        self._show_all()

    @property
    def _rows(self) -> tuple[CompetitionRow, ...]:
        return self.list.reply.rows if self.list.reply else ()

    def _show_all(self) -> None:
        self.show_asking()
        problem = self.stale_text() if self._rows else ""
        self.banner.setVisible(bool(problem))
        self.banner.show_words("warning", problem)
        named = (row for row in self._rows if row.competition == self.location)
        row = next(named, next(iter(self._rows), None))
        self.empty.setVisible(row is None)
        self.parts.setVisible(row is not None)
        if row is None:
            self._show_empty()
            return
        about = self.tr("Runs compete on unseen text. Updated {ago}.")
        self.head.words.setText(about.format(ago=self.age()))
        now_ms = self.context.now_ms()
        self.choices.set_names([one.competition for one in self._rows])
        for one in self._rows:
            self.choices.rows[one.competition].show_row(one, now_ms)
        self.choices.select(row.competition)
        self._show_one(row, now_ms)

    def _show_empty(self) -> None:
        problem = self.list.problem
        self.empty.button.setVisible(bool(problem))
        if problem:
            words = self.tr("{problem}. Tequio will keep trying.")
            words = words.format(problem=problem[:1].upper() + without_period(problem[1:]))
            self.empty.show_words(self.tr("Couldn't load the list"), words)
        elif self.list.reply is not None:
            self.empty.show_words(
                self.tr("No competition yet"),
                self.tr(
                    "Organisers open one so that runs can be compared. It'll appear here, and "
                    "you'll be notified."
                ),
            )
        else:
            self.empty.show_words(
                self.tr("Looking for competitions"),
                self.tr("Asking the network which competitions there are."),
            )

    def _show_one(self, row: CompetitionRow, now_ms: int) -> None:
        snapshot = self.model.snapshot
        ledger, stage = snapshot.ledger.url if snapshot else "", stage_progress(row, now_ms).stage
        worked_for = {one.run for one in row.entrants if one.gflop} | {self._own_run()} - {""}
        self.about.show_row(row, now_ms, ledger)
        self.rules.show_row(row)
        self.judging.show_row(
            row, snapshot.judging if snapshot else None, is_on=self.model.preferences.judge
        )
        self.result.setVisible(stage is ShownStage.DECIDED)
        page = competition_url(row.competition, ledger) if ledger else ""
        self.result.show_row(row, sorted(worked_for), page)
        self._show_sides(row, can_join=stage in OPEN_STAGES)
        self._show_curves(row)

    def _show_sides(self, row: CompetitionRow, *, can_join: bool) -> None:
        snapshot, chosen = self.model.snapshot, self.model.preferences.run
        resources = run_needs.resources(snapshot, self.model.preferences) if snapshot else None
        runs = {run.run: run for run in self.runs.reply.rows} if self.runs.reply else {}
        ours = self._own_run()
        self.sides.show_sides(
            row.entrants, runs, resources if can_join else None, ours=ours, chosen=chosen
        )
        # the side in view: the clicked one, ours, the chosen one, or the first
        sides = [one.run for one in row.entrants if one.run]
        side = next((one for one in (self._side, ours, chosen, *sides) if one in sides), "")
        self.sides.list.select(side)
        run = runs.get(side)
        self.joining.setVisible(can_join and run is not None)
        if run is not None:
            self.joining.show_run(run, resources, ours=ours, is_chosen=run.run == chosen)

    def _show_curves(self, row: CompetitionRow) -> None:
        runs = tuple(one.run for one in row.entrants if one.run)[:MAX_CURVES]
        if runs:
            self.curves.set_question(AskCurves(runs=runs))
            self.curves.poll()
        reply = self.curves.reply if runs else None
        points = {one.run: one.points for one in reply.rows} if reply else None
        self.sides.show_curves(row.entrants, points, self.curves.problem)

    def _own_run(self) -> str:
        return own_run(self.runs.reply.rows if self.runs.reply else (), self.model.snapshot)

    def _parts(self) -> QWidget:
        cards = (self.about, self.result, self.judging, self.sides, self.joining, self.rules)
        # each column exists before its cards: filled later, they would be squeezed when first shown
        left, right = QWidget(), QWidget()
        vbox(self.choices, None, spacing=style.GAP, parent=left)
        vbox(*cards, None, spacing=style.GAP, parent=right)
        left.setMinimumWidth(LIST_WIDTH)
        right.setMinimumWidth(DETAIL_WIDTH)
        made = Columns()
        made.set_parts((left, right), shares=(4, 7))
        made.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        return made


class CompetitionChoice(ChoiceRow):
    def __init__(self) -> None:
        super().__init__()
        self.name = ElidedLabel("", TextStyle.STRONG)
        self.facts = caption_line()
        self.stage, self.bar = Chip(), ProgressBar(self.tr("Way to the result"), 4)
        head = hbox((self.name, 1), self.stage, spacing=6)
        fill(self.body, head, self.facts, self.bar)
        self.finish_layout()

    def show_row(self, row: CompetitionRow, now_ms: int) -> None:
        now = stage_progress(row, now_ms)
        self.name.setText(row.name)
        texts.update_stage_chip(self.stage, now.stage)
        facts = self._facts(row, now, now_ms)
        self.facts.setText(BETWEEN.join(facts))
        self.bar.set_share(now.progress / (len(milestones(row)) - 1))
        self.bar.setVisible(now.stage not in FINAL_STAGES)
        self.setAccessibleName(", ".join([row.name, self.stage.text, *facts]))

    def _facts(self, row: CompetitionRow, now: StageProgress, now_ms: int) -> list[str]:
        entered = self.tr("%n entrant(s)", "", len(row.entrants))
        if now.stage is ShownStage.ENDED:
            return [entered]
        countdown, to = texts.countdown(now, now_ms)
        if countdown:
            return [self.tr("{time} {goal}").format(time=countdown, goal=to), entered]
        best = ", ".join(one.name for one in row.entrants if one.rank == 1)
        if best:
            return [self.tr("First place: {names}").format(names=best), entered]
        return [figures.day(row.result_ms), entered]


class SidesCard(Card):
    """The chart, and a row for each side by its run."""

    def __init__(self) -> None:
        super().__init__(self.tr("Entrants"), self.tr("training loss by round"))
        self.chart = RaceChart(self.tr("Training loss of each entrant by round"))
        self.note = caption(
            self.tr(
                "As the trainers report it. The winner is decided on texts that nobody has seen."
            )
        )
        self.list = ChoiceList(self.tr("Entrants to choose from"), SideRow)
        self.list.setContentsMargins(0, 4, 0, 0)
        self.others = caption()
        self.none = WrappedLabel(self.tr("Nobody has entered yet."), tone="sub")
        fill(self.body, self.none, self.chart, self.note, self.list, self.others)

    def show_sides(
        self,
        entrants: Sequence[CompetitionEntrantRow],
        runs: Mapping[str, RunRow],
        resources: RunResources | None,
        *,
        ours: str,
        chosen: str,
    ) -> None:
        """`ours` is the run this computer is in, `chosen` the one of the preferences.

        Without `resources` nobody can join.
        """
        sides = [one for one in entrants if one.run]
        self.list.set_names([one.run for one in sides])
        for place, one in enumerate(sides):
            row = self.list.rows[one.run]
            row.show_side(one, runs.get(one.run), resources, place)
            row.show_place(is_ours=one.run == ours, is_chosen=one.run == chosen)
        elsewhere = ", ".join(one.name for one in entrants if not one.run)
        self.others.setText(
            self.tr("Models that were trained elsewhere: {names}").format(names=elsewhere)
        )
        self.others.setVisible(bool(elsewhere))
        self.none.setVisible(not entrants)
        for part in (self.chart, self.note, self.list):
            part.setVisible(bool(sides))

    def show_curves(
        self,
        entrants: Sequence[CompetitionEntrantRow],
        curves: Mapping[str, tuple[LossCurvePoint, ...]] | None,
        problem: str,
    ) -> None:
        """Draw the curves; None: still loading, or unavailable."""
        sides = [one for one in entrants if one.run]
        racers = [
            RaceLine(
                name=one.name,
                points=tuple((at.round, at.loss) for at in (curves or {}).get(one.run, ())),
                place=place,
            )
            for place, one in enumerate(sides)
        ]
        self.chart.set_empty_text(self._why_empty(problem, is_read=curves is not None))
        words = self.tr("{name}: {loss} in round {number}")
        newest = [(one.name, *one.points[-1]) for one in racers if one.points]
        summary = "; ".join(
            words.format(name=name, loss=format_loss(loss), number=figures.count(step))
            for name, step, loss in newest
        )
        self.chart.set_lines(racers, summary)

    def _why_empty(self, problem: str, *, is_read: bool) -> str:
        if is_read:
            return self.tr("No round has been closed yet. The curves begin with the first.")
        if problem:
            words = self.tr("Couldn't load the curves: {problem}.")
            return words.format(problem=without_period(problem))
        return self.tr("Asking the network how the entrants are doing.")


class SideRow(ChoiceRow):
    def __init__(self) -> None:
        super().__init__()
        self.swatch, self.name = LineSwatch(), ElidedLabel("", TextStyle.STRONG)
        self.facts = caption_line()
        self.points = ElidedLabel("", TextStyle.CAPTION, "accent")
        self.place, self.fit, self.sent = Chip(), Chip(), Chip(self.tr("Submitted"), "check", "ok")
        head = hbox(self.swatch, (self.name, 1), self.place, self.sent, self.fit, spacing=8)
        self.body.setSpacing(5)
        fill(self.body, head, self.facts, self.points)
        self.finish_layout()

    def show_side(
        self,
        side: CompetitionEntrantRow,
        run: RunRow | None,
        resources: RunResources | None,
        place: int,
    ) -> None:
        """`place` decides the line's colour and dashes."""
        self.swatch.show_place(place)
        self.name.setText(side.name)
        facts = self._facts(side, run)
        self.facts.setText(BETWEEN.join(facts))
        self.facts.setVisible(bool(facts))
        earned = self.tr("You earned {points} points for it")
        self.points.setText(earned.format(points=figures.short_points(side.gflop)))
        self.points.setVisible(bool(side.gflop))
        self.sent.setVisible(side.has_submitted)
        self.fit.setVisible(run is not None and run.is_open and resources is not None)
        if run is not None and resources is not None:
            update_fit_chip(self.fit, run_needs.overall_fit(run_needs.needs_of(run, resources)))

    def show_place(self, *, is_ours: bool, is_chosen: bool) -> None:
        """Mark our own side, and compose the accessible name of the row."""
        self.place.setVisible(is_ours or is_chosen)
        if is_ours:
            self.place.set_label(self.tr("Yours"), "cpu", "accent")
        elif is_chosen:
            self.place.set_label(self.tr("Chosen"), "check", "accent")
        chips = [one.text for one in (self.place, self.sent, self.fit) if not one.isHidden()]
        lines = [one.text() for one in (self.facts, self.points) if not one.isHidden()]
        self.setAccessibleName(", ".join([self.name.text(), *chips, *lines]))

    def _facts(self, side: CompetitionEntrantRow, run: RunRow | None) -> list[str]:
        if run is None:
            return [side.run_name] if side.run_name else []
        number, most = figures.count(run.round), figures.count(run.rounds)
        of_all = self.tr("Round {number} of {rounds}").format(number=number, rounds=most)
        members = self.tr("%Ln volunteer(s)", "", run.members)
        named = [] if run.name == side.name else [run.name]
        return [*named, of_all, members] if run.is_open else [*named, of_all]


class LineSwatch(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self._place = 0
        self.setFixedSize(QSize(26, 14))

    def show_place(self, place: int) -> None:
        if place != self._place:
            self._place = place
            self.update()

    @paint_event
    def paintEvent(self, painter: QPainter) -> None:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(line_pen(self._place))
        y = self.height() / 2
        painter.drawLine(QPointF(1, y), QPointF(self.width() - 1, y))
