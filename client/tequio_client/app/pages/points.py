"""The Points page: points earned, round by round, and how they were verified."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from PySide6.QtCore import (
    QDate,
    QDateTime,
    QIODevice,
    QModelIndex,
    QObject,
    QSaveFile,
    QStandardPaths,
    QTime,
    Signal,
)
from PySide6.QtWidgets import QFileDialog

from tequio_client.app import worker_texts
from tequio_client.app.language import as_sentence, without_period
from tequio_client.app.model import AppModel, PeriodicQuestion
from tequio_client.app.pages import devices
from tequio_client.app.pages.badges import BadgesCard
from tequio_client.app.pages.page import LIST_INTERVAL_MS, Page, PageContext, PageHeader
from tequio_client.app.pages.rounds import RoundDialog, RoundsCard
from tequio_client.app.pages.rounds_model import RoundsReader, is_checked
from tequio_client.app.share import ShareDialog, SharedPage, shared_pages
from tequio_client.app.theme.style import TextStyle
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import Card, Columns, ElidedLabel, Label, fill, holding, vbox
from tequio_client.app.widgets.buttons import Button, Segmented
from tequio_client.app.widgets.cards import StatCard, StatCards
from tequio_client.app.widgets.charts import ChartData, PointsChart
from tequio_client.app.widgets.messages import Banner, Toast
from tequio_client.ipc.account import AccountReply, AskAccount
from tequio_client.ipc.control import Question, Reply
from tequio_client.ipc.facts import MAX_ROWS
from tequio_client.ipc.points import AskPoints, AskSeries, PointsReply, PointsRow, PointsSeries
from tequio_client.ipc.snapshot import PointsView, Snapshot

ACCOUNT_MS = 60_000
"""Interval of questions about the badges while they are shown."""
HOUR_MS, DAY_MS = 3_600_000, 86_400_000
DAY, WEEK, MONTH, ALL = "day", "week", "month", "all"
STEPS = {DAY: HOUR_MS, WEEK: 6 * HOUR_MS, MONTH: DAY_MS, ALL: DAY_MS}
DAYS = {WEEK: 7, MONTH: 30}
MAX_STEPS = 120
"""More steps are summed up: a longer curve would not show more."""
CHART_HEIGHT = 170
READ_ON_PX = 600
"""Distance in pixels from the end at which older rounds are requested."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class PointsPage(Page):
    def __init__(self, context: PageContext) -> None:
        super().__init__(context)
        self._rounds = -1
        self.series = PeriodicQuestion(
            self.model, context.now_ms, PointsSeries, LIST_INTERVAL_MS, parent=self
        )
        self.share = Button(self.tr("Share…"), picture="share-2")
        self.export = Button(self.tr("Export CSV"), picture="download")
        self.head = PageHeader(
            self.tr("Points"),
            self.tr("Counted only when this computer has checked the proof in the ledger's log."),
            (self.share, self.export),
        )
        self.banner, self.sums, self.range = Banner(), PointsSums(), PointsRange()
        self.reader = RoundsReader(self.model, self)
        self.rounds = RoundsCard(self.device_name)
        self.toast = Toast(self)
        self.exporter = PointsExport(self.model, self)
        self.badges = BadgesCard()
        self.account = PeriodicQuestion(
            self.model, context.now_ms, AccountReply, ACCOUNT_MS, parent=self
        )
        self.account.set_question(AskAccount())
        parts = (self.head, self.banner, self.sums, self.badges, self.range, self.rounds)
        fill(self.body, *parts, None)
        self._connect()

    def _connect(self) -> None:
        self.share.clicked.connect(self.open_share)
        self.export.clicked.connect(self.choose_file)
        self.range.chosen.connect(self._ask_series)
        self.reader.changed.connect(lambda: self.rounds.show_rounds(self.reader))
        self.rounds.filter_changed.connect(self._filter)
        self.rounds.retry_requested.connect(self.reader.reload)
        self.rounds.table.opened.connect(self.open_round)
        self.rounds.table.selectionModel().currentRowChanged.connect(self._show_current)
        self.exporter.done.connect(self._show_done)
        self.exporter.failed.connect(self._show_failed)
        self.verticalScrollBar().valueChanged.connect(self._read_on)
        self.verticalScrollBar().rangeChanged.connect(self._read_on)
        self.series.changed.connect(self._show_series)
        self.account.changed.connect(self._show_badges)
        self.account.changed.connect(self._show_share)

    def choose_file(self) -> None:
        documents = QStandardPaths.StandardLocation.DocumentsLocation
        day = QDateTime.fromMSecsSinceEpoch(self.context.now_ms()).date()
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
        self.export.setEnabled(False)
        self.exporter.start(Path(path))

    def open_share(self) -> None:
        if pages := self._shared_pages():
            dialog = ShareDialog(pages, self)
            dialog.finished.connect(dialog.deleteLater)
            dialog.open()

    def _shared_pages(self) -> dict[str, SharedPage]:
        snapshot = self.model.snapshot
        if snapshot is None:
            return {}
        return shared_pages(snapshot.ledger.url, self.account.reply, snapshot.round)

    def open_round(self, row: PointsRow) -> None:
        snapshot = self.model.snapshot
        ledger = snapshot.ledger.url if snapshot else ""
        RoundDialog(row, ledger, self.device_name(row.device), self).open()

    def refresh(self) -> None:
        snapshot = self.model.snapshot
        self.sums.show_snapshot(snapshot)
        self._show_banner(snapshot)
        self.account.poll()
        self._show_share()
        if snapshot is None:
            self._rounds = -1
            return
        if snapshot.rounds != self._rounds:
            self._rounds = snapshot.rounds
            self.reader.reload()
            self.series.set_question(self._question())
            self.series.ask()
        self._ask_series()

    def reload(self) -> None:
        self.account.ask()
        self.series.ask()
        self.reader.reload()
        super().reload()

    def device_name(self, device: str) -> str:
        """The name that people know a device by."""
        snapshot = self.model.snapshot
        gpus = (snapshot.machine.gpus or ()) if snapshot else ()
        name = next((gpu.name for gpu in gpus if gpu.id == device), device)
        return self.tr("Processor") if device == "cpu" else devices.short_name(name)

    def _question(self) -> AskSeries:
        reader, now_ms = self.reader, self.context.now_ms()
        return series_question_for(self.range.span.selected, now_ms, reader.run, reader.device)

    def _ask_series(self, _span: str = "") -> None:
        """Ask for another span, filter, day or hour, or again if there was no answer."""
        self.series.set_question(self._question())
        self.series.retry()

    def _show_series(self) -> None:
        if self.series.reply is not None:
            self.range.show_series(self.series.reply)
        else:
            self.range.show_problem(self.series.problem)

    def _show_badges(self) -> None:
        snapshot, reply = self.model.snapshot, self.account.reply
        if snapshot is not None and reply is not None:
            self.badges.show_account(reply, snapshot.ledger.url, self.context.now_ms())

    def _show_share(self) -> None:
        has_page = bool(self._shared_pages())
        self.share.setEnabled(has_page)
        none = self.tr("Your key has no public page yet: it gets one when it joins the network.")
        self.share.setToolTip("" if has_page else none)

    def _filter(self, run: str, device: str) -> None:
        self.reader.set_filter(run, device)
        self.rounds.show_rounds(self.reader)
        self._ask_series()

    def _read_on(self, *_: int) -> None:
        bar = self.verticalScrollBar()
        if self.isVisible() and bar.maximum() - bar.value() < READ_ON_PX:
            self.reader.read_older()

    def _show_banner(self, snapshot: Snapshot | None) -> None:
        left = snapshot.points.unverified if snapshot else 0
        self.banner.setVisible(bool(left) or (snapshot is None and bool(self.model.why_gone)))
        if snapshot is None:
            self.banner.show_words("error", self.model.why_gone)
        elif left:
            words = self.tr(
                "The ledger says that you have {points} more points. This computer has not "
                "read and checked their log entries yet, so they are not counted here. It does "
                "so automatically."
            )
            self.banner.show_words("info", words.format(points=figures.short_points(left)))

    def _show_current(self, current: QModelIndex) -> None:
        """Keep the row with the keyboard focus visible."""
        table = self.rounds.table
        if current.isValid() and table.hasFocus():
            place = table.visualRect(current)
            at = table.viewport().mapTo(self.content, place.center())
            self.ensureVisible(self.width() // 2, at.y(), 0, place.height() * 2)

    def _show_done(self, path: str, count: int) -> None:
        self.export.setEnabled(True)
        name = Path(path).name
        self.toast.open(self.tr("%Ln round(s) written to {file}", "", count).format(file=name))

    def _show_failed(self, why: str) -> None:
        self.export.setEnabled(True)
        self.toast.open(why, self.tr("Close"))


def series_question_for(span: str, now_ms: int, run: str = "", device: str = "") -> AskSeries:
    """The question for a span that ends now; days begin at local midnight."""
    if span == ALL:
        since_ms = 0
    elif span == DAY:
        since_ms = now_ms - now_ms % HOUR_MS - 23 * HOUR_MS
    else:
        today = QDateTime.fromMSecsSinceEpoch(now_ms).date()
        first = QDateTime(today.addDays(1 - DAYS[span]), QTime(0, 0))
        since_ms = first.toMSecsSinceEpoch()
    return AskSeries(since_ms=since_ms, step_ms=STEPS[span], run=run, device=device)


def fold_series(series: PointsSeries) -> tuple[int, tuple[int, ...]]:
    """The step and the sums of a series, folded to at most `MAX_STEPS` steps."""
    values = series.verified
    every = max(-(-len(values) // MAX_STEPS), 1)
    sums = tuple(sum(values[at : at + every]) for at in range(0, len(values), every))
    return series.step_ms * every, sums


class PointsRange(Card):
    """The chart of points; `chosen` carries the time span that the user wants."""

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        name = self.tr("Verified points over time")
        self.span = Segmented(
            self.tr("Time span"),
            {
                DAY: self.tr("24 h"),
                WEEK: self.tr("7 days"),
                MONTH: self.tr("30 days"),
                ALL: self.tr("All"),
            },
        )
        self.span.select(MONTH)
        self.span.chosen.connect(self.chosen)
        self.sum = Label("", TextStyle.CAPTION, "sub")
        self.worth = ElidedLabel("", TextStyle.CAPTION, "sub")
        self._no_points = self.tr("No points were verified in this time.")
        self.chart = PointsChart(name, self._no_points)
        self.chart.setFixedHeight(CHART_HEIGHT)
        head = Columns(gap=10)
        words = holding(vbox(ElidedLabel(name, TextStyle.HEADING), self.sum, self.worth, spacing=2))
        head.set_parts((words, self.span), shares=(1, 0))
        fill(self.body, head, self.chart)

    def show_problem(self, problem: str) -> None:
        """Show why there is no series of this time."""
        self.sum.setText("")
        self.worth.setText("")
        self.chart.set_empty_text(as_sentence(problem))
        self.chart.set_data(ChartData())

    def show_series(self, series: PointsSeries) -> None:
        self.chart.set_empty_text(self._no_points)
        step_ms, sums = fold_series(series)
        labels = tuple(self._label(series.since_ms + at * step_ms) for at in range(len(sums)))
        total = figures.short_points(sum(sums))
        summary = self.tr("{total} points in this time").format(total=total)
        self.worth.setText(figures.comparison(sum(sums)))
        self.sum.setText(summary)
        if any(sums):
            peak = max(range(len(sums)), key=sums.__getitem__)
            most = self.tr("{summary}; most at {when}: {points}")
            points = figures.short_points(sums[peak])
            summary = most.format(summary=summary, when=labels[peak], points=points)
        self.chart.set_data(ChartData(values=sums, labels=labels, summary=summary))

    def _label(self, at_ms: int) -> str:
        match self.span.selected:
            case "day":
                return figures.clock(at_ms)
            case "week":
                return figures.weekday(at_ms)
        # By its middle: after the autumn clock change, a step begins an hour before its day.
        return figures.day(at_ms + DAY_MS // 2)


class PointsSums(StatCards):
    def __init__(self) -> None:
        super().__init__()
        self.total = StatCard(self.tr("Verified"), "badge-check")
        self.vesting = StatCard(self.tr("Vesting"), "lock-open")
        self.pending = StatCard(self.tr("Pending"), "hourglass")
        self.rejected = StatCard(self.tr("Rejected today"), "circle-x")
        self.set_cards((self.total, self.vesting, self.pending, self.rejected))

    def show_known(self, snapshot: Snapshot) -> None:
        points = snapshot.points
        today = self.tr("{points} today").format(points=figures.short_points(points.today))
        self.total.show_points(points.total, today)
        self._show_vesting(points)
        waits, none = self.tr("Rounds that are not proven yet"), self.tr("Nothing pending")
        self.pending.show_figure(figures.count(points.pending), waits if points.pending else none)
        failed, none = self.tr("Rounds that gave nothing"), self.tr("None today")
        rejected = figures.count(points.rejected)
        self.rejected.show_figure(rejected, failed if points.rejected else none)

    def _show_vesting(self, points: PointsView) -> None:
        if points.forfeited:
            note = self.tr("{points} were forfeited").format(
                points=figures.short_points(points.forfeited)
            )
        else:
            later, none = self.tr("Final after a few more rounds"), self.tr("All points are final")
            note = later if points.unvested else none
        more = worker_texts.vesting_text(points)
        self.vesting.show_points(points.unvested, note, more=more)


def csv_lines(rows: Iterable[PointsRow]) -> bytes:
    return _written([read(row) for read in CSV_COLUMNS.values()] for row in rows)


def _time(at_ms: int) -> str:
    seconds, ms = divmod(at_ms, 1_000)
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{ms:03d}Z"
    except (OverflowError, ValueError, OSError):
        return f"{at_ms} ms after 1970"


def _plain(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text


def _written(rows: Iterable[Iterable[object]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows(rows)
    return text.getvalue().encode()


CSV_COLUMNS: Mapping[str, Callable[[PointsRow], object]] = {
    "number": lambda row: row.number,
    "run": lambda row: row.run,
    "run_name": lambda row: _plain(row.run_name),
    "round": lambda row: row.round,
    "time": lambda row: _time(row.at_ms),
    "state": lambda row: row.state,
    "reason": lambda row: _plain(row.reason),
    "gflop": lambda row: row.gflop,
    "trained_gflop": lambda row: row.trained,
    "witnessed_gflop": lambda row: row.witnessed,
    "received_gflop": lambda row: row.received,
    "device": lambda row: _plain(row.device),
    "tokens": lambda row: row.tokens,
    "energy_j": lambda row: repr(row.energy_j),
    "proof_checked": lambda row: "yes" if is_checked(row) else "no",
    "log_entry": lambda row: "" if row.entry is None else row.entry,
    "checkpoint_size": lambda row: "" if row.size is None else row.size,
    "checkpoint_root": lambda row: row.root,
}
"""The columns of an export, and the cell of each."""


class PointsExport(QObject):
    """One export at a time, page by page as the worker answers."""

    done = Signal(str, int)
    """The file, and the number of rounds in it."""
    failed = Signal(str)
    """Why the export failed, as a sentence."""

    def __init__(self, model: AppModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._file: QSaveFile | None = None
        self._asked: AskPoints | None = None
        self._count = 0
        model.replied.connect(self._receive)
        model.refused.connect(self._handle_refusal)

    def start(self, path: Path) -> None:
        """Write all rounds to that file, replacing it when complete."""
        if self._file is not None:
            return
        self._file, self._count = QSaveFile(str(path)), 0
        if not self._file.open(QIODevice.OpenModeFlag.WriteOnly):
            self._fail(self._file.errorString())
        elif self._write(_written([CSV_COLUMNS])):
            self._ask(None)

    def _ask(self, before: int | None) -> None:
        self._asked = AskPoints(before=before, limit=MAX_ROWS)
        self._model.ask(self._asked)

    def _receive(self, question: Question, reply: Reply) -> None:
        if self._file is None or question != self._asked or not isinstance(reply, PointsReply):
            return
        if not self._write(csv_lines(reply.rows)):
            return
        self._count += len(reply.rows)
        if reply.has_more and reply.rows:
            self._ask(reply.rows[-1].number)
        else:
            self._finish()

    def _handle_refusal(self, question: Question, why: str) -> None:
        if self._file is not None and question == self._asked:
            self._fail(why or self.tr("the worker does not answer"))

    def _write(self, content: bytes) -> bool:
        if self._file is None or self._file.write(content) == len(content):
            return True
        self._fail(self._file.errorString())
        return False

    def _finish(self) -> None:
        file, self._file, self._asked = self._file, None, None
        if file is None:
            return
        if file.commit():
            self.done.emit(file.fileName(), self._count)
        else:
            self._report_failure(file.fileName(), file.errorString())

    def _fail(self, why: str) -> None:
        file, self._file, self._asked = self._file, None, None
        if file is not None:
            file.cancelWriting()
            self._report_failure(file.fileName(), why)

    def _report_failure(self, name: str, why: str) -> None:
        words = self.tr("{file} was not written: {why}. Choose another place, or try again.")
        self.failed.emit(words.format(file=name, why=without_period(why)))
