"""The cards about one competition: its summary, judging, result and rules."""

from __future__ import annotations

from collections.abc import Collection

from PySide6.QtCore import QSize, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QGridLayout, QWidget

from tequio_client.app.language import join_sentences
from tequio_client.app.pages import competition_text as texts
from tequio_client.app.pages.competition_text import (
    ShownStage,
    StageProgress,
    milestones,
    stage_progress,
)
from tequio_client.app.pages.run_detail import FactLine
from tequio_client.app.theme.style import TextStyle
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import (
    TOP,
    Card,
    Columns,
    ElidedLabel,
    IconLabel,
    Label,
    WrappedLabel,
    caption,
    discard,
    fill,
    hbox,
    vbox,
)
from tequio_client.app.widgets.buttons import Button
from tequio_client.app.widgets.cards import CopyLine
from tequio_client.app.widgets.indicators import Chip, IntervalBar, Milestones
from tequio_client.ipc.competitions import CompetitionEntrantRow, CompetitionRow
from tequio_client.ipc.snapshot import JudgingView

UNFINISHED_PARTS = ("offered", "in-draw", "drawn", "waiting")
"""Parts as a judge that still have work ahead."""
CHECK_COMMAND = "tequio verify-competition {page}"
NAME_WIDTH = 96


def competition_url(competition: str, ledger: str) -> str:
    return f"{ledger.rstrip('/')}/competitions/{competition}"


class CompetitionSummaryCard(Card):
    def __init__(self) -> None:
        super().__init__()
        self._page = ""
        self.name, self.stage = ElidedLabel("", TextStyle.HEADING), Chip()
        self.countdown = Label("", TextStyle.FIGURE)
        self.to = ElidedLabel("", TextStyle.BODY, "sub")
        self.milestones, self.words = Milestones(texts.milestone_names()), WrappedLabel()
        self.facts = CompetitionFigures()
        self.link = Button(self.tr("Open the ledger's page"), picture="external-link")
        self.link.clicked.connect(lambda: QDesktopServices.openUrl(QUrl(self._page)))
        head = hbox((self.name, 1), self.stage)
        time = hbox(self.countdown, (self.to, 1), spacing=10)
        row = hbox(self.link, None)
        self.body.setSpacing(12)
        fill(self.body, head, time, self.milestones, self.words, self.facts, row)

    def show_row(self, row: CompetitionRow, now_ms: int, ledger: str) -> None:
        """The link to the ledger's page needs the ledger's address."""
        now = stage_progress(row, now_ms)
        self.name.setText(row.name)
        texts.update_stage_chip(self.stage, now.stage)
        self._show_countdown(now, now_ms)
        days = [figures.day(at) for at in milestones(row)]
        named = zip(texts.milestone_names(), milestones(row), strict=True)
        summary = ", ".join(f"{name}: {figures.moment(at, now_ms)}" for name, at in named)
        is_over = now.stage is ShownStage.DECIDED
        self.milestones.show_dates(days, now.progress, summary, is_over=is_over)
        self.words.setText(texts.stage_description(row, now.stage))
        self.facts.show_row(row)
        self._page = competition_url(row.competition, ledger) if ledger else ""
        self.link.setEnabled(bool(ledger))
        self.link.setToolTip(self._page)

    def _show_countdown(self, now: StageProgress, now_ms: int) -> None:
        countdown, to = texts.countdown(now, now_ms)
        self.countdown.setText(countdown)
        when = figures.moment(now.next_ms, now_ms) if now.next_ms else ""
        self.to.setText(f"{to} · {when}")
        for part in (self.countdown, self.to):
            part.setVisible(bool(countdown))
        self.countdown.setAccessibleName(f"{countdown} {to}")


class CompetitionFigures(Columns):
    def __init__(self) -> None:
        super().__init__(folded=2, gap=12)
        self.points, self.entrants = FactLine(self.tr("Your points")), FactLine(self.tr("Entrants"))
        self.texts, self.evaluators = FactLine(self.tr("Texts")), FactLine(self.tr("Evaluators"))
        self.set_parts((self.points, self.entrants, self.texts, self.evaluators))

    def show_row(self, row: CompetitionRow) -> None:
        ours = sum({one.run: one.gflop for one in row.entrants if one.run}.values())
        exact = self.tr("{points} points in the runs of its entrants")
        self.points.show_value(
            figures.short_points(ours), exact.format(points=figures.exact_points(ours))
        )
        self.entrants.show_value(figures.count(len(row.entrants)))
        drawn = self.tr("{drawn} of {texts}").format(
            drawn=figures.count(row.drawn), texts=figures.count(row.texts)
        )
        self.texts.show_value(drawn)
        self.evaluators.show_value(figures.count(row.evaluators))
        self.fold()


