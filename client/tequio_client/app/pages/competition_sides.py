"""The sides of a competition: how each comes along, and which one is ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from PySide6.QtCore import QPointF, QSize, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from tequio_client.app.pages import run_fit
from tequio_client.app.pages.run_choices import BETWEEN
from tequio_client.app.pages.run_needs import show_fit
from tequio_client.app.theme.fonts import Type
from tequio_client.app.widgets import figures, race_chart
from tequio_client.app.widgets.card import Card
from tequio_client.app.widgets.chip import Chip
from tequio_client.app.widgets.choice_row import ChoiceRow, renewed
from tequio_client.app.widgets.painting import painted
from tequio_client.app.widgets.race_chart import RaceChart, Racer
from tequio_client.app.widgets.text import Line, Paragraph

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from PySide6.QtGui import QPainter

    from tequio_client.app.pages.run_fit import Room
    from tequio_client.link.competitions import CurvePoint, EntrantRow
    from tequio_client.link.questions import RunRow

    Points: TypeAlias = "Mapping[str, tuple[CurvePoint, ...]]"

LOSS_PLACES = 3


class SidesCard(Card):
    """The race, and a row for each side; `looked_at` tells the run that the user wants to see."""

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
        """Show these; `ours` is the run that we are in, `chosen` the one of the preferences."""
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
        """Draw these; None: they are on their way, or cannot be had."""
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
        """Show that side as the one that is seen."""
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
    """One side: its line in the chart, its run, whether it fits, and our points for it."""

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
        """Show that side, which is drawn as the one at that place; no room: nobody can join."""
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
            show_fit(self.fit, run_fit.overall(run_fit.needs(run, there)))

    def show_place(self, *, is_ours: bool, is_chosen: bool) -> None:
        """Show whether this is our side, and say all of the row aloud."""
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
    """A piece of a side's line in the chart."""

    def __init__(self) -> None:
        super().__init__()
        self._place = 0
        self.setFixedSize(QSize(26, 14))

    def show_place(self, place: int) -> None:
        """Draw as the line at that place."""
        if place != self._place:
            self._place = place
            self.update()

    @painted
    def paintEvent(self, painter: QPainter) -> None:
        """Draw it."""
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(race_chart.pen(self._place))
        y = self.height() / 2
        painter.drawLine(QPointF(1, y), QPointF(self.width() - 1, y))
