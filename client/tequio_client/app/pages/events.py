"""The list of events: a level icon, the sentence, and the time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

from PySide6.QtCore import QAbstractListModel, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QGuiApplication, QKeyEvent, QKeySequence, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListView,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
)

from tequio_client.app import worker_texts
from tequio_client.app.pages.page import PageContext, PagedReader
from tequio_client.app.theme import icons
from tequio_client.app.theme.look import current_tokens
from tequio_client.app.theme.style import TextStyle, font
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import LEADING, TRAILING, Card, Columns, breakable, fill
from tequio_client.app.widgets.buttons import Segmented
from tequio_client.app.widgets.cards import NOWHERE, Index
from tequio_client.app.widgets.inputs import SearchField
from tequio_client.app.widgets.messages import LEVEL_ICONS, EmptyState
from tequio_client.ipc.control import Question, Reply
from tequio_client.ipc.points import ActivityReply, ActivityRow, AskActivity
from tequio_client.ipc.snapshot import Snapshot
from tequio_client.ipc.texts import ActivityEvent

ALL, ROUNDS, ATTENTION = "all", "rounds", "attention"
EVENTS_OF_ROUNDS = ("round-", "head-", "points-", "audit-")
ROUND_EVENTS = {code for code in ActivityEvent if code.startswith(EVENTS_OF_ROUNDS)}
ATTENTION_LEVELS = ("warning", "error")
READ_ON_PX = 400
"""Distance in pixels from the end at which older events are requested."""
MINUTE_MS = 60_000
SEARCH_WIDTH = 190
EVENTS_PAGE = 100
DAY = 36
LIST_HEIGHT = 260
TILE = 28
PICTURE = 15
SIDE = 4
GAP = 12
SAMPLE_AGES_S = 13 * 86_400 + 23 * 3_600
"""Sample durations whose widest text decides the column width."""
MARGIN = 9
GROUNDS = {"info": "hover", "good": "ok_soft", "warning": "warn_soft", "error": "danger_soft"}
WRAPPED = Qt.TextFlag.TextWordWrap


class TimelineCard(Card):
    def __init__(self, context: PageContext) -> None:
        super().__init__()
        self._context, self._minute = context, 0
        self._sentences: dict[int, str] = {}
        self.reader = EventsReader(context.model, self)
        self.kind = Segmented(
            self.tr("Events to show"),
            {ALL: self.tr("All"), ROUNDS: self.tr("Rounds"), ATTENTION: self.tr("Attention")},
        )
        self.search = SearchField(self.tr("Search in events"))
        self.search.setMinimumWidth(SEARCH_WIDTH)
        self.list = EventsList(self.tr("Events"), context.now_ms)
        self.empty = EmptyState("history", "", "")
        head = Columns(gap=10)
        head.set_parts((self.kind, self.search), shares=(0, 1))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        fill(self.body, head, (self.list, 1), (self.empty, 1))
        self.kind.chosen.connect(self._refresh)
        self.search.textChanged.connect(self._refresh)
        self.reader.changed.connect(self._refresh)
        bar = self.list.verticalScrollBar()
        bar.valueChanged.connect(self._read_on)
        bar.rangeChanged.connect(self._read_on)
        self._refresh()

    def show_snapshot(self, snapshot: Snapshot | None) -> None:
        """Fetch new events; relative times are rewritten once a minute."""
        if snapshot is None:
            self.reader.clear()
        else:
            self.reader.follow(snapshot.activity)
        minute = self._context.now_ms() // MINUTE_MS
        if minute != self._minute:
            self._minute = minute
            self._refresh()
            self.list.viewport().update()

    def _refresh(self, _news: object = None) -> None:
        events = [self._line(row) for row in self.reader.rows or () if self._is_wanted(row)]
        self.list.show_lines(group_by_day(events, self._context.now_ms()))
        self.list.setVisible(bool(events))
        self.empty.setVisible(not events)
        if not events:
            self._explain_empty()
        self._read_on()

    def _line(self, row: ActivityRow) -> TimelineLine:
        return TimelineLine(
            words=self._sentence(row), at_ms=row.at_ms, number=row.number, level=row.level
        )

    def _sentence(self, row: ActivityRow) -> str:
        if row.number not in self._sentences:
            self._sentences[row.number] = worker_texts.event_text(row)
        return self._sentences[row.number]

    def _is_wanted(self, row: ActivityRow) -> bool:
        kind, text = self.kind.selected, self.search.text().strip().casefold()
        if kind == ROUNDS and row.code not in ROUND_EVENTS:
            return False
        if kind == ATTENTION and row.level not in ATTENTION_LEVELS:
            return False
        return not text or text in self._sentence(row).casefold()

    def _explain_empty(self) -> None:
        if self.reader.rows is None and not self.reader.problem:
            self.empty.show_words(self.tr("Looking"), self.tr("Reading recent events."))
        elif not self.reader.rows and self.reader.problem:
            self.empty.show_words(self.tr("Couldn't load the events"), self.reader.problem)
        elif self.reader.has_more:
            self.empty.show_words(self.tr("Looking"), self.tr("Older events are being read."))
        elif self.reader.rows:
            self.empty.show_words(
                self.tr("No matches"), self.tr("No event fits the filter and the search.")
            )
        else:
            self.empty.show_words(
                self.tr("Nothing happened yet"),
                self.tr("What this computer does for the swarm will be listed here."),
            )

    def _read_on(self, *_: int) -> None:
        bar = self.list.verticalScrollBar()
        is_near = self.list.isHidden() or bar.maximum() - bar.value() < READ_ON_PX
        if self.isVisible() and is_near and not self.reader.problem:
            self.reader.read_older()


class EventsReader(PagedReader[AskActivity, ActivityRow]):
    """The events read so far, newest first; owned by its page."""

    _followed = -1

    def follow(self, newest: int) -> None:
        """Read the events up to `newest` that are not known yet."""
        if self.pending is None and (self.rows is None or newest != self._followed):
            self._followed = newest
            self._ask(AskActivity(before=None, limit=EVENTS_PAGE))

    def read_older(self) -> None:
        """Read the next older page, unless there is none or a question is pending."""
        oldest = self._oldest
        if oldest is not None:
            self._ask(AskActivity(before=oldest.number, limit=EVENTS_PAGE))

    def clear(self) -> None:
        self._followed = -1

    def _receive(self, question: Question, reply: Reply) -> None:
        asked = self.pending
        if asked is None or question != asked or not isinstance(reply, ActivityReply):
            return
        before, self.pending, self.problem = asked.before, None, ""
        if before is None:
            self._join_newest(reply)
        else:
            self.rows = (*(self.rows or ()), *reply.rows)
            self.has_more = reply.has_more
        self.changed.emit()

    def _join_newest(self, reply: ActivityReply) -> None:
        """Join the newest page to the known rows; a gap between them drops the known ones."""
        known = self.rows or ()
        lowest = reply.rows[-1].number if reply.rows else None
        if any(row.number == lowest for row in known):
            self.rows = (*reply.rows, *(row for row in known if row.number < reply.rows[-1].number))
        else:
            self.rows, self.has_more = reply.rows, reply.has_more

    def _handle_refusal(self, question: Question, why: str) -> None:
        if question == self.pending:
            self._followed = -1
        super()._handle_refusal(question, why)


class EventRole(IntEnum):
    LINE = Qt.ItemDataRole.UserRole + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineLine:
    """One line of the list: an event, or the name of a day (without a level)."""

    words: str
    at_ms: int
    number: int = 0
    level: str = ""

    @property
    def is_day(self) -> bool:
        return not self.level


def group_by_day(events: Sequence[TimelineLine], now_ms: int) -> tuple[TimelineLine, ...]:
    """The events, newest first, with the name of each day before its first one."""
    lines: list[TimelineLine] = []
    day = ""
    for event in events:
        name = figures.day_name(event.at_ms, now_ms)
        if name != day:
            day = name
            lines.append(TimelineLine(words=day, at_ms=0))
        lines.append(event)
    return tuple(lines)


class EventsRows(QAbstractListModel):
    def __init__(self, now_ms: Callable[[], int]) -> None:
        super().__init__()
        self.lines: tuple[TimelineLine, ...] = ()
        self._now_ms = now_ms

    def show_lines(self, lines: tuple[TimelineLine, ...]) -> int:
        """Replace the lines; return how many are new above those that stay (-1: all of them)."""
        old = self.lines
        if lines == old:
            return 0
        head = _common_prefix(old, lines)
        tail = _common_prefix(old[head:][::-1], lines[head:][::-1])
        if old and head + tail == len(old):
            self.beginInsertRows(NOWHERE, head, len(lines) - tail - 1)
            self.lines = lines
            self.endInsertRows()
            return len(lines) - len(old) if tail else 0
        self.beginResetModel()
        self.lines = lines
        self.endResetModel()
        return -1

    def rowCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.lines)

    def flags(self, index: Index) -> Qt.ItemFlag:
        if index.isValid() and self.lines[index.row()].is_day:
            return Qt.ItemFlag.ItemIsEnabled
        return super().flags(index)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        line = self.lines[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return line.words
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return line.words if line.is_day else f"{self._spoken(line)}, {self.when(line)}"
        if role == Qt.ItemDataRole.ToolTipRole and not line.is_day:
            return self.when(line)
        return line if role == EventRole.LINE else None

    def when(self, line: TimelineLine) -> str:
        """The time to the second, and how long ago that was."""
        return f"{figures.stamp(line.at_ms)} · {figures.ago(line.at_ms, self._now_ms())}"

    def _spoken(self, line: TimelineLine) -> str:
        levels = {
            "good": self.tr("Good: {words}"),
            "warning": self.tr("Attention: {words}"),
            "error": self.tr("Problem: {words}"),
        }
        return levels.get(line.level, "{words}").format(words=line.words)


def _common_prefix(one: Sequence[TimelineLine], other: Sequence[TimelineLine]) -> int:
    """How many lines two lists share at their beginning."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


