"""Inputs: numbers, setting rows, sliders, and the hours of the week."""

from __future__ import annotations

import re
from collections.abc import Callable

from PySide6.QtCore import QEvent, QLocale, QPointF, QRectF, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import (
    QAction,
    QColor,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QShowEvent,
    QValidator,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QDoubleSpinBox,
    QGridLayout,
    QLineEdit,
    QSizePolicy,
    QSlider,
    QVBoxLayout,
    QWidget,
)

from tequio_client.app.theme import icons
from tequio_client.app.theme.look import current_tokens, has_focus_ring
from tequio_client.app.theme.style import TextStyle, font
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import (
    ALWAYS_LEFT,
    ALWAYS_RIGHT,
    MIDDLE,
    TOP,
    Columns,
    ElidedLabel,
    Label,
    WrappedLabel,
    caption,
    focus_ring,
    hbox,
    holding,
    paint_event,
    tool_tip,
    vbox,
)
from tequio_client.app.widgets.indicators import Chip
from tequio_client.ipc.preferences import DAYS, HOURS, WHOLE_WEEK, Week

WIDTH = 132
WORDS_WIDTH = 210
"""Minimum width in pixels of the words beside a control."""
HOURS_HEIGHT = 20
LEAST_CELL = 14
MOST_CELL = 26
BETWEEN = 2
EVERY_HOURS = 3
GROUP_DIGITS = 3
MARKED = re.compile(r"(?P<head>[\d\s]*)(?P<mark>[.,])(?P<tail>\d*)")
"""A number with one mark, as it is typed."""
MOVES = {
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
}


class NumberBox(QDoubleSpinBox):
    """A box for one number, typed or stepped, never out of range; `nothing` names the minimum."""

    chosen = Signal(float)
    """The number entered by the user: on Enter, on leaving the box, and on each step."""

    def __init__(
        self,
        name: str,
        least: float,
        most: float,
        unit: str = "",
        *,
        places: int = 0,
        nothing: str = "",
    ) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setFont(font(TextStyle.BODY))
        self.setDecimals(places)
        self.setRange(least, most)
        self.setSuffix(figures.unit_suffix(unit))
        self.setSpecialValueText(nothing)
        self.setKeyboardTracking(False)
        # with places, a mark left behind by deleted digits would be taken for the decimal one
        self.setGroupSeparatorShown(not places)
        self.setStepType(QDoubleSpinBox.StepType.AdaptiveDecimalStepType)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumWidth(WIDTH)
        # otherwise the side would be that of the unit's letters
        self.setAlignment((ALWAYS_RIGHT if self.isRightToLeft() else ALWAYS_LEFT) | MIDDLE)
        # the style sheet's padding is applied by Qt on the right side only
        self.lineEdit().setTextMargins(9, 0, 0 if self.isRightToLeft() else 9, 0)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.valueChanged.connect(self.chosen)

    def set_number(self, value: float) -> None:
        """Show that number, unless the user is typing."""
        if not (self.hasFocus() and self.lineEdit().isModified()):
            with QSignalBlocker(self):
                self.setValue(value)

    def validate(self, text: str, at: int) -> tuple[QValidator.State, str, int]:
        plain = self._plain(text)
        if plain == text:
            return super().validate(text, at)
        state, _, _ = super().validate(plain, at)
        if state is QValidator.State.Invalid:  # a group gets its three digits one by one
            state = QValidator.State.Intermediate
        return state, text, at

    def valueFromText(self, text: str) -> float:
        return super().valueFromText(self._plain(text))

    def fixup(self, text: str) -> str:
        return super().fixup(self._plain(text))

    def _plain(self, text: str) -> str:
        """A fraction with the language's decimal mark, whichever of the two marks was typed.

        The language's own mark between groups stays one with three digits behind it. Qt lets it
        group any digits, so that `2,5` would be 25 in English.
        """
        number = text.removesuffix(self.suffix())
        found = MARKED.fullmatch(number)
        if found is None or not self.decimals():
            return text
        head, mark, tail = found["head"], found["mark"], found["tail"]
        is_own = mark == self.locale().groupSeparator() and len(tail) == GROUP_DIGITS
        if is_own and head not in ("", "0"):
            return text
        return head + self.locale().decimalPoint() + tail + text[len(number) :]

    def wheelEvent(self, event: QWheelEvent) -> None:
        """The wheel scrolls the page unless this box has the focus."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class SearchField(QLineEdit):
    """A search field whose icon follows the theme."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setPlaceholderText(name)
        self.setClearButtonEnabled(True)
        self._icon = QAction(self)
        self.addAction(self._icon, QLineEdit.ActionPosition.LeadingPosition)
        self._colour()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is event.Type.StyleChange:
            self._colour()

    def _colour(self) -> None:
        self._icon.setIcon(icons.icon("search", current_tokens().text_sub, 16))