class JudgingCard(Card):
    """Our part as a judge; hidden where judging is neither possible nor done."""

    wanted = Signal(bool)
    """Start or stop judging."""

    def __init__(self) -> None:
        super().__init__(self.tr("Judging"))
        self._is_on = False
        self.state, self.about, self.cost = Chip(), WrappedLabel(), WrappedLabel("", tone="sub")
        self.button = Button(self.tr("Offer to judge"), picture="scale")
        self.button.clicked.connect(lambda: self.wanted.emit(not self._is_on))
        row = hbox(self.button, None, self.state)
        self.body.setSpacing(10)
        fill(self.body, self.about, self.cost, row)

    def show_row(self, row: CompetitionRow, now: JudgingView | None, *, is_on: bool) -> None:
        """`now` is the scoring in progress, of any competition."""
        self._is_on = is_on
        judging = now if now is not None and now.competition == row.competition else None
        is_open = row.phase == "open"
        self.setVisible(bool(row.part) or is_open)
        self.state.set_label(*texts.judging_state(row, judging, is_on=is_on))
        self.about.setText(texts.judging_summary(row, judging, is_on=is_on))
        can_offer = is_open and not row.part and not row.bar and not is_on
        self.cost.setText(texts.judging_cost(row) if can_offer else "")
        self.cost.setVisible(can_offer)
        start = self.tr("Resume judging") if row.part else self.tr("Offer to judge")
        self.button.setText(self.tr("Stop judging") if is_on else start)
        self.button.setVisible(row.part in UNFINISHED_PARTS or (is_open and not row.bar))


class ResultCard(Card):
    def __init__(self) -> None:
        super().__init__(
            self.tr("Result"), self.tr("bits per byte and perplexity per byte, lower is better")
        )
        self.places, self.none = ResultTable(), WrappedLabel("", tone="sub")
        self.about = caption(
            self.tr(
                "The dot is the score. If other texts of the same kind had been drawn, it would "
                "lie within the bar 95 times in 100. Entrants that cannot be told apart share a "
                "place."
            )
        )
        self.check = Label(self.tr("Check it yourself"), TextStyle.STRONG)
        self.command = CopyLine(self.tr("The command that checks it"), is_for_machine=True)
        self.body.setSpacing(10)
        fill(self.body, self.places, self.none, self.about, self.check, self.command)

    def show_row(self, row: CompetitionRow, ours: Collection[str], page: str) -> None:
        """`ours` are the runs that this computer worked for."""
        ranked = tuple(one for one in row.entrants if one.rank)
        self.places.show_entrants(row.entrants if ranked else (), ours)
        self.none.setText(
            self.tr("Not ranked: too few of the drawn evaluators scored the entrants.")
        )
        self.none.setVisible(not ranked)
        for part in (self.places, self.about):
            part.setVisible(bool(ranked))
        self.command.show_text(CHECK_COMMAND.format(page=page) if page else "")


