"""The window: a side bar with the state at its foot, and one page at a time.

Pages are created when first opened; a change of language rebuilds all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QSize, Signal
from PySide6.QtWidgets import QFrame, QMainWindow, QStackedWidget, QWidget

from tequio_client.app import worker_texts
from tequio_client.app.pages import PAGES, PageEntry, devices
from tequio_client.app.pages.devices import lent_card
from tequio_client.app.pages.page import Page, PageContext, ProgramContext
from tequio_client.app.theme import style
from tequio_client.app.theme.icons import app_icon
from tequio_client.app.theme.look import Theme
from tequio_client.app.theme.style import TextStyle
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import (
    MIDDLE,
    ElidedLabel,
    Label,
    caption,
    caption_line,
    hbox,
    holding,
    vbox,
)
from tequio_client.app.widgets.buttons import NavButton
from tequio_client.app.widgets.indicators import Logo, StateIcon
from tequio_client.ipc.snapshot import LendingState, Snapshot

if TYPE_CHECKING:
    from tequio_client.app.model import AppModel


class AppWindow(QMainWindow):
    action_requested = Signal(str)
    """An action that is not a page: `first-run`, `try-again` or `key-backup`."""

    def __init__(
        self,
        model: AppModel,
        look: Theme,
        now_ms: Callable[[], int],
        entries: Sequence[PageEntry] = PAGES,
        own: ProgramContext | None = None,
    ) -> None:
        super().__init__()
        self._context = PageContext(
            model=model, look=look, now_ms=now_ms, open_page=self.open_page, program=own
        )
        self._entries = {entry.name: entry for entry in entries}
        self._pages: dict[str, Page] = {}
        self._cover: Callable[[PageContext], QWidget] | None = None
        self.page_name = next(iter(self._entries))
        self.setWindowIcon(app_icon())
        self.setWindowTitle("Tequio")
        self.setMinimumSize(QSize(*style.LEAST_WINDOW))
        self.resize(QSize(*style.WINDOW))
        self._build()

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
        if name not in self._pages:
            self._pages[name] = self._entries[name].make(self._context)
            self._stack.addWidget(self._pages[name])
        self.page_name = name
        self._stack.setCurrentWidget(self._pages[name])
        self._side.buttons[name].setChecked(True)
        if place:
            self._pages[name].restore_location(place)

    def cover(self, make: Callable[[PageContext], QWidget] | None) -> None:
        """Cover side bar and pages with the widget that `make` returns; None: uncover them."""
        self._cover = make
        self._build()

    def changeEvent(self, event: QEvent) -> None:
        """Rebuild in the new language."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.LanguageChange:
            self._build()

    def _build(self) -> None:
        old, page = self.takeCentralWidget(), self._pages.get(self.page_name)
        place = page.location if page is not None else ""
        if old is not None:
            old.setParent(None)
            old.deleteLater()
        self._pages = {}
        self._side = SideBar(self._context, tuple(self._entries.values()))
        self._stack = QStackedWidget()
        centre = holding(hbox(self._side, (self._stack, 1), spacing=0))
        if self._cover is not None:
            both = QStackedWidget()
            both.addWidget(centre)
            both.setCurrentIndex(both.addWidget(self._cover(self._context)))
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
        title = Label("Tequio", TextStyle.HEADING)
        brand = hbox(Logo(24), title, None, spacing=9, margins=(4, 0, 0, 0))
        parts = (brand, 14, *self.buttons.values(), None, StateChip(context))
        vbox(*parts, spacing=4, margins=(14, 18, 14, 14), parent=self)


class StateChip(QFrame):
    """The state's shape, its word and the reason, visible on every page."""

    def __init__(self, context: PageContext) -> None:
        super().__init__()
        self._context = context
        self.setProperty("kind", "foot")
        self._mark, self._word = StateIcon(13), ElidedLabel("", TextStyle.STRONG)
        self._reason, self._device = caption(), caption_line()
        row = hbox((self._mark, MIDDLE), (self._word, 1), spacing=8)
        parts = (row, self._reason, self._device)
        vbox(*parts, spacing=3, margins=(12, 10, 12, 10), parent=self)
        context.model.snapshot_changed.connect(self._show_snapshot)
        self._show_snapshot(context.model.snapshot)

    def _show_snapshot(self, snapshot: Snapshot | None) -> None:
        if snapshot is None:
            self._device.hide()
            self._set_texts(LendingState.WAITING, self.tr("Starting"), self._context.model.why_gone)
            return
        decision, model = snapshot.decision, self._context.model
        word, reason = worker_texts.headline(model, snapshot, self._context.now_ms())
        device = _device(snapshot) if decision.may_compute else ""
        self._device.setText(device)
        self._device.setVisible(bool(device))
        self._set_texts(decision.state, word, reason)

    def _set_texts(self, state: LendingState, word: str, reason: str) -> None:
        self._mark.show_state(state)
        self._word.setText(word)
        self._reason.setText(reason)
        self._reason.setVisible(bool(reason))
        self.setAccessibleName(f"{word}: {reason}" if reason else word)


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
