"""How a competition came out: places with their intervals, and how to check them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QGridLayout, QWidget

from tequio_client.app.pages import competition_words as words
from tequio_client.app.theme.fonts import Type
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.card import Card
from tequio_client.app.widgets.copy_line import CopyLine
from tequio_client.app.widgets.interval_bar import Interval, IntervalBar
from tequio_client.app.widgets.text import Line, Paragraph, Text

if TYPE_CHECKING:
    from collections.abc import Collection

    from tequio_client.link.competitions import CompetitionRow, EntrantRow

CHECK = "tequio verify-competition {page}"
LEAST_NAME = 96


class ResultCard(Card):
    """Ranks and intervals."""

    def __init__(self) -> None:
        super().__init__(self.tr("Result"), self.tr("bits per byte, fewer are better"))
        self.places, self.none = Places(), Paragraph("", tone="sub")
        self.about = Paragraph(
            self.tr(
                "The dot is the score. If other texts of the same kind had been drawn, it would "
                "lie within the bar 95 times in 100. Who cannot be told apart shares a place."
            ),
            Type.CAPTION,
            "sub",
        )
        self.check = Text(self.tr("Check it yourself"), Type.STRONG)
        self.command = CopyLine(self.tr("The command that checks it"), is_for_machine=True)
        self.body.setSpacing(10)
        for part in (self.places, self.none, self.about, self.check, self.command):
            self.body.addWidget(part)

    def show_row(self, row: CompetitionRow, ours: Collection[str], page: str) -> None:
        """Show the result; `ours` are the runs that we worked for."""
        ranked = tuple(one for one in row.entrants if one.rank)
        self.places.show_entrants(row.entrants if ranked else (), ours)
        self.none.setText(
            self.tr("There is no ranking: too few of those who were drawn scored the sides.")
        )
        self.none.setVisible(not ranked)
        for part in (self.places, self.about):
            part.setVisible(bool(ranked))
        self.command.show_text(CHECK.format(page=page) if page else "")


class Places(QWidget):
    """One line for each entrant, the best first."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[Place] = []
        self._shown: tuple[object, ...] = ()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(6)
        self._grid.setColumnStretch(1, 2)
        self._grid.setColumnStretch(2, 3)
        self.setAccessibleName(self.tr("Places"))

    def show_entrants(self, entrants: tuple[EntrantRow, ...], ours: Collection[str]) -> None:
        """Show these."""
        if (entrants, tuple(ours)) == self._shown:
            return
        self._shown = (entrants, tuple(ours))
        for line in self.lines:
            for part in line.parts:
                self._grid.removeWidget(part)
                part.hide()
                part.deleteLater()
        ranked = [one for one in entrants if one.rank]
        ends = [end for one in ranked for end in (one.low, one.high, one.nanobits_per_byte)]
        scale = (float(min(ends)), float(max(ends))) if ends else (0.0, 1.0)
        self.lines = [
            Place(one, scale, self._said(one), is_ours=one.run in ours) for one in entrants
        ]
        for at, line in enumerate(self.lines):
            for column, part in enumerate(line.parts):
                self._grid.addWidget(part, at, column)

    def _said(self, entrant: EntrantRow) -> str:
        """The line for who cannot see it."""
        if not entrant.rank:
            return self.tr("{name}: not ranked").format(name=entrant.name)
        return self.tr("Place {rank}, {name}: {score}, between {low} and {high}").format(
            rank=figures.count(entrant.rank),
            name=entrant.name,
            score=words.score(entrant.nanobits_per_byte),
            low=words.score(entrant.low),
            high=words.score(entrant.high),
        )


class Place:
    """The parts of one line."""

    def __init__(
        self, entrant: EntrantRow, scale: tuple[float, float], said: str, *, is_ours: bool
    ) -> None:
        tone = "accent" if is_ours else "" if entrant.rank else "sub"
        rank = figures.count(entrant.rank) if entrant.rank else figures.ABSENT
        shown = words.score(entrant.nanobits_per_byte) if entrant.rank else figures.ABSENT
        self.rank, self.name = Text(rank, Type.STRONG, tone), Line(entrant.name, Type.STRONG, tone)
        self.bar, self.score = IntervalBar(), Text(shown, Type.STRONG, tone)
        self.name.setMinimumWidth(LEAST_NAME)
        self.bar.setAccessibleName(said)
        self.bar.setToolTip(said)
        if entrant.rank:
            value = entrant.nanobits_per_byte
            interval = Interval(low=entrant.low, value=value, high=entrant.high)
            self.bar.show_interval(interval, scale, is_ours=is_ours)
        self.parts: tuple[QWidget, ...] = (self.rank, self.name, self.bar, self.score)
