"""The Runs page: the models in training, the needs of each, and the run this computer works for."""

from __future__ import annotations

from msgspec.structs import replace
from PySide6.QtWidgets import QSizePolicy, QStackedWidget, QWidget

from tequio_client.app.language import without_period
from tequio_client.app.pages import run_needs
from tequio_client.app.pages.page import ListPage, PageContext, PageHeader
from tequio_client.app.pages.run_code import CodeConsentDialog, consent_for
from tequio_client.app.pages.run_detail import AUTOMATIC, RunDetail
from tequio_client.app.pages.run_needs import RunResources, update_fit_chip
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
from tequio_client.app.widgets.buttons import Button, ChoiceList, ChoiceRow
from tequio_client.app.widgets.cards import IconTile
from tequio_client.app.widgets.indicators import Chip, ProgressBar
from tequio_client.ipc.runs import AskRuns, PluginConsentReply, RunRow, RunsReply
from tequio_client.ipc.snapshot import Snapshot

BETWEEN = "  ·  "
LIST_WIDTH = 290


class RunsPage(ListPage[RunsReply]):
    def __init__(self, context: PageContext) -> None:
        super().__init__(context, RunsReply, AskRuns(), "boxes")
        self._seen: str | None = None  # None: the user has not selected a run
        self._shown: tuple[object, ...] = ()
        self.dialog: CodeConsentDialog | None = None
        """The consent that was asked for last."""
        self.head = PageHeader(
            self.tr("Runs"), self.tr("Each run trains one model, round by round."), self._controls()
        )
        self.any, self.detail = AnyRow(), RunDetail(asks_consent=True)
        self.choices = ChoiceList(self.tr("Runs to choose from"), RunChoice, self.any)
        self.stack = QStackedWidget()
        self.stack.addWidget(self.empty)
        self.stack.addWidget(self._parts())
        fill(self.body, self.head, self.banner, (self.stack, 1))
        self.choices.selected.connect(self.select)
        self.choices.selected.connect(lambda: self.bring_into_view(self.detail.name))
        self.detail.join_requested.connect(self.join)
        self.detail.consent_requested.connect(self._ask_consent)
        self.model.replied.connect(self._receive_consent)
        self.list.changed.connect(self._show_all)

    def _controls(self) -> tuple[Button, ...]:
        other = Button(self.tr("Join a network…"))
        other.clicked.connect(lambda: self.context.open_page("join"))
        return (self.again,) if self.context.program is None else (other, self.again)

    def restore_location(self, location: str) -> None:
        self.select(location)

    def ask(self) -> None:
        self.list.ask()
        self._show_all()

    def select(self, run: str) -> None:
        self._seen = self.location = run
        self._show_list()

    def join(self, run: str) -> None:
        """Work for that run from now on; `AUTOMATIC`: the program chooses."""
        self.model.set_preferences(replace(self.model.preferences, run=run))

        row = self._row(run)
        if row is not None and row.plugin is not None and not row.plugin.is_allowed:
            self._ask_consent(run, is_wanted=True)

    def _ask_consent(self, run: str, is_wanted: bool) -> None:  # noqa: FBT001 - of a signal
        """Show the consent dialog for the code of a run, or take the consent back."""
        row = self._row(run)
        plugin = row.plugin if row else None
        if row is None or plugin is None:
            return
        if not is_wanted:
            self.model.ask(consent_for(plugin, is_allowed=False))
            return
        self.dialog = CodeConsentDialog(row, plugin, self.window())
        self.dialog.allowed.connect(lambda: self.model.ask(consent_for(plugin, is_allowed=True)))
        self.dialog.open()

    def _receive_consent(self, _question: object, reply: object) -> None:
        if isinstance(reply, PluginConsentReply):
            self.list.ask()

    def refresh(self) -> None:
        self.list.poll()
        self._show_all()

    @property
    def _rows(self) -> tuple[RunRow, ...] | None:
        return self.list.reply.rows if self.list.reply else None

    @property
    def _unread(self) -> tuple[str, ...]:
        return self.list.reply.unread if self.list.reply else ()

    def _show_all(self) -> None:
        self.show_asking()
        if self._rows is not None:
            about = self.tr("Each run trains one model, round by round. Updated {ago}.")
            self.head.words.setText(about.format(ago=self.age()))
        level, words = self._warning()
        self.banner.setVisible(bool(words))
        self.banner.show_words(level, words, details=self.details)
        if not self._rows:
            self._show_empty()
            return
        self.stack.setCurrentIndex(1)
        self._show_list()

    def _warning(self) -> tuple[str, str]:
        """The problem with the list, after its level."""
        if self._rows is None:
            return "info", ""
        if self.list.problem:
            return "warning", self.stale_text()
        chosen, unread = self.model.preferences.run, self._unread
        row = self._row(chosen)
        if chosen in unread:
            words = self.tr(
                "The run that you chose is open, but its rules could not be read, so it is not in "
                "this list. Tequio keeps trying."
            )
            return "warning", words
        if chosen and (row is None or not row.is_open):
            words = self.tr("The run that you chose is no longer open, so Tequio chooses for you.")
            return "warning", words
        is_none_open = bool(self._rows) and not any(row.is_open for row in self._rows)
        return "info", self._none_open() if is_none_open and not unread else ""

    def _none_open(self) -> str:
        return self.tr(
            "No run is open now. Tequio keeps looking and joins when one opens: there is nothing "
            "to do."
        )

    def _show_empty(self) -> None:
        self.stack.setCurrentIndex(0)
        if self.context.program is not None and not self.context.program.ledger():
            self.empty.button.hide()
            self.empty.show_words(
                self.tr("No network yet"),
                self.tr("Runs belong to a network. Choose one with Join a network."),
            )
            return
        self.empty.button.setVisible(bool(self.list.problem))
        if self._unread:
            words = self.tr("The rules of the open runs could not be read. Tequio keeps trying.")
            self.empty.show_words(self.tr("Couldn't load the runs"), words)
        elif self._rows is not None:
            self.empty.show_words(self.tr("No run yet"), self._none_open())
        elif self.list.problem:
            words = self.tr("{problem}. Tequio will keep trying.")
            words = words.format(problem=without_period(self.list.problem))
            self.empty.show_words(self.tr("Couldn't load the runs"), words, self.details)
        else:
            words = self.tr("Asking the network which runs there are.")
            self.empty.show_words(self.tr("Looking for runs"), words)

    def _show_list(self) -> None:
        rows, snapshot, chosen = self._rows or (), self.model.snapshot, self.model.preferences.run
        resources = run_needs.resources(snapshot, self.model.preferences) if snapshot else None
        ours = own_run(rows, snapshot)
        shown = rows, resources, ours, chosen, self._seen
        if shown == self._shown:
            return
        self._shown = shown
        self.choices.set_names([row.run for row in rows])
        for row in rows:
            is_ours, is_chosen = row.run == ours, row.run == chosen
            choice = self.choices.rows[row.run]
            choice.show_run(row, resources, is_ours=is_ours, is_chosen=is_chosen)
        self.any.show_choice(is_chosen=chosen == AUTOMATIC)
        seen = ours or chosen if self._seen is None else self._seen
        run = self._row(seen)
        self.choices.select(run.run if run else AUTOMATIC)
        if run is None:
            current = self._row(ours)
            self.detail.show_any(is_chosen=chosen == AUTOMATIC, now=current.name if current else "")
        else:
            self.detail.show_run(run, resources, ours=ours, is_chosen=run.run == chosen)

    def _row(self, run: str) -> RunRow | None:
        return next((row for row in self._rows or () if row.run == run), None)

    def _parts(self) -> QWidget:
        made, left = Columns(), holding(vbox(self.choices, None))
        left.setMinimumWidth(LIST_WIDTH)
        made.set_parts((left, self.detail), shares=(5, 6))
        made.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        return made


