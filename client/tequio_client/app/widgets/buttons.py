"""Buttons, switches and choices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

from PySide6.QtCore import (
    QEasingCurve,
    QEvent,
    QPoint,
    QPointF,
    QRectF,
    QSize,
    Qt,
    QVariantAnimation,
    Signal,
)
from PySide6.QtGui import QColor, QFontMetrics, QIcon, QKeyEvent, QPainter, QPen, QWheelEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QListView,
    QMenu,
    QPushButton,
    QRadioButton,
    QSizePolicy,
    QStyle,
    QVBoxLayout,
    QWidget,
)

from tequio_client.app.theme import icons, style
from tequio_client.app.theme.icons import icon
from tequio_client.app.theme.look import current_tokens, has_focus_ring, is_motion_reduced
from tequio_client.app.theme.style import TextStyle, font
from tequio_client.app.widgets.base import (
    Columns,
    discard,
    focus_ring,
    paint_event,
    place_in_tab_order,
    vbox,
)

TONES = {"primary": "on_button", "quiet": "text_accent", "danger": "danger"}
PADDING = 13
CARD_WIDTH = 150
BETWEEN = 5
WRAPPED = Qt.TextFlag.TextWordWrap
UNBOUNDED_HEIGHT = 10_000
Row = TypeVar("Row", bound="ChoiceRow")
Name = TypeVar("Name", bound=str)
NAV_BUTTON_PADDING = (14, 10)
GAP = 11
ICON_GAP = 4
"""Between a button's icon and its words, besides what the style leaves."""
MARK = (3, 16)
SEGMENTED_PADDING = (14, 7)
TRACK = (38, 22)
RADIUS = 8.0
FOCUS_MARGIN = 3
"""Space around the track for the focus ring."""
SLIDE_MS = 120


def clicks_on_enter(button: QAbstractButton, event: QKeyEvent) -> bool:
    """Click for Enter, as for Space; False: another key, or a repetition."""
    if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter) or event.isAutoRepeat():
        return False
    button.click()
    return True


class Button(QPushButton):
    """A button of one kind (`plain`, `primary`, `quiet`, `danger`)."""

    def __init__(self, words: str, kind: str = "plain", picture: str = "") -> None:
        super().__init__(words)
        self._picture, self._kind = picture, kind
        self.setProperty("kind", kind)
        self.setFont(font(TextStyle.STRONG))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAutoDefault(False)
        self.setIconSize(QSize(style.ICON - 2 + ICON_GAP, style.ICON - 2))
        self.setSizePolicy(QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Fixed)
        self._colour()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.menu() is not None or not clicks_on_enter(self, event):
            super().keyPressEvent(event)

    def set_label(self, words: str, picture: str = "") -> None:
        if (words, picture) != (self.text(), self._picture):
            self._picture = picture
            self.setText(words)
            self._colour()

    def open_menu(self, menu: QMenu) -> None:
        self.setMenu(menu)
        left, right = Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft
        # reversed, so that the icon is behind the words
        self.setLayoutDirection(right if self.layoutDirection() is left else left)
        self._colour()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        kinds = (QEvent.Type.StyleChange, QEvent.Type.EnabledChange)
        if event.type() in (*kinds, QEvent.Type.LayoutDirectionChange):
            self._colour()

    def _colour(self) -> None:
        if not self._picture:
            self.setIcon(QIcon())
            return
        name = TONES.get(self._kind, "text") if self.isEnabled() else "text_off"
        is_mirrored = self.layoutDirection() is Qt.LayoutDirection.RightToLeft
        gap = -ICON_GAP if is_mirrored else ICON_GAP
        colour = getattr(current_tokens(), name)
        self.setIcon(icon(self._picture, colour, style.ICON - 2, gap))


class ChoiceSurface(QRadioButton):
    """A choice that can be clicked anywhere on its surface."""

    def __init__(self, words: str = "") -> None:
        super().__init__(words)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not clicks_on_enter(self, event):
            super().keyPressEvent(event)

    def hitButton(self, at: QPoint) -> bool:
        return self.rect().contains(at)


