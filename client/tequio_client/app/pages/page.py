"""What all pages are: they scroll, show the latest snapshot, and rest while nobody looks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from tequio_client.app.theme import sizes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from PySide6.QtGui import QShowEvent

    from tequio_client.app.app_settings import SettingsBook
    from tequio_client.app.autostart.way import Autostart
    from tequio_client.app.keys.key_desk import KeyDesk
    from tequio_client.app.model import Model
    from tequio_client.app.theme.look import Look

LEAST_BETWEEN_MS = 250
"""Between two refreshes of what is seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """What the program around the window can be told about itself."""

    book: SettingsBook
    autostart: Autostart
    folder: Path
    """Of the worker: key, store and state."""
    usual_ledger: str
    programs: Callable[[], tuple[str, ...]]
    """The user's programs that run now, by name; may take a while."""
    keys: KeyDesk | None = None
    """None: this window has nothing to do with the key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What a page works with."""

    model: Model
    look: Look
    now_ms: Callable[[], int]
    open_page: Callable[[str], None]
    """Goes to the page of that name, or tells the program what is wanted."""
    own: Own | None = None
    """None: there is no program around this window, and nothing of its own to choose."""


class Page(QScrollArea):
    """A page; `body` takes what it holds. Subclasses say what they show in `refresh`."""

    def __init__(self, means: Means) -> None:
        super().__init__()
        self.means, self._is_stale = means, True
        self.setProperty("kind", "page")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        content = Content()
        content.setProperty("kind", "body")
        self.body = QVBoxLayout(content)
        self.body.setContentsMargins(*sizes.PAGE_MARGINS)
        self.body.setSpacing(sizes.GAP)
        self.setWidget(content)
        self._pace = QTimer(self)
        self._pace.setSingleShot(True)
        self._pace.setInterval(LEAST_BETWEEN_MS)
        self._pace.timeout.connect(self._refresh_if_stale)
        means.model.shown.connect(self.expect)
        means.model.wished.connect(self.expect)
        means.model.preferred.connect(self.expect)

    @property
    def model(self) -> Model:
        """The app's model."""
        return self.means.model

    @property
    def place(self) -> str:
        """Where in it the user is, for a page that is made anew; empty: at its beginning."""
        return ""

    def go_to(self, place: str) -> None:
        """Be where the page before it was."""

    def refresh(self) -> None:
        """Show what the model has now; called when seen, four times a second at most."""
        raise NotImplementedError

    def expect(self, _news: object = None) -> None:
        """There is news: refresh now, or as soon as it is time and somebody looks."""
        self._is_stale = True
        if self.isVisible() and not self._pace.isActive():
            self._refresh_if_stale()

    def showEvent(self, event: QShowEvent) -> None:
        """Be up to date when seen."""
        super().showEvent(event)
        self._refresh_if_stale()

    def _refresh_if_stale(self) -> None:
        if self._is_stale and self.isVisible():
            self._is_stale = False
            self._pace.start()
            self.refresh()


class Content(QWidget):
    """What a page scrolls: as high as its text is at the width that it has, and no higher.

    A scroll area asks for that height by itself; but it keeps to the least size too, and there a
    layout counts each text as high as it were in the narrowest column.
    """

    def minimumSizeHint(self) -> QSize:
        """The least width."""
        least, layout = super().minimumSizeHint(), self.layout()
        has_height = layout is not None and layout.hasHeightForWidth()
        return QSize(least.width(), 0) if has_height else least