class EventsList(QListView):
    def __init__(self, name: str, now_ms: Callable[[], int]) -> None:
        super().__init__()
        self.rows = EventsRows(now_ms)
        self.setAccessibleName(name)
        self.setModel(self.rows)
        self.setItemDelegate(EventDelegate(self, now_ms))
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalScrollBar().setSingleStep(24)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setMinimumHeight(LIST_HEIGHT)

    def show_lines(self, lines: tuple[TimelineLine, ...]) -> None:
        """Show these lines without moving what the user is reading further down."""
        bar = self.verticalScrollBar()
        value, most = bar.value(), bar.maximum()
        if self.rows.show_lines(lines) > 0 and value > 0:
            self.doItemsLayout()
            bar.setValue(value + bar.maximum() - most)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy) and self.currentIndex().isValid():
            line = self.currentIndex().data(EventRole.LINE)
            QGuiApplication.clipboard().setText(f"{self.rows.when(line)}  {line.words}")
        else:
            super().keyPressEvent(event)


class EventDelegate(QStyledItemDelegate):
    def __init__(self, view: QListView, now_ms: Callable[[], int]) -> None:
        super().__init__(view)
        self._view, self._now_ms = view, now_ms

    def sizeHint(self, _option: QStyleOptionViewItem, index: Index) -> QSize:
        width = self._view.viewport().width()
        line: TimelineLine = index.data(EventRole.LINE)
        return QSize(width, DAY if line.is_day else _height(line.words, _text_width(width)))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        painter.save()
        line: TimelineLine = index.data(EventRole.LINE)
        place = QRectF(option.rect)
        if line.is_day:
            painter.setFont(font(TextStyle.STRONG))
            painter.setPen(QColor(current_tokens().text_sub))
            side = Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignBottom
            shown = QStyle.visualAlignment(option.direction, side)
            painter.drawText(place.adjusted(SIDE, 0, -SIDE, -7), int(shown), line.words)
        else:
            self._draw_event(painter, option, line)
        painter.restore()

    def _draw_event(
        self, painter: QPainter, option: QStyleOptionViewItem, line: TimelineLine
    ) -> None:
        colours, place = current_tokens(), QRectF(option.rect)
        painter.setRenderHint(painter.RenderHint.Antialiasing)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.hover))
            painter.drawRoundedRect(place.adjusted(0, 1, 0, -1), 8, 8)
        tile = self._place(option, QRectF(SIDE, MARGIN + 1, TILE, TILE))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(getattr(colours, GROUNDS.get(line.level, "hover"))))
        painter.drawRoundedRect(tile, 8, 8)
        name, ink = LEVEL_ICONS.get(line.level, LEVEL_ICONS["info"])
        inset = (TILE - PICTURE) / 2
        ink = "text_sub" if line.level == "info" else ink
        picture = tile.adjusted(inset, inset, -inset, -inset)
        icons.draw_icon(painter, name, getattr(colours, ink), picture)
        self._write(painter, option, line)

    def _write(self, painter: QPainter, option: QStyleOptionViewItem, line: TimelineLine) -> None:
        room, height = _text_width(option.rect.width()), option.rect.height()
        left = SIDE + TILE + GAP
        words = self._place(option, QRectF(left, MARGIN, room, height - 2 * MARGIN + 2))
        times = QRectF(left + room + GAP, MARGIN, _time_width(), height - 2 * MARGIN + 2)
        lead = QStyle.visualAlignment(option.direction, LEADING)
        trail = QStyle.visualAlignment(option.direction, TRAILING)
        painter.setFont(font(TextStyle.BODY))
        painter.setPen(QColor(current_tokens().text))
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(words, int(lead | middle | WRAPPED), breakable(line.words))
        painter.setFont(font(TextStyle.CAPTION))
        painter.setPen(QColor(current_tokens().text_sub))
        when = f"{figures.clock(line.at_ms)}\n{figures.ago(line.at_ms, self._now_ms())}"
        painter.drawText(self._place(option, times), int(trail | middle), when)

    def _place(self, option: QStyleOptionViewItem, inside: QRectF) -> QRectF:
        rect = option.rect
        left = rect.left() + inside.left()
        if option.direction is Qt.LayoutDirection.RightToLeft:
            left = rect.right() + 1 - inside.left() - inside.width()
        return QRectF(left, rect.top() + inside.top(), inside.width(), inside.height())


def _text_width(width: int) -> int:
    return max(width - 2 * SIDE - TILE - 2 * GAP - _time_width(), 80)


def _time_width() -> int:
    spans = (SAMPLE_AGES_S, 86_340)
    return max(_width(figures.ago(0, span_s * 1_000)) for span_s in spans)


@lru_cache(maxsize=16)
def _width(words: str) -> int:
    return QFontMetrics(font(TextStyle.CAPTION)).horizontalAdvance(words) + 2


@lru_cache(maxsize=8_192)
def _height(words: str, room: int) -> int:
    metrics = QFontMetrics(font(TextStyle.BODY))
    box = metrics.boundingRect(QRect(0, 0, room, 10_000), int(WRAPPED), breakable(words))
    two_times = 2 * QFontMetrics(font(TextStyle.CAPTION)).lineSpacing()
    return max(box.height(), two_times) + 2 * MARGIN
