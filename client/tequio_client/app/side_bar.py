"""The window's side bar: a button for each page, and the state at its foot."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent, QTextLayout
from PySide6.QtWidgets import QFrame, QStyle

from tequio_client.app import worker_texts
from tequio_client.app.language import with_reason
from tequio_client.app.pages import PageEntry, devices
from tequio_client.app.pages.devices import lent_card
from tequio_client.app.pages.page import PageContext
from tequio_client.app.theme import style
from tequio_client.app.theme.style import TextStyle
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import (
    LEADING,
    MIDDLE,
    ElidedLabel,
    Label,
    WrappedLabel,
    caption_line,
    hbox,
    holding,
    tool_tip,
    vbox,
)
from tequio_client.app.widgets.buttons import Button, NavButton
from tequio_client.app.widgets.indicators import Logo, StateIcon
from tequio_client.app.widgets.scrolling import PlainScroll
from tequio_client.ipc.snapshot import Snapshot

ABOVE, AROUND, BETWEEN = 18, 14, 8
"""Pixels above the parts, beside and below them, and between pages and state."""


class SideBar(QFrame):
    """A button for each page, and the state."""

    def __init__(self, context: PageContext, entries: Sequence[PageEntry]) -> None:
        super().__init__()
        self.setProperty("kind", "side")
        self.setFixedWidth(style.SIDE_BAR)
        self.buttons = {
            entry.name: NavButton(entry.translated_title(), entry.picture) for entry in entries
        }
        for name, button in self.buttons.items():
            button.clicked.connect(lambda _=False, name=name: context.open_page(name))
        self.join = Button(self.tr("Join a network…"), "quiet", "circle-plus")
        self.join.clicked.connect(lambda: context.open_page("join"))
        title = Label("Tequio", TextStyle.HEADING)
        brand = hbox(Logo(), title, None, spacing=9, margins=(4, 0, 0, 0))
        parts = (brand, 14, *self.buttons.values(), None, (self.join, LEADING))
        self.chip = StateChip(context)
        self._column = holding(vbox(*parts, spacing=4))
        self._column.setFixedWidth(style.SIDE_BAR - 2 * AROUND)  # the scroll bar is in the margin
        self.pages = PlainScroll(self._column)
        self.pages.verticalScrollBar().rangeChanged.connect(self._show_chosen)
        foot = hbox(self.chip, margins=(0, 0, AROUND, 0))
        margins = (AROUND, ABOVE, 0, AROUND)
        vbox((self.pages, 1), foot, spacing=BETWEEN, margins=margins, parent=self)
        self.join.setVisible(context.program is not None)

    def choose(self, name: str) -> None:
        self.buttons[name].setChecked(True)
        self._show_chosen()

    def _show_chosen(self, *_: int) -> None:
        for button in self.buttons.values():
            if button.isChecked():
                self.pages.ensureWidgetVisible(button)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave the state the room that the pages do not need in a window of the least height.

        A screen of 768 lines at 150 % is lower still; there the pages scroll.
        """
        super().resizeEvent(event)
        height = max(self.height(), style.LEAST_WINDOW[1])
        pages = ABOVE + self._column.sizeHint().height() + BETWEEN
        self.chip.setMaximumHeight(height - pages - AROUND)


class StateChip(QFrame):
    """The state's shape, its word and, on pages that do not show it themselves, the reason."""

    def __init__(self, context: PageContext) -> None:
        super().__init__()
        self._context = context
        self.setProperty("kind", "foot")
        self._mark, self._word = StateIcon(13), ElidedLabel("", TextStyle.STRONG)
        self._reason, self._device = StateReason(), caption_line()
        row = hbox((self._mark, MIDDLE), (self._word, 1), spacing=8)
        parts = (row, self._reason, self._device)
        vbox(*parts, spacing=3, margins=(12, 10, 12, 10), parent=self)
        self._has_reason = True
        context.model.snapshot_changed.connect(self.refresh)
        context.model.desired_changed.connect(self.refresh)
        self.refresh()

    def show_reason(self, *, is_wanted: bool) -> None:
        self._has_reason = is_wanted
        self._reason.setVisible(is_wanted and bool(self._reason.text()))

    def refresh(self, _news: object = None) -> None:
        model = self._context.model
        word, reason = worker_texts.headline(model, self._context.now_ms())
        snapshot = model.snapshot
        device = _device(snapshot) if snapshot and snapshot.decision.may_compute else ""
        self._device.setText(device)
        self._device.setVisible(bool(device))
        self._mark.show_state(worker_texts.shown_state(model))
        self._word.setText(word)
        self._reason.setText(reason)
        self._reason.setVisible(self._has_reason and bool(reason))
        self.setAccessibleName(with_reason(word, reason))


class StateReason(WrappedLabel):
    """As many lines of the reason as a low window has room for; the tool tip has all.

    The last of them ends in an ellipsis if there are more.
    """

    def __init__(self) -> None:
        super().__init__("", TextStyle.CAPTION, "sub")
        self.setAlignment(Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignTop)
        self.lines: tuple[str, ...] = ()
        """Lines painted in place of the text; empty: the text has its room."""

    def setText(self, text: str) -> None:
        super().setText(text)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self.lines:
            super().paintEvent(event)
            return
        painter, high = QPainter(self), self.fontMetrics().lineSpacing()
        painter.setPen(self.palette().windowText().color())
        side = QStyle.visualAlignment(self.layoutDirection(), self.alignment())
        for at, line in enumerate(self.lines):
            painter.drawText(QRect(0, at * high, self.width(), high), side, line)
        painter.end()

    def _fit(self) -> None:
        is_cut = self.height() < self.heightForWidth(self.width())
        most = max(self.height() // self.fontMetrics().lineSpacing(), 1)
        self.lines = self._first_lines(most) if is_cut else ()
        self.setToolTip(tool_tip(self.text()) if is_cut else "")
        self.update()

    def _first_lines(self, most: int) -> tuple[str, ...]:
        text, width = self.text(), self.width()
        lines: list[str] = []
        layout = QTextLayout(text, self.font())
        layout.beginLayout()
        while (line := layout.createLine()).isValid() and len(lines) < most:
            line.setLineWidth(width)
            lines.append(text[line.textStart() :][: line.textLength()].strip())
            if len(lines) == most:
                lines[-1] = text[line.textStart() :]
        layout.endLayout()
        side = Qt.TextElideMode.ElideRight
        return tuple(self.fontMetrics().elidedText(line, side, width) for line in lines)


def _device(snapshot: Snapshot) -> str:
    card = lent_card(snapshot)
    if card is None:
        return ""
    parts = [devices.short_name(card.name)]
    if card.temperature_c is not None:
        parts.append(figures.temperature(card.temperature_c))
    if card.watts is not None:
        parts.append(figures.power(card.watts))
    return " · ".join(parts)
