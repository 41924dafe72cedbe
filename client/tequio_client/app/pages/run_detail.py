"""One run in detail, and its needs beside what this computer offers.

Memory is in MiB, everything else in bytes. The offer is what machine and limits leave; None means
unlimited or unknown. A need above `TIGHT_FROM` of the offer fits tightly: it may soon be too much.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtCore import QCoreApplication, QSize, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from tequio_client.app.language import join_sentences
from tequio_client.app.pages import devices
from tequio_client.app.pages.run_code import code_text, organiser_names
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
from tequio_client.app.widgets.indicators import Chip
from tequio_client.ipc.cell import smallest_cell
from tequio_client.ipc.facts import AcceleratorFacts
from tequio_client.ipc.preferences import Preferences, usable_memory_mb
from tequio_client.ipc.runs import GeneratedSample, PublishedHead, RunPlugin, RunRow
from tequio_client.ipc.snapshot import Snapshot

AUTOMATIC = ""
"""The choice left to the program."""
HUB = "https://huggingface.co"
MOST_HEADS = 3
MOST_LINES = 12
"""Most lines shown of a sample: a model may write nothing but line breaks."""
TIGHT_FROM = 0.8
HOURS_A_DAY = 24
DAYS_OF_MONTH = 31
DETAIL_WIDTH = 330
_GIB = 1 << 30
_GB = 10**9
_MBIT_BYTES_AN_HOUR = 3_600 * 125_000
_LONG_WORD = re.compile(r"(\S{24})(?=\S)")


class Fit(StrEnum):
    FITS = "fits"
    TIGHT = "tight"
    TOO_LITTLE = "too-little"
    UNKNOWN = "unknown"


WORST_FIRST = (Fit.TOO_LITTLE, Fit.TIGHT, Fit.UNKNOWN, Fit.FITS)
FIT_CHIPS = {
    Fit.FITS: ("Fits", "circle-check", "ok"),
    Fit.TIGHT: ("Just fits", "circle-check", "ok"),
    Fit.TOO_LITTLE: ("Does not fit", "octagon-x", "danger"),
    Fit.UNKNOWN: ("Not known yet", "circle-question-mark", ""),
}
"""Label, icon and tone; labels are translated in the context `RunNeeds`."""


class NeedKind(StrEnum):
    MEMORY = "memory"
    DISK = "disk"
    FIRST = "first"
    UP = "up"
    DOWN = "down"


NEEDS = {
    NeedKind.MEMORY: ("memory-stick", "Memory", "of {most} free"),
    NeedKind.DISK: ("hard-drive", "Disk", "of {most} your limits allow"),
    NeedKind.FIRST: ("cloud-download", "First download", "of {most} left this month"),
    NeedKind.UP: ("arrow-up", "Upload per hour", "of {most} your limit allows"),
    NeedKind.DOWN: ("arrow-down", "Download per hour", "of {most} your limit allows"),
}
"""Icon, name and note; texts are translated in the context `RunNeeds`."""
CONNECTION = {NeedKind.UP, NeedKind.DOWN}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunNeed:
    """One need beside `most` of the offer; None: unlimited, or unknown."""

    kind: NeedKind
    needed: int
    most: int | None
    fit: Fit


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResources:
    memory_mb: int | None = None
    """None: unknown."""
    device: str = ""
    """The accelerator with that memory; empty: none, and main memory counts."""
    disk_bytes: int | None = None
    """None: unknown."""
    month_bytes: int | None = None
    """Left of the month's traffic; None: unlimited."""
    hourly_up_bytes: int | None = None
    hourly_down_bytes: int | None = None
    """None: unlimited."""


def resources(snapshot: Snapshot, preferences: Preferences) -> RunResources:
    """The resources that machine and limits leave for a run."""
    memory_mb, device = _memory(snapshot, preferences)
    limit = preferences.month_gb * _GB
    return RunResources(
        memory_mb=memory_mb,
        device=device,
        disk_bytes=_disk_bytes(snapshot, preferences),
        month_bytes=max(limit - snapshot.line.month_bytes, 0) if limit else None,
        hourly_up_bytes=_hourly_bytes(preferences.upload_mbit),
        hourly_down_bytes=_hourly_bytes(preferences.download_mbit),
    )


def needs_of(run: RunRow, offer: RunResources) -> tuple[RunNeed, ...]:
    return (
        _need(NeedKind.MEMORY, run.memory_mb, offer.memory_mb, without=Fit.UNKNOWN),
        _need(NeedKind.DISK, run.disk_bytes, offer.disk_bytes, without=Fit.UNKNOWN),
        _need(NeedKind.FIRST, run.first_bytes, offer.month_bytes),
        _need(NeedKind.UP, run.hourly_up_bytes, offer.hourly_up_bytes),
        _need(NeedKind.DOWN, run.hourly_down_bytes, offer.hourly_down_bytes),
    )


def overall_fit(needs: tuple[RunNeed, ...]) -> Fit:
    """The worst fit of all needs; unknown without any."""
    fits = {need.fit for need in needs}
    return next((fit for fit in WORST_FIRST if fit in fits), Fit.UNKNOWN)


def days_of_traffic(run: RunRow, offer: RunResources) -> int | None:
    """Whole days that the month's traffic lasts when lending all day; None: unlimited."""
    daily = (run.hourly_up_bytes + run.hourly_down_bytes) * HOURS_A_DAY
    if offer.month_bytes is None or not daily:
        return None
    return max(offer.month_bytes - run.first_bytes, 0) // daily


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


