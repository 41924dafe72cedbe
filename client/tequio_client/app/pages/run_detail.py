"""One run in detail: figures, needs, published heads and a sample, and the button to join."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from tequio_client.app.pages import run_needs
from tequio_client.app.pages.run_needs import Fit, NeedKind, RunNeeds
from tequio_client.app.theme.style import TextStyle
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import (
    Card,
    Columns,
    ElidedLabel,
    IconLabel,
    Label,
    WrappedLabel,
    flush_column,
)
from tequio_client.app.widgets.buttons import Button

if TYPE_CHECKING:
    from tequio_client.app.pages.run_needs import RunNeed, RunResources
    from tequio_client.ipc.control import GeneratedSample, PublishedHead, RunRow

AUTOMATIC = ""
"""The choice left to the program."""
HUB = "https://huggingface.co"
MOST_HEADS = 3
_LONG_WORD = re.compile(r"(\S{24})(?=\S)")
MOST_LINES = 12
"""Most lines shown of a sample: a model may write nothing but line breaks."""
DAYS_OF_MONTH = 31
LINE = {NeedKind.UP, NeedKind.DOWN}
DETAIL_WIDTH = 330


class RunDetail(Card):
    """One run, or the automatic choice; `wanted` carries the run to join."""

    join_requested = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setMinimumWidth(DETAIL_WIDTH)
        self.setAccessibleName(self.tr("What joining means"))
        self._run = AUTOMATIC
        self._join, self._stay = self.tr("Join this run"), self.tr("Stay on this run")
        self.name, self.words = ElidedLabel("", TextStyle.HEADING), WrappedLabel(tone="sub")
        self.facts, self.needs = RunFigures(), RunNeeds()
        self.takes = Label(self.tr("What it takes"), TextStyle.STRONG)
        self.meaning, self.note = WrappedLabel(), WrappedLabel("", TextStyle.CAPTION, "sub")
        self.button = Button("", "primary")
        self.button.clicked.connect(lambda: self.join_requested.emit(self._run))
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

    def set_labels(self, join: str, stay: str) -> None:
        """Set the button's label for joining a run and for staying in the current one."""
        self._join, self._stay = join, stay

    def show_any(self, *, is_chosen: bool, now: str = "") -> None:
        """Show the automatic choice; `now` is the run that it picked."""
        self.published.show_heads(())
        self.writing.show_sample(None)
        self._show_parts(is_run=False)
        self._run = AUTOMATIC
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

    def show_run(
        self, run: RunRow, there: RunResources | None, *, is_ours: bool, is_chosen: bool
    ) -> None:
        """Without `there`, the resources of this computer are still unknown."""
        self._run = run.run
        there = there or run_needs.RunResources()
        needed = run_needs.needs_of(run, there)
        self.name.setText(run.name)
        self.words.setText(self._state(run, is_ours=is_ours))
        self.facts.show_run(run)
        self.published.show_heads(run.published)
        self.writing.show_sample(run.sample)
        self.needs.show_needs(needed, there)
        self.meaning.setText(self._meaning(run, there))
        chosen = self.tr("Chosen") if run.is_open else self.tr("Ended")
        join = self._stay if is_ours else self._join
        self._show_button(join, chosen, is_chosen=is_chosen or not run.is_open)
        self.note.setText(self._note_text(run, needed, is_ours=is_ours, is_chosen=is_chosen))
        self._show_parts(is_run=True)

    def _show_parts(self, *, is_run: bool) -> None:
        for part in (self.facts, self.takes, self.needs, self.meaning):
            part.setVisible(is_run)
        self.note.setVisible(is_run and bool(self.note.text()))

    def _show_button(self, words: str, chosen: str, *, is_chosen: bool) -> None:
        self.button.set_label(chosen if is_chosen else words, "check" if is_chosen else "")
        self.button.setEnabled(not is_chosen)

    def _state(self, run: RunRow, *, is_ours: bool) -> str:
        if is_ours:
            return self.tr("This computer is in this run.")
        if not run.is_open:
            return self.tr("This run has ended. Its model and its log stay where they are.")
        if run_needs.is_full(run):
            return self.tr("All places are taken. If you join, you wait until one is free.")
        return self.tr("Open to everyone whose device fits.")

    def _meaning(self, run: RunRow, there: RunResources) -> str:
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

    def _note_text(
        self, run: RunRow, needed: tuple[RunNeed, ...], *, is_ours: bool, is_chosen: bool
    ) -> str:
        if not run.is_open:
            return ""
        short = {need.kind for need in needed if need.fit is Fit.TOO_LITTLE}
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