class SettingRow(QWidget):
    """A setting with its note; the control is beside the words, or below them if it is `wide`.

    In a narrow window every control moves below the words.
    """

    def __init__(
        self, name: str, note: str, control: QWidget | None = None, *, is_wide: bool = False
    ) -> None:
        super().__init__()
        self.name, self.note = WrappedLabel(name), caption(note)
        self.control, self._also = control, ""
        self.chip = Chip("", "circle-pause", "warn")
        self.chip.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 7, 0, 7)
        column.setSpacing(8)
        self._both = words = self._words()
        if control is None or is_wide:
            column.addWidget(words)
        if control is not None and is_wide:
            column.addWidget(control)
        self._columns: Columns | None = None
        if control is not None and not is_wide:
            self._columns = Columns(gap=18)
            self._columns.set_parts((words, holding(hbox((control, MIDDLE)))), shares=(1, 0))
            column.addWidget(self._columns)
        # children show only once they have a parent: a widget without one would open as a window
        self.name.setVisible(bool(name))
        self.note.setVisible(bool(note))
        words.setVisible(bool(name or note))

    def mark_stopping(self, words: str, why: str) -> None:
        """Mark this setting as the reason why lending is paused; empty words remove the mark."""
        self.chip.set_label(words, "circle-pause", "warn")
        self.chip.setToolTip(tool_tip(why))
        self.chip.setAccessibleDescription(why)
        self.chip.setVisible(bool(words))

    def set_note(self, note: str, tone: str = "sub") -> None:
        self.note.setText(note)
        self.note.setVisible(bool(note))
        self._both.setVisible(bool(note or self.name.text()))
        self.note.set_tone(tone)

    def add_search_words(self, words: str) -> None:
        """Add words from the control for the search."""
        self._also = words

    def matches(self, words: list[str]) -> bool:
        """Return true if each of these lower-case words occurs in the name or the note."""
        text = f"{self.name.text()} {self.note.text()} {self._also}".casefold()
        return all(word in text for word in words)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._columns is not None:
            self._columns.fold()

    def _words(self) -> QWidget:
        head = hbox((self.name, 1), (self.chip, TOP), spacing=10)
        made = holding(vbox(None, head, self.note, None, spacing=2))
        made.setMinimumWidth(WORDS_WIDTH)
        return made


class SliderRow(QWidget):
    """A name, the value as written by `write`, a slider, and a note if there is one."""

    chosen = Signal(int)
    """The value chosen by the user: on release, and on each key."""

    def __init__(
        self, name: str, least: int, most: int, write: Callable[[int], str], note: str = ""
    ) -> None:
        super().__init__()
        self._write, self.words, self.note = write, Label("", TextStyle.STRONG), caption()
        self._step = 1
        self._slider = Slider(Qt.Orientation.Horizontal)
        self._slider.setProperty("mirrored", self.isRightToLeft())
        self._slider.setRange(least, most)
        self._slider.setAccessibleName(name)
        self._slider.setTracking(False)
        self._slider.sliderMoved.connect(lambda value: self._show_text(write(self._rounded(value))))
        self._slider.valueChanged.connect(self._choose)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(2)
        grid.addWidget(ElidedLabel(name), 0, 0)
        grid.addWidget(self.words, 0, 1)
        grid.addWidget(self._slider, 1, 0, 1, 2)
        grid.addWidget(self.note, 2, 0, 1, 2)
        grid.setColumnStretch(0, 1)
        self.set_note(note)
        self.set_value(least)

    def set_note(self, note: str) -> None:
        self.note.setText(note)
        self.note.setVisible(bool(note))

    def set_value(self, value: int, words: str = "") -> None:
        """Show that value, unless the user is dragging the slider; `words` replace its text."""
        if not self._slider.isSliderDown():
            with QSignalBlocker(self._slider):
                self._slider.setValue(value)
            self._show_text(words or self._write(self._slider.value()))

    @property
    def name(self) -> str:
        return self._slider.accessibleName()

    def set_range(self, least: int, most: int) -> None:
        """Keep the value, or else the nearest one in the range."""
        with QSignalBlocker(self._slider):
            self._slider.setRange(least, most)

    def set_step(self, step: int) -> None:
        """Set the distance that keys move the slider."""
        self._slider.setSingleStep(step)
        self._slider.setPageStep(step * 5)

    def round_to(self, step: int) -> None:
        """Let the user choose multiples of that step only, with the mouse, too."""
        self._step = step
        self.set_step(step)

    def _show_text(self, words: str) -> None:
        self.words.setText(words)
        self._slider.setAccessibleDescription(words)

    def _choose(self, value: int) -> None:
        self.set_value(self._rounded(value))
        self.chosen.emit(self._slider.value())

    def _rounded(self, value: int) -> int:
        return round(value / self._step) * self._step


class Slider(QSlider):
    def wheelEvent(self, event: QWheelEvent) -> None:
        """The wheel scrolls the page instead of changing the value."""
        event.ignore()


