"""The Competitions page: who trains against whom, until when, by which rules, and the result."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from msgspec.structs import replace
from PySide6.QtCore import QPointF, QSize, Qt, Signal
from PySide6.QtWidgets import QSizePolicy, QWidget

from tequio_client.app.pages import competition_text as words
from tequio_client.app.pages import run_detail
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
    milestones,
    stage_progress,
)
from tequio_client.app.pages.page import Page, PageHeader, PeriodicQuestion
from tequio_client.app.pages.run_detail import RunDetail, update_fit_chip
from tequio_client.app.pages.runs import BETWEEN
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
    holding,
    paint_event,
    vbox,
)
from tequio_client.app.widgets.buttons import Button, ChoiceRow, relaid_rows
from tequio_client.app.widgets.indicators import Chip, ProgressBar
from tequio_client.app.widgets.messages import Banner, EmptyState
from tequio_client.app.widgets.race_chart import RaceChart, RaceLine, line_pen
from tequio_client.ipc.control import (
    MAX_CURVES,
    AskCompetitions,
    AskCurves,
    AskRuns,
    CompetitionsReply,
    CurvesReply,
    RunsReply,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from PySide6.QtGui import QPainter

    from tequio_client.app.pages.page import PageContext
    from tequio_client.app.pages.run_detail import RunResources
    from tequio_client.ipc.control import (
        CompetitionEntrantRow,
        CompetitionRow,
        LossCurvePoint,
        RunRow,
    )


if TYPE_CHECKING:
    Points: TypeAlias = "Mapping[str, tuple[LossCurvePoint, ...]]"

LOSS_PLACES = 3
EVERY_MS = 60_000
"""Interval between two questions of a kind while the page is visible."""
LIST_WIDTH, DETAIL_WIDTH = 270, 400


class AppCompetitionsPage(Page):
    """The Competitions page."""

    def __init__(self, means: PageContext) -> None:
        super().__init__(means)
        model, now_ms = self.model, means.now_ms
        self.list = PeriodicQuestion(model, now_ms, CompetitionsReply, EVERY_MS)
        self.runs = PeriodicQuestion(model, now_ms, RunsReply, EVERY_MS)
        self.curves = PeriodicQuestion(model, now_ms, CurvesReply, EVERY_MS)
        self.list.set_question(AskCompetitions())
        self.runs.set_question(AskRuns())
        self._seen, self._side = "", ""
        self.again = Button(self.tr("Refresh"), picture="refresh-cw")
        self.head = PageHeader(
            self.tr("Competitions"),
            self.tr("Runs compete on unseen text."),
            (self.again,),
        )
        self.banner = Banner()
        self.choices = CompetitionChoices()
        self.about = CompetitionSummaryCard()
        self.sides, self.joining, self.rules = SidesCard(), RunDetail(), RulesCard()
        self.result, self.judging = ResultCard(), JudgingCard()
        self.joining.set_labels(self.tr("Join this side"), self.tr("Stay on this side"))
        self.empty = EmptyState("trophy", "", "", self.tr("Try again"))
        self.parts = self._parts()
        # no stack of the last two: it would be as high as these at any time
        fill(self.body, self.head, self.banner, (self.empty, 1), (self.parts, 1))
        self._connect()

    @property
    def location(self) -> str:
        return self._seen

    def restore_location(self, place: str) -> None:
        self.select(place)

    def ask(self) -> None:
        for asked in (self.list, self.runs, self.curves):
            asked.ask()
        self._show_all()

    def select(self, competition: str) -> None:
        self._seen, self._side = competition, ""
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
        is_asking = self.list.is_asking
        self.again.setEnabled(not is_asking)
        self.empty.button.setEnabled(not is_asking)
        self._show_banner()
        seen = next((row for row in self._rows if row.competition == self._seen), None)
        seen = seen or next(iter(self._rows), None)
        self.empty.setVisible(seen is None)
        self.parts.setVisible(seen is not None)
        if seen is None:
            self._show_empty()
            return
        self._show_age()
        now_ms = self.context.now_ms()
        self.choices.show_rows(self._rows, now_ms, seen=seen.competition)
        self._show_one(seen, now_ms)

    def _show_age(self) -> None:
        about = self.tr("Runs compete on unseen text. List read {ago}.")
        self.head.set_words(
            about.format(ago=figures.ago(self.list.reply_ms, self.context.now_ms()))
        )

    def _show_banner(self) -> None:
        problem = self.list.problem if self._rows else ""
        self.banner.setVisible(bool(problem))
        if problem:
            at = figures.moment(self.list.reply_ms, self.context.now_ms())
            words = self.tr("This is the list of {time}: {problem}.")
            said = words.format(time=at, problem=problem.rstrip("."))
            self.banner.show_words("warning", said)

    def _show_empty(self) -> None:
        problem = self.list.problem
        self.empty.button.setVisible(bool(problem))
        if problem:
            words = self.tr("{problem}. Tequio will keep trying.")
            told = words.format(problem=problem[:1].upper() + problem[1:].rstrip("."))
            self.empty.show_words(self.tr("Couldn't load the list"), told)
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
                self.tr("The ledger is asked which competitions there are."),
            )

    def _show_one(self, row: CompetitionRow, now_ms: int) -> None:
        snapshot = self.model.snapshot
        ledger, stage = snapshot.ledger.url if snapshot else "", stage_progress(row, now_ms).stage
        worked_for = {one.run for one in row.entrants if one.micropoints} | {self._own_run()} - {""}
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
        there = run_detail.resources(snapshot, self.model.preferences) if snapshot else None
        runs = {run.run: run for run in self.runs.reply.rows} if self.runs.reply else {}
        self.sides.show_sides(
            row.entrants, runs, there, ours=self._own_run(), chosen=chosen, can_join=can_join
        )
        side = self._side_in_view(row)
        self.sides.select(side)
        run = runs.get(side)
        self.joining.setVisible(can_join and run is not None)
        if run is not None:
            is_ours = run.run == self._own_run()
            self.joining.show_run(run, there, is_ours=is_ours, is_chosen=run.run == chosen)

    def _side_in_view(self, row: CompetitionRow) -> str:
        """The run of the side in view: the clicked one, ours, or the first."""
        runs = [one.run for one in row.entrants if one.run]
        wanted = (self._side, self._own_run(), self.model.preferences.run, *runs)
        return next((one for one in wanted if one in runs), "")

    def _show_curves(self, row: CompetitionRow) -> None:
        runs = tuple(one.run for one in row.entrants if one.run)[:MAX_CURVES]
        if runs:
            self.curves.set_question(AskCurves(runs=runs))
            self.curves.poll()
        reply = self.curves.reply if runs else None
        points = {one.run: one.points for one in reply.rows} if reply else None
        self.sides.show_curves(row.entrants, points, self.curves.problem)

    def _own_run(self) -> str:
        """The run that this computer is in; empty: none."""
        snapshot = self.model.snapshot
        if snapshot is not None and snapshot.round is not None:
            return snapshot.round.run
        rows = self.runs.reply.rows if self.runs.reply and snapshot else ()
        return next((row.run for row in rows if row.is_ours), "")

    def _connect(self) -> None:
        self.again.clicked.connect(self.ask)
        self.empty.button.clicked.connect(self.ask)
        self.choices.selected.connect(self.select)
        self.sides.selected.connect(self.select_side)
        self.joining.join_requested.connect(self.join)
        self.judging.wanted.connect(self.judge)
        for asked in (self.list, self.runs, self.curves):
            asked.changed.connect(self.request_refresh)

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


class CompetitionChoices(QWidget):
    """The list; `selected` carries the competition that the user clicked."""

    selected = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[str, CompetitionChoice] = {}
        self._column = vbox(spacing=8, parent=self)
        self.setAccessibleName(self.tr("Competitions"))

    def show_rows(self, rows: Sequence[CompetitionRow], now_ms: int, *, seen: str) -> None:
        if [row.competition for row in rows] != list(self.rows):
            names = [row.competition for row in rows]
            self.rows = relaid_rows(self._column, self.rows, names, self._new)
        for row in rows:
            self.rows[row.competition].show_row(row, now_ms)
        if seen in self.rows:
            self.rows[seen].setChecked(True)

    def _new(self, name: str) -> CompetitionChoice:
        made = CompetitionChoice()
        made.clicked.connect(lambda: self.selected.emit(name))
        return made


class CompetitionChoice(ChoiceRow):
    """One competition in the list."""

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
        words.update_stage_chip(self.stage, now.stage)
        facts = self._facts(row, now_ms)
        self.facts.setText(BETWEEN.join(facts))
        self.bar.set_share(now.progress / (len(milestones(row)) - 1))
        self.bar.setVisible(now.stage not in FINAL_STAGES)
        self.setAccessibleName(", ".join([row.name, self.stage.text, *facts]))

    def _facts(self, row: CompetitionRow, now_ms: int) -> list[str]:
        entered = self.tr("%n entrant(s)", "", len(row.entrants))
        now = stage_progress(row, now_ms)
        if now.stage is ShownStage.ENDED:
            return [entered]
        countdown, to = words.countdown(now, now_ms)
        if countdown:
            return [f"{countdown} {to}", entered]
        best = ", ".join(one.name for one in row.entrants if one.rank == 1)
        if best:
            return [self.tr("First place: {names}").format(names=best), entered]
        return [figures.day(row.result_ms), entered]


class SidesCard(Card):
    """The chart, and a row for each side; `selected` carries the run that the user clicked."""

    selected = Signal(str)

    def __init__(self) -> None:
        super().__init__(self.tr("Sides"), self.tr("training loss by round"))
        self.chart = RaceChart(
            self.tr("Training loss of each side by round"),
            write=lambda value: figures.decimal(value, LOSS_PLACES),
            write_axis=figures.decimal,
            write_step=lambda step: self.tr("Round {number}").format(number=figures.count(step)),
        )
        self.note = caption(
            self.tr(
                "As the trainers report it. The winner is decided on texts that nobody has seen."
            )
        )
        self.rows: dict[str, SideRow] = {}
        self._column = vbox(spacing=8, margins=(0, 4, 0, 0))
        self._holder = holding(self._column)
        self._holder.setAccessibleName(self.tr("Sides to choose from"))
        self.others = caption()
        self.none = WrappedLabel(self.tr("No side has entered yet."), tone="sub")
        for part in (self.none, self.chart, self.note, self._holder, self.others):
            self.body.addWidget(part)

    def show_sides(
        self,
        entrants: Sequence[CompetitionEntrantRow],
        runs: Mapping[str, RunRow],
        there: RunResources | None,
        *,
        ours: str,
        chosen: str,
        can_join: bool,
    ) -> None:
        """`ours` is the run this computer is in, `chosen` the one of the preferences."""
        sides = [one for one in entrants if one.run]
        if [one.run for one in sides] != list(self.rows):
            names = [one.run for one in sides]
            self.rows = relaid_rows(self._column, self.rows, names, self._new)
        for place, one in enumerate(sides):
            row, run = self.rows[one.run], runs.get(one.run)
            row.show_side(one, run, there if can_join else None, place)
            row.show_place(is_ours=one.run == ours, is_chosen=one.run == chosen)
        elsewhere = ", ".join(one.name for one in entrants if not one.run)
        self.others.setText(
            self.tr("Models that were trained elsewhere: {names}").format(names=elsewhere)
        )
        self.others.setVisible(bool(elsewhere))
        self.none.setVisible(not entrants)
        for part in (self.chart, self.note, self._holder):
            part.setVisible(bool(sides))

    def show_curves(
        self, entrants: Sequence[CompetitionEntrantRow], curves: Points | None, problem: str
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
        self.chart.set_empty_text(self._why_empty(curves, problem))
        last = [(one.name, one.points[-1]) for one in racers if one.points]
        said = self.tr("{name}: {loss} in round {number}")
        self.chart.set_lines(
            racers,
            "; ".join(
                said.format(
                    name=name, loss=figures.decimal(loss, LOSS_PLACES), number=figures.count(step)
                )
                for name, (step, loss) in last
            ),
        )

    def select(self, run: str) -> None:
        if run in self.rows:
            self.rows[run].setChecked(True)

    def _why_empty(self, curves: Points | None, problem: str) -> str:
        if curves is not None:
            return self.tr("No round has been closed yet. The curves begin with the first.")
        if problem:
            told = self.tr("Couldn't load the curves: {problem}.")
            return told.format(problem=problem.rstrip("."))
        return self.tr("The ledger is asked how the sides come along.")

    def _new(self, run: str) -> SideRow:
        made = SideRow()
        made.clicked.connect(lambda: self.selected.emit(run))
        return made


class SideRow(ChoiceRow):
    """One side: its line in the chart, its run, whether the run fits, and our points for it."""

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
        there: RunResources | None,
        place: int,
    ) -> None:
        """`place` decides the line's colour and dashes; without `room` nobody can join."""
        self.swatch.show_place(place)
        self.name.setText(side.name)
        facts = self._facts(side, run)
        self.facts.setText(BETWEEN.join(facts))
        self.facts.setVisible(bool(facts))
        said = self.tr("You earned {points} points for it")
        self.points.setText(said.format(points=figures.short_points(side.micropoints)))
        self.points.setVisible(bool(side.micropoints))
        self.sent.setVisible(side.has_submitted)
        fits = run is not None and run.is_open and there is not None
        self.fit.setVisible(fits)
        if run is not None and there is not None:
            update_fit_chip(self.fit, run_detail.overall_fit(run_detail.needs_of(run, there)))

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
        members = self.tr("%n member(s)", "", run.members)
        named = [] if run.name == side.name else [run.name]
        return [*named, of_all, members] if run.is_open else [*named, of_all]


class LineSwatch(QWidget):
    """A sample of a side's line in the chart."""

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