class ChoiceCard(ChoiceSurface):
    def __init__(self, name: str, note: str) -> None:
        super().__init__(name)
        self._note = note
        self.setAccessibleName(name)
        self.setAccessibleDescription(note)
        self.setMinimumWidth(CARD_WIDTH)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def set_note(self, note: str) -> None:
        self._note = note
        self.setAccessibleDescription(note)
        self.updateGeometry()
        self.update()

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return sum(self._heights(width)) + BETWEEN + 2 * PADDING

    def sizeHint(self) -> QSize:
        return QSize(CARD_WIDTH + 50, self.heightForWidth(CARD_WIDTH + 50))

    def minimumSizeHint(self) -> QSize:
        return QSize(CARD_WIDTH, self.heightForWidth(max(self.width(), CARD_WIDTH)))

    @paint_event
    def paintEvent(self, painter: QPainter) -> None:
        colours, room = current_tokens(), QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        is_on = self.isChecked()
        painter.setPen(QPen(QColor(colours.accent if is_on else colours.edge), 1.5 if is_on else 1))
        ground = colours.hover if self.underMouse() else colours.page
        painter.setBrush(QColor(colours.accent_soft if is_on else ground))
        painter.drawRoundedRect(room, style.BUTTON_RADIUS, style.BUTTON_RADIUS)
        high, _ = self._heights(self.width())
        words = room.adjusted(PADDING, PADDING, -PADDING, -PADDING)
        painter.setFont(font(TextStyle.STRONG))
        painter.setPen(QColor(colours.text_accent if is_on else colours.text))
        side = Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignTop
        painter.drawText(words, int(side | WRAPPED), self.text())
        painter.setFont(font(TextStyle.CAPTION))
        painter.setPen(QColor(colours.text_sub))
        note = words.adjusted(0, high + BETWEEN, 0, PADDING)
        painter.drawText(note, int(side | WRAPPED), self._note)
        if is_on:
            left = words.left() if self.isRightToLeft() else words.right() - 16
            mark = QRectF(left, words.top(), 16, 16)
            icons.draw_icon(painter, "circle-check", colours.text_accent, mark)
        if has_focus_ring(self):
            focus_ring(painter, QRectF(self.rect()), style.BUTTON_RADIUS)

    def _heights(self, width: int) -> tuple[int, int]:
        inner = width - 2 * PADDING - 1
        name = _height(self.text(), TextStyle.STRONG, inner - 20)
        return name, _height(self._note, TextStyle.CAPTION, inner)


def _height(words: str, kind: TextStyle, width: int) -> int:
    rect = QFontMetrics(font(kind)).boundingRect(0, 0, width, UNBOUNDED_HEIGHT, int(WRAPPED), words)
    return rect.height()


def check_only(buttons: Mapping[Name, QAbstractButton], chosen: str) -> None:
    """Check one of the buttons that exclude each other, or none; Tab comes to it, or to all."""
    for key, button in buttons.items():
        button.setAutoExclusive(False)  # else Qt would leave the last one checked
        button.setChecked(key == chosen)
        button.setAutoExclusive(True)
        policy = button.focusPolicy() & ~Qt.FocusPolicy.TabFocus
        is_reached = key == chosen or chosen not in buttons
        button.setFocusPolicy(policy | Qt.FocusPolicy.TabFocus if is_reached else policy)


class ChoiceCards(Columns):
    """Cards of which one is chosen, or none."""

    chosen = Signal(str)
    """The name of the card chosen by the user."""

    def __init__(self, name: str, choices: dict[str, tuple[str, str]]) -> None:
        super().__init__(gap=10)
        self.setAccessibleName(name)
        self.cards = {key: ChoiceCard(*texts) for key, texts in choices.items()}
        for key, card in self.cards.items():
            card.clicked.connect(lambda _=False, key=key: self.chosen.emit(key))
        self.set_parts(tuple(self.cards.values()))

    def select(self, chosen: str) -> None:
        """Select that card; an unknown name selects none."""
        check_only(self.cards, chosen)


class ChoiceRow(ChoiceSurface):
    """A row with any `body`; among rows with one parent, one is selected."""

    def __init__(self) -> None:
        super().__init__()
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.body = QVBoxLayout(self)
        self.body.setContentsMargins(*style.CARD_MARGINS)
        self.body.setSpacing(7)

    def finish_layout(self) -> None:
        """Let mouse events through all parts; to be called when the row is complete."""
        for part in self.findChildren(QWidget):
            part.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def sizeHint(self) -> QSize:
        return self.body.sizeHint()

    def minimumSizeHint(self) -> QSize:
        return self.body.minimumSize()

    @paint_event
    def paintEvent(self, painter: QPainter) -> None:
        colours, room = current_tokens(), QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        edge, ground = colours.hairline, colours.card
        if self.isChecked():
            edge, ground = colours.accent, colours.accent_soft
        elif self.underMouse():
            ground = colours.hover
        painter.setPen(QPen(QColor(edge), 1))
        painter.setBrush(QColor(ground))
        painter.drawRoundedRect(room, style.CARD_RADIUS, style.CARD_RADIUS)
        if has_focus_ring(self):
            focus_ring(painter, QRectF(self.rect()), style.CARD_RADIUS)