class ResultTable(QWidget):
    """One line for each entrant, best first."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[ResultLine] = []
        self._shown: tuple[object, ...] = ()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(6)
        self._grid.setColumnStretch(1, 2)
        self._grid.setColumnStretch(2, 3)
        self.setAccessibleName(self.tr("Places"))

    def show_entrants(
        self, entrants: tuple[CompetitionEntrantRow, ...], ours: Collection[str]
    ) -> None:
        shown = entrants, tuple(ours)
        if shown == self._shown:
            return
        self._shown = shown
        discard(*(part for line in self.lines for part in line.parts))
        ranked = [one for one in entrants if one.rank]
        ends = [end for one in ranked for end in (one.low, one.high, one.nanobits_per_byte)]
        scale = (float(min(ends)), float(max(ends))) if ends else (0.0, 1.0)
        self.lines = [
            ResultLine(one, scale, self._accessible_text(one), is_ours=one.run in ours)
            for one in entrants
        ]
        for at, line in enumerate(self.lines):
            for column, part in enumerate(line.parts):
                self._grid.addWidget(part, at, column)

    def _accessible_text(self, entrant: CompetitionEntrantRow) -> str:
        """The line as text, for screen readers."""
        if not entrant.rank:
            return self.tr("{name}: not ranked").format(name=entrant.name)
        return self.tr(
            "Place {rank}, {name}: {score} bits per byte, between {low} and {high}; perplexity "
            "{perplexity} per byte"
        ).format(
            rank=figures.count(entrant.rank),
            name=entrant.name,
            score=texts.format_score(entrant.nanobits_per_byte),
            low=texts.format_score(entrant.low),
            high=texts.format_score(entrant.high),
            perplexity=texts.format_perplexity(entrant.nanobits_per_byte),
        )


class ResultLine:
    def __init__(
        self,
        entrant: CompetitionEntrantRow,
        scale: tuple[float, float],
        spoken: str,
        *,
        is_ours: bool,
    ) -> None:
        """`spoken` is the line for screen readers."""
        tone = "accent" if is_ours else "" if entrant.rank else "sub"
        self.rank = Label(figures.ABSENT, TextStyle.STRONG, tone)
        self.name = ElidedLabel(entrant.name, TextStyle.STRONG, tone)
        self.bar, self.score = IntervalBar(), Label(figures.ABSENT, TextStyle.STRONG, tone)
        self.perplexity = Label(figures.ABSENT, TextStyle.BODY, tone)
        self.name.setMinimumWidth(NAME_WIDTH)
        self.bar.setAccessibleName(spoken)
        self.bar.setToolTip(spoken)
        if entrant.rank:
            self.rank.setText(figures.count(entrant.rank))
            self.score.setText(texts.format_score(entrant.nanobits_per_byte))
            self.perplexity.setText(texts.format_perplexity(entrant.nanobits_per_byte))
            interval = (entrant.low, entrant.nanobits_per_byte, entrant.high)
            self.bar.show_interval(interval, scale, is_ours=is_ours)
        self.parts: tuple[QWidget, ...] = (
            self.rank,
            self.name,
            self.bar,
            self.score,
            self.perplexity,
        )


class RulesCard(Card):
    def __init__(self) -> None:
        super().__init__(self.tr("Rules"))
        self.budget = RuleParagraph("gauge", self.tr("What an entrant may use"))
        self.texts = RuleParagraph("file-lock", self.tr("Texts that nobody has seen"))
        self.scoring = RuleParagraph("scale", self.tr("How it is scored"))
        self.trust = RuleParagraph("shield-check", self.tr("Why it can be believed"))
        self.data = RuleParagraph("book-open-text", self.tr("Training data"))
        self.address = CopyLine(self.tr("Rules about training data"), is_for_machine=True)
        self.body.setSpacing(14)
        fill(self.body, self.budget, self.texts, self.scoring, self.trust, self.data)
        self.data.column.addWidget(self.address)

    def show_row(self, row: CompetitionRow) -> None:
        self.budget.words.setText(join_sentences(*self._budget(row)))
        self.texts.words.setText(self._texts(row))
        scoring = self.tr(
            "How many bits a model needs for each byte of the texts: fewer are better. "
            "Perplexity per byte is 2 to the power of these bits, and gives the same ranking. "
            "A model reads {window} tokens at a time, {stride} of them new. Entrants that "
            "cannot be told apart share a place."
        )
        self.scoring.words.setText(
            scoring.format(window=figures.count(row.window), stride=figures.count(row.stride))
        )
        trust = self.tr(
            "{evaluators} computers that are not involved in any entry are drawn by lot to "
            "score. For each text the median score counts, so one dishonest evaluator changes "
            "nothing, and everything is in the log."
        )
        self.trust.words.setText(trust.format(evaluators=figures.count(row.evaluators)))
        stated = self.tr("What may be trained on is written at this address:")
        free = self.tr("These rules say nothing about what may be trained on.")
        self.data.words.setText(stated if row.data else free)
        self.address.show_text(row.data)
        self.address.setVisible(bool(row.data))

    def _budget(self, row: CompetitionRow) -> list[str]:
        limits = []
        if row.parameters:
            words = self.tr("A model has at most {count} parameters.")
            limits.append(words.format(count=figures.short_count(row.parameters)))
        if row.tokens:
            words = self.tr("Its run may train on {count} tokens.")
            limits.append(words.format(count=figures.short_count(row.tokens)))
        if row.hours:
            limits.append(self.tr("It has %n hour(s) from the opening of its run.", "", row.hours))
        return limits or [self.tr("Size, tokens and time have no limit.")]

    def _texts(self, row: CompetitionRow) -> str:
        sealed = self.tr(
            "{texts} texts, {size}, were sealed before the competition was opened. Only after the "
            "deadline are {drawn} of them drawn by lot."
        ).format(
            texts=figures.count(row.texts),
            size=figures.data(row.texts_bytes),
            drawn=figures.count(row.drawn),
        )
        if row.needed <= 1:
            alone = self.tr("One person alone holds the key to them and has to be trusted.")
            return join_sentences(sealed, alone)
        shared = self.tr(
            "The key to them is shared among {custodians} custodians; {needed} have to act "
            "together to open them."
        )
        return f"{sealed} " + shared.format(
            custodians=figures.count(row.custodians), needed=figures.count(row.needed)
        )


class RuleParagraph(QWidget):
    def __init__(self, picture: str, heading: str) -> None:
        super().__init__()
        self.words = WrappedLabel("", TextStyle.BODY, "sub")
        self.column = vbox(Label(heading, TextStyle.STRONG), self.words, spacing=3)
        icon = IconLabel(picture, QSize(18, 18))
        hbox((icon, TOP), (self.column, 1), spacing=12, parent=self)
