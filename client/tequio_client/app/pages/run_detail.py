"""One run in detail: what it is for, what joining means, how far it is, and its model."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QSize, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from tequio_client.app.language import join_sentences
from tequio_client.app.pages.run_code import code_text, organiser_names
from tequio_client.app.pages.run_needs import (
    CONNECTION,
    Fit,
    NeedKind,
    RunNeed,
    RunNeeds,
    RunResources,
    amount_text,
    days_of_traffic,
    is_full,
    needs_of,
)
from tequio_client.app.theme.style import TextStyle
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import (
    Card,
    Columns,
    ElidedLabel,
    IconLabel,
    Label,
    WrappedLabel,
    caption,
    caption_line,
    fill,
    hbox,
    vbox,
)
from tequio_client.app.widgets.buttons import Button
from tequio_client.ipc.cell import smallest_cell
from tequio_client.ipc.runs import GeneratedSample, PublishedHead, RunPlugin, RunRow

AUTOMATIC = ""
"""The choice left to the program."""
HUB = "https://huggingface.co"
MOST_HEADS = 3
MOST_LINES = 12
"""Most lines shown of a sample: a model may write nothing but line breaks."""
DAYS_OF_MONTH = 31
DETAIL_WIDTH = 330


def source_text(run: RunRow) -> str:
    """The texts that the run learns from; empty: its rules do not say it."""
    words = QCoreApplication.translate("RunNeeds", "Learns from: {source}")
    return words.format(source=run.source) if run.source else ""


def about_text(run: RunRow) -> str:
    """Describe a run as far as known: notices, purpose, texts, licence, and its organisers."""
    licence = QCoreApplication.translate("RunNeeds", "Licence of the model: {licence}")
    organisers = QCoreApplication.translate("RunNeeds", "Opened by: {keys}")
    keys = organiser_names(run)
    told = QCoreApplication.translate("RunNeeds", "From the organisers: {text}")
    paused = QCoreApplication.translate("RunNeeds", "Paused: {text}")
    lines = (
        paused.format(text=run.pause_reason) if run.pause_reason else "",
        told.format(text=run.announcement) if run.announcement else "",
        fitted_lines(run.description),
        source_text(run),
        licence.format(licence=run.licence) if run.licence else "",
        organisers.format(keys=keys) if keys else "",
    )
    return "\n".join(line for line in lines if line)


class RunDetail(Card):
    """One run, or the automatic choice; `join_requested` carries the run to join."""

    join_requested = Signal(str)
    consent_requested = Signal(str, bool)
    """The run whose code is to be allowed (True), or no longer."""

    def __init__(self, join: str = "", stay: str = "", *, asks_consent: bool = False) -> None:
        """Labels of the button for joining a run and for staying in the current one.

        With `asks_consent`, `consent_requested` leads to the question about a run's own code.
        """
        super().__init__()
        self.setMinimumWidth(DETAIL_WIDTH)
        self.setAccessibleName(self.tr("What joining means"))
        self._run, self._is_allowed = AUTOMATIC, False
        self._asks_consent = asks_consent
        self._join = join or self.tr("Join this run")
        self._stay = stay or self.tr("Stay on this run")
        self.name, self.words = ElidedLabel("", TextStyle.HEADING), WrappedLabel(tone="sub")
        self.about = WrappedLabel()
        self.facts, self.needs = RunFigures(), RunNeeds()
        self.takes = Label(self.tr("What it needs"), TextStyle.STRONG)
        self.meaning, self.note = WrappedLabel(), caption()
        self.button = Button("", "primary")
        self.button.clicked.connect(lambda: self.join_requested.emit(self._run))
        self.published, self.writing, self.chat = RunPublished(), RunWriting(), RunChat()
        self.code, self.consent = WrappedLabel(), Button("")
        self.consent.clicked.connect(
            lambda: self.consent_requested.emit(self._run, not self._is_allowed)
        )
        self.body.setSpacing(12)
        fill(self.body, self.name, self.words, self.about, self.code, hbox(self.consent, None))
        fill(self.body, self.facts, self.takes, self.needs)
        self.body.addWidget(self.meaning)
        fill(self.body, hbox(self.button, None), self.note, self.writing, self.chat)
        fill(self.body, self.published, None)

    def show_any(self, *, is_chosen: bool, now: str = "") -> None:
        """Show the automatic choice; `now` is the run that it picked."""
        self.published.show_heads(())
        self.chat.show_address("")
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
        self, run: RunRow, offer: RunResources | None, *, ours: str, is_chosen: bool
    ) -> None:
        """An `offer` of None: the resources of this computer are still unknown.

        `ours` is the run that this computer is in; empty: none.
        """
        self._run, is_ours = run.run, run.run == ours
        offer = offer or RunResources()
        needs = needs_of(run, offer)
        self.name.setText(run.name)
        self.words.setText(self._state(run, is_ours=is_ours))
        self.about.setText(about_text(run))
        self.facts.show_run(run)
        self.published.show_heads(run.published)
        self.writing.show_sample(run.sample)
        self.chat.show_address(run.chat)
        self.needs.show_needs(needs, offer.device)
        self.meaning.setText(self._meaning(run, offer))
        chosen = self.tr("Chosen") if run.is_open else self.tr("Ended")
        join = self._stay if is_ours else self._join
        self._show_button(join, chosen, is_chosen=is_chosen or not run.is_open)
        self.note.setText(self._note_text(run, needs, ours, is_chosen=is_chosen))
        self._show_code(run.plugin)
        self._show_parts(is_run=True)

    def _show_code(self, plugin: RunPlugin | None) -> None:
        self.code.setText(code_text(plugin) if plugin else "")
        self._is_allowed = plugin is not None and plugin.is_allowed
        self.consent.set_label(
            self.tr("Take back my consent") if self._is_allowed else self.tr("Allow its code…"), ""
        )

    def _show_parts(self, *, is_run: bool) -> None:
        for part in (self.facts, self.takes, self.needs, self.meaning):
            part.setVisible(is_run)
        has_code = is_run and bool(self.code.text())
        self.code.setVisible(has_code)
        self.consent.setVisible(has_code and self._asks_consent)
        self.about.setVisible(is_run and bool(self.about.text()))
        self.note.setVisible(is_run and bool(self.note.text()))

    def _show_button(self, words: str, chosen: str, *, is_chosen: bool) -> None:
        self.button.set_label(chosen if is_chosen else words, "check" if is_chosen else "")
        self.button.setEnabled(not is_chosen)

    def _state(self, run: RunRow, *, is_ours: bool) -> str:
        if is_ours:
            return self.tr("This computer is in this run.")
        if not run.is_open:
            return self.tr("This run has ended. Its model and its log stay where they are.")
        if is_full(run):
            return self.tr("All places are taken. If you join, you wait until one is free.")
        return self.tr("Open to everyone whose device fits.")

    def _meaning(self, run: RunRow, offer: RunResources) -> str:
        words = self.tr(
            "Joining downloads {first} once. While training, it uploads about {up} and "
            "downloads about {down} per hour; less while paused."
        ).format(
            first=figures.data(run.first_bytes),
            up=figures.data(run.hourly_up_bytes),
            down=figures.data(run.hourly_down_bytes),
        )
        if run.day_disk_bytes > run.disk_bytes:
            disk = self.tr("After a day it uses about {disk} on the disk, or your storage limit.")
            words = join_sentences(words, disk.format(disk=figures.data(run.day_disk_bytes)))
        if run.day_points:
            earns = self.tr("This computer would earn about {points} points a day.")
            earned = earns.format(points=figures.short_points(run.day_points))
            words = join_sentences(earned, words)
        days = days_of_traffic(run, offer)
        if days is None or days >= DAYS_OF_MONTH:
            return words
        left = figures.data(offer.month_bytes or 0)
        if not days:
            short = self.tr("The {left} left this month will not last for a day of lending.")
            return join_sentences(words, short.format(left=left))
        lasts = self.tr("The {left} left this month last for about %n day(s) of lending.", "", days)
        return join_sentences(words, lasts.format(left=left))

    def _note_text(
        self, run: RunRow, needs: tuple[RunNeed, ...], ours: str, *, is_chosen: bool
    ) -> str:
        if not run.is_open:
            return ""
        short = {need.kind for need in needs if need.fit is Fit.TOO_LITTLE}
        if short - CONNECTION:
            return self._cell_text(run, needs) or self.tr(
                "Something here is less than this run needs, so this computer would wait. Raise "
                "a limit, or choose a run that fits."
            )
        if short:
            return self.tr(
                "Your bandwidth limit is less than this run needs: some rounds may end without "
                "your work. Raise it in Settings, Network, or choose a run that fits."
            )
        if is_chosen:
            return self.tr("You chose this run. It stays chosen until you choose another.")
        if run.run == ours:
            return self.tr("Tequio chose it for you, and may choose another when this one ends.")
        leaves = self.tr("Joining leaves the run that you are in now; your points stay yours.")
        return leaves if ours else ""

    def _cell_text(self, run: RunRow, needs: tuple[RunNeed, ...]) -> str:
        """Offer a cell, if more memory is all that is missing and one of such computers has it."""
        memory = next(one for one in needs if one.kind is NeedKind.MEMORY)
        short = {need.kind for need in needs if need.fit is Fit.TOO_LITTLE}
        cell = smallest_cell(run.cells, memory.most or 0)
        if cell is None or short - CONNECTION != {NeedKind.MEMORY}:
            return ""
        text = (
            self.tr(
                "This run needs {needed} of memory, and this computer lends {most}. One computer "
                "with %n card(s) like this one could train it: start a worker there by {command}.",
                "",
                cell.ranks,
            )
            if cell.is_one_computer
            else self.tr(
                "This run needs {needed} of memory, and this computer lends {most}. %n computer(s) "
                "like this one could train it together: open a cell with others in your network by "
                "{command}.",
                "",
                cell.ranks,
            )
        )
        needed, most = (amount_text(memory.kind, one or 0) for one in (memory.needed, memory.most))
        return text.format(needed=needed, most=most, command=cell.command)


class RunPublished(QWidget):
    """Published heads of a run, as the log names them, newest first."""

    def __init__(self) -> None:
        super().__init__()
        self.rows = [PublishedRow() for _ in range(MOST_HEADS)]
        vbox(
            Label(self.tr("Published heads"), TextStyle.STRONG), *self.rows, spacing=8, parent=self
        )
        self.hide()

    def show_heads(self, heads: tuple[PublishedHead, ...]) -> None:
        for at, row in enumerate(self.rows):
            row.setVisible(at < len(heads))
            if at < len(heads):
                row.show_head(heads[at])
        self.setVisible(bool(heads))


class PublishedRow(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self._page = ""
        self.name = ElidedLabel("", TextStyle.BODY)
        self.note = caption_line()
        self.button = Button(self.tr("Open"), "quiet", "external-link")
        self.button.clicked.connect(lambda: QDesktopServices.openUrl(QUrl(self._page)))
        icon = IconLabel("package-check", QSize(18, 18))
        words = vbox(self.name, self.note, spacing=1)
        hbox(icon, (words, 1), self.button, spacing=12, parent=self)

    def show_head(self, head: PublishedHead) -> None:
        self._page = f"{HUB}/{head.repo}/tree/{head.revision}"
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
        self.note = caption()
        self.prompt, self.text = WrappedLabel(), WrappedLabel()
        vbox(
            Label(self.tr("What the model writes"), TextStyle.STRONG),
            self.note,
            Label(self.tr("Held-out text"), TextStyle.CAPTION, "sub"),
            self.prompt,
            Label(self.tr("The model continues"), TextStyle.CAPTION, "sub"),
            self.text,
            spacing=6,
            parent=self,
        )
        self.hide()

    def show_sample(self, sample: GeneratedSample | None) -> None:
        self.setVisible(sample is not None)
        if sample is None:
            return
        note = self.tr("After round {number}. Generated by the model; not anyone's opinion.")
        self.note.setText(note.format(number=figures.count(sample.round)))
        self.prompt.setText(fitted_lines(sample.prompt))
        ends = self.tr("Nothing: to the model the text ends there.")
        self.text.setText(fitted_lines(sample.text) or ends)


class RunChat(QWidget):
    """A link to the service at which the organisers of a run let people try its model."""

    def __init__(self) -> None:
        super().__init__()
        self._address = ""
        self.note = caption()
        self.button = Button(self.tr("Try the model"), "quiet", "external-link")
        self.button.clicked.connect(lambda: QDesktopServices.openUrl(QUrl(self._address)))
        vbox(hbox(self.button, None), self.note, spacing=4, parent=self)
        self.hide()

    def show_address(self, address: str) -> None:
        """An empty address hides the link."""
        self._address = address
        about = self.tr(
            "Opens {address} in the browser. It is a service of the organisers: nothing that it "
            "writes is checked by the network."
        )
        self.note.setText(about.format(address=address))
        self.button.setToolTip(address)
        self.setVisible(bool(address))


def fitted_lines(text: str) -> str:
    """The first lines of a text."""
    lines = text.strip("\n").split("\n")
    return "\n".join(lines[:MOST_LINES]) + ("\n…" if len(lines) > MOST_LINES else "")


class RunFigures(Columns):
    def __init__(self) -> None:
        super().__init__(folded=2, gap=12)
        self.parameters, self.tokens = (
            FactLine(self.tr("Parameters")),
            FactLine(self.tr("Tokens trained")),
        )
        self.round, self.members = FactLine(self.tr("Round")), FactLine(self.tr("Volunteers"))
        self.set_parts((self.parameters, self.tokens, self.round, self.members))

    def show_run(self, run: RunRow) -> None:
        self.parameters.show_value(figures.short_count(run.parameters), self._exactly(run))
        self.tokens.show_value(figures.short_count(run.tokens), figures.count(run.tokens))
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
    def __init__(self, name: str) -> None:
        super().__init__()
        self._name, self.figure = Label(name, TextStyle.CAPTION, "sub"), Label("", TextStyle.STRONG)
        vbox(self._name, self.figure, spacing=1, parent=self)

    def show_value(self, figure: str, exact: str = "") -> None:
        """`exact` is shown in the tool tip."""
        self.figure.setText(figure)
        self.setToolTip(exact)
        self.setAccessibleName(f"{self._name.text()}: {exact or figure}")


def _of(number: int, most: int) -> str:
    return f"{figures.count(number)} / {figures.count(most)}" if most else figures.count(number)