def hub_url(head: PublishedHead) -> str:
    return f"{HUB}/{head.repo}/tree/{head.revision}"


class RunPublished(QWidget):
    """Published heads of a run, as the log names them, newest first."""

    def __init__(self) -> None:
        super().__init__()
        self.rows = [PublishedRow() for _ in range(MOST_HEADS)]
        column = flush_column(self, 8)
        column.addWidget(Label(self.tr("Published heads"), TextStyle.STRONG))
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
        self.name, self.note = (
            ElidedLabel("", TextStyle.BODY),
            ElidedLabel("", TextStyle.CAPTION, "sub"),
        )
        self.button = Button(self.tr("Open"), "quiet", "external-link")
        self.button.clicked.connect(lambda: QDesktopServices.openUrl(QUrl(self._page)))
        row, words = QHBoxLayout(self), QVBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        words.setSpacing(1)
        words.addWidget(self.name)
        words.addWidget(self.note)
        row.addWidget(IconLabel("package-check", QSize(18, 18)))
        row.addLayout(words, 1)
        row.addWidget(self.button)

    def show_head(self, head: PublishedHead) -> None:
        self._page = hub_url(head)
        self.name.setText(head.repo)
        number = figures.count(head.round)
        self.note.setText(self.tr("Round {number}, on the Hugging Face Hub").format(number=number))
        opens = self.tr("Open round {number} of {repo} in the browser")
        self.button.setAccessibleName(opens.format(number=number, repo=head.repo))
        self.button.setToolTip(self._page)


class RunWriting(QWidget):
    """The newest sample in the log, shown as plain text because a model wrote it."""

    def __init__(self) -> None:
        super().__init__()
        self.note = WrappedLabel("", TextStyle.CAPTION, "sub")
        self.prompt, self.text = WrappedLabel(), WrappedLabel()
        column = flush_column(self, 6)
        for part in (
            Label(self.tr("What the model writes"), TextStyle.STRONG),
            self.note,
            Label(self.tr("Held-out text"), TextStyle.CAPTION, "sub"),
            self.prompt,
            Label(self.tr("The model goes on"), TextStyle.CAPTION, "sub"),
            self.text,
        ):
            column.addWidget(part)
        self.hide()

    def show_sample(self, sample: GeneratedSample | None) -> None:
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
    shown = "\n".join(lines[:MOST_LINES]) + ("\n…" if len(lines) > MOST_LINES else "")
    return _LONG_WORD.sub("\\1\u200b", shown)


class RunFigures(Columns):
    """A run in four figures."""

    def __init__(self) -> None:
        super().__init__(folded=2, gap=12)
        self.parameters, self.tokens = FactLine(self.tr("Model")), FactLine(self.tr("Tokens"))
        self.round, self.members = FactLine(self.tr("Round")), FactLine(self.tr("Members"))
        self.set_parts((self.parameters, self.tokens, self.round, self.members))

    def show_run(self, run: RunRow) -> None:
        size, tokens = figures.short_count(run.parameters), figures.short_count(run.tokens)
        self.parameters.show_value(size, self._exactly(run))
        self.tokens.show_value(tokens, figures.count(run.tokens))
        self.round.show_value(_of(run.round, run.rounds))
        self.members.show_value(_of(run.members, run.most_members))
        self.fold()

    def _exactly(self, run: RunRow) -> str:
        exact = figures.count(run.parameters)
        if not run.adapters:
            return self.tr("{count} parameters").format(count=exact)
        words = self.tr("{count} parameters; {trained} of them are adapters, and trained")
        return words.format(count=exact, trained=figures.short_count(run.adapters))


class FactLine(QWidget):
    """A name and a figure."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name, self._figure = (
            Label(name, TextStyle.CAPTION, "sub"),
            Label("", TextStyle.STRONG),
        )
        column = flush_column(self, 1)
        column.addWidget(self._name)
        column.addWidget(self._figure)

    def show_value(self, figure: str, exact: str = "") -> None:
        """`exact` is shown in the tool tip."""
        self._figure.setText(figure)
        self.setToolTip(exact)
        self.setAccessibleName(f"{self._name.text()}: {exact or figure}")

    @property
    def figure(self) -> str:
        return self._figure.text()


def _of(number: int, most: int) -> str:
    return f"{figures.count(number)} / {figures.count(most)}" if most else figures.count(number)