class ChoiceList(QWidget, Generic[Row]):
    """Rows by name, one of which is selected; `first`, the row above them, has no name."""

    selected = Signal(str)
    """The name of the row clicked by the user."""

    def __init__(self, title: str, new: Callable[[], Row], first: ChoiceRow | None = None) -> None:
        super().__init__()
        self.setAccessibleName(title)
        self._new, self._first = new, first
        self.rows: dict[str, Row] = {}
        self._column = vbox(spacing=8, parent=self)
        if first is not None:
            self._column.addWidget(first)
            first.clicked.connect(lambda: self.selected.emit(""))

    def set_names(self, names: Sequence[str]) -> None:
        """Lay out a row for each name; rows that stay are reused, for one may have the focus."""
        if list(names) == list(self.rows):
            return
        discard(*(self.rows.pop(name) for name in self.rows.keys() - set(names)))
        self.rows = {name: self.rows.get(name) or self._add(name) for name in names}
        for row in self.rows.values():
            self._column.addWidget(row)
        place_in_tab_order(self, tuple(self.rows.values()))

    def select(self, name: str) -> None:
        row = self.rows.get(name, self._first)
        if row is not None:
            row.setChecked(True)

    def _add(self, name: str) -> Row:
        made = self._new()
        made.clicked.connect(lambda: self.selected.emit(name))
        return made


class Dropdown(QComboBox):
    """Choices by name, with their labels; only the selected one is visible."""

    chosen = Signal(str)
    """The name of the choice made by the user."""

    def __init__(self, name: str, choices: dict[str, str]) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setFont(font(TextStyle.BODY))
        self.setView(QListView())  # the style sheet reaches its items only so
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self._choices: dict[str, str] = {}
        self.set_choices(choices)
        self.activated.connect(lambda at: self.chosen.emit(self.itemData(at)))

    def set_choices(self, choices: dict[str, str]) -> None:
        """Offer these choices from now on; the same ones change nothing, not even an open list."""
        if choices == self._choices:
            return
        self._choices = choices
        self.clear()
        for key, words in choices.items():
            self.addItem(words, key)

    def select(self, key: str) -> None:
        """Select that choice; an unknown name changes nothing."""
        at = self.findData(key)
        if at >= 0:
            self.setCurrentIndex(at)

    @property
    def selected(self) -> str:
        return str(self.currentData())

    def wheelEvent(self, event: QWheelEvent) -> None:
        """The wheel scrolls the page instead of changing the choice."""
        event.ignore()


class NavButton(QPushButton):
    def __init__(self, words: str, picture: str) -> None:
        super().__init__(words)
        self._picture = picture
        self.setCheckable(True)
        self.setAutoExclusive(True)
        self.setFont(font(TextStyle.STRONG))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not clicks_on_enter(self, event):
            super().keyPressEvent(event)

    def sizeHint(self) -> QSize:
        words = self.fontMetrics().horizontalAdvance(self.text())
        width = NAV_BUTTON_PADDING[0] * 2 + style.ICON + GAP + words
        return QSize(width, self.fontMetrics().height() + NAV_BUTTON_PADDING[1] * 2)

    def minimumSizeHint(self) -> QSize:
        return QSize(NAV_BUTTON_PADDING[0] * 2 + style.ICON, self.sizeHint().height())

    @paint_event
    def paintEvent(self, painter: QPainter) -> None:
        self.draw(painter)

    def draw(self, painter: QPainter) -> None:
        colours, room = current_tokens(), QRectF(self.rect())
        if self.isChecked() or self.underMouse():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.hover))
            painter.drawRoundedRect(room, style.BUTTON_RADIUS, style.BUTTON_RADIUS)
        if self.isChecked():
            painter.setBrush(QColor(colours.accent))
            mark = QRectF(0, (room.height() - MARK[1]) / 2, *MARK)
            painter.drawRoundedRect(self._mirrored(mark), MARK[0] / 2, MARK[0] / 2)
        picture = QRectF(
            NAV_BUTTON_PADDING[0], (room.height() - style.ICON) / 2, style.ICON, style.ICON
        )
        drawn = colours.text_accent if self.isChecked() else colours.text_sub
        icons.draw_icon(painter, self._picture, drawn, self._mirrored(picture))
        self._write(painter, room)
        if has_focus_ring(self):
            focus_ring(painter, room, style.BUTTON_RADIUS)

    def _write(self, painter: QPainter, room: QRectF) -> None:
        start = NAV_BUTTON_PADDING[0] + style.ICON + GAP
        place = self._mirrored(room.adjusted(start, 0, -NAV_BUTTON_PADDING[0], 0))
        words = self.fontMetrics().elidedText(
            self.text(), Qt.TextElideMode.ElideRight, int(place.width())
        )
        painter.setFont(self.font())
        colours = current_tokens()
        painter.setPen(QColor(colours.text if self.isChecked() else colours.text_sub))
        side = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeading
        painter.drawText(place, QStyle.visualAlignment(self.layoutDirection(), side), words)

    def _mirrored(self, place: QRectF) -> QRectF:
        if self.layoutDirection() is Qt.LayoutDirection.LeftToRight:
            return place
        return QRectF(self.width() - place.right(), place.y(), place.width(), place.height())