class WeekGrid(QWidget):
    """Seven rows of 24 hours, from Monday on.

    Drawing with the mouse or with Shift and the arrow keys sets hours to the first one's new value;
    Space toggles the hour at the cursor. Hours run from left to right in every language.
    """

    chosen = Signal(tuple)
    """The week (`ipc.preferences.Week`) on release, and after each key."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.week: Week = WHOLE_WEEK
        self._cursor = (0, 0)
        self._paints: bool | None = None
        self._beside = _room_for_names()
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._describe()

    def set_week(self, week: Week) -> None:
        """Show that week, unless the user is drawing."""
        if self._paints is None and week != self.week:
            self.week = week
            self._describe()
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(self._beside + HOURS * MOST_CELL, HOURS_HEIGHT + DAYS * (MOST_CELL - 2))

    def minimumSizeHint(self) -> QSize:
        return QSize(self._beside + HOURS * LEAST_CELL, self.sizeHint().height())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        cell = self._at(event.position())
        if cell is not None and event.button() is Qt.MouseButton.LeftButton:
            self._cursor = cell
            self._paints = not self._is_on(cell)
            self._set(cell, is_on=self._paints)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        cell = self._at(event.position())
        if cell is not None and self._paints is not None:
            self._cursor = cell
            self._set(cell, is_on=self._paints)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        event.accept()
        if self._paints is not None:
            self._paints = None
            self.chosen.emit(self.week)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        move = MOVES.get(Qt.Key(event.key()))
        if move is not None:
            self._move(move, draws=bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
        elif event.key() in (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._set(self._cursor, is_on=not self._is_on(self._cursor))
            self.chosen.emit(self.week)
        else:
            super().keyPressEvent(event)

    def _move(self, move: tuple[int, int], *, draws: bool) -> None:
        was_on = self._is_on(self._cursor)
        day, hour = (self._cursor[0] + move[0]) % DAYS, (self._cursor[1] + move[1]) % HOURS
        self._cursor = (day, hour)
        if draws:
            self._set(self._cursor, is_on=was_on)
            self.chosen.emit(self.week)
        self._describe()
        self.update()

    def _is_on(self, cell: tuple[int, int]) -> bool:
        return bool(self.week[cell[0]] >> cell[1] & 1)

    def _set(self, cell: tuple[int, int], *, is_on: bool) -> None:
        day, bit = cell[0], 1 << cell[1]
        hours = self.week[day] | bit if is_on else self.week[day] & ~bit
        self.week = (*self.week[:day], hours, *self.week[day + 1 :])
        self._describe()
        self.update()

    def _describe(self) -> None:
        day, hour = self._cursor
        state = self.tr("may lend") if self._is_on(self._cursor) else self.tr("does not lend")
        name = QLocale().dayName(day + 1, QLocale.FormatType.LongFormat)
        self.setAccessibleDescription(f"{name} {hour}–{hour + 1}: {state}")

    @paint_event
    def paintEvent(self, painter: QPainter) -> None:
        painter.setFont(font(TextStyle.SMALL))
        self._draw_names(painter)
        painter.setPen(Qt.PenStyle.NoPen)
        colours = current_tokens()
        for day in range(DAYS):
            for hour in range(HOURS):
                is_on = self._is_on((day, hour))
                painter.setBrush(QColor(colours.accent if is_on else colours.track))
                painter.drawRoundedRect(self._cell(day, hour), 4, 4)
        if has_focus_ring(self):
            cell = self._cell(*self._cursor).adjusted(-2, -2, 2, 2)
            focus_ring(painter, cell, 5)

    def _draw_names(self, painter: QPainter) -> None:
        painter.setPen(QColor(current_tokens().text_sub))
        locale, side = QLocale(), Qt.AlignmentFlag.AlignVCenter | ALWAYS_LEFT
        for day in range(DAYS):
            place = QRectF(0, self._cell(day, 0).top(), self._beside, self._cell(day, 0).height())
            name = locale.dayName(day + 1, QLocale.FormatType.ShortFormat)
            painter.drawText(place, side, name)
        for hour in range(0, HOURS, EVERY_HOURS):
            place = QRectF(self._cell(0, hour).left(), 0, 40, HOURS_HEIGHT - 4)
            painter.drawText(place, side, locale.toString(hour))

    def _cell(self, day: int, hour: int) -> QRectF:
        wide = (self.width() - self._beside - 2) / HOURS
        high = (self.height() - HOURS_HEIGHT - 2) / DAYS
        left, top = self._beside + hour * wide, HOURS_HEIGHT + day * high
        return QRectF(left, top, wide - BETWEEN, high - BETWEEN)

    def _at(self, point: QPointF) -> tuple[int, int] | None:
        hour = int((point.x() - self._beside) * HOURS // (self.width() - self._beside - 2))
        day = int((point.y() - HOURS_HEIGHT) * DAYS // (self.height() - HOURS_HEIGHT - 2))
        return (day, hour) if 0 <= hour < HOURS and 0 <= day < DAYS else None


def _room_for_names() -> int:
    """Width in pixels before the first hour, for the longest name of a day."""
    metrics, locale = QFontMetrics(font(TextStyle.SMALL)), QLocale()
    names = (locale.dayName(day + 1, QLocale.FormatType.ShortFormat) for day in range(DAYS))
    return max(map(metrics.horizontalAdvance, names)) + 10
