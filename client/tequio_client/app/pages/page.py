"""The base of all pages, lists that are read page by page, and headings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from tequio_client.app.language import without_period
from tequio_client.app.model import AppModel, PeriodicQuestion
from tequio_client.app.theme import style
from tequio_client.app.theme.look import Theme
from tequio_client.app.theme.style import TextStyle
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import MIDDLE, Columns, Label, caption, hbox, holding, vbox
from tequio_client.app.widgets.buttons import Button
from tequio_client.app.widgets.messages import Banner, EmptyState
from tequio_client.app.widgets.scrolling import ScrolledContent
from tequio_client.ipc.control import Question, Reply

if TYPE_CHECKING:
    from tequio_client.app.keys.service import KeyService
    from tequio_client.app.registration import Autostart
    from tequio_client.app.releases import ReleaseService
    from tequio_client.app.settings_file import SettingsStore


REFRESH_INTERVAL_MS = 250
"""Least interval between two refreshes of a visible page."""
LIST_INTERVAL_MS = 60_000
"""Interval between two questions for a list while its page is visible."""
R = TypeVar("R", bound=Reply)
Q = TypeVar("Q", bound=Question)
Row = TypeVar("Row")
HEADING_WIDTH = 260
"""Minimum width in pixels of the words beside the controls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramContext:
    settings: SettingsStore
    autostart: Autostart
    folder: Path
    """The worker's folder with key, store and state."""
    ledger: Callable[[], str]
    """Returns the address of the ledger in use; empty: no network was chosen yet."""
    use_network: Callable[[str, str], None]
    """Works for the network with that ledger and name from now on."""
    programs: Callable[[], tuple[str, ...]]
    """Names of the user's running programs; may block for a while."""
    keys: KeyService | None = None
    """None: this window does not manage the key."""
    releases: ReleaseService | None = None
    """None: this program does not come from a release."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageContext:
    model: AppModel
    look: Theme
    now_ms: Callable[[], int]
    open_page: Callable[[str], None]
    """Opens the page of that name, or passes the name on as an action."""
    program: ProgramContext | None = None
    """None: this window has no program around it, and no settings of the app."""


class Page(QScrollArea):
    """A scrolling page; subclasses fill `body`, and show the model's values in `refresh`.

    A hidden page does not refresh: it only remembers that it is out of date.
    """

    def __init__(self, context: PageContext) -> None:
        super().__init__()
        self.context, self.model = context, context.model
        self.location = ""
        """The user's place in the page, restored when the page is rebuilt; empty: the start."""
        self._is_stale = True
        self.setProperty("kind", "page")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.content = ScrolledContent()
        self.content.setProperty("kind", "body")
        self.body = QVBoxLayout(self.content)
        self.body.setContentsMargins(*style.PAGE_MARGINS)
        self.body.setSpacing(style.GAP)
        self.setWidget(self.content)
        self._pace = QTimer(self)
        self._pace.setSingleShot(True)
        self._pace.setInterval(REFRESH_INTERVAL_MS)
        self._pace.timeout.connect(self._refresh_if_stale)
        self.model.snapshot_changed.connect(self.request_refresh)
        self.model.desired_changed.connect(self.request_refresh)
        self.model.preferences_changed.connect(self.request_refresh)

    def restore_location(self, location: str) -> None:
        """Go back to a `location`."""

    def refresh(self) -> None:
        """Show the model's values; called while visible, at most every `REFRESH_INTERVAL_MS`."""
        raise NotImplementedError

    def reload(self) -> None:
        """Show everything again, and ask again for what the page asks for."""
        self.request_refresh()

    def request_refresh(self, _news: object = None) -> None:
        """Refresh now, or as soon as the page is visible and the interval has passed."""
        self._is_stale = True
        if self.isVisible() and not self._pace.isActive():
            self._refresh_if_stale()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._refresh_if_stale()

    def _refresh_if_stale(self) -> None:
        if self._is_stale and self.isVisible():
            self._is_stale = False
            self._pace.start()
            self.refresh()


