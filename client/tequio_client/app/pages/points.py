"""Points: what was earned, round by round, and how this computer knows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QDate, QDateTime, QStandardPaths
from PySide6.QtWidgets import QFileDialog, QWidget

from tequio_client.app.pages import card_name, points_range
from tequio_client.app.pages.page import Page
from tequio_client.app.pages.page_head import PageHead
from tequio_client.app.pages.points_export import PointsExport
from tequio_client.app.pages.points_range import PointsRange
from tequio_client.app.pages.points_sums import PointsSums
from tequio_client.app.pages.round_dialog import RoundDialog
from tequio_client.app.pages.rounds_book import RoundsBook
from tequio_client.app.pages.rounds_card import RoundsCard
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.banner import Banner
from tequio_client.app.widgets.button import Button
from tequio_client.app.widgets.toast import Toast
from tequio_client.link.questions import Series

if TYPE_CHECKING:
    from PySide6.QtCore import QModelIndex

    from tequio_client.app.pages.page import Means
    from tequio_client.link.questions import AskSeries, PointsRow, Question, Reply
    from tequio_client.link.snapshot import Snapshot

NEAR = 600
"""Pixels before the end at which older rounds are read."""


class PointsPage(Page):
    """The page of the points."""

    def __init__(self, means: Means) -> None:
        super().__init__(means)
        self._rounds = -1
        self._asked: AskSeries | None = None
        self.export = Button(self.tr("Export CSV"), picture="download")
        self.head = PageHead(
            self.tr("Points"),
            self.tr("Counted only when this computer has checked the proof in the ledger's log."),
            (self.export,),
        )
        self.banner, self.sums, self.range = Banner(), PointsSums(), PointsRange()
        self.book = RoundsBook(self.model, self)
        self.rounds = RoundsCard(self.name_device)
        self.toast = Toast(self)
        self.exporter = PointsExport(self.model, self)
        for part in (self.head, self.banner, self.sums, self.range, self.rounds):
            self.body.addWidget(part)
        self.body.addStretch(1)
        self._connect()

    def _connect(self) -> None:
        self.export.clicked.connect(self.choose_file)
        self.range.chosen.connect(self._ask_series)
        self.book.changed.connect(self._show_rounds)
        self.rounds.narrowed.connect(self._narrow)
        self.rounds.again.connect(self.book.renew)
        self.rounds.table.opened.connect(self.open_round)
        self.rounds.table.selectionModel().currentRowChanged.connect(self._show_current)
        self.exporter.done.connect(self._tell_done)
        self.exporter.failed.connect(self._tell_failed)
        self.verticalScrollBar().valueChanged.connect(self._read_on)
        self.verticalScrollBar().rangeChanged.connect(self._read_on)
        self.model.replied.connect(self._take)

    # --- what the user does

    def choose_file(self) -> None:
        """Let the user say where the rounds shall be written."""
        documents = QStandardPaths.StandardLocation.DocumentsLocation
        day = QDateTime.fromMSecsSinceEpoch(self.means.now_ms()).date()
        name = f"tequio-points-{QDate(day).toString('yyyy-MM-dd')}.csv"
        dialog = QFileDialog(self, self.tr("Export all rounds"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilter(self.tr("Comma-separated values (*.csv)"))
        dialog.setDefaultSuffix("csv")
        dialog.setDirectory(QStandardPaths.writableLocation(documents))
        dialog.selectFile(name)
        dialog.fileSelected.connect(self.write_file)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def write_file(self, path: str) -> None:
        """Write all rounds to that file."""
        self.export.setEnabled(False)
        self.exporter.start(Path(path))

    def open_round(self, row: PointsRow) -> None:
        """Show all there is to know of a round."""
        snapshot = self.model.snapshot
        ledger = snapshot.ledger.url if snapshot else ""
        RoundDialog(row, ledger, self.name_device(row.device), self).open()

    # --- what is known

    def refresh(self) -> None:
        """Show the latest snapshot, and read anew what it says has changed."""
        snapshot = self.model.snapshot
        self.sums.show_snapshot(snapshot)
        self._show_banner(snapshot)
        if snapshot is None:
            self._rounds = -1
        elif snapshot.rounds != self._rounds:
            self._rounds = snapshot.rounds
            self.book.renew()
            self._ask_series()
        elif self._asked != self._question():  # another hour, another day
            self._ask_series()

    def name_device(self, device: str) -> str:
        """What people call that device."""
        snapshot = self.model.snapshot
        gpus = (snapshot.machine.gpus or ()) if snapshot else ()
        name = next((gpu.name for gpu in gpus if gpu.id == device), device)
        return self.tr("Processor") if device == "cpu" else card_name.short(name)

    def _question(self) -> AskSeries:
        book, now_ms = self.book, self.means.now_ms()
        return points_range.question(self.range.span.choice, now_ms, book.run, book.device)

    def _ask_series(self, _span: str = "") -> None:
        self._asked = self._question()
        self.model.ask(self._asked)

    def _take(self, question: Question, reply: Reply) -> None:
        if question == self._asked and isinstance(reply, Series):
            self.range.show_series(reply)

    def _narrow(self, run: str, device: str) -> None:
        self.book.narrow(run, device)
        self._show_rounds()
        self._ask_series()

    def _read_on(self, *_: int) -> None:
        bar = self.verticalScrollBar()
        if self.isVisible() and bar.maximum() - bar.value() < NEAR:
            self.book.read_on()

    # --- what is shown

    def _show_rounds(self) -> None:
        self.rounds.show_book(self.book)

    def _show_banner(self, snapshot: Snapshot | None) -> None:
        left = snapshot.points.unverified if snapshot else 0
        self.banner.setVisible(bool(left) or (snapshot is None and bool(self.model.why_gone)))
        if snapshot is None:
            self.banner.show_words("error", self.model.why_gone)
        elif left:
            words = self.tr(
                "The ledger says that you have {points} points more. Their entries in its log are "
                "not read and checked here yet, so they are not counted in. That goes on by itself."
            )
            self.banner.show_words("info", words.format(points=figures.exact_points(left)))

    def _show_current(self, current: QModelIndex) -> None:
        """Keep the row that the keyboard is on in sight."""
        table = self.rounds.table
        if current.isValid() and table.hasFocus():
            place = table.visualRect(current)
            at = table.viewport().mapTo(self._content(), place.center())
            self.ensureVisible(self.width() // 2, at.y(), 0, place.height() * 2)

    def _content(self) -> QWidget:
        content = self.widget()
        return content if content is not None else self

    def _tell_done(self, path: str, count: int) -> None:
        self.export.setEnabled(True)
        name = Path(path).name
        self.toast.say(self.tr("%n round(s) written to {file}", "", count).format(file=name))

    def _tell_failed(self, why: str) -> None:
        self.export.setEnabled(True)
        self.toast.say(why, self.tr("Close"))