class RunChoice(ChoiceRow):
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
        self, run: RunRow, resources: RunResources | None, *, is_ours: bool, is_chosen: bool
    ) -> None:
        self.name.setText(run.name)
        facts = self._facts(run)
        self.facts.setText(BETWEEN.join(facts))
        self.bar.setVisible(bool(run.rounds))
        self.bar.set_share(run.round / run.rounds if run.rounds else 0.0)
        self._show_place(run, is_ours=is_ours, is_chosen=is_chosen)
        self.fit.setVisible(run.is_open and (is_ours or not run_needs.is_full(run)))
        needs = run_needs.needs_of(run, resources) if resources is not None else ()
        update_fit_chip(self.fit, run_needs.overall_fit(needs))
        chips = [part.text for part in (self.place, self.fit) if not part.isHidden()]
        self.setAccessibleName(", ".join([run.name, *chips, *facts]))

    def _show_place(self, run: RunRow, *, is_ours: bool, is_chosen: bool) -> None:
        words = ("", "", "")
        if is_ours:
            words = (self.tr("Yours"), "cpu", "accent")
        elif not run.is_open:
            words = (self.tr("Ended"), "flag", "")
        elif is_chosen:
            words = (self.tr("Chosen"), "check", "accent")
        elif run_needs.is_full(run):
            words = (self.tr("Full"), "users", "warn")
        self.place.set_label(*words)
        self.place.setVisible(bool(words[0]))

    def _facts(self, run: RunRow) -> list[str]:
        rounds = self.tr("Round {number} of {rounds}") if run.rounds else self.tr("Round {number}")
        done = rounds.format(number=figures.count(run.round), rounds=figures.count(run.rounds))
        if not run.is_open:
            return [done]
        if not run.most_members:
            return [done, self.tr("%Ln volunteer(s)", "", run.members)]
        of_most = self.tr("{members} of {most} volunteers").format(
            members=figures.count(run.members), most=figures.count(run.most_members)
        )
        return [done, of_most]


class AnyRow(ChoiceRow):
    """The choice left to the program, as the first row."""

    def __init__(self) -> None:
        super().__init__()
        self.chip = Chip(self.tr("Chosen"), "check", "accent")
        name, note = self.tr("Choose for me"), self.tr("A run that fits, with places free")
        words = vbox(ElidedLabel(name, TextStyle.STRONG), caption_line(note), spacing=2)
        row = hbox(IconTile("sparkles"), (words, 1), self.chip, spacing=12)
        self.body.addLayout(row)
        self._name = f"{name}, {note}"
        self.finish_layout()
        self.show_choice(is_chosen=False)

    def show_choice(self, *, is_chosen: bool) -> None:
        self.chip.setVisible(is_chosen)
        chosen = f"{self._name}, {self.chip.text}"
        self.setAccessibleName(chosen if is_chosen else self._name)


def own_run(rows: tuple[RunRow, ...], snapshot: Snapshot | None) -> str:
    """The run that this computer is in; empty: none."""
    if snapshot is None:
        return ""
    if snapshot.round is not None:
        return snapshot.round.run
    return next((row.run for row in rows if row.is_ours), "")
