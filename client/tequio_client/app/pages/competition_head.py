"""One competition at a glance: its stage, the time that is left, its dates, and our share in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout

from tequio_client.app.pages import competition_words as words
from tequio_client.app.pages.competition_time import Stage, dates, moment
from tequio_client.app.pages.run_detail import Fact
from tequio_client.app.theme.fonts import Type
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.button import Button
from tequio_client.app.widgets.card import Card
from tequio_client.app.widgets.chip import Chip
from tequio_client.app.widgets.columns import Columns
from tequio_client.app.widgets.milestones import Milestones
from tequio_client.app.widgets.text import Line, Paragraph, Text

if TYPE_CHECKING:
    from tequio_client.link.competitions import CompetitionRow


def page_of(competition: str, ledger: str) -> str:
    """The address of the ledger's page about it."""
    return f"{ledger.rstrip('/')}/competitions/{competition}"


class CompetitionHead(Card):
    """The first card."""

    def __init__(self) -> None:
        super().__init__()
        self._page = ""
        self.name, self.stage = Line("", Type.HEADING), Chip()
        self.countdown, self.to = Text("", Type.FIGURE), Line("", Type.BODY, "sub")
        self.milestones, self.words = Milestones(words.date_names()), Paragraph()
        self.facts = Facts()
        self.link = Button(self.tr("Open the ledger's page"), picture="external-link")
        self.link.clicked.connect(lambda: QDesktopServices.openUrl(QUrl(self._page)))
        head, time, row = QHBoxLayout(), QHBoxLayout(), QHBoxLayout()
        head.addWidget(self.name, 1)
        head.addWidget(self.stage)
        time.setSpacing(10)
        time.addWidget(self.countdown)
        time.addWidget(self.to, 1)
        row.addWidget(self.link)
        row.addStretch(1)
        self.body.setSpacing(12)
        self.body.addLayout(head)
        self.body.addLayout(time)
        for part in (self.milestones, self.words, self.facts):
            self.body.addWidget(part)
        self.body.addLayout(row)

    def show_row(self, row: CompetitionRow, now_ms: int, ledger: str) -> None:
        """Show that competition; without a ledger's address there is no page to open."""
        now = moment(row, now_ms)
        self.name.setText(row.name)
        words.show_stage(self.stage, now.stage)
        self._show_countdown(now_ms, row)
        said = [figures.day(at) for at in dates(row)]
        named = zip(words.date_names(), dates(row), strict=True)
        summary = ", ".join(f"{name}: {figures.moment(at, now_ms)}" for name, at in named)
        self.milestones.show_dates(said, now.done, summary, is_over=now.stage is Stage.DECIDED)
        self.words.setText(words.what_goes_on(row, now.stage))
        self.facts.show_row(row)
        self._page = page_of(row.competition, ledger) if ledger else ""
        self.link.setEnabled(bool(ledger))
        self.link.setToolTip(self._page)

    def _show_countdown(self, now_ms: int, row: CompetitionRow) -> None:
        now = moment(row, now_ms)
        countdown, to = words.until(now, now_ms)
        self.countdown.setText(countdown)
        when = figures.moment(now.next_ms, now_ms) if now.next_ms else ""
        self.to.setText(f"{to}, {when}")
        for part in (self.countdown, self.to):
            part.setVisible(bool(countdown))
        self.countdown.setAccessibleName(f"{countdown} {to}")


class Facts(Columns):
    """A competition in four figures."""

    def __init__(self) -> None:
        super().__init__(folded=2, gap=12)
        self.points, self.entrants = Fact(self.tr("Your points")), Fact(self.tr("Entrants"))
        self.texts, self.evaluators = Fact(self.tr("Texts")), Fact(self.tr("Evaluators"))
        self.hold((self.points, self.entrants, self.texts, self.evaluators))

    def show_row(self, row: CompetitionRow) -> None:
        """Show its figures."""
        ours = sum({one.run: one.micropoints for one in row.entrants if one.run}.values())
        exact = self.tr("{points} points in the runs of its sides")
        self.points.show_fact(figures.points(ours), exact.format(points=figures.exact_points(ours)))
        self.entrants.show_fact(figures.count(len(row.entrants)))
        drawn = self.tr("{drawn} of {texts}").format(
            drawn=figures.count(row.drawn), texts=figures.count(row.texts)
        )
        self.texts.show_fact(drawn)
        self.evaluators.show_fact(figures.count(row.evaluators))
        self.fold()