class Segmented(QWidget):
    """A row of segments, one of which is selected; arrow keys move between them."""

    chosen = Signal(str)
    """The name of the segment chosen by the user."""

    def __init__(self, name: str, segments: dict[str, str]) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Fixed)
        row = QHBoxLayout(self)
        row.setContentsMargins(3, 3, 3, 3)
        row.setSpacing(2)
        self._segments = {key: SegmentButton(words, name) for key, words in segments.items()}
        for key, segment in self._segments.items():
            row.addWidget(segment)
            segment.clicked.connect(lambda _=False, key=key: self.chosen.emit(key))
        self.select(next(iter(segments)))

    def select(self, key: str) -> None:
        self._segments[key].setChecked(True)

    @property
    def selected(self) -> str:
        return next(key for key, segment in self._segments.items() if segment.isChecked())

    @paint_event
    def paintEvent(self, painter: QPainter) -> None:
        painter.setPen(QPen(QColor(current_tokens().hairline), 1))
        painter.setBrush(QColor(current_tokens().page))
        room = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(room, style.BUTTON_RADIUS, style.BUTTON_RADIUS)


class SegmentButton(ChoiceSurface):
    def __init__(self, words: str, group: str) -> None:
        super().__init__(words)
        self.setAccessibleName(words)
        self.setAccessibleDescription(group)
        self.setFont(font(TextStyle.LABEL))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        width = metrics.horizontalAdvance(self.text()) + 2 * SEGMENTED_PADDING[0]
        return QSize(width, metrics.height() + 2 * SEGMENTED_PADDING[1] - 4)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    @paint_event
    def paintEvent(self, painter: QPainter) -> None:
        colours, room = current_tokens(), QRectF(self.rect())
        radius = style.BUTTON_RADIUS - 3
        if self.isChecked() or self.underMouse():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.accent_soft if self.isChecked() else colours.hover))
            painter.drawRoundedRect(room, radius, radius)
        painter.setFont(self.font())
        ink = colours.text_accent if self.isChecked() else colours.text_sub
        painter.setPen(QColor(ink if self.isEnabled() else colours.text_off))
        painter.drawText(room, Qt.AlignmentFlag.AlignCenter, self.text())
        if has_focus_ring(self):
            focus_ring(painter, room, radius)


class Switch(QCheckBox):
    """A switch; its label is beside it, and is its accessible name."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.place = 0.0
        """The thumb's position, from 0 (off) to 1 (on)."""
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._slide = QVariantAnimation(self)
        self._slide.valueChanged.connect(self._set_place)
        self._slide.setDuration(SLIDE_MS)
        self._slide.setEasingCurve(QEasingCurve.Type.OutCubic)
        self.toggled.connect(self._move)

    def sizeHint(self) -> QSize:
        return QSize(TRACK[0] + 2 * FOCUS_MARGIN, TRACK[1] + 2 * FOCUS_MARGIN)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not clicks_on_enter(self, event):
            super().keyPressEvent(event)

    def hitButton(self, at: QPoint) -> bool:
        return self.rect().contains(at)

    def _move(self, is_on: bool) -> None:  # noqa: FBT001  # Qt's signal
        goal = 1.0 if is_on else 0.0
        self._slide.stop()
        if self.isVisible() and not is_motion_reduced():
            self._slide.setStartValue(self.place)
            self._slide.setEndValue(goal)
            self._slide.start()
        else:
            self._set_place(goal)

    def _set_place(self, place: float) -> None:
        self.place = place
        self.update()

    @paint_event
    def paintEvent(self, painter: QPainter) -> None:
        colours = current_tokens()
        track = QRectF(FOCUS_MARGIN, FOCUS_MARGIN, *TRACK)
        on, off = colours.button, colours.text_sub
        if not self.isEnabled():
            on = off = colours.text_off
        painter.setPen(QPen(QColor(on if self.isChecked() else colours.edge), 1))
        painter.setBrush(QColor(on if self.isChecked() else colours.card))
        painter.drawRoundedRect(track.adjusted(0.5, 0.5, -0.5, -0.5), TRACK[1] / 2, TRACK[1] / 2)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.on_button if self.isChecked() else off))
        place = 1 - self.place if self.isRightToLeft() else self.place
        middle = track.left() + TRACK[1] / 2 + (TRACK[0] - TRACK[1]) * place
        painter.drawEllipse(QPointF(middle, track.center().y()), RADIUS, RADIUS)
        if has_focus_ring(self):
            focus_ring(painter, QRectF(self.rect()), TRACK[1] / 2 + FOCUS_MARGIN)