class PagedReader(QObject, Generic[Q, Row]):
    """Rows read so far, newest first, page by page; subclasses ask and receive."""

    changed = Signal()

    def __init__(self, model: AppModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.rows: tuple[Row, ...] | None = None
        """None: nothing was read yet."""
        self.has_more = False
        self.problem = ""
        """Why the last question failed; empty: it did not."""
        self.pending: Q | None = None
        """The question that has no answer yet."""
        model.replied.connect(self._receive)
        model.refused.connect(self._handle_refusal)

    @property
    def _oldest(self) -> Row | None:
        """The row from which to read on; None: there is no older one, or a question is pending."""
        is_open = self.pending is None and self.has_more
        return self.rows[-1] if is_open and self.rows else None

    def _ask(self, question: Q) -> None:
        self.pending = question
        self._model.ask(question)

    def _receive(self, question: Question, reply: Reply) -> None:
        raise NotImplementedError

    def _handle_refusal(self, question: Question, why: str) -> None:
        if question == self.pending:
            self.pending, self.problem = None, why
            self.changed.emit()


class PageHeader(Columns):
    """The title of a page and a sentence about it, with its controls beside or below them."""

    def __init__(self, title: str, words: str, controls: Sequence[QWidget] = ()) -> None:
        super().__init__(gap=10)
        heading, self.words = Label(title, TextStyle.TITLE), caption(words)
        heading.setAccessibleName(title)
        texts = holding(vbox(heading, self.words, spacing=2))
        texts.setMinimumWidth(HEADING_WIDTH)
        parts = [texts]
        if controls:
            parts.append(holding(hbox(*((one, MIDDLE) for one in controls), None, spacing=10)))
        self.set_parts(parts, shares=(1, 0)[: len(parts)])


class ListPage(Page, Generic[R]):
    """A page about a list that is asked for at intervals; subclasses lay out and show the list."""

    def __init__(
        self, context: PageContext, kind: type[R], question: Question, picture: str
    ) -> None:
        super().__init__(context)
        self.list = PeriodicQuestion(
            self.model, context.now_ms, kind, LIST_INTERVAL_MS, parent=self
        )
        self.list.set_question(question)
        self.again = Button(self.tr("Refresh"), picture="refresh-cw")
        self.banner = Banner()
        self.empty = EmptyState(picture, "", "", self.tr("Try again"))
        for button in (self.again, self.empty.button):
            button.clicked.connect(self.ask)

    def ask(self) -> None:
        raise NotImplementedError

    def reload(self) -> None:
        self.ask()

    def bring_into_view(self, heading: QWidget) -> None:
        """Scroll to the heading of what the user selected, once it is laid out, if it is not seen.

        In a narrow window the details are below the list, and beside a long one far above.
        """
        middle = self.viewport().height() // 2
        QTimer.singleShot(0, self, lambda: self.ensureWidgetVisible(heading, 0, middle))

    def show_asking(self) -> None:
        """Disable the buttons that ask while a question is pending."""
        for button in (self.again, self.empty.button):
            button.setEnabled(not self.list.is_asking)

    def age(self) -> str:
        return figures.ago(self.list.reply_ms, self.context.now_ms())

    @property
    def details(self) -> str:
        """The ledger's last failure in technical terms; empty: there is none."""
        snapshot = self.model.snapshot
        return snapshot.ledger.problem if snapshot and self.list.problem else ""

    def stale_text(self) -> str:
        """The reason why the list is an old one; empty: it is not."""
        if not self.list.problem:
            return ""
        at = figures.moment(self.list.reply_ms, self.context.now_ms())
        words = self.tr("This list is from {time}. {problem}; Tequio keeps trying.")
        problem = without_period(self.list.problem)
        return words.format(time=at, problem=f"{problem[:1].upper()}{problem[1:]}")
