"""The Runs page: the models in training, the needs of each, and the run this computer works for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec.structs import replace
from PySide6.QtCore import QSize, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QStackedWidget, QVBoxLayout, QWidget

from tequio_client.app.pages import run_needs
from tequio_client.app.pages.page import Page, PageHead
from tequio_client.app.pages.run_needs import Fit, Kind, RunNeeds, show_fit
from tequio_client.app.theme.style import Type
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import Card, Columns, Line, Paragraph, Picture, Text
from tequio_client.app.widgets.buttons import Button, ChoiceRow, renewed
from tequio_client.app.widgets.cards import Tile
from tequio_client.app.widgets.indicators import Chip, RoundBar
from tequio_client.app.widgets.messages import Banner, EmptyState
from tequio_client.ipc.control import AskRuns, Runs

if TYPE_CHECKING:
    from tequio_client.app.pages.page import Means
    from tequio_client.app.pages.run_needs import Need, Room
    from tequio_client.ipc.control import PublishedHead, Question, Reply, RunRow, SampleShown
    from tequio_client.ipc.snapshot import Snapshot


BETWEEN = "  ·  "
ANY = ""
"""The choice left to the program."""


class RunChoices(QWidget):
    """The list; `looked_at` carries the run (or `ANY`) that the user clicked."""

    looked_at = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.any = AnyRow()
        self.any.clicked.connect(lambda: self.looked_at.emit(ANY))
        self.rows: dict[str, RunChoice] = {}
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(8)
        self._column.addWidget(self.any)
        self.setAccessibleName(self.tr("Runs to choose from"))

    def show_rows(self, rows: tuple[RunRow, ...], there: Room | None, ours: str, run: str) -> None:
        """`ours` is the run this computer is in, `run` the one of the preferences."""
        if [row.run for row in rows] != list(self.rows):
            names = [row.run for row in rows]
            self.rows = renewed(self._column, self.rows, names, self._new, self.any)
        for row in rows:
            self.rows[row.run].show_run(row, there, is_ours=row.run == ours, is_run=row.run == run)
        self.any.show_choice(is_chosen=run == ANY)

    def look_at(self, run: str) -> None:
        self.rows.get(run, self.any).setChecked(True)

    def _new(self, run: str) -> RunChoice:
        made = RunChoice()
        made.clicked.connect(lambda: self.looked_at.emit(run))
        return made


class RunChoice(ChoiceRow):
    """One run in the list."""

    def __init__(self) -> None:
        super().__init__()
        self.name, self.facts = Line("", Type.STRONG), Line("", Type.CAPTION, "sub")
        self.place, self.fit = Chip(), Chip()
        self.bar = RoundBar(self.tr("Rounds done"), 4)
        head = QHBoxLayout()
        head.setSpacing(6)
        head.addWidget(self.name, 1)
        head.addWidget(self.place)
        head.addWidget(self.fit)
        self.body.addLayout(head)
        self.body.addWidget(self.facts)
        self.body.addWidget(self.bar)
        self.settle()

    def show_run(self, run: RunRow, there: Room | None, *, is_ours: bool, is_run: bool) -> None:
        self.name.setText(run.name)
        self.facts.setText(BETWEEN.join(self._facts(run)))
        self.bar.setVisible(bool(run.rounds))
        self.bar.show_part(run.round / run.rounds if run.rounds else 0.0)
        self._show_place(run, is_ours=is_ours, is_run=is_run)
        self.fit.setVisible(run.is_open)
        unknown = run_needs.Fit.UNKNOWN
        show_fit(
            self.fit, unknown if there is None else run_needs.overall(run_needs.needs(run, there))
        )
        shown = [part for part in (self.place, self.fit) if not part.isHidden()]
        chips = [part.words for part in shown]
        self.setAccessibleName(", ".join([run.name, *chips, *self._facts(run)]))

    def _show_place(self, run: RunRow, *, is_ours: bool, is_run: bool) -> None:
        words = ("", "", "")
        if is_ours:
            words = (self.tr("Yours"), "cpu", "accent")
        elif not run.is_open:
            words = (self.tr("Ended"), "flag", "")
        elif is_run:
            words = (self.tr("Chosen"), "check", "accent")
        elif run_needs.is_full(run):
            words = (self.tr("Full"), "users", "warn")
        self.place.show_as(*words)
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
        row, words = QHBoxLayout(), QVBoxLayout()
        self.chip = Chip(self.tr("Chosen"), "check", "accent")
        name, note = self.tr("Choose for me"), self.tr("A run that fits, with places free")
        words.setSpacing(2)
        words.addWidget(Line(name, Type.STRONG))
        words.addWidget(Line(note, Type.CAPTION, "sub"))
        row.setSpacing(12)
        row.addWidget(Tile("sparkles"))
        row.addLayout(words, 1)
        row.addWidget(self.chip)
        self.body.addLayout(row)
        self._name = f"{name}, {note}"
        self.settle()
        self.show_choice(is_chosen=False)

    def show_choice(self, *, is_chosen: bool) -> None:
        self.chip.setVisible(is_chosen)
        chosen = f"{self._name}, {self.chip.words}"
        self.setAccessibleName(chosen if is_chosen else self._name)


HUB = "https://huggingface.co"
MOST = 3


def page_of(head: PublishedHead) -> str:
    return f"{HUB}/{head.repo}/tree/{head.revision}"


class RunPublished(QWidget):
    """Published heads of a run, as the log names them, newest first."""

    def __init__(self) -> None:
        super().__init__()
        self.rows = [PublishedRow() for _ in range(MOST)]
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(Text(self.tr("Published heads"), Type.STRONG))
        for row in self.rows:
            column.addWidget(row)
        self.hide()

    def show_heads(self, heads: tuple[PublishedHead, ...]) -> None:
        for at, row in enumerate(self.rows):
            row.setVisible(at < len(heads))
            if at < len(heads):
                row.show_head(heads[at])
        self.setVisible(bool(heads))


class PublishedRow(QWidget):
    """One head, and the button that opens its page on the Hub."""

    def __init__(self) -> None:
        super().__init__()
        self._page = ""
        self.name, self.note = Line("", Type.BODY), Line("", Type.CAPTION, "sub")
        self.button = Button(self.tr("Open"), "quiet", "external-link")
        self.button.clicked.connect(lambda: QDesktopServices.openUrl(QUrl(self._page)))
        row, words = QHBoxLayout(self), QVBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        words.setSpacing(1)
        words.addWidget(self.name)
        words.addWidget(self.note)
        row.addWidget(Picture("package-check", QSize(18, 18)))
        row.addLayout(words, 1)
        row.addWidget(self.button)

    def show_head(self, head: PublishedHead) -> None:
        self._page = page_of(head)
        self.name.setText(head.repo)
        number = figures.count(head.round)
        self.note.setText(self.tr("Round {number}, on the Hugging Face Hub").format(number=number))
        opens = self.tr("Open round {number} of {repo} in the browser")
        self.button.setAccessibleName(opens.format(number=number, repo=head.repo))
        self.button.setToolTip(self._page)


_LONG_WORD = re.compile(r"(\S{24})(?=\S)")
LINES = 12
"""Most lines shown of a sample: a model may write nothing but line breaks."""


class RunWriting(QWidget):
    """The newest sample in the log, shown as plain text because a model wrote it."""

    def __init__(self) -> None:
        super().__init__()
        self.note = Paragraph("", Type.CAPTION, "sub")
        self.prompt, self.text = Paragraph(), Paragraph()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        for part in (
            Text(self.tr("What the model writes"), Type.STRONG),
            self.note,
            Text(self.tr("Held-out text"), Type.CAPTION, "sub"),
            self.prompt,
            Text(self.tr("The model goes on"), Type.CAPTION, "sub"),
            self.text,
        ):
            column.addWidget(part)
        self.hide()

    def show_sample(self, sample: SampleShown | None) -> None:
        self.setVisible(sample is not None)
        if sample is None:
            return
        note = self.tr("After round {number}. Generated by the model; not anyone's opinion.")
        self.note.setText(note.format(number=figures.count(sample.round)))
        self.prompt.setText(_fitted(sample.prompt))
        ends = self.tr("Nothing: to the model the text ends there.")
        self.text.setText(_fitted(sample.text) or ends)


def _fitted(text: str) -> str:
    """The first lines, with break points in words wider than the card."""
    lines = text.strip("\n").split("\n")
    shown = "\n".join(lines[:LINES]) + ("\n…" if len(lines) > LINES else "")
    return _LONG_WORD.sub("\\1\u200b", shown)


DAYS_OF_MONTH = 31
LINE = {Kind.UP, Kind.DOWN}
LEAST_WIDTH = 330


class RunDetail(Card):
    """One run, or the automatic choice; `wanted` carries the run to join."""

    wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setMinimumWidth(LEAST_WIDTH)
        self.setAccessibleName(self.tr("What joining means"))
        self._run = ANY
        self._join, self._keep = self.tr("Join this run"), self.tr("Stay on this run")
        self.name, self.words = Line("", Type.HEADING), Paragraph(tone="sub")
        self.facts, self.needs = Facts(), RunNeeds()
        self.takes = Text(self.tr("What it takes"), Type.STRONG)
        self.meaning, self.note = Paragraph(), Paragraph("", Type.CAPTION, "sub")
        self.button = Button("", "primary")
        self.button.clicked.connect(lambda: self.wanted.emit(self._run))
        self.body.setSpacing(12)
        for part in (self.name, self.words, self.facts, self.takes, self.needs, self.meaning):
            self.body.addWidget(part)
        row = QHBoxLayout()
        row.addWidget(self.button)
        row.addStretch(1)
        self.body.addLayout(row)
        self.published, self.writing = RunPublished(), RunWriting()
        self.body.addWidget(self.note)
        self.body.addWidget(self.writing)
        self.body.addWidget(self.published)
        self.body.addStretch(1)

    def call_it(self, join: str, keep: str) -> None:
        """Set the button's label for joining a run and for staying in the current one."""
        self._join, self._keep = join, keep

    def show_any(self, *, is_chosen: bool, now: str = "") -> None:
        """Show the automatic choice; `now` is the run that it picked."""
        self.published.show_heads(())
        self.writing.show_sample(None)
        self._show_parts(is_run=False)
        self._run = ANY
        self.name.setText(self.tr("Choose for me"))
        self.words.setText(
            self.tr(
                "Tequio takes an open run that fits your device, your disk and the month's "
                "traffic; of several, the one with the most places free. When it ends, the next "
                "one is chosen the same way."
            )
        )
        chosen = self.tr("Tequio chooses for you")
        self._show_button(self.tr("Choose for me"), chosen, is_chosen=is_chosen)
        works = self.tr("This computer works for {run} now.").format(run=now)
        self.note.setText(works if now and is_chosen else "")
        self.note.setVisible(bool(self.note.text()))

    def show_run(self, run: RunRow, there: Room | None, *, is_ours: bool, is_chosen: bool) -> None:
        """Without `there`, the resources of this computer are still unknown."""
        self._run = run.run
        there = there or run_needs.Room()
        needed = run_needs.needs(run, there)
        self.name.setText(run.name)
        self.words.setText(self._state(run, is_ours=is_ours))
        self.facts.show_run(run)
        self.published.show_heads(run.published)
        self.writing.show_sample(run.sample)
        self.needs.show_needs(needed, there)
        self.meaning.setText(self._meaning(run, there))
        chosen = self.tr("Chosen") if run.is_open else self.tr("Ended")
        join = self._keep if is_ours else self._join
        self._show_button(join, chosen, is_chosen=is_chosen or not run.is_open)
        self.note.setText(self._note(run, needed, is_ours=is_ours, is_chosen=is_chosen))
        self._show_parts(is_run=True)

    def _show_parts(self, *, is_run: bool) -> None:
        for part in (self.facts, self.takes, self.needs, self.meaning):
            part.setVisible(is_run)
        self.note.setVisible(is_run and bool(self.note.text()))

    def _show_button(self, words: str, chosen: str, *, is_chosen: bool) -> None:
        self.button.show_as(chosen if is_chosen else words, "check" if is_chosen else "")
        self.button.setEnabled(not is_chosen)

    def _state(self, run: RunRow, *, is_ours: bool) -> str:
        if is_ours:
            return self.tr("This computer is in this run.")
        if not run.is_open:
            return self.tr("This run has ended. Its model and its log stay where they are.")
        if run_needs.is_full(run):
            return self.tr("All places are taken. Who joins waits until one is free.")
        return self.tr("Open to everyone whose device fits.")

    def _meaning(self, run: RunRow, there: Room) -> str:
        words = self.tr(
            "Joining fetches {first} once. While it trains, about {up} go up and {down} come down "
            "each hour; less while it is paused."
        ).format(
            first=figures.data(run.first_bytes),
            up=figures.data(run.hourly_up_bytes),
            down=figures.data(run.hourly_down_bytes),
        )
        days = run_needs.days_of_traffic(run, there)
        if days is None or days >= DAYS_OF_MONTH:
            return words
        left = figures.data(there.month_bytes or 0)
        if not days:
            short = self.tr("The {left} left this month do not last for a day of lending.")
            return f"{words} {short.format(left=left)}"
        lasts = self.tr("The {left} left this month last for about %n day(s) of lending.", "", days)
        return f"{words} {lasts.format(left=left)}"

    def _note(
        self, run: RunRow, needed: tuple[Need, ...], *, is_ours: bool, is_chosen: bool
    ) -> str:
        if not run.is_open:
            return ""
        short = {need.kind for need in needed if need.fit is Fit.LITTLE}
        if short - LINE:
            return self.tr(
                "Something here is less than this run needs, so this computer would wait. Raise "
                "a limit, or choose a run that fits."
            )
        if short:
            return self.tr(
                "Your limit of the line is less than this run needs: some rounds may end without "
                "your work. Raise it in Settings, Network, or choose a run that fits."
            )
        if is_chosen:
            return self.tr("You chose this run. It stays chosen until you choose another.")
        if is_ours:
            return self.tr("Tequio chose it for you, and may choose another when this one ends.")
        return self.tr("Joining leaves the run that you are in now; your points stay yours.")


