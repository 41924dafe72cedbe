"""The window: a side bar with the state at its foot, and one page at a time.

Pages are created when first opened; a change of language rebuilds all of them, and leaves the
keyboard's focus where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QKeySequence,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QShortcut,
    QShowEvent,
    QTextLayout,
)
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QGridLayout,
    QMainWindow,
    QStackedWidget,
    QStyle,
    QWidget,
)

from tequio_client import heap
from tequio_client.app import worker_texts
from tequio_client.app.language import with_reason
from tequio_client.app.pages import PAGES, PageEntry, devices
from tequio_client.app.pages.devices import lent_card
from tequio_client.app.pages.page import Page, PageContext, ProgramContext
from tequio_client.app.theme import icons, style
from tequio_client.app.theme.look import Theme
from tequio_client.app.theme.style import TextStyle
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import (
    LEADING,
    MIDDLE,
    TOP,
    ElidedLabel,
    Label,
    WrappedLabel,
    caption,
    caption_line,
    discard,
    hbox,
    holding,
    tool_tip,
    vbox,
)
from tequio_client.app.widgets.buttons import Button, NavButton
from tequio_client.app.widgets.indicators import Logo, StateIcon
from tequio_client.ipc.snapshot import Snapshot
from tequio_shared.version import BUILD

if TYPE_CHECKING:
    from tequio_client.app.model import AppModel

HOME = "home"
HELP_WIDTH = 480
RELEASE_MS = 10_000
RELEASED_MS = 5_000
"""Until the widgets of the pages are destroyed, which takes some turns of the event loop."""


class AppWindow(QMainWindow):
    action_requested = Signal(str)
    """An action that is not a page: `first-run`, `join`, `try-again` and the like."""

    def __init__(
        self,
        model: AppModel,
        look: Theme,
        now_ms: Callable[[], int],
        entries: Sequence[PageEntry] = PAGES,
        own: ProgramContext | None = None,
    ) -> None:
        super().__init__()
        self.context = PageContext(
            model=model, look=look, now_ms=now_ms, open_page=self.open_page, program=own
        )
        self._entries = {entry.name: entry for entry in entries}
        self._pages: dict[str, Page] = {}
        self._cover: Callable[[PageContext], QWidget] | None = None
        self.page_name = next(iter(self._entries))
        self.setWindowIcon(icons.app_icon())
        self.setWindowTitle("Tequio")
        self.setMinimumSize(QSize(*style.LEAST_WINDOW))
        self.resize(QSize(*style.WINDOW))
        self._place = ""  # in the page that was open when the pages were freed
        self._releasing = QTimer(self, interval=RELEASE_MS, singleShot=True)
        self._releasing.timeout.connect(self._release)
        self.rebuild()
        for number, name in enumerate(self._entries, 1):
            self._add_shortcut(f"Ctrl+{number}", partial(self._open_uncovered, name))
        self._add_shortcut("F5", self._reload)
        self._add_shortcut("F1", self._open_help)

    @property
    def page(self) -> Page:
        return self._pages[self.page_name]

    def has_page(self, name: str) -> bool:
        return name in self._entries

    def open_page(self, name: str) -> None:
        """Open the page of that name; any other name is emitted as `action_requested`.

        A place in the page may follow a slash: `settings/lending`.
        """
        name, _, place = name.partition("/")
        if name not in self._entries:
            self.action_requested.emit(name)
            return
        if self.centralWidget() is None:  # freed, and about to be shown
            self.page_name, self._place = name, ""
            return
        if name not in self._pages:
            self._pages[name] = self._entries[name].make(self.context)
            self._stack.addWidget(self._pages[name])
        self.page_name = name
        self._stack.setCurrentWidget(self._pages[name])
        self._side.buttons[name].setChecked(True)
        self._side.chip.show_reason(is_wanted=name != HOME)  # there the page itself says it
        if place:
            self._pages[name].restore_location(place)

    def cover(self, make: Callable[[PageContext], QWidget] | None) -> None:
        """Cover side bar and pages with the widget that `make` returns; None: uncover them."""
        self._cover = make
        self.rebuild()

    def prepare(self) -> None:
        """Lay out and paint once unseen: a window that is still empty would come up black."""
        if self.centralWidget() is None:
            self.rebuild()
        self.ensurePolished()
        self.grab()

    def release_later(self) -> None:
        """Free the pages, unless the window is shown again soon; `showEvent` builds them again."""
        self._releasing.start()

    def _release(self) -> None:
        if self.isVisible() or self._cover is not None:
            return
        page = self.page
        self._place = page.location
        if (old := self.centralWidget()) is not None:
            self.takeCentralWidget()
            discard(old)
        self._pages = {}
        icons.close_archive()
        self.destroy()  # with the picture of all that it showed; it is created again when shown
        QTimer.singleShot(RELEASED_MS, self, heap.return_memory)

    def showEvent(self, event: QShowEvent) -> None:
        self._releasing.stop()
        if self.centralWidget() is None:
            self.rebuild()
            if (centre := self.centralWidget()) is not None:
                centre.show()  # Qt has shown the parts of this window by now
        super().showEvent(event)

    def _add_shortcut(self, keys: str, do: Callable[[], object]) -> None:
        QShortcut(QKeySequence(keys), self).activated.connect(do)

    def _open_uncovered(self, name: str) -> None:
        if self._cover is None:
            self.open_page(name)

    def _reload(self) -> None:
        if self._cover is None:
            self.page.reload()

    def _open_help(self) -> None:
        self.help = HelpDialog([entry.translated_title() for entry in self._entries.values()], self)
        self.help.open()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.LanguageChange:
            focused, before = self.focusWidget(), self._shown_parts()
            self.rebuild()
            for old, new in zip(before, self._shown_parts(), strict=False):
                if old is focused and type(new) is type(old):
                    new.setFocus()

    def _shown_parts(self) -> list[QWidget]:
        """Side bar, page and all that they show, in the order in which it was made."""
        centre: QWidget | None = self.centralWidget()
        if centre is None:
            return []
        return [one for one in centre.findChildren(QWidget) if one.isVisibleTo(centre)]

    def rebuild(self) -> None:
        """Build the side bar and the pages again, each with its place."""
        old: QWidget | None = self.takeCentralWidget()
        page = self._pages.get(self.page_name)
        place = page.location if page is not None else self._place
        if old is not None:
            old.setParent(None)
            old.deleteLater()
        self._pages = {}
        self._side = SideBar(self.context, tuple(self._entries.values()))
        self._stack = QStackedWidget()
        edge = QFrame()
        edge.setProperty("kind", "edge")
        centre = holding(hbox(self._side, edge, (self._stack, 1), spacing=0))
        if self._cover is not None:
            both = QStackedWidget()
            both.addWidget(centre)
            both.setCurrentIndex(both.addWidget(self._cover(self.context)))
            centre = both
        self.setCentralWidget(centre)
        self.open_page(self.page_name)
        if place:
            self.page.restore_location(place)


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
        self.chip = StateChip(context)
        parts = (brand, 14, *self.buttons.values(), None, (self.join, LEADING), 4, self.chip)
        vbox(*parts, spacing=4, margins=(14, 18, 14, 14), parent=self)
        self.join.setVisible(context.program is not None)


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


class HelpDialog(QDialog):
    """The keys and their meanings, and the version."""

    def __init__(self, pages: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Keyboard and help"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        keys = (
            (f"Ctrl+1 … Ctrl+{len(pages)}", ", ".join(pages)),
            ("F5", self.tr("Read this page again")),
            ("Tab, Enter", self.tr("Go to the next control, and use it")),
            ("Ctrl+F", self.tr("Search the settings")),
            ("Ctrl+W", self.tr("Close the window; Tequio goes on in the tray")),
            ("Ctrl+Q", self.tr("Quit, and stop lending")),
        )
        grid = QGridLayout()
        grid.setHorizontalSpacing(22)
        grid.setVerticalSpacing(8)
        for row, (key, meaning) in enumerate(keys):
            grid.addWidget(Label(key, TextStyle.STRONG), row, 0, TOP)
            grid.addWidget(WrappedLabel(meaning), row, 1)
        grid.setColumnStretch(1, 1)
        self.close_button = Button(self.tr("Close"), "primary")
        self.close_button.clicked.connect(self.accept)
        command = self.tr("Every command explains itself: tequio --help. Version {version}.")
        vbox(
            Label(self.windowTitle(), TextStyle.TITLE),
            grid,
            caption(command.format(version=BUILD)),
            hbox(None, self.close_button),
            spacing=14,
            margins=(26, 22, 26, 22),
            parent=self,
        )
        self.setMinimumWidth(HELP_WIDTH)
        self.close_button.setFocus()


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
