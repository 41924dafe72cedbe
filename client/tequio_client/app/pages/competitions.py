"""The Competitions page: who trains against whom, until when, by which rules, and the result."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from msgspec.structs import replace
from PySide6.QtCore import QPointF, QSize, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from tequio_client.app.pages import competition_text as words
from tequio_client.app.pages import run_needs
from tequio_client.app.pages.competition_cards import (
    CompetitionHead,
    JudgingCard,
    ResultCard,
    RulesCard,
    page_of,
)
from tequio_client.app.pages.competition_text import OVER, TO_JOIN, Stage, dates, moment
from tequio_client.app.pages.page import Asked, Page, PageHead
from tequio_client.app.pages.run_detail import RunDetail
from tequio_client.app.pages.run_needs import show_fit
from tequio_client.app.pages.runs import BETWEEN
from tequio_client.app.theme import style
from tequio_client.app.theme.style import Type
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import Card, Columns, Line, Paragraph, flush_column, painted
from tequio_client.app.widgets.buttons import Button, ChoiceRow, renewed
from tequio_client.app.widgets.indicators import Chip, RoundBar
from tequio_client.app.widgets.messages import Banner, EmptyState
from tequio_client.app.widgets.race_chart import RaceChart, Racer, pen
from tequio_client.ipc.competitions import CURVES, AskCompetitions, AskCurves, Competitions, Curves
from tequio_client.ipc.control import AskRuns, Runs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from PySide6.QtGui import QPainter

    from tequio_client.app.pages.page import Means
    from tequio_client.app.pages.run_needs import Room
    from tequio_client.ipc.competitions import CompetitionRow, CurvePoint, EntrantRow
    from tequio_client.ipc.control import RunRow

    Points: TypeAlias = "Mapping[str, tuple[CurvePoint, ...]]"

LOSS_PLACES = 3
EVERY_MS = 60_000
"""Interval between two questions of a kind while the page is visible."""
LIST_WIDTH, DETAIL_WIDTH = 270, 400


class CompetitionsPage(Page):
    """The Competitions page."""

    def __init__(self, means: Means) -> None:
        super().__init__(means)
        model, now_ms = self.model, means.now_ms
        self.list = Asked(model, now_ms, Competitions, EVERY_MS)
        self.runs = Asked(model, now_ms, Runs, EVERY_MS)
        self.curves = Asked(model, now_ms, Curves, EVERY_MS)
        self.list.want(AskCompetitions())
        self.runs.want(AskRuns())
        self._seen, self._side = "", ""
        self.again = Button(self.tr("Refresh"), picture="refresh-cw")
        self.head = PageHead(
            self.tr("Competitions"),
            self.tr("Runs compete on unseen text."),
            (self.again,),
        )
        self.banner, self.choices, self.about = Banner(), CompetitionChoices(), CompetitionHead()
        self.sides, self.joining, self.rules = SidesCard(), RunDetail(), RulesCard()
        self.result, self.judging = ResultCard(), JudgingCard()
        self.joining.call_it(self.tr("Join this side"), self.tr("Stay on this side"))
        self.empty = EmptyState("trophy", "", "", self.tr("Try again"))
        self.parts = self._parts()
        for part in (self.head, self.banner):
            self.body.addWidget(part)
        self.body.addWidget(self.empty, 1)
        self.body.addWidget(self.parts, 1)  # no stack: it would be as high as these at any time
        self._connect()

    @property
    def place(self) -> str:
        return self._seen

    def go_to(self, place: str) -> None:
        self.look_at(place)

    def ask(self) -> None:
        for asked in (self.list, self.runs, self.curves):
            asked.ask()
        self._show_all()

    def look_at(self, competition: str) -> None:
        self._seen, self._side = competition, ""
        self._show_all()

    def look_at_side(self, run: str) -> None:
        self._side = run
        self._show_all()

    def join(self, run: str) -> None:
        self.model.choose(replace(self.model.preferences, run=run))

    def judge(self, is_on: bool) -> None:  # noqa: FBT001  # Qt's signal
        self.model.choose(replace(self.model.preferences, judge=is_on))
        self.list.ask()
        self._show_all()

    def refresh(self) -> None:
        self.list.look()
        if self._rows:
            self.runs.look()
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
        now_ms = self.means.now_ms()
        self.choices.show_rows(self._rows, now_ms, seen=seen.competition)
        self._show_one(seen, now_ms)

    def _show_age(self) -> None:
        about = self.tr("Runs compete on unseen text. List read {ago}.")
        self.head.say(about.format(ago=figures.ago(self.list.reply_ms, self.means.now_ms())))

    def _show_banner(self) -> None:
        problem = self.list.problem if self._rows else ""
        self.banner.setVisible(bool(problem))
        if problem:
            at = figures.moment(self.list.reply_ms, self.means.now_ms())
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
        ledger, stage = snapshot.ledger.url if snapshot else "", moment(row, now_ms).stage
        worked_for = {one.run for one in row.entrants if one.micropoints} | {self._own_run()} - {""}
        self.about.show_row(row, now_ms, ledger)
        self.rules.show_row(row)
        self.judging.show_row(
            row, snapshot.judging if snapshot else None, is_on=self.model.preferences.judge
        )
        self.result.setVisible(stage is Stage.DECIDED)
        page = page_of(row.competition, ledger) if ledger else ""
        self.result.show_row(row, sorted(worked_for), page)
        self._show_sides(row, can_join=stage in TO_JOIN)
        self._show_curves(row)

    def _show_sides(self, row: CompetitionRow, *, can_join: bool) -> None:
        snapshot, chosen = self.model.snapshot, self.model.preferences.run
        there = run_needs.room(snapshot, self.model.preferences) if snapshot else None
        runs = {run.run: run for run in self.runs.reply.rows} if self.runs.reply else {}
        self.sides.show_sides(
            row.entrants, runs, there, ours=self._own_run(), chosen=chosen, can_join=can_join
        )
        side = self._side_in_view(row)
        self.sides.look_at(side)
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
        runs = tuple(one.run for one in row.entrants if one.run)[:CURVES]
        if runs:
            self.curves.want(AskCurves(runs=runs))
            self.curves.look()
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
        self.choices.looked_at.connect(self.look_at)
        self.sides.looked_at.connect(self.look_at_side)
        self.joining.wanted.connect(self.join)
        self.judging.wanted.connect(self.judge)
        for asked in (self.list, self.runs, self.curves):
            asked.changed.connect(self.expect)

    def _parts(self) -> QWidget:
        made, left, right = Columns(), QWidget(), QWidget()
        left.setMinimumWidth(LIST_WIDTH)
        right.setMinimumWidth(DETAIL_WIDTH)
        beside, below = QVBoxLayout(left), QVBoxLayout(right)
        for column in (beside, below):
            column.setContentsMargins(0, 0, 0, 0)
            column.setSpacing(style.GAP)
        beside.addWidget(self.choices)
        for card in (self.about, self.result, self.judging, self.sides, self.joining, self.rules):
            below.addWidget(card)
        for column in (beside, below):
            column.addStretch(1)
        made.hold((left, right), shares=(4, 7))
        made.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        return made


class CompetitionChoices(QWidget):
    """The list; `looked_at` carries the competition that the user clicked."""

    looked_at = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[str, CompetitionChoice] = {}
        self._column = flush_column(self, 8)
        self.setAccessibleName(self.tr("Competitions"))

    def show_rows(self, rows: Sequence[CompetitionRow], now_ms: int, *, seen: str) -> None:
        if [row.competition for row in rows] != list(self.rows):
            names = [row.competition for row in rows]
            self.rows = renewed(self._column, self.rows, names, self._new)
        for row in rows:
            self.rows[row.competition].show_row(row, now_ms)
        if seen in self.rows:
            self.rows[seen].setChecked(True)

    def _new(self, name: str) -> CompetitionChoice:
        made = CompetitionChoice()
        made.clicked.connect(lambda: self.looked_at.emit(name))
        return made


class CompetitionChoice(ChoiceRow):
    """One competition in the list."""

    def __init__(self) -> None:
        super().__init__()
        self.name, self.facts = Line("", Type.STRONG), Line("", Type.CAPTION, "sub")
        self.stage, self.bar = Chip(), RoundBar(self.tr("Way to the result"), 4)
        head = QHBoxLayout()
        head.setSpacing(6)
        head.addWidget(self.name, 1)
        head.addWidget(self.stage)
        self.body.addLayout(head)
        self.body.addWidget(self.facts)
        self.body.addWidget(self.bar)
        self.settle()

    def show_row(self, row: CompetitionRow, now_ms: int) -> None:
        now = moment(row, now_ms)
        self.name.setText(row.name)
        words.show_stage(self.stage, now.stage)
        facts = self._facts(row, now_ms)
        self.facts.setText(BETWEEN.join(facts))
        self.bar.show_part(now.done / (len(dates(row)) - 1))
        self.bar.setVisible(now.stage not in OVER)
        self.setAccessibleName(", ".join([row.name, self.stage.words, *facts]))

    def _facts(self, row: CompetitionRow, now_ms: int) -> list[str]:
        entered = self.tr("%n entrant(s)", "", len(row.entrants))
        now = moment(row, now_ms)
        if now.stage is Stage.ENDED:
            return [entered]
        countdown, to = words.until(now, now_ms)
        if countdown:
            return [f"{countdown} {to}", entered]
        best = ", ".join(one.name for one in row.entrants if one.rank == 1)
        if best:
            return [self.tr("First place: {names}").format(names=best), entered]
        return [figures.day(row.result_ms), entered]


class SidesCard(Card):
    """The chart, and a row for each side; `looked_at` carries the run that the user clicked."""

    looked_at = Signal(str)

    def __init__(self) -> None:
        super().__init__(self.tr("Sides"), self.tr("training loss by round"))
        self.chart = RaceChart(
            self.tr("Training loss of each side by round"),
            write=lambda value: figures.decimal(value, LOSS_PLACES),
            write_axis=figures.decimal,
            write_step=lambda step: self.tr("Round {number}").format(number=figures.count(step)),
        )
        self.note = Paragraph(
            self.tr("As the trainers say it. Who wins is decided on texts that nobody has seen."),
            Type.CAPTION,
            "sub",
        )
        self.rows: dict[str, SideRow] = {}
        self._holder = QWidget()
        self._holder.setAccessibleName(self.tr("Sides to choose from"))
        self._column = QVBoxLayout(self._holder)
        self._column.setContentsMargins(0, 4, 0, 0)
        self._column.setSpacing(8)
        self.others = Paragraph("", Type.CAPTION, "sub")
        self.none = Paragraph(self.tr("No side has entered yet."), tone="sub")
        for part in (self.none, self.chart, self.note, self._holder, self.others):
            self.body.addWidget(part)

    def show_sides(
        self,
        entrants: Sequence[EntrantRow],
        runs: Mapping[str, RunRow],
        there: Room | None,
        *,
        ours: str,
        chosen: str,
        can_join: bool,
    ) -> None:
        """`ours` is the run this computer is in, `chosen` the one of the preferences."""
        sides = [one for one in entrants if one.run]
        if [one.run for one in sides] != list(self.rows):
            names = [one.run for one in sides]
            self.rows = renewed(self._column, self.rows, names, self._new)
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
        self, entrants: Sequence[EntrantRow], curves: Points | None, problem: str
    ) -> None:
        """Draw the curves; None: still loading, or unavailable."""
        sides = [one for one in entrants if one.run]
        racers = [
            Racer(
                name=one.name,
                points=tuple((at.round, at.loss) for at in (curves or {}).get(one.run, ())),
                place=place,
            )
            for place, one in enumerate(sides)
        ]
        self.chart.say_empty(self._why_empty(curves, problem))
        last = [(one.name, one.points[-1]) for one in racers if one.points]
        said = self.tr("{name}: {loss} in round {number}")
        self.chart.show_racers(
            racers,
            "; ".join(
                said.format(
                    name=name, loss=figures.decimal(loss, LOSS_PLACES), number=figures.count(step)
                )
                for name, (step, loss) in last
            ),
        )

    def look_at(self, run: str) -> None:
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
        made.clicked.connect(lambda: self.looked_at.emit(run))
        return made


class SideRow(ChoiceRow):
    """One side: its line in the chart, its run, whether the run fits, and our points for it."""

    def __init__(self) -> None:
        super().__init__()
        self.swatch, self.name = Swatch(), Line("", Type.STRONG)
        self.facts, self.points = Line("", Type.CAPTION, "sub"), Line("", Type.CAPTION, "accent")
        self.place, self.fit, self.sent = Chip(), Chip(), Chip(self.tr("Submitted"), "check", "ok")
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self.swatch)
        head.addWidget(self.name, 1)
        for chip in (self.place, self.sent, self.fit):
            head.addWidget(chip)
        self.body.setSpacing(5)
        self.body.addLayout(head)
        self.body.addWidget(self.facts)
        self.body.addWidget(self.points)
        self.settle()

    def show_side(
        self, side: EntrantRow, run: RunRow | None, there: Room | None, place: int
    ) -> None:
        """`place` decides the line's colour and dashes; without `room` nobody can join."""
        self.swatch.show_place(place)
        self.name.setText(side.name)
        facts = self._facts(side, run)
        self.facts.setText(BETWEEN.join(facts))
        self.facts.setVisible(bool(facts))
        said = self.tr("You earned {points} points for it")
        self.points.setText(said.format(points=figures.points(side.micropoints)))
        self.points.setVisible(bool(side.micropoints))
        self.sent.setVisible(side.has_submitted)
        fits = run is not None and run.is_open and there is not None
        self.fit.setVisible(fits)
        if run is not None and there is not None:
            show_fit(self.fit, run_needs.overall(run_needs.needs(run, there)))

    def show_place(self, *, is_ours: bool, is_chosen: bool) -> None:
        """Mark our own side, and compose the accessible name of the row."""
        self.place.setVisible(is_ours or is_chosen)
        if is_ours:
            self.place.show_as(self.tr("Yours"), "cpu", "accent")
        elif is_chosen:
            self.place.show_as(self.tr("Chosen"), "check", "accent")
        chips = [one.words for one in (self.place, self.sent, self.fit) if not one.isHidden()]
        lines = [one.text() for one in (self.facts, self.points) if not one.isHidden()]
        self.setAccessibleName(", ".join([self.name.text(), *chips, *lines]))

    def _facts(self, side: EntrantRow, run: RunRow | None) -> list[str]:
        if run is None:
            return [side.run_name] if side.run_name else []
        number, most = figures.count(run.round), figures.count(run.rounds)
        of_all = self.tr("Round {number} of {rounds}").format(number=number, rounds=most)
        members = self.tr("%n member(s)", "", run.members)
        named = [] if run.name == side.name else [run.name]
        return [*named, of_all, members] if run.is_open else [*named, of_all]


class Swatch(QWidget):
    """A sample of a side's line in the chart."""

    def __init__(self) -> None:
        super().__init__()
        self._place = 0
        self.setFixedSize(QSize(26, 14))

    def show_place(self, place: int) -> None:
        if place != self._place:
            self._place = place
            self.update()

    @painted
    def paintEvent(self, painter: QPainter) -> None:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(pen(self._place))
        y = self.height() / 2
        painter.drawLine(QPointF(1, y), QPointF(self.width() - 1, y))