class Facts(Columns):
    """A run in four figures."""

    def __init__(self) -> None:
        super().__init__(folded=2, gap=12)
        self.parameters, self.tokens = Fact(self.tr("Model")), Fact(self.tr("Tokens"))
        self.round, self.members = Fact(self.tr("Round")), Fact(self.tr("Members"))
        self.hold((self.parameters, self.tokens, self.round, self.members))

    def show_run(self, run: RunRow) -> None:
        size, tokens = figures.short_count(run.parameters), figures.short_count(run.tokens)
        self.parameters.show_fact(size, self._exactly(run))
        self.tokens.show_fact(tokens, figures.count(run.tokens))
        self.round.show_fact(_of(run.round, run.rounds))
        self.members.show_fact(_of(run.members, run.most_members))
        self.fold()

    def _exactly(self, run: RunRow) -> str:
        exact = figures.count(run.parameters)
        if not run.adapters:
            return self.tr("{count} parameters").format(count=exact)
        words = self.tr("{count} parameters; {trained} of them are adapters, and trained")
        return words.format(count=exact, trained=figures.short_count(run.adapters))


class Fact(QWidget):
    """A name and a figure."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name, self._figure = Text(name, Type.CAPTION, "sub"), Text("", Type.STRONG)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(1)
        column.addWidget(self._name)
        column.addWidget(self._figure)

    def show_fact(self, figure: str, exact: str = "") -> None:
        """`exact` is shown in the tool tip."""
        self._figure.setText(figure)
        self.setToolTip(exact)
        self.setAccessibleName(f"{self._name.text()}: {exact or figure}")

    @property
    def figure(self) -> str:
        return self._figure.text()


def _of(number: int, most: int) -> str:
    return f"{figures.count(number)} / {figures.count(most)}" if most else figures.count(number)


ASK = AskRuns()
EVERY_MS = 60_000
"""Interval between two questions while the page is visible."""
LEAST_LIST = 290


class RunsPage(Page):
    """The Runs page."""

    def __init__(self, means: Means) -> None:
        super().__init__(means)
        self._rows: tuple[RunRow, ...] | None = None
        self._rows_ms = self._asked_ms = 0
        self._is_asking, self._problem = False, ""
        self._seen: str | None = None
        self._shown: tuple[object, ...] = ()
        self.again = Button(self.tr("Refresh"), picture="refresh-cw")
        self.head = PageHead(
            self.tr("Runs"), self.tr("Each run trains one model, round by round."), (self.again,)
        )
        self.banner, self.choices, self.detail = Banner(), RunChoices(), RunDetail()
        self.empty = EmptyState("boxes", "", "", self.tr("Try again"))
        self.stack = QStackedWidget()
        self.stack.addWidget(self.empty)
        self.stack.addWidget(self._parts())
        for part in (self.head, self.banner):
            self.body.addWidget(part)
        self.body.addWidget(self.stack, 1)
        self.again.clicked.connect(self.ask)
        self.empty.button.clicked.connect(self.ask)
        self.choices.looked_at.connect(self.look_at)
        self.detail.wanted.connect(self.join)
        self.model.replied.connect(self._take)
        self.model.refused.connect(self._miss)

    @property
    def place(self) -> str:
        return self._seen or ""

    def go_to(self, place: str) -> None:
        self.look_at(place)

    def ask(self) -> None:
        if self._is_asking:
            return
        self._is_asking, self._asked_ms = True, self.means.now_ms()
        self._show_asking()
        self.model.ask(ASK)

    def look_at(self, run: str) -> None:
        self._seen = run
        self._show_list()

    def join(self, run: str) -> None:
        """Work for that run from now on; `ANY`: the program chooses."""
        self.model.choose(replace(self.model.preferences, run=run))

    def refresh(self) -> None:
        self._show()
        if self.model.snapshot is not None and self._is_due():
            self.ask()

    def _is_due(self) -> bool:
        return not self._is_asking and self.means.now_ms() - self._asked_ms >= EVERY_MS

    def _take(self, question: Question, reply: Reply) -> None:
        if question == ASK and isinstance(reply, Runs):
            self._rows, self._rows_ms = reply.rows, self.means.now_ms()
            self._is_asking, self._problem = False, ""
            self._show()

    def _miss(self, question: Question, why: str) -> None:
        if question == ASK:
            self._is_asking, self._problem = False, why or self.tr("The worker does not answer")
            self._show()

    def _show(self) -> None:
        self._show_asking()
        self._show_banner()
        if self._rows is None or not self._rows:
            self._show_empty()
            return
        self.stack.setCurrentIndex(1)
        self._show_list()

    def _show_asking(self) -> None:
        self.again.setEnabled(not self._is_asking)
        self.empty.button.setEnabled(not self._is_asking)
        if self._rows is not None:
            ago = figures.ago(self._rows_ms, self.means.now_ms())
            about = self.tr("Each run trains one model, round by round. List read {ago}.")
            self.head.say(about.format(ago=ago))

    def _show_banner(self) -> None:
        words, level = self._warning()
        self.banner.setVisible(bool(words))
        if words:
            self.banner.show_words(level, words)

    def _warning(self) -> tuple[str, str]:
        """The problem with the list, and its level."""
        if self._rows is None:
            return "", "info"
        if self._problem:
            at = figures.moment(self._rows_ms, self.means.now_ms())
            words = self.tr("This is the list of {time}: {problem}.")
            return words.format(time=at, problem=self._problem.rstrip(".")), "warning"
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
        self.empty.button.setVisible(bool(self._problem))
        if self._rows is not None:
            self.empty.show_words(self.tr("No run yet"), self._none_open())
        elif self._problem:
            words = self.tr("{problem}. Tequio will keep trying.")
            told = words.format(problem=self._problem.rstrip("."))
            self.empty.show_words(self.tr("Couldn't load the list"), told)
        else:
            self.empty.show_words(
                self.tr("Looking for runs"), self.tr("The ledger is asked which runs there are.")
            )

    def _show_list(self) -> None:
        rows, snapshot, chosen = self._rows or (), self.model.snapshot, self.model.preferences.run
        there = run_needs.room(snapshot, self.model.preferences) if snapshot else None
        ours = _ours(rows, snapshot)
        if (rows, there, ours, chosen, self._seen) == self._shown:
            return
        self._shown = rows, there, ours, chosen, self._seen
        self.choices.show_rows(rows, there, ours, chosen)
        seen = ours or chosen if self._seen is None else self._seen
        row = self._row(seen)
        self.choices.look_at(row.run if row else ANY)
        if row is None:
            current = self._row(ours)
            self.detail.show_any(is_chosen=chosen == ANY, now=current.name if current else "")
        else:
            self.detail.show_run(row, there, is_ours=row.run == ours, is_chosen=row.run == chosen)

    def _row(self, run: str) -> RunRow | None:
        return next((row for row in self._rows or () if row.run == run), None)

    def _parts(self) -> QWidget:
        made, left = Columns(), QWidget()
        left.setMinimumWidth(LEAST_LIST)
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.choices)
        column.addStretch(1)
        made.hold((left, self.detail), shares=(5, 6))
        made.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        return made


def _ours(rows: tuple[RunRow, ...], snapshot: Snapshot | None) -> str:
    """The run that this computer is in; empty: none."""
    if snapshot is not None and snapshot.round is not None:
        return snapshot.round.run
    return next((row.run for row in rows if row.is_ours), "") if snapshot else ""