def is_full(run: RunRow) -> bool:
    return 0 < run.most_members <= run.members


def _need(kind: NeedKind, needed: int, most: int | None, without: Fit = Fit.FITS) -> RunNeed:
    if most is None:
        return RunNeed(kind=kind, needed=needed, most=most, fit=without)
    fit = Fit.TIGHT if needed > TIGHT_FROM * most else Fit.FITS
    fit = Fit.TOO_LITTLE if needed > most else fit
    return RunNeed(kind=kind, needed=needed, most=most, fit=fit)


def _memory(snapshot: Snapshot, preferences: Preferences) -> tuple[int | None, str]:
    """Memory of the best accelerator, as the worker counts it when it chooses a run."""
    gpus = snapshot.machine.gpus
    if gpus is None:
        return None, ""
    used = [gpu for gpu in gpus if preferences.device(gpu.key).use]
    found = [(_usable_mb(gpu, preferences), gpu.name) for gpu in used]
    known = [(most, name) for most, name in found if most is not None]
    if known:
        return max(known)
    return (None, found[0][1]) if found else (snapshot.machine.free_memory_mb, "")


def _usable_mb(gpu: AcceleratorFacts, preferences: Preferences) -> int | None:
    if gpu.memory_mb is None:
        return None
    return usable_memory_mb(gpu.memory_mb, preferences.device(gpu.key).memory_mb)


def _disk_bytes(snapshot: Snapshot, preferences: Preferences) -> int | None:
    disk = snapshot.disk
    if not disk.free_bytes:
        return None
    spare = max(disk.free_bytes - preferences.disk_free_gib * _GIB, 0)
    return min(preferences.disk_gib * _GIB, disk.store_bytes + spare)


def _hourly_bytes(mbit: float | None) -> int | None:
    return None if mbit is None else int(mbit * _MBIT_BYTES_AN_HOUR)


def update_fit_chip(chip: Chip, fit: Fit) -> None:
    words, picture, tone = FIT_CHIPS[fit]
    chip.set_label(_translated(words), picture, tone)


class RunNeeds(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self.rows = {kind: NeedRow(picture) for kind, (picture, _, _) in NEEDS.items()}
        vbox(*self.rows.values(), spacing=12, parent=self)

    def show_needs(self, needs: tuple[RunNeed, ...], device: str) -> None:
        """`device` is the accelerator whose memory counts; empty: main memory does."""
        for need in needs:
            _, words, _ = NEEDS[need.kind]
            is_graphics = need.kind is NeedKind.MEMORY and bool(device)
            name = self.tr("Graphics memory") if is_graphics else _translated(words)
            note = self._note_text(need, device if is_graphics else "")
            self.rows[need.kind].show_need(name, need, note)

    def _note_text(self, need: RunNeed, device: str) -> str:
        if need.most is None:
            is_open = need.fit is Fit.FITS
            return self.tr("No limit set") if is_open else self.tr("Not known here")
        most = _amount(need.kind, need.most)
        if device:
            short = devices.short_name(device)
            return self.tr("of {most} on {device}").format(most=most, device=short)
        _, _, note = NEEDS[need.kind]
        return _translated(note).format(most=most)


class NeedRow(QWidget):
    def __init__(self, picture: str) -> None:
        super().__init__()
        self._name, self.note = caption_line(), caption_line()
        self.figure, self.chip = Label("", TextStyle.STRONG), Chip()
        below = hbox(self.figure, (self.note, 1), spacing=6)
        words = vbox(self._name, below, spacing=1)
        hbox(IconLabel(picture, QSize(18, 18)), (words, 1), self.chip, spacing=12, parent=self)

    def show_need(self, name: str, need: RunNeed, note: str) -> None:
        self._name.setText(name)
        self.figure.setText(_amount(need.kind, need.needed))
        self.note.setText(note)
        update_fit_chip(self.chip, need.fit)
        self.setAccessibleName(f"{name}: {self.figure.text()} {note}. {self.chip.text}")


def _translated(words: str) -> str:
    return QCoreApplication.translate("RunNeeds", words)


def _amount(kind: NeedKind, size: int) -> str:
    if kind is NeedKind.MEMORY:
        return figures.memory(size)
    return figures.storage(size) if kind is NeedKind.DISK else figures.data(size)


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
        self, run: RunRow, offer: RunResources | None, *, is_ours: bool, is_chosen: bool
    ) -> None:
        """An `offer` of None: the resources of this computer are still unknown."""
        self._run = run.run
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
        self.note.setText(self._note_text(run, needs, is_ours=is_ours, is_chosen=is_chosen))
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
        self, run: RunRow, needs: tuple[RunNeed, ...], *, is_ours: bool, is_chosen: bool
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
        if is_ours:
            return self.tr("Tequio chose it for you, and may choose another when this one ends.")
        return self.tr("Joining leaves the run that you are in now; your points stay yours.")

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
        needed, most = (_amount(memory.kind, one or 0) for one in (memory.needed, memory.most))
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
        self.note.setText(fitted_lines(about.format(address=address)))
        self.button.setToolTip(address)
        self.setVisible(bool(address))


def fitted_lines(text: str) -> str:
    """The first lines of a text, with break points in words wider than a card."""
    lines = text.strip("\n").split("\n")
    shown = "\n".join(lines[:MOST_LINES]) + ("\n…" if len(lines) > MOST_LINES else "")
    return _LONG_WORD.sub("\\1\u200b", shown)


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
