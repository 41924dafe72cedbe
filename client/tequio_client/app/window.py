"""The window: a side bar with the state at its foot, and one page at a time.

Pages are created when first opened; a change of language rebuilds all of them, and leaves the
keyboard's focus where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QGridLayout,
    QMainWindow,
    QStackedWidget,
    QWidget,
)

from tequio_client import heap
from tequio_client.app.pages import PAGES, PageEntry
from tequio_client.app.pages.page import Page, PageContext, ProgramContext
from tequio_client.app.side_bar import SideBar
from tequio_client.app.theme import icons, style
from tequio_client.app.theme.look import Theme
from tequio_client.app.theme.style import TextStyle
from tequio_client.app.widgets.base import (
    TOP,
    Label,
    WrappedLabel,
    caption,
    discard,
    hbox,
    holding,
    vbox,
)
from tequio_client.app.widgets.buttons import Button
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
        self._side.choose(name)
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
