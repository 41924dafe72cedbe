"""Competitions: who trains against whom, until when, by which rules, and how it came out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from tequio_client.app.pages import run_fit
from tequio_client.app.pages.asked import Asked
from tequio_client.app.pages.competition_choices import CompetitionChoices
from tequio_client.app.pages.competition_head import CompetitionHead, page_of
from tequio_client.app.pages.competition_judging import JudgingCard
from tequio_client.app.pages.competition_result import ResultCard
from tequio_client.app.pages.competition_rules import RulesCard
from tequio_client.app.pages.competition_sides import SidesCard
from tequio_client.app.pages.competition_time import TO_JOIN, Stage, moment
from tequio_client.app.pages.page import Page
from tequio_client.app.pages.page_head import PageHead
from tequio_client.app.pages.run_detail import RunDetail
from tequio_client.app.theme import sizes
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.banner import Banner
from tequio_client.app.widgets.button import Button
from tequio_client.app.widgets.columns import Columns
from tequio_client.app.widgets.empty_state import EmptyState
from tequio_client.link.competitions import CURVES, AskCompetitions, AskCurves, Competitions, Curves
from tequio_client.link.questions import AskRuns, Runs

if TYPE_CHECKING:
    from tequio_client.app.pages.page import Means
    from tequio_client.link.competitions import CompetitionRow

EVERY_MS = 60_000
"""Between two questions of a kind while somebody looks."""
LEAST_LIST, LEAST_DETAIL = 270, 400


class CompetitionsPage(Page):
    """The page of the competitions."""

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
        """The competition that is looked at."""
        return self._seen

    def go_to(self, place: str) -> None:
        """Look at the one that was looked at."""
        self.look_at(place)

    # --- what the user does

    def ask(self) -> None:
        """Ask for everything now."""
        for asked in (self.list, self.runs, self.curves):
            asked.ask()
        self._show()

    def look_at(self, competition: str) -> None:
        """Show that one."""
        self._seen, self._side = competition, ""
        self._show()

    def look_at_side(self, run: str) -> None:
        """Show what joining that side means."""
        self._side = run
        self._show()

    def join(self, run: str) -> None:
        """Work for that run from now on."""
        self.model.choose(replace(self.model.preferences, run=run))

    def judge(self, is_on: bool) -> None:  # noqa: FBT001  # Qt's signal
        """Help to judge from now on, or no more."""
        self.model.choose(replace(self.model.preferences, judge=is_on))
        self.list.ask()
        self._show()

    def refresh(self) -> None:
        """Show what is known now, and ask for what is old."""
        self.list.look()
        if self._rows:
            self.runs.look()
        self._show()

    # --- what is shown

    @property
    def _rows(self) -> tuple[CompetitionRow, ...]:
        return self.list.reply.rows if self.list.reply else ()

    def _show(self) -> None:
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
        worked_for = {one.run for one in row.entrants if one.micropoints} | {self._ours()} - {""}
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
        there = run_fit.room(snapshot, self.model.preferences) if snapshot else None
        runs = {run.run: run for run in self.runs.reply.rows} if self.runs.reply else {}
        self.sides.show_sides(
            row.entrants, runs, there, ours=self._ours(), chosen=chosen, can_join=can_join
        )
        side = self._looked_at(row)
        self.sides.look_at(side)
        run = runs.get(side)
        self.joining.setVisible(can_join and run is not None)
        if run is not None:
            is_ours = run.run == self._ours()
            self.joining.show_run(run, there, is_ours=is_ours, is_chosen=run.run == chosen)

    def _looked_at(self, row: CompetitionRow) -> str:
        """The side that is seen: the one that was clicked, ours, or the first."""
        runs = [one.run for one in row.entrants if one.run]
        wanted = (self._side, self._ours(), self.model.preferences.run, *runs)
        return next((one for one in wanted if one in runs), "")

    def _show_curves(self, row: CompetitionRow) -> None:
        runs = tuple(one.run for one in row.entrants if one.run)[:CURVES]
        if runs:
            self.curves.want(AskCurves(runs=runs))
            self.curves.look()
        reply = self.curves.reply if runs else None
        points = {one.run: one.points for one in reply.rows} if reply else None
        self.sides.show_curves(row.entrants, points, self.curves.problem)

    def _ours(self) -> str:
        """The run that we are in; empty: none."""
        snapshot = self.model.snapshot
        if snapshot is not None and snapshot.round is not None:
            return snapshot.round.run
        rows = self.runs.reply.rows if self.runs.reply and snapshot else ()
        return next((row.run for row in rows if row.is_ours), "")

    # --- how it is made

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
        left.setMinimumWidth(LEAST_LIST)
        right.setMinimumWidth(LEAST_DETAIL)
        beside, below = QVBoxLayout(left), QVBoxLayout(right)
        for column in (beside, below):
            column.setContentsMargins(0, 0, 0, 0)
            column.setSpacing(sizes.GAP)
        beside.addWidget(self.choices)
        for card in (self.about, self.result, self.judging, self.sides, self.joining, self.rules):
            below.addWidget(card)
        for column in (beside, below):
            column.addStretch(1)
        made.hold((left, right), shares=(4, 7))
        made.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        return made
