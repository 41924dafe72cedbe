"""The Runs page: the models in training, the needs of each, and the run this computer works for."""

from __future__ import annotations

from msgspec.structs import replace
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QSizePolicy, QStackedWidget, QWidget

from tequio_client.app.pages import run_detail
from tequio_client.app.pages.page import Page, PageContext, PageHeader, PeriodicQuestion
from tequio_client.app.pages.run_detail import AUTOMATIC, RunDetail, RunResources, update_fit_chip
from tequio_client.app.theme.style import TextStyle
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import (
    Columns,
    ElidedLabel,
    caption_line,
    fill,
    hbox,
    holding,
    vbox,
)
from tequio_client.app.widgets.buttons import Button, ChoiceRow, relaid_rows
from tequio_client.app.widgets.cards import IconTile
from tequio_client.app.widgets.indicators import Chip, ProgressBar
from tequio_client.app.widgets.messages import Banner, EmptyState
from tequio_client.ipc.control import AskRuns, RunRow, RunsReply
from tequio_client.ipc.snapshot import Snapshot

BETWEEN = "  ·  "
EVERY_MS = 60_000
"""Interval between two questions while the page is visible."""
LIST_WIDTH = 290


class RunsPage(Page):
    """The Runs page."""

    def __init__(self, means: PageContext) -> None:
        super().__init__(means)
        self.list = PeriodicQuestion(self.model, means.now_ms, RunsReply, EVERY_MS)
        self.list.set_question(AskRuns())
        self._seen: str | None = None
        self._shown: tuple[object, ...] = ()
        self.again = Button(self.tr("Refresh"), picture="refresh-cw")
        self.head = PageHeader(
            self.tr("Runs"), self.tr("Each run trains one model, round by round."), (self.again,)
        )
        self.banner, self.choices, self.detail = Banner(), RunChoices(), RunDetail()
        self.empty = EmptyState("boxes", "", "", self.tr("Try again"))
        self.stack = QStackedWidget()
        self.stack.addWidget(self.empty)
        self.stack.addWidget(self._parts())
        fill(self.body, self.head, self.banner, (self.stack, 1))
        self.again.clicked.connect(self.ask)
        self.empty.button.clicked.connect(self.ask)
        self.choices.selected.connect(self.select)
        self.detail.join_requested.connect(self.join)
        self.list.changed.connect(self._show_all)

    @property
    def location(self) -> str:
        return self._seen or ""

    def restore_location(self, place: str) -> None:
        self.select(place)

    def ask(self) -> None:
        self.list.ask()
        self._show_all()

    def select(self, run: str) -> None:
        self._seen = run
        self._show_list()

    def join(self, run: str) -> None:
        """Work for that run from now on; `AUTOMATIC`: the program chooses."""
        self.model.set_preferences(replace(self.model.preferences, run=run))

    def refresh(self) -> None:
        self.list.poll()
        self._show_all()

    @property
    def _rows(self) -> tuple[RunRow, ...] | None:
        return self.list.reply.rows if self.list.reply else None

    def _show_all(self) -> None:
        self._show_asking()
        self._show_banner()
        if self._rows is None or not self._rows:
            self._show_empty()
            return
        self.stack.setCurrentIndex(1)
        self._show_list()

    def _show_asking(self) -> None:
        self.again.setEnabled(not self.list.is_asking)
        self.empty.button.setEnabled(not self.list.is_asking)
        if self._rows is not None:
            ago = figures.ago(self.list.reply_ms, self.context.now_ms())
            about = self.tr("Each run trains one model, round by round. List read {ago}.")
            self.head.set_words(about.format(ago=ago))

    def _show_banner(self) -> None:
        words, level = self._warning()
        self.banner.setVisible(bool(words))
        if words:
            self.banner.show_words(level, words)

    def _warning(self) -> tuple[str, str]:
        """The problem with the list, and its level."""
        if self._rows is None:
            return "", "info"
        if self.list.problem:
            at = figures.moment(self.list.reply_ms, self.context.now_ms())
            words = self.tr("This is the list of {time}: {problem}.")
            return words.format(time=at, problem=self.list.problem.rstrip(".")), "warning"
        chosen = self._row(self.model.preferences.run)
        if self.model.preferences.run and (chosen is None or not chosen.is_open):
            words = self.tr("The run that you chose is not open any more. Choose another.")
            return words, "warning"
        if self._rows and not any(row.is_open for row in self._rows):
            return self._none_open(), "info"
        return "", "info"

    def _none_open(self) -> str:
        return self.tr(
            "No run is open now. Tequio keeps looking and joins when one opens: there is nothing "
            "to do."
        )

    def _show_empty(self) -> None:
        self.stack.setCurrentIndex(0)
        self.empty.button.setVisible(bool(self.list.problem))
        if self._rows is not None:
            self.empty.show_words(self.tr("No run yet"), self._none_open())
        elif self.list.problem:
            words = self.tr("{problem}. Tequio will keep trying.")
            told = words.format(problem=self.list.problem.rstrip("."))
            self.empty.show_words(self.tr("Couldn't load the list"), told)
        else:
            self.empty.show_words(
                self.tr("Looking for runs"), self.tr("The ledger is asked which runs there are.")
            )

    def _show_list(self) -> None:
        rows, snapshot, chosen = self._rows or (), self.model.snapshot, self.model.preferences.run
        there = run_detail.resources(snapshot, self.model.preferences) if snapshot else None
        ours = _own_run(rows, snapshot)
        if (rows, there, ours, chosen, self._seen) == self._shown:
            return
        self._shown = rows, there, ours, chosen, self._seen
        self.choices.show_rows(rows, there, ours, chosen)
        seen = ours or chosen if self._seen is None else self._seen
        row = self._row(seen)
        self.choices.select(row.run if row else AUTOMATIC)
        if row is None:
            current = self._row(ours)
            self.detail.show_any(is_chosen=chosen == AUTOMATIC, now=current.name if current else "")
        else:
            self.detail.show_run(row, there, is_ours=row.run == ours, is_chosen=row.run == chosen)

    def _row(self, run: str) -> RunRow | None:
        return next((row for row in self._rows or () if row.run == run), None)

    def _parts(self) -> QWidget:
        made, left = Columns(), holding(vbox(self.choices, None))
        left.setMinimumWidth(LIST_WIDTH)
        made.set_parts((left, self.detail), shares=(5, 6))
        made.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        return made


