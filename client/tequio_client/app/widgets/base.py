"""The parts that every widget is built from: columns, painting, pictures, text and cards."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import wraps
from typing import TypeAlias, TypeVar

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QGradient,
    QGuiApplication,
    QLinearGradient,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtGui import Qt as QtText
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLayout,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from tequio_client.app.theme import icons, style
from tequio_client.app.theme.look import current_tokens
from tequio_client.app.theme.style import TextStyle, font

W = TypeVar("W", bound=QWidget)
B = TypeVar("B", bound=QBoxLayout)
SMALL = QSize(16, 16)
RIGHT_TO_LEFT = "\u200f"
"""A mark that gives a paragraph its direction."""
ALWAYS_LEFT, ALWAYS_RIGHT = (
    side | Qt.AlignmentFlag.AlignAbsolute
    for side in (Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight)
)
"""Sides in charts, whose axes run from left to right in every language."""
LEAST_LETTERS = 14
"""Minimum width of a paragraph, in average letters."""
BREAK = "\u200b"
"""A space of no width: a line may end here."""
_LONG_WORD = re.compile(r"(?:[^\s/\-\u2e80-\U0010ffff]|[/-](?=\d)){28,}")
"""Letters between which no line would end; no word of our own texts has as many."""
_LETTER_BEGINS = re.compile(r"(?<=.)(?=[^\u0300-\u036f])")
"""Where a letter begins inside a word; an accent belongs to the letter before it."""


class Columns(QWidget):
    """Places its parts in one row; where they do not fit, `folded` of them in each row, or one."""

    def __init__(self, *, folded: int = 1, gap: int = style.GAP) -> None:
        super().__init__()
        self._parts: tuple[QWidget, ...] = ()
        self._shares: tuple[int, ...] = ()
        self._folded = folded
        self.columns = 0
        """The number of parts side by side."""
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(gap)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)

    def set_parts(self, parts: Sequence[QWidget], shares: Sequence[int] = ()) -> None:
        """`shares` of the width; equal ones if none are given."""
        self._parts, self._shares = tuple(parts), tuple(shares) or (1,) * len(parts)
        self._lay(len(self._parts))

    def minimumSizeHint(self) -> QSize:
        """As narrow as one part per row."""
        return QSize(self._needed(1), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fold()

    def fold(self) -> None:
        """Lay the parts out again; to be called when a part's needed width has changed."""
        goals = (len(self._parts), self._folded)
        self._lay(next((goal for goal in goals if self._needed(goal) <= self.width()), 1))

    def _needed(self, columns: int) -> int:
        """The width in pixels of `columns` parts in a row."""
        widths = [0] * columns
        for at, part in enumerate(self._parts):
            if not part.isHidden():
                least = max(part.minimumSizeHint().width(), part.minimumWidth())
                widths[at % columns] = max(widths[at % columns], least)
        return sum(widths) + self._grid.horizontalSpacing() * (columns - 1)

    def _lay(self, columns: int) -> None:
        if columns == self.columns:
            return
        for column in range(self.columns):
            self._grid.setColumnStretch(column, 0)
        self.columns = columns
        for at, part in enumerate(self._parts):
            self._grid.addWidget(part, at // columns, at % columns)
        for column, share in enumerate(self._shares[:columns]):
            self._grid.setColumnStretch(column, share)
        self.updateGeometry()


TOP, MIDDLE = Qt.AlignmentFlag.AlignTop, Qt.AlignmentFlag.AlignVCenter
LEADING, TRAILING = Qt.AlignmentFlag.AlignLeading, Qt.AlignmentFlag.AlignTrailing
Inside: TypeAlias = "QWidget | QLayout"
Part: TypeAlias = "Inside | tuple[Inside, int] | int | None"
"""A part of a box: alone, with its stretch, or a widget with its alignment; a number: a space
in pixels; None: a stretch."""


def hbox(
    *parts: Part,
    spacing: int = -1,
    margins: tuple[int, int, int, int] = (0, 0, 0, 0),
    parent: QWidget | None = None,
) -> QHBoxLayout:
    """A horizontal layout of these parts, `spacing` pixels apart (-1: as the style has it)."""
    box = QHBoxLayout(parent) if parent is not None else QHBoxLayout()
    box.setContentsMargins(*mirrored(*margins))
    box.setSpacing(spacing)
    return fill(box, *parts)


def vbox(
    *parts: Part,
    spacing: int = -1,
    margins: tuple[int, int, int, int] = (0, 0, 0, 0),
    parent: QWidget | None = None,
) -> QVBoxLayout:
    """A vertical layout of these parts, `spacing` pixels apart (-1: as the style has it)."""
    box = QVBoxLayout(parent) if parent is not None else QVBoxLayout()
    box.setContentsMargins(*mirrored(*margins))
    box.setSpacing(spacing)
    return fill(box, *parts)


def fill(box: B, *parts: Part) -> B:
    for part in parts:
        inside, how = part if isinstance(part, tuple) else (part, 0)
        if inside is None:
            box.addStretch(1)
        elif isinstance(inside, int):
            box.addSpacing(inside)
        elif isinstance(inside, QLayout):
            box.addLayout(inside, how)
        elif isinstance(how, Qt.AlignmentFlag):
            box.addWidget(inside, 0, how)
        else:
            box.addWidget(inside, how)
    return box


def holding(layout: QLayout) -> QWidget:
    made = QWidget()
    made.setLayout(layout)
    return made


def place_in_tab_order(container: QWidget, parts: Sequence[QWidget]) -> None:
    """Have Tab come to these parts where their container stands; a new widget is the last one."""
    before = container.previousInFocusChain()
    while (
        before is not None
        and before is not container
        and (before in parts or before.focusPolicy() is Qt.FocusPolicy.NoFocus)
    ):
        before = before.previousInFocusChain()
    for part in parts:
        if before is not None:
            QWidget.setTabOrder(before, part)
        before = part


def discard(*widgets: QWidget) -> None:
    """Hide these widgets at once, and delete them when their events are over."""
    for widget in widgets:
        widget.hide()
        widget.deleteLater()


def paint_event(draw: Callable[[W, QPainter], None]) -> Callable[[W, QPaintEvent], None]:
    """Make a `paintEvent` from a function that draws with an antialiased painter.

    The painter is ended whatever happens: an error while a painter is active would end the process.
    """

    @wraps(draw)
    def paint(self: W, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        try:
            draw(self, painter)
        finally:
            painter.end()

    return paint


def focus_ring(painter: QPainter, place: QRectF, radius: float) -> None:
    """Draw the ring around the widget that has the keyboard focus."""
    inset = style.FOCUS / 2
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(QColor(current_tokens().ring), style.FOCUS))
    painter.drawRoundedRect(place.adjusted(inset, inset, -inset, -inset), radius, radius)


def accent_gradient(left: float, right: float) -> QLinearGradient:
    """A gradient from the first accent to the second, between two x coordinates."""
    made = QLinearGradient(QPointF(left, 0), QPointF(right, 0))
    made.setColorAt(0, QColor(current_tokens().accent))
    made.setColorAt(1, QColor(current_tokens().accent2))
    return made


def round_pen(ink: QColor | QGradient, width: float) -> QPen:
    """A pen with round ends and joints."""
    return QPen(
        ink, width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin
    )


def translucent(colour: str, opacity: float) -> QColor:
    made = QColor(colour)
    made.setAlphaF(opacity)
    return made


class IconLabel(QWidget):
    """An icon of one size; `ink` names its colour among the theme's tokens."""

    def __init__(self, name: str, size: QSize = SMALL, ink: str = "text_sub") -> None:
        super().__init__()
        self._name, self._ink = name, ink
        self.setFixedSize(size)

    def set_icon(self, name: str, ink: str) -> None:
        self._name, self._ink = name, ink
        self.update()

    @paint_event
    def paintEvent(self, painter: QPainter) -> None:
        ink = getattr(current_tokens(), self._ink)
        icons.draw_icon(painter, self._name, ink, self.rect().toRectF())


def mirrored(left: int, top: int, right: int, bottom: int) -> tuple[int, int, int, int]:
    """Margins in the direction of the app's language: Qt takes them as they are."""
    if QGuiApplication.layoutDirection() is Qt.LayoutDirection.RightToLeft:
        return right, top, left, bottom
    return left, top, right, bottom


def tool_tip(words: str) -> str:
    """The words as a tool tip, escaped: Qt would read markup in them and load its images."""
    if not QtText.mightBeRichText(words):
        return words
    return words.replace("&lt;", "<").replace("<", "\u2039").replace(">", "\u203a")


class Label(QLabel):
    """Plain text of one kind and tone (`sub`, `accent`, `ok`, `warn`, `danger`).

    It is always plain, so that a name from the network never becomes markup. It is written in the
    direction of the app's language: Qt would take that of its first letter, which may be a name's.
    """

    is_machine_text = False
    """True for addresses, paths and hashes, which are written from left to right everywhere."""

    def __init__(self, words: str = "", kind: TextStyle = TextStyle.BODY, tone: str = "") -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setFont(font(kind))
        self.setProperty("tone", tone)
        self.setText(words)

    def text(self) -> str:
        return super().text().removeprefix(RIGHT_TO_LEFT)

    def setText(self, text: str) -> None:
        is_marked = bool(text) and self.isRightToLeft() and not self.is_machine_text
        super().setText(RIGHT_TO_LEFT + text if is_marked else text)

    def show_machine_text(self) -> None:
        """Show all texts of this label as a machine's, still on the side where lines begin."""
        self.is_machine_text = True
        side = Qt.AlignmentFlag.AlignRight if self.isRightToLeft() else Qt.AlignmentFlag.AlignLeft
        self.setAlignment(side | Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignAbsolute)

    def set_tone(self, tone: str) -> None:
        if tone != self.property("tone"):
            self.setProperty("tone", tone)
            self.style().unpolish(self)
            self.style().polish(self)


def breakable(words: str) -> str:
    """Let lines end inside words that may be wider than a line, such as names."""
    return _LONG_WORD.sub(lambda word: _LETTER_BEGINS.sub(BREAK, word[0]), words)


class WrappedLabel(Label):
    """A paragraph; never selectable, because the break points in it would be copied too."""

    _unbroken = ""
    """The accessible name of a text with break points: screen readers read those as characters."""

    def __init__(self, words: str = "", kind: TextStyle = TextStyle.BODY, tone: str = "") -> None:
        super().__init__(words, kind, tone)
        self.setWordWrap(True)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def text(self) -> str:
        return super().text().replace(BREAK, "")

    def setText(self, text: str) -> None:
        shown = breakable(text)
        unbroken = text if shown != text else ""
        if self.accessibleName() == self._unbroken != unbroken:
            self._unbroken = unbroken
            self.setAccessibleName(unbroken)
        super().setText(shown)

    def minimumSizeHint(self) -> QSize:
        """A few words wide, and as high as its text is at the current width."""
        least = self.fontMetrics().averageCharWidth() * LEAST_LETTERS
        return QSize(least, self.heightForWidth(max(self.width(), least)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != self.width():
            self.updateGeometry()


class ElidedLabel(Label):
    """Text on one line, with an ellipsis where it does not fit; the tool tip has all of it."""

    def __init__(self, words: str = "", kind: TextStyle = TextStyle.BODY, tone: str = "") -> None:
        super().__init__(words, kind, tone)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def minimumSizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        return QSize(min(metrics.averageCharWidth() * 6, self.sizeHint().width()), metrics.height())

    @paint_event
    def paintEvent(self, painter: QPainter) -> None:
        room = self.contentsRect()
        shown = self.fontMetrics().elidedText(
            self.text(), Qt.TextElideMode.ElideRight, room.width()
        )
        self.setToolTip(tool_tip(self.text()) if shown != self.text() else "")
        painter.setPen(self.palette().windowText().color())
        if self.is_machine_text:
            painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        painter.drawText(room, self.alignment() | Qt.AlignmentFlag.AlignVCenter, shown)


def caption(words: str = "") -> WrappedLabel:
    """A note in small type."""
    return WrappedLabel(words, TextStyle.CAPTION, "sub")


def caption_line(words: str = "") -> ElidedLabel:
    """A note in small type on one line."""
    return ElidedLabel(words, TextStyle.CAPTION, "sub")


class Card(QFrame):
    """A framed surface; `body` holds its parts, below a heading if there is one."""

    def __init__(self, heading: str = "", note: str = "") -> None:
        super().__init__()
        self.setProperty("kind", "card")
        self.body = QVBoxLayout(self)
        self.body.setContentsMargins(*style.CARD_MARGINS)
        self.body.setSpacing(8)
        if heading:
            self.add_heading(heading, note)

    def add_heading(self, heading: str, note: str = "") -> None:
        """Add a heading, and a note at its end; call once."""
        head = hbox((ElidedLabel(heading, TextStyle.HEADING), 1))
        if note:
            head.addWidget(Label(note, TextStyle.CAPTION, "sub"))
        self.body.addLayout(head)