class RunChoices(QWidget):
    """The list; `selected` carries the run (or `AUTOMATIC`) that the user clicked."""

    selected = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.any = AnyRow()
        self.any.clicked.connect(lambda: self.selected.emit(AUTOMATIC))
        self.rows: dict[str, RunChoice] = {}
        self._column = vbox(spacing=8, parent=self)
        self._column.addWidget(self.any)
        self.setAccessibleName(self.tr("Runs to choose from"))

    def show_rows(
        self, rows: tuple[RunRow, ...], there: RunResources | None, ours: str, run: str
    ) -> None:
        """`ours` is the run this computer is in, `run` the one of the preferences."""
        if [row.run for row in rows] != list(self.rows):
            names = [row.run for row in rows]
            self.rows = relaid_rows(self._column, self.rows, names, self._new, self.any)
        for row in rows:
            self.rows[row.run].show_run(row, there, is_ours=row.run == ours, is_run=row.run == run)
        self.any.show_choice(is_chosen=run == AUTOMATIC)

    def select(self, run: str) -> None:
        self.rows.get(run, self.any).setChecked(True)

    def _new(self, run: str) -> RunChoice:
        made = RunChoice()
        made.clicked.connect(lambda: self.selected.emit(run))
        return made


class RunChoice(ChoiceRow):
    """One run in the list."""

    def __init__(self) -> None:
        super().__init__()
        self.name = ElidedLabel("", TextStyle.STRONG)
        self.facts = caption_line()
        self.place, self.fit = Chip(), Chip()
        self.bar = ProgressBar(self.tr("Rounds done"), 4)
        head = hbox((self.name, 1), self.place, self.fit, spacing=6)
        fill(self.body, head, self.facts, self.bar)
        self.finish_layout()

    def show_run(
        self, run: RunRow, there: RunResources | None, *, is_ours: bool, is_run: bool
    ) -> None:
        self.name.setText(run.name)
        self.facts.setText(BETWEEN.join(self._facts(run)))
        self.bar.setVisible(bool(run.rounds))
        self.bar.set_share(run.round / run.rounds if run.rounds else 0.0)
        self._show_place(run, is_ours=is_ours, is_run=is_run)
        self.fit.setVisible(run.is_open)
        needs = run_detail.needs_of(run, there) if there is not None else ()
        update_fit_chip(self.fit, run_detail.overall_fit(needs))
        chips = [part.text for part in (self.place, self.fit) if not part.isHidden()]
        self.setAccessibleName(", ".join([run.name, *chips, *self._facts(run)]))

    def _show_place(self, run: RunRow, *, is_ours: bool, is_run: bool) -> None:
        words = ("", "", "")
        if is_ours:
            words = (self.tr("Yours"), "cpu", "accent")
        elif not run.is_open:
            words = (self.tr("Ended"), "flag", "")
        elif is_run:
            words = (self.tr("Chosen"), "check", "accent")
        elif run_detail.is_full(run):
            words = (self.tr("Full"), "users", "warn")
        self.place.set_label(*words)
        self.place.setVisible(bool(words[0]))

    def _facts(self, run: RunRow) -> list[str]:
        number, rounds = figures.count(run.round), figures.count(run.rounds)
        of_all = self.tr("Round {number} of {rounds}").format(number=number, rounds=rounds)
        alone = self.tr("Round {number}").format(number=number)
        of_most = self.tr("{members} of {most} members").format(
            members=figures.count(run.members), most=figures.count(run.most_members)
        )
        members = self.tr("%n member(s)", "", run.members)
        rounds_done = of_all if run.rounds else alone
        if not run.is_open:
            return [rounds_done]
        return [rounds_done, of_most if run.most_members else members]


class AnyRow(ChoiceRow):
    """The choice left to the program, as the first row."""

    def __init__(self) -> None:
        super().__init__()
        self.chip = Chip(self.tr("Chosen"), "check", "accent")
        name, note = self.tr("Choose for me"), self.tr("A run that fits, with places free")
        words = vbox(
            ElidedLabel(name, TextStyle.STRONG),
            caption_line(note),
            spacing=2,
        )
        row = hbox(IconTile("sparkles"), (words, 1), self.chip, spacing=12)
        self.body.addLayout(row)
        self._name = f"{name}, {note}"
        self.finish_layout()
        self.show_choice(is_chosen=False)

    def show_choice(self, *, is_chosen: bool) -> None:
        self.chip.setVisible(is_chosen)
        chosen = f"{self._name}, {self.chip.text}"
        self.setAccessibleName(chosen if is_chosen else self._name)


def _own_run(rows: tuple[RunRow, ...], snapshot: Snapshot | None) -> str:
    """The run that this computer is in; empty: none."""
    if snapshot is not None and snapshot.round is not None:
        return snapshot.round.run
    return next((row.run for row in rows if row.is_ours), "") if snapshot else ""
